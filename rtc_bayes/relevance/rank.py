"""Layer 1: ranks to self-reported probabilities of relevance, per topic.

Carterette 2007, section 3.2: a document at a higher rank is preferred to one at a lower rank,
and theta_r is the relevance coefficient of rank r. With n = depth + 1 items (the ranks, and one
more below them) the log density is

    weight * sum_{r < k} log sigma(theta_r - theta_k)
        + sum_r [(R_t + 1) log sigma(theta_r) + (N_t + 1) log (1 - sigma(theta_r))],

where R_t and N_t count the topic's judged relevant and nonrelevant documents. The second line,
the paper's beta prior, is pseudo-data: every rank meets a reference item with theta = 0, which it
beats R_t + 1 times and loses to N_t + 1 times. On sigma(theta) it is Beta(R_t + 1, N_t + 1) with
its Jacobian. Then q*_r = sigma(theta_r); a document that a system did not rank has q* = 0.

The pairwise terms cancel in the sum of the gradient, so at the mode the mean of q* over the items
is exactly (R_t + 1) / (R_t + N_t + 2). ``temper="none"`` is the paper's weight of 1: as n grows,
q* nears a step. ``temper="depth"`` takes the weight 1 / n: a smooth curve whatever the depth, with
the same mean.

The mode depends on the topic only through (R_t, N_t), and not on the system: it is solved once
per distinct pair and kept. :func:`graph` is the same density as a PyMC graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.immutable import freeze_fields
from rtc_bayes.relevance.interface import Stage
from rtc_bayes.relevance.logistic import sigmoid
from rtc_bayes.relevance.newton import Floats, maximise

if TYPE_CHECKING:
    import pymc as pm

type Temper = Literal["none", "depth"]


@dataclass(frozen=True, eq=False, repr=False)
class RankLayerMode:
    """The mode of layer 1 for one pair (R_t, N_t).

    Attributes
    ----------
    theta : ndarray of float, shape (items,)
        Relevance coefficients, decreasing; item r - 1 is rank r, the last is below all ranks.
    q : ndarray of float, shape (items,)
        q* = sigma(theta), in (0, 1).
    iterations : int
        Newton steps taken.
    gradient : float
        Norm of the log density's gradient at theta.
    converged : bool
    """

    theta: Floats
    q: Floats
    iterations: int
    gradient: float
    converged: bool

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __repr__(self) -> str:
        return (
            f"RankLayerMode({len(self.q)} items, q* {self.q[0]:.3f} to {self.q[-1]:.3f}, "
            f"{self.iterations} iterations, gradient {self.gradient:.1e})"
        )


@lru_cache(maxsize=4096)
def solve(
    items: int, relevant: float, nonrelevant: float, temper: Temper = "none"
) -> RankLayerMode:
    """Find the mode of layer 1.

    Parameters
    ----------
    items : int
        Depth + 1.
    relevant, nonrelevant : float
        The topic's judgments, R_t and N_t.
    temper : {"none", "depth"}
        Weight of the pairwise likelihood: 1, or 1 / items.

    Returns
    -------
    RankLayerMode
    """
    weight = pair_weight(items, temper)
    wins, meetings = relevant + 1.0, relevant + nonrelevant + 2.0
    below_less_above = np.arange(items - 1, -items, -2)

    # log sigma(x) = x / 2 - (softplus(x) + softplus(-x)) / 2, so a sum over r < k is half of a
    # sum over both orders; softplus(0) = log 2 on the diagonal is not a pair
    def log_density(theta: Floats) -> float:
        both = np.logaddexp(0.0, theta[:, None] - theta[None, :]).sum() - items * np.log(2.0)
        pairs = 0.5 * weight * (below_less_above @ theta - both)
        return float(pairs + wins * theta.sum() - meetings * np.logaddexp(0.0, theta).sum())

    def derivatives(theta: Floats) -> tuple[Floats, Floats]:
        q, win = sigmoid(theta), sigmoid(theta[:, None] - theta[None, :])
        # an item expects to win sum_k sigma(theta_r - theta_k), and won as many as stand below
        won = 0.5 * (below_less_above + items - 1)
        gradient = weight * (won - (win.sum(axis=1) - 0.5)) + wins - meetings * q
        return gradient, curvature(win, weight, meetings * q * (1.0 - q))

    mode = maximise(np.full(items, np.log(wins / (meetings - wins))), log_density, derivatives)
    return RankLayerMode(mode.at, sigmoid(mode.at), mode.iterations, mode.gradient, mode.converged)


@dataclass(frozen=True, eq=False, repr=False)
class SelfReports:
    """The self-reported probability q* of every system for every document it ranked.

    Attributes
    ----------
    pool : Pool
    documents : ndarray of int, shape (judged,)
        The judged documents, in the order of judging.
    labels : ndarray of float, shape (judged,)
        Theirs, in [0, 1].
    theta : ndarray of float, shape (topics, depth + 1)
        Relevance coefficients of the ranks.
    curves : ndarray of float, shape (curves, depth + 1)
        q* by rank, one curve per distinct (R_t, N_t).
    curve_of : ndarray of int, shape (topics,)
        Each topic's curve.
    has_judgments : ndarray of bool, shape (topics,)
    system, q : ndarray, shape (sum of list lengths,)
        System and q* of each entry of ``pool.ranked``.
    judged_q : ndarray of float, shape (judged, systems)
        q* of the judged documents, 0 where a system did not rank one.
    stage : Stage
    """

    pool: Pool
    documents: NDArray[np.int64]
    labels: Floats
    theta: Floats
    curves: Floats
    curve_of: NDArray[np.int64]
    has_judgments: NDArray[np.bool_]
    system: NDArray[np.int64]
    q: Floats
    judged_q: Floats
    stage: Stage

    def judged(self, entries: Floats, unranked: Floats) -> Floats:
        """Spread values of the entries over judged documents and systems.

        Parameters
        ----------
        entries : ndarray of float, shape (sum of list lengths,)
        unranked : ndarray of float, shape (systems,)
            The value where a system did not rank a document.

        Returns
        -------
        ndarray of float, shape (judged, systems)
        """
        return _spread(self.pool, self.documents, self.system, entries, unranked)

    def __repr__(self) -> str:
        return (
            f"SelfReports({self.pool.n_systems} systems, {self.pool.n_topics} topics, "
            f"{len(self.curves)} distinct curves; {self.stage})"
        )


def self_report(judgments: Judgments, *, temper: Temper = "none") -> SelfReports:
    """Turn the ranks of all systems into self-reported probabilities.

    A topic without judgments has R_t = N_t = 0.

    Parameters
    ----------
    judgments : Judgments
    temper : {"none", "depth"}
        See :func:`solve`.

    Returns
    -------
    SelfReports
    """
    pool = judgments.pool
    distinct, curve_of = _distinct(judgments)
    solved = [solve(pool.depth + 1, float(r), float(n), temper) for r, n in distinct]
    items = (len(solved), pool.depth + 1)
    curves = np.array([curve.q for curve in solved]).reshape(items)
    thetas = np.array([curve.theta for curve in solved]).reshape(items)

    system, topic, rank = pool.entries
    q = curves[curve_of[topic], rank - 1]
    none = np.zeros(pool.n_systems)
    return SelfReports(
        pool=pool,
        documents=judgments.order,
        labels=judgments.labels[judgments.order],
        theta=thetas[curve_of],
        curves=curves,
        curve_of=curve_of,
        has_judgments=distinct.sum(axis=1)[curve_of] > 0,
        system=system,
        q=q,
        judged_q=_spread(pool, judgments.order, system, q, none),
        stage=Stage.of("ranks", solved),
    )


def graph(judgments: Judgments, *, temper: Temper = "none") -> pm.Model:
    """Write layer 1 as a PyMC graph.

    Parameters
    ----------
    judgments : Judgments
    temper : {"none", "depth"}
        See :func:`solve`.

    Returns
    -------
    pymc.Model
        With ``theta`` (dims curve, rank): one curve per distinct (R_t, N_t), in their order.
    """
    import pymc as pm

    from rtc_bayes.relevance.logit_beta import LogitBeta

    distinct, _ = _distinct(judgments)
    items = judgments.pool.depth + 1
    above = np.triu(np.ones((items, items)), 1)
    coords = {"curve": np.arange(len(distinct)), "rank": np.arange(1, items + 1)}
    with pm.Model(coords=coords) as model:
        prior = distinct[:, :, None] + 1.0
        theta = LogitBeta("theta", prior[:, 0], prior[:, 1], dims=("curve", "rank"))
        lost = pm.math.log1pexp(theta[:, None, :] - theta[:, :, None])
        pm.Potential("pairs", -pair_weight(items, temper) * pm.math.sum(above * lost))
    return model


def _distinct(judgments: Judgments) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distinct pairs (R_t, N_t), shape (curves, 2), and every topic's."""
    counts = np.column_stack([judgments.relevant, judgments.nonrelevant])
    distinct, curve_of = np.unique(counts, axis=0, return_inverse=True)
    return distinct, curve_of


def curvature(win: Floats, weight: float, of_judgments: Floats) -> Floats:
    """Return minus the second derivatives of layer 1, of which judgments add to the diagonal.

    `win` is the probability that an item wins over another, `weight` is :func:`pair_weight`.
    """
    result = -weight * win * (1.0 - win)
    np.fill_diagonal(result, 0.0)
    np.fill_diagonal(result, of_judgments - result.sum(axis=1))
    return result


def pair_weight(items: int, temper: Temper) -> float:
    """Return the weight of the pairwise likelihood."""
    return 1.0 if temper == "none" else 1.0 / items


def _spread(
    pool: Pool,
    documents: NDArray[np.int64],
    system: NDArray[np.int64],
    entries: Floats,
    unranked: Floats,
) -> Floats:
    """See :meth:`SelfReports.judged`."""
    row_of = np.full(pool.n_documents, -1)
    row_of[documents] = np.arange(len(documents))
    row = row_of[pool.ranked]
    wanted = row >= 0
    values = np.tile(unranked, (len(documents), 1))
    values[row[wanted], system[wanted]] = entries[wanted]
    return values
