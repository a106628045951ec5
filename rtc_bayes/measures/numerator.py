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
_LOOP_UP_TO = 160


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
def influence(ranked: Documents, starts: Starts, p: Floats, weight: Floats) -> Floats:
    """Weighted sum over nodes of L_i = a_ii + sum_{j != i} a_ij p_j, the numerator's slope in X_i.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    p : ndarray, shape (nodes, documents)
        Probabilities of relevance.
    weight : ndarray, shape (nodes, documents)

    Returns
    -------
    ndarray, shape (systems, documents)
        ``sum_k weight[k, i] L[k, s, i]``; 0 where a system did not retrieve the document.
    """
    systems = starts.shape[0] - 1
    result = np.zeros((systems, p.shape[1]))
    for k in range(p.shape[0]):
        for s in range(systems):
            first, end = starts[s], starts[s + 1]
            after = 0.0
            for m in range(first, end):
                after += p[k, ranked[m]] / (m - first + 1)
            before = 0.0
            for m in range(first, end):
                i = ranked[m]
                inverse = 1.0 / (m - first + 1)
                after -= p[k, i] * inverse
                result[s, i] += weight[k, i] * ((1.0 + before) * inverse + after)
                before += p[k, i]
    return result


@njit(cache=True)
def centred_influence(
    ranked: Documents, starts: Starts, p: Floats, scale: Floats, centre: Floats
) -> Floats:
    """Scaled influences about a centre, node by node: ``scale[k, i] (L[k, s, i] - centre[s])``.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    p, scale : ndarray, shape (nodes, documents)
    centre : ndarray, shape (systems,)

    Returns
    -------
    ndarray, shape (systems, nodes, documents)
    """
    nodes, documents = p.shape
    systems = starts.shape[0] - 1
    result = np.empty((systems, nodes, documents))
    for s in range(systems):
        first, end = starts[s], starts[s + 1]
        for k in range(nodes):
            for i in range(documents):
                result[s, k, i] = -centre[s] * scale[k, i]
            after = 0.0
            for m in range(first, end):
                after += p[k, ranked[m]] / (m - first + 1)
            before = 0.0
            for m in range(first, end):
                i = ranked[m]
                inverse = 1.0 / (m - first + 1)
                after -= p[k, i] * inverse
                result[s, k, i] += scale[k, i] * ((1.0 + before) * inverse + after)
                before += p[k, i]
    return result


@njit(cache=True)
def quadratic(ranked: Documents, starts: Starts, v: Floats, weight: Floats) -> Floats:
    """Quadratic parts D_su = sum_{i<j} a^s_ij a^u_ij v_i v_j of all covariances.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    v : ndarray, shape (nodes, documents)
        Variances p (1 - p).
    weight : ndarray, shape (nodes,)

    Returns
    -------
    ndarray, shape (systems, systems)
        Weighted sum over nodes.
    """
    nodes, documents = v.shape
    systems = starts.shape[0] - 1
    uncertain = np.zeros(documents, dtype=np.bool_)
    for i in range(documents):
        for k in range(nodes):
            uncertain[i] |= v[k, i] > 0.0
    inverse = np.zeros((systems, documents))
    for s in range(systems):
        for m in range(starts[s], starts[s + 1]):
            inverse[s, ranked[m]] = 1.0 / (m - starts[s] + 1)
    result = np.zeros((systems, systems))
    common = np.empty(documents, dtype=np.int64)
    for s in range(systems):
        for u in range(s, systems):
            size = 0
            for m in range(starts[s], starts[s + 1]):
                i = ranked[m]
                if uncertain[i] and inverse[u, i] > 0.0:
                    common[size] = i
                    size += 1
            if u == s:
                total = _same_list(common[:size], inverse[s], v, weight)
            elif size <= _LOOP_UP_TO:
                total = _double_loop(common[:size], inverse[s], inverse[u], v, weight)
            else:
                total = _sorted_sums(common[:size], inverse[s], inverse[u], v, weight)
            result[s, u] = total
            result[u, s] = total
    return result


@njit(cache=True)
def _same_list(common: NDArray[np.int64], inverse: Floats, v: Floats, weight: Floats) -> float:
    total = 0.0
    for k in range(v.shape[0]):
        before = 0.0
        part = 0.0
        for i in common:
            part += v[k, i] * inverse[i] * inverse[i] * before
            before += v[k, i]
        total += weight[k] * part
    return total


@njit(cache=True)
def _double_loop(
    common: NDArray[np.int64], inverse_s: Floats, inverse_u: Floats, v: Floats, weight: Floats
) -> float:
    """Pairs of documents in the order of list s, one by one; 1/max rank is the least inverse."""
    size = common.shape[0]
    x = np.empty(size)
    value = np.empty(size)
    inner = np.empty(size)
    for i in range(size):
        x[i] = inverse_u[common[i]]
    total = 0.0
    for k in range(v.shape[0]):
        for i in range(size):
            value[i] = v[k, common[i]]
            inner[i] = 0.0
        # the inner loop adds to many sums and not to one, so that it runs in vector registers
        for j in range(size):
            for i in range(j + 1, size):
                least = x[i] if x[i] < x[j] else x[j]
                inner[i] += value[j] * least
        part = 0.0
        for i in range(size):
            part += value[i] * inverse_s[common[i]] * inner[i]
        total += weight[k] * part
    return total


@njit(cache=True)
def _sorted_sums(
    common: NDArray[np.int64], inverse_s: Floats, inverse_u: Floats, v: Floats, weight: Floats
) -> float:
    """Sum the same pairs in O(n log n): Fenwick trees over the ranks in list u."""
    size = common.shape[0]
    x = np.empty(size)
    for i in range(size):
        x[i] = inverse_u[common[i]]
    order = np.argsort(-x)
    place = np.empty(size, dtype=np.int64)
    for i in range(size):
        place[order[i]] = i + 1
    plain = np.empty(size + 1)
    divided = np.empty(size + 1)
    total = 0.0
    for k in range(v.shape[0]):
        plain[:] = 0.0
        divided[:] = 0.0
        all_divided = 0.0
        part = 0.0
        for i in range(size):
            value = v[k, common[i]]
            above = 0.0
            above_divided = 0.0
            node = place[i]
            while node > 0:
                above += plain[node]
                above_divided += divided[node]
                node -= node & -node
            part += value * inverse_s[common[i]] * (x[i] * above + all_divided - above_divided)
            node = place[i]
            while node <= size:
                plain[node] += value
                divided[node] += value * x[i]
                node += node & -node
            all_divided += value * x[i]
        total += weight[k] * part
    return total


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
