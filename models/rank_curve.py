"""Ranks alone: one falling curve for all systems, of any shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rtc_bayes import Judgments, Pool
from rtc_bayes.relevance import (
    MeanSd,
    MedianSpread,
    check_options,
    coordinates,
    document_ranks,
    observe,
    rank_curve,
    require,
)

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class RankCurve:
    """One curve of log-odds over rank that all systems share; no system is trusted more.

    The curve falls over K pieces of equal length in ln(rank), and once more from the last rank
    to documents that are not ranked. It is linear in ln(rank) on each piece, and each drop is
    positive (a regression on ordered increments, as in Ramsay 1988, "Monotone regression splines
    in action"). Of J systems, with h_k(rank) the share of drop k still to come at a rank::

        logit p_i = mu + alpha_t(i) + sum_j g(rank_ij) / J    g(rank) = sum_k drop_k h_k(rank)
        ln drop_k ~ Normal(ln median, spread)    alpha_t ~ Normal(0, s_alpha)

    Complete judgments of 2 to 16 runs of Robust 2003 give a full fall of 4.4 to 6.8, mu of -3.3 to
    -3.6 and s_alpha of 0.9: the priors are about these. What a model of systems adds, comparison
    with this one says.

    Attributes
    ----------
    mu : tuple of float
        Mean and sd of the normal prior: log-odds of a document that no system ranks in an
        average topic.
    drop : tuple of float
        Median of the log-normal prior of a drop where there are six pieces (seven drops; of
        another number the median keeps the full fall), and the sd of its logarithm.
    pieces : int
        K, at least 1.
    s_alpha : float
        Scale of the topics, at least 0: fixed, as scales and effects together have no useful
        mode.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.load_model("rank_curve", {"pieces": 4}).pieces
    4
    """

    mu: MeanSd = (-3.5, 0.8)
    drop: MedianSpread = (0.7, 0.5)
    pieces: int = 6
    s_alpha: float = 1.0

    name: ClassVar[str] = "rank_curve"
    methods: ClassVar[tuple[str, ...]] = ("laplace", "map", "nuts")
    default_method: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        check_options(self)
        require(min(self.drop) > 0, self, "drop", "median:spread, both positive")
        require(self.pieces >= 1, self, "pieces", "an integer of at least 1")
        require(self.s_alpha >= 0, self, "s_alpha", "a number of at least 0")

    def graph(self, pool: Pool, judgments: Judgments) -> pm.Model:
        """Write the model for PyMC."""
        import pymc as pm

        ranks = document_ranks(pool)
        curve = self.pieces * rank_curve(ranks, pool.depth)
        drops = [ranks > 0, *(np.clip(curve - k, 0.0, 1.0) for k in range(self.pieces))]
        evidence = np.column_stack([drop.mean(axis=1) for drop in drops])
        median, spread = self.drop[0] * 7 / len(drops), self.drop[1]
        with pm.Model(coords=coordinates(pool) | {"piece": np.arange(len(drops))}) as model:
            mu = pm.Normal("mu", *self.mu)
            log_drop = pm.Normal("log_drop", np.log(median), spread, dims="piece")
            z_alpha = pm.Normal("z_alpha", 0.0, 1.0, dims="topic")
            alpha = pm.Deterministic("alpha", self.s_alpha * z_alpha, dims="topic")
            drop = pm.Deterministic("drop", pm.math.exp(log_drop), dims="piece")
            observe(
                judgments,
                lambda rows: mu + alpha[pool.topic_of[rows]] + pm.math.dot(evidence[rows], drop),
            )
        return model
