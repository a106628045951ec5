"""Assessor disagreement: what P(A better than B) would be by another assessor's judgments.

Two assessors of one pool disagree on many documents, and orders of systems hardly change (Voorhees,
IPM 36(5), 2000). Whether a pair's does is asked here: judgments are drawn for the second assessor
from what the first judged, through their confusion, and the systems compared anew by each draw.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import check_type, whole_number
from rtc_bayes.collection import Judgments, Pool, Qrels, Relevance
from rtc_bayes.collection.qrels import level_of
from rtc_bayes.collection.relevance import as_relevance
from rtc_bayes.confidence.comparing import compare
from rtc_bayes.confidence.comparison import Comparison
from rtc_bayes.confidence.setting import RelevanceLike, check_level
from rtc_bayes.errors import InputError, warn
from rtc_bayes.measures import Estimand
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store import spawn_seeds

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.measures.estimand import EstimandLike

type Floats = NDArray[np.float64]


@moved(second_level="write second_relevance_level")
@explains_types
def assessor_confusion(
    first: Qrels,
    second: Qrels,
    *,
    relevance_level: int | None = None,
    second_relevance_level: int | None = None,
    by_grade: bool = False,
) -> Floats:
    """Estimate what a second assessor says of what the first judged, from documents of both.

    Shares of the documents that both judged, with one half added to each count (the mean under
    Jeffreys' prior). Negative grades are no judgments.

    Parameters
    ----------
    first, second : Qrels
        Of a track's assessor and of another person, or of a language model.
    relevance_level, second_relevance_level : int, optional
        The lowest grade that counts as relevant, of the first (by default the level that it names,
        or 1) and of the second (by default the same).
    by_grade : bool
        A row for each grade of the first, from 0: assessors disagree more on some grades.

    Returns
    -------
    ndarray of float, shape (2, 2) or (grades, 2)
        A row for documents that the first calls nonrelevant and one for relevant ones, or for
        each of his grades; columns are what the second says, nonrelevant or relevant.

    Raises
    ------
    InputError
        No document judged by both, judgments of another type, or a level below 1.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> one = rb.Qrels({"1": {"a": 1, "b": 1, "c": 0}})
    >>> two = rb.Qrels({"1": {"a": 1, "b": 0, "c": 0, "d": 1}})
    >>> rb.assessor_confusion(one, two).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    for qrels in (first, second):
        check_type(qrels, Qrels, "judgments are", "give Qrels, as read_qrels returns them")
    highest = max((grade for grades in first.values() for grade in grades.values()), default=0)
    counts = np.full((max(highest + 1, 2) if by_grade else 2, 2), 0.5)
    level = level_of(first, relevance_level)
    if second_relevance_level is None:
        second_relevance_level = second.relevance_level or level
    levels = level, level_of(second, second_relevance_level)
    for topic, grades in first.items():
        others = second.get(topic, {})
        for docno, grade in grades.items():
            other = others.get(docno, -1)
            if grade >= 0 and other >= 0:
                row = grade if by_grade else int(grade >= levels[0])
                counts[row, int(other >= levels[1])] += 1.0
    if counts.sum() == len(counts):
        raise InputError("no document was judged by both", remedy="give judgments of one pool")
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


@explains_types
def second_assessor(
    pool: Pool,
    relevance: RelevanceLike,
    judgments: Judgments,
    confusion: ArrayLike,
    estimand: EstimandLike = None,
    *,
    draws: int = 50,
    seed: int = 0,
) -> pd.DataFrame:
    """Say what P(A better than B) would be, had another assessor judged the judged documents.

    The second assessor's judgment of each document is drawn given the first's, independently;
    every draw is compared as :func:`rtc_bayes.compare` compares. Probabilities of unjudged
    documents stay those that the first assessor's judgments gave: the model is not fitted again.
    Documents of one row are all alike here: assessors who disagree most on documents that nearly
    are relevant change less than is said, and a language model that favours its own ranker more.

    Parameters
    ----------
    pool : Pool
        Of the systems to compare.
    relevance : Relevance or Fit
        By the first assessor's judgments; relevance is binary here.
    judgments : Judgments
        Those of the first assessor.
    confusion : array_like of float, shape (2, 2) or (grades, 2)
        Rows are the first's judgment, nonrelevant and relevant, or his grades from 0 if they are
        more than two; columns the second's, nonrelevant and relevant; each row sums to 1.
        Assumed, or by :func:`assessor_confusion`. Of two rows a judgment between 0 and 1 mixes
        both.
    estimand : Estimand or measure, optional
    draws : int, at least 2
        Sets of judgments of the second assessor.
    seed : int

    Returns
    -------
    DataFrame
        A row for each pair, the likeliest to flip first: ``a``, ``b``; ``p_greater``, P(a better)
        + P(equal)/2 by the first assessor; over draws of the second its ``mean`` and ``sd``, the
        mean ``confidence``, and ``p_flip``, the probability that the predicted sign is the other.

    Raises
    ------
    InputError
        A measure with ``rel`` above 1; a confusion that is none, fewer than two draws, nothing
        judged, another relevance level than that of the judgments, or an argument of another type.

    Warns
    -----
    CollectionWarning
        A measure with gains by grade, where judgments have grades: they are binary here.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=4, n_systems=3, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> judgments = rb.Judgments.from_qrels(pool, simulated.qrels)
    >>> fit = rb.fit(pool, judgments, model="rtc", method="map")
    >>> same = rb.second_assessor(pool, fit, judgments, [[1, 0], [0, 1]], draws=2)
    >>> float(same["sd"].max()), float(same["p_flip"].max())
    (0.0, 0.0)
    >>> other = rb.second_assessor(pool, fit, judgments, [[0.9, 0.1], [0.3, 0.7]], draws=10)
    >>> bool((other["sd"] > 0).all())
    True
    """
    import pandas as pd

    rows = _confusion(confusion)
    draws = whole_number("draws", draws, least=2)
    check_type(pool, Pool, "the pool is", "give the Pool of the systems to compare")
    check_type(judgments, Judgments, "judgments are", "give those of the first assessor: Judgments")
    probabilities = as_relevance(relevance)
    about = Estimand.from_value(estimand)
    if parse_measure(about.measure).rel > 1:
        raise InputError(
            f"{about.measure} asks for grades, and a second assessor's judgments are binary",
            remedy="count grades from that one on as relevant: Estimand(relevance_level=)",
        )
    if probabilities.grades is not None and parse_measure(about.measure).graded:
        warn(
            f"a second assessor's judgments are binary: {about.measure} has gains of relevant or "
            "not here, and of grades in a comparison",
        )
    fitted_pool, values = probabilities.on(pool)
    judged = judgments.on(fitted_pool)
    if not judged.n_judged:
        raise InputError("nothing is judged", remedy="give judgments that another may dispute")
    fitted_pool, values = probabilities.on(judged.pool)
    check_level(about, judged, probabilities.grades)
    if about.topics == "judged":
        about = replace(about, topics=about.on(pool, judged)[0].topics)
    documents, labels = judged.order, judged.labels[judged.order]
    p = _says_relevant(rows, labels, judged.grades[judged.order])

    def compared(by: Floats) -> Comparison:
        made = np.array(values, dtype=np.float64)
        made[:, documents] = by
        return compare(pool, Relevance.from_values(fitted_pool, made[None]), about, seed=seed)

    first = compared(labels)
    now = _p_greater(first)
    drawn = []
    for draw_seed in spawn_seeds(whole_number("seed", seed), draws):
        random = np.random.default_rng(draw_seed)
        drawn.append(_p_greater(compared((random.random(len(p)) < p).astype(np.float64))))
    then = np.array(drawn)
    flips = ((then - 0.5) * (now - 0.5) < 0.0).mean(axis=0)
    table = pd.DataFrame(
        {
            "a": [pair.a for pair in first.pairs],
            "b": [pair.b for pair in first.pairs],
            "p_greater": now,
            "mean": then.mean(axis=0),
            "sd": then.std(axis=0, ddof=1),
            "confidence": np.maximum(then, 1.0 - then).mean(axis=0),
            "p_flip": flips,
        }
    )
    return table.sort_values("p_flip", ascending=False, kind="stable", ignore_index=True)


def _p_greater(comparison: Comparison) -> Floats:
    return np.asarray(comparison.p_greater + comparison.p_equal / 2.0)


def _says_relevant(rows: Floats, labels: Floats, grades: Floats) -> Floats:
    """P(the second says relevant) of each document that the first judged."""
    if len(rows) == 2:
        return np.asarray((1.0 - labels) * rows[0, 1] + labels * rows[1, 1])
    if (grades >= len(rows)).any() or (grades % 1.0 != 0.0).any():
        raise InputError(
            f"the confusion has {len(rows)} rows, and the judgments other grades",
            remedy="give a row for each grade from 0 to the highest",
        )
    return np.asarray(rows[grades.astype(np.int64), 1])


def _confusion(values: ArrayLike) -> Floats:
    try:
        rows = np.asarray(values, dtype=np.float64)
    except ValueError:
        rows = np.empty(0)
    fits = rows.ndim == 2 and len(rows) >= 2 and rows.shape[1] == 2 and (rows >= 0.0).all()
    if not (fits and np.allclose(rows.sum(axis=1), 1.0)):
        raise InputError(
            "the confusion is not two rows of probabilities, or one for each grade",
            remedy="give [[P(0|0), P(1|0)], [P(0|1), P(1|1)]], each row of sum 1",
        )
    return rows
