"""How alike the lists of systems are, and so how far systems share the residual."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.order import all_pairs

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool

type Floats = NDArray[np.float64]

_TOP = 10
_VERY_SAME = 0.05
"""How much goes by whether two lists are the very same."""


def likeness(pool: Pool) -> Floats:
    """Return how alike lists are, by shared documents and by whether they are the very same.

    Nineteen twentieths go by the mean of two overlaps, in the first 10 documents and at the pool's
    depth, whatever the order (:meth:`rtc_bayes.Pool.overlap`); the last twentieth by the share of
    topics where lists are the very same. As a matrix it is positive semidefinite, as covariances
    are: overlaps are means over topics of shared documents, times the smaller of two reciprocal
    lengths.

    Parameters
    ----------
    pool : Pool

    Returns
    -------
    ndarray of float, shape (systems, systems)
        Symmetric, in [0, 1]. On the diagonal it is the share of topics with a list.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> lists = {"one": ["a", "b", "c"], "two": ["c", "b", "a"], "three": ["a", "x", "y"]}
    >>> runs = [rb.Run.from_rankings(name, {"1": ranked}) for name, ranked in lists.items()]
    >>> likeness(rb.Pool.from_runs(rb.Runs(runs))).round(2).tolist()
    [[1.0, 0.95, 0.32], [0.95, 1.0, 0.32], [0.32, 0.32, 1.0]]
    """
    share = pool.overlap()
    if pool.depth > _TOP:
        share = 0.5 * (pool.overlap(_TOP) + share)
    same = np.zeros_like(share)
    tails = pool.tails
    for t in range(pool.n_topics):
        length, (_, which) = pool.lengths[:, t], pool.lists(t).distinct()
        # lists may differ below the pool's depth alone, by documents that it lacks
        below = 0 * length if tails is None else tails.same[t :: pool.n_topics]
        keys = np.stack([which, length, below])
        same += (keys[:, :, None] == keys[:, None, :]).all(axis=0) & (length > 0)
    return (1.0 - _VERY_SAME) * share + _VERY_SAME * same / max(pool.n_topics, 1)


def residual_covariance(pool: Pool, residual: float) -> Floats:
    """Return the covariance of what is left of the systems' scores.

    Parameters
    ----------
    pool : Pool
    residual : float, at least 0
        Standard deviation of a system's score.

    Returns
    -------
    ndarray of float, shape (systems, systems)

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> lists = {"one": ["a", "b", "c"], "three": ["a", "x", "y"]}
    >>> runs = [rb.Run.from_rankings(name, {"1": ranked}) for name, ranked in lists.items()]
    >>> residual_covariance(rb.Pool.from_runs(rb.Runs(runs)), 0.1).round(4).tolist()
    [[0.01, 0.0032], [0.0032, 0.01]]
    """
    if residual == 0.0:
        return np.zeros((pool.n_systems, pool.n_systems))
    return residual**2 * likeness(pool)


def unlikeness(like: Floats, pairs: NDArray[np.int64] | None = None) -> Floats:
    """Return the variance of a difference, in units of that of a score.

    Of an error that systems share as far as their lists are alike: 2 where two share nothing, and
    0 where their lists are the very same.

    Parameters
    ----------
    like : ndarray, shape (systems, systems)
        Of :func:`likeness`, or a covariance by it: then the variances of differences.
    pairs : ndarray of int, shape (pairs, 2), optional
        All by default: 0 and 1, 0 and 2, and so on.

    Examples
    --------
    >>> unlikeness(np.array([[1.0, 0.25], [0.25, 1.0]])).tolist()
    [1.5]
    """
    a, b = all_pairs(len(like)) if pairs is None else pairs.T
    own = np.diag(like)
    return np.maximum(own[a] + own[b] - 2.0 * like[a, b], 0.0)


def root_of(covariance: Floats) -> Floats:
    """Return a root of a covariance, which may be singular: the product with its transpose.

    Parameters
    ----------
    covariance : ndarray, shape (n, n)
        Eigenvalues below 0, which rounding makes, count as 0.

    Returns
    -------
    ndarray of float, shape (n, n)
        Rows of what never differs are the same to the last bit, as ties are.

    Examples
    --------
    >>> root_of(np.array([[4.0, 0.0], [0.0, 9.0]])).round(6).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    >>> root_of(np.ones((2, 2))).std(axis=0).tolist()
    [0.0, 0.0]
    """
    values, vectors = np.linalg.eigh(covariance)
    root: Floats = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    own = np.diag(covariance)
    same = own[:, None] + own - 2.0 * covariance <= 0.0
    return root[same.argmax(axis=1)]
