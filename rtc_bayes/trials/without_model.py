"""What evaluators without a model say of systems, each with the confidence that it can state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.order import all_pairs
from rtc_bayes.errors import InputError
from rtc_bayes.measures import sample_scores
from rtc_bayes.measures.bootstrap import bootstrapped_relevance
from rtc_bayes.measures.inferred import bpref, inferred_ap
from rtc_bayes.measures.plain import PairDifferences, Unjudged, condensed, paired_t
from rtc_bayes.measures.scores import without_rounding
from rtc_bayes.measures.stat_ap import stat_ap
from rtc_bayes.store.shown import counted
from rtc_bayes.trials.complete import labels_by, topic_scores_by

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments
    from rtc_bayes.measures import Estimand
    from rtc_bayes.measures.sampling import Sample

type Floats = NDArray[np.float64]

# evaluators of any measure
_ANY_MEASURE = ("nonrelevant", "condensed", "bootstrap")
# evaluators that do not take topics as a sample of topics
_ANY_TOPICS = ("statap", "bootstrap")


class Estimates(NamedTuple):
    """Scores of systems, and differences of pairs.

    Attributes
    ----------
    expected, sd : ndarray of float, shape (systems,)
    pairs : PairDifferences
    """

    expected: Floats
    sd: Floats
    pairs: PairDifferences


def estimates_by(
    evaluator: Unjudged,
    judgments: Judgments,
    estimand: Estimand,
    *,
    sample: Sample | None = None,
    seed: int = 0,
) -> Estimates:
    """Evaluate the systems of a pool without a model.

    Parameters
    ----------
    evaluator : str
        "nonrelevant", "condensed", "bpref", "infap", "xinfap", "statap" or "bootstrap".
    judgments : Judgments
        Over the pool of the systems that are compared.
    estimand : Estimand
        Of AP for the evaluators that estimate nothing else: all but the first two and the last.
    sample : Sample, optional
        For statap and xinfap: the same judgments with their inclusion probabilities.
    seed : int
        Of the bootstrap.

    Returns
    -------
    Estimates

    Raises
    ------
    InputError
        A measure that is not estimated, or fewer than two topics where topics are a sample.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(made.runs, depth=10)
    >>> judgments = rb.build(pool, made.qrels, "pool", budget=20).judgments
    >>> estimates_by("bpref", judgments, rb.Estimand(depth=10)).pairs.confidence.shape
    (6,)
    """
    if estimand.topics == "judged":
        estimand = replace(estimand, topics=judgments.judged_topics)
    topics = judgments.pool.topics
    chosen = [
        t for t, topic in enumerate(topics) if estimand.topics == "all" or topic in estimand.topics
    ]
    check_topics(evaluator, len(chosen))
    if evaluator == "bootstrap":
        return _bootstrapped(judgments, estimand, seed)
    if evaluator in ("nonrelevant", "condensed"):
        used = condensed(judgments) if evaluator == "condensed" else judgments
        return _over_topics(topic_scores_by(used, estimand))
    check_measure(evaluator, estimand.measure)
    if evaluator == "bpref":
        return _over_topics(bpref(judgments).mean[:, chosen])
    if evaluator == "infap":
        return _over_topics(inferred_ap(judgments).mean[:, chosen])
    assert sample is not None
    if evaluator == "xinfap":
        return _over_topics(inferred_ap(sample).mean[:, chosen])
    sampled = stat_ap(sample.select_topics([topics[t] for t in chosen]))
    expected = sampled.scores.mean.mean(axis=1)
    return Estimates(expected, np.sqrt(np.diag(sampled.covariance)), sampled.pairs())


def check_measure(evaluator: Unjudged, measure: str) -> None:
    """Refuse a measure that an evaluator without a model does not estimate."""
    if evaluator not in _ANY_MEASURE and measure != "AP":
        raise InputError(
            f"{evaluator} estimates average precision, not {measure}",
            remedy="evaluate by nonrelevant, condensed, bootstrap or a model",
        )


def check_topics(evaluator: Unjudged, n_topics: int) -> None:
    """Refuse fewer than two topics where an evaluator takes them as a sample of topics."""
    if evaluator not in _ANY_TOPICS and n_topics < 2:
        raise InputError(
            f"{evaluator} states confidences by a paired t test over topics, and there "
            f"{'is' if n_topics == 1 else 'are'} {counted(n_topics, 'topic')}",
            remedy="give two topics or more, or evaluate by a model",
        )


def _over_topics(scores: Floats) -> Estimates:
    """Take topics as a sample of topics: means, standard errors and paired t tests."""
    sd = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
    return Estimates(scores.mean(axis=1), sd, paired_t(scores))


def _bootstrapped(judgments: Judgments, estimand: Estimand, seed: int) -> Estimates:
    """Score one outcome of every draw; a confidence is the share of draws with the sign."""
    measure, pool, draws = labels_by(
        judgments, estimand, bootstrapped_relevance(judgments, seed=seed)
    )
    scores = sample_scores(pool, draws, measure=measure, outcomes=1, seed=seed)[:, 0]
    first, second = all_pairs(pool.n_systems)
    expected, n = scores.mean(axis=0), len(scores)
    difference = without_rounding(expected[first] - expected[second])
    sd, confidence = np.empty((2, len(first)))
    for k, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        of_draws = (scores[:, a] - scores[:, b]) * (1.0 if difference[k] >= 0.0 else -1.0)
        sd[k] = of_draws.std(ddof=1)
        right = (of_draws > 0.0).sum() + 0.5 * (of_draws == 0.0).sum()
        # no number of draws makes sure
        confidence[k] = max((right + 0.5) / (n + 1.0), 0.5)
    return Estimates(
        expected, scores.std(axis=0, ddof=1), PairDifferences(difference, sd, confidence)
    )
