"""Robust test collections: predict relevance from rankings, and trust the comparison.

The public names load on first use, so that ``import rtc_bayes`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "CollectionWarning": "errors",
    "FitError": "errors",
    "FitWarning": "errors",
    "InputError": "errors",
    "UnfinishedError": "errors",
    "Judgments": "collection",
    "Pool": "collection",
    "Probabilities": "collection",
    "Qrels": "collection",
    "Relevance": "collection",
    "Run": "collection",
    "Runs": "collection",
    "Scores": "collection",
    "read_erels": "collection",
    "read_prels": "collection",
    "read_qrels": "collection",
    "read_runs": "collection",
    "read_scores": "collection",
    "write_erels": "collection",
    "write_qrels": "collection",
    "write_run": "collection",
    "write_runs": "collection",
    "Estimand": "measures",
    "Moments": "measures",
    "ScoreMatrix": "measures",
    "evaluate": "measures",
    "incomplete": "measures.incomplete",
    "moments": "measures",
    "sample_scores": "measures",
    "Comparison": "confidence",
    "compare": "confidence",
    "forecast": "confidence",
    "rank_systems": "confidence",
    "topic_differences": "confidence",
    "Fit": "relevance",
    "available_models": "relevance",
    "fit": "relevance",
    "load_model": "relevance",
    "build": "judging",
    "next_documents": "judging",
    "simulate": "collection.simulate",
    "Workers": "workers",
}

__all__ = sorted([*_EXPORTS, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
