"""Are the numbers right? Probabilities, intervals, confidences and samplers held to the truth."""

from __future__ import annotations

from rtc_bayes.calibration.coverage import against_truth, bias, coverage, pit
from rtc_bayes.calibration.predictive import LeaveOneOut, check_predictions, leave_one_out
from rtc_bayes.calibration.reliability import (
    Predictions,
    Scores,
    reliability,
    score,
    scores_by,
)
from rtc_bayes.calibration.studies import CalibrationStudy, calibrate, is_calibration

__all__ = [
    "CalibrationStudy",
    "LeaveOneOut",
    "Predictions",
    "Scores",
    "against_truth",
    "bias",
    "calibrate",
    "check_predictions",
    "coverage",
    "is_calibration",
    "leave_one_out",
    "pit",
    "reliability",
    "score",
    "scores_by",
]
