"""The whole path of solutions as the sum of absolute weights grows (equation 4.11)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rtc_bayes.errors import InputError
from rtc_bayes.topics.objective import Floats, Objective
from rtc_bayes.topics.solvers.quadratic import quadratic
from rtc_bayes.topics.solvers.solution import Solution


class Path(NamedTuple):
    """Where weights stand at each knot, between which they change linearly.

    Attributes
    ----------
    weights : ndarray, shape (knots, topics)
        The first row is 0. A weight may be below 0.
    """

    weights: Floats

    @property
    def sizes(self) -> Floats:
        """Number of topics whose weight is not 0, shape (knots,)."""
        return np.asarray((self.weights != 0.0).sum(axis=1))

    @property
    def norms(self) -> Floats:
        """Sum of absolute weights, shape (knots,); it never falls."""
        return np.asarray(np.abs(self.weights).sum(axis=1))

    def at(self, norm: float) -> Floats:
        """Return the weights whose absolute values sum to `norm`, or the path's end."""
        norms = self.norms
        return np.array([np.interp(norm, norms, column) for column in self.weights.T])


def lasso_path(objectives: Sequence[Objective]) -> Path:
    """Minimise ``b'(S + U)b / 2 - e'Sb`` for every bound on the sum of ``|b|``, by LARS.

    The path ends at b = e, all topics, only if there are more systems than topics: S then has full
    rank.

    Examples
    --------
    >>> x = np.array([[0.0, 0.1, 0.2], [0.5, 0.1, 0.4], [1.0, 0.1, 0.3]])
    >>> objective = Objective(x - x.mean(axis=0), np.full(3, 0.5), np.zeros(3))
    >>> lasso_path([objective]).weights.round(3).tolist()
    [[0.0, 0.0, 0.0], [1.067, 0.0, 0.0], [1.0, 0.0, 1.0]]
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lars_path_gram

    curvature, slope = quadratic(objectives)
    varies = np.flatnonzero(np.diag(curvature) > 0.0)
    with warnings.catch_warnings():
        # it drops topics that others determine, and stops where steps become tiny: both are meant
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        _, _, path = lars_path_gram(
            slope[varies], curvature[np.ix_(varies, varies)], n_samples=1, method="lasso"
        )
    weights = np.zeros((path.shape[1], len(slope)))
    weights[:, varies] = path.T
    return Path(weights)


def lasso(objectives: Sequence[Objective], size: int | None, budget: float | None) -> Solution:
    """Take the last knot of a size from the path, or the point where ``|b|`` sums to a budget.

    The path drops topics, so that one size may come several times: the last has most weight.
    Topics stand in the order in which the path takes them up.

    Parameters
    ----------
    objectives : sequence of Objective
    size : int, optional
    budget : float, optional
        If both are None, the end of the path.

    Raises
    ------
    InputError
        The path ends before so many topics.
    """
    path = lasso_path(objectives)
    if budget is not None:
        weights, how = path.at(budget), f"the Lasso path where |b| sums to {budget:g}"
    elif size is None:
        weights, how = path.weights[-1], "the end of the Lasso path"
    else:
        knots = np.flatnonzero(path.sizes == size)
        if not len(knots):
            raise InputError(
                f"the Lasso path has no point of {size} topics, at most {path.sizes.max()}: it "
                "takes fewer topics than there are systems",
                remedy="ask for fewer, or use solver greedy or box",
            )
        weights, how = path.weights[knots[-1]], "the last knot of this size on the Lasso path"
    entered = (path.weights != 0.0).argmax(axis=0)
    chosen = np.flatnonzero(weights)
    order = chosen[np.argsort(entered[chosen], kind="stable")]
    return Solution(tuple(order.tolist()), weights, how)
