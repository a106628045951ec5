"""What a judging session knows of one topic by a measure whose exact moments it takes.

By R@k, AP@k and nDCG, which divide by a function of how many documents are relevant, and by the
reciprocal rank. Moments and their gradient are computed anew after a judgment, when asked for.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.judging import bounds
from rtc_bayes.judging.topic_state import TopicState, inverse_ranks, of_pairs
from rtc_bayes.measures.average_precision import AveragePrecision
from rtc_bayes.measures.linear import LinearRatio
from rtc_bayes.measures.reciprocal_rank import ReciprocalRank
from rtc_bayes.measures.topic import TopicMoments

type Floats = NDArray[np.float64]

# of expected scores
_TOLERANCE = 1e-8

# of an open document that a model is sure of
_NEVER = 1e-15
# a variance, or how far a score moves, that is rounding alone
_ROUNDING = 1e-13


class ExactState(TopicState):
    """The state of one topic by exact moments.

    Parameters
    ----------
    measure : TopicMeasure
    p, labels, pairs
        As of :class:`TopicState`.
    """

    def restart(self, p: Floats) -> None:
        """Take new probabilities for the unjudged documents."""
        # how a score moves with a document shows only where that is open
        super().restart(np.clip(p, _NEVER, 1.0 - _NEVER))
        self._forget()

    def observe(self, document: int, label: float, grade: float = np.nan) -> None:
        """Give a document, numbered within the topic, its label."""
        super().observe(document, label, grade)
        self._forget()

    def _forget(self) -> None:
        """Leave what was computed to be computed anew."""
        self._now: TopicMoments | None = None

    @property
    def _moments(self) -> TopicMoments:
        """Moments now, made on first use after a judgment."""
        if self._now is None:
            made = self.measure.moments(self.p, exact=True, tolerance=_TOLERANCE)
            made.gradient[np.abs(made.gradient) < _ROUNDING] = 0.0
            self._now = made
        return self._now

    @property
    def effect(self) -> Floats:
        """L: how each expected score changes if a document turns out relevant."""
        return self._moments.gradient

    @property
    def numerators(self) -> Floats:
        """Expected score of each system, shape (systems,)."""
        return self._moments.expected

    def moments(self) -> tuple[Floats, Floats]:
        """Return E and Var of the difference of every pair."""
        pairs = np.stack(self.pairs, axis=1)
        variance, lost = of_pairs(self._moments.covariance, pairs)
        for pair in np.flatnonzero(lost).tolist():
            variance[pair] = self._moments.pair_variance(*pairs[pair].tolist())
        return self.expected(), np.where(variance < _ROUNDING, 0.0, variance)


class RatioState(ExactState):
    """The state of one topic by a sum of gains over a function of R: R@k or nDCG.

    Parameters
    ----------
    measure : LinearRatio
    p, labels, pairs
        As of :class:`TopicState`.
    """

    measure: LinearRatio

    def bounds(self, pair: int) -> tuple[float, float]:
        """Bound the difference of a pair, by number, over all that open documents may be."""
        settled = self.settled()
        certain, still_open = int(np.nansum(settled)), int(np.isnan(settled).sum())
        ends = self.measure.denominators[[certain, certain + still_open]]
        first, second = self.of_pair(self.measure.gains, pair)
        return bounds.over(*bounds.of_gains(first - second, settled), *ends.tolist())


class CutAveragePrecisionState(ExactState):
    """The state of one topic by AP@k.

    Parameters
    ----------
    measure : AveragePrecision
        Of lists down to rank k.
    p, labels, pairs
        As of :class:`TopicState`.
    """

    measure: AveragePrecision

    def bounds(self, pair: int) -> tuple[float, float]:
        """Bound the difference of a pair, by number, over all that open documents may be."""
        return bounds.of_precision(*self.of_pair(self._inverse, pair), self.settled())

    @cached_property
    def _inverse(self) -> Floats:
        """One over the rank, (systems, documents), 0 where not retrieved."""
        return inverse_ranks(self.measure.lists, len(self.p))


class ReciprocalRankState(ExactState):
    """The state of one topic by reciprocal rank, whose means cost less than its variances.

    Parameters
    ----------
    measure : ReciprocalRank
    p, labels, pairs
        As of :class:`TopicState`.
    """

    measure: ReciprocalRank

    def _forget(self) -> None:
        super()._forget()
        self._means: tuple[Floats, Floats] | None = None

    @property
    def effect(self) -> Floats:
        """L: how each expected score changes if a document turns out relevant."""
        return self._expected()[1]

    @property
    def numerators(self) -> Floats:
        """Expected score of each system, shape (systems,)."""
        return self._expected()[0]

    def _expected(self) -> tuple[Floats, Floats]:
        """Return expected scores and their gradient, made on first use after a judgment."""
        if self._means is None:
            self._means = self.measure.means(self.p)
        return self._means

    def bounds(self, pair: int) -> tuple[float, float]:
        """Bound the difference of a pair, by number, over all that open documents may be.

        A score is least where nothing open is relevant, and most where all is.
        """
        settled = self.settled()
        outcomes = np.stack([np.nan_to_num(settled, nan=each) for each in (0.0, 1.0)], axis=1)
        least, most = self.measure.score(outcomes.astype(np.int8)).T
        (least_a, least_b), (most_a, most_b) = (self.of_pair(x, pair) for x in (least, most))
        return float(least_a - most_b), float(most_a - least_b)
