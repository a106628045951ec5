"""The three layers of the 2007 model as one hierarchical model, every judgment used once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import Judgments, Pool
from rtc_bayes.relevance import (
    BetaPrior,
    MeanSd,
    MedianSpread,
    check_options,
    coordinates,
    document_ranks,
    observe,
    prevalence_curves,
    require,
)

if TYPE_CHECKING:
    import pymc as pm

    from rtc_bayes.relevance import Density, LabelEvidence

type Floats = NDArray[np.float64]
EFFECTS = {"A": "offset", "B": "slope", "lambda": "weight"}


@dataclass(frozen=True)
class Layered:
    """Ranks to probabilities, calibrated per system, aggregated over systems: one posterior.

    The layers of :class:`RTC`, of which each is fitted apart and given the mode of the one before,
    as one joint model. With x ~ LogitBeta(prior), J systems, and r_ij the rank of document i by
    system j (q* = 0 where it has none)::

        prevalence_t ~ Beta(m k, (1 - m) k)                        1: topics
        q*_t(r) = the paper's curve of ranks whose mean is prevalence_t
        logit q_ij = A_j + B_j q*_t(i)(r_ij)                       2: systems
        A_j = offset + s_offset x_j      B_j = slope + s_slope x'_j
        logit p_i = sum_j lambda_j logit q_ij                      3: documents
        lambda_j = weight / J + s_weight x''_j
        label_i ~ Bernoulli(p_i)

    Labels of judges that may err add their evidence to logit p_i:
    :mod:`rtc_bayes.relevance.label_evidence`.

    Attributes
    ----------
    m : tuple of float
        a and b of the beta prior of the mean prevalence.
    k : tuple of float
        Median of the log-normal prior of the prevalences' concentration, and the sd of its
        logarithm.
    offset, slope, weight : tuple of float
        Mean and sd of the normal prior; `weight` is what all systems weigh together.
    s_offset, s_slope, s_weight : tuple of float
        Median of the log-normal prior of a scale, and the sd of its logarithm.
    prior : tuple of float
        a and b of LogitBeta(a, b), the distribution of systems about their mean.
    meetings : float
        Layer 1: how often every rank meets the reference item; the paper's R_t + N_t + 2.
    temper : {"none", "depth"}
        Layer 1: weight of the pairwise likelihood, as of `rtc`.
    link : {"logodds", "probability"}
        Layer 3: weigh logit q_ij or q_ij.
    intercept : bool
        Layer 3: whether there is one, lambda_0 ~ LogitBeta(prior).
    pooled : bool
        False, to hold the model to the paper's: means are 0, scales 1, and prevalence_t ~
        Beta(R_t + 1, N_t + 1) of the topic's judgments, with R_t + N_t + 2 meetings.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.load_model("layered", {"pooled": "no"}).pooled
    False
    """

    m: BetaPrior = (10.0, 30.0)
    k: MedianSpread = (4.0, 0.25)
    offset: MeanSd = (-4.6, 0.7)
    slope: MeanSd = (7.5, 2.0)
    weight: MeanSd = (1.0, 0.05)
    s_offset: MedianSpread = (0.2, 0.3)
    s_slope: MedianSpread = (1.0, 0.3)
    s_weight: MedianSpread = (0.25, 0.3)
    prior: BetaPrior = (3.0, 3.0)
    meetings: float = 60.0
    temper: Literal["none", "depth"] = "none"
    link: Literal["logodds", "probability"] = "logodds"
    intercept: bool = False
    pooled: bool = True

    name: ClassVar[str] = "layered"
    takes_labels: ClassVar[bool] = True
    methods: ClassVar[tuple[str, ...]] = ("nuts", "map", "laplace")
    default_method: ClassVar[str] = "nuts"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"pooled": False, "prior": (1.0, 1.0), "link": "probability"},
    }

    def __post_init__(self) -> None:
        check_options(self)
        for option in ("k", *(f"s_{name}" for name in EFFECTS.values())):
            require(min(getattr(self, option)) > 0, self, option, "median:spread, both positive")
        require(self.meetings > 0, self, "meetings", "a positive number")

    def density(self, judgments: Judgments) -> Density:
        """Return the graph's density compiled, and many times as fast."""
        from rtc_bayes.relevance import (
            LabelEvidence,
            LabelledDensity,
            LayeredDensity,
            LayeredPriors,
            open_graph,
            spline,
        )

        if not self.pooled:
            return open_graph(self, judgments)
        evidence = LabelEvidence(judgments)
        means = [getattr(self, name) for name in EFFECTS.values()]
        medians = [self.k, *(self._scale(name, evidence) for name in EFFECTS.values())]
        logs = [(np.log(median), spread) for median, spread in medians]
        centre, spread = np.array([logs[0], *means, *logs[1:]]).T
        priors = LayeredPriors(self.m, centre, spread, *self.prior, self.link == "logodds")
        curve = spline(judgments.pool.depth + 1, self.meetings, self.temper)
        own = LayeredDensity(judgments, priors, curve, self.intercept)
        return LabelledDensity(own, evidence) if evidence.names else own

    def graph(self, pool: Pool, judgments: Judgments) -> pm.Model:
        """Write the model for PyMC."""
        import pymc as pm

        from rtc_bayes.relevance import LabelEvidence, LogitBeta

        evidence = LabelEvidence(judgments)
        relevant, nonrelevant = judgments.relevant + 1.0, judgments.nonrelevant + 1.0
        meetings = np.full(pool.n_topics, self.meetings) if self.pooled else relevant + nonrelevant
        rank, topic = document_ranks(pool), pool.topic_of
        with pm.Model(coords=coordinates(pool) | evidence.coords) as model:
            level = self._prevalences(relevant, nonrelevant)
            q_star = prevalence_curves(level, meetings, pool.depth, self.temper)[
                topic[:, None], rank - 1
            ]
            offset, slope = self._effects("A", evidence), self._effects("B", evidence)
            weight = self._effects("lambda", evidence, pool.n_systems)
            of_labels = evidence.in_graph()
            constant = LogitBeta("lambda_0", *self.prior) if self.intercept else 0.0

            def log_odds(rows: NDArray[np.integer]) -> Any:
                calibrated = offset + slope * q_star[rows]
                if self.link == "probability":
                    calibrated = pm.math.sigmoid(calibrated)
                return constant + pm.math.dot(calibrated, weight) + of_labels(rows)

            observe(judgments, log_odds)
        return model

    def _prevalences(self, relevant: Floats, nonrelevant: Floats) -> Any:
        """Write the log-odds of the topics' prevalences: about their mean, or by judgments.

        LogitBeta(a, b) has its mode at log(a / b), with the curvature of a normal of variance
        1 / a + 1 / b: in these units a graph's variables have a scale of their own.
        """
        import pymc as pm

        from rtc_bayes.relevance import LogitBeta

        def standard(a: Any, b: Any, size: Any) -> Any:
            apart = LogitBeta.dist(a, b, size=size) - pm.math.log(a / b)
            return apart / pm.math.sqrt(1.0 / a + 1.0 / b)

        if not self.pooled:
            return LogitBeta("logit_prevalence", relevant, nonrelevant, dims="topic")
        logit_m = LogitBeta("logit_m", *self.m)
        log_k = pm.Normal("log_k", np.log(self.k[0]), self.k[1])
        a, b = (pm.math.exp(log_k) * pm.math.sigmoid(sign * logit_m) for sign in (1.0, -1.0))
        z = pm.CustomDist("z_prevalence", a, b, dist=standard, dims="topic")
        spread = pm.math.sqrt(1.0 / a + 1.0 / b)
        return pm.Deterministic("logit_prevalence", logit_m + spread * z, dims="topic")

    def _scale(self, option: str, evidence: LabelEvidence) -> MedianSpread:
        """Median and spread of a scale of systems' effects: smaller beside labels."""
        median, spread = getattr(self, f"s_{option}")
        return median * evidence.remaining, spread

    def _effects(self, name: str, evidence: LabelEvidence, systems: int = 1) -> Any:
        """Write a layer's parameters of systems: about their mean over `systems`, or by the prior.

        A spread is a factor of x, so that the graph's variables have a scale of their own.
        """
        import pymc as pm

        from rtc_bayes.relevance import LogitBeta

        if not self.pooled:
            return LogitBeta(name, *self.prior, dims="system")
        option = EFFECTS[name]
        mean = pm.Normal(option, *getattr(self, option))
        median, spread = self._scale(option, evidence)
        log_s = pm.Normal(f"log_s_{option}", np.log(median), spread)
        x = LogitBeta(f"x_{name}", *self.prior, dims="system")
        return pm.Deterministic(name, mean / systems + pm.math.exp(log_s) * x, dims="system")
