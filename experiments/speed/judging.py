"""A judging step: take a label, weigh the topic's documents again, find the best of all topics.

Usage: python -m experiments.speed.judging > docs/results/speed-judging.md

Two systems whose lists share half of their documents, on 50 topics of n pooled documents each; all
judgments fall on topics at random. Times are of one thread, in processor time, medians over rounds
of 200 judgments, warm, and of five such medians some time apart. The line through the times of all
n says what a step costs whatever the topic, and what every 1000 documents add (target: 5
microseconds). That part is reading and writing the topic's state, which fits no fast cache, so the
speed of copying memory in the same run is given too. Ends in a minute.
"""

from __future__ import annotations

import time

import numpy as np

import rtc_bayes as rb
from experiments.speed.timing import median_seconds
from rtc_bayes.judging.judges.weighted import WeightedChooser
from rtc_bayes.judging.weights import WEIGHTS

TOPICS = 50
DOCUMENTS = (1000, 2000, 4000, 8000)
JUDGMENTS = 200
ROUNDS = 9
REPEATS = 5


def main() -> None:
    print("# Speed of a judging step\n")
    print(" ".join(__doc__.split("\n\n")[2].split()) + "\n")
    print("    python -m experiments.speed.judging\n")
    sizes = " | ".join(f"n = {n}" for n in DOCUMENTS)
    print(f"| weight | {sizes} | any step, µs | each 1000 documents, µs |")
    print("|---|" + "---|" * (len(DOCUMENTS) + 2))
    pools = {n: two_lists(n) for n in DOCUMENTS}
    seconds = np.array(
        [[[step(pools[n], name) for n in DOCUMENTS] for name in WEIGHTS] for _ in range(REPEATS)]
    )
    for name, found in zip(WEIGHTS, 1e6 * np.median(seconds, axis=0), strict=True):
        slope, constant = np.polyfit(np.array(DOCUMENTS) / 1000, found, 1)
        times = " | ".join(f"{microseconds:.1f}" for microseconds in found)
        print(f"| {name} | {times} | {constant:.1f} | {slope:.1f} |", flush=True)
    source = np.ones(1 << 22)
    target = np.empty_like(source)
    copying = median_seconds(lambda: np.copyto(target, source), ROUNDS)
    print(f"\nOne core copied {source.nbytes / copying / 1e9:.0f} GB a second.")


def two_lists(documents: int) -> rb.Pool:
    """Pool of two systems whose lists share half of their documents."""
    rng = np.random.default_rng(0)
    length = 2 * documents // 3
    names = np.array([f"d{i:05d}" for i in range(documents)])
    ends = slice(0, length), slice(documents - length, documents)
    return rb.Pool.from_runs(
        rb.Runs(
            rb.Run.from_rankings(
                f"s{k}", {str(t): rng.permutation(names[end]) for t in range(TOPICS)}
            )
            for k, end in enumerate(ends)
        ),
        depth=length,
    )


def step(pool: rb.Pool, weight: str) -> float:
    """Median seconds of a judgment, with the choice of the next document."""
    rng = np.random.default_rng(1)
    judge = WeightedChooser(rb.Judgments.none(pool), weight)
    order = rng.permutation(pool.n_documents)[: (ROUNDS + 1) * JUDGMENTS].tolist()
    labels = (rng.random(len(order)) < 0.3).astype(float).tolist()
    found = []
    for first in range(0, len(order), JUDGMENTS):
        start = time.thread_time()
        for n in range(first, first + JUDGMENTS):
            judge.observe(order[n], labels[n])
            judge.choose(1)
        found.append((time.thread_time() - start) / JUDGMENTS)
    return float(np.median(found[1:]))


if __name__ == "__main__":
    main()
