"""Measure the moments of average precision over draws and over all pairs of a track.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.moments > docs/results/speed-moments.md

Times are of one thread, in seconds of processor time, warm, medians of five. The draws are those
of the cut posterior of ten TREC-8 systems, from 250 judgments that MTC chose for two of them. Ends
in about ten minutes on a free core.
"""

from __future__ import annotations

import gc
import os
import warnings
from pathlib import Path

import numpy as np

import rtc_bayes as rb
from experiments.speed.timing import graded, median_seconds, peak
from rtc_bayes.confidence import normal
from rtc_bayes.confidence.outcomes import sample, shares
from rtc_bayes.judging import build
from rtc_bayes.measures.overlaps import Overlaps

SYSTEMS = 10
JUDGMENTS = 250
DRAWS = 1000
OUTCOMES = 20_000
KINDS = ("plugin", "exact")


def main() -> None:
    print("# Speed of moments\n")
    print(__doc__.split("\n\n")[2].replace("\n", " ") + "\n")
    print("    RTC_BAYES_DATA=FOLDER python -m experiments.speed.moments\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
        runs = rb.read_runs(folder / "runs")
        qrels = rb.read_qrels(folder / "qrels.txt.gz")
        order = np.random.default_rng(0).permutation(len(runs))[:SYSTEMS]
        chosen = [runs.systems[s] for s in order]
        pool = rb.Pool.from_runs(runs, depth=100).select(chosen)
        made = build(pool.select(chosen[:2]), qrels, "mtc", confidence=None, budget=JUDGMENTS)
        judgments = made.judgments.on(pool)
        fitted = rb.fit(pool, judgments, model="rtc", method="cut", draws=DRAWS // 4, chains=4)
    _, draws = fitted.relevance.on(pool)
    against_the_loop(pool, draws)
    for kind in KINDS:
        whole_posterior(pool, draws, kind)
    comparisons(pool, draws)
    draws_that_suffice(pool, draws)
    all_pairs(runs)


def against_the_loop(pool: rb.Pool, draws: np.ndarray) -> None:
    print("## Draws together, and one at a time\n")
    print(f"{pool}, milliseconds per draw.\n")
    print("| moments | one at a time (20 draws) | together (200 draws) | times |")
    print("|---|---|---|---|")
    for kind in KINDS:
        loop = (
            median_seconds(lambda k=kind: [rb.moments(pool, p, moments=k) for p in draws[:20]]) / 20
        )
        batch = median_seconds(lambda k=kind: rb.moments(pool, draws[:200], moments=k)) / 200
        print(f"| {kind} | {1e3 * loop:.1f} | {1e3 * batch:.2f} | {loop / batch:.1f} |", flush=True)
    print("\n## A posterior\n")
    print(f"{DRAWS} draws, {SYSTEMS} systems, depth 100.\n")
    print("| moments | target, s | s |")
    print("|---|---|---|")


def whole_posterior(pool: rb.Pool, draws: np.ndarray, kind: str) -> None:
    seconds = median_seconds(lambda: rb.moments(pool, draws, moments=kind))
    target = {"plugin": 3, "exact": 60}[kind]
    print(f"| {kind} | {target} | {seconds:.1f} |", flush=True)


def comparisons(pool: rb.Pool, draws: np.ndarray) -> None:
    print("\n## compare\n")
    print('Seconds of `compare(form="auto")`, and the forms it chose.\n')
    print("| draws | moments | s | forms |")
    print("|---|---|---|---|")
    for count in (1, 200, DRAWS):
        relevance = rb.Relevance.from_values(pool, draws[None, :count])
        for kind in KINDS:
            made = rb.compare(pool, relevance, moments=kind)
            seconds = median_seconds(lambda r=relevance, k=kind: rb.compare(pool, r, moments=k))
            names, counts = np.unique(made.form, return_counts=True)
            forms = ", ".join(f"{n} {c}" for n, c in zip(names, counts, strict=True))
            print(f"| {count} | {kind} | {seconds:.2f} | {forms} |", flush=True)


def draws_that_suffice(pool: rb.Pool, draws: np.ndarray) -> None:
    """Split the error of P(a < b) into that of the draws and that of the outcomes."""
    table = rb.moments(pool, draws)
    below = normal(table.difference_expected, table.difference_variance).less
    p, between = below.mean(axis=0), below.var(axis=0)
    within = p * (1.0 - p) - between
    cost = {
        kind: median_seconds(lambda k=kind: rb.moments(pool, draws[:100], moments=k)) / 100
        for kind in KINDS
    }
    scored = {
        n: median_seconds(lambda n=n: sample(pool, draws, measure="AP", outcomes=n, seed=1))
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
    print(
        "| draws | exact moments: error | s | plug-in: s "
        f"| {OUTCOMES} outcomes: error | s | one outcome per draw: error |"
    )
    print("|---|---|---|---|---|---|---|")

    def error(variance: np.ndarray) -> str:
        return f"{np.sqrt(variance[unsure].mean()):.4f}"

    for count in (25, 50, 100, 200, 500, 1000, 4000):
        print(
            f"| {count} | {error(between / count)} | {cost['exact'] * count:.1f} "
            f"| {cost['plugin'] * count:.2f} | {error(between / count + within / OUTCOMES)} "
            f"| {scored[OUTCOMES]:.1f} | {error(p * (1.0 - p) / count)} |",
            flush=True,
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


def all_pairs(runs: rb.Runs) -> None:
    print("\n## All pairs of TREC-8\n")
    print(
        "One draw. Memory is the peak of the process, and what the collection took of it before.\n"
    )
    print(
        "What two lists share, summed over pairs and topics, is what every pair has to touch: its "
        "number, and the time for each.\n"
    )
    print(
        "| depth | documents | pairs | shared, millions | moments | target, s | s | ns for each "
        "| peak, GB | before, GB |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for depth, targets in ((100, {"plugin": 2, "exact": 15}), (1000, {"plugin": 20})):
        pool = rb.Pool.from_runs(runs, depth=depth)
        p = graded(pool)
        shared = shared_documents(pool)
        gc.collect()
        before = peak()
        for kind, target in targets.items():
            seconds = median_seconds(lambda pool=pool, p=p, k=kind: rb.moments(pool, p, moments=k))
            pairs = pool.n_systems * (pool.n_systems - 1) // 2
            print(
                f"| {depth} | {pool.n_documents} | {pairs} | {shared / 1e6:.1f} | {kind} "
                f"| {target} | {seconds:.1f} | {1e9 * seconds / shared:.0f} | {peak():.2f} "
                f"| {before:.2f} |",
                flush=True,
            )


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
