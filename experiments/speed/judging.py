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

import itertools

import numpy as np

import rtc_bayes as rb
from experiments.speed import timing
from rtc_bayes.judging.judges.weighted import WeightedChooser
from rtc_bayes.judging.weights import WEIGHTS

TOPICS = 50
DOCUMENTS = (1000, 2000, 4000, 8000)
JUDGMENTS = 200
ROUNDS = 9
REPEATS = 5


def main() -> None:
    timing.print_head("Speed of a judging step", __doc__)
    pools = {n: two_lists(n) for n in DOCUMENTS}
    seconds = np.median(
        [[[step(pools[n], name) for n in DOCUMENTS] for name in WEIGHTS] for _ in range(REPEATS)],
        axis=0,
    )
    sizes = " | ".join(f"n = {n}" for n in DOCUMENTS)
    timing.print_table(
        f"weight | {sizes} | any step, µs | each 1000 documents, µs",
        (row(name, of) for name, of in zip(WEIGHTS, 1e6 * seconds, strict=True)),
    )
    source = np.ones(1 << 22)
    target = np.empty_like(source)
    copying = timing.median_seconds(lambda: np.copyto(target, source), ROUNDS)
    print(f"\nOne core copied {source.nbytes / copying / 1e9:.0f} GB a second.")


def row(name: str, microseconds: np.ndarray) -> list[str]:
    slope, constant = np.polyfit(np.array(DOCUMENTS) / 1000, microseconds, 1)
    return [name, *(f"{number:.1f}" for number in (*microseconds, constant, slope))]


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
    steps = iter(zip(order, labels, strict=True))

    def some() -> None:
        for document, label in itertools.islice(steps, JUDGMENTS):
            judge.observe(document, label)
            judge.choose(1)

    return timing.median_seconds(some, ROUNDS) / JUDGMENTS


if __name__ == "__main__":
    main()
