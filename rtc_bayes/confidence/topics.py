"""A difference topic by topic: how large it is, how sure, and which topics decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.confidence.many_draws import exact_draws, exact_moments
from rtc_bayes.confidence.outcomes import sampled_moments
from rtc_bayes.confidence.setting import MOVED, MomentKind, RelevanceLike, Setting, two_systems
from rtc_bayes.confidence.subpool import with_topics
from rtc_bayes.measures import ScoreMatrix
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store import spawn_seeds
from rtc_bayes.workers import ALONE, Workers, each_topic

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Pool
    from rtc_bayes.measures.estimand import EstimandLike

Floats = NDArray[np.float64]


@explains_types
@moved(**MOVED)
def topic_differences(
    pool: Pool,
    relevance: RelevanceLike,
    a: str,
    b: str,
    estimand: EstimandLike = None,
    *,
    moments: MomentKind = "exact",
    outcomes: int = defaults.OUTCOMES,
    seed: int = 0,
    workers: Workers = Workers(),
) -> pd.DataFrame:
    """Say how two systems differ on each topic, and how much of the doubt is of which topic.

    Parameters
    ----------
    pool, relevance, estimand, moments, outcomes, seed, workers
        As in :func:`rtc_bayes.compare`. What the pool leaves out (the residual) is of no topic.
    a, b : str
        Systems; the difference is the score of `a` less that of `b`.

    Returns
    -------
    DataFrame
        One row per topic, in the pool's order: topic, expected_difference, sd, and share, the
        topic's part of the sum of the topics' variances (0 if nothing is in doubt). The difference
        of the means is the mean of the column. Its variance for a point estimate is the sum of
        sd squared over the number of topics squared; parameters that move topics together add
        to that.

    Raises
    ------
    InputError
        As in :func:`rtc_bayes.compare`; a system compared with itself.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings
    >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
    >>> pool = rb.Pool.from_runs(runs)
    >>> relevance = rb.Relevance.from_values(pool, [0.9, 0.1])  # of x and y
    >>> print(rb.topic_differences(pool, relevance, "A", "B").round(2).to_string(index=False))
    topic  expected_difference   sd  share
        1                  0.4 0.21    1.0
    """
    setting = Setting.from_pool(
        pool, relevance, estimand, moments=moments, outcomes=outcomes, seed=seed, workers=workers
    )
    return topics_frame(replace(setting, pairs=two_systems(setting.pool, a, b)))


def topics_frame(setting: Setting) -> pd.DataFrame:
    """Lay the differences of one pair out by topic: see :func:`topic_differences`."""
    return pairs_by_topic(setting).drop(columns=["a", "b"])


def pairs_by_topic(setting: Setting) -> pd.DataFrame:
    """Lay the differences of all pairs out by topic, one pair under the other.

    Returns
    -------
    DataFrame
        Columns a and b, then those of :func:`topic_differences`.
    """
    import pandas as pd

    asked = setting.of_pairs(setting.pairs) if len(setting.pairs) else setting
    expected, variance = by_topic(asked)
    total = variance.sum(axis=1, keepdims=True)
    topics = setting.pool.n_topics
    return pd.DataFrame(
        {
            "a": np.repeat(asked.names(0), topics),
            "b": np.repeat(asked.names(1), topics),
            "topic": np.tile(setting.pool.topics, len(asked.pairs)),
            "expected_difference": expected.ravel(),
            "sd": np.sqrt(variance).ravel(),
            "share": (variance / np.where(total > 0.0, total, 1.0)).ravel(),
        }
    )


def score_matrix(setting: Setting) -> ScoreMatrix:
    """Mean and variance of every system's score on each topic: see ``Comparison.score_matrix``."""
    if setting.has_moments:
        exact = setting.moments == "exact"
        if not exact or exact_draws(setting) == len(setting.values):
            # pairs only decide how many of many draws are taken
            setting = replace(setting, pairs=setting.pairs[:0])
        table = exact_moments(setting)[1] if exact else setting.table("plugin")
        return replace(table.score_matrix(), measure=setting.measure)
    sampled = [sampled_moments(part.sample_all(), part.pairs[:0]) for (part,) in _parts(setting)]
    return ScoreMatrix(
        mean=np.stack([of.expected for of in sampled], axis=1),
        variance=np.stack([of.sd**2 for of in sampled], axis=1),
        systems=setting.pool.systems,
        topics=setting.pool.topics,
        measure=setting.measure,
    )


def by_topic(setting: Setting) -> tuple[Floats, Floats]:
    """Mean and variance of every pair's difference on each topic, over relevance and draws.

    What the pool leaves out (the residual) is no part of them.

    Returns
    -------
    expected, variance : ndarray, shape (pairs, topics)
    """
    workers = setting.workers
    topics = each_topic(_moments, _parts(setting), workers)
    shape = (len(setting.pairs), setting.pool.n_topics)
    expected, variance = np.empty(shape), np.empty(shape)
    for t, moments in enumerate(topics):
        expected[:, t], variance[:, t] = moments
        workers.progress("topics", t + 1, setting.pool.n_topics)
    return expected, variance


def _parts(setting: Setting) -> Iterator[tuple[Setting]]:
    """Part a setting by topic, each with a seed of its own."""
    seeds = spawn_seeds(setting.seed, setting.pool.n_topics)
    estimand = replace(setting.estimand, residual=0.0)
    own = replace(setting, estimand=estimand, workers=ALONE)
    for topic, seed in zip(setting.pool.topics, seeds, strict=True):
        pool, values = with_topics(setting.pool, setting.values, [topic])
        yield (replace(own, pool=pool, values=values, seed=seed),)


def _moments(setting: Setting) -> tuple[Floats, Floats]:
    """Mean and variance of the difference of every pair, each of shape (pairs,)."""
    if not setting.has_moments:
        sampled = sampled_moments(setting.sample_all(), setting.pairs)
        return sampled.difference, sampled.unjudged + sampled.parameters
    exact = setting.moments == "exact"
    table = exact_moments(setting)[1] if exact else setting.table("plugin")
    expected = table.difference_expected
    return expected.mean(axis=0), table.difference_variance.mean(axis=0) + expected.var(axis=0)
