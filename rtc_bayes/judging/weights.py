"""How much a judgment of each document is worth.

Every weight is a function of one topic's state, so that a judgment changes the weights of its
own topic only. Weights are at least 0; judged documents have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.judging.state import TopicState

type Floats = NDArray[np.float64]
type Weight = Callable[[TopicState], Floats]
type WeightName = Literal["mtc06", "evr", "influence", "reuse"]

# Coefficients are differences of reciprocal ranks, so a true difference is above 1e-9 for any
# depth in use; what is smaller is rounding.
_NOTHING = 1e-12
# Documents of equal weight have sums that differ in their last bits with the order of adding.
_EQUAL = 1e-9


def mtc06(state: TopicState) -> Floats:
    """Weight of Carterette, Allan and Sitaraman, SIGIR 2006, as later authors report it.

    With w^R = c_ii + sum of c_ij over j judged relevant and w^N = c_ii + sum of c_ij over
    j != i not judged nonrelevant, the weight is max(p |w^R|, (1 - p) |w^N|): the most that the
    numerator of the difference can move. For several systems it is the largest over the pairs,
    which is the range of the systems' sums. The original text was not at hand.

    Returns
    -------
    ndarray, shape (documents,)
    """
    weight = np.maximum(
        state.p * _spread(state.if_relevant), (1.0 - state.p) * _spread(state.if_nonrelevant)
    )
    return _open(state, weight)


def evr(state: TopicState) -> Floats:
    """Reduction of the variance to expect from a judgment: v_i L_i^2 / mu^2.

    By the law of total variance a judgment of i lowers the expected variance of S by exactly
    v_i L_i^2; dividing by mu^2 compares topics. For several systems it is the sum over all
    pairs, k sum_s L_s^2 - (sum_s L_s)^2.

    Returns
    -------
    ndarray, shape (documents,)
    """
    # the sum over pairs, written about the mean so that nothing cancels
    centred = state.effect - state.effect.mean(axis=0)
    centred[:, _spread(state.effect) == 0.0] = 0.0
    return _reduction(state, len(centred) * (centred * centred).sum(axis=0))


def influence(state: TopicState) -> Floats:
    """How far the expected numerator moves with the document's relevance: |L_i|.

    For several systems the largest over the pairs.

    Returns
    -------
    ndarray, shape (documents,)
    """
    return _open(state, _spread(state.effect))


def reuse(state: TopicState) -> Floats:
    """Reduction of the variance to expect of pairs with a system that is not at hand.

    A system of which nothing is known shares nothing with those judged for, so what a judgment
    tells of a pair with it is what it tells of each system's own average precision A_s = S_s / R:
    v_i sum_s (L_si - A_s)^2 / mu^2, to first order in the relevance of document i.

    Returns
    -------
    ndarray, shape (documents,)
    """
    moved = state.effect - (state.numerators / _expected_relevant(state))[:, None]
    return _reduction(state, (moved * moved).sum(axis=0))


WEIGHTS: Mapping[WeightName, Weight] = MappingProxyType(
    {"mtc06": mtc06, "evr": evr, "influence": influence, "reuse": reuse}
)
"""The weights by the name that an algorithm gives them."""


def heaviest(weights: Floats) -> int:
    """Index of the largest weight; the first of those equal to it up to rounding."""
    return int(np.argmax(weights >= weights.max() * (1.0 - _EQUAL)))


def _spread(values: Floats) -> Floats:
    """Largest difference between two systems, 0 where it is only rounding."""
    spread = values.max(axis=0) - values.min(axis=0)
    return np.where(spread > _NOTHING, spread, 0.0)


def _reduction(state: TopicState, squares: Floats) -> Floats:
    """Variance that judgments take off, given the squares of what relevance moves."""
    return _open(state, state.v * squares / _expected_relevant(state) ** 2)


def _expected_relevant(state: TopicState) -> float:
    """Return mu; 1 in place of 0, where every p is 0 and so all variance."""
    return state.mu or 1.0


def _open(state: TopicState, weight: Floats) -> Floats:
    return np.where(state.judged, 0.0, weight)
