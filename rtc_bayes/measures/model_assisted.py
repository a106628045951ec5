"""Scores by a model's probabilities, corrected by a random sample: unbiased if they are linear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import real_number
from rtc_bayes.collection import Judgments, Relevance
from rtc_bayes.errors import InputError
from rtc_bayes.measures.analytic import on_topic
from rtc_bayes.measures.linear import Linear
from rtc_bayes.measures.names import Measure, MeasureLike, parse_measure
from rtc_bayes.measures.pool_moments import on_pool
from rtc_bayes.measures.sampled_scores import SampledScores
from rtc_bayes.measures.sampling import Sample
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.signatures import explains_types

if TYPE_CHECKING:
    from rtc_bayes.collection.lists import Lists
    from rtc_bayes.collection.relevance import HasRelevance

type Floats = NDArray[np.float64]


@explains_types
def model_assisted(
    relevance: ArrayLike | Relevance | HasRelevance,
    sample: Sample,
    *,
    measure: MeasureLike = "AP",
    tuning: float | Literal["auto"] = 1.0,
) -> SampledScores:
    """Estimate scores by a model, and correct them by what a sample says of its errors.

    For every document, with p the model's probability, y the label and q the inclusion
    probability, let x = t p + (y - t p)/q if it was drawn and x = t p if not. This is unbiased for
    y whatever p is (the difference estimator: Särndal, Swensson and Wretman 1992, section 6.3;
    prediction-powered inference: Angelopoulos et al., Science 2023), and the better p, the less it
    varies. Scores are computed by x in place of relevance:

    - P@k, DCG and RBP are linear, so their estimates are unbiased.
    - Average precision is the sum over documents of x (1 + the sum of x above)/rank, over the sum
      of x. Draws of documents are independent, so numerator and denominator are unbiased; their
      ratio is so only where most documents of a topic are judged (docs/results/audit.md). With
      t = 0 it is :func:`stat_ap`.

    The variance is that of the draws, by linearisation: the sum over documents drawn of
    (1 - q)/q² times the squared error y - t p times the squared derivative of the score.

    Parameters
    ----------
    relevance : Relevance, Fit or array-like of float, shape (documents,) or (draws, documents)
        Of the sample's pool. The model must not have seen the sample's labels: else it has no
        errors there, and the estimate is the model's own.
    sample : Sample
    measure : str
        AP, P@k, DCG@k or RBP.
    tuning : float in [0, 1], or "auto"
        t, how far the model is trusted. "auto": the number for which the estimated number of
        relevant documents varies least on this sample (PPI++: Angelopoulos, Duchi and Zrnic
        2023), which leaves a small bias.

    Returns
    -------
    SampledScores
        A score may be outside [0, 1]. A topic whose estimated number of relevant documents is not
        above 0 has an average precision of 0.

    Raises
    ------
    InputError
        Another measure; one with another ``rel`` than the sample's relevance level; DCG of a
        sample with grades above 1; or tuning outside [0, 1].

    Examples
    --------
    Of three documents the second is drawn, with probability 0.5, and is relevant:

    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})]))
    >>> sample = rb.Sample(rb.Judgments.from_labels(pool, [1], [1]), [0.5, 0.5, 0.5])
    >>> estimate = rb.model_assisted([0.8, 0.6, 0.1], sample, measure="P@2")
    >>> estimate.scores.mean.round(3).tolist()
    [[1.1]]
    >>> rb.model_assisted([0.8, 0.6, 0.1], sample, measure="P@2", tuning=0).scores.mean.tolist()
    [[1.0]]
    """
    asked = parse_measure(measure)
    _check_grades(asked, sample.judgments)
    pool, values, _ = on_pool(sample.judgments.pool, relevance)
    judgments = sample.judgments.on(pool)
    p = np.atleast_2d(np.asarray(values, dtype=np.float64)).mean(axis=0)
    if not ((p >= 0.0) & (p <= 1.0)).all():
        first = int(np.flatnonzero(~((p >= 0.0) & (p <= 1.0)))[0])
        raise InputError(
            f"document {pool.docnos[first]} of topic {pool.topics[pool.topic_of[first]]} has a "
            f"probability of relevance of {p[first]:g}",
            remedy="give probabilities from 0 to 1",
        )
    drawn = judgments.order
    y, q = judgments.labels[drawn], sample.probability[sample.judgments.order]
    p = p * _tuned(tuning, p[drawn], y, q)
    error = y - p[drawn]
    x = p.copy()
    x[drawn] += error / q
    noise = np.zeros(pool.n_documents)
    noise[drawn] = error * np.sqrt(1.0 - q) / q

    scores, variance = np.zeros((2, pool.n_systems, pool.n_topics))
    covariance = np.zeros((pool.n_systems, pool.n_systems))
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        lists, here = pool.lists(t).cut(asked.cutoff), x[inside]
        if asked.kind == "AP":
            scores[:, t], slopes = _average_precision(lists, here)
        else:
            linear = on_topic(asked, lists, len(here)) if asked.has_moments else None
            if not isinstance(linear, Linear):
                raise InputError(
                    f"{asked.name} is neither linear in relevance nor AP",
                    remedy="give AP, P@k, DCG@k or RBP",
                )
            scores[:, t], slopes = linear.gains @ here, linear.gains
        noisy = np.flatnonzero(noise[inside])
        spread = slopes[:, noisy] * noise[inside][noisy]
        variance[:, t] = (spread**2).sum(axis=1)
        covariance += spread @ spread.T
    name = f"model-assisted {asked.name}"
    matrix = ScoreMatrix(scores, variance, pool.systems, pool.topics, name)
    return SampledScores(matrix, covariance / max(pool.n_topics, 1) ** 2)


def _check_grades(asked: Measure, judgments: Judgments) -> None:
    """Refuse a measure that counts other documents, or other gains, than the labels do."""
    level = judgments.relevance_level
    if asked.rel and asked.rel != level:
        raise InputError(
            f"{asked.name} of a sample whose grades from {level} on are relevant",
            remedy=f"read the sample with relevance_level={asked.rel}, or leave rel out",
        )
    if asked.graded and judgments.highest_grade > 1:
        raise InputError(
            f"{asked.name} has gains by grade, which this estimate does not know",
            remedy="give a measure of relevance alone, such as RBP",
        )


def _tuned(tuning: float | str, p: Floats, y: Floats, q: Floats) -> float:
    """Return how far the model is trusted."""
    if tuning == "auto":
        weight = (1.0 - q) / q**2
        below = float(weight @ p**2)
        return float(np.clip(weight @ (y * p) / below, 0.0, 1.0)) if below > 0.0 else 1.0
    return real_number("tuning", tuning, 0.0, 1.0, 'give a number in [0, 1], or "auto"')


def numerator(lists: Lists, x: Floats) -> tuple[Floats, Floats]:
    """Return the sum of x (1 + the sum of x above)/rank of every list, and its derivatives.

    Parameters
    ----------
    lists : Lists
        Of one topic.
    x : ndarray of float, shape (documents,)
        In place of relevance.

    Returns
    -------
    sums : ndarray of float, shape (lists,)
    slopes : ndarray of float, shape (lists, documents)
        By x of every document.
    """
    sums, slopes = np.zeros(lists.n_lists), np.zeros((lists.n_lists, len(x)))
    for s in range(lists.n_lists):
        entries = slice(lists.starts[s], lists.starts[s + 1])
        ranked, ranks = lists.ranked[entries], lists.ranks[entries]
        here = x[ranked]
        # not 1 + cumsum - here: beside one over a tiny probability 1 would be lost
        precision = np.cumsum(np.concatenate([[1.0], here]))[:-1] / ranks
        over_rank = here / ranks
        below = over_rank[::-1].cumsum()[::-1] - over_rank
        sums[s] = here @ precision
        slopes[s, ranked] = precision + below
    return sums, slopes


def _average_precision(lists: Lists, x: Floats) -> tuple[Floats, Floats]:
    """Return the estimate of every list, and its derivative by x of every document."""
    relevant = float(x.sum())
    if relevant <= 0.0:
        return np.zeros(lists.n_lists), np.zeros((lists.n_lists, len(x)))
    sums, slopes = numerator(lists, x)
    scores = sums / relevant
    return scores, (slopes - scores[:, None]) / relevant
