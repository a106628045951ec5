"""Kendall's tau between all topics and many sets of topics, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.topics.objective import EQUAL, Floats, Objective


class Ranking:
    """Systems in the order of their mean over all topics, to compare other orders with.

    Parameters
    ----------
    objective : Objective
        Pairs of systems count by the product of the systems' weights.
    """

    def __init__(self, objective: Objective) -> None:
        total = objective.centred.sum(axis=1)
        best_first = np.argsort(-total, kind="stable")
        total = total[best_first]
        #: Scores, shape (topics, systems), systems in that order.
        self.scores = np.ascontiguousarray(objective.centred[best_first].T)
        self._weight = objective.factor[best_first]
        self._tie = EQUAL * np.abs(total).max()
        # the first system that is worse than each
        self._worse = np.searchsorted(-total, -total + self._tie, side="right")
        self._pairs = (self._weight.sum() ** 2 - self._weight @ self._weight) / 2.0

    def tau(self, sums: Floats) -> Floats:
        """Return tau-a of each row of scores with the mean over all topics.

        Parameters
        ----------
        sums : ndarray, shape (sets, systems)
            Sums over the topics of a set of `scores`.

        Returns
        -------
        ndarray, shape (sets,)
            Pairs in the same order less pairs swapped, over all pairs; a tie is neither.
        """
        excess = _excess(np.ascontiguousarray(sums), self._worse, self._weight, self._tie)
        return np.asarray(excess / self._pairs)


@njit(cache=True)
def _excess(sums: Floats, worse: NDArray[np.int64], weight: Floats, tie: float) -> Floats:
    """Return the weight of pairs in the order of the systems less that of swapped pairs."""
    sets, systems = sums.shape
    excess = np.zeros(sets)
    for row in range(sets):
        values = sums[row]
        for better in range(systems):
            value, inner = values[better], 0.0
            for other in range(worse[better], systems):
                apart = value - values[other]
                inner += weight[other] * ((apart > tie) - (apart < -tie))
            excess[row] += weight[better] * inner
    return excess
