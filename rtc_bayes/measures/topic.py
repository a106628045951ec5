"""What the moments of a measure on one topic look like, whatever the measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.measures.overlaps import Overlaps

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TopicMoments:
    """Moments of a measure on one topic, for all its lists at once.

    Attributes
    ----------
    expected : ndarray, shape (lists,)
    covariance : ndarray, shape (lists, lists)
    gradient : ndarray, shape (lists, documents)
        Expected score if the document is relevant, less that if it is not.
    pair_variance : callable
        Variance of the difference of two lists, given by number, without the cancellation that
        ``covariance`` brings when they are nearly the same.
    """

    expected: Floats
    covariance: Floats
    gradient: Floats
    pair_variance: Callable[[int, int], float]

    def __repr__(self) -> str:
        lists, documents = self.gradient.shape
        return f"TopicMoments({lists} lists, {documents} documents)"


@dataclass(frozen=True)
class DrawMoments:
    """Moments on one topic for many draws of the probabilities, and for pairs of its lists.

    Attributes
    ----------
    expected, variance : ndarray, shape (draws, lists)
    difference_variance : ndarray, shape (pairs, draws)
    third, fourth : ndarray, shape (pairs, draws)
        Cumulants of the difference, to first order in the relevance of each document.
    """

    expected: Floats
    variance: Floats
    difference_variance: Floats
    third: Floats
    fourth: Floats

    @classmethod
    def zeros(cls, draws: int, lists: int, pairs: int) -> DrawMoments:
        """Moments of nothing, to be filled."""
        of_lists, of_pairs = (draws, lists), (pairs, draws)
        return cls(*map(np.zeros, (of_lists, of_lists, of_pairs, of_pairs, of_pairs)))

    def __repr__(self) -> str:
        (draws, lists), pairs = self.expected.shape, len(self.third)
        return f"DrawMoments({draws} draws, {lists} lists, {pairs} pairs)"


class TopicMeasure(Protocol):
    """A measure applied to the lists of one topic."""

    def score(self, outcomes: NDArray[np.int8]) -> Floats:
        """Score every list under complete judgments.

        Parameters
        ----------
        outcomes : ndarray of int8, shape (documents, outcomes)
            1 relevant, 0 not.

        Returns
        -------
        ndarray, shape (lists, outcomes)
        """

    def moments(self, p: Floats, *, exact: bool, tolerance: float) -> TopicMoments:
        """Moments under independent relevance.

        Parameters
        ----------
        p : ndarray, shape (documents,)
            Probabilities of relevance.
        exact : bool
            The measure's own moments, or those of its numerator over the expected denominator.
        tolerance : float
            Bound on the error of the expected score.

        Returns
        -------
        TopicMoments
        """

    def expected(self, p: Floats) -> Floats:
        """Return plug-in expected scores under independent relevance, of every draw.

        Parameters
        ----------
        p : ndarray, shape (documents, draws)
            Probabilities of relevance.

        Returns
        -------
        ndarray, shape (lists, draws)
            Expected numerator over the denominator at the expected number of relevant documents.
        """

    def over_draws(
        self, p: Floats, overlaps: Overlaps, *, exact: bool, tolerance: float
    ) -> DrawMoments:
        """Moments under independent relevance, for every draw of the probabilities.

        Parameters
        ----------
        p : ndarray, shape (draws, documents)
            Probabilities of relevance.
        overlaps : Overlaps
            Of the pairs of lists whose differences are wanted.
        exact, tolerance
            As in :meth:`moments`.

        Returns
        -------
        DrawMoments
        """


def settled(measure: TopicMeasure, p: Floats) -> TopicMoments:
    """Moments where every document's relevance is certain: the score itself, no variance.

    Parameters
    ----------
    measure : TopicMeasure
    p : ndarray, shape (documents,)
        Zeros and ones.

    Returns
    -------
    TopicMoments
    """
    scores = measure.score(p.astype(np.int8)[:, None])[:, 0]
    lists = len(scores)
    return TopicMoments(
        expected=scores,
        covariance=np.zeros((lists, lists)),
        gradient=np.zeros((lists, len(p))),
        pair_variance=lambda _a, _b: 0.0,
    )
