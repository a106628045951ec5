"""Where confidences can be trusted and where not: the scores of a study, group by group.

Carterette 2007, section 5, breaks its pairs down by how many of the two systems were judged for
(Table 3), by how much their lists overlap (Table 4), by the number of judgments, and by
collection (Table 5). It names a great deal more judgments of one system than of the other as what
makes confidences too high, without a table; here is one, of pairs and of trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import check_type, whole_number
from rtc_bayes.errors import InputError
from rtc_bayes.trials.scores import BINS, score_pairs

if TYPE_CHECKING:
    import pandas as pd

SURE = 0.9
"""Where the paper calls a pair sure; the low end of one of the bins."""

_ORIGINAL = ("two original", "one original", "no original")
_OVERLAP_EDGES = (0.0, 0.1, 0.2, 0.3, 1.0)
_IMBALANCE_EDGES = (0.5, 0.55, 0.6, 0.7, 1.0)
_JUDGED_QUANTILES = (0.1, 0.5)
_JUDGED = ("fewest tenth", "up to the median", "above the median")


def break_down(pairs: pd.DataFrame, group: pd.Series, *, seed: int = 0) -> pd.DataFrame:
    """Score the pairs of each algorithm and group.

    Parameters
    ----------
    pairs : DataFrame
        Columns trial, algorithm, confidence (NaN: none), correct.
    group : Series
        The group of each pair, on the index of `pairs`; none missing. Of categories, also those
        without a pair have a row.
    seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        One row for each algorithm and category, also an empty one: algorithm, group, pairs,
        trials (that have such pairs), and what :func:`score_row` gives.

    Examples
    --------
    >>> import pandas as pd
    >>> from rtc_bayes.robustness import break_down
    >>> pairs = pd.DataFrame(
    ...     {"trial": 0, "algorithm": "mtc", "confidence": [0.75, 0.75], "correct": [1, 0]}
    ... )
    >>> group = pd.Series(pd.Categorical(["alike", "unlike"]))
    >>> break_down(pairs, group)[["group", "W"]].to_numpy().tolist()
    [['alike', 1.0], ['unlike', -3.0]]
    """
    import pandas as pd

    whole_number("seed", seed)
    check_type(group, pd.Series, "group is", 'give a Series, as pairs["trial"]')
    group = group.astype("category")
    rows = []
    for algorithm in dict.fromkeys(pairs["algorithm"]):
        mine = pairs[pairs["algorithm"] == algorithm]
        for name in group.cat.categories:
            inside = mine[group.loc[mine.index] == name]
            scores = score_pairs(inside, seed=seed).to_dict()
            rows.append(
                {
                    "algorithm": algorithm,
                    "group": name,
                    "pairs": len(inside),
                    "trials": inside["trial"].nunique(),
                    **score_row(scores),
                }
            )
    return pd.DataFrame(rows)


def score_row(scores: Mapping[str, Any]) -> dict[str, float]:
    """Lay the scores of pairs out as numbers in a row; NaN where undefined.

    Parameters
    ----------
    scores : mapping of str to object
        An entry of ``summary.json``, or :meth:`PairScores.to_dict`.

    Returns
    -------
    dict of str to float
        accuracy; W, W_low, W_high (its interval); log_score; sure_share, sure_accuracy (of pairs
        of confidence 0.9 and more); share_LOW, accuracy_LOW of each bin by its low end
        (``share_0.5``).
    """
    low, high = scores["W_interval"] or (None, None)
    bins = scores["bins"] or [{"low": start, "share": None, "accuracy": None} for start, _ in BINS]
    # an empty bin has no accuracy, and weighs nothing
    sure = [(b["share"], b["accuracy"]) for b in bins if b["low"] >= SURE and b["share"]]
    sure_share = sum(share for share, _ in sure) if scores["bins"] else None
    row = {
        "accuracy": scores["accuracy"],
        "W": scores["W"],
        "W_low": low,
        "W_high": high,
        "log_score": scores["log_score"],
        "sure_share": sure_share,
        "sure_accuracy": sum(share * right for share, right in sure) / sure_share
        if sure_share
        else None,
    }
    for entry in bins:
        row[f"share_{entry['low']:g}"] = entry["share"]
        row[f"accuracy_{entry['low']:g}"] = entry["accuracy"]
    return {name: np.nan if value is None else float(value) for name, value in row.items()}


def by_original(pairs: pd.DataFrame) -> pd.Series:
    """Group pairs by how many of the two systems were judged for (Table 3)."""
    return _categories(2 - pairs["initial"].to_numpy(), _ORIGINAL, pairs)


def by_overlap(pairs: pd.DataFrame) -> pd.Series:
    """Group pairs by the share of documents that both retrieved (Table 4, and the rest)."""
    return _between(_OVERLAP_EDGES, pairs["overlap"], pairs)


def by_imbalance(pairs: pd.DataFrame) -> pd.Series:
    """Group pairs by the share of the judged documents in both lists that one list has."""
    return _between(_IMBALANCE_EDGES, _imbalance(pairs), pairs)


def by_initial_imbalance(pairs: pd.DataFrame) -> pd.Series:
    """Group pairs by the largest imbalance of two systems that their trial judged for.

    A trial whose initial systems are truly equal has no such pair, and counts as balanced.
    """
    initial = _imbalance(pairs).where(pairs["initial"] == 2)
    largest = initial.groupby([pairs["trial"], pairs["algorithm"]]).transform("max")
    return _between(_IMBALANCE_EDGES, largest.fillna(_IMBALANCE_EDGES[0]), pairs)


def by_judged(pairs: pd.DataFrame, trials: pd.DataFrame) -> pd.Series:
    """Group pairs by the number of judgments of their trial, among those of its algorithm.

    The paper looks at the tenth of the trials with the fewest judgments and at those above the
    median; the rest is a group of its own.

    Parameters
    ----------
    pairs : DataFrame
        Columns trial, algorithm.
    trials : DataFrame
        Columns trial, algorithm, judged.
    """
    keys = ["trial", "algorithm"]
    judged = pairs[keys].merge(trials[[*keys, "judged"]], how="left", on=keys)["judged"]
    limits = judged_limits(trials).loc[pairs["algorithm"]]
    above = judged.to_numpy()[:, None] > limits.to_numpy()
    return _categories(above.sum(axis=1), _JUDGED, pairs)


def judged_limits(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the 10th percentile and the median of the judgments of each algorithm's trials.

    Returns
    -------
    DataFrame
        Columns 0.1 and 0.5; a row for each algorithm.
    """
    import pandas as pd

    judged = trials.groupby("algorithm", sort=False)["judged"]
    return pd.DataFrame({quantile: judged.quantile(quantile) for quantile in _JUDGED_QUANTILES})


def _imbalance(pairs: pd.DataFrame) -> pd.Series:
    if pairs["imbalance"].isna().any():
        raise InputError(
            "the study was made by a version that did not keep the column imbalance of pairs.csv",
            remedy="run it again in another folder",
        )
    return pairs["imbalance"]


def _between(edges: Sequence[float], values: pd.Series, pairs: pd.DataFrame) -> pd.Series:
    """Group values by the edges they lie between, the lower one included."""
    names = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return _categories(np.searchsorted(edges[1:-1], values, side="right"), names, pairs)


def _categories(codes: NDArray[np.int64], names: Sequence[str], pairs: pd.DataFrame) -> pd.Series:
    """Return the names with these numbers as a categorical on the index of `pairs`."""
    import pandas as pd

    return pd.Series(pd.Categorical.from_codes(codes, list(names)), index=pairs.index)
