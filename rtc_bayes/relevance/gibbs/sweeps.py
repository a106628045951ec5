"""Sweeps of the Gibbs sampler of a logistic regression with effects: compiled.

A sweep draws the Polya-Gamma variable of every row, all coefficients and effects at once from
their normal conditional, the mixing variables of Student-t effects, and the scales. Effects of a
topic touch only the rows of that topic, so they are integrated out of the normal, topic by topic:
by rows where a topic has few of them, else by its effects. Scales move twice, given the effects
and given the standardised effects (Yu and Meng, "To center or not to center", 2011), so that they
mix whether the data say much or little.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.relevance.gibbs.polya_gamma import polya_gamma

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

# acceptance that steps in one dimension are tuned to (Gelman, Roberts and Gilks 1996)
_ACCEPTANCE = 0.44


@njit(cache=True, nogil=True, error_model="numpy")
def run(
    random: np.random.Generator,
    columns: Floats,
    local: Floats,
    starts: Integers,
    labels: Floats,
    mean: Floats,
    sd: Floats,
    scale_of: Integers,
    local_scale_of: Integers,
    log_median: Floats,
    spread: Floats,
    df: Floats,
    tune: int,
    thin: int,
    out: Floats,
    local_out: Floats,
    log_scale_out: Floats,
) -> None:
    """Run one chain from the prior's centre, and keep every `thin`-th sweep after the first `tune`.

    Parameters
    ----------
    random : numpy.random.Generator
    columns : ndarray, shape (rows, coefficients and effects)
        Rows in the order of their topics.
    local : ndarray, shape (rows, effects of a topic)
    starts : ndarray of int, shape (topics + 1,)
        Where each topic's rows begin.
    labels : ndarray, shape (rows,)
        In [0, 1].
    mean, sd : ndarray, shape (coefficients and effects,)
        Of the coefficients' normal priors.
    scale_of, local_scale_of : ndarray of int
        The scale of each column; -1 for a coefficient.
    log_median, spread, df : ndarray, shape (scales,)
        Priors of the log scales; a spread of 0 fixes one. Degrees of freedom of its effects,
        infinite for the normal.
    tune, thin : int
        Sweeps before the first draw is begun, and sweeps to each draw.
    out, local_out, log_scale_out : ndarray, shape (draws, ...)
        Set. `local_out` is (draws, topics, effects of a topic).
    """
    rows, width = columns.shape
    topics, depth = len(starts) - 1, local.shape[1]
    state, log_scale = mean.copy(), log_median.copy()
    effects = np.zeros((topics, depth))
    mixing, variance, local_variance = np.ones(width), np.empty(width), np.empty(depth)
    eta, omega, part = np.empty(rows), np.empty(rows), np.empty(rows)
    largest = 0
    by_effects = 0
    for t in range(topics):
        n = starts[t + 1] - starts[t]
        if n > depth:
            by_effects += 1
        else:
            largest = max(largest, n)
    factors = np.empty((rows, largest))
    whitened, response = np.empty((rows, width)), np.empty(rows)
    removed, removed_response = np.zeros((by_effects * depth, width)), np.zeros(by_effects * depth)
    factors_by_effects = np.empty((by_effects * depth, depth))
    steps = np.full((2, len(log_scale)), math.log(0.3))
    seen = np.zeros((topics, depth), dtype=np.bool_)
    for t in range(topics):
        for i in range(starts[t], starts[t + 1]):
            for k in range(depth):
                seen[t, k] |= local[i, k] != 0.0
    log_odds(columns, local, starts, state, effects, eta)
    for sweep in range(tune + thin * len(out)):
        for i in range(rows):
            omega[i] = polya_gamma(random, eta[i])
        for k in range(width):
            g = scale_of[k]
            variance[k] = sd[k] ** 2 if g < 0 else math.exp(2.0 * log_scale[g]) * mixing[k]
        for k in range(depth):
            local_variance[k] = math.exp(2.0 * log_scale[local_scale_of[k]])
        _integrate_topics(
            columns,
            local,
            starts,
            labels,
            omega,
            local_variance,
            factors,
            whitened,
            response,
            removed,
            removed_response,
            factors_by_effects,
        )
        precision = whitened.T @ whitened - removed.T @ removed
        pull = whitened.T @ response - removed.T @ removed_response
        for k in range(width):
            precision[k, k] += 1.0 / variance[k]
            pull[k] += mean[k] / variance[k]
        root = np.linalg.cholesky(precision)
        _forward(root, pull)
        for k in range(width):
            pull[k] += random.standard_normal()
        _backward(root, pull)
        state[:] = pull
        _draw_topics(
            random,
            columns,
            local,
            starts,
            labels,
            omega,
            local_variance,
            factors,
            factors_by_effects,
            state,
            effects,
        )
        log_odds(columns, local, starts, state, effects, eta)
        for g in range(len(log_scale)):
            if spread[g] == 0.0:
                continue
            pace = 0.0 if sweep >= tune else 3.0 / (sweep + 3.0) ** 0.6
            rate = _move_given_effects(
                random,
                g,
                state,
                effects,
                seen,
                df[g],
                scale_of,
                local_scale_of,
                log_median[g],
                spread[g],
                math.exp(steps[0, g]),
                log_scale,
            )
            steps[0, g] += pace * (rate - _ACCEPTANCE)
            _contribution(columns, local, starts, state, effects, scale_of, local_scale_of, g, part)
            rate = _move_given_standard(
                random,
                g,
                labels,
                eta,
                part,
                log_median[g],
                spread[g],
                math.exp(steps[1, g]),
                log_scale,
                scale_of,
                local_scale_of,
                state,
                effects,
            )
            steps[1, g] += pace * (rate - _ACCEPTANCE)
        for k in range(width):
            g = scale_of[k]
            if g >= 0 and df[g] < math.inf:
                rate = 0.5 * (df[g] + (state[k] / math.exp(log_scale[g])) ** 2)
                mixing[k] = rate / random.standard_gamma(0.5 * (df[g] + 1.0))
        if sweep >= tune and (sweep - tune) % thin == thin - 1:
            draw = (sweep - tune) // thin
            out[draw] = state
            local_out[draw] = effects
            log_scale_out[draw] = log_scale


@njit(cache=True, nogil=True, error_model="numpy")
def log_odds(
    columns: Floats, local: Floats, starts: Integers, state: Floats, effects: Floats, out: Floats
) -> None:
    """Set out to the log-odds of every row."""
    for t in range(len(starts) - 1):
        for i in range(starts[t], starts[t + 1]):
            total = 0.0
            for k in range(columns.shape[1]):
                total += columns[i, k] * state[k]
            for k in range(local.shape[1]):
                total += local[i, k] * effects[t, k]
            out[i] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _integrate_topics(
    columns: Floats,
    local: Floats,
    starts: Integers,
    labels: Floats,
    omega: Floats,
    variance: Floats,
    factors: Floats,
    whitened: Floats,
    response: Floats,
    removed: Floats,
    removed_response: Floats,
    factors_by_effects: Floats,
) -> None:
    """Integrate the topics' effects out of the normal conditional.

    What is left has precision whitened' whitened - removed' removed. A topic with no more rows
    than effects is whitened by the covariance of its rows; another keeps its rows, scaled, and
    removes what its effects explain.
    """
    width, depth = columns.shape[1], local.shape[1]
    block = 0
    for t in range(len(starts) - 1):
        first, last = starts[t], starts[t + 1]
        n = last - first
        if n <= depth:
            for i in range(n):
                for j in range(i + 1):
                    total = 0.0
                    for k in range(depth):
                        total += local[first + i, k] * variance[k] * local[first + j, k]
                    factors[first + i, j] = total
                factors[first + i, i] += 1.0 / omega[first + i]
                response[first + i] = (labels[first + i] - 0.5) / omega[first + i]
            root = factors[first:last, :n]
            _cholesky(root)
            whitened[first:last] = columns[first:last]
            _forward_rows(root, whitened[first:last])
            _forward(root, response[first:last])
        else:
            here = slice(block * depth, (block + 1) * depth)
            root = factors_by_effects[here]
            scaled = np.empty((n, depth))
            for i in range(first, last):
                scale = math.sqrt(omega[i])
                response[i] = (labels[i] - 0.5) / scale
                for k in range(width):
                    whitened[i, k] = scale * columns[i, k]
                for k in range(depth):
                    scaled[i - first, k] = scale * local[i, k]
            root[:] = scaled.T @ scaled
            removed[here] = scaled.T @ whitened[first:last]
            removed_response[here] = scaled.T @ response[first:last]
            for j in range(depth):
                root[j, j] += 1.0 / variance[j]
            _cholesky(root)
            _forward_rows(root, removed[here])
            _forward(root, removed_response[here])
            block += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_topics(
    random: np.random.Generator,
    columns: Floats,
    local: Floats,
    starts: Integers,
    labels: Floats,
    omega: Floats,
    variance: Floats,
    factors: Floats,
    factors_by_effects: Floats,
    state: Floats,
    effects: Floats,
) -> None:
    """Draw the topics' effects given the rest.

    By rows: a draw from the prior, corrected by what the rows say against it (Matheron's rule).
    """
    depth = local.shape[1]
    block = 0
    for t in range(len(starts) - 1):
        first, last = starts[t], starts[t + 1]
        n = last - first
        if n <= depth:
            for k in range(depth):
                effects[t, k] = math.sqrt(variance[k]) * random.standard_normal()
            gap = np.empty(n)
            for i in range(n):
                row = first + i
                total = (labels[row] - 0.5) / omega[row]
                total -= random.standard_normal() / math.sqrt(omega[row])
                for k in range(columns.shape[1]):
                    total -= columns[row, k] * state[k]
                for k in range(depth):
                    total -= local[row, k] * effects[t, k]
                gap[i] = total
            root = factors[first:last, :n]
            _forward(root, gap)
            _backward(root, gap)
            for k in range(depth):
                total = 0.0
                for i in range(n):
                    total += local[first + i, k] * gap[i]
                effects[t, k] += variance[k] * total
        else:
            root = factors_by_effects[block * depth : (block + 1) * depth]
            pull = np.zeros(depth)
            for i in range(first, last):
                rest = labels[i] - 0.5
                for k in range(columns.shape[1]):
                    rest -= omega[i] * columns[i, k] * state[k]
                for j in range(depth):
                    pull[j] += local[i, j] * rest
            _forward(root, pull)
            for j in range(depth):
                pull[j] += random.standard_normal()
            _backward(root, pull)
            effects[t] = pull
            block += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _move_given_effects(
    random: np.random.Generator,
    g: int,
    state: Floats,
    effects: Floats,
    seen: NDArray[np.bool_],
    df: float,
    scale_of: Integers,
    local_scale_of: Integers,
    log_median: float,
    spread: float,
    step: float,
    log_scale: Floats,
) -> float:
    """Move a log scale given its effects; return the probability of acceptance.

    The mixing variables of Student-t effects are integrated out: they are drawn next.
    """
    old = log_scale[g]
    new = old + step * random.standard_normal()
    gain = 0.5 * ((old - log_median) ** 2 - (new - log_median) ** 2) / spread**2
    for k in range(len(state)):
        if scale_of[k] == g:
            gain += _log_density(state[k], new, df) - _log_density(state[k], old, df)
    for k in range(effects.shape[1]):
        if local_scale_of[k] == g:
            for t in range(effects.shape[0]):
                if seen[t, k]:
                    gain += _log_density(effects[t, k], new, df)
                    gain -= _log_density(effects[t, k], old, df)
    rate = math.exp(min(0.0, gain))
    if random.random() < rate:
        log_scale[g] = new
    for k in range(effects.shape[1]):
        if local_scale_of[k] == g:
            for t in range(effects.shape[0]):
                if not seen[t, k]:
                    effects[t, k] = math.exp(log_scale[g]) * random.standard_normal()
    return rate


@njit(cache=True, nogil=True, error_model="numpy")
def _log_density(effect: float, log_scale: float, df: float) -> float:
    """Log density of an effect, without constants."""
    square = (effect * math.exp(-log_scale)) ** 2
    if df == math.inf:
        return -log_scale - 0.5 * square
    return -log_scale - 0.5 * (df + 1.0) * math.log1p(square / df)


@njit(cache=True, nogil=True, error_model="numpy")
def _contribution(
    columns: Floats,
    local: Floats,
    starts: Integers,
    state: Floats,
    effects: Floats,
    scale_of: Integers,
    local_scale_of: Integers,
    g: int,
    out: Floats,
) -> None:
    """Set out to what the effects of a scale give to the log-odds of every row."""
    out[:] = 0.0
    for k in range(len(state)):
        if scale_of[k] == g:
            for i in range(len(out)):
                out[i] += columns[i, k] * state[k]
    for k in range(effects.shape[1]):
        if local_scale_of[k] == g:
            for t in range(len(starts) - 1):
                for i in range(starts[t], starts[t + 1]):
                    out[i] += local[i, k] * effects[t, k]


@njit(cache=True, nogil=True, error_model="numpy")
def _move_given_standard(
    random: np.random.Generator,
    g: int,
    labels: Floats,
    eta: Floats,
    part: Floats,
    log_median: float,
    spread: float,
    step: float,
    log_scale: Floats,
    scale_of: Integers,
    local_scale_of: Integers,
    state: Floats,
    effects: Floats,
) -> float:
    """Move a log scale and its effects with it; return the probability of acceptance."""
    old = log_scale[g]
    new = old + step * random.standard_normal()
    ratio = math.exp(new - old)
    gain = 0.5 * ((old - log_median) ** 2 - (new - log_median) ** 2) / spread**2
    for i in range(len(eta)):
        moved = eta[i] + (ratio - 1.0) * part[i]
        gain += labels[i] * (moved - eta[i]) - _softplus(moved) + _softplus(eta[i])
    rate = math.exp(min(0.0, gain))
    if random.random() < rate:
        log_scale[g] = new
        for k in range(len(state)):
            if scale_of[k] == g:
                state[k] *= ratio
        for k in range(effects.shape[1]):
            if local_scale_of[k] == g:
                for t in range(effects.shape[0]):
                    effects[t, k] *= ratio
        for i in range(len(eta)):
            eta[i] += (ratio - 1.0) * part[i]
    return rate


@njit(cache=True, nogil=True, error_model="numpy")
def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@njit(cache=True, nogil=True, error_model="numpy")
def _cholesky(lower: Floats) -> None:
    """Factor a symmetric matrix, given by its lower triangle, in place."""
    for j in range(len(lower)):
        for k in range(j):
            for i in range(j, len(lower)):
                lower[i, j] -= lower[i, k] * lower[j, k]
        root = math.sqrt(lower[j, j])
        for i in range(j, len(lower)):
            lower[i, j] /= root


@njit(cache=True, nogil=True, error_model="numpy")
def _forward(lower: Floats, x: Floats) -> None:
    """Set x to lower^-1 x."""
    for i in range(len(x)):
        for j in range(i):
            x[i] -= lower[i, j] * x[j]
        x[i] /= lower[i, i]


@njit(cache=True, nogil=True, error_model="numpy")
def _forward_rows(lower: Floats, rows: Floats) -> None:
    """Set rows to lower^-1 rows."""
    for i in range(len(rows)):
        for j in range(i):
            factor = lower[i, j]
            for k in range(rows.shape[1]):
                rows[i, k] -= factor * rows[j, k]
        for k in range(rows.shape[1]):
            rows[i, k] /= lower[i, i]


@njit(cache=True, nogil=True, error_model="numpy")
def _backward(lower: Floats, x: Floats) -> None:
    """Set x to lower'^-1 x."""
    for i in range(len(x) - 1, -1, -1):
        for j in range(i + 1, len(x)):
            x[i] -= lower[j, i] * x[j]
        x[i] /= lower[i, i]
