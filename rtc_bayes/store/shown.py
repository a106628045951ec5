"""What a notebook shows of a result: tables, which the report makes."""

from __future__ import annotations

from importlib import import_module


class Shown:
    """A result that a notebook shows as HTML; the report, which stands above it, says how."""

    def _repr_html_(self) -> str:
        html: str = import_module("rtc_bayes.report.notebook").html_of(self)
        return html
