"""Scores estimated from a random sample of judgments, with their sampling variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from rtc_bayes.collection.order import all_pairs
from rtc_bayes.measures.plain import PairDifferences
from rtc_bayes.measures.scores import ScoreMatrix, without_rounding

if TYPE_CHECKING:
    import pandas as pd

type Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SampledScores:
    """Scores estimated from a sample, with their sampling variance.

    Attributes
    ----------
    scores : ScoreMatrix
        Of every system on every topic: the estimate, and its estimated variance.
    covariance : ndarray of float, shape (systems, systems)
        Estimated, of the means over topics: systems share the sample.
    few : int
        How many topics, of which documents were drawn by chance, have fewer than two relevant
        ones: as far as the sample tells scores hardly vary there, so that variances are too low,
        and scores are 0 where none was drawn.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> probability = rb.inclusion_probabilities(pool, 8)
    >>> estimate = rb.stat_ap(rb.Sample.draw(pool, simulated.qrels, probability))
    >>> estimate, estimate.pairs().confidence.shape
    (SampledScores(ScoreMatrix(statAP, 4 systems, 3 topics)), (6,))
    """

    scores: ScoreMatrix
    covariance: Floats
    few: int = 0

    def pairs(self) -> PairDifferences:
        """Return the difference of every two systems, and the normal confidence in its sign.

        Topics are those at hand: the sampling of documents alone makes the difference uncertain.
        """
        mean = self.scores.mean.mean(axis=1)
        first, second = all_pairs(len(mean))
        own = np.diag(self.covariance)
        variance = own[first] + own[second] - 2.0 * self.covariance[first, second]
        difference = without_rounding(mean[first] - mean[second])
        sd = np.sqrt(np.maximum(variance, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.where(difference == 0.0, 0.0, np.abs(difference) / sd)
        return PairDifferences(difference, sd, norm.cdf(size))

    def mean_frame(self) -> pd.DataFrame:
        """Return a row per system: its name, its mean over topics, and the sampling sd of that.

        Examples
        --------
        >>> matrix = ScoreMatrix([[0.25, 0.5]], [[0.0, 0.04]], ("bm25",), ("1", "2"), "statAP")
        >>> SampledScores(matrix, np.array([[0.01]])).mean_frame().to_dict("records")
        [{'system': 'bm25', 'statAP': 0.375, 'sd': 0.1}]
        """
        import pandas as pd

        means, sd = self.scores.mean.mean(axis=1), np.sqrt(np.diag(self.covariance))
        return pd.DataFrame({"system": self.scores.systems, self.scores.measure: means, "sd": sd})

    def to_dict(self, *, per_topic: bool = False) -> dict[str, dict[str, Any]]:
        """Return {measure: {system: {"mean", "sd"}}}, or {...: {topic: {"score", "sd"}}}."""
        systems, topics = self.scores.systems, self.scores.topics
        if per_topic:
            sd = np.sqrt(self.scores.variance)
            cells = {
                system: {
                    topic: {"score": float(self.scores.mean[s, t]), "sd": float(sd[s, t])}
                    for t, topic in enumerate(topics)
                }
                for s, system in enumerate(systems)
            }
            return {self.scores.measure: cells}
        rows = self.mean_frame().itertuples(index=False)
        return {self.scores.measure: {name: {"mean": mean, "sd": sd} for name, mean, sd in rows}}

    def __repr__(self) -> str:
        return f"SampledScores({self.scores!r})"
