"""Topics one at a time, each the one that raises Kendall's tau most (section 4.4.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rtc_bayes.topics.objective import Objective
from rtc_bayes.topics.solvers.concordance import Ranking
from rtc_bayes.topics.solvers.solution import Solution, first_best


def greedy_tau(objectives: Sequence[Objective], size: int) -> Solution:
    """Choose topics one at a time by tau-a, for several measures by their mean.

    Parameters
    ----------
    objectives : sequence of Objective
        One for each measure.
    size : int

    Examples
    --------
    >>> x = np.array([[0.9, 0.1, 0.2], [0.5, 0.1, 0.4], [0.0, 0.1, 0.3]])
    >>> objective = Objective(x - x.mean(axis=0), np.full(3, 0.5), np.zeros(3))
    >>> greedy_tau([objective], 2).order
    (0, 1)
    """
    rankings = [Ranking(objective) for objective in objectives]
    sums = [np.zeros(ranking.scores.shape[1]) for ranking in rankings]
    left = np.ones(len(objectives[0].noise), dtype=bool)
    order: list[int] = []
    while len(order) < size:
        tau = np.full(len(left), -np.inf)
        tau[left] = np.mean(
            [one.tau(done + one.scores[left]) for one, done in zip(rankings, sums, strict=True)],
            axis=0,
        )
        topic = first_best(tau)
        for ranking, done in zip(rankings, sums, strict=True):
            done += ranking.scores[topic]
        left[topic] = False
        order.append(topic)
    return Solution.equal(order, len(left), "one at a time, by tau")
