"""Results as text: to standard output, or to a file with its provenance beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import IO, TYPE_CHECKING, Literal

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table as Grid

from rtc_bayes.report.tables import Format, cells, markdown_text, to_latex, to_markdown
from rtc_bayes.store import atomic_write, json_text, meta_path, rows_of, write_csv, write_json

if TYPE_CHECKING:
    import pandas as pd

# In a file or a pipe a table has this width, in a terminal the terminal's, or what its names and
# numbers need: only headings and running text break into lines.
_WIDTH = 100
_LONGEST_NAME = 24
_TEXT_WIDTH = 12
_NO_LIMIT = 10_000


type TextKind = Literal["latex", "markdown"]


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
    """Write a frame as JSON, CSV, or a table with a title: see :func:`write_tables`.

    `formats` are by the table's headings: the columns' names, unless `headings` has other words.
    """
    match kind:
        case "json":
            write_value(rows_of(frame), output, provenance)
        case "csv":
            write_frame(frame, output, provenance)
        case "table" | "latex" | "markdown":
            table = Table(title, frame.rename(columns=headings or {}), formats)
            write_tables([table], output, provenance, kind)


def write_tables(
    tables: Sequence[Table | Passage],
    output: str | None,
    provenance: Mapping[str, object],
    kind: Literal["table", "latex", "markdown"] = "table",
) -> None:
    """Write tables, to standard output if `output` is None.

    Parameters
    ----------
    tables : sequence of Table or Passage
    output : str or None
        A file.
    provenance : mapping of str to object
        Written beside the file.
    kind : {"table", "latex", "markdown"}
        As a terminal shows them, or as :func:`tables_text` writes them.
    """
    if output is None:
        _put(tables, sys.stdout, kind)
        return
    with atomic_write(output) as file:
        _put(tables, file, kind)
    write_json(provenance, meta_path(output))


def tables_text(tables: Sequence[Table | Passage], kind: TextKind) -> str:
    r"""Return tables as LaTeX or Markdown, with numbers as a terminal shows them.

    In LaTeX each is a tabular with booktabs rules, below its title in comments. In Markdown each
    is a pipe table below its title.

    Parameters
    ----------
    tables : sequence of Table or Passage
    kind : {"latex", "markdown"}

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table("1 topic", pd.DataFrame({"system": ["a_b"], "AP": [0.25]}), {"AP": ".4f"})
    >>> print(tables_text([table], "latex"), end="")
    % needs \usepackage{booktabs}
    % 1 topic
    \begin{tabular}{lr}
    \toprule
    system & AP \\
    \midrule
    a\_b & 0.2500 \\
    \bottomrule
    \end{tabular}
    >>> print(tables_text([table], "markdown"), end="")
    1 topic
    <BLANKLINE>
    | system | AP |
    | --- | ---: |
    | a_b | 0.2500 |
    """
    if kind == "latex":
        return "% needs \\usepackage{booktabs}\n" + "\n".join(map(_latex_of, tables))
    return "\n".join(map(_markdown_of, tables))


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


def _put(tables: Sequence[Table | Passage], file: IO[str], kind: str) -> None:
    match kind:
        case "latex" | "markdown":
            file.write(tables_text(tables, kind))
        case _:
            _print(tables, file)


def _lines(table: Table | Passage) -> list[str]:
    """Return the lines of a title, and those of a passage below it."""
    more = table.paragraphs if isinstance(table, Passage) else ()
    return [line for text in (table.title, *more) for line in text.splitlines() if line]


def _latex_of(table: Table | Passage) -> str:
    comments = "".join(f"% {line}\n" for line in _lines(table))
    return comments + (to_latex(table.frame, table.formats) if isinstance(table, Table) else "")


def _markdown_of(table: Table | Passage) -> str:
    paragraphs = "\n".join(f"{markdown_text(line)}\n" for line in _lines(table))
    if isinstance(table, Passage):
        return paragraphs
    return f"{paragraphs}\n{to_markdown(table.frame, table.formats)}"


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
