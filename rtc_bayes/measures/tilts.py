"""Tilted probabilities of relevance, for every node of every draw.

A *lane* is one node of one draw; the lanes of a draw lie side by side. Plug-in moments have one
node per draw, the probabilities themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.measures.rule import ExponentialRule, exponential_rule, relevant_windows

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

# factors, each at least 1e-16 or so, whose product is far from underflow
_FACTORS = 8


@dataclass(frozen=True)
class Tilts:
    """Tilted probabilities, and what each lane counts.

    Attributes
    ----------
    p, v : ndarray, shape (documents, lanes)
        Probabilities of relevance, and p (1 - p).
    inverse_base : ndarray, shape (documents, lanes)
        1 / (q + p t) of the untilted p.
    t : ndarray, shape (lanes,)
    t_less_1 : ndarray, shape (lanes,)
        t - 1, to full relative accuracy.
    weight1, weight2 : ndarray, shape (lanes,)
        Weights of 1/R and 1/R^2, with the probability weight E t^R.
    draw_starts : ndarray of int64, shape (draws + 1,)
        Where the lanes of each draw start.
    none_relevant : ndarray, shape (draws,)
        P(R = 0); 0 for plug-in moments, which do not know of it.
    """

    p: Floats
    v: Floats
    inverse_base: Floats
    t: Floats
    t_less_1: Floats
    weight1: Floats
    weight2: Floats
    draw_starts: Numbers
    none_relevant: Floats


def plugin_tilts(p: Floats) -> Tilts:
    """One lane per draw: S over the expected number of relevant documents.

    Parameters
    ----------
    p : ndarray, shape (draws, documents)
        Not all 0 in any draw.
    """
    draws, documents = p.shape
    mean = p.sum(axis=1)
    lanes = np.ascontiguousarray(p.T)
    return Tilts(
        p=lanes,
        v=lanes * (1.0 - lanes),
        inverse_base=np.ones((documents, draws)),
        t=np.ones(draws),
        t_less_1=np.zeros(draws),
        weight1=1.0 / mean,
        weight2=1.0 / mean**2,
        draw_starts=np.arange(draws + 1),
        none_relevant=np.zeros(draws),
    )


def rules(p: Floats, tolerance: float) -> list[ExponentialRule]:
    """Rules for 1/R and 1/R^2 under each draw.

    Parameters
    ----------
    p : ndarray, shape (draws, documents)
    tolerance : float
        Bound on the error, half of it for R outside the rule's window.
    """
    low, high = relevant_windows(p, tolerance / 2.0)
    windows = zip(low.tolist(), high.tolist(), strict=True)
    return [exponential_rule(max(a, 1), max(b, 1), tolerance / 2.0) for a, b in windows]


def exact_tilts(p: Floats, of_draw: list[ExponentialRule]) -> Tilts:
    """Lanes for every node of every draw's rule.

    Parameters
    ----------
    p : ndarray, shape (draws, documents)
    of_draw : list of ExponentialRule
        One for every draw, from :func:`rules`.
    """
    draw_starts = np.concatenate([[0], np.cumsum([len(rule.u) for rule in of_draw])])
    u = np.concatenate([rule.u for rule in of_draw])
    t = np.exp(-u)
    tilted, v, inverse_base, log_weight, none_relevant = _tilted(p, t, u, draw_starts)
    return Tilts(
        p=tilted,
        v=v,
        inverse_base=inverse_base,
        t=t,
        t_less_1=np.expm1(-u),
        weight1=np.exp(log_weight + np.log(np.concatenate([rule.weight1 for rule in of_draw]))),
        weight2=np.exp(log_weight + np.log(np.concatenate([rule.weight2 for rule in of_draw]))),
        draw_starts=draw_starts,
        none_relevant=none_relevant,
    )


@njit(cache=True, error_model="numpy")
def _tilted(
    p: Floats, t: Floats, u: Floats, draw_starts: Numbers
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return p, v, 1 / base and the log of E t^R of every lane, and P(R = 0) of every draw."""
    draws, documents = p.shape
    lanes = t.shape[0]
    tilted = np.empty((documents, lanes))
    v = np.empty((documents, lanes))
    inverse_base = np.empty((documents, lanes))
    log_weight = np.zeros(lanes)
    product = np.ones(lanes)
    none_relevant = np.ones(draws)
    for i in range(documents):
        for d in range(draws):
            x = p[d, i]
            y = 1.0 - x
            none_relevant[d] *= y
            if x == 1.0:
                for k in range(draw_starts[d], draw_starts[d + 1]):
                    tilted[i, k] = 1.0
                    v[i, k] = 0.0
                    inverse_base[i, k] = 1.0 / t[k]
                    log_weight[k] -= u[k]
            else:
                for k in range(draw_starts[d], draw_starts[d + 1]):
                    base = y + x * t[k]
                    inverse = 1.0 / base
                    product[k] *= base
                    inverse_base[i, k] = inverse
                    tilted[i, k] = x * t[k] * inverse
                    v[i, k] = x * y * t[k] * inverse * inverse
        if i % _FACTORS == _FACTORS - 1 or i == documents - 1:
            for k in range(lanes):
                log_weight[k] += np.log(product[k])
                product[k] = 1.0
    return tilted, v, inverse_base, log_weight, none_relevant
