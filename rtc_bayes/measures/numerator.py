"""Numerators of average precision: S = sum_i sum_{j>=i} a_ij X_i X_j with a_ij = 1/max rank.

All functions take the lists of one topic as ``(ranked, starts, inverse)``: document numbers in
rank order, list after list, list s being ``ranked[starts[s]:starts[s + 1]]``, and one over their
ranks. Documents are independent, i relevant with probability p_i. Probabilities have a last axis
of *lanes*: one lane for every draw of them, or one for every tilt of every draw that the moments
of a ratio need. The inner loops run over lanes, in vector registers.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Documents = NDArray[np.int32]
Numbers = NDArray[np.int64]

# with more common documents than this, sorted sums beat the double loop: of one lane, of many
_LOOP_UP_TO, _LEAF = 64, 8


@njit(cache=True, nogil=True)
def expected(ranked: Documents, starts: Numbers, inverse: Floats, p: Floats) -> Floats:
    """Return the expected numerators.

    Parameters
    ----------
    ranked, starts, inverse : ndarray
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
            a = inverse[m]
            for k in range(lanes):
                x = p[i, k]
                result[s, k] += x * (1.0 + before[k]) * a
                before[k] += x
    return result


@njit(cache=True, nogil=True)
def influence(ranked: Documents, starts: Numbers, inverse: Floats, p: Floats) -> Floats:
    """Return L_i = a_ii + sum_{j != i} a_ij p_j, what the relevance of i adds to the numerator.

    Parameters
    ----------
    ranked, starts, inverse : ndarray
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
            a = inverse[m]
            for k in range(lanes):
                result[m, k] = total[k]
                total[k] += p[i, k] * a
        total[:] = 1.0
        for m in range(first, end):
            i = ranked[m]
            a = inverse[m]
            for k in range(lanes):
                result[m, k] += total[k] * a
                total[k] += p[i, k]
    return result


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def own_variances(
    ranked: Documents,
    starts: Numbers,
    inverse: Floats,
    slope: Floats,
    v: Floats,
    weight: Floats,
    draw_starts: Numbers,
    centre: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Variances of the numerators less ``centre`` times the number of relevant documents.

    By Hoeffding's decomposition they are ``sum_i (L_i - centre)^2 v_i`` and
    ``sum_{i<j} a_ij^2 v_i v_j``.

    Parameters
    ----------
    ranked, starts, inverse : ndarray
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
    variances : ndarray, shape (draws, systems)
        Weighted sum over the lanes of each draw.
    linear : ndarray, shape (draws, systems)
        Weighted ``sum_i L_i v_i``.
    everything : ndarray, shape (draws,)
        Weighted ``sum_i v_i``.
    """
    documents, lanes = v.shape
    systems = starts.shape[0] - 1
    draws = draw_starts.shape[0] - 1
    variances = np.empty((draws, systems))
    linear = np.empty((draws, systems))
    everything = np.empty(draws)
    total = np.zeros(lanes)
    for i in range(documents):
        for k in range(lanes):
            total[k] += v[i, k]
    for d in range(draws):
        everything[d] = _weighted(total, weight, draw_starts[d], draw_starts[d + 1])
    square = np.empty(lanes)
    before = np.empty(lanes)
    for s in range(systems):
        total[:] = 0.0
        square[:] = 0.0
        before[:] = 0.0
        for m in range(starts[s], starts[s + 1]):
            i = ranked[m]
            a = inverse[m]
            for k in range(lanes):
                x = v[i, k]
                y = slope[m, k]
                total[k] += x * y
                square[k] += x * (y * y + a * a * before[k])
                before[k] += x
        for d in range(draws):
            first, end = draw_starts[d], draw_starts[d + 1]
            c = centre[d, s]
            linear[d, s] = _weighted(total, weight, first, end)
            variances[d, s] = _weighted(square, weight, first, end) + c * (
                c * everything[d] - 2.0 * linear[d, s]
            )
    return variances, linear, everything


@njit(cache=True, nogil=True)
def covariances(
    ranked: Documents,
    starts: Numbers,
    inverse: Floats,
    pairs: Numbers,
    shared_starts: Numbers,
    shared_first: Documents,
    shared_second: Documents,
    slope: Floats,
    v: Floats,
    weight: Floats,
    draw_starts: Numbers,
    centre: Floats,
    linear: Floats,
    everything: Floats,
) -> Floats:
    """Covariances of the numerators less ``centre`` times the number of relevant documents.

    They are ``sum_i (L^s_i - centre_s) (L^u_i - centre_u) v_i`` and
    ``sum_{i<j} a^s_ij a^u_ij v_i v_j``. Both need only the documents that two lists share.

    Parameters
    ----------
    ranked, starts, inverse : ndarray
        Lists of one topic.
    pairs, shared_starts, shared_first, shared_second : ndarray
        Of :class:`rtc_bayes.measures.overlaps.Overlaps`.
    slope, v, weight, draw_starts, centre : ndarray
        As of :func:`own_variances`.
    linear, everything : ndarray
        From :func:`own_variances`.

    Returns
    -------
    ndarray, shape (pairs, draws)
        Weighted sum over the lanes of each draw.
    """
    documents, lanes = v.shape
    draws = draw_starts.shape[0] - 1
    uncertain = np.zeros(documents, dtype=np.bool_)
    for i in range(documents):
        uncertain[i] = v[i].max() > 0.0
    result = np.empty((pairs.shape[0], draws))
    total = np.empty(lanes)
    common = np.empty(documents, dtype=np.int64)
    place = np.empty(documents, dtype=np.int64)
    inverse_s = np.empty(documents)
    inverse_u = np.empty(documents)
    for n in range(pairs.shape[0]):
        s, u = pairs[n]
        size = 0
        total[:] = 0.0
        for e in range(shared_starts[n], shared_starts[n + 1]):
            m, other = shared_first[e], shared_second[e]
            i = ranked[m]
            if uncertain[i]:
                common[size] = i
                place[size] = other - starts[u]
                inverse_s[size] = inverse[m]
                inverse_u[size] = inverse[other]
                size += 1
                for k in range(lanes):
                    total[k] += v[i, k] * slope[m, k] * slope[other, k]
        if lanes > 1:
            _add_pairs(common[:size], inverse_s, inverse_u, v, total)
        elif size > _LOOP_UP_TO:
            order = _order(place[:size], starts[u + 1] - starts[u])
            total[0] += _sum_pairs_sorted(common[:size], order, inverse_s, inverse_u, v)
        else:
            total[0] += _sum_pairs(common[:size], inverse_s, inverse_u, v)
        for d in range(draws):
            value = _weighted(total, weight, draw_starts[d], draw_starts[d + 1])
            value -= centre[d, u] * linear[d, s] + centre[d, s] * linear[d, u]
            result[n, d] = value + centre[d, s] * centre[d, u] * everything[d]
    return result


@njit(cache=True, nogil=True)
def _weighted(values: Floats, weight: Floats, first: int, end: int) -> float:
    total = 0.0
    for k in range(first, end):
        total += weight[k] * values[k]
    return total


@njit(cache=True, nogil=True)
def _add_pairs(
    common: Numbers, inverse_s: Floats, inverse_u: Floats, v: Floats, total: Floats
) -> None:
    """Add the pairs of common documents, given in the order of list s, in O(n log n).

    A merge sort by the order in list u: short stretches are summed one by one, and where two
    stretches merge, the pairs across them are summed on the way.
    """
    size, lanes = common.shape[0], v.shape[1]
    order = np.empty(size, dtype=np.int64)
    merged = np.empty(size, dtype=np.int64)
    earlier = np.empty(lanes)
    later = np.empty(lanes)
    for first in range(0, size, _LEAF):
        for n in range(first, min(first + _LEAF, size)):
            i, x = common[n], inverse_u[n]
            earlier[:] = 0.0
            for m in range(first, n):
                # 1 / max rank is the smaller inverse
                j, y = common[m], min(x, inverse_u[m])
                for k in range(lanes):
                    earlier[k] += y * v[j, k]
            y = inverse_s[n]
            for k in range(lanes):
                total[k] += y * v[i, k] * earlier[k]
            place = n
            while place > first and inverse_u[order[place - 1]] < x:
                order[place] = order[place - 1]
                place -= 1
            order[place] = n
    width = _LEAF
    while width < size:
        for first in range(0, size, 2 * width):
            middle, end = min(first + width, size), min(first + 2 * width, size)
            a, b = first, middle
            earlier[:] = 0.0
            later[:] = 0.0
            # by rising rank in u: what comes second has the smaller inverse of the two
            for place in range(first, end):
                if b == end or (a < middle and inverse_u[order[a]] > inverse_u[order[b]]):
                    n = order[a]
                    a += 1
                    i, y = common[n], inverse_u[n]
                    for k in range(lanes):
                        total[k] += y * v[i, k] * later[k]
                        earlier[k] += v[i, k]
                else:
                    n = order[b]
                    b += 1
                    i, x, y = common[n], inverse_s[n], inverse_u[n]
                    for k in range(lanes):
                        total[k] += x * y * v[i, k] * earlier[k]
                        later[k] += x * v[i, k]
                merged[place] = n
        order, merged = merged, order
        width *= 2


@njit(cache=True, nogil=True)
def _sum_pairs(common: Numbers, inverse_s: Floats, inverse_u: Floats, v: Floats) -> float:
    """Sum the same pairs for one lane: the vector registers hold documents instead of lanes."""
    size = common.shape[0]
    value = np.empty(size)
    for n in range(size):
        value[n] = v[common[n], 0]
    inner = np.zeros(size)
    for j in range(size):
        x, y = inverse_u[j], value[j]
        for n in range(j + 1, size):
            least = inverse_u[n] if inverse_u[n] < x else x
            inner[n] += least * y
    total = 0.0
    for n in range(size):
        total += inverse_s[n] * value[n] * inner[n]
    return total


@njit(cache=True, nogil=True)
def _order(place: Numbers, length: int) -> Numbers:
    """Return the order, from 1, of different places in a list of this length."""
    count = np.zeros(length, dtype=np.int64)
    for m in place:
        count[m] = 1
    for m in range(1, length):
        count[m] += count[m - 1]
    return count[place]


@njit(cache=True, nogil=True)
def _sum_pairs_sorted(
    common: Numbers, order: Numbers, inverse_s: Floats, inverse_u: Floats, v: Floats
) -> float:
    """Sum them for one lane in O(n log n): a Fenwick tree over the order in list u."""
    size = common.shape[0]
    tree = np.zeros((size + 1, 2))
    rest = 0.0
    total = 0.0
    for n in range(size):
        value = v[common[n], 0]
        x = inverse_u[n]
        inner = rest
        node = order[n]
        while node > 0:
            inner += x * tree[node, 0] - tree[node, 1]
            node -= node & -node
        total += inverse_s[n] * value * inner
        rest += value * x
        node = order[n]
        while node <= size:
            tree[node, 0] += value
            tree[node, 1] += value * x
            node += node & -node
    return total


@njit(cache=True, nogil=True)
def pair_quadratic(ranked: Documents, starts: Numbers, inverse: Floats, v: Floats) -> Floats:
    """Quadratic part of the variance of S_0 - S_1, from the differences c_ij themselves.

    The sum ``D_00 + D_11 - 2 D_01`` loses all digits when two lists are nearly the same; this one
    does not, and is exactly 0 for two equal lists. It costs O(documents^2).

    Parameters
    ----------
    ranked, starts, inverse : ndarray
        Two lists of one topic.
    v : ndarray, shape (documents, lanes)
        Variances p (1 - p).

    Returns
    -------
    ndarray, shape (lanes,)
    """
    documents, lanes = v.shape
    of_list = np.zeros((2, documents))
    for s in range(2):
        for m in range(starts[s], starts[s + 1]):
            of_list[s, ranked[m]] = inverse[m]
    listed = np.empty(documents, dtype=np.int64)
    size = 0
    for i in range(documents):
        if (of_list[0, i] > 0.0 or of_list[1, i] > 0.0) and v[i].max() > 0.0:
            listed[size] = i
            size += 1
    total = np.zeros(lanes)
    for i in listed[:size]:
        for j in listed[:size]:
            if j == i:
                break
            difference = min(of_list[0, i], of_list[0, j]) - min(of_list[1, i], of_list[1, j])
            if difference != 0.0:
                square = difference * difference
                for k in range(lanes):
                    total[k] += square * v[i, k] * v[j, k]
    return total
