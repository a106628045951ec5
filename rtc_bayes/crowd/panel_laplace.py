"""Logistic regression with normal priors whose scales are unknown: nested Laplace."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rtc_bayes.crowd.panel_features import Codes, Floats
from rtc_bayes.errors import FitError

_MOST_STEPS = 100
# Twice the log density still to gain: the mode within 1e-6 posterior standard deviations.
_DECREMENT = 1e-12
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(21)


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


def laplace(features: Floats, offset: Floats, relevant: Floats) -> Normal:
    """Approximate the posterior of logistic regression with standard normal coefficients.

    Parameters
    ----------
    features : ndarray of float, shape (rows, coefficients)
        Scaled by the priors' standard deviations.
    offset : ndarray of float, shape (rows,)
        Log-odds at the priors' means.
    relevant : ndarray of float, shape (rows,)
        0 or 1.

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
    >>> fit = laplace(np.ones((1, 1)), np.zeros(1), np.ones(1))
    >>> fit.mean.round(3)
    array([0.401])
    """
    n_coefficients = features.shape[1]
    at, value = np.zeros(n_coefficients), _log_density(features, offset, relevant, None)
    for _ in range(_MOST_STEPS):
        probability = _sigmoid(offset + features @ at)
        weight = probability * (1 - probability)
        curvature = np.eye(n_coefficients) + (features * weight[:, None]).T @ features
        gradient = features.T @ (relevant - probability) - at
        step = np.linalg.solve(curvature, gradient)
        if step @ gradient < _DECREMENT:
            factor = np.linalg.cholesky(curvature)
            evidence = value - float(np.log(np.diag(factor)).sum())
            return Normal(at, np.linalg.inv(factor).T, evidence)
        size, rounding = 1.0, 1e-12 * (1.0 + abs(value))
        while (
            new := _log_density(features, offset, relevant, at + size * step)
        ) < value - rounding and size > 1e-9:
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
    for node, weight in zip(_NODES, _NODE_WEIGHTS / _NODE_WEIGHTS.sum(), strict=True):
        total += weight * _sigmoid(mean + deviation * node)
    return total


def draw_components(weights: Floats, draws: int, generator: np.random.Generator) -> Codes:
    """Draw the mixture's components, sorted."""
    return np.sort(generator.choice(len(weights), size=draws, p=weights)).astype(np.int64)


def _log_density(features: Floats, offset: Floats, relevant: Floats, at: Floats | None) -> float:
    log_odds = offset if at is None else offset + features @ at
    prior = 0.0 if at is None else 0.5 * float(at @ at)
    return float((relevant * log_odds - np.logaddexp(0.0, log_odds)).sum()) - prior


def _sigmoid(x: Floats) -> Floats:
    return 0.5 * (1.0 + np.tanh(0.5 * x))
