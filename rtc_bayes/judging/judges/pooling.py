"""Incremental pooling: documents by rank, whatever the topic (Carterette 2007, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.judging.judges.interface import Chooser


@dataclass(frozen=True)
class IncrementalPooling:
    """Present documents in rank order: all at rank 1 of some system, then those at rank 2, and on.

    Within a rank documents come in topic order, then by docno. The weight of a document is one
    over its best rank. Documents that no system ranks are never presented.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> result = rb.build(pool, simulated.qrels, "ip", budget=2)
    >>> [step.weight for step in result.steps]
    [1.0, 1.0]
    """

    name: ClassVar[str] = "ip"
    has_confidence: ClassVar[bool] = False

    def start(self, judgments: Judgments, *, seed: int) -> Chooser:
        """Make the chooser of one session; the seed is not used."""
        return _ByRank(judgments)


class _ByRank(Chooser):
    def __init__(self, judgments: Judgments) -> None:
        super().__init__(judgments)
        self._best_rank = self.pool.best_ranks
        order = np.lexsort((np.arange(self.pool.n_documents), self._best_rank))
        self._order = order[self._best_rank[order] > 0]
        self._passed = 0

    def choose(self, count: int) -> list[tuple[int, float]]:
        while self._passed < len(self._order) and self.is_judged(self._order[self._passed]):
            self._passed += 1
        chosen: list[tuple[int, float]] = []
        for document in self._order[self._passed :]:
            if len(chosen) == count:
                break
            if not self.is_judged(document):
                chosen.append((int(document), 1.0 / float(self._best_rank[document])))
        return chosen
