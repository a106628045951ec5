"""Judges: who chooses the next document. One file a judge, found by name or by file."""

from __future__ import annotations

from rtc_bayes.judging.judges.active_sampling import ActiveSampling
from rtc_bayes.judging.judges.bandits import MaxMean, MaxMeanNonStationary
from rtc_bayes.judging.judges.depth_pooling import DepthPooling
from rtc_bayes.judging.judges.interface import (
    Chooser,
    Judge,
    confidence_of,
    takes_measure,
)
from rtc_bayes.judging.judges.move_to_front import MoveToFront
from rtc_bayes.judging.judges.pooling import IncrementalPooling
from rtc_bayes.judging.judges.random_sample import RandomSample
from rtc_bayes.judging.judges.rank_variance import RankVariance
from rtc_bayes.judging.judges.registry import available_judges, judge_class, load_judge
from rtc_bayes.judging.judges.weighted import MTC, ModelJudge

__all__ = [
    "MTC",
    "ActiveSampling",
    "Chooser",
    "DepthPooling",
    "IncrementalPooling",
    "Judge",
    "MaxMean",
    "MaxMeanNonStationary",
    "ModelJudge",
    "MoveToFront",
    "RandomSample",
    "RankVariance",
    "available_judges",
    "confidence_of",
    "judge_class",
    "load_judge",
    "takes_measure",
]
