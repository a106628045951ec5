"""Small pools whose differences can be enumerated."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from pools import random_pool

from rtc_bayes.collection import Relevance


@pytest.fixture(scope="session")
def oracle():
    path = Path(__file__).parents[1] / "oracle.py"
    spec = importlib.util.spec_from_file_location("oracle", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _exact_signs(oracle, pool, p, a=0, b=1, score="AP"):
    """P(< 0), P(= 0), P(> 0) of the mean difference, by enumeration and convolution."""
    parts = []
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        rankings = [(pool.ranking(s, t) - inside.start).tolist() for s in (a, b)]
        scores, weights = oracle.distribution(rankings, p[inside].tolist(), oracle.SCORES[score])
        parts.append((scores[:, 0] - scores[:, 1], weights))
    return np.array(oracle.sign_probabilities(*oracle.mean_over_topics(parts)))


@pytest.fixture(scope="session")
def make_pool():
    def make(rng, systems, topics, documents, depth=None):
        return random_pool(rng, systems, topics, documents, longest=depth)

    return make


@pytest.fixture(scope="session")
def exact_signs(oracle):
    def signs(*arguments, **options):
        return _exact_signs(oracle, *arguments, **options)

    return signs


@pytest.fixture(scope="session")
def point():
    def estimate(pool, p):
        return Relevance.from_values(pool, np.asarray(p), model="toy", method="map")

    return estimate
