"""Which topics tell systems apart as all topics do? (Hosseini 2013)."""

from __future__ import annotations

from rtc_bayes.moved import moved_names
from rtc_bayes.topics.adaptive import (
    AdaptiveSelection,
    rank_topics,
    select_adaptively,
    suggest_topics,
)
from rtc_bayes.topics.allocation import (
    JudgmentAllocation,
    RunReuse,
    extend,
    mean_average_reuse,
    unjudged_documents,
)
from rtc_bayes.topics.newbestsub import TopicSet, read_newbestsub
from rtc_bayes.topics.selection import TopicSelection, select_topics
from rtc_bayes.topics.staged_allocation import StagedAllocation, allocate
from rtc_bayes.topics.variability import VariabilityComparison, compare_variability

__all__ = [
    "AdaptiveSelection",
    "JudgmentAllocation",
    "RunReuse",
    "StagedAllocation",
    "TopicSelection",
    "TopicSet",
    "VariabilityComparison",
    "allocate",
    "compare_variability",
    "extend",
    "mean_average_reuse",
    "rank_topics",
    "read_newbestsub",
    "select_adaptively",
    "select_topics",
    "suggest_topics",
    "unjudged_documents",
]

__getattr__ = moved_names(__name__, {"allocate_judgments": "extend"})
