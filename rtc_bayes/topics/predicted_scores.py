"""Scores of systems on topics, as far as judgments and a belief tell them (chapter 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.confidence.setting import Setting
from rtc_bayes.confidence.topics import score_matrix
from rtc_bayes.measures import Estimand, sample_scores_by_topic
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.topics.beliefs import Belief
from rtc_bayes.topics.objective import Floats

#: Draws of a posterior whose moments are taken, and samples of scores.
MOST_DRAWS = 200


def probabilities_by(predict: Belief, judgments: Judgments, *, hard: bool = False) -> Floats:
    """Return the probabilities of relevance by a belief, judged documents having their labels.

    Parameters
    ----------
    predict : callable
        Probabilities of the pool's documents, (documents,) or (draws, documents), from judgments.
    judgments : Judgments
    hard : bool
        Take what is likelier than not as relevant, and all else as not.

    Returns
    -------
    ndarray, shape (draws, documents)
        Of a posterior 200 draws at most, evenly spaced.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> judged = rb.Judgments.from_qrels(pool, rb.Qrels({"1": {"a": 1}}))
    >>> probabilities_by(lambda _: np.array([0.5, 0.2]), judged).tolist()
    [[1.0, 0.2]]
    """
    p = np.atleast_2d(predict(judgments))
    p = p[np.linspace(0, len(p) - 1, min(len(p), MOST_DRAWS)).astype(int)]
    if hard:
        p = (p.mean(axis=0, keepdims=True) > 0.5).astype(np.float64)
    return np.where(judgments.judged, np.nan_to_num(judgments.labels), p)


def expected_scores(pool: Pool, p: Floats, measures: Sequence[str] = ("AP",)) -> list[ScoreMatrix]:
    """Return the expected score of every system on every topic, and its variance, by measure.

    Parameters
    ----------
    pool : Pool
    p : ndarray, shape (draws, documents)
        Of many draws, moments are exact of some, and follow plug-in ones in the others
        (:mod:`rtc_bayes.confidence.many_draws`).
    measures : sequence of str
    """
    no_pairs = np.empty((0, 2), dtype=np.int64)
    about = [Estimand(name, scope="pool") for name in measures]
    return [score_matrix(Setting(pool, p, no_pairs, one, "", "")) for one in about]


def drawn_scores(
    pool: Pool, p: Floats, measures: Sequence[str] = ("AP",), *, seed: int = 0
) -> list[Floats]:
    """Draw the scores of every system on every topic together, by measure.

    Parameters
    ----------
    pool : Pool
    p : ndarray, shape (draws, documents)
    measures : sequence of str
    seed : int

    Returns
    -------
    list of ndarray, shape (samples, systems, topics)
        200 samples; of draws a sample each.
    """
    outcomes = MOST_DRAWS if len(p) == 1 else 1
    drawn = []
    for name in measures:
        topics = sample_scores_by_topic(pool, p, measure=name, outcomes=outcomes, seed=seed)
        drawn.append(np.stack(list(topics), axis=2))
    return drawn
