"""Are the numbers right? Probabilities, intervals, confidences and samplers held to the truth."""

from __future__ import annotations

from rtc_bayes.calibration.calibration_study import Calibration, CalibrationStudy, calibrate
from rtc_bayes.calibration.coverage import against_truth, bias, coverage, pit
from rtc_bayes.calibration.predictive import LeaveOneOut, check_predictions, leave_one_out
from rtc_bayes.calibration.reliability import (
    Predictions,
    Scores,
    reliability,
    score,
    scores_by,
)
from rtc_bayes.calibration.simulation_based import simulation_based_calibration

__all__ = [
    "Calibration",
    "CalibrationStudy",
    "LeaveOneOut",
    "Predictions",
    "Scores",
    "against_truth",
    "bias",
    "calibrate",
    "check_predictions",
    "coverage",
    "leave_one_out",
    "pit",
    "reliability",
    "score",
    "scores_by",
    "simulation_based_calibration",
]
