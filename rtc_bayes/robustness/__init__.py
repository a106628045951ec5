"""Can confidences be trusted when new systems arrive? Trials, W, bins, rank correlation.

Carterette 2007, sections 4.3 to 5.
"""

from __future__ import annotations

from rtc_bayes.moved import moved_names
from rtc_bayes.robustness.breakdown import break_down
from rtc_bayes.robustness.demonstration import Demo, demo
from rtc_bayes.robustness.robustness_study import Robustness, Study, side_by_side, study
from rtc_bayes.robustness.significance import compare_algorithms
from rtc_bayes.trials.scores import Summary, summarise

__all__ = [
    "Demo",
    "Robustness",
    "Study",
    "Summary",
    "break_down",
    "compare_algorithms",
    "demo",
    "side_by_side",
    "study",
    "summarise",
]

__getattr__ = moved_names(
    __name__,
    {
        "Design": "trials.Plan",
        "design": "trials.plan",
        "running": "trials.running",
        "scores": "trials.scores",
        "studies": "robustness.robustness_study",
        "trial": "trials.trial",
    },
)
