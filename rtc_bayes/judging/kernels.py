"""Compiled sums behind a judging step, for one topic at a time.

Throughout, `inverse` holds one over the rank, 0 where a system did not retrieve the document.
Average precision then has the coefficients a_ij = 1 / max(rank_i, rank_j) =
min(inverse_i, inverse_j), and a pair of systems c_ij = a_ij of the first - a_ij of the second
(Carterette 2007, section 2). Pairs are summed as differences, so that nothing cancels between
two nearly identical systems.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

# Coefficients are differences of reciprocal ranks or of gains, so a true difference is above 1e-9
# for any depth in use; what is smaller is rounding. (By RR and RBP it may be what thirty shared
# ranks above leave of a difference, which is as good as nothing.)
_NOTHING = 1e-12
# Documents of equal weight have sums that differ in their last bits with the order of adding.
_EQUAL = 1e-9
# Documents at a time: what is worked with stays in the fastest cache.
_BLOCK = 512


@njit(cache=True)
def influence(
    ranked: NDArray[np.int32],
    starts: Integers,
    inverse_ranks: Floats,
    weights: Floats,
    out: Floats,
) -> None:
    """Set out[s, i] = a_ii + sum over j != i of a_ij weights_j, for every system.

    Parameters
    ----------
    ranked : ndarray of int32, shape (sum of list lengths,)
        Documents of the topic in rank order, list after list.
    starts : ndarray of int64, shape (systems + 1,)
    inverse_ranks : ndarray of float64, shape (sum of list lengths,)
    weights : ndarray of float64, shape (documents,)
    out : ndarray of float64, shape (systems, documents)
        Documents that a system did not retrieve get 0.
    """
    out[:] = 0.0
    for s in range(len(starts) - 1):
        first, last = starts[s], starts[s + 1]
        below = 0.0
        for position in range(last - 1, first - 1, -1):
            document = ranked[position]
            out[s, document] = below
            below += weights[document] * inverse_ranks[position]
        above = 0.0
        for position in range(first, last):
            document = ranked[position]
            out[s, document] += (1.0 + above) * inverse_ranks[position]
            above += weights[document]


@njit(cache=True)
def expected_numerators(inverse: Floats, effect: Floats, p: Floats, out: Floats) -> None:
    """Set out[s] = sum a_ii p_i + sum over i < j of a_ij p_i p_j, from the influence of p."""
    for s in range(inverse.shape[0]):
        total = 0.0
        for i in range(inverse.shape[1]):
            total += 0.5 * p[i] * (effect[s, i] + inverse[s, i])
        out[s] = total


@njit(cache=True)
def quadratic(inverse: Floats, v: Floats, first: Integers, second: Integers, out: Floats) -> None:
    """Set out[pair] = sum over i < j of c_ij^2 v_i v_j."""
    n = inverse.shape[1]
    a = np.empty(n)
    b = np.empty(n)
    w = np.empty(n)
    for pair in range(len(first)):
        s, u = first[pair], second[pair]
        m = 0
        for i in range(n):
            if v[i] > 0.0 and (inverse[s, i] > 0.0 or inverse[u, i] > 0.0):
                a[m], b[m], w[m] = inverse[s, i], inverse[u, i], v[i]
                m += 1
        total = 0.0
        for i in range(m):
            row = 0.0
            for j in range(i):
                c = min(a[i], a[j]) - min(b[i], b[j])
                row += c * c * w[j]
            total += w[i] * row
        out[pair] = total


@njit(cache=True)
def linear(effect: Floats, v: Floats, first: Integers, second: Integers, out: Floats) -> None:
    """Set out[pair] = sum v_i (L_i of the first - L_i of the second)^2."""
    for pair in range(len(first)):
        s, u = first[pair], second[pair]
        total = 0.0
        for i in range(len(v)):
            difference = effect[s, i] - effect[u, i]
            total += v[i] * difference * difference
        out[pair] = total


@njit(cache=True)
def observe(
    inverse: Floats,
    document: int,
    change: float,
    effect: Floats,
    numerators: Floats,
) -> None:
    """Follow a document's probability to its label: O(systems x documents), in place.

    Parameters
    ----------
    inverse : ndarray, shape (systems, documents)
    document : int
        Within the topic.
    change : float
        The label less the probability.
    effect : ndarray, shape (systems, documents)
        The influence with the probabilities for weights.
    numerators : ndarray, shape (systems,)
        E S of every system.
    """
    for s in range(inverse.shape[0]):
        numerators[s] += effect[s, document] * change
    reweigh(inverse, document, change, effect)


@njit(cache=True)
def reweigh(inverse: Floats, document: int, change: float, out: Floats) -> None:
    """Change the influence `out`, (systems, documents), as a document's weight changes."""
    if change == 0.0:
        return
    for s in range(inverse.shape[0]):
        own, kept = inverse[s, document], out[s, document]
        if own == 0.0:
            continue
        for i in range(inverse.shape[1]):
            out[s, i] += min(own, inverse[s, i]) * change
        out[s, document] = kept


@njit(cache=True)
def reweigh_apart(inverse: Floats, document: int, change: float, out: Floats) -> None:
    """Change influences less that of the first system, (systems - 1, documents), in place."""
    if change == 0.0:
        return
    own_first, of_first = inverse[0, document], inverse[0]
    for s in range(1, inverse.shape[0]):
        own, kept = inverse[s, document], out[s - 1, document]
        if own == 0.0 and own_first == 0.0:
            continue
        for i in range(inverse.shape[1]):
            out[s - 1, i] += (min(own, inverse[s, i]) - min(own_first, of_first[i])) * change
        out[s - 1, document] = kept


@njit(cache=True)
def spread(values: Floats, out: Floats) -> None:
    """Set out[i] to the largest difference between two systems, 0 where it is only rounding."""
    low = np.empty(_BLOCK)
    for begin in range(0, len(out), _BLOCK):
        part = out[begin : begin + _BLOCK]
        row = values[0, begin : begin + len(part)]
        for i in range(len(part)):
            low[i] = part[i] = row[i]
        _spread_with(values[1:], begin, low, part)


@njit(cache=True)
def _spread_with(values: Floats, begin: int, low: Floats, out: Floats) -> None:
    """Set the spread of the documents from `begin` on, about the least and the most so far.

    `low`, at least as long as `out`, holds the least, and `out` the most.
    """
    for s in range(values.shape[0]):
        row = values[s, begin : begin + len(out)]
        for i in range(len(out)):
            low[i] = min(low[i], row[i])
            out[i] = max(out[i], row[i])
    for i in range(len(out)):
        gap = out[i] - low[i]
        out[i] = gap if gap > _NOTHING else 0.0


@njit(cache=True)
def largest_move(p: Floats, if_relevant: Floats, if_nonrelevant: Floats, out: Floats) -> None:
    """Set out[i] to the larger of p_i and 1 - p_i times the spread if it is, and is not, relevant.

    Parameters
    ----------
    p, out : ndarray, shape (documents,)
    if_relevant, if_nonrelevant : ndarray, shape (systems - 1, documents)
        Of every system but the first, less the first's.
    """
    low = np.empty(_BLOCK)
    other = np.empty(_BLOCK)
    for begin in range(0, len(p), _BLOCK):
        chance, move = p[begin : begin + _BLOCK], out[begin : begin + _BLOCK]
        low[:] = 0.0
        move[:] = 0.0
        _spread_with(if_relevant, begin, low, move)
        low[:] = 0.0
        other[:] = 0.0
        _spread_with(if_nonrelevant, begin, low, other[: len(move)])
        for i in range(len(move)):
            if_so, if_not = chance[i] * move[i], (1.0 - chance[i]) * other[i]
            # unlike max, compiled to work on several at once
            move[i] = if_so if if_so > if_not else if_not


@njit(cache=True)
def scale(v: Floats, factor: float, out: Floats) -> None:
    """Multiply out[i] by v_i and a factor."""
    for i in range(len(out)):
        out[i] *= v[i] * factor


@njit(cache=True)
def clear(judged: NDArray[np.bool_], out: Floats) -> None:
    """Set out[i] to 0 where a document is judged."""
    for i in range(len(out)):
        out[i] = 0.0 if judged[i] else out[i]


@njit(cache=True)
def squares_of_pairs(values: Floats, out: Floats) -> None:
    """Set out[i] to the sum of squared differences between two systems, over all pairs of them.

    It is taken about the mean, so that nothing cancels, and is 0 where the spread is.
    """
    systems = values.shape[0]
    mean = np.zeros(len(out))
    for s in range(systems):
        for i in range(len(out)):
            mean[i] += values[s, i] / systems
    apart = np.empty(len(out))
    spread(values, apart)
    out[:] = 0.0
    for s in range(systems):
        for i in range(len(out)):
            out[i] += systems * (values[s, i] - mean[i]) ** 2
    for i in range(len(out)):
        out[i] = out[i] if apart[i] > 0.0 else 0.0


@njit(cache=True)
def squares_about(values: Floats, centre: Floats, out: Floats) -> None:
    """Set out[i] to the sum over systems of the squared distance to the system's centre."""
    out[:] = 0.0
    for s in range(values.shape[0]):
        for i in range(values.shape[1]):
            out[i] += (values[s, i] - centre[s]) ** 2


@njit(cache=True)
def heaviest(weights: Floats) -> int:
    """Index of the largest weight; the first of those equal to it up to rounding."""
    # four at once, which need not wait for each other
    a = b = c = d = weights[0]
    in_fours = len(weights) - len(weights) % 4
    for i in range(0, in_fours, 4):
        a = max(a, weights[i])
        b = max(b, weights[i + 1])
        c = max(c, weights[i + 2])
        d = max(d, weights[i + 3])
    for i in range(in_fours, len(weights)):
        a = max(a, weights[i])
    enough = max(max(a, b), max(c, d)) * (1.0 - _EQUAL)
    for i in range(len(weights)):
        if weights[i] >= enough:
            return i
    return 0


@njit(cache=True)
def next_topic(weights: Floats, judged: Integers, floor: int) -> int:
    """Return the first topic with weight that lacks judgments of the floor, or the heaviest.

    Parameters
    ----------
    weights : ndarray of float64, shape (topics,)
        Of the heaviest document of each topic.
    judged : ndarray of int64, shape (topics,)
        Numbers of judgments.
    floor : int

    Returns
    -------
    int
        -1 if no topic has weight.
    """
    some = False
    for t in range(len(weights)):
        if weights[t] > 0.0:
            if judged[t] < floor:
                return t
            some = True
    return heaviest(weights) if some else -1


@njit(cache=True)
def quadratic_loss(
    inverse: Floats,
    document: int,
    v: Floats,
    drop: float,
    first: Integers,
    second: Integers,
    out: Floats,
) -> None:
    """Lower the quadratic sums of `out` as the variance of a document falls by `drop`."""
    for pair in range(len(first)):
        s, u = first[pair], second[pair]
        own_s, own_u = inverse[s, document], inverse[u, document]
        if own_s == 0.0 and own_u == 0.0:
            continue
        total = 0.0
        for j in range(len(v)):
            if j != document:
                c = min(own_s, inverse[s, j]) - min(own_u, inverse[u, j])
                total += c * c * v[j]
        out[pair] = max(0.0, out[pair] - drop * total)


@njit(cache=True)
def highest_numerator(a: Floats, b: Floats, labels: Floats) -> float:
    """Return the most that S of a pair can become, whatever the open documents turn out to be.

    The bound of ``sum c_ii X_i + sum c_ij X_i X_j`` takes every open term with a positive
    coefficient as present and every other as absent.

    Parameters
    ----------
    a, b : ndarray of float64, shape (documents,)
        One over the rank in the two systems.
    labels : ndarray of float64, shape (documents,)
        1 or 0 where settled, NaN where open.
    """
    total = 0.0
    for i in range(len(a)):
        if labels[i] == 0.0 or (a[i] == 0.0 and b[i] == 0.0):
            continue
        sure = a[i] - b[i]
        possible = 0.0
        for j in range(len(a)):
            if j == i or labels[j] == 0.0:
                continue
            c = min(a[i], a[j]) - min(b[i], b[j])
            if labels[j] == 1.0:
                # a pair of two settled documents is met from both sides
                sure += 0.5 * c if labels[i] == 1.0 else c
            elif labels[i] != 1.0 and j < i:
                possible += max(0.0, c)
        total += (sure if labels[i] == 1.0 else max(0.0, sure)) + possible
    return total
