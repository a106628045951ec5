"""What a number of judgments is worth to `robust`.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.frontier -o DIR [--trials 60 --jobs 2]

takes the first trials of the frozen protocol, lets `robust:gibbs` judge two systems until it has
spent the largest budget, however sure it is, and evaluates all pairs by the first 120, 150 and 180
of these judgments. It writes DIR/frontier.csv, with standard errors over trials. And

    python -m experiments.robust.frontier -o DIR --seed 1000 --trials 33 --budgets 150 \\
        --judge 'robust[weight=reuse]:gibbs' --evaluator 'robust[df=4]'

tries another judge or evaluator on the trials that `robust` was developed on; --initial judges for
more than two of the ten systems, --measure compares them by another measure, --collection robust03
takes the other collection, --cut keeps to lists cut at the depth and the pool's documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from experiments.common import read_collection
from experiments.robust.development import alone
from experiments.robust.run import JUDGE, POOL_ALONE, SEED, WHOLE_LISTS
from rtc_bayes import Comparison, Estimand, Fit, Judgments, Pool, compare, fit
from rtc_bayes.judging import build
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials import Collection, Draw, Plan, draw_systems
from rtc_bayes.trials.scores import kendall_tau, log_score, winnings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--budgets", type=int, nargs="+", default=[120, 150, 180])
    parser.add_argument("--judge", default=JUDGE)
    parser.add_argument("--evaluator", default=JUDGE)
    parser.add_argument("--collection", default="trec8_adhoc")
    parser.add_argument("--initial", type=int, default=2)
    parser.add_argument("--measure", default="AP")
    parser.add_argument("--cut", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    question = Question(
        options.judge,
        options.evaluator,
        options.budgets,
        options.initial,
        options.measure,
        POOL_ALONE if options.cut else WHOLE_LISTS,
    )
    runs, qrels = read_collection(options.collection)
    estimand = Estimand(options.measure, score_depth=question.whole["score_depth"])
    collection = Collection.from_runs(runs, qrels, estimand)
    work = [
        joblib.delayed(alone)(trial, collection, question, seed)
        for seed in spawn_seeds(options.seed, options.trials)
    ]
    found = np.array(joblib.Parallel(options.jobs)(work))
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    rows = [
        {"judgments": budget, "trials": len(found)}
        | {
            column: f"{m:.3f} ± {e:.3f}"
            for column, m, e in zip(
                ("tau", "log score", "W", "accuracy", "confidence", "bias"),
                mean[b],
                error[b],
                strict=True,
            )
        }
        for b, budget in enumerate(options.budgets)
    ]
    options.output.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(options.output / "frontier.csv", index=False)


@dataclass(frozen=True)
class Question:
    """How systems are judged for, and how they are compared; with options for whole lists.

    Without a budget judging ends at the confidence of the frozen trials.
    """

    judge: str
    evaluator: str
    budgets: list[int]
    initial: int
    measure: str
    whole: Mapping[str, Any]


def trial(collection: Collection, question: Question, seed: int) -> list[list[float]]:
    """Scores of one trial at each budget."""
    draw, pool, fits = fits_of(collection, question, seed)
    truth = collection.truth_of(draw.everyone)
    return [scores(compared(pool, made, question, draw), truth) for made in fits]


def fits_of(
    collection: Collection, question: Question, seed: int
) -> tuple[Draw, Pool, Iterator[Fit]]:
    """Judge for some systems, and fit the evaluator for all to the judgments of each budget."""
    draw, every = judged(collection, question, seed)
    pool = collection.pool.select(draw.everyone)
    fits = (
        fitted(pool, every.keep(every.order[:n]), question.evaluator, draw)
        for n in question.budgets
    )
    return draw, pool, fits


def judged(collection: Collection, question: Question, seed: int) -> tuple[Draw, Judgments]:
    """Draw systems, and judge for the initial ones: until the largest budget is spent, if any."""
    plan = Plan((question.judge,), initial=question.initial)
    draw = draw_systems(collection.pool.systems, plan, seed)
    built = build(
        collection.pool.select(draw.initial),
        collection.qrels,
        question.judge,
        confidence=None if question.budgets else plan.confidence,
        budget=max(question.budgets, default=None),
        seed=draw.judging_seed,
    )
    return draw, built.judgments


def fitted(pool: Pool, judgments: Judgments, model: str, draw: Draw) -> Fit:
    """Fit the evaluator as the frozen trials do."""
    seed = draw.evaluating_seed
    return fit(pool, judgments, model=model, draws=150, chains=4, tune=500, seed=seed)


def compared(pool: Pool, made: Fit, question: Question, draw: Draw) -> Comparison:
    """Compare all systems by the question's measure, about whole lists or the pool alone."""
    return compare(
        replace(pool, score_depth=question.whole["score_depth"]),
        made.relevance,
        measure=question.measure,
        moments="plugin",
        seed=draw.evaluating_seed,
        unseen=question.whole["unseen"],
        residual=question.whole["residual"],
    )


def scores(found: Comparison, truth: np.ndarray) -> list[float]:
    """Rank correlation, then means over pairs, and the mean error of the expected scores."""
    pairs = pairs_of(found, truth)
    outcome = pairs["confidence"], pairs["correct"]
    return [
        kendall_tau(found.expected, truth),
        log_score(*outcome).mean(),
        winnings(*outcome).mean(),
        pairs["correct"].mean(),
        pairs["confidence"].mean(),
        (found.expected - truth).mean(),
    ]


def pairs_of(found: Comparison, truth: np.ndarray) -> pd.DataFrame:
    """One row for every pair that truly differs, the first system less the second."""
    a, b = np.triu_indices(len(truth), 1)
    true = truth[a] - truth[b]
    every = pd.DataFrame(
        {
            "a": found.a,
            "b": found.b,
            "confidence": found.confidence,
            "correct": np.sign(found.p_greater - found.p_less) == np.sign(true),
            "expected": found.expected_difference,
            "sd": found.sd_difference,
            "true": true,
        }
    )
    return every[true != 0.0]


if __name__ == "__main__":
    main()
