"""Small random pools for judging, and the literal sums to hold it to."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from pools import random_pool

from rtc_bayes import Qrels
from rtc_bayes.judging.weights import WEIGHTS


def small_pool(rng, length=6, **sizes):
    """Lists over a few documents: some are short, some empty."""
    return random_pool(rng, shortest=0, longest=length, depth=10, **sizes)


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


def check_same(kept, fresh):
    """Hold a session's state to one made at once: moments, weights, and those of a pair alone."""
    for part, other in zip(kept.moments(), fresh.moments(), strict=True):
        np.testing.assert_allclose(part, other, atol=1e-12)
    for topic, other in zip(kept.topics, fresh.topics, strict=True):
        for name, weight in WEIGHTS.items():
            np.testing.assert_allclose(weight(topic), weight(other), atol=1e-12, err_msg=name)
            assert (weight(topic)[topic.judged] == 0.0).all()
    pair = fresh.of_pair([0, 2])
    which = list(zip(*fresh.pairs, strict=True)).index((0, 2))
    np.testing.assert_allclose(
        np.ravel(pair.moments()), [part[which] for part in fresh.moments()], atol=1e-12
    )


@pytest.fixture
def rng():
    return np.random.default_rng(20070723)


@pytest.fixture
def cases():
    """Return the functions above, for test modules cannot import this one."""
    return SimpleNamespace(
        pool=small_pool,
        truth=random_truth,
        coefficients=coefficients,
        outcome_moments=outcome_moments,
        check_same=check_same,
    )
