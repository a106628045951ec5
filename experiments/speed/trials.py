"""Seconds of a trial: judge two TREC-8 systems to 95%, then compare ten.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.trials
       > docs/results/speed-trials.md

The trials of a robustness study (depth 100, moments as published), one after the other in one
thread; processor time, a first trial that compiles or loads compiled code left out.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from experiments.speed import timing
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials import Collection, Plan, outcomes, quietly

# algorithm, draws of each of four chains, share of the trials, seconds at most
CASES = (
    ("mtc", 150, 1.0, 1.0),
    ("rtc:map", 150, 1.0, 1.0),
    ("hierarchical[least=0]:laplace", 150, 0.5, 3.0),
    ("rtc[least=0]:cut", 50, 0.25, 15.0),
    ("robust[least=0]:gibbs", 150, 0.25, None),
)


def main() -> None:
    options = timing.arguments(__doc__, trials=24)
    warnings.simplefilter("ignore")
    collection = Collection.from_runs(*timing.trec8())
    timing.print_head("Speed of a trial", __doc__)
    timing.print_table(
        "algorithm | draws | trials | failed fits | median, s | target | mean, s | judged, median",
        (row(collection, options.trials, *case) for case in CASES),
    )


def row(
    collection: Collection,
    most: int,
    algorithm: str,
    draws: int,
    share: float,
    target: float | None,
) -> list[object]:
    trials = max(2, round(share * most))
    seconds, judged = timed(collection, algorithm, draws, trials)
    drawn = 4 * draws if ":" in algorithm and ":map" not in algorithm else "-"
    times = f"{np.median(seconds):.2f}", target or "-", f"{np.mean(seconds):.2f}"
    failed = trials - len(judged)
    return [algorithm, drawn, trials, failed, *times, f"{np.median(judged):.0f}"]


def timed(
    collection: Collection, algorithm: str, draws: int, trials: int
) -> tuple[list[float], list[int]]:
    """Seconds and judgments of the trials but a first one; failed fits have neither."""
    plan = Plan((algorithm,), trials=trials + 1, draws=draws)
    seconds, judged = [], []
    with quietly():
        for number, seed in enumerate(spawn_seeds(0, trials + 1)):
            start = time.process_time()
            (outcome,) = outcomes(collection, plan, seed)
            if number > 0 and outcome.failure is None:
                seconds.append(time.process_time() - start)
                judged.append(outcome.judged)
    return seconds, judged


if __name__ == "__main__":
    main()
