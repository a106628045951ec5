"""How much lower systems score where they were held out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.reuse.held import HeldScores


class Losses(NamedTuple):
    """Losses in units of the measure: positive where systems score less when held out.

    Attributes
    ----------
    overall : float
        Mean over systems.
    by_group : ndarray, shape (groups,)
        Mean over a group's systems; NaN where it is never held out.
    by_system : ndarray, shape (systems,)
    """

    overall: float
    by_group: NDArray[np.float64]
    by_system: NDArray[np.float64]


def losses(held: HeldScores) -> Losses:
    """Measure the loss of each system against what contributors say of the same topics.

    A system's score on a topic, less its mean over topics that it contributed to, is held against
    the mean of the same over the contributors of other groups: what is left is how well it did
    there for itself and for the topic. The loss is the mean of this over topics that the system
    contributed to, less the mean over those it was held out of. So neither hard topics nor good
    systems count, and a loss that all systems share shows, which the chi-square of agreement in
    significance cannot see.

    Parameters
    ----------
    held : HeldScores

    Returns
    -------
    Losses

    Examples
    --------
    >>> scores = np.array([[0.4, 0.5, 0.3, 0.2], [0.2, 0.3, 0.1, 0.2]])
    >>> contributes = np.array([[True, True, True, False], [True, True, True, True]])
    >>> names = ("a", "b"), ("1", "2", "3", "4"), ("A", "B")
    >>> held = HeldScores(scores, contributes, np.array([0, 1]), *names)
    >>> round(losses(held).overall, 6)  # ahead by .2 elsewhere, and level on topic 4
    0.2
    """
    took, out = held.contributed, held.held
    own = _mean(held.scores, took)
    apart = np.where(took | out, held.scores - own[:, None], 0.0)
    theirs = apart * took
    # Contributors of other groups: all of a topic's, less the own group's.
    members = held.members
    total = theirs.sum(axis=0) - (members @ theirs)[held.group]
    count = took.sum(axis=0) - (members @ took)[held.group]
    with np.errstate(invalid="ignore", divide="ignore"):
        rest = np.where(count > 0, apart - total / count, np.nan)
    by_system = _mean(rest, took & (count > 0)) - _mean(rest, out & (count > 0))
    known = ~np.isnan(by_system)
    safe = np.where(known, by_system, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_group = (members @ safe) / (members @ known)
    overall = float(safe.sum() / known.sum()) if known.any() else float("nan")
    return Losses(overall, by_group, by_system)


def _mean(values: NDArray[np.float64], where: NDArray[np.bool_]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(where, values, 0.0).sum(axis=1) / where.sum(axis=1))
