"""What two lists of a topic have between them: cumulants of their difference, and ties."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LANES = 8


@njit(cache=True)
def higher_cumulants(
    gradient: Floats, pairs: NDArray[np.int64], p: Floats
) -> tuple[Floats, Floats]:
    """Third and fourth cumulants of the difference of two lists, to first order in relevance.

    The difference is taken as a sum of independent terms g_i X_i, g being the difference of the
    lists' gradients.

    Parameters
    ----------
    gradient : ndarray, shape (lists, documents)
    pairs : ndarray of int64, shape (pairs, 2)
        List numbers.
    p : ndarray, shape (documents,)

    Returns
    -------
    third, fourth : ndarray, shape (pairs,)
    """
    documents = p.shape[0]
    weight3 = np.empty(documents)
    weight4 = np.empty(documents)
    for i in range(documents):
        v = p[i] * (1.0 - p[i])
        weight3[i] = v * (1.0 - 2.0 * p[i])
        weight4[i] = v * (1.0 - 6.0 * v)
    third = np.zeros(pairs.shape[0])
    fourth = np.zeros(pairs.shape[0])
    # sums in lanes run in vector registers, and in one order on every machine
    sum3 = np.empty(_LANES)
    sum4 = np.empty(_LANES)
    whole = documents - documents % _LANES
    for n in range(pairs.shape[0]):
        first = gradient[pairs[n, 0]]
        second = gradient[pairs[n, 1]]
        sum3[:] = 0.0
        sum4[:] = 0.0
        for start in range(0, whole, _LANES):
            for lane in range(_LANES):
                g = first[start + lane] - second[start + lane]
                cube = g * g * g
                sum3[lane] += cube * weight3[start + lane]
                sum4[lane] += cube * g * weight4[start + lane]
        for i in range(whole, documents):
            g = first[i] - second[i]
            sum3[0] += g**3 * weight3[i]
            sum4[0] += g**4 * weight4[i]
        third[n] = sum3.sum()
        fourth[n] = sum4.sum()
    return third, fourth


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
    log_q : ndarray, shape (documents,)
        Log probabilities of nonrelevance, -inf where a document is relevant.

    Returns
    -------
    ndarray, shape (pairs,)
        A lower bound on the log probability of a tie.
    """
    lists = starts.shape[0] - 1
    rank = np.zeros((lists, log_q.shape[0]), dtype=np.int32)
    for s in range(lists):
        for m in range(starts[s], starts[s + 1]):
            rank[s, ranked[m]] = m - starts[s] + 1
    result = np.zeros(pairs.shape[0])
    for n in range(pairs.shape[0]):
        a, b = pairs[n, 0], pairs[n, 1]
        for m in range(starts[a], starts[a + 1]):
            i = ranked[m]
            if rank[b, i] != rank[a, i]:
                result[n] += log_q[i]
        for m in range(starts[b], starts[b + 1]):
            i = ranked[m]
            if rank[a, i] == 0:
                result[n] += log_q[i]
    return result
