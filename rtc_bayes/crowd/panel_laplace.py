"""Logistic and ordinal regression with normal priors whose scales are unknown: nested Laplace."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from rtc_bayes.crowd.panel_features import Codes, Floats
from rtc_bayes.errors import FitError
from rtc_bayes.quadrature import gauss_hermite

_MOST_STEPS = 100
# Twice the log density still to gain: the mode within 1e-6 posterior standard deviations.
_DECREMENT = 1e-12
_NODES, _WEIGHTS = gauss_hermite(21)


class Normal(NamedTuple):
    """A normal approximation of whitened coefficients, and the data's evidence under it.

    Attributes
    ----------
    mean : ndarray of float, shape (coefficients,)
    root : ndarray of float, shape (coefficients, coefficients)
        R, with the covariance R R'.
    evidence : float
        Laplace's approximation of the log marginal likelihood.
    """

    mean: Floats
    root: Floats
    evidence: float


class Ordered(NamedTuple):
    """What keeps the intercepts of an ordinal regression in order.

    The chance of a grade is sigma(u) - sigma(l), where the log-odds u and l of reaching it and the
    next lie a gap apart. That is sigma(u) sigma(-l) (1 - exp(l - u)): the chances of two outcomes
    of logistic regression, and a factor of the gap alone.

    Attributes
    ----------
    first : int
        The first gap's place among the coefficients.
    mean, deviation : float
        A gap is ``mean + deviation * coefficient``.
    within : ndarray of int, shape (gaps,)
        How many rows lie between the two thresholds.
    """

    first: int
    mean: float
    deviation: float
    within: Codes

    @property
    def place(self) -> slice:
        """The gaps' places among the coefficients."""
        return slice(self.first, self.first + len(self.within))

    def value(self, at: Floats) -> float:
        """Return the logarithm of the factors: -inf where a gap that rows lie in is closed."""
        gap = (self.mean + self.deviation * at[self.place])[self.within > 0]
        if (gap <= 0).any():
            return -np.inf
        return float(self.within[self.within > 0] @ np.log(-np.expm1(-gap)))

    def slopes(self, at: Floats) -> tuple[Floats, Floats]:
        """Return its first derivatives by the coefficients, and minus its second ones."""
        gap = np.where(self.within > 0, self.mean + self.deviation * at[self.place], 1.0)
        first = self.within * self.deviation / np.expm1(gap)
        return first, first * self.deviation / -np.expm1(-gap)


def laplace(features: Floats, offset: Floats, relevant: Floats, ordered: Ordered) -> Normal:
    """Approximate the posterior of logistic regression with standard normal coefficients.

    Parameters
    ----------
    features : ndarray of float, shape (rows, coefficients)
        Scaled by the priors' standard deviations.
    offset : ndarray of float, shape (rows,)
        Log-odds at the priors' means.
    relevant : ndarray of float, shape (rows,)
        0 or 1.
    ordered : Ordered
        Of an ordinal regression, what its gaps add to the log density.

    Returns
    -------
    Normal
        At the posterior's mode; the prior where there are no rows, exactly.

    Raises
    ------
    FitError
        Newton's method did not converge.

    Examples
    --------
    >>> two_grades = Ordered(0, 0.0, 1.0, np.zeros(0, dtype=int))
    >>> fit = laplace(np.ones((1, 1)), np.zeros(1), np.ones(1), two_grades)
    >>> fit.mean.round(3)
    array([0.401])
    """
    n_coefficients = features.shape[1]
    at, gaps = np.zeros(n_coefficients), ordered.place

    def log_density(at: Floats) -> float:
        return _log_density(features, offset, relevant, at) + ordered.value(at)

    value = log_density(at)
    for _ in range(_MOST_STEPS):
        probability = expit(offset + features @ at)
        weight = probability * (1 - probability)
        curvature = np.eye(n_coefficients) + (features * weight[:, None]).T @ features
        gradient = features.T @ (relevant - probability) - at
        slope, bend = ordered.slopes(at)
        gradient[gaps] += slope
        curvature[gaps, gaps] += np.diag(bend)
        step = np.linalg.solve(curvature, gradient)
        if step @ gradient < _DECREMENT:
            factor = np.linalg.cholesky(curvature)
            evidence = value - float(np.log(np.diag(factor)).sum())
            return Normal(at, np.linalg.inv(factor).T, evidence)
        size, rounding = 1.0, 1e-12 * (1.0 + abs(value))
        while (new := log_density(at + size * step)) < value - rounding and size > 1e-9:
            size /= 2
        at, value = at + size * step, new
    raise FitError("panel: Newton's method did not converge")


def expected_sigmoid(mean: Floats, deviation: Floats) -> Floats:
    """Return the mean of sigma(x) for normal x, by Gauss-Hermite quadrature at 21 points.

    Examples
    --------
    >>> expected_sigmoid(np.array([0.0, 2.0]), np.array([1.0, 0.0])).round(3)
    array([0.5  , 0.881])
    """
    total = np.zeros_like(mean)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        total += weight * expit(mean + deviation * node)
    return total


def draw_components(weights: Floats, draws: int, generator: np.random.Generator) -> Codes:
    """Draw the mixture's components, sorted."""
    return np.sort(generator.choice(len(weights), size=draws, p=weights)).astype(np.int64)


def _log_density(features: Floats, offset: Floats, relevant: Floats, at: Floats) -> float:
    log_odds = offset + features @ at
    fit = float((relevant * log_odds - np.logaddexp(0.0, log_odds)).sum())
    return fit - 0.5 * float(at @ at)
