"""Move to front: go on with a run while it gives relevant documents (Cormack et al. 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.judging.judges.by_run import ByRun
from rtc_bayes.judging.judges.in_turn import Floats, Ties
from rtc_bayes.judging.judges.interface import Chooser
from rtc_bayes.relevance.options import check_options


@dataclass(frozen=True)
class MoveToFront:
    """Judge a run's documents until one is not relevant, then go to a run of highest priority.

    Local move to front (Cormack, Palmer and Clarke, SIGIR 1998, section 4): in every topic all
    runs begin with one priority; a document that is not relevant (label below .5) lowers that of
    the run which offered it by one. Of runs of one priority the run in hand comes first, then the
    one whose next document has the best rank. Topics come in turn. The weight of a document is one
    over its rank in the run that offers it.

    Parameters
    ----------
    ties : {"random", "docno"}
        What decides among equals: a draw by the seed, as in most experiments, or docno. Docnos
        often sort by source, so that the first of them are no fair sample.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("A", {"1": ["a", "b", "c"]}),
    ...                 rb.Run.from_rankings("B", {"1": ["x", "y", "z"]})])
    >>> pool = rb.Pool.from_runs(runs, depth=3)
    >>> qrels = rb.Qrels({"1": {"a": 1, "b": 0, "x": 0}})
    >>> result = rb.build(pool, qrels, "mtf[ties=docno]", budget=5)
    >>> [step.docno for step in result.steps]
    ['a', 'b', 'x', 'y', 'c']
    """

    ties: Ties = "random"
    name: ClassVar[str] = "mtf"
    has_confidence: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_options(self)

    def start(self, judgments: Judgments, *, seed: int) -> Chooser:
        """Make the chooser of one session; the seed decides ties."""
        return _MoveToFront(judgments, self.ties, seed)


class _MoveToFront(ByRun):
    def _begin(self) -> None:
        self._priority = np.zeros(self._place.shape)
        self._in_hand = np.full(self.pool.n_topics, -1)

    def _worth(self, topic: int) -> Floats:
        # priorities are whole numbers: half a step decides among equals alone
        return self._priority[topic] + 0.5 * (self._systems == self._in_hand[topic])

    def _learn(self, topic: int, system: int | None, document: int, label: float) -> None:
        if system is not None:
            self._in_hand[topic] = system
            self._priority[topic, system] -= label < 0.5
