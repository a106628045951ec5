"""Expected scores and differences held to the truth: what scripts without studies share."""

from __future__ import annotations

import pandas as pd

from experiments.common import covered
from rtc_bayes import Comparison
from rtc_bayes.trials.scores import kendall_tau, log_score


def held(comparison: Comparison, truth: pd.Series) -> dict[str, float | None]:
    """Bias, what 95% intervals hold, order, confidence and accuracy of a comparison.

    Pairs that are truly equal do not count.
    """
    systems, pairs = comparison.systems_frame(), comparison.to_frame()
    systems = systems.assign(true=truth[systems["system"]].to_numpy())
    apart = truth[pairs["a"]].to_numpy() - truth[pairs["b"]].to_numpy()
    pairs = pairs.assign(true_difference=apart)[apart != 0.0]
    correct = pairs["expected_difference"] * pairs["true_difference"] > 0.0
    return {
        "bias": (systems["expected"] - systems["true"]).mean(),
        "scores held": covered(systems, "expected", "true", 0.95),
        "differences held": covered(pairs, "expected_difference", "true_difference", 0.95),
        "tau": kendall_tau(systems["expected"], systems["true"]),
        "log score": log_score(pairs["confidence"], correct).mean(),
        "confidence": pairs["confidence"].mean(),
        "accuracy": correct.mean(),
    }
