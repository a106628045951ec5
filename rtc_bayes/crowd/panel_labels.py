"""The panel of a set of labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rtc_bayes.collection.labels import Labels
from rtc_bayes.crowd.panel import Panel, PanelPrior, fit_panel
from rtc_bayes.crowd.votes import Known, known_grades, level_by
from rtc_bayes.signatures import moved


@moved(rel="write relevance_level")
def panel(
    labels: Labels,
    human: Known | None = None,
    *,
    relevance_level: int | None = None,
    graded: bool = False,
    families: Mapping[str, str] | None = None,
    prior: PanelPrior | None = None,
    seed: int = 0,
) -> Panel:
    """Turn labels of a panel, and human grades of some pairs, into probabilities of relevance.

    A judge's score of a pair is the probability it stated, or else its grade divided by the highest
    grade; of several labels by one judge, their mean. See :func:`fit_panel`.

    Parameters
    ----------
    labels : Labels
    human : mapping of (topic, docno) to int or Qrels, optional
        Human grades; NaN, or one below 0, where a grade is not known. Pairs that no judge labelled
        are left out.
    relevance_level : int, at least 1; optional
        The lowest human grade that is relevant. Default: that of `human`, where Qrels state one,
        or 1.
    graded : bool
        Give probabilities of the human grades, of which there are as many as the labels have; by
        default, whether a pair is relevant.
    families : mapping of str to str, optional
        The family of a judge.
    prior : PanelPrior, optional
    seed : int
        Of the draws.

    Returns
    -------
    Panel
        Its pairs are those of ``labels.pair_ids()``, in that order.

    Raises
    ------
    InputError
        ``relevance_level`` below 1, or above all grades; a human grade that is no whole number, or,
        if graded, above those of the labels; a family of a judge that has no labels.

    Warns
    -----
    CollectionWarning
        The relevance level is read from the file beside the Qrels, or is not theirs.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> labels = rb.Labels.of(["1"] * 3, ["d1", "d2", "d1"], ["a", "a", "b"], [3, 0, 3])
    >>> panel(labels, {("1", "d2"): 1}, relevance_level=2).probability.round(2)
    array([0.62, 0.  ])
    """
    level = level_by(human, relevance_level)
    pairs = labels.pair_ids()
    highest = np.full(len(labels.judges), labels.n_grades - 1)
    highest[labels.binary_judges] = 1
    score = labels.grade / highest[labels.judge_of]
    if labels.probability is not None:
        score = np.where(np.isnan(labels.probability), score, labels.probability)
    total, count = np.zeros((2, len(pairs), len(labels.judges)))
    place = labels.pairs().of_label, labels.judge_of
    np.add.at(total, place, score)
    np.add.at(count, place, 1.0)
    grades = known_grades(labels, human, level, graded)
    return fit_panel(
        np.where(count > 0, total / np.maximum(count, 1.0), np.nan),
        np.array([topic for topic, _ in pairs]),
        np.where(grades < 0, np.nan, grades),
        judges=labels.judges,
        families=families,
        n_grades=labels.n_grades if graded else 2,
        relevance_level=level if graded else 1,
        prior=prior,
        seed=seed,
    )
