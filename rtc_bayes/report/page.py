"""What a comparison or a kind of study shows: a page, and the tables that are written beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from rtc_bayes.report.tables import Format

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StudyTable:
    """A table: what it holds, and how people read it.

    It is made once and written everywhere: in the report, and as CSV, Markdown and LaTeX.

    Attributes
    ----------
    name : str
        Of its files, without an ending.
    caption : str
        What it shows.
    data : DataFrame
        Its numbers as they are, one row for each thing.
    shown : DataFrame
        The same as people read it.
    formats : mapping of str to Format
        How columns of `shown` are written.
    """

    name: str
    caption: str
    data: pd.DataFrame
    shown: pd.DataFrame
    formats: Mapping[str, Format] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """The report of a comparison or a study.

    Attributes
    ----------
    title : str
        Of the window.
    body : str
        HTML without its frame; :mod:`rtc_bayes.report.elements` has its pieces.
    tables : mapping of str to StudyTable
        Written beside the page.

    Examples
    --------
    >>> from rtc_bayes.report.page import Page
    >>> Page("My study", "<h1>Results</h1>", {}).title
    'My study'
    """

    title: str
    body: str
    tables: Mapping[str, StudyTable]


def whole_page(page: Page) -> str:
    """Return a page with its frame: HTML that needs nothing else."""
    template = Template((files("rtc_bayes.report") / "template.html").read_text("utf-8"))
    return template.substitute(title=f"{page.title} – rtc-bayes", body=page.body)


def by_name(tables: Iterable[StudyTable]) -> dict[str, StudyTable]:
    """Return tables by name, in their order; empty ones are left out."""
    return {table.name: table for table in tables if len(table.data)}
