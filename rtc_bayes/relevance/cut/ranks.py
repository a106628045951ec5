"""Draws of layer 1, one set for each distinct pair (R_t, N_t)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.immutable import freeze
from rtc_bayes.relevance.cut.hmc import chain, leapfrog
from rtc_bayes.relevance.cut.normal import inverse_root
from rtc_bayes.relevance.cut.targets import RankTarget
from rtc_bayes.relevance.logistic import sigmoid
from rtc_bayes.relevance.rank import Temper, curvature, pair_weight, solve

# a chain begins with a draw of the Laplace normal, which is near the target
_WARM = 20
# every second state is kept: neighbours are then all but independent (docs/cut.md)
_THIN = 2


@dataclass(frozen=True, eq=False)
class RankDraws:
    """Draws of the relevance coefficients of one pair (R_t, N_t).

    Attributes
    ----------
    theta : ndarray of float32, shape (chains, draws, items)
    acceptance : float
        Mean probability of acceptance.
    """

    theta: NDArray[np.float32]
    acceptance: float


@lru_cache(maxsize=128)
def sample(
    items: int,
    relevant: float,
    nonrelevant: float,
    temper: Temper,
    chains: int,
    draws: int,
    seed: int,
) -> RankDraws:
    """Draw from the posterior of layer 1; the same pair and seed give the same draws.

    Parameters
    ----------
    items : int
        Depth + 1.
    relevant, nonrelevant : float
        R_t and N_t.
    temper : {"none", "depth"}
        See :func:`rtc_bayes.relevance.rank.solve`.
    chains, draws, seed : int

    Returns
    -------
    RankDraws
    """
    curve = solve(items, relevant, nonrelevant, temper)
    weight = pair_weight(items, temper)
    wins, meetings = relevant + 1.0, relevant + nonrelevant + 2.0
    win = sigmoid(curve.theta[:, None] - curve.theta[None, :])
    precision = curvature(win, weight, meetings * curve.q * (1.0 - curve.q))
    spread = np.empty_like(precision)
    inverse_root(precision, spread)

    steps, step = leapfrog(items)
    transitions = _WARM + _THIN * draws
    bits = np.array([relevant, nonrelevant]).view(np.uint32).tolist()
    random = np.random.default_rng(np.random.SeedSequence([seed, *bits]))
    work, theta = np.empty((3, items)), np.empty((draws, items))
    kept = np.empty((chains, draws, items), dtype=np.float32)
    stats = np.zeros(2)
    for c in range(chains):
        chain(
            RankTarget(weight, wins, meetings),
            curve.theta,
            spread,
            work,
            random.standard_normal((transitions + 1, items)),
            random.random((transitions, 2)),
            steps,
            step,
            _THIN,
            theta,
            stats,
        )
        kept[c] = theta
    freeze(kept)
    return RankDraws(kept, float(stats[0]) / chains)
