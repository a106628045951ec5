"""Small random pools for the tests of measures."""

from __future__ import annotations

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


@pytest.fixture(scope="session")
def random_pool():
    return _random_pool
