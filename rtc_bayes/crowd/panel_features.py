"""What a panel of judges says of a pair, as features of a regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import check_type
from rtc_bayes.collection.ids import some
from rtc_bayes.errors import InputError

type Floats = NDArray[np.float64]
type Codes = NDArray[np.int64]


class Features(NamedTuple):
    """The panel's features, in the order of the regression's coefficients.

    Attributes
    ----------
    common : ndarray of float, shape (pairs, 3)
        1; the panel's mean score less 0.5; the topic's mean of it less that of all pairs.
    topics : ndarray of float, shape (pairs, topics)
        1 in the column of the pair's topic.
    deviations : ndarray of float, shape (pairs, families and judges that deviate)
        A family's mean score less the panel's, a judge's score less its family's mean; each
        divided by the square root of the number of families, or judges. 0 where there is none.
    """

    common: Floats
    topics: Floats
    deviations: Floats


def features_of(
    scores: Floats,
    topic_of: Codes,
    judges: Sequence[str],
    families: Mapping[str, str] | None,
) -> Features:
    """Describe every pair by the panel's mean, its topic's mean and the judges' deviations.

    The mean is one of families' means: two judges of one family weigh as one. A panel of copies of
    one judge has that judge's features, and copies in a family leave the family's mean as it is.

    Parameters
    ----------
    scores : ndarray of float, shape (pairs, judges)
        From 0 to 1; NaN where a judge gave no label. Every pair has a label.
    topic_of : ndarray of int, shape (pairs,)
        Codes from 0.
    judges : sequence of str, length judges
    families : mapping of str to str or None
        The family of a judge; a judge without one is a family of its own.

    Returns
    -------
    Features

    Examples
    --------
    >>> scores = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    >>> families = {"a1": "a", "a2": "a"}
    >>> features_of(scores, np.array([0, 0]), ["a1", "a2", "b"], families).common[:, 1]
    array([ 0. , -0.5])
    """
    named = {} if families is None else families
    check_type(named, Mapping, "families are", "give {judge: family}")
    if unknown := sorted(set(named) - set(judges)):
        raise InputError(
            f"families of judges without labels: {some(unknown)}",
            remedy=f"the judges are {some(judges)}",
        )
    # a judge without a family is one of its own, also where a family has its name
    of_judge = [(named[judge], True) if judge in named else (judge, False) for judge in judges]
    every = sorted(set(of_judge))
    family_of = np.array([every.index(name) for name in of_judge])
    family = np.column_stack([_mean(scores[:, family_of == f]) for f in range(len(every))])
    mean = _mean(family)
    topic_mean = np.bincount(topic_of, mean) / np.maximum(np.bincount(topic_of), 1)
    between = topic_mean[topic_of] - mean.mean()
    deviations = [
        (family - mean[:, None]) / np.sqrt(family.shape[1]),
        (scores - family[:, family_of]) / np.sqrt(scores.shape[1]),
    ]
    columns = np.nan_to_num(np.column_stack(deviations))
    return Features(
        common=np.column_stack([np.ones(len(mean)), mean - 0.5, between]),
        topics=np.eye(len(topic_mean))[topic_of],
        deviations=columns[:, np.abs(columns).max(axis=0) > 1e-12],
    )


def _mean(values: Floats) -> Floats:
    """Return each row's mean of what is there, NaN where nothing is."""
    there = ~np.isnan(values)
    n_there = there.sum(axis=1)
    total: Floats = np.where(there, values, 0.0).sum(axis=1)
    return np.where(n_there > 0, total / np.maximum(n_there, 1), np.nan)
