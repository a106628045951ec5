"""Is a test collection reusable? Hold-out designs, and what they say (Carterette et al. 2010)."""

from __future__ import annotations

from rtc_bayes.reuse.analysis import Reusability, reusability
from rtc_bayes.reuse.counts import DesignCounts, design_counts, design_table
from rtc_bayes.reuse.design import groups_with_runs, hold_out
from rtc_bayes.reuse.expected import expected_scores
from rtc_bayes.reuse.left_out import LeftOut, leave_group_out
from rtc_bayes.reuse.loss_posterior import LossPosterior, loss_posterior
from rtc_bayes.reuse.masking import judged_under
from rtc_bayes.reuse.pilot import pilot_power
from rtc_bayes.reuse.power import power_of_t
from rtc_bayes.reuse.scoring import scores_under

__all__ = [
    "DesignCounts",
    "LeftOut",
    "LossPosterior",
    "Reusability",
    "design_counts",
    "design_table",
    "expected_scores",
    "groups_with_runs",
    "hold_out",
    "judged_under",
    "leave_group_out",
    "loss_posterior",
    "pilot_power",
    "power_of_t",
    "reusability",
    "scores_under",
]
