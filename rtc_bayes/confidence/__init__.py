"""From moments, or sampled outcomes, to the probability that one system beats another."""

from __future__ import annotations

from rtc_bayes.confidence.assessors import assessor_confusion, second_assessor
from rtc_bayes.confidence.comparing import compare
from rtc_bayes.confidence.comparison import Comparison
from rtc_bayes.confidence.comparisons import Comparisons
from rtc_bayes.confidence.forecasting import forecast
from rtc_bayes.confidence.forms import corrected, from_outcomes, normal
from rtc_bayes.confidence.pair import Pair
from rtc_bayes.confidence.ranks import rank_systems
from rtc_bayes.confidence.rule import choose
from rtc_bayes.confidence.topics import topic_differences

__all__ = [
    "Comparison",
    "Comparisons",
    "Pair",
    "assessor_confusion",
    "choose",
    "compare",
    "corrected",
    "forecast",
    "from_outcomes",
    "normal",
    "rank_systems",
    "second_assessor",
    "topic_differences",
]
