"""Rankers made from a judge's own labels, among runs of DL 2020: what they gain from that judge.

Each row is a ranker, a budget of human judgments and a way to fit: the ranker's place and mean
score against the truth, and the log score, accuracy and confidence of its pairs. Example::

    python -m experiments.judges.circular -o rows.csv --systems 9 --subsets 2
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rtc_bayes as rb
from experiments.judges.posterior import (
    ABOUT,
    DEPTH,
    LABELS,
    LEVEL,
    WITHOUT,
    Collection,
    Floats,
    by_comparison,
    constants,
    grades_of,
    judged,
    per_topic,
    read,
    sets_of_runs,
)
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.relevance import LabelEvidence
from rtc_bayes.trials.scores import log_score

CIRCULAR, TIES = "ranks_by_label", ("fused", "random", "list", "noise")


def ranker(pool: rb.Pool, grades: Floats, ties: str, number: int = 0) -> rb.Run:
    """Rank by grade: each topic's documents, those of one grade by fused ranks or at random.

    Or, as ties "list", the documents of one of the runs, those of one grade as it has them; or, as
    ties "noise", by grade and noise with half the sd of the grades.
    """
    lists, rng = {}, np.random.default_rng(number)
    if ties == "noise":
        grades = grades + 0.5 * grades.std() * rng.normal(size=len(grades))
    for t, topic in enumerate(pool.topics):
        here = pool.documents(t)
        ranks = pool.ranks(t).T
        fused = np.where(ranks > 0, 1.0 / (60.0 + ranks), 0.0).sum(axis=1)
        within = -fused if ties == "fused" else rng.random(len(fused))
        order = np.lexsort([within, -grades[here]])[: pool.depth]
        if ties == "list":
            own = pool.ranking(number % pool.n_systems, t) - here.start
            order = own[np.argsort(-grades[here][own], kind="stable")]
        lists[topic] = [str(docno) for docno in pool.docnos[here][order]]
    return rb.Run.from_rankings(f"{CIRCULAR}{number or ''}", lists)


def rows(
    collection: Collection, systems: list[str], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Score the pairs of each ranker."""
    depth = options.depth
    about = replace(ABOUT, depth=depth)
    honest = rb.Runs([collection.runs[name] for name in systems])
    for name in options.labels:
        before = rb.Pool.from_runs(honest, depth=depth)
        made = ranker(before, grades_of(before, collection.labels[name]), options.ties)
        runs = rb.Runs([*honest.values(), made])
        pool = rb.Pool.from_runs(runs, depth=depth)
        own = pool.systems.index(CIRCULAR)
        truth = per_topic(runs, collection.qrels, LEVEL).mean(axis=1)
        for budget in options.budgets:
            for labels in (None, collection.labels[name]):
                by = WITHOUT if labels is None else options.judge
                judgments = judged(pool, collection.qrels, by, budget, labels, about)
                part = LabelEvidence(judgments.with_judge_labels(labels)).shared.part
                fit = rb.fit(pool, judgments, model=options.model, labels=labels)
                comparison = rb.compare(pool, fit, about)
                others = np.delete(np.arange(len(truth)), own)
                true, expected = (x[own] - x[others] for x in (truth, comparison.expected))
                with_it = np.flatnonzero(np.any(np.array(all_pairs(len(truth))) == own, axis=0))
                yield {
                    "ranker": name,
                    "human": budget,
                    "labels": "none" if labels is None else name,
                    "true_place": 1 + int((true < 0).sum()),
                    "place": 1 + int((expected < 0).sum()),
                    "part": part[own],
                    "part_others": np.delete(part, own).max(),
                    "gain": float((expected - true).mean()),
                    **{f"own_{k}": v for k, v in _scores(comparison, truth, with_it).items()},
                    **by_comparison(comparison, truth),
                }


def _scores(comparison: rb.Comparison, truth: Floats, pairs: np.ndarray) -> dict[str, float]:
    """Score some pairs alone."""
    a, b = (side[pairs] for side in all_pairs(len(truth)))
    greater = (comparison.p_greater + comparison.p_equal / 2)[pairs]
    right = (greater >= 0.5) == (truth[a] > truth[b])
    sure = np.maximum(greater, 1 - greater)
    return {
        "log_score": log_score(sure, right).mean(),
        "accuracy": right.mean(),
        "confidence": sure.mean(),
    }


def main() -> None:
    """Read the command line, and write one line for each fit as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--systems", type=int, default=9, help="beside the ranker, at random")
    parser.add_argument("--subsets", type=int, default=2)
    parser.add_argument("--depth", type=int, default=DEPTH, help="of runs, pools and scores")
    parser.add_argument("--budgets", type=int, nargs="+", default=[0, 100])
    parser.add_argument("--labels", nargs="+", choices=list(LABELS), default=list(LABELS))
    parser.add_argument(
        "--shares",
        type=float,
        help="least part at which a run shares errors (inf: none does); else ours",
    )
    parser.add_argument("--ties", choices=TIES, default="fused")
    parser.add_argument("--judge", default="hierarchical:map", help="of documents beside labels")
    parser.add_argument("--model", default="hierarchical:laplace")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    collection, made = read(options.depth), []
    drawn = sets_of_runs(collection.runs, options.systems, options.subsets, options.seed)
    for subset, systems in enumerate(drawn):
        with constants(SHARES=options.shares):
            for row in rows(collection, systems, options):
                made.append({"subset": subset, **row})
                pd.DataFrame(made).to_csv(options.output, index=False, float_format="%.4g")
    table = pd.DataFrame(made).drop(columns="subset")
    print(table.groupby(["ranker", "human", "labels"], sort=False).mean().round(3).to_string())


if __name__ == "__main__":
    main()
