"""The log densities of the three layers with their gradients: compiled.

A target is a named tuple of numbers and arrays; :func:`log_density` finds the formula by its
type. Layers 2 and 3 are one formula, the weighted logistic regression of
:mod:`rtc_bayes.relevance.logistic`; layer 1 is :mod:`rtc_bayes.relevance.rank`'s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

# sums may be reordered; infinities and NaN keep their meaning
FAST = {"reassoc", "contract", "nsz", "arcp"}
# shares multiplied before a logarithm is taken: e^-700 would be lost
_BLOCK = 16


class RankTarget(NamedTuple):
    """Layer 1 for one topic.

    Attributes
    ----------
    weight : float
        Of the pairwise likelihood.
    wins, meetings : float
        R_t + 1 and R_t + N_t + 2.
    """

    weight: float
    wins: float
    meetings: float


class LogisticTarget(NamedTuple):
    """A weighted logistic regression with a LogitBeta(a, b) prior on every coefficient.

    Attributes
    ----------
    features : ndarray, shape (coefficients, rows)
    relevant, weight : ndarray, shape (rows,)
        Weight of the label relevant, and of both labels.
    a, b : float
    """

    features: Floats
    relevant: Floats
    weight: Floats
    a: float
    b: float


def log_density(
    target: RankTarget | LogisticTarget, x: Floats, work: Floats, gradient: Floats, valued: bool
) -> float:
    """Set the gradient; return the log density, or 0 if it is not wanted (`valued`).

    Parameters
    ----------
    target : RankTarget or LogisticTarget
    x, gradient : ndarray, shape (coefficients,)
    work : ndarray, shape (3, at least the items or rows)
        Working space.
    valued : bool
    """
    raise NotImplementedError("for compiled callers only")


@overload(log_density)
def _log_density(target, x, work, gradient, valued):  # type: ignore[no-untyped-def]
    formula = rank_density if target.instance_class is RankTarget else logistic_density
    return lambda target, x, work, gradient, valued: formula(target, x, work, gradient, valued)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def rank_density(
    target: RankTarget, theta: Floats, work: Floats, gradient: Floats, valued: bool
) -> float:
    """Layer 1's :func:`log_density`, with sigma(theta_r - theta_k) = w_r / (w_r + w_k)."""
    n = len(theta)
    strength, expected, product = work[0, :n], work[1, :n], work[2, :n]
    for r in range(n):
        strength[r] = np.exp(theta[r])
        expected[r] = 0.0
        product[r] = 1.0
    pairs, value = 0.0, 0.0
    for r in range(n):
        w, won = strength[r], 0.0
        below, lost, shares = strength[r + 1 :], expected[r + 1 :], product[r + 1 :]
        if valued:
            for k in range(len(below)):
                share = w / (w + below[k])
                won += share
                lost[k] -= share
                shares[k] *= share
            if r % _BLOCK == _BLOCK - 1:
                for k in range(len(shares)):
                    pairs += np.log(shares[k])
                    shares[k] = 1.0
        else:
            for k in range(len(below)):
                share = w / (w + below[k])
                won += share
                lost[k] -= share
        # an item above is met and not beaten with what is left of 1
        expected[r] += won + r
    for r in range(n):
        q = strength[r] / (1.0 + strength[r])
        gradient[r] = target.weight * (n - 1 - r - expected[r]) + target.wins - target.meetings * q
        if valued:
            pairs += np.log(product[r])
            value += target.wins * theta[r] - target.meetings * np.log1p(strength[r])
    return value + target.weight * pairs


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def logistic_density(
    target: LogisticTarget, x: Floats, work: Floats, gradient: Floats, valued: bool
) -> float:
    """:func:`log_density` of layers 2 and 3."""
    relevant, weight, n = target.relevant, target.weight, len(target.weight)
    eta, residual = work[0, :n], work[1, :n]
    log_odds(target.features, x, eta)
    for i in range(n):
        residual[i] = relevant[i] - weight[i] * probability(eta[i])
    both = target.a + target.b
    for j in range(len(x)):
        row = target.features[j]
        total = 0.0
        for i in range(n):
            total += residual[i] * row[i]
        gradient[j] = total + target.a - both * probability(x[j])
    value = 0.0
    if valued:
        for i in range(n):
            value += relevant[i] * eta[i] - weight[i] * _softplus(eta[i])
        for j in range(len(x)):
            value += target.a * x[j] - both * _softplus(x[j])
    return value


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def log_odds(features: Floats, x: Floats, out: Floats) -> None:
    """Set out = features' x."""
    out[:] = 0.0
    for j in range(len(x)):
        row = features[j]
        for i in range(len(out)):
            out[i] += x[j] * row[i]


# The library's exp and log1p are calls, which keep loops from being vectorised: these are five
# times faster there.


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST, inline="always")
def probability(eta: float) -> float:
    """Return sigma(eta), to a relative error of 1e-13 between -40 and 40."""
    small = exp_minus(abs(eta))
    share = 1.0 / (1.0 + small)
    return share if eta >= 0.0 else small * share


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST, inline="always")
def exp_minus(x: float) -> float:
    """Return exp(-x) for x of at least 0, as (exp(-x / 1024))^1024; at 700 it stays."""
    y = min(x, 700.0) * (-1.0 / 1024.0)
    power = 1.0 + y * (
        1.0
        + y
        * (
            1 / 2
            + y
            * (1 / 6 + y * (1 / 24 + y * (1 / 120 + y * (1 / 720 + y * (1 / 5040 + y / 40320)))))
        )
    )
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    return power


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST, inline="always")
def _softplus(eta: float) -> float:
    """Return log(1 + exp(eta)), the logarithm as 2 artanh(s) by its series; s is at most 1/3."""
    small = exp_minus(abs(eta))
    s = small / (2.0 + small)
    t = s * s
    tail = t * (1 / 19 + t * (1 / 21 + t * (1 / 23 + t * (1 / 25 + t * (1 / 27 + t / 29)))))
    tail = t * (1 / 11 + t * (1 / 13 + t * (1 / 15 + t * (1 / 17 + tail))))
    return max(eta, 0.0) + 2.0 * s * (
        1.0 + t * (1 / 3 + t * (1 / 5 + t * (1 / 7 + t * (1 / 9 + tail))))
    )
