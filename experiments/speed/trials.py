"""Seconds of a trial: judge two TREC-8 systems to 95%, then compare ten.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.trials [--trials 24]
       > docs/results/speed-trials.md

The trials of a robustness study (depth 100, moments as published), one after the other in one
thread; processor time, a first trial that compiles or loads compiled code left out.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

import rtc_bayes as rb
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=24)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    collection = Collection.from_runs(
        rb.read_runs(folder / "runs"), rb.read_qrels(folder / "qrels.txt.gz")
    )
    print("# Speed of a trial\n")
    print(" ".join(__doc__.split("\n\n")[2].split()) + "\n")
    print("    RTC_BAYES_DATA=FOLDER python -m experiments.speed.trials\n")
    print(
        "| algorithm | draws | trials | failed fits | median, s | target | mean, s "
        "| judged, median |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for algorithm, draws, share, target in CASES:
        trials = max(2, round(share * options.trials))
        seconds, judged = timed(collection, algorithm, draws, trials)
        drawn = 4 * draws if ":" in algorithm and ":map" not in algorithm else "-"
        print(
            f"| {algorithm} | {drawn} | {trials} | {trials - len(judged)} "
            f"| {np.median(seconds):.2f} | {target or '-'} | {np.mean(seconds):.2f} "
            f"| {np.median(judged):.0f} |",
            flush=True,
        )


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
