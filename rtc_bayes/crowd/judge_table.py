"""A table of judges, and which of them are suspicious."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from rtc_bayes.collection import Labels
from rtc_bayes.crowd.agreement import judges_counts
from rtc_bayes.signatures import explains_types

if TYPE_CHECKING:
    import pandas as pd

_LEVEL = 0.9
_FEWEST = 20
"""Labels from which a judge is called constant or inverted."""
_NEARLY, _MANY, _VARIED = 0.99, 100, 0.9
"""A judge of so many labels of whom more than this share are one grade is called constant, too,
where less than that share of all labels are."""
_ERRORS = 3.0
"""Standard errors that a judge's agreement with others is below that by chance, to be told."""
_FAST = 0.1
"""A judge whose median time is under this share of that of all judges is too fast."""


@explains_types
def judge_table(labels: Labels) -> pd.DataFrame:
    """Return what each judge said, and how that agrees with gold and with the others.

    Parameters
    ----------
    labels : Labels

    Returns
    -------
    DataFrame
        judge, labels, topics; the share of each grade (grade_0, ...); agrees, the share of labels
        that are what most other judges of the pair say (NaN where there are none, ties left out);
        gold, labels of pairs of known grade, accuracy (the same grade) on these with a 90%
        interval (Jeffreys'), accuracy_low and accuracy_high; seconds, the median time of a label;
        suspicious, why, or "".

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> docnos, judges = ["d1", "d1", "d1", "d2", "d2"], ["ann", "bob", "cas", "ann", "bob"]
    >>> labels = rb.Labels.of(["7"] * 5, docnos, judges, [1, 1, 0, 0, 1], gold={("7", "d1"): 1})
    >>> rb.judge_table(labels)[["judge", "labels", "agrees", "gold", "accuracy"]].values.tolist()
    [['ann', 2, 0.0, 1, 1.0], ['bob', 2, 0.0, 1, 1.0], ['cas', 1, 0.0, 1, 0.0]]
    """
    import pandas as pd

    pairs = labels.pairs()
    first = labels.first_of_judge()
    others = judges_counts(labels, first)[pairs.of_label]
    others[np.arange(labels.n_labels), labels.grade[first]] -= 1.0
    most = others.max(axis=1)
    clear = (most > 0.0) & ((others == most[:, None]).sum(axis=1) == 1)
    likeliest = others.argmax(axis=1)
    gold = labels.gold_grades()[pairs.of_label]
    rows = pd.DataFrame(
        {
            "judge": labels.judge_of,
            "topic": labels.topic_of,
            "agrees": np.where(clear, likeliest == labels.grade, np.nan),
            "right": np.where(gold >= 0, gold == labels.grade, np.nan),
            "seconds": np.nan if labels.time is None else labels.time,
        }
    )
    by_judge = rows.groupby("judge")
    shares = {
        f"grade_{grade}": np.bincount(labels.judge_of, labels.grade == grade) / by_judge.size()
        for grade in range(labels.n_grades)
    }
    told, right = by_judge["right"].count(), by_judge["right"].sum()
    low, high = beta.interval(_LEVEL, right + 0.5, told - right + 0.5)
    table = pd.DataFrame(
        {
            "judge": labels.judges,
            "labels": by_judge.size(),
            "topics": by_judge["topic"].nunique(),
            **shares,
            "agrees": by_judge["agrees"].mean(),
            "gold": told,
            "accuracy": by_judge["right"].mean(),
            "accuracy_low": np.where(told > 0, low, np.nan),
            "accuracy_high": np.where(told > 0, high, np.nan),
            "seconds": by_judge["seconds"].median(),
        }
    ).reset_index(drop=True)
    compared = table.assign(
        by_chance=_by_chance(labels, gold),
        agrees_by_chance=_by_chance(labels, np.where(clear, likeliest, -1)),
        clear=by_judge["agrees"].count().to_numpy(),
    )
    usual = rows["seconds"].median()
    return table.assign(suspicious=_suspicions(compared, list(shares), usual))


def _by_chance(labels: Labels, told: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return, of each judge, how often what was told agrees by chance.

    By the shares of grades that the judge says, and that are told (-1: not), of the same labels.
    """
    n_grades = max(labels.n_grades, int(told.max(initial=0)) + 1)
    cells = np.zeros((2, len(labels.judges), n_grades))
    some = told >= 0
    for side, grades in zip(cells, (labels.grade, told), strict=True):
        np.add.at(side, (labels.judge_of[some], grades[some]), 1.0)
    number = np.maximum(cells[0].sum(axis=1), 1.0)
    return np.asarray((cells[0] * cells[1]).sum(axis=1) / number**2)


def _suspicions(table: pd.DataFrame, shares: list[str], usual: float) -> list[str]:
    """Say of each judge why the labels are suspicious."""
    of_all = {name: np.average(table[name], weights=table["labels"]) for name in shares}
    binary = ["nonrelevant", "relevant"]
    grades = binary if len(shares) == 2 else [name.removeprefix("grade_") for name in shares]
    named = dict(zip(shares, grades, strict=True))
    said = []
    for row in table.to_dict("records"):
        reasons = []
        if row["labels"] >= _FEWEST:
            same = max(shares, key=row.__getitem__)
            nearly = row["labels"] >= _MANY and row[same] > _NEARLY and of_all[same] < _VARIED
            inverted, constant = "", row[same] == 1.0
            if constant or nearly:
                often = "always" if constant else "nearly always"
                reasons.append(f"{often} says {named[same]}")
            elif len(shares) == 2:
                inverted = ": inverted?"
            # where all are right the interval ends below 1
            highest = max(row["accuracy"], row["accuracy_high"])
            # what is right of one label alone says which documents were given
            if not constant and row["gold"] >= _FEWEST and highest < row["by_chance"]:
                reasons.append(f"worse than chance on gold{inverted}")
            elif not constant and row["gold"] < _FEWEST and _below(row):
                reasons.append(f"against the others more often than by chance{inverted}")
        if row["seconds"] < _FAST * usual:
            reasons.append(f"{row['seconds']:.2g} seconds a label, where {usual:.2g} are usual")
        said.append("; ".join(reasons))
    return said


def _below(row: Mapping[str, Any]) -> bool:
    """Whether a judge agrees with the others less than by chance, beyond sampling error."""
    chance, labels = row["agrees_by_chance"], row["clear"]
    error = (chance * (1.0 - chance) / max(labels, 1)) ** 0.5
    return bool(labels >= _FEWEST and row["agrees"] + _ERRORS * error < chance)
