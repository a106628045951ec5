"""Topics one at a time, by a vote of subsets of systems: Adaptive+ (Hosseini 2013, chapter 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import real_number, whole_number
from rtc_bayes.errors import InputError
from rtc_bayes.store.shown import counted
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
    over subsets, then to the first id. Fewer than 25 systems make larger subsets than a fifth, as
    five is the least, and eight or fewer make many subsets that are the same. Five or fewer are one
    subset, and choose as ``greedy`` does.

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
    ballot = Ballot(objectives, subsets, share, seed)
    n = len(objectives[0].noise)
    left = np.ones(n, dtype=bool)
    order: list[int] = []
    while len(order) < size:
        topic = next(ballot.ranked(left))
        ballot.add(topic)
        left[topic] = False
        order.append(topic)
    return Solution.equal(order, n, f"one at a time, by {ballot.text}")


class Ballot:
    """What every subset of systems makes of the topics chosen so far.

    Parameters
    ----------
    objectives, subsets, share, seed
        As of :func:`vote`.

    Attributes
    ----------
    text : str
        How many different subsets vote, and how large they are, in words.
    """

    def __init__(
        self, objectives: Sequence[Objective], subsets: int, share: float, seed: int
    ) -> None:
        systems = len(objectives[0].factor)
        members = covering_subsets(systems, subsets, share, seed)
        different = counted(len({tuple(each.tolist()) for each in members}), "different set")
        self.text = f"a vote of {different} of {len(members[0])} of the {systems} systems"
        self.states = [[Chosen(_of_systems(one, m)) for one in objectives] for m in members]

    def add(self, topic: int) -> None:
        """Choose a topic."""
        for state in (one for states in self.states for one in states):
            state.add(topic)

    def ranked(self, left: NDArray[np.bool_]) -> Iterator[int]:
        """Give the topics that are left by votes, then by the mean rho over subsets, best first."""
        rho = np.array([np.mean([one.rho_with() for one in sets], axis=0) for sets in self.states])
        rho[:, ~left] = -np.inf
        votes = np.bincount([first_best(row) for row in rho], minlength=len(left))
        mean = rho.mean(axis=0)
        for count in np.unique(votes[left])[::-1]:
            equal = left & (votes == count)
            while equal.any():
                topic = first_best(np.where(equal, mean, -np.inf))
                yield topic
                equal[topic] = False


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
    remedy = "give a share of the systems, above 0 to 1"
    real_number("share", share, 0.0, 1.0, remedy, ends="(]")
    size = min(systems, max(_LEAST, round(share * systems)))
    if subsets * size < systems:
        raise InputError(
            f"{counted(subsets, 'subset')} of {size} systems cannot hold all {systems}",
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
