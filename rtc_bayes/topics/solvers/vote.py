"""Topics one at a time, by a vote of subsets of systems: Adaptive+ (Hosseini 2013, chapter 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.errors import InputError, whole_number
from rtc_bayes.topics.objective import Floats, Objective, centred
from rtc_bayes.topics.solvers.greedy import Chosen
from rtc_bayes.topics.solvers.solution import Solution, first_best

# Over two systems any topic has a correlation of 1 or -1.
_LEAST = 5


def vote(
    objectives: Sequence[Objective], size: int, *, subsets: int, share: float, seed: int
) -> Solution:
    """Choose topics one at a time; each subset of systems votes for its best by gamma.

    So no few systems decide. The topic with most votes is chosen; ties go to the larger mean rho
    over subsets, then to the first id.

    Parameters
    ----------
    objectives : sequence of Objective
        One for each measure.
    size : int
    subsets : int, at least 1
        How many.
    share : float, in (0, 1]
        Of the systems, in each subset; five at least, or all if there are fewer.
    seed : int
        Of the subsets.
    """
    members = covering_subsets(len(objectives[0].factor), subsets, share, seed)
    states = [[Chosen(_of_systems(objective, m)) for objective in objectives] for m in members]
    n = len(objectives[0].noise)
    left = np.ones(n, dtype=bool)
    order: list[int] = []
    while len(order) < size:
        rho = np.array([np.mean([one.rho_with() for one in states_], axis=0) for states_ in states])
        rho[:, ~left] = -np.inf
        votes = np.bincount([first_best(row) for row in rho], minlength=n)
        topic = first_best(np.where(votes == votes.max(), rho.mean(axis=0), -np.inf))
        for state in (one for states_ in states for one in states_):
            state.add(topic)
        left[topic] = False
        order.append(topic)
    return Solution.equal(order, n, f"one at a time, by a vote of {len(members)} sets of systems")


def covering_subsets(
    systems: int, subsets: int, share: float, seed: int
) -> list[NDArray[np.int64]]:
    """Draw subsets of systems such that every system is in one at least.

    Orders at random are cut into parts; a last part that is too small is filled from the order's
    beginning.

    Returns
    -------
    list of ndarray of int
        The members of each, in increasing order.

    Raises
    ------
    InputError
        A share out of range, or too few subsets to hold all systems.

    Examples
    --------
    >>> [part.tolist() for part in covering_subsets(10, 2, 0.6, seed=1)]
    [[0, 1, 2, 4, 7, 8], [3, 4, 5, 6, 8, 9]]
    """
    subsets = whole_number("subsets", subsets, least=1)
    if not 0.0 < share <= 1.0:
        raise InputError(f"share is {share}", remedy="give a share of the systems, above 0 to 1")
    size = min(systems, max(_LEAST, round(share * systems)))
    if subsets * size < systems:
        raise InputError(
            f"{subsets} subsets of {size} systems do not hold all {systems}",
            remedy="give more subsets, or a larger share",
        )
    rng = np.random.default_rng(seed)
    parts: list[NDArray[np.int64]] = []
    while len(parts) < subsets:
        order = rng.permutation(systems)
        for start in range(0, systems, size):
            parts.append(np.sort(np.take(order, range(start, start + size), mode="wrap")))
    return parts[:subsets]


def _of_systems(objective: Objective, members: NDArray[np.int64]) -> Objective:
    """Take the covariance over some systems; the noise stays that of all."""
    share: Floats = objective.factor[members] / objective.factor[members].sum()
    factor = share / (1.0 - share @ share)
    return Objective(centred(objective.centred[members], share), factor, objective.noise)
