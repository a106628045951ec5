"""Judges: who chooses the next document. One file a judge, found by name or by file."""

from __future__ import annotations

from rtc_bayes.judging.judges.interface import Chooser, Judge
from rtc_bayes.judging.judges.pooling import IncrementalPooling
from rtc_bayes.judging.judges.registry import available_judges, judge_class, load_judge
from rtc_bayes.judging.judges.weighted import MTC, ModelJudge

__all__ = [
    "MTC",
    "Chooser",
    "IncrementalPooling",
    "Judge",
    "ModelJudge",
    "available_judges",
    "judge_class",
    "load_judge",
]
