"""Measure the moments of average precision over draws and over all pairs of a track.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.moments > docs/results/speed-moments.md

Times are of all threads, in seconds of processor time, warm, medians of five. The draws are those
of the cut posterior of ten TREC-8 systems, from 250 judgments that MTC chose for two of them. Ends
in about four minutes on a free core.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import numpy as np

import rtc_bayes as rb
from experiments.speed import timing
from rtc_bayes.confidence import normal
from rtc_bayes.confidence.outcomes import sample, shares
from rtc_bayes.judging import build
from rtc_bayes.measures.overlaps import Overlaps

SYSTEMS = 10
JUDGMENTS = 250
DRAWS = 1000
OUTCOMES = 20_000
POSTERIOR_TARGETS = {"plugin": 3, "exact": 60}
KINDS = tuple(POSTERIOR_TARGETS)
ALL_PAIRS = """
## All pairs of TREC-8

One draw. Memory is the peak of the process, and what the collection took of it before.

What two lists share, summed over pairs and topics, is what every pair has to touch: its number, and
the time for each.
"""


def main() -> None:
    timing.print_head("Speed of moments", __doc__)
    runs, qrels = timing.trec8()
    order = np.random.default_rng(0).permutation(len(runs))[:SYSTEMS]
    chosen = [runs.systems[s] for s in order]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pool = rb.Pool.from_runs(runs, depth=100).select(chosen)
        made = build(pool.select(chosen[:2]), qrels, "mtc", confidence=None, budget=JUDGMENTS)
        judgments = made.judgments.on(pool)
        fitted = rb.fit(pool, judgments, model="rtc", method="cut", draws=DRAWS // 4, chains=4)
    _, draws = fitted.relevance.on(pool)
    print(f"## Draws together, and one at a time\n\n{pool}, milliseconds per draw.\n")
    timing.print_table(
        "moments | one at a time (20 draws) | together (200 draws) | times",
        (against_the_loop(pool, draws, kind) for kind in KINDS),
    )
    print(f"\n## A posterior\n\n{DRAWS} draws, {SYSTEMS} systems, depth 100.\n")
    timing.print_table(
        "moments | target, s | s",
        (
            [
                kind,
                target,
                f"{timing.moments_seconds(pool, draws, kind):.1f}",
            ]
            for kind, target in POSTERIOR_TARGETS.items()
        ),
    )
    print('\n## compare\n\nSeconds of `compare(form="auto")`, and the forms it chose.\n')
    timing.print_table("draws | moments | s | forms", comparisons(pool, draws))
    draws_that_suffice(pool, draws)
    print(ALL_PAIRS)
    timing.print_table(
        "depth | documents | pairs | shared, millions | moments | target, s | s | ns for each "
        "| peak, GB | before, GB",
        all_pairs(runs),
    )


def against_the_loop(pool: rb.Pool, draws: np.ndarray, kind: str) -> list[str]:
    loop = (
        timing.median_seconds(lambda: [rb.moments(pool, p, moments=kind) for p in draws[:20]]) / 20
    )
    batch = timing.moments_seconds(pool, draws[:200], kind) / 200
    return [kind, f"{1e3 * loop:.1f}", f"{1e3 * batch:.2f}", f"{loop / batch:.1f}"]


def comparisons(pool: rb.Pool, draws: np.ndarray) -> Iterator[list[object]]:
    for count in (1, 200, DRAWS):
        relevance = rb.Relevance.from_values(pool, draws[None, :count])
        for kind in KINDS:
            made = rb.compare(pool, relevance, moments=kind)
            seconds = timing.median_seconds(
                lambda r=relevance, k=kind: rb.compare(pool, r, moments=k)
            )
            names, counts = np.unique(made.form, return_counts=True)
            forms = ", ".join(f"{n} {c}" for n, c in zip(names, counts, strict=True))
            yield [count, kind, f"{seconds:.2f}", forms]


def draws_that_suffice(pool: rb.Pool, draws: np.ndarray) -> None:
    """Split the error of P(a < b) into that of the draws and that of the outcomes."""
    table = rb.moments(pool, draws)
    below = normal(table.difference_expected, table.difference_variance).less
    p, between = below.mean(axis=0), below.var(axis=0)
    within = p * (1.0 - p) - between
    cost = {kind: timing.moments_seconds(pool, draws[:100], kind) / 100 for kind in KINDS}
    scored = {
        n: timing.median_seconds(lambda n=n: sample(pool, draws, measure="AP", outcomes=n, seed=1))
        for n in (DRAWS, OUTCOMES)
    }
    unsure = (p > 0.01) & (p < 0.99)
    share = float((between / (p * (1.0 - p)))[unsure].mean())
    print("\n## How many draws suffice, and moments or outcomes\n")
    print(
        f"Standard errors of P(a < b), root mean square over the {unsure.sum()} of {len(p)} pairs "
        f"with P in (.01, .99), from the spread of {DRAWS} draws. Between draws lies {share:.2f} "
        f"of P (1 - P), the mean over these pairs.\n"
    )

    def error(variance: np.ndarray) -> str:
        return f"{np.sqrt(variance[unsure].mean()):.4f}"

    def row(count: int) -> list[object]:
        exact = error(between / count), f"{cost['exact'] * count:.1f}"
        plugin = f"{cost['plugin'] * count:.2f}"
        outcomes = error(between / count + within / OUTCOMES), f"{scored[OUTCOMES]:.1f}"
        return [count, *exact, plugin, *outcomes, error(p * (1.0 - p) / count)]

    timing.print_table(
        "draws | exact moments: error | s | plug-in: s "
        f"| {OUTCOMES} outcomes: error | s | one outcome per draw: error",
        map(row, (25, 50, 100, 200, 500, 1000, 4000)),
    )
    each = {n: f"{1e3 * seconds / n:.2f} ms" for n, seconds in scored.items()}
    print(
        f"\nAn outcome takes {each[OUTCOMES]}, one of each draw {each[DRAWS]}; the exact moments "
        f"of a draw {1e3 * cost['exact']:.1f} ms, the plug-in ones {1e3 * cost['plugin']:.2f} ms."
    )
    scores = sample(pool, draws, measure="AP", outcomes=10 * OUTCOMES, seed=2)
    counted = shares(scores, table.pairs)
    gap = np.abs(p - counted.less - 0.5 * counted.equal)
    spread = np.sqrt(within / scores[0].size)
    print(
        f"\nAgainst {scores[0].size} outcomes of the same draws, the mean of the draws' normal "
        f"probabilities is off by {gap.max():.4f} at most and {gap.mean():.4f} in the mean "
        f"(standard error of the outcomes: {spread.max():.4f} at most).",
        flush=True,
    )


def all_pairs(runs: rb.Runs) -> Iterator[list[object]]:
    for depth, targets in ((100, {"plugin": 2, "exact": 15}), (1000, {"plugin": 20})):
        pool = timing.pooled(runs, depth)
        p = timing.graded(pool)
        shared = shared_documents(pool)
        pairs = pool.n_systems * (pool.n_systems - 1) // 2
        sizes = depth, pool.n_documents, pairs, f"{shared / 1e6:.1f}"
        gc.collect()
        before = timing.peak()
        for kind, target in targets.items():
            seconds = timing.moments_seconds(pool, p, kind)
            times = f"{seconds:.1f}", f"{1e9 * seconds / shared:.0f}"
            yield [*sizes, kind, target, *times, f"{timing.peak():.2f}", f"{before:.2f}"]


def shared_documents(pool: rb.Pool) -> int:
    """Documents that two lists of a topic share, over all pairs and topics."""
    pairs = np.stack(np.triu_indices(pool.n_systems, 1), axis=1)
    counts = (
        len(Overlaps.of(pool.lists(t), int(np.diff(pool.topic_starts)[t]), pairs).first)
        for t in range(pool.n_topics)
    )
    return sum(counts)


if __name__ == "__main__":
    main()
