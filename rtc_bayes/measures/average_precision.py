"""Average precision on one topic: exact and plug-in moments, and scores.

AP = S / R with S the numerator of ``numerator`` and R the number of relevant documents of the
topic, also of those no system retrieved; 0 when R = 0. The plug-in moments are those of S over
E R (Carterette 2007, section 3.2). The exact ones replace 1/R and 1/R^2 by short sums of t^R
(``rule``): t^R times the probability of an outcome is again a product over documents, with
tilted probabilities p t / (q + p t), so each node costs one moment of S.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.collection.lists import Lists
from rtc_bayes.measures import numerator
from rtc_bayes.measures.overlaps import Overlaps
from rtc_bayes.measures.pairs import difference_variances, higher_cumulants, listed_cumulants
from rtc_bayes.measures.tilts import Tilts, exact_tilts, nodes, plugin_tilts
from rtc_bayes.measures.topic import DrawMoments, TopicMoments, settled

Floats = NDArray[np.float64]
Documents = NDArray[np.int32]
Starts = NDArray[np.int64]

# lanes that are worked on at once; those of a topic's common documents fit the cache
_LANES = 128


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

    def gradient(self, p: Floats, *, tolerance: float = 1e-8) -> Floats:
        """Exact gradient of every list, shape (lists, documents), without moments of pairs."""
        if not np.any((p > 0.0) & (p < 1.0)):
            return settled(self, p).gradient
        overlaps = Overlaps.of(self.lists, len(p), np.empty((0, 2), dtype=np.int64))
        (part,) = _parts(p[None], np.array([0]), exact=True, tolerance=tolerance)
        return _ByLanes.of(self.lists, overlaps, part.tilts, exact=True).gradient()[0]

    def moments(self, p: Floats, *, exact: bool, tolerance: float) -> TopicMoments:
        """Moments under independent relevance (see ``TopicMeasure``)."""
        if not np.any((p > 0.0) & (p < 1.0)):
            return settled(self, p)
        first, second = pairs = np.triu_indices(self.lists.n_lists, 1)
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
        arrays = lists.arrays
        means = numerator.expected(*arrays, tilts.p)
        # summed in one order for every list, so that equal lists have equal moments
        expected = numerator.sum_lanes(means, tilts.weight1, tilts.draw_starts)
        influence = numerator.influence(*arrays, tilts.p)
        # Var(S/R) = E[(S - m R)^2 / R^2] + m^2 P(R = 0), and the influence of a document on
        # S - m R is L - m: parts of one size, where E[S^2 / R^2] - m^2 would cancel
        centre = expected if exact else np.zeros_like(expected)
        lanes = (influence, tilts.v, tilts.weight2, tilts.draw_starts, centre)
        variance, linear, everything = numerator.own_variances(*arrays, *lanes)
        covariance = numerator.covariances(
            *arrays,
            overlaps.pairs,
            overlaps.starts,
            overlaps.first,
            overlaps.second,
            *lanes,
            linear,
            everything,
        )
        if exact:
            off = _means_off(means, tilts, expected)
            each = np.arange(lists.n_lists)
            common = (tilts.weight2, tilts.draw_starts, expected, tilts.none_relevant)
            _add_products(off, np.stack([each, each], 1), *common, variance.T)
            _add_products(off, overlaps.pairs, *common, covariance)
        return cls(lists, tilts, exact, means, influence, expected, variance, covariance)

    def gradient(self) -> Floats:
        """Return the gradient of the expected scores, shape (draws, lists, documents)."""
        tilts = self.tilts
        slope = tilts.weight1 * tilts.t_less_1 * self.means
        # what a document changes as one more relevant document, in a list or not
        ends = pairwise(tilts.draw_starts.tolist())
        result = np.stack([slope[:, a:b] @ tilts.inverse_base[:, a:b].T for a, b in ends])
        _add_listed_gradient(
            self.lists.ranked,
            self.lists.starts,
            self.influence,
            tilts.inverse_base,
            tilts.weight1 * tilts.t,
            tilts.draw_starts,
            result,
        )
        return result

    def difference_variance(self, a: int, b: int) -> Floats:
        """Variance of the difference of two lists from their differences, shape (draws,)."""
        tilts = self.tilts
        spans = [slice(*self.lists.starts[[s, s + 1]]) for s in (a, b)]
        two = self.lists.take(np.array([a, b]))
        gap = self.expected[:, a] - self.expected[:, b]
        difference = np.zeros_like(tilts.p)
        if self.exact:
            difference -= _by_lane(gap, tilts)
        difference[self.lists.ranked[spans[0]]] += self.influence[spans[0]]
        difference[self.lists.ranked[spans[1]]] -= self.influence[spans[1]]
        square = (np.square(difference) * tilts.v).sum(axis=0)
        square += numerator.pair_quadratic(*two.arrays, tilts.v)
        if self.exact:
            off = _means_off(self.means[[a, b]], tilts, self.expected[:, [a, b]])
            square += np.square(off[0] - off[1])
        variance = numerator.sum_lanes(square[None], tilts.weight2, tilts.draw_starts)[:, 0]
        return variance + tilts.none_relevant * np.square(gap)

    def cumulants(self, overlaps: Overlaps, p: Floats) -> tuple[Floats, Floats]:
        """Third and fourth cumulants, shape (pairs, draws), under the draws' probabilities p."""
        if not len(overlaps.pairs):
            none = np.empty((0, len(p)))
            return none, none
        if self.exact:
            third, fourth = higher_cumulants(self.gradient(), overlaps.pairs, p)
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
    """Split draws (by_lanes of rows of p) by their lanes."""
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


def _by_lane(values: Floats, tilts: Tilts) -> Floats:
    """Repeat the value of every draw (last axis) for its lanes."""
    return np.repeat(values, np.diff(tilts.draw_starts), axis=-1)


def _means_off(means: Floats, tilts: Tilts, expected: Floats) -> Floats:
    """Means of S - m R, shape (lists, lanes)."""
    return means - tilts.p.sum(axis=0) * _by_lane(expected.T, tilts)


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
def _add_listed_gradient(
    ranked: Documents,
    starts: Starts,
    influence: Floats,
    inverse_base: Floats,
    weight: Floats,
    draw_starts: Starts,
    gradient: Floats,
) -> None:
    """Add what a document changes in the numerators of the lists that hold it."""
    lanes = weight.shape[0]
    part = np.empty(lanes)
    for s in range(starts.shape[0] - 1):
        for m in range(starts[s], starts[s + 1]):
            i = ranked[m]
            for k in range(lanes):
                base = inverse_base[i, k]
                part[k] = weight[k] * base * base * influence[m, k]
            for d in range(gradient.shape[0]):
                first, end = draw_starts[d], draw_starts[d + 1]
                even = end - (end - first) % 4
                # four sums at once, which need not wait for each other
                w, x, y, z = 0.0, 0.0, 0.0, 0.0
                for k in range(first, even, 4):
                    w += part[k]
                    x += part[k + 1]
                    y += part[k + 2]
                    z += part[k + 3]
                for k in range(even, end):
                    w += part[k]
                gradient[d, s, i] += (w + x) + (y + z)


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
