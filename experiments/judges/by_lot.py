"""What labels that tell little do to a comparison: of a judge by lot, and of one who often errs.

Collections are simulated, or of runs at random of a real one, and some documents judged in each. A
row is what stands beside the judgments: means over collections of the sd of differences, their
errors (root mean square), the square of error over sd (1 is right), the share that 1.96 sd on
either side hold, and the log score, with what the labels changed of the last three and its standard
error. Example::

    python -m experiments.judges.by_lot --model robust:gibbs --collections 24
    python -m experiments.judges.by_lot --runs trec8_adhoc --judgments 100 --collections 12

With --ranks it prints instead how far labels go with ranks: people's, of four collections beside
ten runs at random, and those of DL 2020's prompts beside all of its runs, the least of them first.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import rtc_bayes as rb
from experiments.common import read_collection
from experiments.judges.posterior import (
    read,
    read_panel,
    read_prompts,
    relevant_of,
    sets_of_runs,
)
from experiments.whole_lists import four
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.relevance import LabelEvidence, of_retrieved
from rtc_bayes.relevance.label_ranks import BesideRanks
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.store import progress_bar
from rtc_bayes.trials.scores import log_score

type Floats = NDArray[np.float64]

MEASURED = ("sd", "error", "square", "held", "log score")
CHANGED = MEASURED[2:]
# how often a judge is right
RIGHT = (0.5, 0.6, 0.7, 0.8, 0.9)
# of simulated collections, and of real ones
SHALLOW, DEEP, SYSTEMS = 15, 100, 10


def collections(asked: argparse.Namespace) -> Iterator[tuple[rb.Pool, rb.Qrels]]:
    """Pools with their truth: simulated ones, or of ten runs at random."""
    if asked.runs is None:
        for seed in range(asked.collections):
            made = rb.simulate(n_topics=10, n_systems=6, seed=100 + seed)
            yield rb.Pool.from_runs(made.runs, depth=SHALLOW), made.qrels
        return
    runs, qrels = read_collection(asked.runs)
    for some in sets_of_runs(runs, SYSTEMS, asked.collections, seed=100):
        yield rb.Pool.from_runs(runs.select(some), depth=DEEP), qrels


def beside(pool: rb.Pool, relevant: Floats, seed: int) -> dict[str, rb.Labels | None]:
    """Labels of a pool's documents that tell nothing, or something."""
    topics, docnos = [pool.topics[t] for t in pool.topic_of], pool.docnos.tolist()
    luck = np.random.default_rng(seed).random(len(docnos))

    def labels(grades: NDArray[np.int64], count: int | None = None) -> rb.Labels:
        of = topics[:count], docnos[:count], ["judge"] * len(docnos[:count]), grades[:count]
        return rb.Labels.of(*of, n_grades=2)

    alike = np.ones(len(docnos), dtype=int)
    truth = relevant.astype(int)
    return {
        "nothing": None,
        "all 1": labels(alike),
        "one label": labels(alike, 1),
        **{
            f"right {right:.0%}" if right > 0.5 else "by lot": labels(
                np.where(luck < right, truth, 1 - truth)
            )
            for right in RIGHT
        },
    }


def measured(comparison: rb.Comparison, true: Floats) -> Floats:
    """Hold the differences of a comparison to the true ones."""
    off, sd = comparison.expected_difference - true, comparison.sd_difference
    greater = comparison.p_greater + comparison.p_equal / 2
    differ = true != 0
    correct = (greater > 0.5) == (true > 0)
    sure = np.maximum(greater, 1 - greater)
    return np.array(
        [
            sd.mean(),
            np.sqrt((off**2).mean()),
            ((off / sd) ** 2).mean(),
            (np.abs(off) < NORMAL_95 * sd).mean(),
            log_score(sure[differ], correct[differ]).mean(),
        ]
    )


def people() -> pd.DataFrame:
    """Correlate relevance of judged documents with how high ten runs rank them."""
    rows = []
    for name in four.COLLECTIONS:
        runs, qrels = four.read(name)
        level = four.COLLECTIONS[name].relevance_level
        some = next(sets_of_runs(runs, SYSTEMS, 1, seed=100))
        pool = rb.Pool.from_runs(runs.select(some), depth=DEEP)
        judgments = of_retrieved(rb.Judgments.from_qrels(pool, qrels, relevance_level=level))
        r, n = BesideRanks.of(judgments.pool).correlation(judgments.labels, judgments.judged)
        rows.append({"collection": name, "documents": n, "r": f"{r:.2f}"})
    return pd.DataFrame(rows)


def prompts() -> pd.DataFrame:
    """Say of each prompt of DL 2020 how its labels go with ranks, and with people's grades."""
    pool, panel = rb.Pool.from_runs(read().runs, depth=DEEP), read_panel()
    names = [name for name in panel if "_p" in name]
    rows = []
    for name, labels in read_prompts(names, panel).items():
        evidence = LabelEvidence(rb.Judgments.none(pool).with_judge_labels(labels))
        graded = panel[panel[name].notna()]
        rows.append(
            {
                "prompt": name,
                "commonest grade": graded[name].value_counts(normalize=True).iloc[0],
                "correlation with NIST": graded[name].corr(graded["human"]),
                "credit": evidence.credit[0],
                "follows": evidence.follows,
            }
        )
    return pd.DataFrame(rows).sort_values("follows").round(3)


def main() -> None:
    """Print a table of each kind of labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="hierarchical:laplace")
    parser.add_argument("--collections", type=int, default=40)
    parser.add_argument("--judgments", type=int, default=30)
    parser.add_argument("--runs", help="a folder of RTC_BAYES_DATA; without it, simulated")
    parser.add_argument("--ranks", action="store_true", help="how labels go with ranks")
    options = parser.parse_args()
    if options.ranks:
        print(to_markdown(people()), to_markdown(prompts()), sep="\n\n")
        return
    # one label leaves most topics without
    warnings.simplefilter("ignore", rb.CollectionWarning)
    made: dict[str, list[Floats]] = {}
    with progress_bar() as progress:
        for seed, (pool, qrels) in enumerate(collections(options)):
            progress("collections", seed + 1, options.collections)
            about = rb.Estimand(depth=pool.depth, scope="pool")
            judgments = rb.build(
                pool, qrels, "rankvar", budget=options.judgments, seed=seed
            ).judgments
            relevant = relevant_of(pool, qrels, 1)
            true = rb.compare(pool, rb.Relevance.from_values(pool, relevant), about)
            for name, labels in beside(pool, relevant, seed).items():
                fit = rb.fit(pool, judgments, model=options.model, labels=labels, seed=seed)
                compared = rb.compare(pool, fit, about)
                made.setdefault(name, []).append(measured(compared, true.expected_difference))
    rows = []
    for name, values in made.items():
        row: dict[str, object] = {f"`{options.model}`, beside {options.judgments} judgments": name}
        row |= {key: f"{v:.3f}" for key, v in zip(MEASURED, np.mean(values, axis=0), strict=True)}
        apart = np.array(values)[:, 2:] - np.array(made["nothing"])[:, 2:]
        error = apart.std(axis=0, ddof=1) / np.sqrt(len(apart))
        for key, mean, se in zip(CHANGED, apart.mean(axis=0), error, strict=True):
            row[f"{key}, change"] = "" if name == "nothing" else f"{mean:+.3f} ± {se:.3f}"
        rows.append(row)
    print(to_markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
