"""On topics like these: the topics as a sample from a population of topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.confidence.forms import student
from rtc_bayes.confidence.setting import Setting
from rtc_bayes.confidence.topics import by_topic
from rtc_bayes.errors import InputError

Floats = NDArray[np.float64]


class Population(NamedTuple):
    """The mean difference over a population of topics, each part of shape (pairs,).

    Attributes
    ----------
    sd_population : ndarray
        Scale of the mean difference about its expected value on the topics sampled.
    p_less_population, p_equal_population, p_greater_population : ndarray
        Probabilities that the mean difference is below, at and above 0.
    """

    sd_population: Floats
    p_less_population: Floats
    p_equal_population: Floats
    p_greater_population: Floats


def on_population(setting: Setting, variance: Floats) -> Population:
    """Infer the mean difference over the population that the topics were drawn from.

    Parameters
    ----------
    setting : Setting
        Of two topics or more.
    variance : ndarray, shape (pairs,)
        Of the difference in the mean over these topics.

    Raises
    ------
    InputError
        Fewer than two topics.
    """
    if setting.pool.n_topics < 2:
        raise InputError(
            "one topic is no sample of a population", remedy="compare on two topics or more"
        )
    return inferred(*by_topic(setting), variance, setting.residual_variance)


def inferred(
    expected: Floats, uncertainty: Floats, variance: Floats, residual: Floats | float = 0.0
) -> Population:
    """Infer the mean over a population from the topics of a sample (docs/confidence.md).

    With m_t and v_t mean and variance of the difference on topic t of T, and V the variance of
    their mean, what varies between topics is S^2 - W, not below 0: S^2 is the sample variance of
    m_t, and W = T (mean v_t - V) / (T - 1) what it owes to uncertain relevance. The mean over the
    population has the variance V + (S^2 - W) / T, and Student's distribution with T - 1 degrees
    of freedom. With complete judgments that is the paired t test.

    Parameters
    ----------
    expected, uncertainty : ndarray, shape (pairs, topics)
        The m_t and v_t.
    variance : ndarray, shape (pairs,)
        Of the mean over these topics.
    residual : ndarray, shape (pairs,), or float
        A part of it that all topics share and v_t lacks.
    """
    topics = expected.shape[1]
    noise = noise_between(uncertainty, variance - residual)
    between = np.maximum(expected.var(axis=1, ddof=1) - noise, 0.0)
    total = variance + between / topics
    return Population(np.sqrt(total), *student(expected.mean(axis=1), total, topics - 1))


def noise_between(uncertainty: Floats, variance: Floats) -> Floats:
    """Return W, what the variance of expected differences between topics owes to unsure relevance.

    :func:`inferred` subtracts it from that variance, since expected differences of single topics
    vary by noise, too. A plan adds it to the variance that the posterior expects of true
    differences (:func:`rtc_bayes.plan`).

    Parameters
    ----------
    uncertainty : ndarray, shape (pairs, topics)
        The v_t: variance of the difference on each of two topics or more.
    variance : ndarray, shape (pairs,)
        V, of the mean over these topics, without what all topics share and v_t lacks.

    Returns
    -------
    ndarray, shape (pairs,)
        T (mean v_t - V) / (T - 1).

    Examples
    --------
    >>> noise_between(np.array([[1.0, 3.0]]), np.array([1.0])).tolist()
    [2.0]
    """
    topics = uncertainty.shape[1]
    return np.asarray(topics * (uncertainty.mean(axis=1) - variance) / (topics - 1))
