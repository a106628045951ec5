"""Estimates from a random sample of judgments: statAP, and the number of relevant documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from rtc_bayes.collection.lists import Lists
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.errors import explains_types
from rtc_bayes.measures.plain import PairDifferences
from rtc_bayes.measures.sampling import Sample
from rtc_bayes.measures.scores import ScoreMatrix, without_rounding

if TYPE_CHECKING:
    import pandas as pd

# relevant documents drawn of a topic, from which a variance can be estimated
_ENOUGH = 2

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


@explains_types
def stat_ap(sample: Sample) -> SampledScores:
    """Estimate average precision from a sample (statAP; Pavlu and Aslam 2007).

    With w one over the inclusion probability of a relevant document drawn, the precision at its
    rank is estimated as (1 + the sum of w over those ranked above it) / rank, the document itself
    counting 1, and 0 where a system does not retrieve it; statAP is the mean of these precisions
    weighted by w (Hosseini 2013, eqs. 3.10-3.11). Numerator and denominator are unbiased; their
    ratio is so for large samples, and may be above 1. A topic where no relevant document was drawn
    has 0.

    The variance is that of Poisson sampling by linearisation: the sum over relevant documents
    drawn of (1 - p) w² z², with z = (precision at d + sum of w/rank over those ranked below d -
    statAP) / sum of w. It is 0 for a topic where no relevant document was drawn, as nothing was
    seen that could vary; it is low where few were. Scores are too high in the mean, and intervals
    of plus or minus 1.96 standard deviations held 5% to 67% of the true ones (docs/judging.md).

    Parameters
    ----------
    sample : Sample

    Returns
    -------
    SampledScores

    Examples
    --------
    With all judged it is average precision:

    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})])
    >>> pool = rb.Pool.from_runs(runs, depth=3)
    >>> sample = rb.Sample.draw(pool, rb.Qrels({"1": {"a": 1, "c": 1}}), [1, 1, 1])
    >>> rb.stat_ap(sample).scores.mean.round(4).tolist(), rb.stat_ap(sample).covariance.tolist()
    ([[0.8333]], [[0.0]])
    """
    pool = sample.judgments.pool
    systems, topics = pool.n_systems, pool.n_topics
    scores, variance = np.zeros((systems, topics)), np.zeros((systems, topics))
    covariance, few = np.zeros((systems, systems)), 0
    weights, p = sample.weights, np.nan_to_num(sample.probability, nan=1.0)
    for t in range(topics):
        inside = pool.documents(t)
        w = weights[inside]
        drawn = np.flatnonzero(w > 0.0)
        chance = (sample.judgments.judged[inside] & (p[inside] < 1.0)).any()
        few += bool(len(drawn) < _ENOUGH and chance)
        if not len(drawn):
            continue
        precision, below = _at_ranks(pool.lists(t), w)
        total = w.sum()
        scores[:, t] = precision @ w[drawn] / total
        z = (precision + below - scores[:, t, None]) / total
        spread = z * (np.sqrt(1.0 - p[inside][drawn]) * w[drawn])
        variance[:, t] = (spread**2).sum(axis=1)
        covariance += spread @ spread.T
    matrix = ScoreMatrix(scores, variance, pool.systems, pool.topics, "statAP")
    return SampledScores(matrix, covariance / max(topics, 1) ** 2, few)


def _at_ranks(lists: Lists, weights: Floats) -> tuple[Floats, Floats]:
    """Return the precision at each document of weight, and the sum of w/rank below it.

    Shapes (systems, documents of weight); 0 where a system does not rank the document.
    """
    drawn = np.flatnonzero(weights > 0.0)
    column = np.full(len(weights), -1)
    column[drawn] = np.arange(len(drawn))
    precision, below = np.zeros((2, lists.n_lists, len(drawn)))
    for s in range(lists.n_lists):
        entries = slice(lists.starts[s], lists.starts[s + 1])
        ranked, ranks = lists.ranked[entries], lists.ranks[entries]
        relevant = weights[ranked] > 0.0
        place, rank, w = column[ranked[relevant]], ranks[relevant], weights[ranked[relevant]]
        precision[s, place] = np.cumsum(np.concatenate([[1.0], w]))[:-1] / rank
        below[s, place] = (w / rank)[::-1].cumsum()[::-1] - w / rank
    return precision, below


@dataclass(frozen=True, eq=False)
class RelevantCounts:
    """Horvitz-Thompson estimates of the number of relevant documents of every topic.

    Attributes
    ----------
    topics : tuple of str
    estimate, variance : ndarray of float, shape (topics,)

    Examples
    --------
    >>> RelevantCounts(("1",), np.array([3.0]), np.array([2.0])).topics
    ('1',)
    """

    topics: tuple[str, ...]
    estimate: Floats
    variance: Floats


@explains_types
def horvitz_thompson(sample: Sample) -> RelevantCounts:
    """Estimate how many documents of the pool are relevant (Horvitz and Thompson 1952).

    The estimate is the sum of one over the inclusion probability of the relevant documents
    drawn; its variance under Poisson sampling is estimated by the sum of (1 - p)/p². Both are
    unbiased.

    Parameters
    ----------
    sample : Sample

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})])
    >>> pool = rb.Pool.from_runs(runs, depth=2)
    >>> sample = rb.Sample(rb.Judgments.from_labels(pool, [0, 1], [1, 1]), [0.5, 1.0])
    >>> counts = rb.horvitz_thompson(sample)
    >>> counts.estimate.tolist(), counts.variance.tolist()
    ([3.0], [2.0])
    """
    pool, w = sample.judgments.pool, sample.weights
    p = np.nan_to_num(sample.probability, nan=1.0)
    both = np.stack([w, (1.0 - p) * w**2])
    sums = np.stack([both[:, pool.documents(t)].sum(axis=1) for t in range(pool.n_topics)])
    return RelevantCounts(pool.topics, sums[:, 0], sums[:, 1])
