"""Samples that grow stage by stage, and keep their inclusion probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


def drawn_more(probability: Floats, numbers: Floats, weights: Floats, budget: int) -> Floats:
    """Raise inclusion probabilities so that exactly `budget` more documents are drawn.

    A document is drawn if its permanent random number u is below its probability p. Of those not
    drawn yet, the ones with the least (u - p) / (1 - p) per weight are drawn. That ratio of the
    first that is left out, c, gives every document the chance q = min(1, c w) of this stage: in one
    stage, or with equal weights, Horvitz-Thompson estimates then keep their expectation (priority
    sampling: Duffield, Lund and Thorup 2007). By this stage a document is drawn with probability
    p + (1 - p) q. Where weights change between stages this is off by about one document for each
    draw: the first left out is drawn sooner than it says. :func:`expected_more` is exact there.
    Neither allows for weights that depend on what was drawn.

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


def expected_more(probability: Floats, weights: Floats, budget: float) -> Floats:
    """Raise inclusion probabilities so that `budget` more documents are drawn on average.

    The chance of this stage is q = min(1, c w), with c so that (1 - p) q sums to the budget. It
    depends on no draw, so that with weights that do not either this is Poisson sampling, stage
    after stage.

    Parameters
    ----------
    probability, weights : ndarray, shape (documents,)
        As of :func:`drawn_more`.
    budget : float, at least 0

    Returns
    -------
    ndarray, shape (documents,)

    Examples
    --------
    >>> first = expected_more(np.zeros(4), np.array([1.0, 1.0, 2.0, 0.0]), 1)
    >>> first.tolist(), expected_more(first, np.ones(4), 3).tolist()
    ([0.25, 0.25, 0.5, 0.0], [1.0, 1.0, 1.0, 1.0])
    """
    left, sure = 1.0 - probability, np.zeros(len(weights), dtype=bool)
    while True:
        rest, total = budget - left[sure].sum(), (left * weights)[~sure].sum()
        if total <= 0.0 or rest >= left[~sure & (weights > 0.0)].sum():
            return np.where(weights > 0.0, 1.0, probability)
        over = ~sure & (weights * (rest / total) > 1.0)
        if not over.any():
            chance = np.where(sure, 1.0, weights * (rest / total))
            return np.maximum(probability, probability + left * chance)
        sure |= over


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
