"""What two lists of a topic have between them: cumulants of their difference, and ties."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.measures.topic import DrawMoments, TopicMoments

Floats = NDArray[np.float64]

# V_a + V_b - 2 C_ab keeps ten digits fewer than its parts where it is this small beside them
_CANCELLED = 1e-6

_LANES = 8
# documents of all lists that are read together: they stay in the cache from pair to pair
_TILE = 512


def difference_variances(
    covariance: Floats,
    pairs: NDArray[np.int64],
    directly: Callable[[int, int], Floats],
) -> Floats:
    """Variances of the differences of lists, under every draw.

    Parameters
    ----------
    covariance : ndarray, shape (draws, lists, lists)
    pairs : ndarray of int64, shape (pairs, 2)
        List numbers; a list does not differ from itself.
    directly : callable
        Variance of the difference of two lists, given by number, without the cancellation that
        ``covariance`` brings when they are nearly the same; shape (draws,).

    Returns
    -------
    ndarray, shape (draws, pairs)
    """
    first, second = pairs.T
    parts = covariance[:, first, first] + covariance[:, second, second]
    result = parts - 2.0 * covariance[:, first, second]
    near = (result < _CANCELLED * parts) & (first != second)
    for n in np.flatnonzero(near.any(axis=0)):
        a, b = pairs[n].tolist()
        result[near[:, n], n] = directly(a, b)[near[:, n]]
    return result


@njit(cache=True)
def higher_cumulants(
    gradient: Floats, pairs: NDArray[np.int64], p: Floats
) -> tuple[Floats, Floats]:
    """Third and fourth cumulants of the difference of two lists, to first order in relevance.

    The difference is taken as a sum of independent terms g_i X_i, g being the difference of the
    lists' gradients.

    Parameters
    ----------
    gradient : ndarray, shape (draws, lists, documents)
    pairs : ndarray of int64, shape (pairs, 2)
        List numbers.
    p : ndarray, shape (draws, documents)

    Returns
    -------
    third, fourth : ndarray, shape (draws, pairs)
    """
    draws, documents = p.shape
    weight3 = np.empty(documents)
    weight4 = np.empty(documents)
    third = np.zeros((draws, pairs.shape[0]))
    fourth = np.zeros((draws, pairs.shape[0]))
    # sums in lanes run in vector registers, and in one order on every machine
    sum3 = np.empty(_LANES)
    sum4 = np.empty(_LANES)
    for d in range(draws):
        for i in range(documents):
            x = p[d, i]
            v = x * (1.0 - x)
            weight3[i] = v * (1.0 - 2.0 * x)
            weight4[i] = v * (1.0 - 6.0 * v)
        for tile in range(0, documents, _TILE):
            end = min(tile + _TILE, documents)
            whole = end - (end - tile) % _LANES
            for n in range(pairs.shape[0]):
                first = gradient[d, pairs[n, 0]]
                second = gradient[d, pairs[n, 1]]
                sum3[:] = 0.0
                sum4[:] = 0.0
                for start in range(tile, whole, _LANES):
                    for lane in range(_LANES):
                        g = first[start + lane] - second[start + lane]
                        cube = g * g * g
                        sum3[lane] += cube * weight3[start + lane]
                        sum4[lane] += cube * g * weight4[start + lane]
                for i in range(whole, end):
                    g = first[i] - second[i]
                    cube = g * g * g
                    sum3[0] += cube * weight3[i]
                    sum4[0] += cube * g * weight4[i]
                third[d, n] += sum3.sum()
                fourth[d, n] += sum4.sum()
    return third, fourth


@njit(cache=True)
def listed_cumulants(
    ranked: NDArray[np.int32],
    starts: NDArray[np.int64],
    gradient: Floats,
    pairs: NDArray[np.int64],
    p: Floats,
) -> tuple[Floats, Floats]:
    """Return the same cumulants where a list's gradient is 0 for documents that it does not hold.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    gradient : ndarray, shape (entries, draws)
        For every entry of the lists.
    pairs : ndarray of int64, shape (pairs, 2)
        List numbers.
    p : ndarray, shape (documents, draws)

    Returns
    -------
    third, fourth : ndarray, shape (pairs, draws)
    """
    documents, draws = p.shape
    weight3 = np.empty((documents, draws))
    weight4 = np.empty((documents, draws))
    uncertain = np.zeros(documents, dtype=np.bool_)
    for i in range(documents):
        for d in range(draws):
            x = p[i, d]
            v = x * (1.0 - x)
            weight3[i, d] = v * (1.0 - 2.0 * x)
            weight4[i, d] = v * (1.0 - 6.0 * v)
            uncertain[i] = uncertain[i] or v > 0.0
    entry = _entries(ranked, starts, documents)
    third = np.zeros((pairs.shape[0], draws))
    fourth = np.zeros((pairs.shape[0], draws))
    for n in range(pairs.shape[0]):
        a, b = pairs[n, 0], pairs[n, 1]
        if a == b:
            continue
        for m in range(starts[a], starts[a + 1]):
            i = ranked[m]
            if not uncertain[i]:
                continue
            other = entry[b, i]
            for d in range(draws):
                g = gradient[m, d]
                if other >= 0:
                    g -= gradient[other, d]
                cube = g * g * g
                third[n, d] += cube * weight3[i, d]
                fourth[n, d] += cube * g * weight4[i, d]
        for m in range(starts[b], starts[b + 1]):
            i = ranked[m]
            if uncertain[i] and entry[a, i] < 0:
                for d in range(draws):
                    g = gradient[m, d]
                    cube = g * g * g
                    third[n, d] -= cube * weight3[i, d]
                    fourth[n, d] += cube * g * weight4[i, d]
    return third, fourth


@njit(cache=True)
def _entries(
    ranked: NDArray[np.int32], starts: NDArray[np.int64], documents: int
) -> NDArray[np.int32]:
    """Where each list holds each document, shape (lists, documents); -1 where it does not."""
    lists = starts.shape[0] - 1
    entry = np.full((lists, documents), -1, dtype=np.int32)
    for s in range(lists):
        for m in range(starts[s], starts[s + 1]):
            entry[s, ranked[m]] = m
    return entry


@njit(cache=True)
def log_ties(
    ranked: NDArray[np.int32],
    starts: NDArray[np.int64],
    pairs: NDArray[np.int64],
    log_q: Floats,
) -> Floats:
    """Log probability that no document is relevant that two lists rank differently.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    pairs : ndarray of int64, shape (pairs, 2)
        List numbers.
    log_q : ndarray, shape (documents, draws)
        Log probabilities of nonrelevance, -inf where a document is relevant.

    Returns
    -------
    ndarray, shape (pairs, draws)
        A lower bound on the log probability of a tie.
    """
    documents, draws = log_q.shape
    entry = _entries(ranked, starts, documents)
    result = np.zeros((pairs.shape[0], draws))
    for n in range(pairs.shape[0]):
        a, b = pairs[n, 0], pairs[n, 1]
        # an entry of b with the same rank lies as far from the start
        shift = starts[b] - starts[a]
        for m in range(starts[a], starts[a + 1]):
            i = ranked[m]
            if entry[b, i] != m + shift:
                for d in range(draws):
                    result[n, d] += log_q[i, d]
        for m in range(starts[b], starts[b + 1]):
            i = ranked[m]
            if entry[a, i] < 0:
                for d in range(draws):
                    result[n, d] += log_q[i, d]
    return result


def stacked(found: list[TopicMoments], pairs: NDArray[np.int64], p: Floats) -> DrawMoments:
    """Put the moments of draws together, for a measure that takes them one by one.

    Parameters
    ----------
    found : list of TopicMoments
        One for every draw.
    pairs : ndarray of int64, shape (pairs, 2)
        List numbers.
    p : ndarray, shape (draws, documents)
    """
    result = DrawMoments.zeros(len(found), len(found[0].expected), len(pairs))
    for d, one in enumerate(found):

        def directly(a: int, b: int, one: TopicMoments = one) -> Floats:
            return np.array([one.pair_variance(a, b)])

        result.expected[d] = one.expected
        result.variance[d] = one.covariance.diagonal()
        result.difference_variance[d] = difference_variances(one.covariance[None], pairs, directly)
        cumulants = higher_cumulants(one.gradient[None], pairs, p[d : d + 1])
        result.third[d], result.fourth[d] = cumulants[0][0], cumulants[1][0]
    return result
