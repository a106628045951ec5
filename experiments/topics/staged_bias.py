"""Whether a budget spent in stages keeps Horvitz-Thompson estimates of relevance unbiased.

    RTC_BAYES_DATA=FOLDER python -m experiments.topics.staged_bias
        [--systems 10 --depth 20 --budgets 200 1000 --seeds 200 --first 1000 --jobs 2]

draws ten runs of TREC-8, and spends each budget on their pool by each strategy (`allocate`), with
as many seeds. Probabilities of a later stage depend on what earlier ones drew, and on what of it
was relevant. All ways have the same seeds, and so much of their luck in common. The table has, for
each strategy, size and budget, the estimated number of relevant documents over the true one, with
its standard error. Prints Markdown.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import joblib
import numpy as np
import pandas as pd

from experiments.whole_lists.four import prepared
from rtc_bayes import Pool, Qrels, allocate
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import quietly

WAYS: tuple[dict[str, Any], ...] = (
    {"strategy": "uniform"},
    {"strategy": "uniform", "size": "expected"},
    {"strategy": "ra", "by": "logistic"},
    {"strategy": "qdp", "by": "zobel"},
    {"strategy": "qdp", "by": "zobel", "size": "expected"},
    {"strategy": "qdp", "by": "logistic"},
    {"strategy": "qdp", "by": "logistic", "size": "expected"},
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--budgets", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    runs, qrels = prepared("trec8_adhoc")
    some = np.random.default_rng(0).choice(runs.systems, options.systems, replace=False)
    pool = Pool.from_runs(runs.select(some.tolist()), depth=options.depth)
    names = zip(pool.topic_of.tolist(), pool.docnos, strict=True)
    relevant = np.array([qrels[pool.topics[t]].get(docno, 0) > 0 for t, docno in names])
    asked = list(
        product(
            range(len(WAYS)), options.budgets, range(options.first, options.first + options.seeds)
        )
    )
    ratios = joblib.Parallel(options.jobs)(
        joblib.delayed(ratio)(pool, qrels, relevant, budget, seed, WAYS[way])
        for way, budget, seed in asked
    )
    rows = pd.DataFrame(asked, columns=["way", "budget", "seed"]).assign(ratio=ratios)
    means = rows.groupby(["way", "budget"])["ratio"].agg(["mean", "sem"])
    table = [
        {
            **{"strategy": "", "by": "", "size": "exact"} | way,
            **{
                f"{budget} judgments": "{mean:.3f} ± {sem:.3f}".format(**means.loc[n, budget])
                for budget in options.budgets
            },
        }
        for n, way in enumerate(WAYS)
    ]
    print(f"{pool.n_documents} documents, {options.seeds} seeds\n")
    print(to_markdown(pd.DataFrame(table)))


def ratio(
    pool: Pool, qrels: Qrels, relevant: np.ndarray, budget: int, seed: int, way: dict[str, Any]
) -> float:
    """Return the estimated number of relevant documents of a sample, over the true one."""
    with quietly():
        sample = allocate(pool, qrels, budget, seed=seed, **way).sample
    drawn = sample.judgments.order
    return float((relevant[drawn] / sample.probability[drawn]).sum() / relevant.sum())


if __name__ == "__main__":
    main()
