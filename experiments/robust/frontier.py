"""What a number of judgments is worth to `robust`.

    RTC_BAYES_DATA=FOLDER python experiments/robust/frontier.py -o DIR [--trials 60 --jobs 2]

takes the first trials of the frozen protocol, lets `robust:gibbs` judge two systems until it has
spent the largest budget, however sure it is, and evaluates all pairs by the first 120, 150 and 180
of these judgments. It writes DIR/frontier.csv, with standard errors over trials. And

    python experiments/robust/frontier.py -o DIR --seed 1000 --trials 33 --budgets 150 \\
        --judge 'robust[weight=reuse]:gibbs' --evaluator 'robust[df=4]'

tries another judge or evaluator on the trials that `robust` was developed on.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from run import JUDGE, SEED
from threadpoolctl import threadpool_limits

from rtc_bayes import FitWarning, Judgments, compare, fit, read_qrels, read_runs
from rtc_bayes.judging import build
from rtc_bayes.robustness.design import Collection, Design
from rtc_bayes.robustness.scores import log_score, winnings
from rtc_bayes.robustness.significance import kendall_tau
from rtc_bayes.robustness.trial import draw_systems
from rtc_bayes.store import spawn_seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--budgets", type=int, nargs="+", default=[120, 150, 180])
    parser.add_argument("--judge", default=JUDGE)
    parser.add_argument("--evaluator", default=JUDGE)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    data = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    collection = Collection.from_runs(
        read_runs(data / "runs"), read_qrels(data / "qrels.txt.gz"), depth=100, relevance_level=1
    )
    work = [
        joblib.delayed(trial)(collection, seed, options.judge, options.evaluator, options.budgets)
        for seed in spawn_seeds(options.seed, options.trials)
    ]
    found = np.array(joblib.Parallel(options.jobs)(work))
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    rows = [
        {"judgments": budget, "trials": len(found)}
        | {
            column: f"{m:.3f} ± {e:.3f}"
            for column, m, e in zip(
                ("tau", "log score", "W", "accuracy", "confidence", "bias of MAP"),
                mean[b],
                error[b],
                strict=True,
            )
        }
        for b, budget in enumerate(options.budgets)
    ]
    options.output.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(options.output / "frontier.csv", index=False)


def trial(
    collection: Collection, seed: int, judge: str, evaluator: str, budgets: list[int]
) -> list[list[float]]:
    """Scores of one trial at each budget."""
    draw = draw_systems(collection.pool.systems, Design((judge,)), seed)
    pool = collection.pool.select(draw.everyone)
    place = [collection.pool.systems.index(system) for system in draw.everyone]
    truth = collection.truth[place]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        built = build(
            collection.pool.select(draw.initial),
            collection.qrels,
            judge,
            confidence=None,
            budget=max(budgets),
            seed=draw.judging_seed,
        )
        every = built.judgments
        return [
            scores(pool, truth, first(every, n), evaluator, draw.evaluating_seed) for n in budgets
        ]


def first(judgments: Judgments, count: int) -> Judgments:
    """Return the first judgments made."""
    order = judgments.order[:count]
    labels = judgments.labels[order]
    return Judgments.from_labels(judgments.pool, order, labels, judged_for=judgments.judged_for)


def scores(pool, truth, judgments, evaluator, seed) -> list[float]:
    """Rank correlation, then means over pairs, and the mean error of the expected MAPs."""
    made = fit(pool, judgments, model=evaluator, draws=150, chains=4, tune=500, seed=seed)
    found = compare(pool, made.relevance, moments="plugin", seed=seed)
    a, b = np.triu_indices(len(truth), 1)
    true_sign = np.sign(truth[a] - truth[b])
    differ = true_sign != 0
    confidence = found.confidence[differ]
    correct = (np.sign(found.p_greater - found.p_less) == true_sign)[differ]
    return [
        kendall_tau(found.expected, truth),
        log_score(confidence, correct).mean(),
        winnings(confidence, correct).mean(),
        correct.mean(),
        confidence.mean(),
        (found.expected - truth).mean(),
    ]


if __name__ == "__main__":
    main()
