"""How much a judgment of each document is worth.

Formulas are of average precision, S / R; by another measure S is its numerator, or its score, and
mu what it divides by (:mod:`rtc_bayes.judging.topic_state`).

Every weight is a function of one topic's state, so that a judgment changes the weights of its
own topic only. Weights are at least 0; judged documents have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.errors import InputError
from rtc_bayes.judging import kernels
from rtc_bayes.judging.topic_state import TopicState
from rtc_bayes.measures.names import MeasureLike, parse_measure, refuse_rel

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
    return _reduction(state, squares)


def influence(state: TopicState) -> Floats:
    """How far the expected numerator moves with the document's relevance: |L_i|.

    For several systems the largest over the pairs.

    Returns
    -------
    ndarray, shape (documents,)
    """
    weight = np.empty(len(state.p))
    kernels.spread(state.move, weight)
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
    kernels.squares_about(state.effect, state.centre, squares)
    return _reduction(state, squares)


WEIGHTS: Mapping[WeightName, Weight] = MappingProxyType(
    {"mtc06": mtc06, "evr": evr, "influence": influence, "reuse": reuse}
)
"""The weights by the name that an algorithm gives them."""

_MEANINGS: Mapping[WeightName, str] = MappingProxyType(
    {
        "mtc06": "by how much the judgment can move {moved}",
        "evr": "by how much the judgment should lower the topic's {of_pairs}",
        "influence": "by how much relevance moves {expected}",
        "reuse": "by how much the judgment should lower the topic's variances of scores together",
    }
)


def meaning(name: WeightName, systems: int, *, numerators: bool = True) -> str:
    """Say what a document's weight is, for a person, where so many systems are told apart.

    Parameters
    ----------
    name, systems
    numerators : bool
        Whether what relevance moves is the numerator of a score, as of average precision.

    Examples
    --------
    >>> meaning("mtc06", 2)
    'by how much the judgment can move the numerator of the difference'
    >>> meaning("mtc06", 3, numerators=False)  # the pair that it moves most
    'by how much the judgment can move a difference'
    """
    one = systems == 2
    difference = "the difference" if one else "a difference"
    if numerators:
        moved, expected = (
            f"the numerator of {difference}",
            f"the expected numerator of {difference}",
        )
    else:
        moved, expected = difference, f"{'the' if one else 'an'} expected difference"
    of_pairs = "variance of the difference" if one else "variances of all pairs together"
    return _MEANINGS[name].format(moved=moved, expected=expected, of_pairs=of_pairs)


def weighed_by(measure: MeasureLike) -> str:
    """Return the name of a measure by which documents can be weighed.

    Raises
    ------
    InputError
        One without moments, or with ``rel``: what is relevant is settled by the judgments.

    Examples
    --------
    >>> weighed_by("nDCG@10")
    'nDCG@10'
    >>> weighed_by("ERR@20")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: documents are not chosen for ERR@20, whose variance is not known;
    choose them for AP or nDCG@20, and compare by ERR@20
    """
    parsed = parse_measure(measure)
    if parsed.kind is None:
        raise InputError(
            f"{parsed} is not computed of uncertain relevance",
            remedy="choose documents for AP, P, R, DCG, nDCG, RBP or RR",
        )
    if not parsed.has_moments:
        at = f"@{parsed.cutoff}" if parsed.cutoff else ""
        raise InputError(
            f"documents are not chosen for {parsed}, whose variance is not known",
            remedy=f"choose them for AP or nDCG{at}, and compare by {parsed}",
        )
    refuse_rel(parsed, "documents")
    return parsed.name


def weighed_by_or_ap(measure: MeasureLike) -> str:
    """Return the measure by which to weigh documents for another: itself if it can be, or AP.

    Examples
    --------
    >>> weighed_by_or_ap("P@10"), weighed_by_or_ap("ERR@20")
    ('P@10', 'AP')
    """
    parsed = parse_measure(measure)
    return weighed_by(parsed) if parsed.has_moments and parsed.rel < 2 else defaults.MEASURE


def _reduction(state: TopicState, squares: Floats) -> Floats:
    """Variance that judgments take off, given the squares of what relevance moves."""
    kernels.scale(state.v, 1.0 / state.divisor**2, squares)
    kernels.clear(state.judged, squares)
    return squares
