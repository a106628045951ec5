"""Judges that err: crowds and panels of language models."""

from __future__ import annotations

from rtc_bayes.crowd.panel import Panel, PanelPrior, fit_panel
from rtc_bayes.crowd.panel_checks import (
    Checks,
    draw_checks,
    expected_gain,
    suggest_checks,
)

__all__ = [
    "Checks",
    "Panel",
    "PanelPrior",
    "draw_checks",
    "expected_gain",
    "fit_panel",
    "suggest_checks",
]
