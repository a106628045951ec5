"""Which topics tell systems apart as all topics do? (Hosseini 2013)."""

from __future__ import annotations

from rtc_bayes.topics.selection import TopicSelection, select_topics

__all__ = ["TopicSelection", "select_topics"]
