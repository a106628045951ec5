"""From a file to checked rows of fields: the one place that knows line numbers."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.errors import InputError

type Floats = NDArray[np.float64]

_GZIP_MAGIC = b"\x1f\x8b"
# of every byte, whether bytes.split keeps it
_FILLED = np.array([bool(bytes([byte]).strip()) for byte in range(256)])


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
        expected = len(layout.fields)
        fields = _fields_of_lines(self.data)
        wrong = (fields != expected) & (fields != 0)
        if wrong.any():
            line = int(np.argmax(wrong)) + 1
            row = self.data.split(b"\n", line)[line - 1].split()
            raise InputError(
                f"{len(row)} fields where a {layout} has {expected}",
                path=path,
                line=line,
                remedy=_guess(row, layout),
            )
        if not fields.any():
            raise InputError(f"the file is empty; a {layout.kind} has lines", path=path)
        self._lines = np.flatnonzero(fields) + 1
        every = self.data.split()
        self._columns = [every[k::expected] for k in range(expected)]

    def column(self, name: str) -> list[bytes]:
        """Return one field of all rows."""
        return self._columns[self.layout.fields.index(name)]

    def text(self, name: str, known: dict[str, str] | None = None) -> list[str]:
        """Return one field of all rows as text; equal texts are one object.

        Parameters
        ----------
        name : str
        known : dict, optional
            Texts from before to share, each its own value; new ones are added.
        """
        # no field holds a line end, so all are decoded at once
        texts = b"\n".join(self.column(name)).decode().split("\n")
        return list(map(({} if known is None else known).setdefault, texts, texts))

    def integers(self, name: str) -> list[int]:
        """Parse one field of all rows.

        Raises
        ------
        InputError
            Names the line of the first field that is not a whole number of 64 bits.
        """
        try:
            return list(map(_whole, self.column(name)))
        except ValueError:
            raise self._bad_number(name, "a whole number", _whole) from None

    def numbers(
        self, name: str, what: str, accept: Callable[[Floats], NDArray[np.bool_]]
    ) -> Floats:
        """Parse one field of all rows.

        Parameters
        ----------
        name : str
        what : str
            What the field should be.
        accept : callable
            Which numbers of an array are as they should be.

        Raises
        ------
        InputError
            Names the line of the first field that does not parse or is not accepted.
        """

        def parse(field: bytes) -> float:
            number = float(field)
            if not accept(np.array([number])).all():
                raise ValueError(field)
            return number

        try:
            numbers = np.array(list(map(float, self.column(name))))
        except ValueError:
            raise self._bad_number(name, what, parse) from None
        if not accept(numbers).all():
            raise self._bad_number(name, what, parse)
        return numbers

    def _bad_number(self, name: str, what: str, parse: Callable[[bytes], float]) -> InputError:
        """Return the error of the first field that does not parse."""
        position, field = next(
            (i, field) for i, field in enumerate(self.column(name)) if not _parses(field, parse)
        )
        return InputError(
            f"{name} {field.decode()!r} is not {what}",
            path=self.path,
            line=self.line(position),
            remedy=self._other_kind(),
        )

    def line(self, position: int) -> int:
        """Line number, from 1, of a row given by its position among the rows."""
        return int(self._lines[position])

    def duplicate(self, topics: Sequence[str], docnos: Sequence[str]) -> InputError:
        """Return the error of the first document that stands twice in a topic."""
        first: dict[tuple[str, str], int] = {}
        for position, key in enumerate(zip(topics, docnos, strict=True)):
            before = first.setdefault(key, position)
            if before != position:
                break
        return InputError(
            f"document {key[1]} stands twice in topic {key[0]}, first in line {self.line(before)}",
            path=self.path,
            line=self.line(position),
            remedy="keep one of the two lines",
        )

    def _other_kind(self) -> str:
        """Recognise qrels and erels, whose lines have as many fields, from their first line."""
        for layout in (QRELS, ERELS):
            if layout is not self.layout and len(self._columns) == len(layout.fields):
                return f"if this is a file of {layout}, {layout.command}"
        return "correct the field"

    def __repr__(self) -> str:
        return f"Rows({str(self.path)!r}: {len(self._lines)} lines of a {self.layout.kind})"


def _whole(field: bytes) -> int:
    number = int(field)
    if not -(2**63) <= number < 2**63:
        raise ValueError(field)
    return number


def _parses(field: bytes, parse: Callable[[bytes], float]) -> bool:
    try:
        parse(field)
    except ValueError:
        return False
    return True


def _fields_of_lines(data: bytes) -> NDArray[np.int64]:
    """Count the fields of every line: what stands between white space."""
    characters = np.frombuffer(data, dtype=np.uint8)
    filled = _FILLED[characters]
    begins = filled.copy()
    begins[1:] &= ~filled[:-1]
    ends = np.append(np.flatnonzero(characters == ord("\n")), len(data))
    return np.diff(np.searchsorted(np.flatnonzero(begins), ends), prepend=0)


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
