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
    methods: ClassVar[tuple[str, ...]] = ("map",)
    default_method: ClassVar[str] = "map"

    def map(self, judgments):
        if {condition}:
            {statement}
        return PointEstimate(np.linspace(0.4, 0.1, judgments.pool.n_documents))
"""


def write_model(path: Path, condition: str, statement: str) -> Path:
    """Write a model whose fit under a condition does something else than to fit."""
    path.write_text(_MODEL.format(name=path.stem, condition=condition, statement=statement))
    return path
