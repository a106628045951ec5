"""What a judging session knows, kept up to date judgment by judgment.

Of every topic it has the moments of the differences between systems (:mod:`topic_state`); a
judgment costs what its topic costs, and nothing of any other topic.

Where p comes as draws of a posterior, the state is that of their mean, and by the law of total
variance the moments of the difference in the mean take the variance over draws of its expected
value besides.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from rtc_bayes import defaults
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.lists import Lists
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.judging.exact_state import (
    CutAveragePrecisionState,
    RatioState,
    ReciprocalRankState,
)
from rtc_bayes.judging.graded_state import GradedState, gains_of
from rtc_bayes.judging.topic_state import (
    AveragePrecisionState,
    Integers,
    LinearState,
    TopicGains,
    TopicState,
)
from rtc_bayes.measures.analytic import on_topic
from rtc_bayes.measures.average_precision import AveragePrecision
from rtc_bayes.measures.linear import Linear, LinearRatio
from rtc_bayes.measures.names import Measure, MeasureLike, parse_measure
from rtc_bayes.measures.reciprocal_rank import ReciprocalRank

type Floats = NDArray[np.float64]

# a difference, or its standard deviation, that is rounding alone
_TIE = 1e-12


class JudgingState:
    """The state of every topic, and the moments of the differences in their mean.

    Parameters
    ----------
    judgments : Judgments
        What is known, over a pool with two systems or more.
    p : ndarray of float, shape (documents,) or (draws, documents)
        Probabilities of the unjudged documents; of draws the state follows the mean, and adds
        what they say of the unknown parameters to the moments.
    measure : str or measure of ir_measures
        One with moments: what systems are told apart by.

    Attributes
    ----------
    systems : ndarray of int, shape (systems,)
        The pool's numbers of the systems that the state is of; all, unless it is :meth:`of_pair`.
    pairs : tuple of ndarray of int, each of shape (pairs,)
        The first and the second of every pair, numbered within `systems`.
    parameter_variance : ndarray, shape (pairs,)
        Variance over draws of the expected difference in the mean; 0 for one draw. It holds
        until the next :meth:`restart` or :meth:`learn_grades`.
    """

    def __init__(
        self,
        judgments: Judgments,
        p: NDArray[np.floating],
        measure: MeasureLike = defaults.MEASURE,
    ) -> None:
        pool = judgments.pool
        draws = np.atleast_2d(p)
        mean = draws.mean(axis=0, dtype=np.float64)
        self.pool: Pool = pool
        self._measure = parse_measure(measure)
        self._topic_of = pool.topic_of
        self.systems = np.arange(pool.n_systems)
        self.pairs = all_pairs(pool.n_systems)
        gains = gains_of(judgments, self._measure) or repeat(None)
        self.topics = [
            _topic_state(
                self._measure,
                pool.lists(t),
                mean[pool.documents(t)],
                judgments.labels[pool.documents(t)],
                self.pairs,
                of_topic,
            )
            for t, of_topic in zip(range(pool.n_topics), gains, strict=False)
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
            _topic_state(
                self._measure,
                self.pool.lists(t).take(other.systems),
                topic.p,
                topic.labels,
                other.pairs,
                topic.gains,
            )
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

    def observe(self, document: int, label: float, grade: float = np.nan) -> int:
        """Give a document of the pool its label in [0, 1] and its grade; return its topic's number.

        A grade counts where the measure has gains by grade and :attr:`highest_grade` is not below
        it: then :meth:`learn_grades`.
        """
        t = int(self._topic_of[document])
        self.topics[t].observe(document - int(self.pool.topic_starts[t]), label, grade)
        self._stale.add(t)
        if self._unsure is not None:
            self._unsure[1].observe(document, label, grade)
        return t

    @property
    def by_grade(self) -> bool:
        """Whether the measure has gains by grade."""
        return self._measure.graded

    @property
    def highest_grade(self) -> int:
        """The highest grade that counts: the highest judged so far, the level, or 1."""
        gains = self.topics[0].gains if self.topics else None
        return 1 if gains is None else len(gains.gains) - 1

    def learn_grades(self, judgments: Judgments, p: NDArray[np.floating] | None = None) -> bool:
        """Learn anew, from all judgments, what grades unjudged documents have; say if they count.

        They do not as long as the relevance level and all grades are at most 1, or where the
        measure has no gains by grade. New probabilities `p` are taken as by :meth:`restart`.
        """
        gains = gains_of(judgments, self._measure)
        if gains is not None:
            graded: list[TopicState] = []
            for topic, of_topic in zip(self.topics, gains, strict=True):
                assert isinstance(topic, LinearState | RatioState)
                graded.append(
                    GradedState(topic.measure, topic.p, topic.labels, topic.pairs, of_topic)
                )
            self.topics = graded
            p = self._draws if p is None else p
        if p is not None:
            self.restart(p)
        return gains is not None

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
        """Return E and Var of the difference in the mean score, each (pairs,).

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
        if self.by_grade:
            self._draws = draws  # for grades that are learnt before the next
        first, second = self.pairs
        self.parameter_variance = np.zeros(len(first))
        # products of probabilities are not those of mean probabilities
        self._shift = np.zeros(len(first))
        if len(draws) == 1:
            return
        # of every draw, and last of their mean
        expected = np.zeros((len(draws) + 1, len(first)))
        for t, topic in enumerate(self.topics):
            inside = draws[:, self.pool.documents(t)].astype(np.float64)
            p = np.vstack([np.where(topic.judged, topic.labels, inside), topic.p])
            means = topic.expected_scores(np.ascontiguousarray(p.T))
            expected += (means[first] - means[second]).T / len(self.topics)
        self.parameter_variance = expected[:-1].var(axis=0, ddof=1)
        self._shift = expected[:-1].mean(axis=0) - expected[-1]

    def confidence(self) -> Floats:
        """Confidence in the sign of every pair's difference, by the normal; shape (pairs,).

        In [0.5, 1]: max(P(< 0), P(> 0)) + P(= 0) / 2. Two systems of which nothing unknown can
        tell them apart have 0.5, and so no sign to be confident in.
        """
        expected, variance = self.moments()
        sd = np.sqrt(variance)
        certain = sd < _TIE
        z = np.abs(expected) / np.where(certain, 1.0, sd)
        return np.where(certain, np.where(np.abs(expected) < _TIE, 0.5, 1.0), ndtr(z))

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


def _topic_state(
    measure: Measure,
    lists: Lists,
    p: Floats,
    labels: Floats,
    pairs: tuple[Integers, Integers],
    gains: TopicGains | None,
) -> TopicState:
    """Make the state of a topic by a measure with moments; other parameters are TopicState's."""
    match on_topic(measure, lists, len(p)):
        case AveragePrecision() as of_lists if measure.cutoff:
            return CutAveragePrecisionState(of_lists, p, labels, pairs)
        case AveragePrecision() as of_lists:
            return AveragePrecisionState(of_lists, p, labels, pairs)
        case ReciprocalRank() as of_lists:
            return ReciprocalRankState(of_lists, p, labels, pairs)
        case (Linear() | LinearRatio()) as of_lists if gains is not None:
            return GradedState(of_lists, p, labels, pairs, gains)
        case LinearRatio() as of_lists:
            return RatioState(of_lists, p, labels, pairs)
        case of_lists:
            return LinearState(of_lists, p, labels, pairs)
