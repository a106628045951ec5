"""How many judgments tell two random TREC-8 runs apart at 95% confidence.

    RTC_BAYES_DATA=... python -m experiments.judging.judgments_needed --pairs 60

prints, per algorithm, the median and quartiles of the number of judgments, the share of right
signs and the mean seconds, with a 90% bootstrap interval of the median over pairs. The same pairs
for every algorithm.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from pathlib import Path

import numpy as np

from rtc_bayes import Pool, Runs, evaluate, read_qrels, read_runs
from rtc_bayes.judging import build

ALGORITHMS = [
    "mtc",
    "mtc[weight=evr]",
    "mtc[weight=influence]",
    "rtc:map",
    "rtc[weight=evr]:map",
    "rtc[weight=mtc06]:map",
    "rtc[cell_weight=.1,intercept=yes]:map",
]


def median_interval(counts: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """90% percentile bootstrap interval of the median, over pairs."""
    draws = rng.integers(len(counts), size=(2000, len(counts)))
    low, high = np.quantile(np.median(counts[draws], axis=1), [0.05, 0.95])
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("algorithms", nargs="*", default=ALGORITHMS)
    arguments = parser.parse_args()
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    runs = read_runs(folder / "runs")
    qrels = read_qrels(folder / "qrels.txt.gz")
    truth = evaluate(runs, qrels, ["AP"])
    means = dict(zip(truth.systems, truth.mean["AP"], strict=True))
    rng = np.random.default_rng(arguments.seed)
    pairs = []
    while len(pairs) < arguments.pairs:
        a, b = (runs.systems[i] for i in rng.choice(len(runs), 2, replace=False))
        if means[a] != means[b]:
            pairs.append((a, b, Pool.from_runs(Runs([runs[a], runs[b]]), depth=arguments.depth)))
    # compile before anything is timed
    build(pairs[0][2], qrels, "mtc", budget=1)
    print(f"{len(pairs)} pairs, seed {arguments.seed}, depth {arguments.depth}")
    print(f"{'algorithm':42} median  interval      quartiles     right  seconds  ended")
    for algorithm in arguments.algorithms:
        results, right, begun = [], 0, time.perf_counter()
        for a, b, pool in pairs:
            result = build(pool, qrels, algorithm, confidence=arguments.confidence)
            results.append(result)
            right += np.sign(result.differences[0]) == np.sign(means[a] - means[b])
        seconds = (time.perf_counter() - begun) / len(pairs)
        counts = np.array([result.judgments.n_judged for result in results])
        low, high = median_interval(counts, np.random.default_rng(arguments.seed))
        quartiles = np.quantile(counts, [0.25, 0.75])
        ended = Counter(result.reason for result in results)
        print(
            f"{algorithm:42} {np.median(counts):6.0f}  {low:5.0f}-{high:<5.0f}  "
            f"{quartiles[0]:5.0f}-{quartiles[1]:<5.0f}  {right / len(pairs):6.3f}  {seconds:7.3f}  "
            + ", ".join(f"{reason} {n}" for reason, n in ended.items())
        )


if __name__ == "__main__":
    main()
