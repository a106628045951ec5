"""Predicting the relevance of unjudged documents: models, their layers, and how they are fitted."""

from __future__ import annotations

from rtc_bayes.relevance.fit import Fit, fit
from rtc_bayes.relevance.fitters import available_methods, estimate, is_sampler, resolve_method
from rtc_bayes.relevance.interface import (
    Check,
    Diagnostics,
    Draws,
    PointEstimate,
    RelevanceModel,
    Sampling,
    Stage,
)
from rtc_bayes.relevance.options import Option, check_options, require
from rtc_bayes.relevance.registry import ModelInfo, available_models, load_model, model_info
from rtc_bayes.relevance.spec import ModelSpec

__all__ = [
    "Check",
    "Diagnostics",
    "Draws",
    "Fit",
    "ModelInfo",
    "ModelSpec",
    "Option",
    "PointEstimate",
    "RelevanceModel",
    "Sampling",
    "Stage",
    "available_methods",
    "available_models",
    "check_options",
    "estimate",
    "fit",
    "is_sampler",
    "load_model",
    "model_info",
    "require",
    "resolve_method",
]
