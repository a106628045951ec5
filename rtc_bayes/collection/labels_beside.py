"""What is refused and said of labels of judges that are put beside judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes.collection.ids import shared_topics, some
from rtc_bayes.errors import InputError, warn
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.collection.judgments import Judgments
    from rtc_bayes.collection.labels import Labels
    from rtc_bayes.collection.pool import Pool


def check_labels_beside(labels: Labels, judgments: Judgments) -> None:
    """Refuse labels that tell nothing of a pool, and warn of what they do not tell.

    Raises
    ------
    InputError
        No topic, or no document, with a label is of the pool.

    Warns
    -----
    CollectionWarning
        Topics without a label or without a run, labels of judged documents alone, true grades that
        are not used, labels left out, and judges on a shorter scale than others.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> check_labels_beside(rb.Labels.of(["1"], ["a"], ["llm"], [1]), rb.Judgments.none(pool))
    >>> check_labels_beside(rb.Labels.of(["1"], ["z"], ["llm"], [1]), rb.Judgments.none(pool))
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: none of 1 label is of a document of the pool; give labels of ...
    """
    _check_reach(labels, judgments)
    _say_unused(labels, judgments)
    _say_scales(labels, judgments.pool)


def _check_reach(labels: Labels, judgments: Judgments) -> None:
    """Refuse labels of other topics or documents alone.

    Warn of the pool's topics without one, and of labels that tell nothing of unjudged documents.
    """
    pool = judgments.pool
    shared_topics(pool.topics, labels.topics, what="labels", say=False)
    documents = labels.located(pool)
    within = documents >= 0
    of_runs = set(pool.topics)
    if aside := [topic for topic in labels.topics if topic not in of_runs]:
        others = np.isin(np.array(labels.topics)[labels.topic_of], aside)
        warn(
            f"{counted(int(others.sum()), 'label')} of {counted(len(aside), 'topic')} without a "
            f"run, left aside: {some(aside)}",
        )
    if not within.any():
        raise InputError(
            f"none of {counted(labels.n_labels, 'label')} is of a document of the pool",
            remedy="give labels of documents of these runs, by the same names",
        )
    labelled = {labels.topics[code] for code in np.unique(labels.topic_of[within])}
    without = [topic for topic in pool.topics if topic not in labelled]
    if without:
        warn(
            f"no label is of {len(without)} of {counted(pool.n_topics, 'topic')}: {some(without)}",
        )
    alone = judgments.judged[documents[within]].all() and not judgments.judged.all()
    if alone and judgments.n_judged > 2 * len(np.unique(documents[within])):
        warn(
            "every document with a label is judged, so that the labels tell little of others; if "
            "the judgments are of judges that may err, and the labels a human's, give each in the "
            "other's place (--qrels a human's, --labels those that may err)",
        )


def _say_unused(labels: Labels, judgments: Judgments) -> None:
    """Say what files of labels hold that is no evidence here."""
    if labels.gold and not judgments.n_judged:
        warn(
            f"the labels hold true grades of {counted(len(labels.gold), 'pair')}, which are not "
            "used here; to use them, give them as judgments "
            "(--qrels; in Python labels.gold_qrels())"
        )
    if labels.n_dropped:
        below, highest = labels.n_dropped - labels.n_above, labels.n_grades - 1
        warn(
            f"{counted(labels.n_dropped, 'label')} left out: {below:,} blank or below 0, "
            f"{labels.n_above:,} above {highest}, the highest of {labels.n_grades} grades"
        )


def _say_scales(labels: Labels, pool: Pool) -> None:
    """Warn of judges of many labels in a pool who never give the highest grade of the others."""
    inside = np.unique(labels.judge_of[labels.located(pool) >= 0])
    say_scales(labels.select(judges=[labels.judges[j] for j in inside]))


def say_scales(labels: Labels) -> None:
    """Warn of judges of many labels who never give the highest grade of the others.

    Warns
    -----
    CollectionWarning

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> say_scales(rb.Labels.of(["1"] * 2, ["a", "b"], ["llm"] * 2, [3, 0]))
    """
    highest = labels.n_grades - 1
    below = np.setdiff1d(labels.judges_below(highest), labels.binary_judges)
    if len(below) and labels.grade.max() == highest:
        warn(
            f"no label of {some([labels.judges[j] for j in below])} reaches {highest}, the highest "
            "grade of other judges, and grades of all are read on one scale, from 0 to "
            f"{highest}; if these are on a shorter scale, write their grades on that of the others"
        )
