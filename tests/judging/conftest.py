"""Small random pools for judging, and the literal sums to hold it to."""

from __future__ import annotations

import warnings
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from rtc_bayes import Pool, Qrels, Run, Runs


def random_runs(rng, systems=2, topics=3, documents=8, length=6):
    """Runs over a few documents: short lists, gaps and missing topics happen."""
    runs = []
    for s in range(systems):
        rankings = {}
        for t in range(topics):
            n = int(rng.integers(0 if t else 1, length + 1))
            if n:
                docnos = rng.permutation(documents)[:n]
                rankings[str(401 + t)] = [f"D{d:02d}" for d in docnos]
        runs.append(Run.from_rankings(f"S{s}", rankings))
    return Runs(runs)


def random_pool(rng, **sizes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # runs without a topic are wanted here
        return Pool.from_runs(random_runs(rng, **sizes), depth=10)


def random_truth(rng, pool, rate=0.4):
    truth = {topic: {} for topic in pool.topics}
    for t, topic in enumerate(pool.topics):
        for docno in pool.docnos[pool.documents(t)]:
            truth[topic][docno] = int(rng.random() < rate)
    return Qrels(truth)


def coefficients(pool, topic, first, second):
    """Literal c_ij of a pair on a topic: 1 / max(rank) of the first minus of the second."""

    def one(s):
        rank = np.where(pool.ranks(topic)[s] > 0, pool.ranks(topic)[s], np.inf)
        return 1.0 / np.maximum.outer(rank, rank)

    return one(first) - one(second)


def outcome_moments(c, p):
    """E and Var of S over all 2^n relevance outcomes."""
    n = len(p)
    mean = square = 0.0
    for outcome in product((0, 1), repeat=n):
        x = np.array(outcome, dtype=float)
        weight = np.prod(np.where(x == 1, p, 1 - p))
        s = sum(c[i, j] * x[i] * x[j] for i in range(n) for j in range(i, n))
        mean += weight * s
        square += weight * s * s
    return mean, square - mean * mean


@pytest.fixture
def rng():
    return np.random.default_rng(20070723)


@pytest.fixture
def cases():
    """Return the functions above, for test modules cannot import this one."""
    return SimpleNamespace(
        runs=random_runs,
        pool=random_pool,
        truth=random_truth,
        coefficients=coefficients,
        outcome_moments=outcome_moments,
    )
