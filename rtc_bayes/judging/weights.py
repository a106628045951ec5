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

from rtc_bayes.judging import kernels
from rtc_bayes.judging.state import TopicState

type Floats = NDArray[np.float64]
type Weight = Callable[[TopicState], Floats]
WeightName = Literal["mtc06", "evr", "influence", "reuse"]


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
    weight = np.empty(len(state.p))
    kernels.largest_move(state.p, state.if_relevant, state.if_nonrelevant, weight)
    kernels.clear(state.judged, weight)
    return weight


def evr(state: TopicState) -> Floats:
    """Reduction of the variance to expect from a judgment: v_i L_i^2 / mu^2.

    By the law of total variance a judgment of i lowers the expected variance of S by exactly
    v_i L_i^2; dividing by mu^2 compares topics. For several systems it is the sum over all
    pairs, k sum_s L_s^2 - (sum_s L_s)^2.

    Returns
    -------
    ndarray, shape (documents,)
    """
    squares = np.empty(len(state.p))
    kernels.squares_of_pairs(state.effect, squares)
    return _reduction(state, squares, _expected_relevant(state))


def influence(state: TopicState) -> Floats:
    """How far the expected numerator moves with the document's relevance: |L_i|.

    For several systems the largest over the pairs.

    Returns
    -------
    ndarray, shape (documents,)
    """
    weight = np.empty(len(state.p))
    kernels.spread(state.effect, weight)
    kernels.clear(state.judged, weight)
    return weight


def reuse(state: TopicState) -> Floats:
    """Reduction of the variance to expect of pairs with a system that is not at hand.

    A system of which nothing is known shares nothing with those judged for, so what a judgment
    tells of a pair with it is what it tells of each system's own average precision A_s = S_s / R:
    v_i sum_s (L_si - A_s)^2 / mu^2, to first order in the relevance of document i.

    Returns
    -------
    ndarray, shape (documents,)
    """
    squares = np.empty(len(state.p))
    mu = _expected_relevant(state)
    kernels.squares_about(state.effect, state.numerators / mu, squares)
    return _reduction(state, squares, mu)


WEIGHTS: Mapping[WeightName, Weight] = MappingProxyType(
    {"mtc06": mtc06, "evr": evr, "influence": influence, "reuse": reuse}
)
"""The weights by the name that an algorithm gives them."""

_OF_A_PAIR: Mapping[WeightName, str] = MappingProxyType(
    {
        "mtc06": "its judgment can move the numerator of the difference by {weight:.3g}",
        "evr": "its judgment should take {weight:.3g} off the topic's variance of the difference",
        "influence": "its relevance moves the expected numerator of the difference by {weight:.3g}",
        "reuse": (
            "its judgment should take {weight:.3g} off the variances of the systems' own scores"
        ),
    }
)
_OF_ALL_PAIRS: Mapping[WeightName, str] = MappingProxyType(
    {
        **_OF_A_PAIR,
        "mtc06": "its judgment can move the numerator of a difference by {weight:.3g}",
        "evr": (
            "its judgment should take {weight:.3g} off the topic's variances of differences, "
            "summed over pairs"
        ),
        "influence": "its relevance moves the expected numerator of a difference by {weight:.3g}",
    }
)


def meaning(name: WeightName, weight: float, systems: int) -> str:
    """Say what a document's weight is, for a person, where so many systems are told apart.

    Examples
    --------
    >>> meaning("mtc06", 0.25, 2)
    'its judgment can move the numerator of the difference by 0.25'
    >>> meaning("mtc06", 0.25, 3)  # the pair that it moves most
    'its judgment can move the numerator of a difference by 0.25'
    """
    return (_OF_A_PAIR if systems == 2 else _OF_ALL_PAIRS)[name].format(weight=weight)


def _reduction(state: TopicState, squares: Floats, mu: float) -> Floats:
    """Variance that judgments take off, given the squares of what relevance moves."""
    kernels.scale(state.v, 1.0 / mu**2, squares)
    kernels.clear(state.judged, squares)
    return squares


def _expected_relevant(state: TopicState) -> float:
    """Return mu; 1 in place of 0, where every p is 0 and so all variance."""
    return state.mu or 1.0
