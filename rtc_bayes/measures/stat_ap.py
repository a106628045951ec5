"""Estimates from a random sample of judgments: statAP, and the number of relevant documents."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.measures.model_assisted import model_assisted
from rtc_bayes.measures.sampled_scores import SampledScores
from rtc_bayes.measures.sampling import Sample
from rtc_bayes.signatures import explains_types

# relevant documents drawn of a topic, from which a variance can be estimated
_ENOUGH = 2

type Floats = NDArray[np.float64]


@explains_types
def stat_ap(sample: Sample) -> SampledScores:
    """Estimate average precision from a sample (statAP; Pavlu and Aslam 2007).

    With w one over the inclusion probability of a relevant document drawn, the precision at its
    rank is estimated as (1 + the sum of w over those ranked above it) / rank, the document itself
    counting 1, and 0 where a system does not retrieve it; statAP is the mean of these precisions
    weighted by w (Hosseini 2013, eqs. 3.10-3.11). Numerator and denominator are unbiased; their
    ratio is so for large samples, and may be above 1. A topic where no relevant document was drawn
    has 0. It is :func:`rtc_bayes.measures.model_assisted` by a model that finds nothing relevant.

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
    judgments, pool = sample.judgments, sample.judgments.pool
    estimate = model_assisted(np.zeros(pool.n_documents), sample)
    topics = pool.topic_of
    relevant = np.bincount(topics[sample.weights > 0.0], minlength=pool.n_topics)
    by_chance = judgments.judged & (sample.probability < 1.0)
    chance = np.bincount(topics[by_chance], minlength=pool.n_topics)
    few = int(((relevant < _ENOUGH) & (chance > 0)).sum())
    return replace(estimate, scores=replace(estimate.scores, measure="statAP"), few=few)


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
