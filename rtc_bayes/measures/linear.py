"""Measures linear in relevance, G X, and their ratios to a function of R, on one topic.

P@k, DCG@k and RBP are linear. R@k and nDCG@k divide a linear numerator by f(R), the number of
relevant documents or the ideal DCG it allows. Any function of R in a window is a sum of powers of
complex t on the unit circle (a discrete Fourier transform), which tilt the probabilities of
relevance exactly as real ones do for average precision; so these moments are exact to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.collection.lists import Lists
from rtc_bayes.measures.pairs import DrawByDraw
from rtc_bayes.measures.rule import relevant_window, spectral_nodes, spectral_weights
from rtc_bayes.measures.topic import TopicMoments, settled

Floats = NDArray[np.float64]

# the tails of R beyond the window are below rounding
_LEAVING = 1e-17


def gains(lists: Lists, documents: int, discounts: Floats) -> Floats:
    """Gain of every document in every list if it is relevant.

    Parameters
    ----------
    lists : Lists
        Of one topic.
    documents : int
        Number of documents of the topic.
    discounts : ndarray, shape (at least the lowest rank,)
        Gain at each rank.

    Returns
    -------
    ndarray, shape (lists, documents)
    """
    result = np.zeros((lists.n_lists, documents))
    of_list = np.repeat(np.arange(lists.n_lists), np.diff(lists.starts))
    result[of_list, lists.ranked] = discounts[lists.ranks - 1]
    return result


@dataclass(frozen=True)
class Linear(DrawByDraw):
    """Sum of gains of relevant documents. Plug-in and exact moments are the same.

    Parameters
    ----------
    gains : ndarray, shape (lists, documents)
    """

    gains: Floats

    def score(self, outcomes: NDArray[np.int8]) -> Floats:
        """Score every list under complete judgments (see ``TopicMeasure``)."""
        return self.gains @ outcomes.astype(np.float64)

    def expected(self, p: Floats) -> Floats:
        """Return expected scores of every draw (see ``TopicMeasure``)."""
        return self.gains @ p

    def moments(self, p: Floats, *, exact: bool, tolerance: float) -> TopicMoments:
        """Moments under independent relevance (see ``TopicMeasure``); closed forms."""
        del exact, tolerance
        v = p * (1.0 - p)

        def pair_variance(a: int, b: int) -> float:
            return float(np.square(self.gains[a] - self.gains[b]) @ v)

        return TopicMoments(
            self.gains @ p, (self.gains * v) @ self.gains.T, self.gains, pair_variance
        )


@dataclass(frozen=True)
class LinearRatio(DrawByDraw):
    """Sum of gains over a function of the number of relevant documents; 0 when there is none.

    Parameters
    ----------
    gains : ndarray, shape (lists, documents)
    denominators : ndarray, shape (documents + 1,)
        f(R), with f(0) = 0 and positive beyond.
    """

    gains: Floats
    denominators: Floats

    def score(self, outcomes: NDArray[np.int8]) -> Floats:
        """Score every list under complete judgments (see ``TopicMeasure``)."""
        relevant = outcomes.sum(axis=0, dtype=np.int64)
        below = np.where(relevant > 0, self.denominators[relevant], 1.0)
        return (self.gains @ outcomes.astype(np.float64)) / below

    def expected(self, p: Floats) -> Floats:
        """Return plug-in expected scores of every draw (see ``TopicMeasure``)."""
        return self.gains @ p / self.below(p.sum(axis=0))

    def below(self, relevant: ArrayLike, *, least: float = 1.0) -> Floats:
        """Return f of expected numbers of relevant documents, linear between whole numbers.

        f(1) below 1: where anything counts, at least one document is relevant, unless `least` is
        0. 1 where there is no document.
        """
        counts = np.arange(len(self.denominators))
        if len(counts) == 1:
            return np.ones(np.shape(relevant))
        return np.asarray(np.interp(np.maximum(relevant, least), counts, self.denominators))

    def best(self, steps: Floats, counts: ArrayLike) -> Floats:
        """Return f of a list of documents by grade: the DCG of the best one, for nDCG.

        Parameters
        ----------
        steps : ndarray, shape (grades,)
            What the gain of each grade from 1 on has over that of the grade below.
        counts : array_like, shape (grades,) or (grades, lists)
            How many documents have that grade, or are expected to, and more.
        """
        return np.asarray(steps @ self.below(counts, least=0.0))

    def slope(self, relevant: ArrayLike, *, least: float = 1.0) -> Floats:
        """Return how :meth:`below` grows with expected numbers of relevant documents."""
        count = np.floor(relevant)
        more, now = (self.below(count + up, least=least) for up in (1.0, 0.0))
        return np.where(np.asarray(relevant) < least, 0.0, more - now)

    def moments(self, p: Floats, *, exact: bool, tolerance: float) -> TopicMoments:
        """Moments under independent relevance (see ``TopicMeasure``).

        Plug-in: the numerator's moments over f(E R).
        """
        del tolerance
        if not np.any((p > 0.0) & (p < 1.0)):
            return settled(self, p)
        if exact:
            return self._exact(p)
        return Linear(self.gains / self.below(p.sum())).moments(p, exact=False, tolerance=0.0)

    def _exact(self, p: Floats) -> TopicMoments:
        low, high = relevant_window(p, _LEAVING)
        values = np.zeros(high - low + 1)
        positive = np.arange(low, high + 1) > 0
        values[positive] = 1.0 / self.denominators[low : high + 1][positive]
        # the powers count relevant documents beyond the certain ones, which no tilt changes
        certain = p == 1.0
        low -= int(certain.sum())
        t = spectral_nodes(low, low + len(values) - 1)
        q = 1.0 - p
        base = q + p * t[:, None]
        base[:, certain] = 1.0
        inverse = 1.0 / base
        tilted = p * t[:, None] * inverse
        tilted[:, certain] = 1.0
        probability = np.prod(base, axis=1)
        weight1, weight2 = probability * spectral_weights(low, np.stack([values, values**2]))

        some = self.gains.any(axis=0)
        gains = self.gains[:, some]
        means = gains @ tilted.real.T[some] + 1j * (gains @ tilted.imag.T[some])
        expected = (means * weight1).real.sum(axis=1)
        variance = (weight2 @ (q * tilted * inverse)[:, some]).real
        second = (gains * variance) @ gains.T + _real(means * weight2, means.T)
        slope_of_ratio = (weight1 * (t - 1.0))[:, None] * inverse
        slope_of_numerator = ((weight1 * t) @ (inverse * inverse)[:, some]).real
        gradient = _real(means, slope_of_ratio)
        gradient[:, some] += gains * slope_of_numerator

        def pair_variance(a: int, b: int) -> float:
            gain = gains[a] - gains[b]
            mean = tilted[:, some] @ gain
            square = np.square(gain) @ variance + (weight2 @ np.square(mean)).real
            return max(float(square) - float((weight1 @ mean).real) ** 2, 0.0)

        covariance = second - np.outer(expected, expected)
        # a difference of two squares may round below 0
        np.fill_diagonal(covariance, np.maximum(covariance.diagonal(), 0.0))
        return TopicMoments(expected, covariance, gradient, pair_variance)


def _real(a: NDArray[np.complex128], b: NDArray[np.complex128]) -> Floats:
    """Real part of a product of two complex matrices, in half the time of the whole product."""
    return a.real @ b.real - a.imag @ b.imag
