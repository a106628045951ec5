"""What a judging session knows, kept up to date judgment by judgment.

For the systems of a pool and probabilities of relevance p, with v = p (1 - p), the moments of
the differences in average precision are the printed ones (Carterette 2007, section 2):
E dAP = E S / mu and Var dAP = Var S / mu^2, where

    E S   = sum c_ii p_i + sum_{i<j} c_ij p_i p_j,
    Var S = sum L_i^2 v_i + sum_{i<j} c_ij^2 v_i v_j,     L_i = c_ii + sum_{j != i} c_ij p_j.

A judgment of document d changes them by E S += L_d (x - p_d), L_i += c_id (x - p_d), and takes
v_d sum_j c_dj^2 v_j from the last sum. So it costs systems x documents of its topic, and nothing
of any other topic.

Where p comes as draws of a posterior, the state is that of their mean, and by the law of total
variance the moments of the difference in the mean take the variance over draws of its expected
value besides.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from rtc_bayes import defaults
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.lists import Lists
from rtc_bayes.judging import kernels
from rtc_bayes.measures import numerator
from rtc_bayes.measures.average_precision import AveragePrecision
from rtc_bayes.measures.pairs import difference_variances

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

# Of the expected score, which is not asked for.
_TOLERANCE = 1e-6


class TopicState:
    """The state of one topic, for all systems of a pool.

    Parameters
    ----------
    lists : Lists
        Of every system.
    p : ndarray of float, shape (documents,)
        Probabilities of relevance; those of judged documents are their labels.
    labels : ndarray of float, shape (documents,)
        In [0, 1], NaN where unjudged.
    pairs : tuple of ndarray of int
        The first and the second system of every pair, each of shape (pairs,).

    Attributes
    ----------
    inverse : ndarray, shape (systems, documents)
        One over the rank, 0 where not retrieved.
    effect : ndarray, shape (systems, documents)
        L of each system: how its numerator changes if the document turns out relevant.
    numerators : ndarray, shape (systems,)
        E S of each system's own average precision.
    """

    def __init__(
        self,
        lists: Lists,
        p: Floats,
        labels: Floats,
        pairs: tuple[Integers, Integers],
    ) -> None:
        self.pairs = pairs
        self._lists = lists
        self._arrays = lists.arrays
        self.labels = np.array(labels)
        self.judged = ~np.isnan(labels)
        self.inverse = np.zeros((lists.n_lists, len(p)))
        of_list = np.repeat(np.arange(lists.n_lists), np.diff(lists.starts))
        self.inverse[of_list, lists.ranked] = self._arrays[2]
        self.effect = np.empty_like(self.inverse)
        self._if_relevant: Floats | None = None
        self._if_nonrelevant: Floats | None = None
        self.numerators = np.empty(lists.n_lists)
        self.restart(p)

    def restart(self, p: Floats) -> None:
        """Take new probabilities for the unjudged documents."""
        self.p = np.where(self.judged, self.labels, p)
        self.v = self.p * (1.0 - self.p)
        kernels.influence(*self._arrays, self.p, self.effect)
        kernels.expected_numerators(self.inverse, self.effect, self.p, self.numerators)
        self._quadratic: Floats | None = None

    def observe(self, document: int, label: float) -> None:
        """Give a document, numbered within the topic, its label."""
        if self._quadratic is not None:
            drop = self.v[document] - label * (1.0 - label)
            kernels.quadratic_loss(
                self.inverse, document, self.v, drop, *self.pairs, self._quadratic
            )
        kernels.observe(self.inverse, document, label, self.p, self.v, self.effect, self.numerators)
        if self._if_relevant is not None:
            kernels.reweigh_apart(self.inverse, document, label, self._if_relevant)
        if self._if_nonrelevant is not None:
            kernels.reweigh_apart(self.inverse, document, label - 1.0, self._if_nonrelevant)
        self.labels[document] = label
        self.judged[document] = True

    @property
    def if_relevant(self) -> Floats:
        """The sums of `effect` over the documents judged relevant, made on first use.

        Of every system but the first, less the first's: shape (systems - 1, documents).
        """
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

    def expected_numerators(self, p: Floats) -> Floats:
        """E S under other probabilities, (documents, draws), of shape (systems, draws)."""
        return numerator.expected(*self._arrays, p)

    @property
    def mu(self) -> float:
        """Expected number of relevant documents."""
        return float(self.p.sum())

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

    def expected(self) -> Floats:
        """Return E of the printed difference in average precision of every pair."""
        first, second = self.pairs
        return (self.numerators[first] - self.numerators[second]) / (self.mu or 1.0)

    def moments(self) -> tuple[Floats, Floats]:
        """Return E and Var of the printed difference in average precision of every pair."""
        mu = self.mu
        first, second = self.pairs
        if mu == 0.0:
            return np.zeros(len(first)), np.zeros(len(first))
        if len(self.inverse) > defaults.MANY_SYSTEMS:
            return self.expected(), self._variances_at_once()
        variance = np.empty(len(first))
        kernels.linear(self.effect, self.v, first, second, variance)
        variance += self.quadratic
        return self.expected(), variance / mu**2

    def _variances_at_once(self) -> Floats:
        """Variance of every pair's difference from covariances, of which each costs n log n."""
        pairs = np.stack(self.pairs, axis=1)
        measure = AveragePrecision(self._lists)
        covariance = measure.moments(self.p, exact=False, tolerance=_TOLERANCE).covariance
        variance, lost = difference_variances(
            np.diag(covariance)[None], covariance[pairs[:, 0], pairs[:, 1]][:, None], pairs
        )
        # nearly identical systems: from the differences themselves
        close = np.flatnonzero(lost[:, 0])
        first, second = self.pairs[0][close], self.pairs[1][close]
        direct, quadratic = np.empty(len(close)), np.empty(len(close))
        kernels.linear(self.effect, self.v, first, second, direct)
        kernels.quadratic(self.inverse, self.v, first, second, quadratic)
        variance[close, 0] = (direct + quadratic) / self.mu**2
        return variance[:, 0]

    def __repr__(self) -> str:
        systems, documents = self.inverse.shape
        return (
            f"TopicState({systems} systems, {documents} documents, {self.judged.sum()} judged, "
            f"mu {self.mu:.3g})"
        )


class JudgingState:
    """The state of every topic, and the moments of the differences in their mean.

    Parameters
    ----------
    judgments : Judgments
        What is known, over a pool with two systems or more.
    p : ndarray of float, shape (documents,) or (draws, documents)
        Probabilities of the unjudged documents; of draws the state follows the mean, and adds
        what they say of the unknown parameters to the moments.

    Attributes
    ----------
    systems : ndarray of int, shape (systems,)
        The pool's numbers of the systems that the state is of; all, unless it is :meth:`of_pair`.
    pairs : tuple of ndarray of int, each of shape (pairs,)
        The first and the second of every pair, numbered within `systems`.
    parameter_variance : ndarray, shape (pairs,)
        Variance over draws of the expected difference in the mean; 0 for one draw. It holds
        until the next :meth:`restart`.
    """

    def __init__(self, judgments: Judgments, p: NDArray[np.floating]) -> None:
        pool = judgments.pool
        draws = np.atleast_2d(p)
        mean = draws.mean(axis=0, dtype=np.float64)
        self.pool: Pool = pool
        self._topic_of = pool.topic_of
        first, second = np.triu_indices(pool.n_systems, 1)
        pairs = (first.astype(np.int64), second.astype(np.int64))
        self.systems = np.arange(pool.n_systems)
        self.pairs = pairs
        self.topics = [
            TopicState(
                pool.lists(t), mean[pool.documents(t)], judgments.labels[pool.documents(t)], pairs
            )
            for t in range(pool.n_topics)
        ]
        self._nothing_summed()
        self._spread(draws)
        self._unsure: tuple[int, JudgingState] | None = None

    def of_pair(self, systems: Sequence[int]) -> Self:
        """Return a state of two systems, under the same probabilities of all documents.

        Parameters
        ----------
        systems : sequence of two int
            Their numbers in the pool, the lower first.
        """
        pair = int(np.flatnonzero((np.stack(self.pairs, axis=1) == systems).all(axis=1))[0])
        other = copy.copy(self)
        other._unsure = None
        other.systems = np.array(systems)
        other.pairs = (np.array([0]), np.array([1]))
        other.topics = [
            TopicState(self.pool.lists(t).take(other.systems), topic.p, topic.labels, other.pairs)
            for t, topic in enumerate(self.topics)
        ]
        other._nothing_summed()
        other.parameter_variance = self.parameter_variance[[pair]]
        other._shift = self._shift[[pair]]
        return other

    def _nothing_summed(self) -> None:
        """Leave the moments of every topic to be summed on the next request."""
        shape = (len(self.topics), len(self.pairs[0]))
        self._expected, self._variance = np.zeros(shape), np.zeros(shape)
        self._stale = set(range(len(self.topics)))

    def observe(self, document: int, label: float) -> int:
        """Give a document of the pool its label in [0, 1]; return its topic's number."""
        t = int(self._topic_of[document])
        self.topics[t].observe(document - int(self.pool.topic_starts[t]), label)
        self._stale.add(t)
        if self._unsure is not None:
            self._unsure[1].observe(document, label)
        return t

    def restart(self, p: NDArray[np.floating]) -> None:
        """Take new probabilities, (documents,) or (draws, documents), of unjudged documents."""
        draws = np.atleast_2d(p)
        mean = draws.mean(axis=0, dtype=np.float64)
        for t, topic in enumerate(self.topics):
            topic.restart(mean[self.pool.documents(t)])
        self._stale.update(range(len(self.topics)))
        self._spread(draws)
        if self._unsure is not None:
            self._look_at(self._unsure[0])

    def moments(self) -> tuple[Floats, Floats]:
        """Return E and Var of the difference in mean average precision, each (pairs,).

        The mean is over every topic of the pool; a topic with nothing to be relevant adds 0. The
        variance is that of unjudged relevance, given the mean over draws, and that of the
        parameters.
        """
        expected, variance = self._given_parameters()
        return expected + self._shift, variance + self.parameter_variance

    def _given_parameters(self) -> tuple[Floats, Floats]:
        for t in self._stale:
            self._expected[t], self._variance[t] = self.topics[t].moments()
        self._stale.clear()
        n = max(len(self.topics), 1)
        return self._expected.sum(axis=0) / n, self._variance.sum(axis=0) / n**2

    def _spread(self, draws: NDArray[np.floating]) -> None:
        """Take from draws how far the expected differences are unknown, and their mean."""
        first, second = self.pairs
        self.parameter_variance = np.zeros(len(first))
        # products of probabilities are not those of mean probabilities
        self._shift = np.zeros(len(first))
        if len(draws) == 1:
            return
        expected = np.zeros((len(draws), len(first)))
        for t, topic in enumerate(self.topics):
            inside = draws[:, self.pool.documents(t)].astype(np.float64)
            p = np.where(topic.judged, topic.labels, inside)
            means = topic.expected_numerators(np.ascontiguousarray(p.T))
            mu = p.sum(axis=1)
            means = np.divide(means, mu, out=np.zeros_like(means), where=mu > 0.0)
            expected += (means[first] - means[second]).T / len(self.topics)
        self.parameter_variance = expected.var(axis=0, ddof=1)
        at_mean = sum(topic.expected() for topic in self.topics)
        self._shift = expected.mean(axis=0) - at_mean / len(self.topics)

    def confidence(self) -> Floats:
        """Confidence in the sign of every pair's difference, by the normal; shape (pairs,).

        In [0.5, 1]: max(P(< 0), P(> 0)) + P(= 0) / 2. Two systems of which nothing unknown can
        tell them apart have 0.5, and so no sign to be confident in.
        """
        expected, variance = self.moments()
        sd = np.sqrt(variance)
        certain = sd == 0.0
        z = np.abs(expected) / np.where(certain, 1.0, sd)
        return np.where(certain, np.where(expected == 0.0, 0.5, 1.0), ndtr(z))

    def open_pairs(self, confidence: float) -> Iterator[int]:
        """Give the pairs that have less than a confidence.

        With many systems the pair that was least sure when all were last looked at comes first,
        and the others are looked at only if more is asked for.
        """
        if self._unsure is not None:
            pair, alone = self._unsure
            if alone.confidence()[0] < confidence:
                yield pair
        now = self.confidence()
        still = np.flatnonzero(now < confidence)
        if len(self.systems) > defaults.MANY_SYSTEMS and len(still):
            self._look_at(int(np.argmin(now)))
        yield from still.tolist()

    def _look_at(self, pair: int) -> None:
        """Keep a state of one pair alone, which costs little to ask."""
        systems = [int(self.pairs[0][pair]), int(self.pairs[1][pair])]
        self._unsure = (pair, self.of_pair(systems))

    def __repr__(self) -> str:
        judged = sum(int(topic.judged.sum()) for topic in self.topics)
        return f"JudgingState({self.pool!r}, {judged} judged)"
