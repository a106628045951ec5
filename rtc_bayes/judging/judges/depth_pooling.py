"""Depth-k pooling: the first documents of every list, as deep as the budget goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.judging.judges.in_turn import InFixedOrder, Ties, tie_order
from rtc_bayes.judging.judges.interface import Chooser
from rtc_bayes.relevance.options import check_options


@dataclass(frozen=True)
class DepthPooling:
    """Judge each topic's documents by their best rank, the topics in turn (depth-k pooling).

    The pool of depth k is the union of the first k documents of every list (Spärck Jones and van
    Rijsbergen 1975; Voorhees and Harman 1999). A budget that ends inside a depth ends there in
    every topic alike; ``ip`` judges all of a topic's documents of a rank before it goes to the next
    topic, and so leaves topics out. The weight is one over the best rank.

    Parameters
    ----------
    ties : {"random", "docno"}
        What decides among equals: a draw by the seed, as in most experiments, or docno. Docnos
        often sort by source, so that the first of them are no fair sample.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> result = rb.build(pool, simulated.qrels, "pool", budget=4)
    >>> [(step.topic, step.weight) for step in result.steps]
    [('501', 1.0), ('502', 1.0), ('503', 1.0), ('501', 1.0)]
    """

    ties: Ties = "random"
    name: ClassVar[str] = "pool"
    has_confidence: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_options(self)

    def start(self, judgments: Judgments, *, seed: int) -> Chooser:
        """Make the chooser of one session; the seed decides ties."""
        best = judgments.pool.best_ranks
        weights = np.where(best > 0, 1.0 / np.maximum(best, 1), 0.0)
        return InFixedOrder(judgments, weights, tie_order(judgments, self.ties, seed))
