"""Are the numbers right? Probabilities, intervals, confidences and samplers held to the truth."""

from __future__ import annotations

from rtc_bayes.calibration.calibration_study import Calibration, CalibrationStudy, calibrate
from rtc_bayes.calibration.coverage import against_truth, bias, coverage, pit
from rtc_bayes.calibration.predictive import LeaveOneOut, check_predictions, leave_one_out
from rtc_bayes.calibration.reliability import (
    Predictions,
    ReliabilityScores,
    reliability,
    score,
    scores_by,
)
from rtc_bayes.calibration.simulation_based import simulation_based_calibration
from rtc_bayes.moved import moved_names

__all__ = [
    "Calibration",
    "CalibrationStudy",
    "LeaveOneOut",
    "Predictions",
    "ReliabilityScores",
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

__getattr__ = moved_names(
    __name__,
    {
        "Scores": "calibration.ReliabilityScores",
        "is_calibration": "trials.load_study",
        "studies": "calibration.calibration_study",
        "trial": "trials.trial",
        "truth": "trials.complete",
    },
)
