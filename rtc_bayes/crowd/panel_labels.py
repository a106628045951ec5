"""The panel of a set of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.crowd.panel import Panel, PanelPrior, fit_panel
from rtc_bayes.errors import InputError


class LabelColumns(Protocol):
    """What a panel reads of labels: columns of one entry a label, and the ids of their codes."""

    @property
    def judges(self) -> Sequence[str]:
        """Judges' names."""

    @property
    def judge_of(self) -> NDArray[Any]:
        """The judge of each label."""

    @property
    def grade(self) -> NDArray[Any]:
        """Grades from 0."""

    @property
    def n_grades(self) -> int:
        """One more than the highest grade."""

    @property
    def probability(self) -> NDArray[np.float64] | None:
        """Stated probabilities of relevance, NaN where there is none."""

    def pairs(self) -> Any:
        """Return the pairs' topics and documents, and the pair of each label (`of_label`)."""

    def pair_ids(self) -> list[tuple[str, str]]:
        """Return (topic, docno) of each pair."""


def panel(
    labels: LabelColumns,
    human: Mapping[tuple[str, str], int] | None = None,
    *,
    rel: int = 1,
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
    human : mapping of (topic, docno) to int, optional
        Human grades. Pairs that no judge labelled are left out.
    rel : int, at least 1
        The lowest human grade that is relevant.
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
        No labels; labels of one grade alone, 0; ``rel`` below 1; a family of a judge that has no
        labels.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> labels = SimpleNamespace(  # as read_labels gives them
    ...     judges=("a", "b"),
    ...     judge_of=np.array([0, 0, 1]),
    ...     grade=np.array([3, 0, 3]),
    ...     n_grades=4,
    ...     probability=None,
    ...     pairs=lambda: SimpleNamespace(of_label=np.array([0, 1, 0])),
    ...     pair_ids=lambda: [("1", "d1"), ("1", "d2")],
    ... )
    >>> panel(labels, {("1", "d2"): 1}, rel=2).probability.round(2)
    array([0.62, 0.  ])
    """
    if not len(labels.grade) or labels.n_grades < 2:
        raise InputError("no labels above grade 0", remedy="give labels of at least two grades")
    if rel < 1:
        raise InputError(f"rel is {rel}", remedy="give 1 or more")
    if unknown := sorted(set(families or {}) - set(labels.judges)):
        raise InputError(
            f"families of judges without labels: {', '.join(unknown)}",
            remedy=f"the judges are {', '.join(labels.judges)}",
        )
    pairs = labels.pair_ids()
    score = labels.grade / (labels.n_grades - 1)
    if labels.probability is not None:
        score = np.where(np.isnan(labels.probability), score, labels.probability)
    total, count = np.zeros((2, len(pairs), len(labels.judges)))
    place = labels.pairs().of_label, labels.judge_of
    np.add.at(total, place, score)
    np.add.at(count, place, 1.0)
    grades = human or {}
    relevant = [float(grades[pair] >= rel) if pair in grades else np.nan for pair in pairs]
    return fit_panel(
        np.where(count > 0, total / np.maximum(count, 1.0), np.nan),
        np.array([topic for topic, _ in pairs]),
        relevant,
        judges=labels.judges,
        families=families,
        prior=prior,
        seed=seed,
    )
