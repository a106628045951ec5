"""Layer 1 given a topic's prevalence: the paper's curve of ranks as a function in a PyMC graph.

The mode of layer 1 (:mod:`rtc_bayes.relevance.rank`) depends on a topic through two numbers: its
prevalence, the mean of q* over the items, and how often a rank meets the reference item; R_t and
N_t give (R_t + 1) / (R_t + N_t + 2) and R_t + N_t + 2. With the second fixed, every q*(r) is a
smooth function of the prevalence's log-odds. A cubic spline through modes that are
:data:`STEP` apart is within 1e-6 of it, and has the derivatives that samplers need.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.relevance.logistic import sigmoid
from rtc_bayes.relevance.newton import Floats
from rtc_bayes.relevance.rank import Temper, solve

STEP, FARTHEST = 0.125, 8.0


def prevalence_curves(
    log_odds: Any, meetings: NDArray[np.floating], depth: int, temper: Temper = "none"
) -> Any:
    """Return q* of every rank in every topic, and 0 for no rank.

    Parameters
    ----------
    log_odds : tensor of float, shape (topics,)
        Of the topics' prevalences; beyond -8 and 8 the curve no longer changes.
    meetings : ndarray of float, shape (topics,)
        How often a rank meets the reference item, positive.
    depth : int
    temper : {"none", "depth"}
        Weight of the pairwise likelihood: 1, or 1 / (depth + 1).

    Returns
    -------
    tensor of float, shape (topics, depth + 2)
        Of rank r in column r - 1; the last column is 0, so that rank 0 ("not ranked") finds its
        value at -1.

    Examples
    --------
    >>> curves = prevalence_curves(np.array([0.0]), np.array([2.0]), depth=3).eval()
    >>> curves.shape, float(curves[0, :4].mean().round(6)), float(curves[0, -1])
    ((1, 5), 0.5, 0.0)
    """
    import pytensor.tensor as pt

    distinct, curve_of = np.unique(meetings, return_inverse=True)
    coefficients = np.stack([spline(depth + 1, float(value), temper) for value in distinct])
    at = (pt.clip(log_odds, -FARTHEST, FARTHEST - 1e-9) + FARTHEST) / STEP
    cell = pt.cast(pt.floor(at), "int64")
    beyond = (at - cell)[:, None] * STEP
    cubic = pt.as_tensor_variable(coefficients)[curve_of, cell]
    q_star = cubic[:, :, 0]
    for power in range(1, 4):
        q_star = q_star * beyond + cubic[:, :, power]
    none = np.zeros((len(meetings), 1))
    return pt.concatenate([q_star, none], axis=1)


@lru_cache(maxsize=256)
def spline(items: int, meetings: float, temper: Temper) -> Floats:
    """Return the coefficients of q*, highest power first.

    Parameters
    ----------
    items : int
        Depth + 1.
    meetings : float
    temper : {"none", "depth"}

    Returns
    -------
    ndarray of float, shape (cells, items, 4)
        Of the steps of the prevalence's log-odds from -8 to 8.

    Examples
    --------
    >>> spline(11, 2.0, "none").shape
    (128, 11, 4)
    """
    from scipy.interpolate import CubicSpline

    log_odds = np.arange(-FARTHEST, FARTHEST + STEP / 2, STEP)
    wins = meetings * sigmoid(log_odds)
    modes = [solve(items, won - 1.0, meetings - won - 1.0, temper).q for won in wins]
    coefficients: Floats = CubicSpline(log_odds, np.array(modes)).c.transpose(1, 2, 0)
    return np.ascontiguousarray(coefficients)
