"""Judges that err: crowds and panels of language models."""

from __future__ import annotations

from rtc_bayes.crowd.aggregation import Aggregate, aggregate
from rtc_bayes.crowd.agreement import Agreement, agreement, kappas
from rtc_bayes.crowd.hierarchical import CrowdPrior
from rtc_bayes.crowd.judge_table import judge_table
from rtc_bayes.crowd.next_labels import suggest_labels
from rtc_bayes.crowd.panel import Panel, PanelPrior, fit_panel
from rtc_bayes.crowd.panel_checks import (
    Checks,
    draw_checks,
    expected_gain,
    suggest_checks,
)
from rtc_bayes.crowd.simulation import simulate_labels

__all__ = [
    "Aggregate",
    "Agreement",
    "Checks",
    "CrowdPrior",
    "Panel",
    "PanelPrior",
    "aggregate",
    "agreement",
    "draw_checks",
    "expected_gain",
    "fit_panel",
    "judge_table",
    "kappas",
    "simulate_labels",
    "suggest_checks",
    "suggest_labels",
]
