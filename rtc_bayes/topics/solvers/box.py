"""Weights from 0 to 1 within a budget, and a gain for some topics (equations 5.2 and 7.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rtc_bayes.topics.objective import Floats, Objective
from rtc_bayes.topics.solvers.quadratic import minimise, quadratic
from rtc_bayes.topics.solvers.solution import Solution

# A weight below this is 0 but for the precision of the solver.
_NOTHING = 1e-6


def box(
    objectives: Sequence[Objective],
    budget: float,
    size: int | None = None,
    *,
    gain: Floats | None = None,
    gain_weight: float = 0.0,
) -> Solution:
    """Minimise ``b'(S + U)b / 2 - e'Sb - lambda r'b`` for weights from 0 to 1 within a budget.

    Parameters
    ----------
    objectives : sequence of Objective
        One for each measure, each divided by its e'Se.
    budget : float
        The weights sum to this at most.
    size : int, optional
        Keep so many topics, those of the largest weights. Default: all whose weight is above 0.
    gain : ndarray, shape (topics,), optional
        r, at least 0: what judging a topic is worth beside, as the relevant documents that it
        would find. It is scaled to sum to 1.
    gain_weight : float, at least 0
        lambda, in units of e'Se.

    Examples
    --------
    >>> x = np.array([[0.0, 0.1, 0.2], [0.5, 0.1, 0.4], [1.0, 0.1, 0.3]])
    >>> objective = Objective(x - x.mean(axis=0), np.full(3, 0.5), np.zeros(3))
    >>> box([objective], budget=1).weights.round(3).tolist()
    [1.0, 0.0, 0.0]
    """
    curvature, slope = quadratic(objectives)
    if gain is not None and gain.any():
        slope = slope + gain_weight * gain / gain.sum()
    weights = minimise(curvature, slope, budget)
    weights[weights < _NOTHING] = 0.0
    # a topic on which all systems score alike, and that gains nothing, would have any weight
    weights[(curvature.diagonal() == 0.0) & (slope == 0.0)] = 0.0
    # weights that differ by less than the solver's precision are equal: the first id goes first
    order = np.argsort(-np.round(weights, 5), kind="stable")
    order = order[weights[order] > 0.0]
    if size is not None:
        order = order[:size]
        weights[np.setdiff1d(np.arange(len(weights)), order)] = 0.0
    return Solution(tuple(order.tolist()), weights, f"weights from 0 to 1, budget {budget:g}")
