"""Scores of outcomes by ir-measures: a path that shares nothing with the compiled measures."""

from __future__ import annotations

import numpy as np

from rtc_bayes.collection.lists import Lists
from rtc_bayes.measures.names import ir_measure


class QrelsScorer:
    """Scores lists with ir-measures, each outcome being a query of its own.

    A list ends with its last known document.
    """

    def __init__(self, measure: str, lists: Lists) -> None:
        self.measure = measure
        self.lists = [_by_name(lists, s) for s in range(lists.n_lists)]
        listed = {str(i) for i in lists.ranked.tolist()}
        # what stands at a rank that no document is known to have is not relevant
        self.others = dict.fromkeys(set().union(*self.lists) - listed, 0)

    def score(self, outcomes: np.ndarray) -> np.ndarray:
        """Score every list on every outcome, shape (lists, outcomes)."""
        import ir_measures

        measure = ir_measure(self.measure)
        documents, size = outcomes.shape
        names = [str(i) for i in range(documents)]
        qrels = {
            str(o): self.others | dict(zip(names, outcomes[:, o].tolist(), strict=True))
            for o in range(size)
        }
        evaluator = ir_measures.evaluator([measure], qrels)
        result = np.zeros((len(self.lists), size))
        for s, scores in enumerate(self.lists):
            if not scores:
                continue
            for metric in evaluator.iter_calc(dict.fromkeys(qrels, scores)):
                result[s, int(metric.query_id)] = metric.value
        return result


def _by_name(lists: Lists, s: int) -> dict[str, float]:
    """Scores of the documents of a list, with others where none is known above the last."""
    inside = slice(*lists.starts[[s, s + 1]])
    at_rank = dict(zip(lists.ranks[inside].tolist(), lists.ranked[inside].tolist(), strict=True))
    lowest = max(at_rank, default=0)
    return {
        str(at_rank.get(rank, f"at{rank}")): float(lowest - rank) for rank in range(1, lowest + 1)
    }
