"""Moves of effects and scales beside those of every sweep, where rows are many.

Given Polya-Gamma variables, effects can hardly move where nearly all labels of many rows are one
(Johndrow, Smith, Pillai and Dunson, "MCMC for imbalanced categorical data", 2019): a topic's
intercept then needs hundreds of sweeps for an independent draw. Two moves do not use these
variables, and a third integrates all effects out. They are accepted by Metropolis and Hastings, so
that the posterior is the same.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from rtc_bayes.relevance.gibbs.chain import (
    Normal,
    Prior,
    Rows,
    Said,
    State,
    acceptance,
    prior_gain,
)
from rtc_bayes.relevance.gibbs.linear import add_product, backward, cholesky, forward, softplus
from rtc_bayes.relevance.newton import Floats


@njit(cache=True, nogil=True, error_model="numpy")
def look(rows: Rows, state: State, eta: Floats, weight: float, said: Said) -> None:
    """Set what rows say of topics' effects: their log likelihood as a parabola, about the state.

    It has this weight, in (0, 1], beside what they said before.
    """
    depth = said.pull.shape[1]
    precision, pull = np.empty((depth, depth)), np.empty(depth)
    for t in range(len(said.pull)):
        here = slice(rows.starts[t], rows.starts[t + 1])
        _curvature(rows.local[here], eta[here], precision)
        _slope(rows.local[here], rows.labels[here], eta[here], pull)
        for k in range(depth):
            for j in range(depth):
                pull[k] += precision[k, j] * state.local[t, j]
                said.precision[t, k, j] += weight * (precision[k, j] - said.precision[t, k, j])
            said.pull[t, k] += weight * (pull[k] - said.pull[t, k])


@njit(cache=True, nogil=True, error_model="numpy")
def move_topics(
    random: np.random.Generator,
    rows: Rows,
    variance: Floats,
    said: Said,
    by_state: bool,
    state: State,
    eta: Floats,
) -> None:
    """Move each topic's effects to a draw from the normal about their next Newton step.

    Gamerman, "Sampling from the posterior distribution in generalized linear mixed models", 1997.
    The curvature is that of the state, or what rows said of it before. The first goes too far where
    a likelihood is nearly flat, the second where it is steep: by turns they leave either.
    `variance` is the effects' prior one.
    """
    depth = len(variance)
    curvature, root, root_back = np.empty((3, depth, depth))
    centre, centre_back, place, proposed = np.empty((4, depth))
    for t in range(len(state.local)):
        here = slice(rows.starts[t], rows.starts[t + 1])
        local, labels, effects, now = rows.local[here], rows.labels[here], state.local[t], eta[here]
        if len(labels) == 0:
            continue
        if not by_state:
            curvature = said.precision[t]
        gain = -_posterior(local, labels, now, variance, effects, centre)
        if by_state:
            _curvature(local, now, curvature)
        _normal(curvature, centre, variance, root, centre)
        for k in range(depth):
            centre[k] += effects[k]
            place[k] = random.standard_normal()
            gain += 0.5 * place[k] ** 2
        backward(root, place)
        for k in range(depth):
            proposed[k] = centre[k] + place[k]
        then = now.copy()
        for i in range(len(then)):
            for k in range(depth):
                then[i] += local[i, k] * (proposed[k] - effects[k])
        gain += _posterior(local, labels, then, variance, proposed, centre_back)
        if by_state:
            _curvature(local, then, curvature)
        _normal(curvature, centre_back, variance, root_back, centre_back)
        for k in range(depth):
            centre_back[k] += proposed[k]
        _place(root_back, effects, centre_back, place)
        for k in range(depth):
            gain += math.log(root_back[k, k] / root[k, k]) - 0.5 * place[k] ** 2
        if random.random() < acceptance(gain):
            for k in range(depth):
                effects[k] = proposed[k]
            for i in range(len(then)):
                now[i] = then[i]


@njit(cache=True, nogil=True, error_model="numpy")
def move_scale(
    random: np.random.Generator,
    g: int,
    rows: Rows,
    prior: Prior,
    said: Said,
    step: float,
    part: Floats,
    eta: Floats,
    state: State,
) -> float:
    """Move a log scale of topics' effects, and these with it; return the chance of acceptance.

    Effects keep their place in the normal of what rows say of them and the scale. Where rows say
    nothing that is their standardised value, where they say all it is their value, and between the
    two it is the partly non-centred one (Papaspiliopoulos, Roberts and Skold, "Non-centered
    parameterisations for hierarchical models and data augmentation", 2003).
    """
    topics, depth = state.local.shape
    old = state.log_scale[g]
    new = old + step * random.standard_normal()
    before, after = np.empty(depth), np.empty(depth)
    for k in range(depth):
        before[k] = math.exp(2.0 * state.log_scale[prior.local_scale_of[k]])
        after[k] = math.exp(2.0 * new) if prior.local_scale_of[k] == g else before[k]
    root, centre, place = np.empty((depth, depth)), np.empty(depth), np.empty(depth)
    proposed = np.empty((topics, depth))
    gain = prior_gain(prior, g, old, new)
    for t in range(topics):
        effects = state.local[t]
        _normal(said.precision[t], said.pull[t], before, root, centre)
        _place(root, effects, centre, place)
        for k in range(depth):
            gain += math.log(root[k, k]) + 0.5 * effects[k] ** 2 / before[k]
        _normal(said.precision[t], said.pull[t], after, root, centre)
        backward(root, place)
        for k in range(depth):
            proposed[t, k] = centre[k] + place[k]
            gain -= math.log(root[k, k]) + 0.5 * proposed[t, k] ** 2 / after[k]
            gain += 0.5 * math.log(before[k] / after[k])
        for i in range(rows.starts[t], rows.starts[t + 1]):
            part[i] = eta[i]
            for k in range(depth):
                part[i] += rows.local[i, k] * (proposed[t, k] - effects[k])
            gain += rows.labels[i] * (part[i] - eta[i]) - softplus(part[i]) + softplus(eta[i])
    rate = acceptance(gain)
    if random.random() < rate:
        state.log_scale[g] = new
        for t in range(topics):
            for k in range(depth):
                state.local[t, k] = proposed[t, k]
        for i in range(len(eta)):
            eta[i] = part[i]
    return rate


@njit(cache=True, nogil=True, error_model="numpy")
def move_scale_alone(
    random: np.random.Generator,
    g: int,
    prior: Prior,
    normal: Normal,
    step: float,
    variance: Floats,
    state: State,
) -> float:
    """Move a log scale of effects that are no topic's, and of their `variance`.

    All effects are integrated out of the normal conditional, from which they are drawn next. Return
    the chance of acceptance.
    """
    old = state.log_scale[g]
    new = old + step * random.standard_normal()
    proposed = variance.copy()
    for k in range(len(variance)):
        if prior.scale_of[k] == g:
            proposed[k] *= math.exp(2.0 * (new - old))
    gain = prior_gain(prior, g, old, new)
    gain += _evidence(prior.mean, proposed, normal) - _evidence(prior.mean, variance, normal)
    rate = acceptance(gain)
    if random.random() < rate:
        state.log_scale[g] = new
        for k in range(len(variance)):
            variance[k] = proposed[k]
    return rate


@njit(cache=True, nogil=True, error_model="numpy")
def _evidence(mean: Floats, variance: Floats, normal: Normal) -> float:
    """Return the log density of the rows given omega, effects of this variance integrated out."""
    root, pull = normal.precision.copy(), normal.pull.copy()
    total = 0.0
    for k in range(len(pull)):
        root[k, k] += 1.0 / variance[k]
        pull[k] += mean[k] / variance[k]
        total -= 0.5 * math.log(variance[k])
    cholesky(root)
    forward(root, pull)
    for k in range(len(pull)):
        total += 0.5 * pull[k] ** 2 - math.log(root[k, k])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _slope(local: Floats, labels: Floats, eta: Floats, slope: Floats) -> float:
    """Return a topic's log likelihood, and set its slope by effects."""
    value = 0.0
    for k in range(len(slope)):
        slope[k] = 0.0
    for i in range(len(labels)):
        soft = softplus(eta[i])
        value += labels[i] * eta[i] - soft
        rest = labels[i] - math.exp(eta[i] - soft)
        for k in range(len(slope)):
            slope[k] += rest * local[i, k]
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _posterior(
    local: Floats, labels: Floats, eta: Floats, variance: Floats, effects: Floats, slope: Floats
) -> float:
    """Return a topic's log posterior density of effects, and set its slope."""
    value = _slope(local, labels, eta, slope)
    for k in range(len(slope)):
        slope[k] -= effects[k] / variance[k]
        value -= 0.5 * effects[k] ** 2 / variance[k]
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _curvature(local: Floats, eta: Floats, precision: Floats) -> None:
    """Set the precision that a topic's rows give its effects: less their curvature."""
    scaled = np.empty(local.shape)
    for k in range(local.shape[1]):
        for j in range(local.shape[1]):
            precision[k, j] = 0.0
    for i in range(len(eta)):
        p = math.exp(eta[i] - softplus(eta[i]))
        scale = math.sqrt(p * (1.0 - p))
        for k in range(local.shape[1]):
            scaled[i, k] = scale * local[i, k]
    add_product(scaled, scaled, 1.0, precision)


@njit(cache=True, nogil=True, error_model="numpy")
def _normal(
    precision: Floats, pull: Floats, variance: Floats, root: Floats, centre: Floats
) -> None:
    """Set the root of the precision with the prior's, and the centre to which `pull` then leads."""
    for k in range(len(centre)):
        centre[k] = pull[k]
        for j in range(k + 1):
            root[k, j] = precision[k, j]
        root[k, k] += 1.0 / variance[k]
    cholesky(root)
    forward(root, centre)
    backward(root, centre)


@njit(cache=True, nogil=True, error_model="numpy")
def _place(root: Floats, effects: Floats, centre: Floats, place: Floats) -> None:
    """Set the place of effects in a normal, in standard deviations: root' (effects - centre)."""
    for k in range(len(place)):
        place[k] = 0.0
        for j in range(k, len(place)):
            place[k] += root[j, k] * (effects[j] - centre[j])
