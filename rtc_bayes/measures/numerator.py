"""Numerators of average precision: S = sum_i sum_{j>=i} a_ij X_i X_j with a_ij = 1/max rank.

All functions take the lists of one topic as ``(ranked, starts)``: document numbers in rank order,
list after list, list s being ``ranked[starts[s]:starts[s + 1]]``. Documents are independent, i
relevant with probability p_i. Probabilities have a last axis of *lanes*: one lane for every draw
of them, or one for every tilt of every draw that the moments of a ratio need. The inner loops run
over lanes, in vector registers.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Documents = NDArray[np.int32]
Numbers = NDArray[np.int64]

# with more common documents than this, sorted sums beat the double loop
_LOOP_UP_TO = 64


@njit(cache=True)
def expected(ranked: Documents, starts: Numbers, p: Floats) -> Floats:
    """Return the expected numerators.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    p : ndarray, shape (documents, lanes)
        Probabilities of relevance.

    Returns
    -------
    ndarray, shape (systems, lanes)
    """
    lanes = p.shape[1]
    systems = starts.shape[0] - 1
    result = np.zeros((systems, lanes))
    before = np.empty(lanes)
    for s in range(systems):
        before[:] = 0.0
        for m in range(starts[s], starts[s + 1]):
            i = ranked[m]
            inverse = 1.0 / (m - starts[s] + 1)
            for k in range(lanes):
                x = p[i, k]
                result[s, k] += x * (1.0 + before[k]) * inverse
                before[k] += x
    return result


@njit(cache=True)
def influence(ranked: Documents, starts: Numbers, p: Floats) -> Floats:
    """Return L_i = a_ii + sum_{j != i} a_ij p_j, what the relevance of i adds to the numerator.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    p : ndarray, shape (documents, lanes)
        Probabilities of relevance.

    Returns
    -------
    ndarray, shape (entries, lanes)
        For every entry of the lists, in the order of ``ranked``; a document that a list does not
        hold has no influence on it.
    """
    lanes = p.shape[1]
    result = np.empty((ranked.shape[0], lanes))
    total = np.empty(lanes)
    for s in range(starts.shape[0] - 1):
        first, end = starts[s], starts[s + 1]
        total[:] = 0.0
        for m in range(end - 1, first - 1, -1):
            i = ranked[m]
            inverse = 1.0 / (m - first + 1)
            for k in range(lanes):
                result[m, k] = total[k]
                total[k] += p[i, k] * inverse
        total[:] = 1.0
        for m in range(first, end):
            i = ranked[m]
            inverse = 1.0 / (m - first + 1)
            for k in range(lanes):
                result[m, k] += total[k] * inverse
                total[k] += p[i, k]
    return result


@njit(cache=True)
def sum_lanes(values: Floats, weight: Floats, draw_starts: Numbers) -> Floats:
    """Weighted sums over the lanes of every draw, in one order for every row.

    Parameters
    ----------
    values : ndarray, shape (rows, lanes)
    weight : ndarray, shape (lanes,)
    draw_starts : ndarray of int64, shape (draws + 1,)
        Draw d has the lanes from ``draw_starts[d]`` to ``draw_starts[d + 1]``.

    Returns
    -------
    ndarray, shape (draws, rows)
    """
    draws = draw_starts.shape[0] - 1
    result = np.zeros((draws, values.shape[0]))
    for d in range(draws):
        for n in range(values.shape[0]):
            for k in range(draw_starts[d], draw_starts[d + 1]):
                result[d, n] += weight[k] * values[n, k]
    return result


@njit(cache=True)
def covariance(
    ranked: Documents,
    starts: Numbers,
    slope: Floats,
    v: Floats,
    weight: Floats,
    draw_starts: Numbers,
    centre: Floats,
) -> Floats:
    """Covariances of the numerators less ``centre`` times the number of relevant documents.

    By Hoeffding's decomposition they are ``sum_i (L^s_i - centre_s) (L^u_i - centre_u) v_i`` and
    ``sum_{i<j} a^s_ij a^u_ij v_i v_j``. Both need only the documents that two lists share.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    slope : ndarray, shape (entries, lanes)
        L, from :func:`influence`.
    v : ndarray, shape (documents, lanes)
        Variances p (1 - p).
    weight : ndarray, shape (lanes,)
    draw_starts : ndarray of int64, shape (draws + 1,)
        Where the lanes of each draw start.
    centre : ndarray, shape (draws, systems)

    Returns
    -------
    ndarray, shape (draws, systems, systems)
        Weighted sum over the lanes of each draw.
    """
    documents, lanes = v.shape
    systems = starts.shape[0] - 1
    draws = draw_starts.shape[0] - 1
    uncertain = np.zeros(documents, dtype=np.bool_)
    everything = np.zeros(draws)
    for i in range(documents):
        uncertain[i] = v[i].max() > 0.0
        if uncertain[i]:
            for d in range(draws):
                for k in range(draw_starts[d], draw_starts[d + 1]):
                    everything[d] += weight[k] * v[i, k]
    inverse = np.zeros((systems, documents))
    place = np.full((systems, documents), -1, dtype=np.int32)
    linear = np.zeros((draws, systems))
    total = np.empty(lanes)
    for s in range(systems):
        total[:] = 0.0
        for m in range(starts[s], starts[s + 1]):
            i = ranked[m]
            inverse[s, i] = 1.0 / (m - starts[s] + 1)
            if uncertain[i]:
                place[s, i] = m
                for k in range(lanes):
                    total[k] += v[i, k] * slope[m, k]
        for d in range(draws):
            for k in range(draw_starts[d], draw_starts[d + 1]):
                linear[d, s] += weight[k] * total[k]
    result = np.empty((draws, systems, systems))
    common = np.empty(documents, dtype=np.int64)
    for s in range(systems):
        for u in range(s, systems):
            size = 0
            total[:] = 0.0
            for m in range(starts[s], starts[s + 1]):
                i = ranked[m]
                other = place[u, i]
                if other >= 0 and uncertain[i]:
                    common[size] = i
                    size += 1
                    for k in range(lanes):
                        total[k] += v[i, k] * slope[m, k] * slope[other, k]
            shared = common[:size]
            if s == u:
                _add_own_pairs(shared, inverse[s], v, total)
            elif size > _LOOP_UP_TO:
                by_u = ranked[starts[u] : starts[u + 1]]
                _add_pairs_sorted(shared, by_u, inverse[s], inverse[u], v, total)
            elif lanes == 1:
                total[0] += _sum_pairs(shared, inverse[s], inverse[u], v[:, 0])
            else:
                _add_pairs(shared, inverse[s], inverse[u], v, total)
            for d in range(draws):
                value = 0.0
                for k in range(draw_starts[d], draw_starts[d + 1]):
                    value += weight[k] * total[k]
                value -= centre[d, u] * linear[d, s] + centre[d, s] * linear[d, u]
                value += centre[d, s] * centre[d, u] * everything[d]
                result[d, s, u] = value
                result[d, u, s] = value
    return result


@njit(cache=True)
def _add_own_pairs(listed: Numbers, inverse: Floats, v: Floats, total: Floats) -> None:
    """Add the pairs of one list, given in its order."""
    lanes = v.shape[1]
    before = np.zeros(lanes)
    for i in listed:
        square = inverse[i] * inverse[i]
        for k in range(lanes):
            total[k] += square * v[i, k] * before[k]
            before[k] += v[i, k]


@njit(cache=True)
def _add_pairs(
    common: Numbers, inverse_s: Floats, inverse_u: Floats, v: Floats, total: Floats
) -> None:
    """Add the pairs of common documents, given in the order of list s, one by one."""
    lanes = v.shape[1]
    inner = np.empty(lanes)
    for n in range(common.shape[0]):
        i = common[n]
        x = inverse_u[i]
        inner[:] = 0.0
        whole = n - n % 4
        # four at a time: fewer passes over the sums
        for first in range(0, whole, 4):
            a, b, c, d = common[first], common[first + 1], common[first + 2], common[first + 3]
            # 1 / max rank is the smaller inverse; 1 / inf = 0
            y, z, w, r = inverse_u[a], inverse_u[b], inverse_u[c], inverse_u[d]
            y = min(x, y)
            z = min(x, z)
            w = min(x, w)
            r = min(x, r)
            for k in range(lanes):
                inner[k] = inner[k] + y * v[a, k] + z * v[b, k] + w * v[c, k] + r * v[d, k]
        for j in common[whole:n]:
            y = min(x, inverse_u[j])
            for k in range(lanes):
                inner[k] += y * v[j, k]
        for k in range(lanes):
            total[k] += inverse_s[i] * v[i, k] * inner[k]


@njit(cache=True)
def _sum_pairs(common: Numbers, inverse_s: Floats, inverse_u: Floats, v: Floats) -> float:
    """Sum the same pairs for one lane: the vector registers hold documents instead of lanes."""
    size = common.shape[0]
    x = np.empty(size)
    value = np.empty(size)
    for n in range(size):
        x[n] = inverse_u[common[n]]
        value[n] = v[common[n]]
    inner = np.zeros(size)
    for first in range(0, size, 4):
        last = min(first + 4, size)
        for j in range(first, last):
            for n in range(j + 1, last):
                inner[n] += min(x[n], x[j]) * value[j]
        if last < first + 4:
            break
        a, b, c, d = x[first], x[first + 1], x[first + 2], x[first + 3]
        p, q, r, s = value[first], value[first + 1], value[first + 2], value[first + 3]
        for n in range(last, size):
            y = x[n]
            ya = y if y < a else a
            yb = y if y < b else b
            yc = y if y < c else c
            yd = y if y < d else d
            inner[n] = inner[n] + ya * p + yb * q + yc * r + yd * s
    total = 0.0
    for n in range(size):
        total += inverse_s[common[n]] * value[n] * inner[n]
    return total


@njit(cache=True)
def _add_pairs_sorted(
    common: Numbers,
    by_u: Documents,
    inverse_s: Floats,
    inverse_u: Floats,
    v: Floats,
    total: Floats,
) -> None:
    """Add the same pairs in O(n log n): Fenwick trees over the ranks in list u."""
    size = common.shape[0]
    lanes = v.shape[1]
    place = np.zeros(v.shape[0], dtype=np.int32)
    for i in common:
        place[i] = 1
    rank = 0
    for i in by_u:
        if place[i] > 0:
            rank += 1
            place[i] = rank
    plain = np.zeros((size + 1, lanes))
    divided = np.zeros((size + 1, lanes))
    rest = np.zeros(lanes)
    inner = np.empty(lanes)
    for i in common:
        x = inverse_u[i]
        # documents ranked better by u too count 1 / u_i; those ranked worse, 1 / u_j
        inner[:] = rest
        node = place[i]
        while node > 0:
            for k in range(lanes):
                inner[k] += x * plain[node, k] - divided[node, k]
            node -= node & -node
        for k in range(lanes):
            total[k] += inverse_s[i] * v[i, k] * inner[k]
            rest[k] += v[i, k] * x
        node = place[i]
        while node <= size:
            for k in range(lanes):
                plain[node, k] += v[i, k]
                divided[node, k] += v[i, k] * x
            node += node & -node


@njit(cache=True)
def pair_quadratic(ranked: Documents, starts: Numbers, v: Floats) -> Floats:
    """Quadratic part of the variance of S_0 - S_1, from the differences c_ij themselves.

    The sum ``D_00 + D_11 - 2 D_01`` loses all digits when two lists are nearly the same; this one
    does not, and is exactly 0 for two equal lists. It costs O(documents^2).

    Parameters
    ----------
    ranked, starts : ndarray
        Two lists of one topic.
    v : ndarray, shape (documents, lanes)
        Variances p (1 - p).

    Returns
    -------
    ndarray, shape (lanes,)
    """
    documents, lanes = v.shape
    inverse = np.zeros((2, documents))
    for s in range(2):
        for m in range(starts[s], starts[s + 1]):
            inverse[s, ranked[m]] = 1.0 / (m - starts[s] + 1)
    listed = np.empty(documents, dtype=np.int64)
    size = 0
    for i in range(documents):
        if (inverse[0, i] > 0.0 or inverse[1, i] > 0.0) and v[i].max() > 0.0:
            listed[size] = i
            size += 1
    total = np.zeros(lanes)
    for i in listed[:size]:
        for j in listed[:size]:
            if j == i:
                break
            difference = min(inverse[0, i], inverse[0, j]) - min(inverse[1, i], inverse[1, j])
            if difference != 0.0:
                square = difference * difference
                for k in range(lanes):
                    total[k] += square * v[i, k] * v[j, k]
    return total
