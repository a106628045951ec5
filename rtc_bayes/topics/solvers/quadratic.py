"""The quadratic form of the objective: what Lasso and box minimise (equations 4.11 and 7.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rtc_bayes.errors import UnfinishedError
from rtc_bayes.topics.objective import Floats, Objective


def quadratic(objectives: Sequence[Objective]) -> tuple[Floats, Floats]:
    """Return (S + U) / e'Se and S e / e'Se, for several measures their means.

    Without noise, ``b'(S + U)b / 2 - e'Sb`` is half the variance over systems of what the weighted
    topics miss of the sum over all, but for a constant. Divided by e'Se it has no unit.

    Returns
    -------
    curvature : ndarray, shape (topics, topics)
    slope : ndarray, shape (topics,)

    Examples
    --------
    >>> objective = Objective(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.ones(2), np.zeros(2))
    >>> quadratic([objective])[1].tolist()
    [1.0, 0.0]
    """
    parts = [(one.covariance + np.diag(one.noise)) / one.variance for one in objectives]
    slopes = [one.with_all / one.variance for one in objectives]
    return np.mean(parts, axis=0), np.mean(slopes, axis=0)


def minimise(
    curvature: Floats, slope: Floats, budget: float, *, most: float | None = 1.0
) -> Floats:
    """Minimise ``b'Pb / 2 - q'b`` for b from 0 to `most` that sum to `budget` at most.

    Parameters
    ----------
    curvature : ndarray, shape (topics, topics)
        P, positive semidefinite.
    slope : ndarray, shape (topics,)
        q.
    budget : float, above 0
    most : float, optional
        None: no upper bound of a weight but the budget.

    Returns
    -------
    ndarray, shape (topics,)
        b, by the interior-point method of clarabel; what it leaves beyond a bound is cut off.

    Raises
    ------
    UnfinishedError
        The solver found no optimum.

    Examples
    --------
    >>> minimise(np.eye(2), np.array([1.0, 0.5]), budget=0.5).round(3).tolist()
    [0.5, 0.0]
    """
    import clarabel
    from scipy import sparse

    n = len(slope)
    rows = [-sparse.eye_array(n), sparse.csc_array(np.ones((1, n)))]
    bounds = [np.zeros(n), np.array([budget])]
    if most is not None:
        rows.append(sparse.eye_array(n))
        bounds.append(np.full(n, most))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    # the optimum is flat where topics follow each other, and weights are to be exact
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(curvature)),
        -slope,
        sparse.csc_matrix(sparse.vstack(rows)),
        np.concatenate(bounds),
        [clarabel.NonnegativeConeT(sum(len(bound) for bound in bounds))],
        settings,
    )
    solution = solver.solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise UnfinishedError(f"the quadratic programme has no solution: {solution.status}")
    return np.clip(np.array(solution.x), 0.0, most)
