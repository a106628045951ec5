"""Judging for all systems of a track at once, and how its cost grows.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.many_systems
       > docs/results/speed-many-systems.md

The systems of TREC-8, lists cut at depth 100, judged by its judgments until a budget is spent; the
first row of each judge is the whole track, and each other row has less of one thing. Seconds are
processor time of one process, kernels compiled before, one turn. Pairs (8,256 of 129 systems) are
looked at once, at the end. Ends in ten minutes.

With --batches N it prints another table instead: how long a person who judges ten documents at a
time waits for the next ten. The page has it at its end.
"""

from __future__ import annotations

import numpy as np

import rtc_bayes as rb
from experiments.speed import timing

JUDGES = ("mtc[weight=evr]", "rtc[weight=evr]:map", "hierarchical[weight=evr]:laplace")
BATCH = 10
# systems, topics, judgments
SIZES = ((129, 50, 868), (129, 50, 434), (129, 25, 434), (64, 50, 868), (32, 50, 868))


def main() -> None:
    options = timing.arguments(__doc__, judges=len(JUDGES), batches=0)
    if not options.batches:
        timing.print_head("Speed of judging for many systems", __doc__)
    runs, qrels = timing.trec8()
    pool = timing.pooled(runs)
    for judge in JUDGES:
        rb.build(part_of(pool, 24, 5), qrels, judge, confidence=None, budget=30)  # compiles
    if options.batches:
        seconds = "start, s | median, s | nine in ten within, s | slowest, s"
        timing.print_table(
            f"judge | batches of {BATCH} | {seconds}",
            (waits(pool, qrels, judge, options.batches) for judge in JUDGES[: options.judges]),
        )
        return
    timing.print_table(
        "judge | systems | topics | judgments | s | ms a judgment",
        (row(pool, qrels, judge, *size) for judge in JUDGES[: options.judges] for size in SIZES),
    )


def row(
    pool: rb.Pool, qrels: rb.Qrels, judge: str, systems: int, topics: int, budget: int
) -> list[str]:
    """Judge for a part of the pool."""
    part = part_of(pool, systems, topics)
    _, (_, seconds) = timing.clocked(
        lambda: rb.build(part, qrels, judge, confidence=None, budget=budget)
    )
    each = f"{1000 * seconds / budget:.0f}"
    return [f"`{judge}`", str(systems), str(topics), str(budget), f"{seconds:.1f}", each]


def waits(pool: rb.Pool, qrels: rb.Qrels, judge: str, batches: int) -> list[str]:
    """Judge as a person does, batch by batch, and say how long each took but for the person."""
    session, (_, start) = timing.clocked(
        lambda: rb.JudgingSession(rb.Judgments.none(pool), judge, budget=BATCH * batches)
    )
    seconds = []
    for _ in range(batches):
        _, (_, took) = timing.clocked(lambda: judge_batch(session, qrels))
        seconds.append(took)
    middle, slow, slowest = np.quantile(seconds, [0.5, 0.9, 1.0])
    return [f"`{judge}`", str(batches), *(f"{s:.2f}" for s in (start, middle, slow, slowest))]


def judge_batch(session: rb.JudgingSession, qrels: rb.Qrels) -> None:
    """Label the next ten documents by complete judgments."""
    pool = session.pool
    for _ in range(BATCH):
        document = session.next()
        assert document is not None, session.reason
        graded = qrels[pool.topics[pool.topic_of[document]]]
        session.observe(document, float(graded.get(pool.docnos[document], 0) > 0))


def part_of(pool: rb.Pool, systems: int, topics: int) -> rb.Pool:
    """Return systems spread over all of them, and the first topics."""
    step = pool.n_systems / systems
    names = [pool.systems[int(n * step)] for n in range(systems)]
    return pool.select(names).select_topics(pool.topics[:topics])


if __name__ == "__main__":
    main()
