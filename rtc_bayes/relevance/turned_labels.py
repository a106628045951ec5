"""Judges whose labels go against what people judged, or with it.

A model takes a higher label for evidence of relevance, and labels teach it which systems are good
before people's judgments can object. So the labels of judges whose scale seems turned round count
for nothing. Those that judgments confirm count in full, whatever the ranks say of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.collection.ids import some
from rtc_bayes.errors import TurnedLabelsWarning, warn

# fewest judged documents on either side, relevant and not
_SIDES = 3
# chance of naming some judge wrongly
_BY_CHANCE = 0.01


def turned_judges(judgments: Judgments) -> tuple[str, ...]:
    """Name judges whose higher labels go with what people judged nonrelevant.

    By the rank-sum test, at 1% over all judges of the pool's documents, of three relevant documents
    and three others at least. A document that a judge labelled again counts once, by the mean.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> docnos = [f"d{i:02}" for i in range(12)]
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": docnos})]))
    >>> judged = rb.Judgments.from_labels(pool, np.arange(12), np.arange(12) < 6)
    >>> labels = rb.Labels.of(["1"] * 12, docnos, ["llm"] * 12, [0] * 6 + [1] * 6)
    >>> turned_judges(judged.with_judge_labels(labels))
    ('llm',)
    """
    return _significant(judgments, "less")


def confirmed_judges(judgments: Judgments) -> tuple[str, ...]:
    """Name judges whose higher labels go with what people judged relevant, by the same test.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> docnos = [f"d{i:02}" for i in range(12)]
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": docnos})]))
    >>> judged = rb.Judgments.from_labels(pool, np.arange(12), np.arange(12) < 6)
    >>> labels = rb.Labels.of(["1"] * 12, docnos, ["llm"] * 12, [1] * 6 + [0] * 6)
    >>> confirmed_judges(judged.with_judge_labels(labels))
    ('llm',)
    """
    return _significant(judgments, "greater")


def _significant(judgments: Judgments, than: Literal["less", "greater"]) -> tuple[str, ...]:
    """Name judges whose labels of relevant documents are less, or greater, than of others."""
    if (labels := judgments.judge_labels) is None:
        return ()
    from scipy.stats import mannwhitneyu

    place = labels.located(judgments.pool)
    truth = np.where(place >= 0, judgments.labels[place], np.nan)
    rows = np.flatnonzero(~np.isnan(truth))
    if not len(rows):
        return ()
    n_judges = len(np.unique(labels.judge_of[place >= 0]))
    named = []
    for number in np.unique(labels.judge_of[rows]):
        own = rows[labels.judge_of[rows] == number]
        documents, of_label = np.unique(place[own], return_inverse=True)
        grade = np.bincount(of_label, labels.grade[own]) / np.bincount(of_label)
        relevance = judgments.labels[documents]
        above, below = grade[relevance > 0.5], grade[relevance < 0.5]
        if min(len(above), len(below)) >= _SIDES:
            p = mannwhitneyu(above, below, alternative=than).pvalue
            if p < _BY_CHANCE / n_judges:
                named.append(labels.judges[number])
    return tuple(named)


def without_turned(judgments: Judgments, *, say: bool = False) -> Judgments:
    """Return judgments without the labels of :func:`turned_judges`.

    Parameters
    ----------
    judgments : Judgments
    say : bool
        Warn of them.

    Warns
    -----
    TurnedLabelsWarning
        Names the judges.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> without_turned(rb.Judgments.none(pool))
    Judgments(0 judged, 0 relevant, in 0 of 1 topic)
    """
    turned = turned_judges(judgments)
    if not turned:
        return judgments
    if say:
        warn(
            f"labels of {some(turned)} are higher on documents that people judged nonrelevant than "
            "on relevant ones, and count for nothing: the scale may be turned round, or people "
            "judged what the labels got wrong",
            TurnedLabelsWarning,
        )
    assert judgments.judge_labels is not None
    others = [judge for judge in judgments.judge_labels.judges if judge not in turned]
    left = judgments.judge_labels.select(judges=others) if others else None
    return replace(judgments, judge_labels=left)
