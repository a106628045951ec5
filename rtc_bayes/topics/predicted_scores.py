"""Scores of systems on topics, as far as judgments and a belief tell them (chapter 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rtc_bayes.collection import Judgments, Relevance
from rtc_bayes.confidence.setting import Setting
from rtc_bayes.confidence.topics import score_matrix
from rtc_bayes.measures import Estimand, sample_scores_by_topic
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.topics.beliefs import Belief
from rtc_bayes.topics.objective import Floats

#: Draws of a posterior whose moments are taken, and samples of scores.
MOST_DRAWS = 200

# of the relevance and the grades of documents, where moments of the measure are not known
_OUTCOMES = 2000


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


def predicted_scores(
    judgments: Judgments, p: Floats, measures: Sequence[str] = ("AP",), *, seed: int = 0
) -> list[ScoreMatrix]:
    """Return the expected score of every system on every topic, and its variance, by measure.

    Parameters
    ----------
    judgments : Judgments
        Over the pool of the systems; their grades say what grades documents may have.
    p : ndarray, shape (draws, documents)
        Of many draws, moments are exact of some, and follow plug-in ones in the others
        (:mod:`rtc_bayes.confidence.many_draws`).
    measures : sequence of str
    seed : int, at least 0
        Of outcomes, where moments of a measure are not known.
    """
    pool, level = judgments.pool, judgments.relevance_level
    relevance = Relevance.from_values(pool, p, grades=judgments.grade_distribution())
    about = [Estimand(name, scope="pool", relevance_level=level) for name in measures]
    settings = [
        Setting.from_pool(pool, relevance, one, outcomes=_OUTCOMES, seed=seed) for one in about
    ]
    return [score_matrix(setting) for setting in settings]


def drawn_scores(
    judgments: Judgments, p: Floats, measures: Sequence[str] = ("AP",), *, seed: int = 0
) -> list[Floats]:
    """Draw the scores of every system on every topic together, by measure.

    Parameters
    ----------
    judgments : Judgments
        As of :func:`predicted_scores`.
    p : ndarray, shape (draws, documents)
    measures : sequence of str
    seed : int

    Returns
    -------
    list of ndarray, shape (samples, systems, topics)
        200 samples; of draws a sample each.
    """
    outcomes = MOST_DRAWS if len(p) == 1 else 1
    grades, drawn = judgments.grade_distribution(), []
    for name in measures:
        topics = sample_scores_by_topic(
            judgments.pool, p, measure=name, outcomes=outcomes, seed=seed, grades=grades
        )
        drawn.append(np.stack(list(topics), axis=2))
    return drawn
