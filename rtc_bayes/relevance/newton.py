"""Newton's method for log-concave densities, which the models share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.workers import one_thread

type Floats = NDArray[np.float64]

# The decrement g' H^-1 g is twice the log density still to gain, whatever the features' scale:
# at 1e-16 every coefficient is within 1e-8 posterior standard deviations of the mode.
_DECREMENT = 1e-16
_MOST_ITERATIONS = 100
_MOST_HALVINGS = 40
# of central differences of a gradient that is exact to about 1e-13
_DIFFERENCE = 1e-5


@dataclass(frozen=True, eq=False)
class Mode:
    """Where a log density is highest, and how that was found.

    Attributes
    ----------
    at : ndarray of float, shape (parameters,)
    iterations : int
        Newton steps taken.
    gradient : float
        Euclidean norm of the gradient there.
    converged : bool
        Whether the Newton decrement fell below 1e-16.
    """

    at: Floats
    iterations: int
    gradient: float
    converged: bool


class Ascent[Curvature](NamedTuple):
    """Where Newton's method ended, with the log density, its gradient and negative Hessian."""

    at: Floats
    value: float
    gradient: Floats
    curvature: Curvature
    iterations: int
    converged: bool


class Solved(Protocol):
    """Anything that an optimisation gave, by how it went: :class:`Mode` and what is made of one."""

    @property
    def iterations(self) -> int:
        """Newton steps taken."""

    @property
    def gradient(self) -> float:
        """Norm of the gradient at the end."""

    @property
    def converged(self) -> bool:
        """Whether the mode was reached."""


def maximise(
    start: Floats,
    log_density: Callable[[Floats], float],
    derivatives: Callable[[Floats], tuple[Floats, Floats]],
) -> Mode:
    """Find the mode of a log-concave density by Newton's method with step halving.

    Parameters
    ----------
    start : ndarray of float, shape (parameters,)
    log_density : callable
        Its value at a point.
    derivatives : callable
        Gradient, and negative Hessian (positive definite), at a point.

    Returns
    -------
    Mode
        Not converged after 100 steps.
    """
    # the systems are small: threads of the linear algebra would only wait for each other
    with one_thread():
        end = ascend(start, log_density, derivatives, _solve)
    return Mode(end.at, end.iterations, float(np.linalg.norm(end.gradient)), end.converged)


def ascend[Curvature](
    start: Floats,
    log_density: Callable[[Floats], float],
    derivatives: Callable[[Floats], tuple[Floats, Curvature]],
    solve: Callable[[Curvature, Floats], Floats],
) -> Ascent[Curvature]:
    """Do as :func:`maximise`, with negative Hessians of any kind that `solve` divides by.

    The linear algebra keeps its threads.
    """
    x, value = start, log_density(start)
    for iteration in range(_MOST_ITERATIONS):
        gradient, curvature = derivatives(x)
        step = solve(curvature, gradient)
        decrement = float(gradient @ step)
        if decrement <= _DECREMENT:
            return Ascent(x, value, gradient, curvature, iteration, True)
        # near the mode the gain is smaller than the rounding error of the value
        slack = 1e-13 * (1.0 + abs(value))
        scale = 1.0
        for _ in range(_MOST_HALVINGS):
            moved = x + scale * step
            moved_value = log_density(moved)
            if moved_value >= value + 1e-4 * scale * decrement - slack:
                break
            scale *= 0.5
        x, value = moved, moved_value
    return Ascent(x, value, *derivatives(x), _MOST_ITERATIONS, False)


def _solve(curvature: Floats, gradient: Floats) -> Floats:
    """Solve for the Newton step, in units in which every parameter's own curvature is 1."""
    unit = 1.0 / np.sqrt(np.maximum(np.diag(curvature), np.finfo(float).tiny))
    scaled = curvature * np.outer(unit, unit)
    # keeps the step finite where two features are the same to rounding; the mode does not move
    scaled[np.diag_indices_from(scaled)] += 1e-13
    return np.linalg.solve(scaled, gradient * unit) * unit


def differences_of(gradient: Callable[[Floats], Floats], x: Floats) -> Floats:
    """Return second derivatives by central differences of a gradient, shape (size, size).

    Examples
    --------
    >>> differences_of(lambda x: 3.0 * x, np.zeros(2)).round(6).tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """
    rows = np.empty((len(x), len(x)))
    for row, step in zip(rows, _DIFFERENCE * np.eye(len(x)), strict=True):
        row[:] = (gradient(x + step) - gradient(x - step)) / (2.0 * _DIFFERENCE)
    return 0.5 * (rows + rows.T)
