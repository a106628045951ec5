"""A pool of experts on the log-odds scale, each system's weight shrunk to a common one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rtc_bayes import Judgments, Pool
from rtc_bayes.relevance import (
    MeanSd,
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
class LogoddsPooling:
    """Log-odds pool of the systems: each adds its weight times the log-odds its rank speaks of.

    The form that Clemen and Winkler (1990, "Unanimity and compromise among probability
    forecasters", Management Science 36) found best for aggregating experts. System j's opinion
    of document i is l_ij = ln((depth + 1) / rank), odds that fall as 1 / rank, and 0 where it
    does not rank it. Of J systems::

        logit p_i = mu + alpha_t(i) + sum_j w_j l_ij
        w_j ~ Normal(m / J, s_w)    alpha_t ~ Normal(0, s_alpha)

    Weights that sum to 1 are a compromise; weights of 1 each would be independent experts. In
    fits to complete judgments of 2 to 16 runs of Robust 2003 they sum to 0.7 to 0.9, mu is -3.1 to
    -3.3, s_alpha 0.9 and s_w 0.12 to 0.23: the priors are about these.

    Attributes
    ----------
    mu, m : tuple of float
        Mean and sd of the normal prior: log-odds of a document that no system ranks in an
        average topic, and the sum of the weights.
    s_alpha, s_w : float
        Scales, at least 0. They are fixed, not estimated: scales and effects together have no
        useful mode, given the scales there is exactly one. With ``s_alpha=0`` topics are alike,
        with ``s_w=0`` systems.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.load_model("logodds_pooling", {"s_w": 0}).s_w
    0
    """

    mu: MeanSd = (-3.2, 0.8)
    m: MeanSd = (0.85, 0.35)
    s_alpha: float = 1.0
    s_w: float = 0.2

    name: ClassVar[str] = "logodds_pooling"
    methods: ClassVar[tuple[str, ...]] = ("laplace", "map", "nuts")
    default_method: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        check_options(self)
        for option in ("s_alpha", "s_w"):
            require(getattr(self, option) >= 0, self, option, "a number of at least 0")

    def graph(self, pool: Pool, judgments: Judgments) -> pm.Model:
        """Write the model for PyMC."""
        import pymc as pm

        opinions = np.log(pool.depth + 1) * rank_curve(document_ranks(pool), pool.depth)
        share = np.full(pool.n_systems, 1.0 / pool.n_systems)
        with pm.Model(coords=coordinates(pool)) as model:
            mu, m = pm.Normal("mu", *self.mu), pm.Normal("m", *self.m)
            z_alpha = pm.Normal("z_alpha", 0.0, 1.0, dims="topic")
            z_w = pm.Normal("z_w", 0.0, 1.0, dims="system")
            alpha = pm.Deterministic("alpha", self.s_alpha * z_alpha, dims="topic")
            w = pm.Deterministic("w", m * share + self.s_w * z_w, dims="system")
            observe(
                judgments,
                lambda rows: mu + alpha[pool.topic_of[rows]] + pm.math.dot(opinions[rows], w),
            )
        return model
