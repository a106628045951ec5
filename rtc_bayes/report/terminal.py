"""Results as text: to standard output, or to a file with its provenance beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import IO, TYPE_CHECKING

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table as Grid

from rtc_bayes.report.tables import Format, cells
from rtc_bayes.store import atomic_write, json_text, meta_path, write_csv, write_json

if TYPE_CHECKING:
    import pandas as pd

# In a file or a pipe a table has this width, in a terminal the terminal's, or what its names and
# numbers need: only headings and running text break into lines.
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


def titled(*lines: object) -> str:
    """Return a title of several lines, without those that say nothing.

    Examples
    --------
    >>> print(titled("AP of whole lists", None, "", "50 topics"))
    AP of whole lists
    50 topics
    """
    return "\n".join(str(line) for line in lines if line)


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
    wide = Console(file=file, highlight=False, markup=False, width=_NO_LIMIT)
    text, width = (console, console.width) if console.is_terminal else (wide, _WIDTH)
    for table in tables:
        if isinstance(table, Passage):
            text.print(table.title, *table.paragraphs, "", sep="\n")
            continue
        text.print(table.title)
        for grid in _grids(table, width, stacks=console.is_terminal):
            wide.print(grid)


@dataclass(frozen=True)
class _Column:
    """A column as text.

    Attributes
    ----------
    name : str
    numbers : bool
        Whether it stands to the right.
    texts : list of str
        Row by row.
    need, want : int
        The width without which a name or a number breaks, and that of a single line.
    """

    name: str
    numbers: bool
    texts: list[str]

    @cached_property
    def need(self) -> int:
        longest = max(map(cell_len, self.texts), default=0)
        if longest > _LONGEST_NAME and not self.numbers:
            words = max(cell_len(word) for text in self.texts for word in text.split())
            longest = max(words, _TEXT_WIDTH)
        return max(longest, *map(cell_len, self.name.split()), 0)

    @cached_property
    def want(self) -> int:
        return max(cell_len(self.name), *map(cell_len, self.texts), 0)


def _grids(table: Table, width: int, *, stacks: bool) -> Iterator[Grid]:
    """Lay a table out: in several parts, one below the other, if it `stacks` and is too wide."""
    rows = cells(table.frame, table.formats)
    columns = [
        _Column(str(name), name in table.formats, [row[number] for row in rows])
        for number, name in enumerate(table.frame.columns)
    ]
    for part in _parts(columns, width) if stacks else [columns]:
        grid = Grid(box=SIMPLE, pad_edge=False)
        for column, each in zip(part, _widths(part, width), strict=True):
            justify: JustifyMethod = "right" if column.numbers else "left"
            grid.add_column(column.name, justify=justify, overflow="fold", width=each)
        for row in zip(*(column.texts for column in part), strict=True):
            grid.add_row(*row)
        yield grid


def _parts(columns: list[_Column], width: int) -> list[list[_Column]]:
    """Part columns so that each part is no wider than need be; names before numbers are in all."""
    names = list(takewhile(lambda column: not column.numbers, columns[:-1]))
    parts = [[*names]]
    for column in columns[len(names) :]:
        if len(parts[-1]) > len(names) and _room([*parts[-1], column], width) < 0:
            parts.append([*names])
        parts[-1].append(column)
    return parts


def _room(columns: Sequence[_Column], width: int) -> int:
    """Return how much wider columns may be than they need."""
    return width - sum(column.need for column in columns) - 3 * len(columns) + 1


def _widths(columns: Sequence[_Column], width: int) -> list[int]:
    """Give each column what it needs, and then, from the left, what it would have."""
    room, widths = _room(columns, width), []
    for column in columns:
        more = min(column.want - column.need, max(room, 0))
        room -= more
        widths.append(column.need + more)
    return widths
