"""Do two algorithms differ? Paired tests over the trials they share.

Carterette 2007, section 4.4.1: the number of judgments is skewed, so a Wilcoxon signed-rank test
compares it, and a paired t-test its mean; a paired t-test compares the rank correlations.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes.measures.scores import without_rounding

if TYPE_CHECKING:
    import pandas as pd


_COLUMNS = (
    "a",
    "b",
    "trials",
    "judged_difference",
    "judged_p",
    "judged_mean_difference",
    "judged_t_p",
    "tau_difference",
    "tau_p",
)


def compare_algorithms(trials: pd.DataFrame) -> pd.DataFrame:
    """Test every two algorithms against each other.

    Parameters
    ----------
    trials : DataFrame
        Columns trial, algorithm, judged, tau; without trials whose fits failed.

    Returns
    -------
    DataFrame
        One row for each pair: a, b, trials (that have both), judged_difference (median of
        a - b), judged_p (two-sided Wilcoxon signed-rank), judged_mean_difference, judged_t_p
        (two-sided paired t), tau_difference (mean of a - b), tau_p (two-sided paired t). A
        p-value is NaN where every difference is the same or only one trial has both, and so is a
        difference that no trial has both for.

    Examples
    --------
    >>> import pandas as pd
    >>> from rtc_bayes.robustness import compare_algorithms
    >>> trials = pd.DataFrame(
    ...     {
    ...         "trial": [0, 1, 2, 0, 1, 2],
    ...         "algorithm": ["mtc"] * 3 + ["rtc:map"] * 3,
    ...         "judged": [90, 120, 140, 40, 60, 70],
    ...         "tau": [0.5, 0.6, 0.7, 0.6, 0.6, 0.9],
    ...     }
    ... )
    >>> compare_algorithms(trials)["judged_mean_difference"].round(1).tolist()
    [60.0]
    """
    import pandas as pd

    rows: list[dict[str, object]] = []
    for a, b in combinations(dict.fromkeys(trials["algorithm"]), 2):
        both = (
            trials[trials["algorithm"] == a]
            .merge(trials[trials["algorithm"] == b], on="trial", suffixes=("_a", "_b"))
            .astype({"tau_a": float, "tau_b": float})
        )
        judged = (both["judged_a"] - both["judged_b"]).to_numpy(dtype=np.float64)
        tau = (both["tau_a"] - both["tau_b"]).dropna().to_numpy(dtype=np.float64)
        rows.append(
            {
                "a": a,
                "b": b,
                "trials": len(both),
                "judged_difference": float(np.median(judged)) if len(judged) else np.nan,
                "judged_p": _wilcoxon(judged),
                "judged_mean_difference": float(judged.mean()) if len(judged) else np.nan,
                "judged_t_p": _paired_t(judged),
                "tau_difference": float(tau.mean()) if len(tau) else np.nan,
                "tau_p": _paired_t(tau),
            }
        )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _wilcoxon(differences: np.ndarray) -> float:
    from scipy.stats import wilcoxon

    if len(differences) < 2 or not differences.any():
        return np.nan
    return float(wilcoxon(differences).pvalue)


def _paired_t(differences: np.ndarray) -> float:
    from scipy.stats import ttest_1samp

    differences = without_rounding(differences)
    if len(differences) < 2 or np.ptp(differences) == 0.0:
        return np.nan
    return float(ttest_1samp(differences, 0.0).pvalue)
