"""What two lists of a topic have between them: cumulants of their difference, and ties."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.measures.overlaps import Overlaps
from rtc_bayes.measures.topic import DrawMoments, TopicMeasure

Floats = NDArray[np.float64]

# V_a + V_b - 2 C_ab keeps ten digits fewer than its parts where it is this small beside them
_CANCELLED = 1e-6

# documents of all lists that are read together: they stay in the cache from pair to pair
_TILE = 512


@njit(cache=True, nogil=True)
def difference_variances(
    own: Floats, covariance: Floats, pairs: NDArray[np.int64]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Variances of differences from V_a + V_b - 2 C_ab, and where that loses them.

    Parameters
    ----------
    own : ndarray, shape (draws, lists)
        Variances.
    covariance : ndarray, shape (pairs, draws)
    pairs : ndarray of int64, shape (pairs, 2)
        List numbers.

    Returns
    -------
    variance : ndarray, shape (pairs, draws)
        0 for a list and itself.
    lost : ndarray of bool, shape (pairs, draws)
        Where the variance is so small beside its parts that it must be had in another way.
    """
    variance = np.zeros(covariance.shape)
    lost = np.zeros(covariance.shape, dtype=np.bool_)
    of_list = own.T.copy()
    for n in range(pairs.shape[0]):
        a, b = pairs[n]
        if a == b:
            continue
        for d in range(covariance.shape[1]):
            parts = of_list[a, d] + of_list[b, d]
            variance[n, d] = parts - 2.0 * covariance[n, d]
            lost[n, d] = variance[n, d] < _CANCELLED * parts
    return variance, lost


# sums in any order, so that they run in vector registers
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _powers(first: Floats, second: Floats, weight3: Floats, weight4: Floats) -> tuple[float, float]:
    """Sum the weighted third and fourth powers of a difference."""
    sum3, sum4 = 0.0, 0.0
    for i in range(first.shape[0]):
        g = first[i] - second[i]
        cube = g * g * g
        sum3 += cube * weight3[i]
        sum4 += cube * g * weight4[i]
    return sum3, sum4


@njit(cache=True, nogil=True)
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
    for d in range(draws):
        for i in range(documents):
            x = p[d, i]
            v = x * (1.0 - x)
            weight3[i] = v * (1.0 - 2.0 * x)
            weight4[i] = v * (1.0 - 6.0 * v)
        for tile in range(0, documents, _TILE):
            end = min(tile + _TILE, documents)
            for n in range(pairs.shape[0]):
                first = gradient[d, pairs[n, 0], tile:end]
                second = gradient[d, pairs[n, 1], tile:end]
                sums = _powers(first, second, weight3[tile:end], weight4[tile:end])
                third[d, n] += sums[0]
                fourth[d, n] += sums[1]
    return third, fourth


@njit(cache=True, nogil=True)
def listed_cumulants(
    ranked: NDArray[np.int32],
    starts: NDArray[np.int64],
    pairs: NDArray[np.int64],
    shared_starts: NDArray[np.int64],
    shared_first: NDArray[np.int32],
    shared_second: NDArray[np.int32],
    gradient: Floats,
    p: Floats,
) -> tuple[Floats, Floats]:
    """Return the same cumulants where a list's gradient is 0 for documents that it does not hold.

    The powers of the difference are multiplied out: only the documents that two lists share
    have products. That loses digits if the lists are nearly equal.

    Parameters
    ----------
    ranked, starts : ndarray
        Lists of one topic.
    pairs, shared_starts, shared_first, shared_second : ndarray
        Of :class:`rtc_bayes.measures.overlaps.Overlaps`.
    gradient : ndarray, shape (entries, draws)
        For every entry of the lists.
    p : ndarray, shape (documents, draws)

    Returns
    -------
    third, fourth : ndarray, shape (pairs, draws)
    """
    documents, draws = p.shape
    lists = starts.shape[0] - 1
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
    own3 = np.zeros((lists, draws))
    own4 = np.zeros((lists, draws))
    for s in range(lists):
        for m in range(starts[s], starts[s + 1]):
            i = ranked[m]
            for d in range(draws):
                g = gradient[m, d]
                cube = g * g * g
                own3[s, d] += cube * weight3[i, d]
                own4[s, d] += cube * g * weight4[i, d]
    third = np.zeros((pairs.shape[0], draws))
    fourth = np.zeros((pairs.shape[0], draws))
    for n in range(pairs.shape[0]):
        a, b = pairs[n]
        if a == b:
            continue
        for d in range(draws):
            third[n, d] = own3[a, d] - own3[b, d]
            fourth[n, d] = own4[a, d] + own4[b, d]
        for e in range(shared_starts[n], shared_starts[n + 1]):
            m, other = shared_first[e], shared_second[e]
            i = ranked[m]
            if uncertain[i]:
                for d in range(draws):
                    g, h = gradient[m, d], gradient[other, d]
                    product = g * h
                    third[n, d] -= 3.0 * product * (g - h) * weight3[i, d]
                    fourth[n, d] += (
                        product * (6.0 * product - 4.0 * (g * g + h * h)) * weight4[i, d]
                    )
    return third, fourth


@njit(cache=True, nogil=True)
def log_ties(
    ranked: NDArray[np.int32],
    starts: NDArray[np.int64],
    ranks: NDArray[np.int32],
    pairs: NDArray[np.int64],
    shared_starts: NDArray[np.int64],
    shared_first: NDArray[np.int32],
    shared_second: NDArray[np.int32],
    log_q: Floats,
) -> Floats:
    """Log probability that no document is relevant that two lists rank differently.

    Parameters
    ----------
    ranked, starts, ranks : ndarray
        Lists of one topic.
    pairs, shared_starts, shared_first, shared_second : ndarray
        Of :class:`rtc_bayes.measures.overlaps.Overlaps`.
    log_q : ndarray, shape (documents, draws)
        Log probabilities of nonrelevance, -inf where a document is relevant.

    Returns
    -------
    ndarray, shape (pairs, draws)
        A lower bound on the log probability of a tie.
    """
    documents, draws = log_q.shape
    lists = starts.shape[0] - 1
    # certain relevance is counted apart: sums of infinities cannot be taken back
    finite = np.empty((documents, draws))
    certain = np.empty((documents, draws))
    for i in range(documents):
        for d in range(draws):
            certain[i, d] = 1.0 if log_q[i, d] == -np.inf else 0.0
            finite[i, d] = 0.0 if log_q[i, d] == -np.inf else log_q[i, d]
    own = np.zeros((lists, draws))
    own_certain = np.zeros((lists, draws))
    for s in range(lists):
        for i in ranked[starts[s] : starts[s + 1]]:
            for d in range(draws):
                own[s, d] += finite[i, d]
                own_certain[s, d] += certain[i, d]
    result = np.zeros((pairs.shape[0], draws))
    count = np.empty(draws)
    for n in range(pairs.shape[0]):
        a, b = pairs[n]
        if a == b:
            continue
        for d in range(draws):
            result[n, d] = own[a, d] + own[b, d]
            count[d] = own_certain[a, d] + own_certain[b, d]
        for e in range(shared_starts[n], shared_starts[n + 1]):
            m = shared_first[e]
            i = ranked[m]
            # one rank: the document does not count; two ranks: it counts once, not twice
            times = 2.0 if ranks[shared_second[e]] == ranks[m] else 1.0
            for d in range(draws):
                result[n, d] -= times * finite[i, d]
                count[d] -= times * certain[i, d]
        for d in range(draws):
            result[n, d] = -np.inf if count[d] > 0.0 else min(result[n, d], 0.0)
    return result


class DrawByDraw(TopicMeasure, Protocol):
    """A measure on one topic whose moments over draws are taken one draw after the other."""

    def over_draws(
        self, p: Floats, overlaps: Overlaps, *, exact: bool, tolerance: float
    ) -> DrawMoments:
        """Moments for every draw of the probabilities (see ``TopicMeasure``)."""
        pairs = overlaps.pairs
        draws = [self.moments(one, exact=exact, tolerance=tolerance) for one in p]
        variance = np.array([draw.covariance.diagonal() for draw in draws])
        covariance = np.array([draw.covariance[*pairs.T] for draw in draws]).T
        spread, lost = difference_variances(variance, np.ascontiguousarray(covariance), pairs)
        for n, d in np.argwhere(lost).tolist():
            spread[n, d] = draws[d].pair_variance(*pairs[n].tolist())
        cumulants = [
            higher_cumulants(draw.gradient[None], pairs, p[d : d + 1])
            for d, draw in enumerate(draws)
        ]
        third, fourth = (np.concatenate(parts).T for parts in zip(*cumulants, strict=True))
        expected = np.array([draw.expected for draw in draws])
        return DrawMoments(expected, variance, spread, third, fourth)
