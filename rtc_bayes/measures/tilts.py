"""Tilted probabilities of relevance, for every node of every draw.

A *lane* is one node of one draw; the lanes of a draw lie side by side. Plug-in moments have one
node per draw, the probabilities themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.measures.rule import gauss_rules, relevant_windows, unit_rules

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


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


@dataclass(frozen=True)
class Nodes:
    """Nodes for 1/R and 1/R^2 under some draws.

    Attributes
    ----------
    draw_starts : ndarray of int64, shape (draws + 1,)
        Draw d has the nodes from ``draw_starts[d]`` to ``draw_starts[d + 1]``.
    u, weight : ndarray, shape (nodes,)
        1/R is the sum of weight e^(-u R) / E e^(-u R), and 1/R^2 that with weight u.
    """

    draw_starts: Numbers
    u: Floats
    weight: Floats

    def of(self, first: int, last: int) -> Nodes:
        """Return the nodes of consecutive draws."""
        begin, end = self.draw_starts[[first, last]]
        starts = self.draw_starts[first : last + 1] - begin
        return Nodes(starts, self.u[begin:end], self.weight[begin:end])


def nodes(p: Floats, tolerance: float) -> Nodes:
    """Nodes for every draw.

    Parameters
    ----------
    p : ndarray, shape (draws, documents)
    tolerance : float
        Bound on the error: half of it for R outside the rule's window, a quarter for the rule
        of that window, and a quarter for the fewer nodes that stand for the rule's.
    """
    low, high = (np.maximum(end, 1) for end in relevant_windows(p, tolerance / 2.0))
    of_draw = unit_rules(low, high, tolerance / 4.0)
    u, weight = np.zeros((2, len(p), max(len(rule.u) for rule in of_draw)))
    for d, rule in enumerate(of_draw):
        u[d, : len(rule.u)] = rule.u
        weight[d, : len(rule.u)] = rule.weight
    u /= low[:, None]
    weight *= _expected_powers(p, np.exp(-u)) / low[:, None]
    mean = p.sum(axis=1)
    # (S + R)^2 <= 4 R^2; where R is rarely above 0 the bound is on the relative error
    size = 4.0 * (mean + 1.0) * np.maximum(mean, 1.0)
    counts, u, weight = gauss_rules(u, weight, size, tolerance / 4.0)
    return Nodes(np.concatenate([[0], np.cumsum(counts)]), u, weight)


@njit(cache=True, nogil=True)
def _expected_powers(p: Floats, t: Floats) -> Floats:
    """Return E t^R for every draw (row) and node."""
    result = np.empty(t.shape)
    for d in range(t.shape[0]):
        for k in range(t.shape[1]):
            result[d, k] = _expected_power(p[d], 1.0 - t[d, k])
    return result


# a product in any order, so that it runs in vector registers
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _expected_power(p: Floats, less: float) -> float:
    power = 1.0
    for i in range(p.shape[0]):
        # no factor is above 1: what underflows weighs nothing
        power *= 1.0 - p[i] * less
    return power


def exact_tilts(p: Floats, of_draw: Nodes) -> Tilts:
    """Lanes for every node of every draw.

    Parameters
    ----------
    p : ndarray, shape (draws, documents)
    of_draw : Nodes
        From :func:`nodes`.
    """
    t = np.exp(-of_draw.u)
    tilted, v, inverse_base = _tilted(p, t, of_draw.draw_starts)
    return Tilts(
        p=tilted,
        v=v,
        inverse_base=inverse_base,
        t=t,
        t_less_1=np.expm1(-of_draw.u),
        weight1=of_draw.weight,
        weight2=of_draw.weight * of_draw.u,
        draw_starts=of_draw.draw_starts,
        none_relevant=(1.0 - p).prod(axis=1),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _tilted(p: Floats, t: Floats, draw_starts: Numbers) -> tuple[Floats, Floats, Floats]:
    """Return p, v and 1 / base of every lane."""
    draws, documents = p.shape
    lanes = t.shape[0]
    tilted, v, inverse_base = np.empty((3, documents, lanes))
    of_lane = np.empty(lanes)
    for i in range(documents):
        for d in range(draws):
            of_lane[draw_starts[d] : draw_starts[d + 1]] = p[d, i]
        for k in range(lanes):
            x = of_lane[k]
            y = 1.0 - x
            inverse = 1.0 / (y + x * t[k])
            inverse_base[i, k] = inverse
            # certain relevance stays so to the last digit
            tilted[i, k] = 1.0 if x == 1.0 else x * t[k] * inverse
            v[i, k] = x * y * t[k] * inverse * inverse
    return tilted, v, inverse_base
