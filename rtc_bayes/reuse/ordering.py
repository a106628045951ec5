"""Whether baseline and reuse topics put systems in the same order, with the same scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.measures.scores import without_rounding
from rtc_bayes.reuse.agreement import PairTests
from rtc_bayes.reuse.held import HeldScores

_VARIES = 1e-10


class Hotelling(NamedTuple):
    """A two-sample test of the differences between a group's systems.

    Attributes
    ----------
    statistic : float
        F of Hotelling's T squared; NaN where there are too few systems or topics.
    degrees : tuple of int
        Of the F distribution.
    p : float
    """

    statistic: float
    degrees: tuple[int, int]
    p: float


def tau(baseline: PairTests, reuse: PairTests) -> float:
    """Return Kendall's tau of pairs: same order less swapped, over both.

    Only the pairs given count, so those of one group, or of two, alone (Carterette et al. 2010,
    section 3.2.2). Pairs that tie on either side are left out, as in the paper's .7643 = 454/594.

    Returns
    -------
    float
        In [-1, 1]; NaN without pairs.

    Examples
    --------
    >>> one = PairTests(np.array([9, 9, 9]), np.array([0.1, 0.2, -0.1]), np.zeros(3))
    >>> two = PairTests(np.array([9, 9, 9]), np.array([0.2, -0.1, -0.3]), np.zeros(3))
    >>> round(tau(one, two), 3)
    0.333
    """
    one, other = (np.sign(without_rounding(tests.mean)) for tests in (baseline, reuse))
    agree = one * other
    ordered = agree[np.abs(agree) > 0]
    return float(ordered.mean()) if len(ordered) else float("nan")


def rmse(baseline: NDArray[np.float64], reuse: NDArray[np.float64]) -> float:
    """Return the root mean squared difference of scores (section 3.2.3), where both are known.

    Examples
    --------
    >>> round(rmse(np.array([0.2, 0.4]), np.array([0.2, 0.3])), 4)
    0.0707
    """
    apart = (baseline - reuse)[~np.isnan(baseline - reuse)]
    return float(np.sqrt(np.mean(apart**2))) if len(apart) else float("nan")


def hotelling(held: HeldScores, group: int) -> Hotelling:
    """Test whether a group's systems differ on reuse topics as they do on baseline topics.

    Hotelling's two-sample T squared of the systems' scores less the group's mean: the substitute
    for the rank distance that section 3.2.2 of the paper names, of which there is no definition
    in print that a program could follow. Directions in which systems do not differ at all
    (identical runs) are left out.

    Parameters
    ----------
    held : HeldScores
    group : int
        Place among the groups.

    Returns
    -------
    Hotelling
    """
    from scipy.stats import f

    rows = held.scores[held.group == group]
    took = held.contributes[held.group == group][0]
    usable = ~np.isnan(rows).any(axis=0)
    apart = rows - rows.mean(axis=0)
    one, two = apart[:, took & usable], apart[:, ~took & usable]
    n_one, n_two = one.shape[1], two.shape[1]
    nothing = Hotelling(float("nan"), (0, 0), float("nan"))
    if len(rows) < 2 or min(n_one, n_two) < 2:
        return nothing
    within = sum(
        (part - part.mean(axis=1, keepdims=True)) @ (part - part.mean(axis=1, keepdims=True)).T
        for part in (one, two)
    ) / (n_one + n_two - 2)
    values, vectors = np.linalg.eigh(within)
    least = max(float(values[-1]), _VARIES * float((rows[:, usable] ** 2).mean()))
    kept = values > _VARIES * least
    dims, spare = int(kept.sum()), n_one + n_two - 1 - int(kept.sum())
    if not dims or spare < 1:
        return nothing
    shift = vectors[:, kept].T @ (one.mean(axis=1) - two.mean(axis=1))
    squared = n_one * n_two / (n_one + n_two) * float(shift**2 @ (1.0 / values[kept]))
    statistic = squared * spare / (dims * (n_one + n_two - 2))
    return Hotelling(statistic, (dims, spare), float(f.sf(statistic, dims, spare)))
