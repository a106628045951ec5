"""How much runs, and rankers made from labels, go with the labels: what tells the two apart.

Judges are prompts of three language models on DL 2020's judged documents, graded or cut to relevant
or not (`NAME:LEVEL`), with `--reported` those of the results page, and simulated ones on other
collections. A row is a collection, a number of runs not made from labels, and who: ends of the
correlation and the part of `shared_errors`, and the share that the rule takes for rankers.
Example::

    python -m experiments.judges.sharing -o rows.csv --sizes 2 10
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import rtc_bayes as rb
from experiments.common import read_collection
from experiments.judges.circular import TIES, ranker
from experiments.judges.posterior import (
    DEPTH,
    grades_of,
    read,
    read_panel,
    read_prompts,
    relevant_of,
    sets_of_runs,
)
from rtc_bayes.relevance import LabelEvidence

type LabelsOf = Callable[[rb.Pool], list[rb.Labels]]

PROMPTS = (
    *("llama3.2_p11:1", "llama3.2_p32:1", "mistral_p24:1", "mistral_p12:2", "mistral_p31:1"),
    *("llama3.2_p0", "mistral_p10", "mistral_p25", "llama3.2_p12", "llama3.2_p17"),
    *("gpt-4o_p0", "gpt-4o_p10", "gpt-4o_p20", "gpt-4o_p32"),
)
# errors of simulated judges: nonrelevant called relevant, relevant called nonrelevant
ERRORS = ((0.02, 0.3), (0.1, 0.2), (0.3, 0.2))


def prompts() -> dict[str, rb.Labels]:
    """Read the labels of the prompts, some of them cut to relevant or not."""
    table = read_panel()
    for name in PROMPTS:
        prompt, _, level = name.partition(":")
        if level:
            said = table[prompt]
            table[name] = (said >= int(level)).astype(float).where(said.notna())
    return read_prompts(PROMPTS, table)


def simulated(qrels: rb.Qrels, rng: np.random.Generator) -> LabelsOf:
    """Label a pool with errors at random, by each judge of `ERRORS`."""

    def labels_of(pool: rb.Pool) -> list[rb.Labels]:
        relevant = relevant_of(pool, qrels, 1) > 0
        topics = [pool.topics[t] for t in pool.topic_of]
        made = []
        for taken, missed in ERRORS:
            luck = rng.random(pool.n_documents)
            grade = np.where(relevant, luck >= missed, luck < taken).astype(int)
            made.append(rb.Labels.of(topics, pool.docnos, ["simulated"] * len(topics), grade))
        return made

    return labels_of


def correlations(
    runs: rb.Runs, labels_of: LabelsOf, sets: list[list[str]], asked: argparse.Namespace
) -> pd.DataFrame:
    """Correlation of each run without rankers, and of each of some rankers among them."""
    rows, rng = [], np.random.default_rng(asked.seed)
    for systems in sets:
        honest = [runs[name] for name in systems]
        pool = rb.Pool.from_runs(rb.Runs(honest), depth=asked.depth)
        topics = rng.permutation(pool.topics)[: asked.topics or None].tolist()
        for labels in labels_of(pool):
            rows += _rows(pool.select_topics(topics), labels, {"runs": pool.systems})
            for ties in asked.ties:
                grades = grades_of(pool, labels)
                made = [ranker(pool, grades, ties, number) for number in range(asked.rankers)]
                beside = rb.Pool.from_runs(rb.Runs([*honest, *made]), depth=asked.depth)
                named = tuple(run.tag for run in made)
                some = beside.select_topics(topics)
                who = {f"rankers, ties {ties}": named, f"runs beside them, {ties}": pool.systems}
                rows += _rows(some, labels, who)
    return pd.DataFrame(rows, columns=["who", "correlation", "of ranker", "part", "shares"])


def _rows(
    pool: rb.Pool, labels: rb.Labels, who: dict[str, tuple[str, ...]]
) -> list[tuple[str, float, float, float, float]]:
    """Columns of `shared_errors`, after who the systems are."""
    evidence = LabelEvidence(rb.Judgments.none(pool).with_judge_labels(labels))
    at = [(name, pool.systems.index(system)) for name, of in who.items() for system in of]
    measured = *evidence.shared, evidence.shares
    return [(name, *(float(of[s]) for of in measured)) for name, s in at]


def main() -> None:
    """Read the command line, and write and print a row for each collection, size and who."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 4, 10, 20], help="runs")
    parser.add_argument("--runs", type=int, default=60, help="in all sets of a size together")
    parser.add_argument("--depth", type=int, default=DEPTH, help="of pools and of rankers")
    parser.add_argument("--ties", nargs="+", choices=TIES, default=TIES[:3], help="of rankers")
    parser.add_argument("--topics", type=int, default=0, help="at random, of each set; 0: all")
    parser.add_argument("--rankers", type=int, default=1, help="of one judge, in each set")
    parser.add_argument("--reported", action="store_true", help="judges of the page, and no others")
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    collection = read()
    judges = list((collection.labels if options.reported else prompts()).values())
    sources: dict[str, tuple[rb.Runs, LabelsOf]]
    sources = {"dl20": (collection.runs, lambda pool: judges)}
    for name in () if options.reported else ("trec8_adhoc", "robust03"):
        runs, qrels = read_collection(name, DEPTH)
        sources[name] = runs, simulated(qrels, np.random.default_rng(options.seed))
    made = []
    for name, (runs, labels_of) in sources.items():
        for size in [size for size in options.sizes if size <= len(runs)]:
            count = max(2, options.runs // size)
            drawn = list(sets_of_runs(runs, size, count, options.seed))
            values = correlations(runs, labels_of, drawn, options)
            for who, of in values.groupby("who", sort=False):
                row = {"collection": name, "runs": size, "who": who}
                for measure in ("correlation", "part"):
                    ends = of[measure].agg(["min", "median", "max"])
                    words = zip(("least", "median", "most"), ends, strict=True)
                    row |= {f"{measure}: {end}": value for end, value in words}
                made.append({**row, "shares": of.shares.mean()})
            pd.DataFrame(made).to_csv(options.output, index=False, float_format="%.4g")
    print(pd.DataFrame(made).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
