"""How far judges agree: Krippendorff's alpha, and Cohen's kappa of two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import check_word, whole_number
from rtc_bayes.collection import Labels
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

type Floats = NDArray[np.float64]
type Scale = Literal["nominal", "ordinal", "interval"]

LEVEL = 0.95
"""Probability that an interval holds."""
_FEWEST = 20
"""Pairs labelled by both that two judges need to be compared, unless told otherwise."""


class Agreement(NamedTuple):
    """A coefficient of agreement and its interval.

    Attributes
    ----------
    value : float
        1: all agree; 0: no more than by chance.
    low, high : float
        A 95% interval, by a bootstrap of pairs of topic and document.
    pairs : int
        Labelled by two judges or more: what it is made of.

    Examples
    --------
    >>> Agreement(0.4, 0.3, 0.5, 20).high
    0.5
    """

    value: float
    low: float
    high: float
    pairs: int


@moved(level="write scale")
@explains_types
def agreement(
    labels: Labels, scale: Scale = "nominal", *, resamples: int = 1000, seed: int = 0
) -> Agreement:
    """Return Krippendorff's alpha of all judges, any of whom may have labelled any pair.

    Krippendorff, *Content Analysis* (2004), chapter 11: 1 less observed over expected disagreement.
    Where a judge labelled a pair more than once the first label counts.

    Parameters
    ----------
    labels : Labels
        Give ``labels.at_level(relevance_level)`` for the agreement on relevant or not.
    scale : {"nominal", "ordinal", "interval"}
        The scale of measurement of grades, which says how much two of them differ: all alike, by
        how many labels lie between them, by the square of their difference.
    resamples : int, at least 2
        Of the bootstrap.
    seed : int

    Returns
    -------
    Agreement

    Raises
    ------
    InputError
        No two judges labelled the same pair, all labels of such pairs are the same, or an unknown
        scale.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> docnos, judges = ["d1", "d1", "d2", "d2", "d3", "d3"], ["ann", "bob"] * 3
    >>> labels = rb.Labels.of(["7"] * 6, docnos, judges, [1, 1, 0, 0, 0, 1])
    >>> round(rb.agreement(labels).value, 3)
    0.444
    """
    check_word("scale", scale, get_args(Scale.__value__))
    whole_number("resamples", resamples, least=2)
    counts = judges_counts(labels, labels.first_of_judge())
    counts = counts[counts.sum(axis=1) > 1]
    if not len(counts):
        raise InputError("no pair is labelled by two judges", remedy="give labels of more judges")
    if np.count_nonzero(counts.sum(axis=0)) == 1:
        raise InputError(
            f"all labels of the {counted(len(counts), 'pair')} that two judges or more labelled "
            "are the same, which tells nothing of agreement",
            remedy="give labels of more pairs by several judges",
        )
    random = np.random.default_rng(whole_number("seed", seed))
    n = len(counts)
    drawn = [_alpha(counts[random.integers(n, size=n)], scale) for _ in range(resamples)]
    low, high = np.nanquantile(drawn, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return Agreement(_alpha(counts, scale), float(low), float(high), n)


def judges_counts(labels: Labels, first: NDArray[np.int64]) -> Floats:
    """Return how many judges gave each pair each grade by their first labels: (pair, grade)."""
    counts = np.zeros((len(labels.pairs().topic), labels.n_grades))
    once = np.unique(first)
    np.add.at(counts, (labels.pairs().of_label[once], labels.grade[once]), 1.0)
    return counts


def _alpha(counts: Floats, scale: Scale) -> float:
    """Return alpha of how often each pair has each grade: (pair, grade)."""
    said = counts.sum(axis=1, keepdims=True)
    together = (counts / (said - 1.0)).T @ counts
    together[np.diag_indices_from(together)] -= (counts / (said - 1.0)).sum(axis=0)
    total = together.sum(axis=0)
    n = total.sum()
    apart = _distance(total, scale)
    by_chance = (np.outer(total, total) * apart).sum() / (n - 1.0)
    return float(1.0 - (together * apart).sum() / by_chance) if by_chance > 0.0 else np.nan


def _distance(total: Floats, scale: Scale) -> Floats:
    """Return the squared distance of grades, of which there are so many labels."""
    if scale == "nominal":
        return 1.0 - np.eye(len(total))
    place = np.arange(len(total), dtype=float)
    if scale == "ordinal":
        place = np.cumsum(total) - total / 2.0
    return np.square(place[:, None] - place)


@explains_types
def kappas(labels: Labels, *, fewest: int = _FEWEST) -> pd.DataFrame:
    """Return Cohen's kappa of every two judges who labelled `fewest` pairs or more in common.

    Where a judge labelled a pair more than once the first label counts.

    Parameters
    ----------
    labels : Labels
        Give ``labels.at_level(relevance_level)`` for the agreement on relevant or not.
    fewest : int

    Returns
    -------
    DataFrame
        a, b, pairs, agreed (the share of pairs), kappa (NaN where both say one thing only), and
        se, its standard error (Cohen 1960).

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> labels = rb.Labels.of(["7"] * 4, ["d1", "d1", "d2", "d2"], ["ann", "bob"] * 2, [1, 1, 0, 1])
    >>> rb.kappas(labels, fewest=2)[["a", "b", "pairs", "agreed", "kappa"]].values.tolist()
    [['ann', 'bob', 2, 0.5, 0.0]]
    """
    import pandas as pd

    frame = pd.DataFrame(
        {"pair": labels.pairs().of_label, "judge": labels.judge_of, "grade": labels.grade}
    ).drop_duplicates(["pair", "judge"])
    both = frame.merge(frame, on="pair", suffixes=("_a", "_b"))
    both = both[both["judge_a"] < both["judge_b"]]
    rows = []
    for (a, b), of in both.groupby(["judge_a", "judge_b"]):
        if len(of) < fewest:
            continue
        table = np.zeros((labels.n_grades, labels.n_grades))
        np.add.at(table, (of["grade_a"], of["grade_b"]), 1.0)
        kappa = se = np.nan
        agreed, chance = np.trace(table) / len(of), table.sum(axis=1) @ table.sum(axis=0)
        # counts are exact, shares are not
        if chance < len(of) ** 2:
            chance /= len(of) ** 2
            kappa = (agreed - chance) / (1.0 - chance)
            se = np.sqrt(agreed * (1.0 - agreed) / len(of)) / (1.0 - chance)
        rows.append((labels.judges[a], labels.judges[b], len(of), agreed, kappa, se))
    return pd.DataFrame(rows, columns=["a", "b", "pairs", "agreed", "kappa", "se"])
