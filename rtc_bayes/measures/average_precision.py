"""Average precision on one topic: exact and plug-in moments, and scores.

AP = S / R with S the numerator of ``numerator`` and R the number of relevant documents of the
topic, also of those no system retrieved; 0 when R = 0. The plug-in moments are those of S over
E R (Carterette 2007, section 3.2). The exact ones replace 1/R and 1/R^2 by short sums of t^R
(``rule``): t^R times the probability of an outcome is again a product over documents, with
tilted probabilities p t / (q + p t), so each node costs one moment of S. These moments are so
smooth in t that a Gauss rule of the distribution of R needs few nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.collection.lists import Lists
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.measures import numerator
from rtc_bayes.measures.overlaps import Overlaps
from rtc_bayes.measures.pairs import difference_variances, higher_cumulants, listed_cumulants
from rtc_bayes.measures.tilts import Tilts, exact_tilts, nodes, plugin_tilts
from rtc_bayes.measures.topic import DrawMoments, TopicMoments, settled

Floats = NDArray[np.float64]
Documents = NDArray[np.int32]
Starts = NDArray[np.int64]

# lanes that are worked on at once; those of a topic's common documents fit the cache
_LANES = 64


@dataclass(frozen=True)
class AveragePrecision:
    """AP of the lists of one topic; lists cut at k give AP@k, which divides by R all the same.

    Parameters
    ----------
    lists : Lists
    """

    lists: Lists

    def score(self, outcomes: NDArray[np.int8]) -> Floats:
        """Score every list under complete judgments (see ``TopicMeasure``)."""
        relevant = outcomes.sum(axis=0, dtype=np.int32)
        return _sums_of_precision(*self.lists.arrays, outcomes) / np.maximum(relevant, 1)

    def expected(self, p: Floats) -> Floats:
        """Return plug-in expected scores of every draw (see ``TopicMeasure``)."""
        means, relevant = numerator.expected(*self.lists.arrays, p), p.sum(axis=0)
        return np.divide(means, relevant, out=np.zeros_like(means), where=relevant > 0.0)

    def gradient(self, p: Floats) -> Floats:
        """Exact gradient of every list, shape (lists, documents), without moments of pairs."""
        if not np.any((p > 0.0) & (p < 1.0)):
            return settled(self, p).gradient
        overlaps = Overlaps.of(self.lists, len(p), np.empty((0, 2), dtype=np.int64))
        (part,) = _parts(p[None], np.array([0]), exact=True, tolerance=1e-8)
        return _ByLanes.of(self.lists, overlaps, part.tilts, exact=True).gradient()[0]

    def moments(self, p: Floats, *, exact: bool, tolerance: float) -> TopicMoments:
        """Moments under independent relevance (see ``TopicMeasure``)."""
        if not np.any((p > 0.0) & (p < 1.0)):
            return settled(self, p)
        first, second = pairs = all_pairs(self.lists.n_lists)
        overlaps = Overlaps.of(self.lists, len(p), np.stack(pairs, axis=1))
        (part,) = _parts(p[None], np.array([0]), exact=exact, tolerance=tolerance)
        by_lanes = _ByLanes.of(self.lists, overlaps, part.tilts, exact=exact)
        covariance = np.diag(by_lanes.variance[0])
        covariance[first, second] = covariance[second, first] = by_lanes.covariance[:, 0]

        def pair_variance(a: int, b: int) -> float:
            return float(by_lanes.difference_variance(a, b)[0])

        return TopicMoments(by_lanes.expected[0], covariance, by_lanes.gradient()[0], pair_variance)

    def over_draws(
        self, p: Floats, overlaps: Overlaps, *, exact: bool, tolerance: float
    ) -> DrawMoments:
        """Moments for every draw of the probabilities (see ``TopicMeasure``)."""
        pairs = overlaps.pairs
        result = DrawMoments.zeros(len(p), self.lists.n_lists, len(pairs))
        uncertain = ((p > 0.0) & (p < 1.0)).any(axis=1)
        if not uncertain.all():
            outcomes = (p[~uncertain] == 1.0).T.astype(np.int8)
            result.expected[~uncertain] = self.score(outcomes).T
        for part in _parts(p, np.flatnonzero(uncertain), exact=exact, tolerance=tolerance):
            by_lanes = _ByLanes.of(self.lists, overlaps, part.tilts, exact=exact)
            spread, lost = difference_variances(by_lanes.variance, by_lanes.covariance, pairs)
            third, fourth = by_lanes.cumulants(overlaps, p[part.draws])
            for n in np.flatnonzero(lost.any(axis=1)):
                a, b = pairs[n].tolist()
                of = lost[n]
                spread[n, of] = by_lanes.difference_variance(a, b)[of]
                if not exact:
                    third[n, of], fourth[n, of] = by_lanes.direct_cumulants(a, b)[:, of]
            result.expected[part.draws] = by_lanes.expected
            result.variance[part.draws] = by_lanes.variance
            result.difference_variance[:, part.draws] = spread
            result.third[:, part.draws], result.fourth[:, part.draws] = third, fourth
        return result


@dataclass(frozen=True)
class _ByLanes:
    """Moments of some draws, with what their lanes have in common.

    Attributes
    ----------
    means : ndarray, shape (lists, lanes)
        Expected numerators.
    influence : ndarray, shape (entries, lanes)
    expected, variance : ndarray, shape (draws, lists)
    covariance : ndarray, shape (pairs, draws)
    """

    lists: Lists
    tilts: Tilts
    exact: bool
    means: Floats
    influence: Floats
    expected: Floats
    variance: Floats
    covariance: Floats

    @classmethod
    def of(cls, lists: Lists, overlaps: Overlaps, tilts: Tilts, *, exact: bool) -> _ByLanes:
        """Compute the moments of the draws of some lanes."""
        shared = overlaps.pairs, overlaps.starts, overlaps.first, overlaps.second
        weights = tilts.weight1, tilts.weight2, tilts.draw_starts, tilts.none_relevant
        results = _moments(*lists.arrays, *shared, tilts.p, tilts.v, *weights, exact)
        return cls(lists, tilts, exact, *results)

    def gradient(self) -> Floats:
        """Return the gradient of the expected scores, shape (draws, lists, documents)."""
        return _gradients(*self._of_gradients)

    @property
    def _of_gradients(self) -> tuple[NDArray[Any], ...]:
        tilts = self.tilts
        return (
            self.lists.ranked,
            self.lists.starts,
            self.influence,
            tilts.inverse_base,
            tilts.weight1 * tilts.t_less_1 * self.means,
            tilts.weight1 * tilts.t,
            tilts.draw_starts,
        )

    def difference_variance(self, a: int, b: int) -> Floats:
        """Variance of the difference of two lists from their differences, shape (draws,)."""
        tilts = self.tilts
        spans = [slice(*self.lists.starts[[s, s + 1]]) for s in (a, b)]
        two = self.lists.take(np.array([a, b]))
        gap = self.expected[:, a] - self.expected[:, b]
        difference = np.zeros_like(tilts.p)
        if self.exact:
            difference -= np.repeat(gap, np.diff(tilts.draw_starts))
        difference[self.lists.ranked[spans[0]]] += self.influence[spans[0]]
        difference[self.lists.ranked[spans[1]]] -= self.influence[spans[1]]
        square = (np.square(difference) * tilts.v).sum(axis=0)
        square += numerator.pair_quadratic(*two.arrays, tilts.v)
        if self.exact:
            off = _means_off(
                self.means[[a, b]], tilts.p, self.expected[:, [a, b]], tilts.draw_starts
            )
            square += np.square(off[0] - off[1])
        variance = numerator.sum_lanes(square[None], tilts.weight2, tilts.draw_starts)[:, 0]
        return variance + tilts.none_relevant * np.square(gap)

    def cumulants(self, overlaps: Overlaps, p: Floats) -> tuple[Floats, Floats]:
        """Third and fourth cumulants, shape (pairs, draws), under the draws' probabilities p."""
        if not len(overlaps.pairs):
            none = np.empty((0, len(p)))
            return none, none
        if self.exact:
            third, fourth = _cumulants(overlaps.pairs, p, *self._of_gradients)
            return third.T, fourth.T
        # by plug-in moments a list's gradient is 0 for what it does not hold
        return listed_cumulants(
            self.lists.ranked,
            self.lists.starts,
            overlaps.pairs,
            overlaps.starts,
            overlaps.first,
            overlaps.second,
            self.influence * self.tilts.weight1,
            self.tilts.p,
        )

    def direct_cumulants(self, a: int, b: int) -> Floats:
        """Third and fourth cumulants of two lists by plug-in moments, shape (2, draws)."""
        p = np.ascontiguousarray(self.tilts.p.T)
        gradient = np.zeros((len(p), 2, p.shape[1]))
        for n, s in enumerate((a, b)):
            inside = slice(*self.lists.starts[[s, s + 1]])
            slope = self.influence[inside] * self.tilts.weight1
            gradient[:, n, self.lists.ranked[inside]] = slope.T
        return np.stack(higher_cumulants(gradient, np.array([[0, 1]]), p))[:, :, 0]


@dataclass(frozen=True)
class _Part:
    """Draws, by number, that are worked on at once."""

    draws: NDArray[np.int64]
    tilts: Tilts


def _parts(
    p: Floats, draws: NDArray[np.int64], *, exact: bool, tolerance: float
) -> Iterator[_Part]:
    """Split draws (numbers of rows of p) into parts of few lanes."""
    of_draw = nodes(p[draws], tolerance) if exact and len(draws) else None
    ends = of_draw.draw_starts[1:] if of_draw else np.arange(1, len(draws) + 1)
    first = 0
    while first < len(draws):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _LANES, side="right")))
        inside = draws[first:last]
        q = p[inside]
        tilts = exact_tilts(q, of_draw.of(first, last)) if of_draw else plugin_tilts(q)
        yield _Part(inside, tilts)
        first = last


@njit(cache=True, nogil=True)
def _moments(
    ranked: Documents,
    starts: Starts,
    inverse: Floats,
    pairs: NDArray[np.int64],
    shared_starts: Starts,
    shared_first: Documents,
    shared_second: Documents,
    p: Floats,
    v: Floats,
    weight1: Floats,
    weight2: Floats,
    draw_starts: Starts,
    none_relevant: Floats,
    exact: bool,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return means, influence, expected, variance and covariance of :class:`_ByLanes`."""
    means = numerator.expected(ranked, starts, inverse, p)
    # summed in one order for every list, so that equal lists have equal moments
    expected = numerator.sum_lanes(means, weight1, draw_starts)
    influence = numerator.influence(ranked, starts, inverse, p)
    # Var(S/R) = E[(S - m R)^2 / R^2] + m^2 P(R = 0), and the influence of a document on
    # S - m R is L - m: parts of one size, where E[S^2 / R^2] - m^2 would cancel
    centre = expected if exact else np.zeros_like(expected)
    variance, linear, everything = numerator.own_variances(
        ranked, starts, inverse, influence, v, weight2, draw_starts, centre
    )
    covariance = numerator.covariances(
        ranked,
        starts,
        inverse,
        pairs,
        shared_starts,
        shared_first,
        shared_second,
        influence,
        v,
        weight2,
        draw_starts,
        centre,
        linear,
        everything,
    )
    if exact:
        off = _means_off(means, p, expected, draw_starts)
        each = np.repeat(np.arange(means.shape[0]), 2).reshape(-1, 2)
        _add_products(off, each, weight2, draw_starts, expected, none_relevant, variance.T)
        _add_products(off, pairs, weight2, draw_starts, expected, none_relevant, covariance)
    return means, influence, expected, variance, covariance


@njit(cache=True, nogil=True)
def _means_off(means: Floats, p: Floats, expected: Floats, draw_starts: Starts) -> Floats:
    """Means of S - m R, shape (lists, lanes)."""
    total = np.zeros(p.shape[1])
    for i in range(p.shape[0]):
        total += p[i]
    off = np.empty(means.shape)
    for s in range(means.shape[0]):
        for d in range(expected.shape[0]):
            for k in range(draw_starts[d], draw_starts[d + 1]):
                off[s, k] = means[s, k] - total[k] * expected[d, s]
    return off


@njit(cache=True, nogil=True)
def _add_products(
    off: Floats,
    pairs: NDArray[np.int64],
    weight: Floats,
    draw_starts: Starts,
    expected: Floats,
    none_relevant: Floats,
    result: Floats,
) -> None:
    """Add the products of the means of S - m R, and m m' P(R = 0), to (pairs, draws)."""
    draws = expected.shape[0]
    for n in range(pairs.shape[0]):
        s, u = pairs[n]
        for d in range(draws):
            value = none_relevant[d] * expected[d, s] * expected[d, u]
            for k in range(draw_starts[d], draw_starts[d + 1]):
                value += weight[k] * off[s, k] * off[u, k]
            result[n, d] += value


@njit(cache=True, nogil=True)
def _cumulants(
    pairs: NDArray[np.int64],
    p: Floats,
    ranked: Documents,
    starts: Starts,
    influence: Floats,
    inverse_base: Floats,
    slope: Floats,
    weight: Floats,
    draw_starts: Starts,
) -> tuple[Floats, Floats]:
    """Third and fourth cumulants, shape (draws, pairs), one draw's gradients after the other's."""
    third, fourth = np.empty((2, p.shape[0], pairs.shape[0]))
    for d in range(p.shape[0]):
        ends = draw_starts[d : d + 2]
        one = _gradients(ranked, starts, influence, inverse_base, slope, weight, ends)
        third[d : d + 1], fourth[d : d + 1] = higher_cumulants(one, pairs, p[d : d + 1])
    return third, fourth


@njit(cache=True, nogil=True)
def _gradients(
    ranked: Documents,
    starts: Starts,
    influence: Floats,
    inverse_base: Floats,
    slope: Floats,
    weight: Floats,
    draw_starts: Starts,
) -> Floats:
    """Sum what a document changes in R, in a list or not, and in the numerators of its lists."""
    documents = inverse_base.shape[0]
    lists = starts.shape[0] - 1
    draws = draw_starts.shape[0] - 1
    result = np.zeros((draws, lists, documents))
    base = np.empty((np.diff(draw_starts).max(), documents))
    for d in range(draws):
        first, nodes = draw_starts[d], draw_starts[d + 1] - draw_starts[d]
        for i in range(documents):
            for k in range(nodes):
                base[k, i] = inverse_base[i, first + k]
        for s in range(lists):
            own = result[d, s]
            for k in range(nodes):
                x, of_node = slope[s, first + k], base[k]
                for i in range(documents):
                    own[i] += x * of_node[i]
            for m in range(starts[s], starts[s + 1]):
                i = ranked[m]
                for k in range(nodes):
                    own[i] += weight[first + k] * base[k, i] * base[k, i] * influence[m, first + k]
    return result


@njit(cache=True, nogil=True)
def _sums_of_precision(
    ranked: Documents, starts: Starts, inverse: Floats, outcomes: NDArray[np.int8]
) -> Floats:
    """Sum of the precisions at relevant documents, shape (lists, outcomes)."""
    lists = starts.shape[0] - 1
    count = outcomes.shape[1]
    result = np.zeros((lists, count))
    hits = np.empty(count, dtype=np.float64)
    for s in range(lists):
        hits[:] = 0.0
        for m in range(starts[s], starts[s + 1]):
            a, document = inverse[m], outcomes[ranked[m]]
            for o in range(count):
                x = np.float64(document[o])
                hits[o] += x
                result[s, o] += x * hits[o] * a
    return result
