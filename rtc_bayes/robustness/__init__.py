"""Can confidences be trusted when new systems arrive? Trials, W, bins, rank correlation.

Carterette 2007, sections 4.3 to 5.
"""

from __future__ import annotations

from rtc_bayes.robustness.breakdown import break_down, side_by_side
from rtc_bayes.robustness.demonstration import Demo, demo
from rtc_bayes.robustness.design import Design
from rtc_bayes.robustness.scores import Summary, summarise
from rtc_bayes.robustness.significance import compare_algorithms
from rtc_bayes.robustness.studies import Study, study

__all__ = [
    "Demo",
    "Design",
    "Study",
    "Summary",
    "break_down",
    "compare_algorithms",
    "demo",
    "side_by_side",
    "study",
    "summarise",
]
