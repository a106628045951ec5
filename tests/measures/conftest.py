"""Small random pools for the tests of measures."""

from __future__ import annotations

import numpy as np
import pools
import pytest


def _random_pool(rng, systems, topics, length):
    """Runs over short topics, some documents shared, some lists short."""
    return pools.random_pool(
        rng, systems, topics, length + 2, shortest=1, longest=length - 1, depth=length
    )


def _deeper_pool(rng, systems, topics, length, depth):
    """Return a pool scored below its depth, one as deep as that, and where it holds the first's."""
    rankings = pools.random_rankings(rng, systems, topics, length + 2, longest=length)
    pool = pools.pool_of(rankings, depth=depth, score_depth=length)
    deeper = pools.pool_of(rankings, depth=length)
    place = [deeper.locate(t, pool.docnos[pool.documents(n)]) for n, t in enumerate(pool.topics)]
    return pool, deeper, np.concatenate(place)


@pytest.fixture(scope="session")
def deeper_pool():
    return _deeper_pool


@pytest.fixture(scope="session")
def random_pool():
    return _random_pool
