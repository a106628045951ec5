"""The documents that systems disagree about most: the variance of one over their rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.errors import InputError
from rtc_bayes.judging.judges.in_turn import InFixedOrder, Ties, tie_order
from rtc_bayes.judging.judges.interface import Chooser
from rtc_bayes.relevance.options import check_options

_PLACES = 12


@dataclass(frozen=True)
class RankVariance:
    """Judge each topic's documents by the variance over systems of 1/rank, the topics in turn.

    A document at rank r adds about 1/r to what its relevance is worth to a system, and 0 where it
    is not retrieved; the variance over systems of that is what one label moves them apart by, all
    systems at once. For two systems it is (1/r_a - 1/r_b)²/4. No label is used, so it needs
    nobody to wait for another; a document that all rank alike is never chosen.

    Parameters
    ----------
    ties : {"random", "docno"}
        What decides among equals: a draw by the seed, as in most experiments, or docno. Docnos
        often sort by source, so that the first of them are no fair sample.

    Raises
    ------
    InputError
        Of :meth:`start`: a pool of one system.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> result = rb.build(pool, simulated.qrels, "rankvar", budget=4)
    >>> [step.topic for step in result.steps]
    ['501', '502', '503', '501']
    """

    ties: Ties = "random"
    name: ClassVar[str] = "rankvar"
    has_confidence: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_options(self)

    def start(self, judgments: Judgments, *, seed: int) -> Chooser:
        """Make the chooser of one session; the seed decides ties."""
        pool = judgments.pool
        if pool.n_systems < 2:
            raise InputError(
                f"{self.name} chooses documents that systems rank apart",
                remedy="give two runs or more",
            )
        variances = [np.zeros(0)]
        for t in range(pool.n_topics):
            ranks = pool.ranks(t, below=True)
            scored = (ranks > 0) & (ranks <= pool.score_depth)
            variances.append(np.var(np.where(scored, 1.0 / np.maximum(ranks, 1), 0.0), axis=0))
        weights = np.concatenate(variances).round(_PLACES)  # so that rounding decides no tie
        return InFixedOrder(judgments, weights, tie_order(judgments, self.ties, seed))
