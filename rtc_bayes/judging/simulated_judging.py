"""Judging simulated from a posterior: what unjudged documents leave after so many judgments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.collection import Judgments
from rtc_bayes.confidence import Comparison, compare
from rtc_bayes.judging.session import JudgingSession
from rtc_bayes.relevance import Fit, fit, is_sampler
from rtc_bayes.store import spawn_seeds

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool
    from rtc_bayes.judging.algorithm import Algorithm
    from rtc_bayes.measures import Estimand

#: The most topics that are judged in a simulation.
MOST_TOPICS = 20

#: Draws of a chain, and chains, of each fit by which what is left is stated.
DRAWS = 100, 2


def unjudged_variance(
    pilot: Fit,
    pool: Pool,
    topics: Sequence[str],
    algorithm: Algorithm,
    estimand: Estimand,
    judgments_per_topic: Sequence[int],
    *,
    seed: int,
    judged: Callable[[int], None] | None = None,
) -> NDArray[np.float64]:
    """Simulate judging once, and say what unjudged documents leave on a topic.

    A method that draws gives 200 draws to each fit. What more would change is small beside the
    differences between simulations (docs/results/planning.md).

    Parameters
    ----------
    pilot : Fit
        Of the topics, among others.
    pool : Pool
        Of the systems to tell apart.
    topics : sequence of str
        Whose relevance is drawn: all, or a random 20 of more.
    algorithm : Algorithm
        With a model.
    estimand : Estimand
        Of all topics.
    judgments_per_topic : sequence of int
        Rising, each at least 1. A topic of fewer documents is judged as far as it goes.
    seed : int
    judged : callable, optional
        Called with the number of judgments made, after each.

    Returns
    -------
    ndarray, shape (judgments per topic, pairs)
        Number of topics times the variance of the difference in the mean over them.

    Examples
    --------
    With all five documents of each topic judged, nothing is unsure but documents that no system
    retrieved, which the scope leaves out here.

    >>> import rtc_bayes as rb
    >>> from rtc_bayes.judging import parse_algorithm
    >>> data = rb.simulate(n_topics=3, n_systems=2, seed=1)
    >>> pool = rb.Pool.from_runs(data.runs, depth=5)
    >>> pilot = rb.fit(pool, rb.Judgments.none(pool), model="uniform")
    >>> judge, alone = parse_algorithm("mtc/uniform"), rb.Estimand(scope="pool")
    >>> left = unjudged_variance(pilot, pool, pool.topics, judge, alone, [1, 10], seed=0)
    >>> left.shape, left[0, 0] > 0, left[1, 0]
    ((2, 1), np.True_, np.float64(0.0))
    """
    rng = np.random.default_rng(seed)
    if len(topics) > MOST_TOPICS:
        topics = rng.choice(topics, MOST_TOPICS, replace=False).tolist()
    # what is simulated is relevant or not: documents of other grades that no system retrieves
    # would be unjudged in the simulation alone
    every, draws = replace(pilot.relevance, grades=None).on(pool)
    kept = np.isin(every.topic_of, [every.topics.index(topic) for topic in topics])
    part = every.select_topics([topic for topic in every.topics if topic in set(topics)])
    truth = rng.random(part.n_documents) < draws[rng.integers(len(draws)), kept]
    systems = pool.select_topics(part.topics)
    session_seed, *seeds = spawn_seeds(seed, len(judgments_per_topic) + 1)
    most = judgments_per_topic[-1]
    session = JudgingSession(
        Judgments.none(part, judged_for=part.systems),
        algorithm,
        confidence=None,
        budget=most * part.n_topics,
        floor=most,
        seed=session_seed,
    )
    while (document := session.next()) is not None:
        session.observe(document, float(truth[document]))
        if judged is not None:
            judged(len(session.steps))
    made = session.judgments
    assert algorithm.evaluator is not None
    samples = is_sampler(algorithm.evaluator.resolved_method)
    count, chains = DRAWS if samples else (None, None)
    left = []
    for depth, own in zip(judgments_per_topic, seeds, strict=True):
        first = made.keep(_first_of_each_topic(made, depth))
        fitted = fit(part, first, model=algorithm.evaluator, draws=count, chains=chains, seed=own)
        left.append(part.n_topics * compared(systems, fitted, estimand).sd_difference ** 2)
    return np.array(left)


def compared(pool: Pool, fitted: Fit, estimand: Estimand) -> Comparison:
    """Compare by moments alone where pairs are few: probabilities are not read."""
    few = pool.n_systems * (pool.n_systems - 1) // 2 <= defaults.MANY_PAIRS
    return compare(pool, fitted, estimand, form="normal" if few else "auto")


def _first_of_each_topic(judgments: Judgments, depth: int) -> NDArray[np.int64]:
    """Return the documents that were judged among the first `depth` of their topic, in order."""
    topic = judgments.pool.topic_of[judgments.order]
    place = np.zeros(len(topic), dtype=np.int64)
    for t in range(judgments.pool.n_topics):
        of_topic = topic == t
        place[of_topic] = np.arange(of_topic.sum())
    return judgments.order[place < depth]
