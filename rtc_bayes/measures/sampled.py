"""Measures of sampled relevance or grades on one topic, compiled: what has no moments.

Bpref: Buckley and Voorhees 2004, as trec_eval has it. ERR: Chapelle et al. 2009, with 2^4 as the
largest gain, as gdeval has it. nDCG and DCG: gains by grade, the ideal of all documents' grades.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.collection.lists import Lists
from rtc_bayes.measures.analytic import on_topic
from rtc_bayes.measures.linear import Linear, LinearRatio
from rtc_bayes.measures.names import ERR_HIGHEST, Measure

Floats = NDArray[np.float64]
Outcomes = NDArray[np.int8]


def scorer(
    measure: Measure, lists: Lists, unseen: NDArray[np.bool_], *, graded: bool
) -> Callable[[Outcomes], Floats]:
    """Return what scores the lists of a topic, (lists, outcomes), by (documents, outcomes).

    Parameters
    ----------
    measure : Measure
        One whose ``kind`` is not None.
    lists : Lists
    unseen : ndarray of bool, shape (documents,)
        Documents of the topic that are there only if they are relevant; else nobody judged them.
    graded : bool
        Outcomes are grades, not relevance.
    """
    cut = lists.cut(measure.cutoff)
    if measure.kind == "Bpref":
        missing = [
            np.setdiff1d(np.arange(1, of_list.ranks.max(initial=0) + 1), of_list.ranks)
            for of_list in map(lists.take, np.arange(lists.n_lists)[:, None])
        ]
        # a rank without a known document holds one that is judged nonrelevant
        others = len(np.unique(np.concatenate(missing))) if missing else 0
        return lambda x: _bpref(lists.ranked, lists.starts, lists.ranks, unseen, others, x)
    if measure.kind == "Rprec":
        return lambda x: _r_precision(lists.ranked, lists.starts, lists.ranks, x)
    if measure.kind == "Success":
        first = on_topic(Measure("RR", "RR"), cut, len(unseen))
        return lambda x: (first.score(x) > 0.0).astype(np.float64)
    if measure.kind == "ERR":
        return lambda x: _err(cut.ranked, cut.starts, cut.ranks, x)
    if graded and measure.graded:
        return _discounted(measure, cut, len(unseen))
    return on_topic(measure, lists, len(unseen)).score


def _discounted(measure: Measure, lists: Lists, documents: int) -> Callable[[Outcomes], Floats]:
    """Score DCG or nDCG of grades."""
    on_lists = on_topic(measure, lists, documents)
    assert isinstance(on_lists, Linear | LinearRatio)

    def score(grades: Outcomes) -> Floats:
        levels = np.arange(int(grades.max(initial=0)) + 1)
        of_grade = measure.gains(levels)
        total = on_lists.gains @ of_grade[grades]
        if isinstance(on_lists, Linear):
            return total
        counts = [np.count_nonzero(grades >= level, axis=0) for level in levels[1:]]
        best = on_lists.best(np.diff(of_grade), np.reshape(counts, (-1, grades.shape[1])))
        return np.divide(total, best, out=np.zeros_like(total), where=best > 0.0)

    return score


@njit(cache=True, nogil=True)
def _bpref(
    ranked: NDArray[np.int32],
    starts: NDArray[np.int64],
    ranks: NDArray[np.int32],
    unseen: NDArray[np.bool_],
    others: int,
    outcomes: Outcomes,
) -> Floats:
    lists, size = len(starts) - 1, outcomes.shape[1]
    result = np.zeros((lists, size))
    relevant = np.zeros(size, dtype=np.int64)
    nonrelevant = np.full(size, others)
    for document in range(outcomes.shape[0]):
        for o in range(size):
            relevant[o] += outcomes[document, o]
            nonrelevant[o] += not (outcomes[document, o] or unseen[document])
    seen = np.zeros(size, dtype=np.int64)
    for s in range(lists):
        seen[:] = 0
        for m in range(starts[s], starts[s + 1]):
            of_document = outcomes[ranked[m]]
            for o in range(size):
                if of_document[o]:
                    above = ranks[m] - 1 - seen[o]
                    seen[o] += 1
                    result[s, o] += 1.0
                    if above > 0:
                        below = min(nonrelevant[o], relevant[o])
                        result[s, o] -= min(above, relevant[o]) / below
        for o in range(size):
            if relevant[o]:
                result[s, o] /= relevant[o]
    return result


@njit(cache=True, nogil=True)
def _r_precision(
    ranked: NDArray[np.int32],
    starts: NDArray[np.int64],
    ranks: NDArray[np.int32],
    outcomes: Outcomes,
) -> Floats:
    lists, size = len(starts) - 1, outcomes.shape[1]
    result = np.zeros((lists, size))
    relevant = np.zeros(size, dtype=np.int64)
    for document in range(outcomes.shape[0]):
        for o in range(size):
            relevant[o] += outcomes[document, o]
    for s in range(lists):
        for m in range(starts[s], starts[s + 1]):
            of_document = outcomes[ranked[m]]
            for o in range(size):
                if of_document[o] and ranks[m] <= relevant[o]:
                    result[s, o] += 1.0 / relevant[o]
    return result


@njit(cache=True, nogil=True)
def _err(
    ranked: NDArray[np.int32],
    starts: NDArray[np.int64],
    ranks: NDArray[np.int32],
    outcomes: Outcomes,
) -> Floats:
    lists, size = len(starts) - 1, outcomes.shape[1]
    result = np.zeros((lists, size))
    stops = np.array([(2.0**grade - 1.0) / 2.0**ERR_HIGHEST for grade in range(128)])
    stops = np.minimum(stops, 1.0)
    on = np.ones(size)
    for s in range(lists):
        on[:] = 1.0
        for m in range(starts[s], starts[s + 1]):
            of_document = outcomes[ranked[m]]
            for o in range(size):
                if of_document[o]:
                    stop = stops[of_document[o]]
                    result[s, o] += on[o] * stop / ranks[m]
                    on[o] *= 1.0 - stop
    return result
