"""Numerators of average precision: S = sum_i sum_{j>=i} a_ij X_i X_j with a_ij = 1/max rank.

All functions take the lists of one topic as ``(ranked, starts)``: document numbers in rank order,
list after list, list s being ``ranked[starts[s]:starts[s + 1]]``. Documents are independent, i
relevant with probability p_i. Probabilities have a leading axis of nodes: one row for the given
probabilities, or one for every tilt that the moments of a ratio need.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Documents = NDArray[np.int32]
Starts = NDArray[np.int64]

# with more common documents than this, sorted sums beat the double loop
_LOOP_UP_TO = 96


@njit(cache=True)
def expected(ranked: Documents, starts: Starts, p: Floats) -> Floats:
    """Return the expected numerators.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    p : ndarray, shape (nodes, documents)
        Probabilities of relevance.

    Returns
    -------
    ndarray, shape (nodes, systems)
    """
    nodes = p.shape[0]
    systems = starts.shape[0] - 1
    result = np.zeros((nodes, systems))
    for k in range(nodes):
        for s in range(systems):
            before = 0.0
            total = 0.0
            for m in range(starts[s], starts[s + 1]):
                x = p[k, ranked[m]]
                total += x * (1.0 + before) / (m - starts[s] + 1)
                before += x
            result[k, s] = total
    return result


@njit(cache=True)
def influence(ranked: Documents, starts: Starts, p: Floats) -> Floats:
    """Return L_i = a_ii + sum_{j != i} a_ij p_j, what the relevance of i adds to the numerator.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    p : ndarray, shape (nodes, documents)
        Probabilities of relevance.

    Returns
    -------
    ndarray, shape (entries, nodes)
        For every entry of the lists, in the order of ``ranked``; a document that a list does not
        hold has no influence on it.
    """
    nodes = p.shape[0]
    result = np.empty((ranked.shape[0], nodes))
    for s in range(starts.shape[0] - 1):
        first, end = starts[s], starts[s + 1]
        for k in range(nodes):
            after = 0.0
            for m in range(end - 1, first - 1, -1):
                result[m, k] = after
                after += p[k, ranked[m]] / (m - first + 1)
            before = 1.0
            for m in range(first, end):
                result[m, k] += before / (m - first + 1)
                before += p[k, ranked[m]]
    return result


@njit(cache=True)
def covariance(
    ranked: Documents, starts: Starts, slope: Floats, v: Floats, weight: Floats, centre: Floats
) -> Floats:
    """Covariances of the numerators less ``centre`` times the number of relevant documents.

    By Hoeffding's decomposition they are ``sum_i (L^s_i - centre_s) (L^u_i - centre_u) v_i`` and
    ``sum_{i<j} a^s_ij a^u_ij v_i v_j``. Both need only the documents that two lists share.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    slope : ndarray, shape (entries, nodes)
        L, from :func:`influence`.
    v : ndarray, shape (nodes, documents)
        Variances p (1 - p).
    weight : ndarray, shape (nodes,)
    centre : ndarray, shape (systems,)

    Returns
    -------
    ndarray, shape (systems, systems)
        Weighted sum over nodes.
    """
    nodes, documents = v.shape
    systems = starts.shape[0] - 1
    # nodes last: the loops over them run in vector registers
    value = np.empty((documents, nodes))
    for i in range(documents):
        value[i] = v[:, i]
    inverse = np.zeros((systems, documents))
    place = np.full((systems, documents), -1, dtype=np.int64)
    linear = np.zeros(systems)
    for s in range(systems):
        for m in range(starts[s], starts[s + 1]):
            i = ranked[m]
            inverse[s, i] = 1.0 / (m - starts[s] + 1)
            if value[i].max() > 0.0:
                place[s, i] = m
                for k in range(nodes):
                    linear[s] += weight[k] * value[i, k] * slope[m, k]
    everything = 0.0
    for i in range(documents):
        for k in range(nodes):
            everything += weight[k] * value[i, k]
    result = np.empty((systems, systems))
    common = np.empty(documents, dtype=np.int64)
    for s in range(systems):
        for u in range(s, systems):
            size = 0
            total = np.zeros(nodes)
            for m in range(starts[s], starts[s + 1]):
                i = ranked[m]
                if place[s, i] >= 0 and place[u, i] >= 0:
                    common[size] = i
                    size += 1
                    other = place[u, i]
                    for k in range(nodes):
                        total[k] += value[i, k] * slope[m, k] * slope[other, k]
            if size <= _LOOP_UP_TO:
                _add_pairs(common[:size], inverse[s], inverse[u], value, total)
            else:
                _add_pairs_sorted(common[:size], inverse[s], inverse[u], value, total)
            result[s, u] = (
                (weight * total).sum()
                - centre[u] * linear[s]
                - centre[s] * linear[u]
                + centre[s] * centre[u] * everything
            )
            result[u, s] = result[s, u]
    return result


@njit(cache=True)
def _add_pairs(
    common: NDArray[np.int64], inverse_s: Floats, inverse_u: Floats, value: Floats, total: Floats
) -> None:
    """Add the pairs of common documents, given in the order of list s, one by one."""
    nodes = value.shape[1]
    inner = np.empty(nodes)
    for n in range(common.shape[0]):
        i = common[n]
        inner[:] = 0.0
        for j in common[:n]:
            # 1 / max rank is the smaller inverse; 1 / inf = 0
            least = inverse_u[i] if inverse_u[i] < inverse_u[j] else inverse_u[j]
            for k in range(nodes):
                inner[k] += least * value[j, k]
        for k in range(nodes):
            total[k] += inverse_s[i] * value[i, k] * inner[k]


@njit(cache=True)
def _add_pairs_sorted(
    common: NDArray[np.int64], inverse_s: Floats, inverse_u: Floats, value: Floats, total: Floats
) -> None:
    """Add the same pairs in O(n log n): Fenwick trees over the ranks in list u."""
    size = common.shape[0]
    nodes = value.shape[1]
    below = np.empty(size)
    for n in range(size):
        below[n] = -inverse_u[common[n]]
    place = np.empty(size, dtype=np.int64)
    place[np.argsort(below)] = np.arange(1, size + 1)
    plain = np.zeros((size + 1, nodes))
    divided = np.zeros((size + 1, nodes))
    rest = np.zeros(nodes)
    inner = np.empty(nodes)
    for n in range(size):
        i = common[n]
        x = inverse_u[i]
        # documents ranked better by u too count 1 / u_i; those ranked worse, 1 / u_j
        inner[:] = rest
        node = place[n]
        while node > 0:
            for k in range(nodes):
                inner[k] += x * plain[node, k] - divided[node, k]
            node -= node & -node
        for k in range(nodes):
            total[k] += inverse_s[i] * value[i, k] * inner[k]
            rest[k] += value[i, k] * x
        node = place[n]
        while node <= size:
            for k in range(nodes):
                plain[node, k] += value[i, k]
                divided[node, k] += value[i, k] * x
            node += node & -node


@njit(cache=True)
def pair_quadratic(ranked: Documents, starts: Starts, v: Floats, weight: Floats) -> float:
    """Quadratic part of the variance of S_0 - S_1, from the differences c_ij themselves.

    The sum ``D_00 + D_11 - 2 D_01`` loses all digits when two lists are nearly the same; this one
    does not, and is exactly 0 for two equal lists. It costs O(documents^2).

    Parameters
    ----------
    ranked, starts : ndarray
        Two lists of one topic.
    v : ndarray, shape (nodes, documents)
        Variances p (1 - p).
    weight : ndarray, shape (nodes,)

    Returns
    -------
    float
        Weighted sum over nodes.
    """
    nodes, documents = v.shape
    inverse = np.zeros((2, documents))
    for s in range(2):
        for m in range(starts[s], starts[s + 1]):
            inverse[s, ranked[m]] = 1.0 / (m - starts[s] + 1)
    listed = np.empty(documents, dtype=np.int64)
    size = 0
    for i in range(documents):
        if (inverse[0, i] > 0.0 or inverse[1, i] > 0.0) and v[:, i].max() > 0.0:
            listed[size] = i
            size += 1
    total = 0.0
    for i in listed[:size]:
        for j in listed[:size]:
            if j == i:
                break
            difference = min(inverse[0, i], inverse[0, j]) - min(inverse[1, i], inverse[1, j])
            if difference != 0.0:
                part = 0.0
                for k in range(nodes):
                    part += weight[k] * v[k, i] * v[k, j]
                total += difference * difference * part
    return total
