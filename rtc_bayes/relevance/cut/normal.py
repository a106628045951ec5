"""A normal approximation of the posterior of a logistic regression: compiled.

Not the normal at the mode, but the one nearest in Kullback-Leibler divergence: the gradient and
the curvature of the log density are averaged over the normal itself (Opper and Archambeau, "The
variational Gaussian approximation revisited", 2009). Few judgments leave coefficients in the
exponential tails of their LogitBeta priors, where the curvature at the mode says nothing of their
spread. With eta ~ N(m, v), E sigma(eta) is about sigma(k m), k = (1 + pi v / 8)^(-1/2) (MacKay,
"The evidence framework applied to classification networks", 1992). The approximation guides a
sampler and does not enter its answers.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.relevance.cut.targets import FAST, LogisticTarget, log_odds, probability

type Floats = NDArray[np.float64]

_MOST_ROUNDS = 200
_MOST_HALVINGS = 30
# near enough for a guide: the centre to a tenth of a standard deviation, the volume to a tenth
_DECREMENT = 0.01
_VOLUME = 0.1
_FURTHEST = 2.0
_MACKAY = math.pi / 8.0


@njit(cache=True, nogil=True, error_model="numpy")
def approximate(
    target: LogisticTarget, centre: Floats, precision: Floats, spread: Floats, work: Floats
) -> None:
    """Move `centre` and `precision` from where they are to the normal approximation.

    The precision goes half of the way in a round, and the centre no further than two standard
    deviations, so that each is at home where the other has come to.

    Parameters
    ----------
    target : LogisticTarget
    centre : ndarray, shape (coefficients,)
    precision : ndarray, shape (coefficients, coefficients)
        Its lower triangle.
    spread : ndarray, shape (coefficients, coefficients)
        Set, upper triangular: spread spread' is the covariance.
    work : ndarray, shape (4, at least the rows)
        Working space.
    """
    n, rows = len(centre), len(target.weight)
    shrink, own_shrink = work[3, :rows], np.empty(n)
    gradient, whitened, step = np.empty(n), np.empty(n), np.empty(n)
    information = np.empty((n, n))
    information[:] = precision
    inverse_root(information, spread)
    volume = _log_volume(spread)
    for _ in range(_MOST_ROUNDS):
        _shrinkage(target.features, spread, work, shrink, own_shrink)
        _information(target, centre, shrink, own_shrink, work, information)
        for j in range(n):
            for k in range(j + 1):
                precision[j, k] = 0.5 * (precision[j, k] + information[j, k])
        information[:] = precision
        inverse_root(information, spread)
        before, volume = volume, _log_volume(spread)
        _gradient(target, centre, shrink, own_shrink, work, gradient)
        transposed_times(spread, gradient, whitened)
        decrement = square(whitened)
        if decrement <= _DECREMENT and abs(volume - before) <= _VOLUME:
            break
        times(spread, whitened, step)
        scale = min(1.0, _FURTHEST / math.sqrt(decrement))
        for j in range(n):
            centre[j] += scale * step[j]
        for _ in range(_MOST_HALVINGS):
            _gradient(target, centre, shrink, own_shrink, work, gradient)
            slope = 0.0
            for j in range(n):
                slope += gradient[j] * step[j]
            # what is climbed is concave: a slope far below 0 is well past the top
            if slope >= -0.5 * decrement:
                break
            scale *= 0.5
            for j in range(n):
                centre[j] -= scale * step[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _shrinkage(
    features: Floats, spread: Floats, work: Floats, shrink: Floats, own_shrink: Floats
) -> None:
    """Set MacKay's factor k of every row and of every coefficient."""
    rows = len(shrink)
    part = work[0, :rows]
    shrink[:] = 0.0
    for k in range(len(spread)):
        part[:] = 0.0
        for j in range(k + 1):
            row, factor = features[j], spread[j, k]
            for i in range(rows):
                part[i] += factor * row[i]
        for i in range(rows):
            shrink[i] += part[i] * part[i]
    for i in range(rows):
        shrink[i] = 1.0 / math.sqrt(1.0 + _MACKAY * shrink[i])
    for j in range(len(spread)):
        own_shrink[j] = 1.0 / math.sqrt(1.0 + _MACKAY * square(spread[j, j:]))


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _gradient(
    target: LogisticTarget,
    x: Floats,
    shrink: Floats,
    own_shrink: Floats,
    work: Floats,
    out: Floats,
) -> None:
    """Set the mean gradient of the log density."""
    residual = work[0, : len(shrink)]
    log_odds(target.features, x, residual)
    for i in range(len(residual)):
        p = probability(shrink[i] * residual[i])
        residual[i] = target.relevant[i] - target.weight[i] * p
    for j in range(len(x)):
        row = target.features[j]
        total = 0.0
        for i in range(len(residual)):
            total += residual[i] * row[i]
        p = probability(own_shrink[j] * x[j])
        out[j] = total + target.a - (target.a + target.b) * p


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _information(
    target: LogisticTarget,
    x: Floats,
    shrink: Floats,
    own_shrink: Floats,
    work: Floats,
    out: Floats,
) -> None:
    """Set the lower triangle of the mean curvature of the log density, its sign changed."""
    rows = len(shrink)
    curvature, scaled = work[0, :rows], work[1, :rows]
    log_odds(target.features, x, curvature)
    for i in range(rows):
        p = probability(shrink[i] * curvature[i])
        curvature[i] = target.weight[i] * shrink[i] * p * (1.0 - p)
    for j in range(len(x)):
        row = target.features[j]
        for i in range(rows):
            scaled[i] = curvature[i] * row[i]
        for k in range(j + 1):
            other = target.features[k]
            total = 0.0
            for i in range(rows):
                total += scaled[i] * other[i]
            out[j, k] = total
        p = probability(own_shrink[j] * x[j])
        out[j, j] += (target.a + target.b) * own_shrink[j] * p * (1.0 - p)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _log_volume(spread: Floats) -> float:
    """Return the logarithm of the determinant of `spread`."""
    total = 0.0
    for j in range(len(spread)):
        total += math.log(spread[j, j])
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def inverse_root(precision: Floats, spread: Floats) -> None:
    """Set the upper triangular `spread` with spread spread' = precision^-1.

    `precision` gives its lower triangle and becomes its Cholesky factor. A pivot lost to
    rounding, of features that are nearly the same, is replaced by the least that can be told.
    """
    n = len(precision)
    for j in range(n):
        least = 1e-13 * precision[j, j]
        for k in range(j + 1):
            total = precision[j, k]
            for i in range(k):
                total -= precision[j, i] * precision[k, i]
            precision[j, k] = np.sqrt(max(total, least)) if k == j else total / precision[k, k]
    spread[:] = 0.0
    for j in range(n):
        spread[j, j] = 1.0 / precision[j, j]
        for k in range(j + 1, n):
            total = 0.0
            for i in range(j, k):
                total += precision[k, i] * spread[j, i]
            spread[j, k] = -total / precision[k, k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def times(spread: Floats, z: Floats, out: Floats) -> None:
    """Set out = spread z."""
    for j in range(len(z)):
        row, right = spread[j, j:], z[j:]
        total = 0.0
        for k in range(len(row)):
            total += row[k] * right[k]
        out[j] = total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def transposed_times(spread: Floats, x: Floats, out: Floats) -> None:
    """Set out = spread' x."""
    out[:] = 0.0
    for j in range(len(x)):
        row, right = spread[j, j:], out[j:]
        for k in range(len(row)):
            right[k] += row[k] * x[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def square(x: Floats) -> float:
    """Return x' x."""
    total = 0.0
    for j in range(len(x)):
        total += x[j] * x[j]
    return total
