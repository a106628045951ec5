"""Expected scores of all systems under a model of relevance, for the tests of reusability."""

from __future__ import annotations

from rtc_bayes import defaults
from rtc_bayes.collection import Qrels, Runs
from rtc_bayes.confidence import compare
from rtc_bayes.measures.estimand import Estimand, EstimandLike
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.relevance import ModelSpec, fit
from rtc_bayes.signatures import explains_types
from rtc_bayes.workers import Workers


@explains_types
def expected_scores(
    runs: Runs,
    qrels: Qrels,
    model: str | ModelSpec = defaults.MODEL,
    *,
    estimand: EstimandLike = None,
    seed: int = 0,
    workers: Workers = Workers(),
) -> ScoreMatrix:
    """Predict the relevance of unjudged documents, and score every system on every topic by it.

    A system that was held out of a topic is scored like one that comes later: the model knows, by
    `judged_for` of the judgments, whose documents were judged.

    Parameters
    ----------
    runs : Runs
    qrels : Qrels
        With ``judged_for``, as :func:`rtc_bayes.build` writes and ``read_qrels`` reads it.
    model : str or ModelSpec
    estimand : Estimand or measure, optional
    seed : int
    workers : Workers

    Returns
    -------
    ScoreMatrix
        Expected scores on the topics that have judgments, with the variance that unjudged
        documents leave.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> few = rb.Qrels({t: dict(list(d.items())[:30]) for t, d in data.qrels.items()})
    >>> rb.expected_scores(data.runs, few, "topic_calibration:map")
    ScoreMatrix(AP, 4 systems, 3 topics)
    """
    about = Estimand.from_value(estimand)
    pool = about.pool(runs, qrels)
    pool = pool.select_topics([topic for topic in pool.topics if qrels.judged(topic)])
    fitted = fit(pool, about.judgments(pool, qrels), model=model, seed=seed)
    # pairs are not asked for: one baseline leaves the fewest
    first = pool.systems[0]
    return compare(pool, fitted, about, baseline=first, seed=seed, workers=workers).score_matrix()
