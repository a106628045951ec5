"""Measure how accurate and how fast the moments are, and print the tables of docs/results.

Usage: PYTHONPATH=tests python -m experiments.accuracy.accuracy [--topics 500] [--outcomes 1000000]

Ends in about two minutes. The oracle enumerates all 2^n outcomes (tests/oracle.py).
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import oracle
from topics import random_topic

from rtc_bayes.collection import Pool, Run, Runs
from rtc_bayes.measures import moments, parse_measure, sample_scores
from rtc_bayes.measures.analytic import on_topic


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=500)
    parser.add_argument("--outcomes", type=int, default=1_000_000)
    options = parser.parse_args()
    print("## Against enumeration\n")
    print("| measure | topics | tolerance | E | Var and Cov | Var of a difference |")
    print("|---|---|---|---|---|---|")
    for tolerance in (1e-6, 1e-8, 1e-12):
        against_enumeration("AP", options.topics, 13, tolerance)
    for name in list(oracle.SCORES)[1:]:
        against_enumeration(name, options.topics // 5, 9, 1e-12)
    print("\n## Plug-in moments against the printed sums\n")
    against_printed_sums(options.topics // 2)
    print("\n## Against sampled outcomes\n")
    against_outcomes(options.outcomes)
    print("\n## What plug-in moments miss\n")
    plugin_against_exact()
    print("\n## Time\n")
    times()


def against_enumeration(name: str, topics: int, documents: int, tolerance: float) -> None:
    rng = np.random.default_rng(2007)
    worst = np.zeros(3)
    for _ in range(topics):
        topic = random_topic(rng, int(rng.integers(1, documents + 1)))
        scores, weights = oracle.distribution(topic.lists, topic.p, oracle.SCORES[name])
        mean, covariance = oracle.mean_and_covariance(scores, weights)
        measure = on_topic(parse_measure(name), topic.complete, len(topic.p))
        result = measure.moments(topic.p, exact=True, tolerance=tolerance)
        pairs = [
            result.pair_variance(a, b) - oracle.cumulants(scores[:, a] - scores[:, b], weights)[1]
            for a in range(len(mean))
            for b in range(a)
        ]
        errors = [result.expected - mean, result.covariance - covariance, np.array([0.0, *pairs])]
        worst = np.maximum(worst, [np.abs(error).max() for error in errors])
    print(f"| {name} | {topics} | {tolerance:.0e} |", " | ".join(f"{x:.1e}" for x in worst), "|")


def against_printed_sums(topics: int) -> None:
    rng = np.random.default_rng(12)
    worst = np.zeros(2)
    compared = 0
    while compared < topics:
        topic = random_topic(rng, int(rng.integers(2, 12)))
        if not np.any((topic.p > 0) & (topic.p < 1)):
            continue
        ranks = np.full((len(topic.lists), len(topic.p)), np.inf)
        for s, ranking in enumerate(topic.lists):
            ranks[s, ranking] = np.arange(1, len(ranking) + 1)
        a = 1 / np.maximum(ranks[:, :, None], ranks[:, None, :])
        measure = on_topic(parse_measure("AP"), topic.complete, len(topic.p))
        result = measure.moments(topic.p, exact=False, tolerance=1e-8)
        for s in range(len(topic.lists)):
            for u in range(s):
                mean, variance = oracle.printed_moments(a[s] - a[u], topic.p)
                difference = result.expected[s] - result.expected[u]
                errors = [difference - mean, result.pair_variance(s, u) - variance]
                worst = np.maximum(worst, np.abs(errors))
                compared += 1
    print(f"{compared} pairs of lists: E {worst[0]:.1e}, Var {worst[1]:.1e} at worst.")


def ranked_by_quality(rng: np.random.Generator, documents: int, systems: int) -> Pool:
    """One topic that every system ranks whole, the documents of low number first."""
    quality = -np.arange(documents) / documents
    names = np.array([f"d{i:05d}" for i in range(documents)], dtype=object)
    noisy = [quality + 0.2 * rng.standard_normal(documents) for _ in range(systems)]
    runs = [
        Run.from_rankings(f"s{s}", {"1": names[np.argsort(-score)].tolist()})
        for s, score in enumerate(noisy)
    ]
    return Pool.from_runs(Runs(runs), depth=documents)


def against_outcomes(outcomes: int) -> None:
    print("| measure | documents | outcomes | error of E / s.e. | error of Var / s.e. |")
    print("|---|---|---|---|---|")
    for name in ("AP", "nDCG@20", "R@100", "RR"):
        pool = ranked_by_quality(np.random.default_rng(31), 1000, 3)
        p = 0.5 * np.exp(-np.arange(1000) / 100)
        result = moments(pool, p, measure=name, tolerance=1e-10)
        scores = sample_scores(pool, p, measure=name, outcomes=outcomes, seed=7)
        worst = np.zeros(2)
        for n, (a, b) in enumerate(result.pairs):
            mean, variance = result.difference_expected[0, n], result.difference_variance[0, n]
            sampled = scores[:, a] - scores[:, b]
            squares = (sampled - mean) ** 2
            standard_errors = np.array([np.sqrt(variance), squares.std()]) / np.sqrt(outcomes)
            errors = [sampled.mean() - mean, squares.mean() - variance]
            worst = np.maximum(worst, np.abs(errors) / standard_errors)
        print(f"| {name} | 1000 | {outcomes} | {worst[0]:.2f} | {worst[1]:.2f} |")


def plugin_against_exact() -> None:
    print("| documents | p | E R | E AP, plug-in / exact | Var AP | Var of a difference |")
    print("|---|---|---|---|---|---|")
    for documents, p in ((20, 0.1), (100, 0.03), (100, 0.1), (100, 0.5), (1000, 0.1)):
        pool = ranked_by_quality(np.random.default_rng(5), documents, 2)
        values = np.full(documents, p)
        exact, plugin = (moments(pool, values, moments=kind) for kind in ("exact", "plugin"))
        ratios = (
            plugin.mean_expected[0, 0] / exact.mean_expected[0, 0],
            plugin.mean_variance[0, 0] / exact.mean_variance[0, 0],
            plugin.difference_variance[0, 0] / exact.difference_variance[0, 0],
        )
        cells = " | ".join(f"{ratio:.3f}" for ratio in ratios)
        print(f"| {documents} | {p} | {documents * p:g} | {cells} |")


def times() -> None:
    print("| systems | topics | depth | documents | moments | CPU seconds |")
    print("|---|---|---|---|---|---|")
    for systems in (10, 100):
        pool = many_topics(np.random.default_rng(1), systems)
        p = np.random.default_rng(2).random(pool.n_documents) ** 20
        for kind in ("exact", "plugin"):
            best = np.inf
            for _ in range(3):
                start = time.process_time()
                moments(pool, p, moments=kind)
                best = min(best, time.process_time() - start)
            print(f"| {systems} | 50 | 100 | {pool.n_documents} | {kind} | {best:.2f} |")


def many_topics(rng: np.random.Generator, systems: int) -> Pool:
    """50 topics at depth 100, the systems choosing by quality and noise among 3000 documents."""
    names = np.array([f"d{i:04d}" for i in range(3000)], dtype=object)
    quality = rng.exponential(size=(50, 3000))
    rankings: list[dict[str, list[str]]] = [{} for _ in range(systems)]
    for t in range(50):
        for ranking in rankings:
            order = np.argsort(-(quality[t] + rng.exponential(size=3000)))[:100]
            ranking[str(t)] = names[order].tolist()
    runs = [Run.from_rankings(f"s{s}", ranking) for s, ranking in enumerate(rankings)]
    return Pool.from_runs(Runs(runs), depth=100)


if __name__ == "__main__":
    main()
