"""Rules that turn 1/R and 1/R^2 into short sums of t^R, and the window of values R can take.

A random denominator R is awkward; t^R is not, because it factors over documents. So the moments
of a ratio become a short weighted sum of moments of its numerator (see ``ratio``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from rtc_bayes.collection.immutable import freeze

Floats = NDArray[np.float64]

_LARGEST_RULE = 120
_ROUNDING = 3e-14
_STEPS_PER_OCTAVE = 2


@dataclass(frozen=True)
class ExponentialRule:
    """Nodes and weights with 1/r ~ sum w e^(-u r) and 1/r^2 ~ sum w u e^(-u r) on [1, ratio].

    On [low, low * ratio] u / low and w / low take their places.

    Attributes
    ----------
    u : ndarray, shape (nodes,)
        Positive; t = e^-u is the base of the powers.
    weight : ndarray, shape (nodes,)
        Positive.
    error : float
        Worst relative error of the two sums over the window.
    """

    u: Floats
    weight: Floats
    error: float

    def __repr__(self) -> str:
        return f"ExponentialRule({len(self.u)} nodes, relative error {self.error:.1e})"


def relevant_window(p: Floats, leaving: float) -> tuple[int, int]:
    """Window that the number of relevant documents leaves with at most the given probability.

    Parameters
    ----------
    p : ndarray, shape (documents,)
        Probabilities of relevance.
    leaving : float
        In (0, 1).

    Returns
    -------
    low, high : int
        Between the number of certain and the number of possible relevant documents.
    """
    low, high = relevant_windows(p[None], leaving)
    return int(low[0]), int(high[0])


def relevant_windows(p: Floats, leaving: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Windows of :func:`relevant_window` for many draws of the probabilities.

    Bennett's inequality for a sum of independent, bounded variables, on both sides.

    Parameters
    ----------
    p : ndarray, shape (draws, documents)
        Probabilities of relevance.
    leaving : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray of int64, shape (draws,)
    """
    certain = np.count_nonzero(p == 1.0, axis=1)
    possible = np.count_nonzero(p, axis=1)
    variance = np.sum(p * (1.0 - p), axis=1)
    mean = p.sum(axis=1)
    # the bound grows with the variance, and a floor keeps its inverse finite
    reach = _bennett_reach(np.maximum(variance, 1e-100), math.log(2.0 / leaving))
    # nothing uncertain: the sum is what is certain
    reach[variance == 0.0] = np.inf
    low = np.maximum(certain, np.floor(mean - reach)).astype(np.int64)
    high = np.minimum(possible, np.ceil(mean + reach)).astype(np.int64)
    return low, high


def _bennett_reach(variance: Floats, exponent: float) -> Floats:
    """Solve variance * h(x / variance) = exponent for x, with h(y) = (1 + y) log(1 + y) - y."""
    target = exponent / variance
    # h(y) >= y^2 / (2 + 2y/3): Bernstein gives a start above the root, where Newton descends to it
    y = target / 3.0 + np.sqrt(target * target / 9.0 + 2.0 * target)
    for _ in range(50):
        step = ((1.0 + y) * np.log1p(y) - y - target) / np.log1p(y)
        # a root that is found stays: it does not depend on the others
        step[step < 1e-9 * y] = 0.0
        if not step.any():
            break
        y -= step
    return variance * y * (1.0 + 1e-9)


def unit_rules(
    low: NDArray[np.int64], high: NDArray[np.int64], tolerance: float
) -> list[ExponentialRule]:
    """Return the rules for 1/r and 1/r^2 of many windows, each divided by its low end.

    Parameters
    ----------
    low, high : ndarray of int64
        The windows, with ``1 <= low <= high``.
    tolerance : float
        Worst relative error wanted; below 3e-14 rounding rules and 3e-14 is used.
    """
    if ((low < 1) | (high < low)).any():
        raise ValueError(f"windows are {low} to {high}")
    # a rule depends on the ratio of the ends only: few ratios serve all windows
    octaves = np.ceil(_STEPS_PER_OCTAVE * np.log2(high / low)) / _STEPS_PER_OCTAVE
    return [_unit_rule(width, max(tolerance, _ROUNDING)) for width in octaves.tolist()]


@lru_cache(maxsize=256)
def _unit_rule(octaves: float, tolerance: float) -> ExponentialRule:
    """Rule for r in [1, 2^octaves]: a double-exponential trapezoid for the integral of e^(-u r)."""
    ratio = 2.0**octaves
    r = np.geomspace(1.0, ratio, 60 + int(12 * octaves))
    # about as many nodes as tolerance and window turn out to need, and two more until they do
    fewest = int(-math.log10(tolerance) * (1.8 + 0.26 * math.log(ratio)))
    start = np.array([0.88 * math.log(ratio), -2.4, 3.2 + 0.9 * math.log(ratio)])
    for nodes in range(max(4, fewest), _LARGEST_RULE, 2):
        fit = minimize(
            _log_error,
            start,
            args=(nodes, r),
            method="Nelder-Mead",
            options={"maxfev": 300, "xatol": 1e-3, "fatol": 1e-2},
        )
        u, weight = _trapezoid(nodes, *fit.x)
        error = _relative_error(u, weight, r)
        if error <= tolerance and _harmless_outside(u, weight, ratio):
            return ExponentialRule(u, weight, error)
    raise RuntimeError(f"no rule of {_LARGEST_RULE} nodes reaches {tolerance} on [1, {ratio}]")


def _trapezoid(nodes: int, scale: float, first: float, last: float) -> tuple[Floats, Floats]:
    s = np.linspace(first, last, nodes)
    step = (last - first) / (nodes - 1)
    u = np.exp(s - np.exp(-s) - scale)
    return u, step * u * (1.0 + np.exp(-s))


def _log_error(shape: Floats, nodes: int, r: Floats) -> float:
    return math.log(_relative_error(*_trapezoid(nodes, *shape), r) + 1e-300)


def _relative_error(u: Floats, weight: Floats, r: Floats) -> float:
    power = np.exp(-np.outer(r, u))
    first = np.abs(r * (power @ weight) - 1.0).max()
    second = np.abs(r * r * (power @ (weight * u)) - 1.0).max()
    return float(max(first, second))


def _harmless_outside(u: Floats, weight: Floats, ratio: float) -> bool:
    """Whether r * rule(r) and r^2 * rule2(r) stay <= 2 off the window, as the error bound needs."""
    r = np.concatenate([np.geomspace(1e-3, 1.0, 100), ratio * np.geomspace(1.0, 1e3, 200)])
    power = np.exp(-np.outer(r, u))
    first = (r * (power @ weight)).max()
    second = (r * r * (power @ (weight * u))).max()
    return bool(first <= 2.0 and second <= 2.0)


def gauss_rules(
    u: Floats, weight: Floats, size: Floats, tolerance: float
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Fewer nodes for the sums over k of ``weight_k f(u_k)`` and ``weight_k u_k f(u_k)``.

    f is a moment of at most four documents under the tilted probabilities p t / (q + p t) with
    t = e^-u, which hardly change over the nodes that weigh. They are analytic functions of u, in a
    disk of radius pi/2 at most sqrt(1 + e^pi) times what they are at its centre. So Cauchy's
    estimate bounds the derivatives of f, and these the remainder of Gauss quadrature. Its nodes
    come from Lanczos' recurrence for the measure ``weight``.

    Parameters
    ----------
    u, weight : ndarray, shape (draws, nodes)
        At least 0. Weight 0 is no node.
    size : ndarray, shape (draws,)
        Bound on f.
    tolerance : float
        Bound on the error of both sums.

    Returns
    -------
    counts : ndarray of int64, shape (draws,)
        How many nodes each draw keeps.
    u, weight : ndarray, shape (sum of counts,)
    """
    weighs = weight * size[:, None] * np.maximum(u, 1.0) > 1e-3 * tolerance
    weight = np.where(weighs, weight, 0.0)
    mass = weight.sum(axis=1)
    radius = math.pi / 2.0
    remainder = (1.0 + math.exp(math.pi)) ** 2 * size * mass * (u * weighs + radius).max(axis=1)
    counts = np.zeros(len(mass), dtype=np.int64)
    before, vector = np.zeros_like(u), np.sqrt(weight / mass[:, None])
    matrix = np.zeros((len(mass), *u.shape[1:] * 2))
    for n in range(u.shape[1]):
        matrix[:, n, n] = middle = (u * vector**2).sum(axis=1)
        new = (u - middle[:, None]) * vector - before
        step = np.sqrt((new**2).sum(axis=1))
        remainder *= (step / radius) ** 2
        counts[(counts == 0) & (remainder <= tolerance)] = n + 1
        if counts.all():
            break
        matrix[:, n + 1 : n + 2, n] = step[:, None]
        before = step[:, None] * vector
        vector = new / np.maximum(step, 1e-300)[:, None]
    own = (counts == 0) | (counts >= weighs.sum(axis=1))
    counts[own] = weighs[own].sum(axis=1)
    nodes, weights = np.empty((2, counts.sum()))
    of_draw = np.repeat(np.arange(len(counts)), counts)
    nodes[own[of_draw]], weights[own[of_draw]] = u[own][weighs[own]], weight[own][weighs[own]]
    for count in np.unique(counts[~own]).tolist():
        draws = np.flatnonzero(~own & (counts == count))
        values, vectors = np.linalg.eigh(matrix[draws, :count, :count])
        among = np.isin(of_draw, draws)
        nodes[among] = values.ravel()
        weights[among] = (mass[draws, None] * vectors[:, 0] ** 2).ravel()
    return counts, nodes, weights


@lru_cache(maxsize=1024)
def spectral_nodes(low: int, high: int) -> NDArray[np.complex128]:
    """Half of the nodes t_k = exp(2 pi i (k + 1/2) / M) that see r in [low, high] apart.

    The half shift keeps off t = -1, where q + p t vanishes for p = 1/2; the other half are the
    conjugates, so a sum over all is twice the real part of the sum over these.

    Returns
    -------
    ndarray of complex, shape (M / 2,)
        M is the smallest even number above ``high - low``.
    """
    size = 2 * ((high - low) // 2 + 1)
    nodes: NDArray[np.complex128] = np.exp(2j * np.pi * (np.arange(size // 2) + 0.5) / size)
    freeze(nodes)
    return nodes


def spectral_weights(low: int, values: Floats) -> NDArray[np.complex128]:
    """Weights with ``Re sum_k w_k t_k^r = values[r - low]`` for every r of the window.

    Parameters
    ----------
    low : int
        First r of the window.
    values : ndarray, shape (..., window)

    Returns
    -------
    ndarray of complex, shape (..., M / 2)
        Of the nodes t that :func:`spectral_nodes` has for this window.
    """
    window = values.shape[-1]
    half = (window - 1) // 2 + 1
    turn = np.pi / half
    shifted = values * np.exp(-0.5j * turn * np.arange(window))
    spectrum = np.fft.fft(shifted, 2 * half, axis=-1)[..., :half]
    return spectrum * np.exp(-1j * turn * low * (np.arange(half) + 0.5)) / half
