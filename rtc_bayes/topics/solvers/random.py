"""Topics at random: what every other solver should beat."""

from __future__ import annotations

import numpy as np

from rtc_bayes.topics.solvers.solution import Solution


def random_topics(topics: int, size: int, seed: int) -> Solution:
    """Draw topics without replacement.

    Parameters
    ----------
    topics : int
        How many there are.
    size : int, at most `topics`
        How many to draw; a larger draw with the same seed begins like a smaller one.
    seed : int

    Examples
    --------
    >>> random_topics(5, 2, seed=0).order == random_topics(5, 4, seed=0).order[:2]
    True
    """
    order = np.random.default_rng(seed).permutation(topics)[:size]
    return Solution.equal(order.tolist(), topics, "drawn at random")
