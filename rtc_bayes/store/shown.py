"""A result as people see it: tables in a notebook, which the report makes, words in a terminal."""

from __future__ import annotations

import re
from importlib import import_module


class Shown:
    """A result that a notebook shows as HTML; the report, which stands above it, says how."""

    def _repr_html_(self) -> str:
        html: str = import_module("rtc_bayes.report.notebook").html_of(self)
        return html


def in_words(result: object) -> str:
    """Say what a result prints of itself, with words for the names of classes.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> in_words(rb.Qrels({"401": {"d1": 1, "d2": 0}}))
    'Qrels: 1 topics, 2 judged, 1 relevant at level 1'
    """
    shown = re.fullmatch(r"(\w+)\((.*)\)", repr(result), re.DOTALL)
    if shown is None:
        return repr(result)
    parts = re.sub(r"^( +)(\w+)\((.*)\)$", _named, shown[2], flags=re.MULTILINE)
    return f"{_spaced(shown[1]).capitalize()}: {parts}"


def _named(part: re.Match[str]) -> str:
    return f"{part[1]}{_spaced(part[2])}: {part[3]}"


def _spaced(name: str) -> str:
    """Part the words of a class's name."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return words.replace("hold out", "hold-out")
