"""Samples of a set size that grow stage by stage, and keep their inclusion probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


def drawn_more(probability: Floats, numbers: Floats, weights: Floats, budget: int) -> Floats:
    """Raise inclusion probabilities so that exactly `budget` more documents are drawn.

    A document is drawn if its permanent random number u is below its probability p. One that is
    not drawn yet has (u - p) / (1 - p), uniform on [0, 1) whatever came before; those with the
    least ratio of that to the weight are drawn. The ratio of the first that is left out, c, gives
    every document the chance q = min(1, c w) of this stage: given c, draws are those of Poisson
    sampling, so that Horvitz-Thompson estimates keep their expectation (Duffield, Lund and Thorup
    2007, "Priority sampling"). By this stage a document is drawn with probability p + (1 - p) q.

    Parameters
    ----------
    probability : ndarray, shape (documents,)
        p, up to the stage before; 0 at first.
    numbers : ndarray, shape (documents,)
        u, permanent random numbers, in [0, 1).
    weights : ndarray, shape (documents,)
        w, at least 0; a document of weight 0 is not drawn in this stage.
    budget : int, at least 0
        How many more to draw. Where fewer are left that have weight, all are drawn.

    Returns
    -------
    ndarray, shape (documents,)
        Never below `probability`.

    Examples
    --------
    >>> u = np.array([0.5, 0.2, 0.9, 0.4])
    >>> first = drawn_more(np.zeros(4), u, np.ones(4), 1)
    >>> (u < first).tolist()
    [False, True, False, False]
    >>> second = drawn_more(first, u, np.array([1.0, 1.0, 4.0, 1.0]), 1)
    >>> (u < second).tolist(), second.round(2).tolist()
    ([False, True, False, True], [0.5, 0.5, 0.8, 0.5])
    """
    drawn = numbers < probability
    open_ = np.flatnonzero(~drawn & (weights > 0.0))
    if budget <= 0:
        return probability.copy()
    if len(open_) <= budget:
        return np.where(weights > 0.0, 1.0, probability)
    fresh = (numbers[open_] - probability[open_]) / (1.0 - probability[open_])
    ratio = fresh / weights[open_]
    order = np.argsort(ratio, kind="stable")
    drawn[open_[order[:budget]]] = True
    chance = np.minimum(1.0, ratio[order[budget]] * weights)
    raised = np.maximum(probability, probability + (1.0 - probability) * chance)
    # a number and a probability that are equal but for rounding stand on the right side
    above = np.maximum(raised, np.nextafter(numbers, 1.0))
    return np.where(drawn, above, np.maximum(probability, np.minimum(raised, numbers)))


def topmost(probability: Floats, ranks: Floats, weights: Floats, budget: int) -> Floats:
    """Take `budget` more documents from the top of the lists down, without chance, as pooling does.

    Parameters
    ----------
    probability : ndarray, shape (documents,)
        1 for documents that are taken already, else 0.
    ranks : ndarray, shape (documents,)
        The best rank of each document; what is behind the point breaks ties.
    weights : ndarray, shape (documents,)
        At least 0: a topic of twice the weight is judged about twice as deep.
    budget : int

    Returns
    -------
    ndarray, shape (documents,)
        1 for documents that are taken, else 0.

    Examples
    --------
    >>> topmost(np.array([1.0, 0, 0, 0]), np.array([1.0, 2, 1, 2]), np.ones(4), 2).tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    open_ = np.flatnonzero((probability == 0.0) & (weights > 0.0))
    first = np.argsort(ranks[open_] / weights[open_], kind="stable")[:budget]
    taken = probability.copy()
    taken[open_[first]] = 1.0
    return taken
