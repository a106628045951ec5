"""Predicting the relevance of unjudged documents: models, their layers, and how they are fitted."""

from __future__ import annotations

from rtc_bayes.relevance.fit import Fit, fit
from rtc_bayes.relevance.fitters import available_methods, estimate, resolve_method
from rtc_bayes.relevance.interface import Diagnostics, PointEstimate, RelevanceModel, Stage
from rtc_bayes.relevance.options import Option, check_options, require
from rtc_bayes.relevance.registry import ModelInfo, available_models, load_model, model_info
from rtc_bayes.relevance.spec import ModelSpec

__all__ = [
    "Diagnostics",
    "Fit",
    "ModelInfo",
    "ModelSpec",
    "Option",
    "PointEstimate",
    "RelevanceModel",
    "Stage",
    "available_methods",
    "available_models",
    "check_options",
    "estimate",
    "fit",
    "load_model",
    "model_info",
    "require",
    "resolve_method",
]
