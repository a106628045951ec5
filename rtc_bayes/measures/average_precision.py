"""Average precision on one topic: exact and plug-in moments, and scores.

AP = S / R with S the numerator of ``numerator`` and R the number of relevant documents of the
topic, also of those no system retrieved; 0 when R = 0. The plug-in moments are those of S over
E R (Carterette 2007, section 3.2). The exact ones replace 1/R and 1/R^2 by short sums of t^R
(``rule``): t^R times the probability of an outcome is again a product over documents, with
tilted probabilities p t / (q + p t), so each node costs one moment of S.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.measures import numerator
from rtc_bayes.measures.rule import exponential_rule, relevant_window
from rtc_bayes.measures.topic import TopicMoments, settled

Floats = NDArray[np.float64]
Documents = NDArray[np.int32]
Starts = NDArray[np.int64]


@dataclass(frozen=True)
class AveragePrecision:
    """AP of the lists of one topic; lists cut at k give AP@k, which divides by R all the same.

    Parameters
    ----------
    ranked : ndarray of int32
        Document numbers in rank order, list after list.
    starts : ndarray of int64, shape (lists + 1,)
    """

    ranked: Documents
    starts: Starts

    def score(self, outcomes: NDArray[np.int8]) -> Floats:
        """Score every list under complete judgments (see ``TopicMeasure``)."""
        relevant = outcomes.sum(axis=0, dtype=np.float64)
        return _sums_of_precision(self.ranked, self.starts, outcomes) / np.maximum(relevant, 1.0)

    def moments(self, p: Floats, *, exact: bool, tolerance: float) -> TopicMoments:
        """Moments under independent relevance (see ``TopicMeasure``)."""
        if not np.any((p > 0.0) & (p < 1.0)):
            return settled(self, p)
        tilts = _exact_tilts(p, tolerance) if exact else _plugin_tilt(p)
        means = numerator.expected(self.ranked, self.starts, tilts.p)
        # summed in one order for every list, so that equal lists have equal moments
        expected = (tilts.weight1[:, None] * means).sum(axis=0)
        influence = numerator.influence(self.ranked, self.starts, tilts.p)
        gradient = means.T @ tilts.slope_of_ratio
        by_entry = (influence * tilts.slope_of_numerator[:, self.ranked].T).sum(axis=1)
        gradient[_list_of_entry(self.starts), self.ranked] += by_entry
        # Var(S/R) = E[(S - m R)^2 / R^2] + m^2 P(R = 0), and the influence of a document on
        # S - m R is L - m: parts of one size, where E[S^2 / R^2] - m^2 would cancel
        centre = expected if exact else np.zeros_like(expected)
        covariance = numerator.covariance(
            self.ranked, self.starts, influence, tilts.v, tilts.weight2, centre
        )
        rows = _mean_rows(means, tilts, expected)
        covariance += rows @ rows.T

        def pair_variance(a: int, b: int) -> float:
            two = AveragePrecision(*_two_lists(self.ranked, self.starts, a, b))
            pair = expected[[a, b]]
            influences = _influence_rows(two, tilts, centre[[a, b]])
            shifts = _mean_rows(means[:, [a, b]], tilts, pair)
            return float(
                np.square(influences[0] - influences[1]).sum()
                + np.square(shifts[0] - shifts[1]).sum()
                + numerator.pair_quadratic(two.ranked, two.starts, tilts.v, tilts.weight2)
            )

        return TopicMoments(expected, covariance, gradient, pair_variance)


@dataclass(frozen=True)
class _Tilts:
    """The tilted probabilities of every node and what the node counts.

    ``p`` and ``v`` are (nodes, documents). ``weight1`` and ``weight2`` (nodes,) include the
    probability weight E t^R. The slopes (nodes, documents) multiply E S and L in the gradient.
    """

    p: Floats
    v: Floats
    weight1: Floats
    weight2: Floats
    slope_of_ratio: Floats
    slope_of_numerator: Floats
    none_relevant: float
    exact: bool


def _exact_tilts(p: Floats, tolerance: float) -> _Tilts:
    low, high = relevant_window(p, tolerance / 2.0)
    rule = exponential_rule(max(low, 1), max(high, 1), tolerance / 2.0)
    q = 1.0 - p
    t = np.exp(-rule.u)[:, None]
    base = q + p * t
    log_weight = np.log(base).sum(axis=1)
    weight1 = np.exp(log_weight + np.log(rule.weight1))
    weight2 = np.exp(log_weight + np.log(rule.weight2))
    return _Tilts(
        p=p * t / base,
        v=p * q * t / base**2,
        weight1=weight1,
        weight2=weight2,
        slope_of_ratio=weight1[:, None] * np.expm1(-rule.u)[:, None] / base,
        slope_of_numerator=weight1[:, None] * t / base**2,
        none_relevant=float(np.prod(q)),
        exact=True,
    )


def _plugin_tilt(p: Floats) -> _Tilts:
    mean = p.sum()
    return _Tilts(
        p=p[None],
        v=(p * (1.0 - p))[None],
        weight1=np.array([1.0 / mean]),
        weight2=np.array([1.0 / mean**2]),
        slope_of_ratio=np.zeros((1, len(p))),
        slope_of_numerator=np.full((1, len(p)), 1.0 / mean),
        none_relevant=0.0,
        exact=False,
    )


def _influence_rows(lists: AveragePrecision, tilts: _Tilts, centre: Floats) -> Floats:
    """Rows (lists, nodes * documents) whose products sum (L_s - m_s) (L_u - m_u) v over nodes."""
    influence = numerator.influence(lists.ranked, lists.starts, tilts.p)
    rows = np.broadcast_to(-centre[:, None, None], (len(centre), *tilts.p.shape)).copy()
    rows[_list_of_entry(lists.starts), :, lists.ranked] += influence
    rows *= np.sqrt(tilts.weight2[:, None] * tilts.v)
    return rows.reshape(len(centre), -1)


def _list_of_entry(starts: Starts) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _mean_rows(means: Floats, tilts: _Tilts, expected: Floats) -> Floats:
    """Rows (lists, nodes + 1) of the squared means of S - m R and of m^2 P(R = 0)."""
    if not tilts.exact:
        return np.zeros((len(expected), 1))
    off = means - np.outer(tilts.p.sum(axis=1), expected)
    none = np.sqrt(tilts.none_relevant) * expected
    return np.vstack([np.sqrt(tilts.weight2)[:, None] * off, none]).T


def _two_lists(ranked: Documents, starts: Starts, a: int, b: int) -> tuple[Documents, Starts]:
    parts = [ranked[starts[s] : starts[s + 1]] for s in (a, b)]
    return np.concatenate(parts), np.array([0, len(parts[0]), len(parts[0]) + len(parts[1])])


@njit(cache=True)
def _sums_of_precision(ranked: Documents, starts: Starts, outcomes: NDArray[np.int8]) -> Floats:
    """Sum of the precisions at relevant documents, shape (lists, outcomes)."""
    lists = starts.shape[0] - 1
    count = outcomes.shape[1]
    result = np.zeros((lists, count))
    hits = np.empty(count, dtype=np.float64)
    for s in range(lists):
        hits[:] = 0.0
        for m in range(starts[s], starts[s + 1]):
            inverse = 1.0 / (m - starts[s] + 1)
            document = outcomes[ranked[m]]
            for o in range(count):
                x = np.float64(document[o])
                hits[o] += x
                result[s, o] += x * hits[o] * inverse
    return result
