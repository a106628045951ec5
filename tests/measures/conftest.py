"""Small random pools for the tests of measures."""

from __future__ import annotations

import numpy as np
import pytest

from rtc_bayes.collection import Pool, Run, Runs


def _random_pool(rng, systems, topics, length):
    """Runs over short topics, some documents shared, some lists missing or short."""
    runs = []
    for s in range(systems):
        rankings = {
            str(t): [f"d{i:02d}" for i in rng.permutation(length + 2)[: rng.integers(1, length)]]
            for t in range(topics)
        }
        runs.append(Run.from_rankings(f"s{s}", rankings))
    return Pool.from_runs(Runs(runs), depth=length)


def _deeper_pool(rng, systems, topics, length, depth):
    """Return a pool scored below its depth, one as deep as that, and where it holds the first's."""
    runs = []
    for s in range(systems):
        rankings = {
            str(t): [f"d{i:02d}" for i in rng.permutation(length + 2)[:length]]
            for t in range(topics)
        }
        runs.append(Run.from_rankings(f"s{s}", rankings))
    pool = Pool.from_runs(Runs(runs), depth=depth, score_depth=length)
    whole = Pool.from_runs(Runs(runs), depth=length)
    place = [whole.locate(t, pool.docnos[pool.documents(n)]) for n, t in enumerate(pool.topics)]
    return pool, whole, np.concatenate(place)


@pytest.fixture(scope="session")
def deeper_pool():
    return _deeper_pool


@pytest.fixture(scope="session")
def random_pool():
    return _random_pool
