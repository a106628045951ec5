"""Results as text: to standard output, or to a file with its provenance beside it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid

from rtc_bayes.report.tables import Format, cells
from rtc_bayes.store import atomic_write, json_text, meta_path, write_csv, write_json

if TYPE_CHECKING:
    import pandas as pd

# In a file or a pipe a table has this width, or what its names and numbers need: only headings and
# running text break into lines.
_WIDTH = 100
_LONGEST_NAME = 24
_TEXT_WIDTH = 12
_NO_LIMIT = 10_000


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
    headings: Mapping[str, str] | None = None,
) -> None:
    """Write a frame as JSON, CSV or a table with a title; `output` as of :func:`write_tables`.

    `formats` are by the table's headings: the columns' names, unless `headings` has other words.
    """
    match kind:
        case "json":
            defined = frame.astype(object).where(frame.notna(), None)
            write_value(defined.to_dict("records"), output, provenance)
        case "csv":
            write_frame(frame, output, provenance)
        case "table":
            table = Table(title, frame.rename(columns=headings or {}), formats)
            write_tables([table], output, provenance)


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
    folds = console.is_terminal
    if not folds:
        console.width = _NO_LIMIT
    for table in tables:
        if isinstance(table, Passage):
            console.print(table.title, *table.paragraphs, "", sep="\n")
            continue
        console.print(table.title)
        console.print(_grid(table, None if folds else _WIDTH))


def _grid(table: Table, width: int | None) -> Grid:
    """Lay a table out; rich makes it as narrow as the terminal, where no width is given."""
    grid = Grid(box=SIMPLE, pad_edge=False)
    rows = cells(table.frame, table.formats)
    names = [str(name) for name in table.frame.columns]
    right = [name in table.formats for name in table.frame.columns]
    widths = [None] * len(names) if width is None else _widths(names, right, rows, width)
    for name, numbers, each in zip(names, right, widths, strict=True):
        grid.add_column(name, justify="right" if numbers else "left", overflow="fold", width=each)
    for row in rows:
        grid.add_row(*row)
    return grid


def _widths(
    names: Sequence[str], right: Sequence[bool], rows: Sequence[Sequence[str]], width: int
) -> list[int]:
    """Give each column what it needs, and then, from the left, what it would have."""
    needs, wants = [], []
    for column, name in enumerate(names):
        texts = [row[column] for row in rows]
        longest = max(map(cell_len, texts), default=0)
        if longest > _LONGEST_NAME and not right[column]:
            words = max(cell_len(word) for text in texts for word in text.split())
            least = max(words, _TEXT_WIDTH)
        else:
            least = longest
        needs.append(max(least, *map(cell_len, name.split()), 0))
        wants.append(max(longest, cell_len(name)))
    room = width - sum(needs) - 3 * len(names) + 1
    widths = []
    for need, want in zip(needs, wants, strict=True):
        more = min(want - need, max(room, 0))
        room -= more
        widths.append(need + more)
    return widths
