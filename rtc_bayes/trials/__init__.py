"""Studies: many trials on a collection with complete judgments, whatever is asked of them.

A :class:`Plan` says what is done, :func:`outcomes` runs one trial, a :class:`Kind` says what is
kept of it, and :func:`run_study` runs them all: on any workers, stored one by one, resumed.
"""

from __future__ import annotations

from rtc_bayes.trials.complete import Collection
from rtc_bayes.trials.drawing import Draw, draw_systems, groups_left_out
from rtc_bayes.trials.kind import Kind, StudyResult, load_study
from rtc_bayes.trials.plan import MomentsRule, Plan
from rtc_bayes.trials.running import run_study
from rtc_bayes.trials.schema import columns
from rtc_bayes.trials.trial import Outcome, Prediction, outcomes, quietly

__all__ = [
    "Collection",
    "Draw",
    "Kind",
    "MomentsRule",
    "Outcome",
    "Plan",
    "Prediction",
    "StudyResult",
    "columns",
    "draw_systems",
    "groups_left_out",
    "load_study",
    "outcomes",
    "quietly",
    "run_study",
]
