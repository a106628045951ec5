"""Pages and tables as files: HTML, CSV with the numbers as they are, Markdown and LaTeX as read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rtc_bayes.report.page import Page, StudyTable, whole_page
from rtc_bayes.report.tables import to_latex, to_markdown
from rtc_bayes.store import atomic_write, make_folder, write_csv, write_text

TABLES = "tables"


def write_page(page: Page, path: Path, meta: Mapping[str, Any]) -> Path:
    """Write a page, and its tables into a folder ``tables`` beside it.

    Parameters
    ----------
    page : Page
    path : Path
        The HTML file; its folder is made if absent.
    meta : mapping of str to object
        Provenance.

    Returns
    -------
    Path
        The HTML file.
    """
    make_folder(path.parent)
    write_text(whole_page(page), path)
    export_tables(page.tables.values(), path.parent / TABLES, meta)
    return path


def export_tables(tables: Iterable[StudyTable], folder: Path, meta: Mapping[str, Any]) -> None:
    """Write each table as ``NAME.csv``, ``NAME.md`` and ``NAME.tex``.

    Parameters
    ----------
    tables : iterable of StudyTable
    folder : Path
        Made if absent; files of these names in it are replaced.
    meta : mapping of str to object
        Provenance of the study: beside each CSV, and its command in a comment in the others.
    """
    make_folder(folder)
    origin = f"rtc-bayes {meta['version']}, seed {meta['seed']}: {meta['command'] or 'from Python'}"
    for table in tables:
        stem = folder / table.name
        write_csv(table.data, f"{stem}.csv", meta)
        with atomic_write(f"{stem}.md") as file:
            file.write(f"<!-- {origin} -->\n{table.caption}\n\n")
            file.write(to_markdown(table.shown, table.formats))
        with atomic_write(f"{stem}.tex") as file:
            # the tabular takes whatever \\caption the paper gives it; it needs booktabs
            file.write(f"% {origin}\n% {table.caption}\n")
            file.write(to_latex(table.shown, table.formats))
