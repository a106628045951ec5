"""What a solver answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rtc_bayes.topics.objective import EQUAL, Floats


class Solution(NamedTuple):
    """The topics that a solver chose.

    Attributes
    ----------
    order : tuple of int
        Chosen topics, the first chosen first.
    weights : ndarray, shape (topics,)
        b: the weight of every topic, 0 where it is not chosen.
    how : str
        What the solver did, in words.
    """

    order: tuple[int, ...]
    weights: Floats
    how: str

    @classmethod
    def equal(cls, order: list[int], topics: int, how: str) -> Solution:
        """Give every chosen topic the weight 1."""
        weights = np.zeros(topics)
        weights[order] = 1.0
        return cls(tuple(order), weights, how)


def first_best(values: Floats) -> int:
    """Return the first place whose value is the largest but for rounding.

    Topics stand in the order of their ids, so ties go to the first id.

    Parameters
    ----------
    values : ndarray, shape (topics,)
        -inf where a topic cannot be chosen.

    Examples
    --------
    >>> first_best(np.array([0.5, 0.7, 0.7 + 1e-15]))
    1
    """
    best = values.max()
    return int((values >= best - EQUAL * abs(best)).argmax())
