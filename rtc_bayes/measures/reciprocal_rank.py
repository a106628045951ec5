"""Reciprocal rank on one topic, in closed form.

The first relevant documents of two lists are i at rank m and j at rank l if these are relevant
and nothing before them is: a product over the union of two tops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.collection.lists import Lists
from rtc_bayes.measures.pairs import DrawByDraw
from rtc_bayes.measures.topic import TopicMoments

Floats = NDArray[np.float64]
Documents = NDArray[np.int32]
Starts = NDArray[np.int64]


@dataclass(frozen=True)
class ReciprocalRank(DrawByDraw):
    """RR of the lists of one topic (RR@k if they are cut). Plug-in moments are the exact ones.

    Parameters
    ----------
    lists : Lists
    """

    lists: Lists

    def score(self, outcomes: NDArray[np.int8]) -> Floats:
        """Score every list under complete judgments (see ``TopicMeasure``)."""
        return _first_relevant(*self.lists.arrays, outcomes)

    def expected(self, p: Floats) -> Floats:
        """Return expected scores of every draw (see ``TopicMeasure``)."""
        return np.stack([self.means(draw)[0] for draw in p.T.copy()], axis=1)

    def means(self, p: Floats) -> tuple[Floats, Floats]:
        """Return expected scores, (lists,), and their gradient, (lists, documents)."""
        expected, gradient = _means(*self.lists.arrays, p)
        return expected, gradient

    def moments(self, p: Floats, *, exact: bool, tolerance: float) -> TopicMoments:
        """Moments under independent relevance (see ``TopicMeasure``); closed forms."""
        del exact, tolerance
        arrays = self.lists.arrays
        expected, gradient = self.means(p)
        product, square = _joint(*arrays, p)
        covariance = product - np.outer(expected, expected)
        np.fill_diagonal(covariance, np.maximum(covariance.diagonal(), 0.0))

        def pair_variance(a: int, b: int) -> float:
            return max(float(square[a, b] - (expected[a] - expected[b]) ** 2), 0.0)

        return TopicMoments(expected, covariance, gradient, pair_variance)


@njit(cache=True, nogil=True)
def _means(ranked: Documents, starts: Starts, inverse: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Return the expected score and its gradient: the chance to get there, times what it adds."""
    lists = starts.shape[0] - 1
    expected = np.zeros(lists)
    gradient = np.zeros((lists, p.shape[0]))
    for s in range(lists):
        rest = 0.0
        for m in range(starts[s + 1] - 1, starts[s] - 1, -1):
            gradient[s, ranked[m]] = inverse[m] - rest
            rest += p[ranked[m]] * (inverse[m] - rest)
        expected[s] = rest
        none = 1.0
        for m in range(starts[s], starts[s + 1]):
            gradient[s, ranked[m]] *= none
            none *= 1.0 - p[ranked[m]]
    return expected, gradient


@njit(cache=True, nogil=True)
def _joint(ranked: Documents, starts: Starts, inverse: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Return the expected product and squared difference of the scores, for all pairs."""
    lists = starts.shape[0] - 1
    documents = p.shape[0]
    # places in the lists, from 1
    place = np.full((lists, documents + 1), documents + 1, dtype=np.int64)
    for s in range(lists):
        for m in range(starts[s], starts[s + 1]):
            place[s, ranked[m]] = m - starts[s] + 1
    product = np.zeros((lists, lists))
    square = np.zeros((lists, lists))
    for a in range(lists):
        for b in range(a, lists):
            both, difference = _joint_pair(
                ranked[starts[a] : starts[a + 1]],
                ranked[starts[b] : starts[b + 1]],
                inverse[starts[a] : starts[a + 1]],
                inverse[starts[b] : starts[b + 1]],
                place[a],
                place[b],
                p,
            )
            product[a, b] = product[b, a] = both
            square[a, b] = square[b, a] = difference
    return product, square


@njit(cache=True, nogil=True)
def _joint_pair(
    first: Documents,
    second: Documents,
    inverse_first: Floats,
    inverse_second: Floats,
    place_first: NDArray[np.int64],
    place_second: NDArray[np.int64],
    p: Floats,
) -> tuple[float, float]:
    """Sum over the places m and n of the first relevant documents, all terms of one sign."""
    both = 0.0
    difference = 0.0
    top = 1.0
    # one place more than a list has stands for nothing relevant in it
    for m in range(1, first.shape[0] + 2):
        listed = m <= first.shape[0]
        i = first[m - 1] if listed else -1
        score_i = inverse_first[m - 1] if listed else 0.0
        chance_i = p[i] if listed else 1.0
        # no relevant document in the first m - 1 of one list and the first n - 1 of the other
        none = top
        for n in range(1, second.shape[0] + 2):
            if none == 0.0 or (listed and place_second[i] < n):
                break
            if n > second.shape[0]:
                difference += none * chance_i * score_i**2
                break
            j = second[n - 1]
            if place_first[j] < m:
                continue
            chance = none * chance_i * (1.0 if i == j else p[j])
            score_j = inverse_second[n - 1]
            both += chance * score_i * score_j
            difference += chance * (score_i - score_j) ** 2
            none *= 1.0 - p[j]
        if listed:
            top *= 1.0 - p[i]
    return both, difference


@njit(cache=True, nogil=True)
def _first_relevant(
    ranked: Documents, starts: Starts, inverse: Floats, outcomes: NDArray[np.int8]
) -> Floats:
    lists = starts.shape[0] - 1
    count = outcomes.shape[1]
    result = np.zeros((lists, count))
    for s in range(lists):
        for o in range(count):
            for m in range(starts[s], starts[s + 1]):
                if outcomes[ranked[m], o]:
                    result[s, o] = inverse[m]
                    break
    return result
