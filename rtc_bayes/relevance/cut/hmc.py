"""Hamiltonian Monte Carlo for the layers, whose log densities are concave: compiled.

Neal, "MCMC using Hamiltonian dynamics", 2011. The state is z, in coordinates in which a normal
approximation of the target is the standard normal: x = centre + spread z. There a trajectory of
about a quarter of the period, pi / 2, forgets where it began; its length varies by a fifth, lest
it meet a period. The targets are close to normal in these coordinates, so that nothing needs to
be adapted. Random numbers are given: a kernel is a function of its arguments. Kernels release
the GIL.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.relevance.cut.normal import square, times, transposed_times
from rtc_bayes.relevance.cut.targets import LogisticTarget, RankTarget, log_density

type Floats = NDArray[np.float64]

# length of a trajectory, and of a step in one dimension, in standard deviations; steps shrink
# with the dimension n as n^(-1/4), which holds the probability of acceptance
_LENGTH = 1.8
_STEP = 1.6
# an energy error above this is a trajectory gone astray, as in PyMC
_DIVERGENT = 1000.0


def leapfrog(dimension: int) -> tuple[int, float]:
    """Return the number of steps of a trajectory and their length."""
    steps = math.ceil(_LENGTH / (_STEP * max(dimension, 1) ** -0.25))
    return steps, _LENGTH / steps


@njit(cache=True, nogil=True, error_model="numpy")
def chain(
    target: RankTarget | LogisticTarget,
    centre: Floats,
    spread: Floats,
    work: Floats,
    normals: Floats,
    uniforms: Floats,
    steps: int,
    step: float,
    thin: int,
    out: Floats,
    stats: Floats,
) -> None:
    """Run one chain from a draw of the normal approximation, and keep some of its states.

    Parameters
    ----------
    target : RankTarget or LogisticTarget
    centre : ndarray, shape (coefficients,)
    spread : ndarray, shape (coefficients, coefficients)
        Upper triangular; spread spread' is the covariance of the normal approximation.
    work : ndarray
        See :func:`rtc_bayes.relevance.cut.targets.log_density`.
    normals : ndarray, shape (transitions + 1, coefficients)
        For the start, and for the momentum of each transition.
    uniforms : ndarray, shape (transitions, 2)
        For the length of a transition's steps, and for acceptance.
    steps : int
    step : float
        See :func:`leapfrog`.
    thin : int
        Transitions for each state kept; those beyond ``thin * len(out)`` come before the first.
    out : ndarray, shape (draws, coefficients)
    stats : ndarray, shape (2,)
        Adds the mean probability of acceptance, and the number of divergent trajectories.
    """
    n, transitions = len(centre), len(uniforms)
    warm = transitions - thin * len(out)
    z, x, force, momentum = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    new_z, new_x, new_force, gradient = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    z[:] = normals[0]
    value = _at(target, centre, spread, z, work, gradient, x, force, True)
    for transition in range(transitions):
        length = step * (0.8 + 0.4 * uniforms[transition, 0])
        momentum[:] = normals[transition + 1]
        new_z[:], new_force[:] = z, force
        new_value = value
        change = -value + 0.5 * square(momentum)
        for s in range(steps):
            for j in range(n):
                momentum[j] += 0.5 * length * new_force[j]
                new_z[j] += length * momentum[j]
            last = s == steps - 1
            new_value = _at(target, centre, spread, new_z, work, gradient, new_x, new_force, last)
            for j in range(n):
                momentum[j] += 0.5 * length * new_force[j]
        change += new_value - 0.5 * square(momentum)
        if change > -_DIVERGENT:
            stats[0] += min(1.0, np.exp(change)) / transitions
            if np.log(uniforms[transition, 1]) < change:
                z[:], x[:], force[:] = new_z, new_x, new_force
                value = new_value
        else:
            stats[1] += 1.0
        if transition >= warm and (transition - warm) % thin == thin - 1:
            out[(transition - warm) // thin] = x


@njit(cache=True, nogil=True, error_model="numpy")
def _at(
    target: RankTarget | LogisticTarget,
    centre: Floats,
    spread: Floats,
    z: Floats,
    work: Floats,
    gradient: Floats,
    x: Floats,
    force: Floats,
    valued: bool,
) -> float:
    """Set x and the force on z; return the log density if `valued`."""
    times(spread, z, x)
    for j in range(len(x)):
        x[j] += centre[j]
    value = log_density(target, x, work, gradient, valued)
    transposed_times(spread, gradient, force)
    return value
