"""Topics one at a time, each the one that raises the objective most (section 4.4.1; 6.6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rtc_bayes.topics.objective import Floats, Objective, gamma_of
from rtc_bayes.topics.solvers.solution import Solution, first_best


class Chosen:
    """The topics chosen so far, and what each other topic would add: O(topics) a step.

    Parameters
    ----------
    objective : Objective
    """

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self._scale = objective.variance**0.5 or 1.0  # 0: systems of a subset are alike
        self._with_chosen = np.zeros_like(objective.noise)
        self._top = self._size = self._most = 0.0

    def rho_with(self) -> Floats:
        """Return rho of the chosen topics and one more, for every topic, shape (topics,)."""
        top = self._top + self.objective.with_all
        alone = self.objective.alone
        size = self._size + 2.0 * self._with_chosen + alone**2
        return gamma_of(top, size, self._most + alone) / self._scale

    def add(self, topic: int) -> None:
        """Choose a topic."""
        self._top += self.objective.with_all[topic]
        self._size += 2.0 * self._with_chosen[topic] + self.objective.alone[topic] ** 2
        self._most += self.objective.alone[topic]
        self._with_chosen += self.objective.column(topic)


def greedy(objectives: Sequence[Objective], size: int) -> Solution:
    """Choose topics one at a time by gamma, for several measures by their mean rho.

    Parameters
    ----------
    objectives : sequence of Objective
        One for each measure, of the same topics in the order of their ids.
    size : int

    Examples
    --------
    >>> x = np.array([[0.0, 0.1, 0.2], [0.5, 0.1, 0.4], [1.0, 0.1, 0.3]])
    >>> objective = Objective(x - x.mean(axis=0), np.full(3, 0.5), np.zeros(3))
    >>> greedy([objective], 3).order  # topic 1 tells no systems apart
    (0, 2, 1)
    """
    for objective in objectives:
        objective.covariance  # noqa: B018  # computed once: each step then reads a row of it
    states = [Chosen(objective) for objective in objectives]
    left = np.ones(len(objectives[0].noise), dtype=bool)
    order: list[int] = []
    while len(order) < size:
        rho = sum((state.rho_with() for state in states), np.zeros(len(left))) / len(states)
        topic = first_best(np.where(left, rho, -np.inf))
        for state in states:
            state.add(topic)
        left[topic] = False
        order.append(topic)
    return Solution.equal(order, len(left), "one at a time, by gamma")
