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

    A number for each system and one for each topic are fitted, by least squares, to the scores of
    contributors alone. Their sum is what a held-out system would score if it were as good, and the
    topic as hard, as contributors' scores say; a system's loss is the mean of this, less what it
    does score, over topics that it was held out of. So neither hard topics nor good systems
    count, and a loss that all systems share shows, which the chi-square of agreement in
    significance cannot see.

    Parameters
    ----------
    held : HeldScores

    Returns
    -------
    Losses
        NaN throughout where groups cannot be compared: no chain of topics to which two groups
        contributed leads from one to all others.

    Examples
    --------
    >>> scores = np.array([[0.4, 0.5, 0.3, 0.2], [0.2, 0.3, 0.1, 0.2]])
    >>> contributes = np.array([[True, True, True, False], [True, True, True, True]])
    >>> names = ("a", "b"), ("1", "2", "3", "4"), ("A", "B")
    >>> held = HeldScores(scores, contributes, np.array([0, 1]), *names)
    >>> round(losses(held).overall, 6)  # ahead by .2 elsewhere, and level on topic 4
    0.2
    """
    expected, out = _expected(held), held.held & held.contributed.any(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_system = np.where(out, expected - held.scores, 0.0).sum(axis=1) / out.sum(axis=1)
        by_system[np.abs(by_system) < _rounding(held)] = 0.0
        defined = ~np.isnan(by_system)
        safe = np.where(defined, by_system, 0.0)
        by_group = (held.members @ safe) / (held.members @ defined)
        overall = safe.sum() / np.float64(defined.sum())
    return Losses(float(overall), by_group, by_system)


def permuted_losses(
    held: HeldScores, orders: NDArray[np.int_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Measure the loss, overall and by group, with topics in other orders.

    Who is held out where stays, so where no score is missing a loss is a weighted sum of scores
    with the same weights in every order, and all orders are looked up in one product.

    Parameters
    ----------
    held : HeldScores
    orders : ndarray of int, shape (orders, topics)
        As of :meth:`HeldScores.permuted`.

    Returns
    -------
    overall : ndarray, shape (orders,)
    by_group : ndarray, shape (orders, groups)
    """
    if np.isnan(held.scores).any() or not held.contributed.any(axis=0).all():
        permuted = [losses(held.permuted(order)) for order in orders]
        return np.array([f.overall for f in permuted]), np.array([f.by_group for f in permuted])
    at, size = np.arange(len(held.topics)), _rounding(held)
    sums = [(w.T @ held.scores)[at, orders].sum(axis=1) for w in _weights(held)]
    sums = [np.where(np.abs(each) < size, 0.0, each) for each in sums]
    return sums[0], np.array(sums[1:]).T


def _weights(held: HeldScores) -> NDArray[np.float64]:
    """Weights of scores whose sums are the losses: overall, then by group.

    The adjoint of `_expected`: shape (1 + groups, systems, topics).
    """
    took, out = held.contributed, held.held
    shape = (1 + len(held.groups), *took.shape)
    if not _connected(took):
        return np.full(shape, np.nan)
    systems = np.vstack([np.ones(len(took)), held.members]) * out.any(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = systems / systems.sum(axis=1, keepdims=True)  # of each system in a mean
        each = np.where(out, share[:, :, None] / out.sum(axis=1)[:, None], 0.0)
    weight, of_system = took.astype(np.float64), took.sum(axis=1)
    pull = each.sum(axis=1) - (share / of_system) @ weight
    topics = np.linalg.solve(_normal(weight), pull.T).T
    of_systems = (share - topics @ weight.T) / of_system
    weights = np.where(took, topics[:, None, :] + of_systems[:, :, None], 0.0) - each
    weights[np.isnan(share).any(axis=1)] = np.nan  # a group that is never held out
    return np.asarray(weights)


def _rounding(held: HeldScores) -> float:
    """Return what is no loss but an error of arithmetic."""
    return 1e-12 * float(np.nanmax(np.abs(held.scores)))


def _expected(held: HeldScores) -> NDArray[np.float64]:
    """Fit systems and topics to contributors' scores; NaN where these do not hang together."""
    took = held.contributed
    if not _connected(took):
        return np.full(took.shape, np.nan)
    judged = took.any(axis=0)
    weight = took[:, judged].astype(np.float64)
    scores = np.where(took[:, judged], held.scores[:, judged], 0.0)
    of_system = weight.sum(axis=1)
    right = scores.sum(axis=0) - weight.T @ (scores.sum(axis=1) / of_system)
    topics = np.linalg.solve(_normal(weight), right)
    systems = (scores.sum(axis=1) - weight @ topics) / of_system
    expected = np.full(took.shape, np.nan)
    expected[:, judged] = systems[:, None] + topics
    return expected


def _normal(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal equations of topics, systems put out of them.

    Topics are known up to a number that they share: it is set so that they sum to 0.
    """
    left = np.diag(weight.sum(axis=0)) - weight.T @ (weight / weight.sum(axis=1)[:, None])
    return np.asarray(left + 1.0 / len(left))


def _connected(took: NDArray[np.bool_]) -> bool:
    """Say whether systems and topics, joined where a system contributed, hang together."""
    reached = took[0].copy()
    while True:
        systems = took[:, reached].any(axis=1)
        more = took[systems].any(axis=0)
        if (more == reached).all():
            return bool(systems.all())
        reached = more
