"""From a file to checked rows of fields: the one place that knows line numbers."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtc_bayes.errors import InputError

_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class Layout:
    """The fields of a line of a kind of file."""

    kind: str
    fields: tuple[str, ...]
    command: str = ""

    def __str__(self) -> str:
        return f"{self.kind} ({' '.join(self.fields)})"


RUN = Layout("run", ("topic", "Q0", "docno", "rank", "score", "tag"), "give it as a run")
QRELS = Layout("qrels", ("topic", "iteration", "docno", "relevance"), "give it as --qrels")
SCORES = Layout("scores", ("topic", "docno", "score"))
ERELS = Layout("erels", ("topic", "Q0", "docno", "probability"), "give it as --erels")
PRELS = Layout(
    "prels", ("topic", "docno", "relevance", "algorithm", "probability"), "read it as prels"
)


class Rows:
    """The rows of one text file, all with the fields of a layout.

    Parameters
    ----------
    path : Path
        A plain or gzipped file in UTF-8.
    layout : Layout

    Attributes
    ----------
    data : bytes
        The file's content, decompressed.

    Raises
    ------
    InputError
        The file cannot be read, is empty, is not UTF-8, or a line has other fields. Blank lines
        hold nothing and pass.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path = path
        self.layout = layout
        self.data = _read_bytes(path)
        rows = list(map(bytes.split, self.data.split(b"\n")))
        expected = len(layout.fields)
        if set(map(len, rows)) - {0, expected}:
            line = next(i for i, row in enumerate(rows, 1) if len(row) not in (0, expected))
            found = len(rows[line - 1])
            raise InputError(
                f"{found} fields where a {layout} has {expected}",
                path=path,
                line=line,
                remedy=_guess(rows[line - 1], layout),
            )
        self._rows = [row for row in rows if row]
        if not self._rows:
            raise InputError(f"the file is empty; a {layout.kind} has lines", path=path)
        self._columns = list(zip(*self._rows, strict=True))

    def column(self, name: str) -> Sequence[bytes]:
        """Return one field of all rows."""
        return self._columns[self.layout.fields.index(name)]

    def text(self, name: str) -> list[str]:
        """Return one field of all rows as text; equal texts are one object."""
        known: dict[bytes, str] = {}
        column = self.column(name)
        for field in set(column):
            known[field] = field.decode()
        return [known[field] for field in column]

    def numbers[Number: (int, float)](
        self,
        name: str,
        parse: Callable[[bytes], Number],
        what: str,
        accept: Callable[[Number], bool] = lambda number: True,
    ) -> list[Number]:
        """Parse one field of all rows.

        Raises
        ------
        InputError
            Names the line of the first field that does not parse or is not accepted.
        """
        column = self.column(name)
        try:
            numbers = list(map(parse, column))
            if all(map(accept, numbers)):
                return numbers
        except (ValueError, OverflowError):
            pass
        position = next(i for i, f in enumerate(column) if not _accepted(f, parse, accept))
        text = column[position].decode()
        raise InputError(
            f"{name} {text!r} is not {what}",
            path=self.path,
            line=self.line(position),
            remedy=self._other_kind(),
        )

    def line(self, position: int) -> int:
        """Line number, from 1, of a row given by its position among the rows."""
        filled = (i for i, line in enumerate(self.data.split(b"\n"), 1) if line.split())
        return next(line for k, line in enumerate(filled) if k == position)

    def refuse_duplicates(self, topics: Sequence[str], docnos: Sequence[str]) -> None:
        """Raise when a document stands twice in a topic."""
        if len(set(zip(topics, docnos, strict=True))) == len(topics):
            return
        first: dict[tuple[str, str], int] = {}
        for position, key in enumerate(zip(topics, docnos, strict=True)):
            if key in first:
                raise InputError(
                    f"document {key[1]} stands twice in topic {key[0]}, first in line "
                    f"{self.line(first[key])}",
                    path=self.path,
                    line=self.line(position),
                    remedy="keep one of the two lines",
                )
            first[key] = position

    def _other_kind(self) -> str | None:
        """Recognise qrels and erels, whose lines have as many fields, from their first line."""
        row = self._rows[0]
        for layout in (QRELS, ERELS):
            if layout is not self.layout and len(row) == len(layout.fields):
                return f"if this is a file of {layout}, {layout.command}"
        return "correct the field"

    def __iter__(self) -> Iterator[list[bytes]]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return f"Rows({str(self.path)!r}: {len(self._rows)} lines of a {self.layout.kind})"


def _accepted[Number: (int, float)](
    field: bytes, parse: Callable[[bytes], Number], accept: Callable[[Number], bool]
) -> bool:
    try:
        return accept(parse(field))
    except (ValueError, OverflowError):
        return False


def _read_bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP_MAGIC):
            data = gzip.decompress(data)
    except FileNotFoundError as error:
        raise InputError("no such file", path=path, remedy="check the path") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be read ({error})", path=path) from error
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        data.decode("utf-8")
        bad = data.find(b"\0")
    except UnicodeDecodeError as error:
        bad = error.start
    if bad >= 0:
        raise InputError(
            f"byte 0x{data[bad]:02x} is not UTF-8 text",
            path=path,
            line=data.count(b"\n", 0, bad) + 1,
            remedy="convert the whole file to UTF-8 (iconv -t UTF-8)",
        )
    return data


def _guess(row: Sequence[bytes], expected: Layout) -> str:
    """Say what a line with other fields looks like."""
    for layout in (RUN, QRELS, PRELS):
        if len(row) == len(layout.fields) and layout is not expected:
            return f"if this is a file of {layout}, {layout.command}"
    return "correct the line"
