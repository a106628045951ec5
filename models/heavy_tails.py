"""The hierarchical predictor with systems that may be far from the rest: Student-t effects."""

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
class HeavyTails:
    """Systems mostly alike, a few very different: Student-t effects in place of Gaussian ones.

    Of J systems, with r_ij = 1 where system j ranks document i, else 0, and
    f_ij = 1 - ln(rank) / ln(depth + 1) there, else 0::

        logit p_i = mu + alpha_t(i) + sum_j [(m_a / J + a_j) r_ij + (m_b / J + b_j) f_ij]
        alpha_t ~ Normal(0, s_alpha)    a_j / s_a, b_j / s_b ~ Student-t(df)

    A manual run, or one that failed, then does not widen what is believed of all others. The
    effects are written as s sqrt(df) sinh(x / 2) with x ~ LogitBeta(df / 2, df / 2), which is
    exactly Student-t (x is the log-odds of the beta variable of its distribution function):
    x is nearly normal, so `laplace` keeps the tails. The mode that `map` finds is that of x.

    Attributes
    ----------
    mu, m_a, m_b : tuple of float
        Mean and sd of the normal prior, those of `hierarchical`. m_a and m_b are what all
        systems give together.
    s_alpha, s_a, s_b : float
        Scales, at least 0; those of systems from fits to Robust 2003. They are fixed, not
        estimated: scales and effects together have no useful mode.
    df : float
        Degrees of freedom, positive: 1 is Cauchy's, many are the Gaussian's.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.load_model("heavy_tails", {"df": 5}).df
    5
    """

    mu: MeanSd = (-3.7, 0.8)
    m_a: MeanSd = (1.0, 1.5)
    m_b: MeanSd = (4.7, 1.5)
    s_alpha: float = 1.1
    s_a: float = 0.4
    s_b: float = 0.6
    df: float = 3.0

    name: ClassVar[str] = "heavy_tails"
    methods: ClassVar[tuple[str, ...]] = ("laplace", "map", "nuts")
    default_method: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        check_options(self)
        for option in ("s_alpha", "s_a", "s_b"):
            require(getattr(self, option) >= 0, self, option, "a number of at least 0")
        require(self.df > 0, self, "df", "a positive number")

    def graph(self, pool: Pool, judgments: Judgments) -> pm.Model:
        """Write the model for PyMC."""
        import pymc as pm

        from rtc_bayes.relevance import LogitBeta

        ranks = document_ranks(pool)
        evidence = np.hstack([ranks > 0, rank_curve(ranks, pool.depth)])
        share = np.full(pool.n_systems, 1.0 / pool.n_systems)
        with pm.Model(coords=coordinates(pool)) as model:
            mu, m_a, m_b = (pm.Normal(n, *getattr(self, n)) for n in ("mu", "m_a", "m_b"))
            z_alpha = pm.Normal("z_alpha", 0.0, 1.0, dims="topic")
            alpha = pm.Deterministic("alpha", self.s_alpha * z_alpha, dims="topic")
            effects = []
            for name, common, scale in (("a", m_a, self.s_a), ("b", m_b, self.s_b)):
                x = LogitBeta(f"x_{name}", self.df / 2.0, self.df / 2.0, dims="system")
                student = scale * np.sqrt(self.df) * pm.math.sinh(x / 2.0)
                effects.append(common * share + pm.Deterministic(name, student, dims="system"))
            weight = pm.math.concatenate(effects)
            observe(
                judgments,
                lambda rows: mu + alpha[pool.topic_of[rows]] + pm.math.dot(evidence[rows], weight),
            )
        return model
