"""Measures as functions of relevance: true scores, moments, and scores of sampled relevance.

The public names load on first use: reading scores needs no compiled kernel.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_EXPORTS = {
    "Estimand": "estimand",
    "Measure": "names",
    "Moments": "pool_moments",
    "ScoreMatrix": "scores",
    "ScoreTable": "truth",
    "evaluate": "truth",
    "has_moments": "names",
    "moments": "pool_moments",
    "parse_measure": "names",
    "sample_scores": "montecarlo",
}

__all__ = sorted(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
