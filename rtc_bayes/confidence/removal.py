"""How fast judgments take the variance out of a difference, and when one is then sure of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rtc_bayes.checks import real_number
from rtc_bayes.collection.grades import GradeDistribution, is_unseen
from rtc_bayes.confidence.comparison import Comparison
from rtc_bayes.confidence.setting import Setting
from rtc_bayes.errors import InputError
from rtc_bayes.measures import parse_measure
from rtc_bayes.measures.analytic import on_topic

Floats = NDArray[np.float64]

_TOLERANCE = 1e-8
# paths of an expected difference, and judgments after which they are looked at
_PATHS = 1000
_LOOKS = 200


def check_forecast(confidence: float) -> None:
    """Refuse a confidence that no forecast is made for.

    Raises
    ------
    InputError
        A confidence that is not above 0.5 and below 1.
    """
    remedy = "give one above 0.5 and below 1"
    real_number("the confidence to forecast", confidence, 0.5, 1.0, remedy, ends="()")


def check_weighs(measure: str, grades: GradeDistribution | None) -> None:
    """Refuse a measure, of judgments with such grades, without known moments.

    Raises
    ------
    InputError
        A measure without moments, or one with gains by grade where there are grades above 1.
    """
    parsed = parse_measure(measure)
    graded = parsed.graded and grades is not None
    if graded or not parsed.has_moments:
        raise InputError(
            f"the moments of {measure}{' of graded judgments' if graded else ''} are not known, "
            "so judgments cannot be weighed",
            remedy="forecast by another measure, as AP",
        )


def judgments_needed(
    setting: Setting, comparison: Comparison, confidence: float
) -> tuple[int | None, ...]:
    """Forecast, for every pair, how many more judgments give it a confidence.

    If the probabilities of relevance are right, judging moves the expected difference like a
    random walk: by its variance of R after n judgments, R being what they are expected to take
    off the variance V of the difference (:func:`removal`). The pair is sure at the first n with
    abs(expected) >= z sqrt(V - R), z the normal's quantile. The forecast is the median of that n
    over 1,000 walks, looked at after 200 numbers of judgments in geometric steps.

    The variance of the parameters is taken to go in step with that of unjudged relevance: both are
    gone when all is judged, and how judgments narrow a posterior on the way is not counted. So is
    what a model gets wrong between judgments, though it grows until half of what is relevant is
    judged, so that forecasts of few judgments are too low by it. The rest of the residual stays,
    and so does the variance of unseen documents, which nobody can judge.

    Parameters
    ----------
    setting : Setting
    comparison : Comparison
        Of the setting.
    confidence : float
        Above 0.5 and below 1.

    Returns
    -------
    tuple of int or None
        0 for a pair that has it already; None where half of the walks never get there.

    Raises
    ------
    InputError
        A confidence out of range, or a measure without known moments.
    """
    check_forecast(confidence)
    bound = float(ndtri(confidence))
    noise = np.random.default_rng(setting.seed).standard_normal((_PATHS, _LOOKS))
    stays = setting.lasting_variance
    # sampled variances may fall short of it
    removable = np.maximum(comparison.sd_difference**2 - stays, 0.0)
    needed: list[int | None] = []
    for n, gone in enumerate(removal(setting)):
        if comparison.confidence[n] >= confidence:
            needed.append(0)
        else:
            told, left = removable[n] * gone, removable[n] * (1.0 - gone) + stays[n]
            needed.append(_passage(comparison.expected_difference[n], told, left, bound, noise))
    return tuple(needed)


def _passage(
    expected: float, told: Floats, left: Floats, bound: float, noise: Floats
) -> int | None:
    """Median number of judgments at which walks first reach the bound; None if never."""
    if len(told) == 1:
        return None
    looks = np.unique(np.geomspace(1, len(told) - 1, _LOOKS).round().astype(np.int64))
    steps = np.sqrt(np.diff(told[looks], prepend=0.0))
    walks = expected + np.cumsum(noise[:, : len(looks)] * steps, axis=1)
    reached = np.abs(walks) >= bound * np.sqrt(left[looks])
    ever = reached.any(axis=1)
    if 2 * ever.sum() < len(ever):
        return None
    first = np.where(ever, looks[reached.argmax(axis=1)], len(told))
    return int(np.quantile(first, 0.5, method="inverted_cdf"))


def removal(setting: Setting) -> Iterator[Floats]:
    """Share of a pair's variance that is expected to be gone after 0, 1, 2, ... judgments.

    A judgment of document i takes v_i g_i^2 off the expected variance of the difference on its
    topic, with v_i = p_i (1 - p_i) and g_i the change of its expected value if i is relevant
    (law of total variance). Documents are judged in the order of that weight (``evr``). What is
    left over of a topic's variance belongs to documents together; of it the square of the share
    is gone that is gone of the weights, as if it were a sum of their products.

    Probabilities are their means over draws.

    Parameters
    ----------
    setting : Setting

    Yields
    ------
    ndarray, shape (documents with weight + 1,)
        For every pair, from 0 rising to 1, or to less where there are unseen documents; the 0
        alone if nothing is in doubt.

    Raises
    ------
    InputError
        A measure without known moments.
    """
    check_weighs(setting.measure, setting.grades)
    p = setting.values.mean(axis=0, dtype=np.float64)
    gradient, covariance = _at(setting, p)
    topic_of, unseen = setting.pool.topic_of, is_unseen(setting.pool)
    for a, b in setting.pairs:
        weight = p * (1.0 - p) * (gradient[a] - gradient[b]) ** 2
        of_topic = covariance[:, a, a] + covariance[:, b, b] - 2.0 * covariance[:, a, b]
        yield _shares(weight, topic_of, of_topic, unseen)


def _at(setting: Setting, p: Floats) -> tuple[Floats, Floats]:
    """Gradients (systems, documents) and covariances (topics, systems, systems) of scores."""
    pool, measure = setting.pool, parse_measure(setting.measure)
    gradient = np.zeros((pool.n_systems, pool.n_documents))
    covariance = np.zeros((pool.n_topics, pool.n_systems, pool.n_systems))
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        lists, which = pool.lists(t).distinct()
        moments = on_topic(measure, lists, inside.stop - inside.start).moments(
            p[inside], exact=setting.moments == "exact", tolerance=_TOLERANCE
        )
        gradient[:, inside] = moments.gradient[which]
        covariance[t] = moments.covariance[np.ix_(which, which)]
    return gradient, covariance


def _shares(
    weight: Floats, topic_of: NDArray[np.int32], variance: Floats, unseen: NDArray[np.bool_]
) -> Floats:
    """Cumulated shares of the variances of all topics, in the order of the weights.

    What is unseen stays when all else is judged.
    """
    own = np.bincount(topic_of, weight, len(variance))
    jointly = np.maximum(variance - own, 0.0)[topic_of]
    own = own[topic_of]
    by_topic = np.lexsort((-weight, unseen, topic_of))
    after = np.empty_like(weight)
    summed = np.cumsum(weight[by_topic])
    first = np.searchsorted(topic_of[by_topic], topic_of[by_topic])
    after[by_topic] = summed - summed[first] + weight[by_topic][first]
    weighty = weight > 0.0
    before, after = (
        np.divide(part, own, out=np.zeros_like(own), where=weighty)
        for part in (after - weight, after)
    )
    gone = weight + jointly * (after**2 - before**2)
    judged = weighty & ~unseen
    order = np.argsort(np.where(judged, -weight, np.inf), kind="stable")[: judged.sum()]
    steps = np.concatenate([[0.0], np.cumsum(gone[order])])
    return steps / (steps[-1] + gone[unseen].sum() or 1.0)
