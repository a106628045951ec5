"""Calibration topic by topic: each has its own intercept and slope, pooled over topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import Judgments, Pool
from rtc_bayes.relevance import (
    Draws,
    EffectsDraws,
    EffectsRegression,
    MeanSd,
    MedianSpread,
    PointEstimate,
    Sampling,
    check_options,
    coordinates,
    document_ranks,
    effect,
    observe,
    rank_curve,
    require,
    sigmoid,
)

if TYPE_CHECKING:
    import pymc as pm

type Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TopicCalibration:
    """Rank evidence summed over systems, calibrated in each topic by its own line.

    Evidence of a document is F_i, the mean over systems of 1 - ln(rank) / ln(depth + 1), which is
    0 where a system does not rank it: 1 if all rank it first. Platt's calibration (1999), where a
    topic with few judgments borrows from the others::

        logit p_i = mu + alpha_t(i) + (m + beta_t(i)) F_i
        alpha_t ~ Normal(0, s_alpha)    beta_t ~ Normal(0, s_beta)

    What `hierarchical` gives to systems, this gives to topics: whether what all retrieve is
    relevant differs from topic to topic. Fits to complete judgments of 2 to 16 runs of Robust 2003
    gave mu of -3.1 to -3.3, m of 4.1 to 7.8, s_alpha of 0.9 and s_beta of 2.4 to 3.2: the priors
    are about these.

    `map` has the scales at the mode of their marginal posterior (a joint mode of scales and
    effects says little), `laplace` draws them too.

    Attributes
    ----------
    mu, m : tuple of float
        Mean and sd of the normal prior: log-odds where no system ranks a document, and what
        ranking it first everywhere adds.
    s_alpha, s_beta : tuple of float
        Median of the log-normal prior of a scale, and the sd of its logarithm.
    centred : bool
        Whether the graph writes effects as Normal(0, s) or as s Normal(0, 1). The posterior is
        the same, the speed of NUTS is not.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.load_model("topic_calibration", {"m": "5:1"}).m
    (5.0, 1.0)
    """

    mu: MeanSd = (-3.2, 0.8)
    m: MeanSd = (6.0, 2.0)
    s_alpha: MedianSpread = (1.0, 0.3)
    s_beta: MedianSpread = (2.5, 0.4)
    centred: bool = False

    name: ClassVar[str] = "topic_calibration"
    methods: ClassVar[tuple[str, ...]] = ("laplace", "map", "nuts")
    default_method: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        check_options(self)
        for option in ("s_alpha", "s_beta"):
            require(min(getattr(self, option)) > 0, self, option, "median:spread, both positive")

    def graph(self, pool: Pool, judgments: Judgments) -> pm.Model:
        """Write the model for PyMC."""
        import pymc as pm

        evidence = _evidence(pool)
        with pm.Model(coords=coordinates(pool)) as model:
            mu, m = pm.Normal("mu", *self.mu), pm.Normal("m", *self.m)
            effects = []
            for name, (median, spread) in (("alpha", self.s_alpha), ("beta", self.s_beta)):
                scale = pm.math.exp(pm.Normal(f"log_s_{name}", np.log(median), spread))
                effects.append(effect(name, scale, "topic", centred=self.centred))
            level, slope = mu + effects[0], m + effects[1]
            topic = pool.topic_of
            observe(
                judgments, lambda rows: level[topic[rows]] + slope[topic[rows]] * evidence[rows]
            )
        return model

    def map(self, judgments: Judgments) -> PointEstimate:
        """Estimate every document, with the scales at the mode of their marginal posterior."""
        mode, diagnostics = self._regression(judgments).map()
        parameters = _parameters(mode)
        return PointEstimate(
            p=_predict(judgments.pool, parameters)[0, 0],
            parameters={name: value[0, 0] for name, value in parameters.items()},
            dims=_DIMS,
            diagnostics=diagnostics,
        )

    def laplace(self, judgments: Judgments, sampling: Sampling) -> Draws:
        """Draw scales from their approximate posterior, and the rest given them."""
        drawn, diagnostics = self._regression(judgments).laplace(sampling)
        kept = _parameters(drawn.take(sampling.kept))
        p = _predict(judgments.pool, kept).astype(np.float32)
        return Draws(p, _parameters(drawn), dims=_DIMS, diagnostics=diagnostics)

    def _regression(self, judgments: Judgments) -> EffectsRegression:
        pool, rows = judgments.pool, judgments.order
        topic = pool.topic_of[rows].astype(np.int64)
        evidence = _evidence(pool)[rows]
        slopes = evidence[:, None] * (topic[:, None] == np.arange(pool.n_topics))
        mean, sd = np.array([self.mu, self.m]).T
        median, spread = np.array([self.s_alpha, self.s_beta]).T
        return EffectsRegression(
            columns=np.column_stack([np.ones(len(rows)), evidence, slopes]),
            local=np.ones((len(rows), 1)),
            topic=topic,
            n_topics=pool.n_topics,
            labels=judgments.labels[rows],
            mean=mean,
            sd=sd,
            scale_of=np.repeat([-1, 1], [2, pool.n_topics]),
            local_scale_of=np.array([0]),
            median=median,
            spread=spread,
            df=np.full(2, np.inf),
        )


_DIMS = {"alpha": ("topic",), "beta": ("topic",)}


def _evidence(pool: Pool) -> Floats:
    """F of every document."""
    evidence: Floats = rank_curve(document_ranks(pool), pool.depth).mean(axis=1)
    return evidence


def _parameters(drawn: EffectsDraws) -> dict[str, Floats]:
    """Name the parameters of draws, each of shape (chains, draws, ...)."""
    return {
        "mu": drawn.columns[..., 0],
        "m": drawn.columns[..., 1],
        "alpha": drawn.local[..., 0],
        "beta": drawn.columns[..., 2:],
        "log_s_alpha": drawn.log_scale[..., 0],
        "log_s_beta": drawn.log_scale[..., 1],
    }


def _predict(pool: Pool, parameters: dict[str, Floats]) -> Floats:
    """Probability of every document in every draw, shape (chains, draws, documents)."""
    level = parameters["mu"][..., None] + parameters["alpha"]
    slope = parameters["m"][..., None] + parameters["beta"]
    return sigmoid(level[..., pool.topic_of] + slope[..., pool.topic_of] * _evidence(pool))
