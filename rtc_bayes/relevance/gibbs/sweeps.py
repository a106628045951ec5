"""Sweeps of the Gibbs sampler of a logistic regression with effects: compiled.

A sweep draws the Polya-Gamma variable of every row, all coefficients and effects at once from
their normal conditional, the mixing variables of Student-t effects, and the scales. Effects of a
topic touch only the rows of that topic, so they are integrated out of the normal, topic by topic:
by rows where a topic has few of them, else by its effects. Scales move twice, given the effects
and given the standardised effects (Yu and Meng, "To center or not to center", 2011), so that they
mix whether the data say much or little. Where topics have many rows, other moves make up for what
Polya-Gamma variables hold back: :mod:`rtc_bayes.relevance.gibbs.many_rows`. A chain keeps a few
numbers of each row; matrices with a row for each are made of a block of rows at a time.

Kernels keep to loops, with matrix products in one place: expressions of whole arrays compile for
many seconds, and again for every signature.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.relevance.gibbs.chain import (
    Chain,
    Normal,
    Prior,
    Rows,
    Said,
    State,
    acceptance,
    prior_gain,
)
from rtc_bayes.relevance.gibbs.linear import (
    add_product,
    backward,
    cholesky,
    forward,
    forward_rows,
    softplus,
)
from rtc_bayes.relevance.gibbs.many_rows import (
    look,
    move_scale,
    move_scale_alone,
    move_topics,
)
from rtc_bayes.relevance.gibbs.polya_gamma import polya_gamma
from rtc_bayes.relevance.newton import Floats

# acceptance that steps in one dimension are tuned to (Gelman, Roberts and Gilks 1996)
_ACCEPTANCE = 0.44


def begin(rows: Rows, prior: Prior, block: int, many: bool) -> Chain:
    """Begin a chain at the prior's centre, which whitens up to `block` rows at a time.

    `many`: whether topics have many rows, and move by what these say.
    """
    n, width = rows.columns.shape
    topics, depth = len(rows.starts) - 1, rows.local.shape[1]
    seen = np.zeros((topics, depth), dtype=np.bool_)
    for t, (first, last) in enumerate(pairwise(rows.starts)):
        seen[t] = (rows.local[first:last] != 0.0).any(axis=0)
    sizes = np.diff(rows.starts)
    removed = depth * int((sizes > depth).sum())
    by_rows = sizes[sizes <= depth]
    block = min(n, max(block, depth))
    normal = Normal(
        omega=np.empty(n),
        local_variance=np.empty(depth),
        precision=np.empty((width, width)),
        pull=np.empty(width),
        whitened=np.empty((block, width)),
        scaled=np.empty((block, depth)),
        response=np.empty(block),
        removed=np.zeros((removed, width)),
        removed_response=np.zeros(removed),
        by_rows=np.empty((by_rows.sum(), by_rows.max(initial=0))),
        by_effects=np.empty((removed, depth)),
    )
    state = State(prior.mean.copy(), np.zeros((topics, depth)), prior.log_median.copy())
    eta = np.empty(n)
    log_odds(rows, state, eta)
    steps = np.full((3, len(state.log_scale)), math.log(0.3))
    said = Said(np.zeros((topics, depth, depth)), np.zeros((topics, depth)))
    return Chain(state, normal, np.ones(width), eta, np.empty(n), steps, seen, many, said)


@njit(cache=True, nogil=True, error_model="numpy")
def advance(
    random: np.random.Generator,
    rows: Rows,
    prior: Prior,
    chain: Chain,
    first: int,
    last: int,
    tune: int,
    thin: int,
    out: State,
) -> None:
    """Make the sweeps from `first` to before `last`, of a chain that has made those before.

    Parameters
    ----------
    random : numpy.random.Generator
    rows : Rows
    prior : Prior
    chain : Chain
        Changed in place.
    first, last : int
    tune, thin : int
        Sweeps before the first draw is begun, and sweeps to each draw: of these the last is kept.
    out : State
        Set: every array has the draws as its first dimension.
    """
    state, normal, mixing, eta, part, steps, seen, many, said = chain
    n, width = rows.columns.shape
    variance = np.empty(width)
    for sweep in range(first, last):
        for i in range(n):
            normal.omega[i] = polya_gamma(random, eta[i])
        for k in range(width):
            g = prior.scale_of[k]
            scale = prior.sd[k] ** 2 if g < 0 else math.exp(2.0 * state.log_scale[g]) * mixing[k]
            variance[k] = scale
        for k in range(len(normal.local_variance)):
            log_scale = state.log_scale[prior.local_scale_of[k]]
            normal.local_variance[k] = math.exp(2.0 * log_scale)
        _integrate_topics(rows, normal)
        _remove_topics(normal)
        pace = 0.0 if sweep >= tune else 3.0 / (sweep + 3.0) ** 0.6
        for g in range(len(state.log_scale)):
            if many and prior.spread[g] > 0.0 and g not in prior.local_scale_of:
                step = math.exp(steps[2, g])
                rate = move_scale_alone(random, g, prior, normal, step, variance, state)
                steps[2, g] += pace * (rate - _ACCEPTANCE)
        _draw_columns(random, prior.mean, variance, normal, state)
        _draw_topics(random, rows, normal, state)
        log_odds(rows, state, eta)
        if many:
            for by_state in (True, False):
                move_topics(random, rows, normal.local_variance, said, by_state, state, eta)
            weight = _weight_of_look(sweep, tune)
            if weight > 0.0:
                look(rows, state, eta, weight, said)
        for g in range(len(state.log_scale)):
            if prior.spread[g] == 0.0:
                continue
            rate = _move_given_effects(random, g, prior, math.exp(steps[0, g]), seen, state)
            steps[0, g] += pace * (rate - _ACCEPTANCE)
            step = math.exp(steps[1, g])
            if many and g in prior.local_scale_of and g not in prior.scale_of:
                rate = move_scale(random, g, rows, prior, said, step, part, eta, state)
            else:
                _contribution(rows, prior, state, g, part)
                rate = _move_given_standard(random, g, rows.labels, prior, step, part, eta, state)
            steps[1, g] += pace * (rate - _ACCEPTANCE)
        for k in range(width):
            g = prior.scale_of[k]
            if g >= 0 and prior.df[g] < math.inf:
                df = prior.df[g]
                rate = 0.5 * (df + (state.columns[k] / math.exp(state.log_scale[g])) ** 2)
                mixing[k] = rate / random.standard_gamma(0.5 * (df + 1.0))
        if sweep >= tune and (sweep - tune) % thin == thin - 1:
            draw = (sweep - tune) // thin
            for k in range(width):
                out.columns[draw, k] = state.columns[k]
            for t in range(state.local.shape[0]):
                for k in range(state.local.shape[1]):
                    out.local[draw, t, k] = state.local[t, k]
            for g in range(len(state.log_scale)):
                out.log_scale[draw, g] = state.log_scale[g]


@njit(cache=True, nogil=True, error_model="numpy")
def _weight_of_look(sweep: int, tune: int) -> float:
    """Return the weight of a look after a sweep beside those before; 0 where there is none.

    Two while the chain finds its place, and the mean of ten from half of the tuning on.
    """
    if sweep >= tune:
        return 0.0
    half, every = tune // 2, tune // 20 + 1
    if sweep < half:
        return 1.0 if sweep in (tune // 8, tune // 4) else 0.0
    looks, rest = divmod(sweep - half, every)
    return 1.0 / (1 + looks) if rest == 0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _remove_topics(normal: Normal) -> None:
    """Take what the topics' effects explain off the normal conditional."""
    precision, pull, removed = normal.precision, normal.pull, normal.removed
    add_product(removed, removed, -1.0, precision)
    for i in range(len(removed)):
        for k in range(len(pull)):
            pull[k] -= removed[i, k] * normal.removed_response[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_columns(
    random: np.random.Generator, mean: Floats, variance: Floats, normal: Normal, state: State
) -> None:
    """Draw the coefficients and effects that are no topic's, of this prior mean and variance."""
    precision, pull = normal.precision, normal.pull
    for k in range(len(pull)):
        precision[k, k] += 1.0 / variance[k]
        pull[k] += mean[k] / variance[k]
    root = np.linalg.cholesky(precision)[:, : len(pull)]
    forward(root, pull)
    for k in range(len(pull)):
        pull[k] += random.standard_normal()
    backward(root, pull)
    for k in range(len(pull)):
        state.columns[k] = pull[k]


@njit(cache=True, nogil=True, error_model="numpy")
def log_odds(rows: Rows, state: State, out: Floats) -> None:
    """Set out to the log-odds of every row."""
    columns, local, starts, _ = rows
    for t in range(len(starts) - 1):
        for i in range(starts[t], starts[t + 1]):
            total = 0.0
            for k in range(columns.shape[1]):
                total += columns[i, k] * state.columns[k]
            for k in range(local.shape[1]):
                total += local[i, k] * state.local[t, k]
            out[i] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _integrate_topics(rows: Rows, normal: Normal) -> None:
    """Integrate the topics' effects out of the normal conditional.

    A topic with no more rows
    than effects is whitened by the covariance of its rows; another keeps its rows, scaled, and
    removes what its effects explain.
    """
    columns, local, starts, labels = rows
    omega, variance = normal.omega, normal.local_variance
    whitened, response = normal.whitened, normal.response
    depth = local.shape[1]
    width = columns.shape[1]
    for j in range(width):
        normal.pull[j] = 0.0
        for k in range(width):
            normal.precision[j, k] = 0.0
    # 0 that is no literal: what it is passed to would be compiled once more for that
    filled = int(starts[0])
    few, many = 0, 0
    for t in range(len(starts) - 1):
        first, last = starts[t], starts[t + 1]
        n = last - first
        if n <= depth:
            if filled + n > len(response):
                filled = _add_block(normal, filled)
            by_rows = normal.by_rows[few : few + n, :n]
            for i in range(n):
                for j in range(i + 1):
                    total = 0.0
                    for k in range(depth):
                        total += local[first + i, k] * variance[k] * local[first + j, k]
                    by_rows[i, j] = total
                by_rows[i, i] += 1.0 / omega[first + i]
                response[filled + i] = (labels[first + i] - 0.5) / omega[first + i]
                for k in range(width):
                    whitened[filled + i, k] = columns[first + i, k]
            cholesky(by_rows)
            forward_rows(by_rows, whitened[filled : filled + n])
            forward(by_rows, response[filled : filled + n])
            filled += n
            few += n
        else:
            root = normal.by_effects[many : many + depth, :depth]
            removed = normal.removed[many : many + depth]
            for j in range(depth):
                normal.removed_response[many + j] = 0.0
                for k in range(depth):
                    root[j, k] = 0.0
                for k in range(width):
                    removed[j, k] = 0.0
            while first < last:
                if filled == len(response):
                    filled = _add_block(normal, filled)
                size = min(last - first, len(response) - filled)
                _add_scaled(rows, normal, first, size, filled, many)
                first += size
                filled += size
            for j in range(depth):
                root[j, j] += 1.0 / variance[j]
            cholesky(root)
            forward_rows(root, removed)
            forward(root, normal.removed_response[many : many + depth])
            many += depth
    _add_block(normal, filled)


@njit(cache=True, nogil=True, error_model="numpy")
def _add_scaled(rows: Rows, normal: Normal, first: int, size: int, filled: int, many: int) -> None:
    """Scale rows of a topic into the block, and add them to what the topic's effects explain."""
    columns, local, _, labels = rows
    whitened = normal.whitened[filled : filled + size]
    response = normal.response[filled : filled + size]
    scaled = normal.scaled[:size]
    for i in range(size):
        row = first + i
        scale = math.sqrt(normal.omega[row])
        response[i] = (labels[row] - 0.5) / scale
        for k in range(columns.shape[1]):
            whitened[i, k] = scale * columns[row, k]
        for k in range(local.shape[1]):
            scaled[i, k] = scale * local[row, k]
    depth = scaled.shape[1]
    add_product(scaled, scaled, 1.0, normal.by_effects[many : many + depth])
    add_product(scaled, whitened, 1.0, normal.removed[many : many + depth])
    for i in range(size):
        for k in range(depth):
            normal.removed_response[many + k] += scaled[i, k] * response[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _add_block(normal: Normal, filled: int) -> int:
    """Add the rows that the block holds to the precision; return how many it holds then: none."""
    whitened, response = normal.whitened[:filled], normal.response[:filled]
    add_product(whitened, whitened, 1.0, normal.precision)
    for i in range(filled):
        for k in range(whitened.shape[1]):
            normal.pull[k] += whitened[i, k] * response[i]
    return 0


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_topics(random: np.random.Generator, rows: Rows, normal: Normal, state: State) -> None:
    """Draw the topics' effects given the rest.

    By rows: a draw from the prior, corrected by what the rows say against it (Matheron's rule).
    """
    columns, local, starts, labels = rows
    omega, variance = normal.omega, normal.local_variance
    depth, effects = local.shape[1], state.local
    few, many = 0, 0
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
                    total -= columns[row, k] * state.columns[k]
                for k in range(depth):
                    total -= local[row, k] * effects[t, k]
                gap[i] = total
            root = normal.by_rows[few : few + n, :n]
            few += n
            forward(root, gap)
            backward(root, gap)
            for k in range(depth):
                total = 0.0
                for i in range(n):
                    total += local[first + i, k] * gap[i]
                effects[t, k] += variance[k] * total
        else:
            root = normal.by_effects[many : many + depth, :depth]
            many += depth
            pull = effects[t]
            for j in range(depth):
                pull[j] = 0.0
            for i in range(first, last):
                rest = labels[i] - 0.5
                for k in range(columns.shape[1]):
                    rest -= omega[i] * columns[i, k] * state.columns[k]
                for j in range(depth):
                    pull[j] += local[i, j] * rest
            forward(root, pull)
            for j in range(depth):
                pull[j] += random.standard_normal()
            backward(root, pull)


@njit(cache=True, nogil=True, error_model="numpy")
def _move_given_effects(
    random: np.random.Generator,
    g: int,
    prior: Prior,
    step: float,
    seen: NDArray[np.bool_],
    state: State,
) -> float:
    """Move a log scale given its effects; return the probability of acceptance.

    The mixing variables of Student-t effects are integrated out: they are drawn next.
    """
    columns, effects, log_scale = state
    scale_of, local_scale_of, df = prior.scale_of, prior.local_scale_of, prior.df[g]
    old = log_scale[g]
    new = old + step * random.standard_normal()
    gain = prior_gain(prior, g, old, new)
    for k in range(len(columns)):
        if scale_of[k] == g:
            gain += _log_density(columns[k], new, df) - _log_density(columns[k], old, df)
    for k in range(effects.shape[1]):
        if local_scale_of[k] == g:
            for t in range(effects.shape[0]):
                if seen[t, k]:
                    gain += _log_density(effects[t, k], new, df)
                    gain -= _log_density(effects[t, k], old, df)
    rate = acceptance(gain)
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
def _contribution(rows: Rows, prior: Prior, state: State, g: int, out: Floats) -> None:
    """Set out to what the effects of a scale give to the log-odds of every row."""
    columns, local, starts, _ = rows
    scale_of, local_scale_of = prior.scale_of, prior.local_scale_of
    weights, effects, _ = state
    for i in range(len(out)):
        out[i] = 0.0
    for k in range(len(weights)):
        if scale_of[k] == g:
            for i in range(len(out)):
                out[i] += columns[i, k] * weights[k]
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
    prior: Prior,
    step: float,
    part: Floats,
    eta: Floats,
    state: State,
) -> float:
    """Move a log scale and its effects with it; return the probability of acceptance."""
    columns, effects, log_scale = state
    scale_of, local_scale_of = prior.scale_of, prior.local_scale_of
    old = log_scale[g]
    new = old + step * random.standard_normal()
    ratio = math.exp(new - old)
    gain = prior_gain(prior, g, old, new)
    for i in range(len(eta)):
        moved = eta[i] + (ratio - 1.0) * part[i]
        gain += labels[i] * (moved - eta[i]) - softplus(moved) + softplus(eta[i])
    rate = acceptance(gain)
    if random.random() < rate:
        log_scale[g] = new
        for k in range(len(columns)):
            if scale_of[k] == g:
                columns[k] *= ratio
        for k in range(effects.shape[1]):
            if local_scale_of[k] == g:
                for t in range(effects.shape[0]):
                    effects[t, k] *= ratio
        for i in range(len(eta)):
            eta[i] += (ratio - 1.0) * part[i]
    return rate
