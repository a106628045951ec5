"""A difference topic by topic: how large it is, how sure, and which topics decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.confidence.outcomes import sampled_moments
from rtc_bayes.confidence.study import Kind, Study, number_of
from rtc_bayes.confidence.subpool import with_systems, with_topics
from rtc_bayes.errors import InputError
from rtc_bayes.store import silent, spawn_seeds
from rtc_bayes.workers import each_topic

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Pool, Relevance
    from rtc_bayes.confidence.comparison import Comparison

Floats = NDArray[np.float64]


def topic_differences(
    pool: Pool,
    relevance: Relevance,
    a: str,
    b: str,
    *,
    measure: str = "AP",
    moments: Kind = "exact",
    outcomes: int = 20_000,
    seed: int = 0,
    topics: Sequence[str] | None = None,
    unseen: bool = False,
) -> pd.DataFrame:
    """Say how two systems differ on each topic, and how much of the doubt is of which topic.

    Parameters
    ----------
    pool, relevance, measure, moments, outcomes, seed, topics, unseen
        As in :func:`rtc_bayes.compare`.
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
    """
    import pandas as pd

    if a == b:
        raise InputError(f"{a!r} is compared with itself", remedy="name two systems")
    two = np.array([number_of(pool.systems, name) for name in (a, b)])
    study = Study.of(
        pool,
        relevance,
        measure=measure,
        moments=moments,
        outcomes=outcomes,
        seed=seed,
        topics=topics,
        unseen=unseen,
    )
    study = replace(study, pool=with_systems(study.pool, two), pairs=np.array([[0, 1]]))
    expected, variance = (part[0] for part in by_topic(study))
    total = variance.sum() or 1.0
    return pd.DataFrame(
        {
            "topic": study.pool.topics,
            "expected_difference": expected,
            "sd": np.sqrt(variance),
            "share": variance / total,
        }
    )


def differences_by_topic(
    pool: Pool, relevance: Relevance, comparison: Comparison, *, moments: Kind, seed: int
) -> pd.DataFrame:
    """Return the differences by topic of every pair compared, one pair under the other.

    Parameters
    ----------
    pool, relevance, moments, seed
        What the comparison was made of.
    comparison : Comparison

    Returns
    -------
    DataFrame
        Columns a and b, then those of :func:`topic_differences`.
    """
    import pandas as pd

    frames = {
        (a, b): topic_differences(
            pool,
            relevance,
            a,
            b,
            measure=comparison.measure,
            moments=moments,
            seed=seed,
            topics=comparison.topics,
            unseen=bool(comparison.meta["unseen"]),
        )
        for a, b in zip(comparison.a, comparison.b, strict=True)
    }
    return pd.concat(frames, names=["a", "b"]).reset_index(["a", "b"])


def by_topic(study: Study) -> tuple[Floats, Floats]:
    """Mean and variance of every pair's difference on each topic, over relevance and draws.

    What the pool leaves out (`study.residual`) is no part of them.

    Returns
    -------
    expected, variance : ndarray, shape (pairs, topics)
    """
    topics = each_topic(_moments, _parts(study), jobs=study.jobs, scheduler=study.scheduler)
    shape = (len(study.pairs), study.pool.n_topics)
    expected, variance = np.empty(shape), np.empty(shape)
    for t, found in enumerate(topics):
        expected[:, t], variance[:, t] = found
        study.progress("topics", t + 1, study.pool.n_topics)
    return expected, variance


def _parts(study: Study) -> Iterator[tuple[Study]]:
    """Part a study by topic, each with a seed of its own."""
    seeds = spawn_seeds(study.seed, study.pool.n_topics)
    own = replace(study, residual=0.0, jobs=1, scheduler=None, progress=silent)
    for topic, seed in zip(study.pool.topics, seeds, strict=True):
        pool, values = with_topics(study.pool, study.values, [topic])
        yield (replace(own, pool=pool, values=values, seed=seed),)


def _moments(study: Study) -> tuple[Floats, Floats]:
    """Mean and variance of the difference of every pair, each of shape (pairs,)."""
    if study.counted:
        sampled = sampled_moments(study.sample_all(), study.pairs)
        return sampled.difference, sampled.unjudged + sampled.parameters
    table = study.table(study.moments)
    expected = table.difference_expected
    return expected.mean(axis=0), table.difference_variance.mean(axis=0) + expected.var(axis=0)
