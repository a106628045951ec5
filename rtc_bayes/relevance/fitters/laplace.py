"""Laplace's approximation of a PyMC graph's posterior: a normal distribution about its mode.

In the unconstrained variables x, with the Jacobian of their transforms, the mode m and the
negative Hessian H there give draws of N(m, H^-1). How far that is from the posterior the
importance ratios say, posterior over normal: their Pareto k (Vehtari, Simpson, Gelman, Yao and
Gabry 2024, "Pareto smoothed importance sampling"). Up to 0.7 the draws are resampled by the
smoothed ratios, which mends skewness; above, ratios cannot be relied upon: the draws stay the
normal's, and a warning says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.errors import FitError
from rtc_bayes.relevance.fitters.checks import PARETO_K, pareto_check
from rtc_bayes.relevance.fitters.graphs import (
    as_fit_error,
    check_start,
    collect,
    find_mode,
    open_density,
)
from rtc_bayes.relevance.interface import Diagnostics, Draws, Sampling, Stage
from rtc_bayes.relevance.newton import Floats
from rtc_bayes.workers import one_thread

# Pareto's shape is fitted to the largest fifth of the ratios, five at least
_FEWEST = 25


def graph_laplace(model: Any, judgments: Judgments, sampling: Sampling) -> Draws:
    """Draw from the normal about the posterior's mode, corrected by importance where possible.

    Raises
    ------
    FitError
        There is no mode about which the density falls off in every direction.
    """
    from scipy.linalg import solve_triangular

    density = open_density(model, judgments)
    with as_fit_error(model, "laplace"):
        check_start(model, density, judgments)
        mode, factor = find_mode(density, jacobian=True)
        if not mode.converged:
            raise FitError(
                f"laplace of {model.name} is refused: the posterior density has no mode about "
                f"which it falls off in every direction ({Stage.of('graph', [mode])}); use nuts"
            )
        rng = np.random.default_rng(sampling.seed)
        normal = rng.standard_normal((sampling.chains * sampling.draws, density.size))
        with one_thread():
            points = mode.at + solve_triangular(factor, normal.T, lower=True, trans="T").T
        lp = np.array([density.log_density(x, jacobian=True) for x in points])
        weights, k = smoothed_weights(lp + 0.5 * (normal**2).sum(axis=1))
        if k <= PARETO_K:
            chosen = resample(weights, rng)
            points, lp = points[chosen], lp[chosen]
        shape = (sampling.chains, sampling.draws)
        return collect(
            density,
            points.reshape(*shape, density.size),
            {"lp": lp.reshape(shape)},
            Diagnostics((Stage.of("graph", [mode]),), (pareto_check(k),)),
        )


def smoothed_weights(log_ratios: Floats) -> tuple[Floats, float]:
    """Smooth importance ratios.

    Parameters
    ----------
    log_ratios : ndarray of float, shape (draws,)
        Up to a constant; minus infinity where the posterior is 0.

    Returns
    -------
    weights : ndarray of float, shape (draws,)
        They sum to 1.
    k : float
        Pareto's shape of the largest ratios; minus infinity where all ratios are equal.

    Raises
    ------
    FitError
        Fewer than 25 draws: too few to tell how far the normal is from the posterior.
    """
    from arviz_stats.base import array_stats

    if len(log_ratios) > 1 and np.ptp(log_ratios) < 1e-8:
        return np.full(len(log_ratios), 1.0 / len(log_ratios)), -np.inf
    if len(log_ratios) < _FEWEST:
        raise FitError(
            f"{len(log_ratios)} draws of all chains are too few to hold the normal against the "
            f"posterior; draw at least {_FEWEST}"
        )
    # it takes log likelihoods of what is to be left out, and turns them round
    log_weights, k = array_stats.psislw(-log_ratios)
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum(), float(k)


def resample(weights: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose as many draws as there are, by their weights, systematically, in random order."""
    n = len(weights)
    chosen = np.searchsorted(np.cumsum(weights), (np.arange(n) + rng.random()) / n)
    return rng.permutation(np.minimum(chosen, n - 1))
