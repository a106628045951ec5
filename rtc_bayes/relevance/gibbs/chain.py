"""What a Gibbs sampler's chain has and carries: data, priors, and where it is."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.relevance.newton import Floats

type Integers = NDArray[np.int64]


class Rows(NamedTuple):
    """The data, in the order of their topics.

    Shapes: columns (rows, coefficients and effects), local (rows, effects of a topic), starts
    (topics + 1,), where each topic's rows begin, and labels (rows,), in [0, 1].
    """

    columns: Floats
    local: Floats
    starts: Integers
    labels: Floats


class Prior(NamedTuple):
    """Mean and sd of coefficients, and each column's scale, -1 for a coefficient's.

    Those of the scales follow, shape (scales,): a spread of 0 fixes a scale; degrees of freedom of
    its effects are infinite for the normal.
    """

    mean: Floats
    sd: Floats
    scale_of: Integers
    local_scale_of: Integers
    log_median: Floats
    spread: Floats
    df: Floats


class State(NamedTuple):
    """Where a chain is: (columns,), (topics, effects of a topic), (scales,). Changed in place."""

    columns: Floats
    local: Floats
    log_scale: Floats


class Normal(NamedTuple):
    """The normal conditional given omega, of effects with this variance; set in place.

    Its precision without the prior's, and what the data pull by, are sums over rows that are
    whitened, each with a response, less removed' removed with a response to each; `by_rows` and
    `by_effects` are the topics' Cholesky factors. `whitened`, `scaled` and `response` hold a block.
    """

    omega: Floats
    local_variance: Floats
    precision: Floats
    pull: Floats
    whitened: Floats
    scaled: Floats
    response: Floats
    removed: Floats
    removed_response: Floats
    by_rows: Floats
    by_effects: Floats


class Said(NamedTuple):
    """What rows say of topics' effects, about states that tuning came by; set in place.

    The precision (topics, effects of a topic, effects of a topic), and by what they pull (topics,
    effects of a topic), of a normal without the prior's.
    """

    precision: Floats
    pull: Floats


class Chain(NamedTuple):
    """All that a chain carries from sweep to sweep; changed in place.

    Beside its state and the normal conditional: the mixing variables (columns,), the log-odds of
    every row and room for as many more, the logs of the steps of each scale's moves (3, scales),
    which effects of which topic some row has (topics, effects of a topic), and, where topics have
    many rows, what these say of their effects.
    """

    state: State
    normal: Normal
    mixing: Floats
    eta: Floats
    part: Floats
    steps: Floats
    seen: NDArray[np.bool_]
    many: bool
    said: Said


@njit(cache=True, nogil=True, error_model="numpy")
def prior_gain(prior: Prior, g: int, old: float, new: float) -> float:
    """Gain of a log scale's log prior density in a move."""
    log_median, spread = prior.log_median[g], prior.spread[g]
    return 0.5 * ((old - log_median) ** 2 - (new - log_median) ** 2) / spread**2


@njit(cache=True, nogil=True, error_model="numpy")
def acceptance(gain: float) -> float:
    """Return the probability of a move whose log density ratio is this; of what is no number 0."""
    return math.exp(min(0.0, gain)) if gain == gain else 0.0
