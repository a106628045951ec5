"""Tables, figures and the HTML report.

The public name loads on first use: a table on a terminal needs no figures.
"""

from __future__ import annotations

from typing import Any

__all__ = ["write_report"]


def __getattr__(name: str) -> Any:
    if name != "write_report":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rtc_bayes.report.html import write_report

    return write_report


def __dir__() -> list[str]:
    return __all__
