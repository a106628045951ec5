"""Documents, labels and grades as the arrays of judgments, each checked, and all together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import as_numbers
from rtc_bayes.errors import InputError
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.collection.pool import Pool


def indices_in(pool: Pool, documents: ArrayLike) -> NDArray[np.int64]:
    """Return indices of a pool's documents, or say which is none.

    Raises
    ------
    InputError
        No list of whole numbers, or an index that the pool lacks: names it.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> indices_in(pool, [1, 0])
    array([1, 0])
    >>> indices_in(pool, [2])
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: the pool holds no document 2; give indices from 0 to 1; ...
    """
    indices = np.array(documents)
    if indices.ndim != 1 or (indices.size and not np.issubdtype(indices.dtype, np.integer)):
        raise InputError(
            f"documents are an array of {indices.dtype} with {indices.ndim} dimensions",
            remedy="give a list of indices, as Pool.locate returns them",
        )
    outside = indices[(indices < 0) | (indices >= pool.n_documents)]
    if outside.size:
        raise InputError(
            f"the pool holds no document {outside[0]}",
            remedy=f"give indices from 0 to {pool.n_documents - 1}; Pool.locate gives -1 for a "
            "docno that is not there, which Pool.with_documents adds",
        )
    return indices.astype(np.int64)


def relevance_of(labels: ArrayLike) -> NDArray[np.float64]:
    """Return labels as an array.

    Raises
    ------
    InputError
        No list of numbers, or a label outside [0, 1]: names it.

    Examples
    --------
    >>> relevance_of([1, 0, 0.5])
    array([1. , 0. , 0.5])
    """
    try:
        values = np.array(labels, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim != 1:
        raise InputError("labels are not a list of numbers", remedy="give one for each document")
    bad = values[~((values >= 0.0) & (values <= 1.0))]
    if bad.size:
        raise InputError(f"label {bad[0]} is outside [0, 1]", remedy="give labels from 0 to 1")
    return values


def as_grades(labels: NDArray[np.float64], level: int) -> NDArray[np.float64]:
    """Return the grade of each label: 0 of 0, the lowest relevant grade of 1, NaN of others.

    Examples
    --------
    >>> as_grades(np.array([0, 1, 0.5]), 2)
    array([ 0.,  2., nan])
    """
    return np.where((labels == 0.0) | (labels == 1.0), labels * level, np.nan)


def grades_of(
    grades: ArrayLike | None, labels: NDArray[np.float64], level: int
) -> NDArray[np.float64]:
    """Return grades as an array; without any, what labels say of them.

    Raises
    ------
    InputError
        Not as many grades as labels, one that is no whole number from 0 on, or a label that its
        grade does not have at this level: names both.

    Examples
    --------
    >>> grades_of([3, 0], np.array([1.0, 0.0]), 2)
    array([3., 0.])
    >>> grades_of(None, np.array([1.0, 0.0]), 2)
    array([2., 0.])
    """
    if grades is None:
        return as_grades(labels, level)
    values = np.array(grades, dtype=np.float64)
    hard = values[~np.isnan(values)]
    if values.shape != labels.shape or (hard < 0.0).any() or (hard % 1.0 != 0.0).any():
        raise InputError(
            "grades are not as many whole numbers as labels, each at least 0",
            remedy="give a grade for each label, or NaN",
        )
    other = ~np.isnan(values) & (labels != (values >= level))
    if other.any():
        n = int(np.flatnonzero(other)[0])
        raise InputError(
            f"label {labels[n]:g} has grade {values[n]:g}, and grades from {level} on are relevant",
            remedy="give the label that a grade has, or NaN for a label without a grade",
        )
    return values


def judged_arrays(
    pool: Pool, labels: ArrayLike, order: ArrayLike, grades: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64] | None]:
    """Return labels, order and grades of a pool's documents as arrays, or say what is wrong.

    Raises
    ------
    InputError
        Not a number for each document; a label outside [0, 1]; an order that is not of the
        labelled documents, each once: names the first that is not.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> judged_arrays(pool, [np.nan, 1.0], [1], None)
    (array([nan,  1.]), array([1]), None)
    >>> judged_arrays(pool, [0.0, 1.0], [1], None)
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: order lacks document a of topic 1, which has a label; ...
    """
    values = _for_each(pool, "labels", labels)
    if ((values < 0.0) | (values > 1.0)).any():
        relevance_of(values[~np.isnan(values)])
    listed, indices = np.zeros(pool.n_documents, dtype=np.bool_), indices_in(pool, order)
    listed[indices] = True
    other = listed == np.isnan(values)
    if other.any():
        first = int(np.flatnonzero(other)[0])
        topic, docno = pool.pair_of(first)
        raise InputError(
            f"order lists document {docno} of topic {topic}, which has no label"
            if listed[first]
            else f"order lacks document {docno} of topic {topic}, which has a label",
            remedy="list in order what has a label; Judgments.from_labels makes both",
        )
    if listed.sum() < len(indices):
        raise InputError("order lists a document twice", remedy="give each document once")
    return values, indices, None if grades is None else _for_each(pool, "grades", grades)


def _for_each(pool: Pool, name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Take a number for each document of a pool."""
    numbers = as_numbers(values, f"{name} are", "give a number for each document")
    if numbers.shape != (pool.n_documents,):
        raise InputError(
            f"{name} have shape {numbers.shape}, and the pool "
            f"{counted(pool.n_documents, 'document')}",
            remedy="give one for each document, NaN for none; Judgments.from_labels takes "
            "those of judged documents alone",
        )
    return numbers
