"""Trials where a topic has few relevant documents, as collections of questions have one.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.sparse -o DIR
        [--collections NAME... --relevant 1 3 --algorithms robust ...]
        [--budget 3.5 --depth 5 --trials 20 --jobs 2 --seed 0]

keeps so many relevant documents of each topic, drawn by lot; all others become nonrelevant. Then
it judges two systems, so many judgments a topic, compares ten about whole lists, and prints a row
for each study as Markdown. The lists were made to find all that is relevant, and which documents
are kept is chance: so ranks tell less than they would of a question's one answer.

With --depth documents are kept in proportion to how high systems rank them (their mean reciprocal
rank over all runs), as an answer is what systems look for. All that ten systems rank so far is
judged, and a row for each measure says what expected scores are worth.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

from experiments.common import study_row
from experiments.whole_lists.four import COLLECTIONS, judged_to, prepared
from experiments.whole_lists.held import held
from rtc_bayes import (
    Estimand,
    Judgments,
    Pool,
    Qrels,
    Runs,
    Workers,
    compare,
    evaluate,
    fit,
)
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.robustness import study
from rtc_bayes.store import progress_bar
from rtc_bayes.trials import quietly

SYSTEMS = 10
MEASURES = ("AP", "nDCG@10", "RR@10", "P@10")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--collections", nargs="+", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    parser.add_argument("--relevant", nargs="+", type=int, default=[1])
    parser.add_argument("--algorithms", nargs="+", default=["robust:gibbs"])
    parser.add_argument("--budget", type=float, default=3.5, help="judgments a topic")
    parser.add_argument("--depth", type=int, help="judge completely to this rank")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for folder in options.collections:
        runs, labels = prepared(folder)
        for relevant in options.relevant:
            ranked = None if options.depth is None else reciprocal_ranks(runs)
            sparse = kept(labels, relevant, options.seed, ranked)
            name = f"{COLLECTIONS[folder].name}, {relevant} relevant"
            if options.depth is not None:
                held_of_set = joblib.delayed(of_set)
                sets = [
                    held_of_set(runs, sparse, options.depth, seed)
                    for seed in range(options.seed, options.seed + options.trials)
                ]
                every = pd.concat(joblib.Parallel(options.jobs)(sets))
                means = every.groupby("measure", sort=False).mean().round(3).reset_index()
                rows += means.assign(collection=name).to_dict("records")
                continue
            with progress_bar() as progress:
                done = study(
                    runs,
                    sparse,
                    algorithms=options.algorithms,
                    estimand=Estimand(topics="judged"),
                    budgets=[round(options.budget * len(sparse))],
                    trials=options.trials,
                    seed=options.seed,
                    output=options.output / f"{folder}-{relevant}",
                    workers=Workers(options.jobs, progress=progress),
                )
            rows += [study_row(f"{name}, {text}", done, text) for text in done.summary]
    print(to_markdown(pd.DataFrame(rows)))


def of_set(runs: Runs, labels: Qrels, depth: int, seed: int) -> pd.DataFrame:
    """Judge all that ten systems rank so far, and hold expected scores to the truth."""
    with quietly():
        some = np.random.default_rng(seed).choice(runs.systems, SYSTEMS, replace=False)
        drawn = runs.select(some.tolist())
        pool = Pool.from_runs(drawn).select_topics([t for t in drawn.topics if t in labels])
        judgments = Judgments.from_qrels(pool, judged_to(drawn, labels, depth))
        fitted = fit(pool, judgments)
        every = evaluate(drawn, labels, MEASURES).mean_frame().set_index("system")
        rows = []
        for measure in MEASURES:
            told = held(compare(pool, fitted, measure), every[measure])
            rows.append({"measure": measure, "true": every[measure].mean(), **told})
    return pd.DataFrame(rows)


def reciprocal_ranks(runs: Runs) -> dict[str, dict[str, float]]:
    """Mean reciprocal rank over the runs, by topic and document."""
    pool = Pool.from_runs(runs)
    means = pool.mean_reciprocal_ranks
    places = [(topic, pool.documents(t)) for t, topic in enumerate(pool.topics)]
    return {
        topic: dict(zip(pool.docnos[place], means[place].tolist(), strict=True))
        for topic, place in places
    }


def kept(
    labels: Qrels, relevant: int, seed: int, weights: dict[str, dict[str, float]] | None = None
) -> Qrels:
    """Keep some relevant documents of each topic, and topics that have one at least.

    Each is as likely to be kept as any other, or in proportion to its weight; then those without
    a weight are not, and neither are topics with too few others.
    """
    rng = np.random.default_rng(seed)
    sparse = {}
    for topic, grades in labels.items():
        every, p = sorted(docno for docno, grade in grades.items() if grade > 0), None
        if weights is not None:
            every = [docno for docno in every if docno in weights.get(topic, {})]
            p = np.array([weights[topic][docno] for docno in every])
            if len(every) < relevant:
                continue
            p /= p.sum()
        if every:
            left = {*rng.choice(every, min(relevant, len(every)), replace=False, p=p)}
            sparse[topic] = {docno: int(docno in left) for docno in grades}
    return Qrels(sparse)


if __name__ == "__main__":
    main()
