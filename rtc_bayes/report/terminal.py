"""Results as text: to standard output, or to a file with its provenance beside it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Grid

from rtc_bayes.report.tables import Format, cells
from rtc_bayes.store import atomic_write, json_text, meta_path, write_csv, write_json

if TYPE_CHECKING:
    import pandas as pd

# A table in a file or a pipe is never folded.
_WIDE = 10_000


@dataclass(frozen=True)
class Table:
    """A frame to be read by a person.

    Attributes
    ----------
    title : str
    frame : DataFrame
    formats : mapping of str to Format
        How columns of numbers are written; they stand to the right.
    """

    title: str
    frame: pd.DataFrame
    formats: Mapping[str, Format] = field(default_factory=dict)


@dataclass(frozen=True)
class Passage:
    """Text to be read by a person, between tables.

    Attributes
    ----------
    title : str
    paragraphs : tuple of str
    """

    title: str
    paragraphs: tuple[str, ...]


def show_frame(
    frame: pd.DataFrame,
    kind: str,
    output: str | None,
    provenance: Mapping[str, object],
    title: str,
    formats: Mapping[str, Format],
) -> None:
    """Write a frame as JSON, CSV or a table with a title; `output` as of :func:`write_tables`."""
    match kind:
        case "json":
            defined = frame.astype(object).where(frame.notna(), None)
            write_value(defined.to_dict("records"), output, provenance)
        case "csv":
            write_frame(frame, output, provenance)
        case "table":
            write_tables([Table(title, frame, formats)], output, provenance)


def write_tables(
    tables: Sequence[Table | Passage], output: str | None, provenance: Mapping[str, object]
) -> None:
    """Write tables, to standard output if `output` is None."""
    if output is None:
        _print(tables, sys.stdout)
        return
    with atomic_write(output) as file:
        _print(tables, file)
    write_json(provenance, meta_path(output))


def write_frame(frame: pd.DataFrame, output: str | None, provenance: Mapping[str, object]) -> None:
    """Write a frame as CSV, to standard output if `output` is None."""
    if output is None:
        sys.stdout.write(frame.to_csv(index=False, lineterminator="\n"))
    else:
        write_csv(frame, output, provenance)


def write_value(value: object, output: str | None, provenance: Mapping[str, object] | None) -> None:
    """Write a value as JSON, to standard output if `output` is None.

    `provenance` is None where the value holds it.
    """
    if output is None:
        sys.stdout.write(json_text(value))
        return
    write_json(value, output)
    if provenance is not None:
        write_json(provenance, meta_path(output))


def _print(tables: Sequence[Table | Passage], file: IO[str]) -> None:
    console = Console(file=file, highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDE
    for table in tables:
        if isinstance(table, Passage):
            console.print(table.title, *table.paragraphs, "", sep="\n")
            continue
        grid = Grid(box=SIMPLE, pad_edge=False)
        for column in table.frame.columns:
            right = column in table.formats
            grid.add_column(str(column), justify="right" if right else "left", overflow="fold")
        for row in cells(table.frame, table.formats):
            grid.add_row(*row)
        console.print(table.title)
        console.print(grid)
