"""What a judging session knows of one topic: by average precision, and by other measures.

For average precision, with v = p (1 - p), the moments of the differences are the printed ones
(Carterette 2007, section 2): E dAP = E S / mu and Var dAP = Var S / mu^2, where

    E S   = sum c_ii p_i + sum_{i<j} c_ij p_i p_j,
    Var S = sum L_i^2 v_i + sum_{i<j} c_ij^2 v_i v_j,     L_i = c_ii + sum_{j != i} c_ij p_j.

A judgment of document d changes them by E S += L_d (x - p_d), L_i += c_id (x - p_d), and takes
v_d sum_j c_dj^2 v_j from the last sum. So it costs systems x documents of the topic.

Of other measures moments are exact, and L_i is how the expected score moves. By those linear in
relevance that is the gain at the document's rank, and Var = sum L_i^2 v_i. By R@k, AP@k and nDCG,
which divide by a function of how many documents are relevant, it is what i adds to the score less
what it takes off by that number, so that documents below the cutoff count, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.collection.lists import Lists
from rtc_bayes.judging import bounds, kernels
from rtc_bayes.measures.average_precision import AveragePrecision
from rtc_bayes.measures.linear import Linear, LinearRatio, gains
from rtc_bayes.measures.pairs import difference_variances
from rtc_bayes.measures.topic import TopicMeasure

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

# of expected scores
_TOLERANCE = 1e-6


class TopicGains(NamedTuple):
    """Grades of a topic's documents, and their gains.

    Attributes
    ----------
    judged : ndarray of float, shape (documents,)
        The grade; NaN where it is not known.
    chances : ndarray, shape (2, documents, grades)
        Probabilities of the grades from 0 on, given nonrelevance and given relevance.
    gains : ndarray, shape (grades,)
        Of each grade; 0 of grade 0.
    """

    judged: Floats
    chances: Floats
    gains: Floats


class TopicState(ABC):
    """The state of one topic, for all systems of a pool.

    Parameters
    ----------
    measure : TopicMeasure
        On the lists of every system.
    p : ndarray of float, shape (documents,)
        Probabilities of relevance; those of judged documents are their labels.
    labels : ndarray of float, shape (documents,)
        In [0, 1], NaN where unjudged.
    pairs : tuple of ndarray of int
        The first and the second system of every pair, each of shape (pairs,).

    Attributes
    ----------
    measure : TopicMeasure
    v : ndarray, shape (documents,)
        p (1 - p).
    judged : ndarray of bool, shape (documents,)
    gains : TopicGains or None
        By grade, of a :class:`~rtc_bayes.judging.graded_state.GradedState`.
    """

    measure: TopicMeasure
    gains: TopicGains | None = None

    def __init__(
        self,
        measure: TopicMeasure,
        p: Floats,
        labels: Floats,
        pairs: tuple[Integers, Integers],
    ) -> None:
        self.measure = measure
        self.pairs = pairs
        self.labels = np.array(labels)
        self.judged = ~np.isnan(labels)
        self.restart(p)

    def restart(self, p: Floats) -> None:
        """Take new probabilities for the unjudged documents."""
        self.p = np.where(self.judged, self.labels, p)
        self.v = self.p * (1.0 - self.p)

    def observe(self, document: int, label: float, grade: float = np.nan) -> None:
        """Give a document, numbered within the topic, its label, and its grade if it has one.

        Grades count where gains go by them.
        """
        self.labels[document] = self.p[document] = label
        self.v[document] = label * (1.0 - label)
        self.judged[document] = True

    @property
    @abstractmethod
    def effect(self) -> Floats:
        """L: how each numerator changes with what `v` is the variance of; (systems, documents)."""

    @property
    def move(self) -> Floats:
        """How each numerator changes if a document turns out relevant; (systems, documents)."""
        return self.effect

    @property
    @abstractmethod
    def numerators(self) -> Floats:
        """Expected numerator of each system's own score, or the score itself; (systems,)."""

    @property
    def divisor(self) -> float:
        """What numerators are divided by; positive, and 1 of scores themselves."""
        return 1.0

    @property
    def divides(self) -> bool:
        """Whether numerators are divided, and `move` is of these."""
        return False

    @property
    def centre(self) -> Floats:
        """What each numerator must gain for its score to stay, where R grows by 1; (systems,)."""
        return np.zeros_like(self.numerators)

    @property
    def if_relevant(self) -> Floats:
        """`move` if nothing open is relevant, of every system but the first, less the first's.

        Shape (systems - 1, documents). As things are now, which of a linear measure is the same.
        """
        return self.move[1:] - self.move[0]

    @property
    def if_nonrelevant(self) -> Floats:
        """The same if all that is open is relevant."""
        return self.if_relevant

    def expected_scores(self, p: Floats) -> Floats:
        """Return expected scores under other probabilities, (documents, draws): (systems, draws).

        By plug-in moments: the expected numerator over the divisor.
        """
        return self.measure.expected(p)

    def expected(self) -> Floats:
        """Return E of the difference of every pair."""
        first, second = self.pairs
        return (self.numerators[first] - self.numerators[second]) / self.divisor

    @abstractmethod
    def moments(self) -> tuple[Floats, Floats]:
        """Return E and Var of the difference of every pair."""

    @abstractmethod
    def bounds(self, pair: int) -> tuple[float, float]:
        """Bound the difference of a pair, by number, over all that open documents may be."""

    def of_pair(self, values: Floats, pair: int) -> tuple[Floats, Floats]:
        """Return what two systems have, a pair by number, of values by system first."""
        return values[self.pairs[0][pair]], values[self.pairs[1][pair]]

    def settled(self) -> Floats:
        """Return the labels that settle something, NaN elsewhere: a noisy assessor's do not."""
        return np.where((self.labels == 0.0) | (self.labels == 1.0), self.labels, np.nan)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self.numerators)} systems, {len(self.p)} documents, "
            f"{self.judged.sum()} judged, mu {self.p.sum():.3g})"
        )


class AveragePrecisionState(TopicState):
    """The state of one topic by average precision.

    Parameters
    ----------
    measure : AveragePrecision
    p, labels, pairs
        As of :class:`TopicState`.

    Attributes
    ----------
    inverse : ndarray, shape (systems, documents)
        One over the rank, 0 where not retrieved.
    """

    measure: AveragePrecision

    def __init__(
        self,
        measure: AveragePrecision,
        p: Floats,
        labels: Floats,
        pairs: tuple[Integers, Integers],
    ) -> None:
        lists = measure.lists
        self._arrays = lists.arrays
        self.inverse = inverse_ranks(lists, len(p))
        self._effect = np.empty_like(self.inverse)
        self._if_relevant: Floats | None = None
        self._if_nonrelevant: Floats | None = None
        self._numerators = np.empty(lists.n_lists)
        super().__init__(measure, p, labels, pairs)

    def restart(self, p: Floats) -> None:
        """Take new probabilities for the unjudged documents."""
        super().restart(p)
        kernels.influence(*self._arrays, self.p, self._effect)
        kernels.expected_numerators(self.inverse, self._effect, self.p, self._numerators)
        self._quadratic: Floats | None = None

    def observe(self, document: int, label: float, grade: float = np.nan) -> None:
        """Give a document, numbered within the topic, its label."""
        if self._quadratic is not None:
            drop = self.v[document] - label * (1.0 - label)
            kernels.quadratic_loss(
                self.inverse, document, self.v, drop, *self.pairs, self._quadratic
            )
        change = label - self.p[document]
        kernels.observe(self.inverse, document, change, self._effect, self._numerators)
        if self._if_relevant is not None:
            kernels.reweigh_apart(self.inverse, document, label, self._if_relevant)
        if self._if_nonrelevant is not None:
            kernels.reweigh_apart(self.inverse, document, label - 1.0, self._if_nonrelevant)
        super().observe(document, label, grade)

    @property
    def effect(self) -> Floats:
        """L: how each numerator changes if a document turns out relevant; (systems, documents)."""
        return self._effect

    @property
    def numerators(self) -> Floats:
        """E S of each system's own average precision, shape (systems,)."""
        return self._numerators

    @property
    def divisor(self) -> float:
        """mu, the expected number of relevant documents; 1 where there are none."""
        return float(self.p.sum()) or 1.0

    @property
    def divides(self) -> bool:
        """Average precision does."""
        return True

    @property
    def centre(self) -> Floats:
        """Average precision itself, E S / mu: what it divides by is a number of documents."""
        return self._numerators / self.divisor

    @property
    def if_relevant(self) -> Floats:
        """The sums of `effect` over the documents judged relevant, made on first use."""
        if self._if_relevant is None:
            self._if_relevant = self._influences_apart(np.where(self.judged, self.labels, 0.0))
        return self._if_relevant

    @property
    def if_nonrelevant(self) -> Floats:
        """The same over those not judged nonrelevant, made on first use."""
        if self._if_nonrelevant is None:
            self._if_nonrelevant = self._influences_apart(np.where(self.judged, self.labels, 1.0))
        return self._if_nonrelevant

    def _influences_apart(self, weights: Floats) -> Floats:
        result = np.empty_like(self.inverse)
        kernels.influence(*self._arrays, weights, result)
        return result[1:] - result[0]

    @property
    def quadratic(self) -> Floats:
        """Sum over i < j of c_ij^2 v_i v_j, shape (pairs,); made on first use."""
        if self._quadratic is None:
            self._quadratic = np.empty(len(self.pairs[0]))
            kernels.quadratic(self.inverse, self.v, *self.pairs, self._quadratic)
        if not self.v.any():
            # the running sum keeps a rounding error; nothing is unknown any more
            self._quadratic[:] = 0.0
        return self._quadratic

    def moments(self) -> tuple[Floats, Floats]:
        """Return E and Var of the printed difference in average precision of every pair."""
        first, second = self.pairs
        if not self.p.any():
            return np.zeros(len(first)), np.zeros(len(first))
        if len(self.inverse) > defaults.MANY_SYSTEMS:
            return self.expected(), self._variances_at_once()
        variance = np.empty(len(first))
        kernels.linear(self._effect, self.v, first, second, variance)
        variance += self.quadratic
        return self.expected(), variance / self.divisor**2

    def _variances_at_once(self) -> Floats:
        """Variance of every pair's difference from covariances, of which each costs n log n."""
        pairs = np.stack(self.pairs, axis=1)
        moments = self.measure.moments(self.p, exact=False, tolerance=_TOLERANCE)
        variance, lost = of_pairs(moments.covariance, pairs)
        # nearly identical systems: from the differences themselves
        close = np.flatnonzero(lost)
        first, second = self.pairs[0][close], self.pairs[1][close]
        direct, quadratic = np.empty(len(close)), np.empty(len(close))
        kernels.linear(self._effect, self.v, first, second, direct)
        kernels.quadratic(self.inverse, self.v, first, second, quadratic)
        variance[close] = (direct + quadratic) / self.divisor**2
        return variance

    def bounds(self, pair: int) -> tuple[float, float]:
        """Bound the difference of a pair, by number, over all that open documents may be."""
        return bounds.of_precision(*self.of_pair(self.inverse, pair), self.settled())


class LinearState(TopicState):
    """The state of one topic by a measure linear in relevance.

    Parameters
    ----------
    measure : Linear
        A ratio in :class:`~rtc_bayes.judging.graded_state.GradedState` alone.
    p, labels, pairs
        As of :class:`TopicState`.
    """

    measure: Linear | LinearRatio

    @property
    def effect(self) -> Floats:
        """L: the gain of each document in each list; (systems, documents)."""
        return self.measure.gains

    @property
    def numerators(self) -> Floats:
        """Expected score of each system, shape (systems,)."""
        return self.measure.gains @ self.p

    def moments(self) -> tuple[Floats, Floats]:
        """Return E and Var of the difference of every pair."""
        first, second = self.pairs
        variance = np.empty(len(first))
        kernels.linear(self.effect, self.v, first, second, variance)
        return self.expected(), variance

    def bounds(self, pair: int) -> tuple[float, float]:
        """Bound the difference of a pair, by number, over all that open documents may be."""
        first, second = self.of_pair(self.measure.gains, pair)
        return bounds.of_gains(first - second, self.settled())


def inverse_ranks(lists: Lists, documents: int) -> Floats:
    """One over the rank of each document in each list, 0 where not retrieved.

    Parameters
    ----------
    lists : Lists
        Of one topic.
    documents : int
        Number of documents of the topic.

    Returns
    -------
    ndarray, shape (lists, documents)
    """
    return gains(lists, documents, 1.0 / np.arange(1.0, np.max(lists.ranks, initial=0) + 1.0))


def of_pairs(covariance: Floats, pairs: Integers) -> tuple[Floats, NDArray[np.bool_]]:
    """Variances of differences from covariances, (pairs,), and where these lose them.

    Parameters
    ----------
    covariance : ndarray, shape (systems, systems)
    pairs : ndarray of int, shape (pairs, 2)
    """
    variance, lost = difference_variances(
        np.diag(covariance)[None], covariance[pairs[:, 0], pairs[:, 1]][:, None], pairs
    )
    return variance[:, 0], lost[:, 0]
