"""Columns of labels, checked: whole grades on one scale, numbers of equal length, codes of ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import as_numbers
from rtc_bayes.collection.ids import keyed_by_pair, text_of
from rtc_bayes.collection.order import natural_order
from rtc_bayes.errors import InputError, warn

type Codes = NDArray[np.int64]

HIGHEST = 100
"""The highest grade there may be."""
RARE = 0.05
"""Labels beyond a gap in the grades are taken for a slip if they are this share of all, or less."""


def check_scale(
    grades: Codes, truths: Collection[int], named: tuple[Sequence[str], ...], highest: int
) -> None:
    """Refuse a grade that is no grade, and warn of few labels by which the highest sets the scale.

    Parameters
    ----------
    grades : ndarray of int, shape (label,)
        A negative one is none.
    truths : collection of int
        Grades that are known otherwise.
    named : tuple of sequences of str
        Topic, docno and judge of every label.
    highest : int
    """
    above = grades > HIGHEST if highest > HIGHEST else _beyond_a_gap(grades, truths)
    if not above.any():
        return
    usual, first = int(grades[~above].max(initial=1)), int(np.argmax(above))
    topic, docno, judge = (column[first] for column in named)
    label = f"label {grades[first]} by judge {judge} of document {docno} of topic {topic}"
    remedy = (
        f"correct the file, or give n_grades={usual + 1} (--n-grades "
        f"{usual + 1}), which drops labels above {usual}"
    )
    if highest > HIGHEST:
        raise InputError(f"{label} is no grade", remedy=remedy)
    number = int(above.sum())
    more = f", and {number - 1} more labels beyond a gap in the grades" if number > 1 else ""
    warn(
        f"{label}, where the others have 0 to {usual}{more}: the highest label sets the scale of "
        f"all, here 0 to {highest}; {remedy}; if it is right, give n_grades={highest + 1}",
    )


def _beyond_a_gap(grades: Codes, others: Collection[int]) -> NDArray[np.bool_]:
    """Which labels, few of all, are above a grade that nobody gives though it is in between.

    Parameters
    ----------
    grades : ndarray of int
        Of labels; a negative one is none.
    others : collection of int
        Grades that are given elsewhere.
    """
    used = np.union1d(grades[grades >= 0], np.fromiter(others, dtype=np.int64))
    for below in used[:-1][np.diff(used) > 1]:
        beyond = grades > below
        if beyond.sum() <= RARE * np.count_nonzero(grades >= 0):
            return beyond
    return np.zeros(len(grades), dtype=bool)


def coded(ids: Sequence[str], keep: NDArray[np.bool_], what: str) -> tuple[tuple[str, ...], Codes]:
    """Return the distinct ids of the rows kept, in natural order, and the code of each row."""
    kept = [text_of(ids[i], what) for i in np.flatnonzero(keep).tolist()]
    order = natural_order(set(kept))
    code = {name: i for i, name in enumerate(order)}
    return order, np.array([code[name] for name in kept], dtype=np.int64)


def whole_grades(grades: ArrayLike, what: str) -> Codes:
    """Return grades as whole numbers; refuse a fraction, nan and what is no number."""
    try:
        values = np.asarray(grades, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"a {what} is not a number: {error}", remedy="give whole numbers from 0"
        ) from error
    none = ~(np.abs(values) <= np.iinfo(np.int16).max) | (values != np.round(values))
    if none.any():
        raise InputError(
            f"{what} {values[none][0]:g} is not a grade",
            remedy="give whole numbers from 0; a negative one is no label",
        )
    return values.astype(np.int64)


def whole_gold(gold: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """Return true grades as whole numbers, as :func:`whole_grades` does, by topic and docno."""
    gold = keyed_by_pair(gold, "true grades")
    return dict(zip(gold, whole_grades(list(gold.values()), "true grade").tolist(), strict=True))


def column_of(values: ArrayLike | None, length: int, what: str) -> NDArray[np.float64] | None:
    """Return numbers beside labels, one a label; refuse more or fewer."""
    if values is None:
        return None
    remedy = "give one number a label, NaN where there is none"
    column = as_numbers(values, f"{what} is", remedy)
    if column.shape != (length,):
        raise InputError(
            f"{what} has shape {column.shape} where there are {length} labels",
            remedy=remedy,
        )
    return column
