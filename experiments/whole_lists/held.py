"""Expected scores and differences held to the truth: what scripts without studies share."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from rtc_bayes import Comparison
from rtc_bayes.trials.scores import log_score


def held(comparison: Comparison, truth: pd.Series) -> dict[str, float]:
    """Bias, what 95% intervals hold, order, confidence and accuracy of a comparison.

    Pairs that are truly equal do not count.
    """
    of_systems = truth[[*comparison.systems]].to_numpy()
    error = comparison.expected - of_systems
    pairs = comparison.to_frame()
    true = truth[pairs["a"]].to_numpy() - truth[pairs["b"]].to_numpy()
    pairs, true = pairs[true != 0.0], true[true != 0.0]
    off = (pairs["expected_difference"] - true).abs()
    correct = pairs["expected_difference"] * true > 0.0
    return {
        "bias": error.mean(),
        "scores held": (np.abs(error) < 1.96 * comparison.sd).mean(),
        "differences held": (off < 1.96 * pairs["sd"]).mean(),
        "tau": kendalltau(comparison.expected, of_systems).statistic,
        "log score": log_score(pairs["confidence"], correct).mean(),
        "confidence": pairs["confidence"].mean(),
        "accuracy": correct.mean(),
    }
