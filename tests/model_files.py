"""Relevance models in files of their own."""

from __future__ import annotations

from pathlib import Path

_MODEL = """
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from rtc_bayes import FitError
from rtc_bayes.relevance import PointEstimate

@dataclass(frozen=True)
class Written:
    name: ClassVar[str] = {name!r}
    methods: ClassVar[tuple[str, ...]] = ({method!r},)
    default_method: ClassVar[str] = {method!r}

    def {method}(self, judgments, *sampling):
        if {condition}:
            {statement}
        return PointEstimate(np.linspace(0.4, 0.1, judgments.pool.n_documents))
"""


def write_model(path: Path, condition: str, statement: str, method: str = "map") -> Path:
    """Write a model whose fit under a condition does something else than to fit."""
    parts = {"condition": condition, "statement": statement, "method": method}
    path.write_text(_MODEL.format(name=path.stem, **parts))
    return path
