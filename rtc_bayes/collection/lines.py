"""From a file to checked columns of fields: the one place that knows line numbers.

A file's lines are split and its numbers are parsed by Arrow's reader of CSV, a hundred million
bytes a second and more. White space is first made single spaces, so that this is the same as
splitting each line at white space. A number that Arrow does not take (``+1``, ``1e400``) is left to
Python.
"""

from __future__ import annotations

import codecs
import hashlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import cut
from rtc_bayes.collection.ids import shown
from rtc_bayes.errors import InputError
from rtc_bayes.store.shown import counted

type Floats = NDArray[np.float64]

_GZIP_MAGIC = b"\x1f\x8b"
# A list of ranked documents shrinks to a third or a tenth: what expands further is no text.
_MOST_EXPANSION = 100
_ANY_EXPANSION = 2**26
# of a file, by which it is recognised
_HEAD = 1000
# a field that readers pass over; many files have it the same in every line
_UNUSED = {"run": "Q0", "qrels": "iteration", "erels": "Q0"}
# beyond any grade: a file of small numbers alone where docnos stand has grades there
_MOST_GRADE = 10
_WHITE_TO_SPACE = bytes.maketrans(b"\t\r\v\f", b"    ")


@dataclass(frozen=True)
class Layout:
    """The fields of a line of a kind of file.

    `number` is the field that is a float, if any; `separator` is a byte that separates fields as
    white space does.
    """

    kind: str
    fields: tuple[str, ...]
    command: str = ""
    number: str = ""
    separator: bytes = b""

    def __str__(self) -> str:
        return f"{self.kind} ({' '.join(self.fields)})"

    @property
    def kinds(self) -> str:
        """What a file of these is of: runs, qrels."""
        return f"{self.kind.removesuffix('s')}s ({' '.join(self.fields)})"


RUN = Layout("run", ("topic", "Q0", "docno", "rank", "score", "tag"), "give it as a run", "score")
QRELS = Layout("qrels", ("topic", "iteration", "docno", "relevance"), "give it as --qrels")
SCORES = Layout("scores", ("topic", "docno", "score"), number="score")
ERELS = Layout(
    "erels",
    ("topic", "Q0", "docno", "probability"),
    "give it as --erels of compare",
    "probability",
)
PRELS = Layout(
    "prels",
    ("topic", "docno", "relevance", "algorithm", "probability"),
    "give it as --prels of evaluate, or --audit of compare",
    "probability",
)
GROUPS = Layout("groups file", ("system", "group"), separator=b",")
MEAN_GRADES = (
    "round grades such as 1.2 to whole numbers, or divide them by the highest grade and give "
    f"{ERELS} as --erels of compare"
)
"""What to do about grades that are no whole numbers and no probabilities."""
_GRADES_AS_DOCNOS = f"if docno and relevance changed places, write {' '.join(QRELS.fields)}"
FAMILIES = Layout("families file", ("judge", "family"), separator=b",")


class EmptyFileError(InputError):
    """A file without a line, where some are needed."""


class Rows:
    """The rows of one text file, all with the fields of a layout.

    Parameters
    ----------
    path : Path
        A plain or gzipped file in UTF-8.
    layout : Layout
    unread : sequence of str
        Fields that will not be asked for.

    Attributes
    ----------
    digest : str
        The SHA-256 of the file's content, decompressed.

    Raises
    ------
    InputError
        The file cannot be read, is empty, is not UTF-8, or a line has other fields. Blank lines
        hold nothing and pass.
    """

    def __init__(self, path: Path, layout: Layout, unread: Sequence[str] = ()) -> None:
        import pyarrow as pa

        self.path = path
        self.layout = layout
        # what nothing reads is not made
        self._read = [n for n in layout.fields if n not in ("Q0", "iteration", *unread)]
        data = read_bytes(path)
        self.digest = hashlib.sha256(data).hexdigest()
        self._data = data.replace(layout.separator, b" ") if layout.separator else data
        if not self._data or self._data.isspace():
            raise EmptyFileError(
                f"the file is empty; a {layout.kind} has lines", path=path, remedy="check the file"
            )
        try:
            self._table = self._parse(pa.float64())
        except pa.ArrowInvalid:
            self._table = self._texts

    def _parse(self, number_type: Any) -> Any:
        """Split lines at white space; raises ArrowInvalid where Arrow does not understand."""
        import pyarrow as pa
        from pyarrow import csv

        data = _single_spaced(self._data)
        types = dict.fromkeys(self._read, pa.string())
        if self.layout.number:
            types[self.layout.number] = number_type
        return csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(
                use_threads=False, block_size=len(data), column_names=self.layout.fields
            ),
            parse_options=csv.ParseOptions(
                delimiter=" ", quote_char=False, double_quote=False, escape_char=False
            ),
            convert_options=csv.ConvertOptions(
                check_utf8=False, column_types=types, include_columns=self._read, null_values=[]
            ),
        )

    @cached_property
    def _texts(self) -> Any:
        """The table with every field as text."""
        import pyarrow as pa

        try:
            return self._parse(pa.string())
        except pa.ArrowInvalid as error:
            raise self._wrong_fields() or InputError(
                str(error), path=self.path, remedy="correct the file"
            ) from error

    def _wrong_fields(self) -> InputError | None:
        """Return the error of the first line with another number of fields."""
        refuse_aggregate(self._data, self.path)
        for line, text in enumerate(self._data.split(b"\n"), 1):
            row = text.split()
            if row and len(row) != len(self.layout.fields):
                return InputError(
                    f"{counted(len(row), 'field')} where a {self.layout} has "
                    f"{len(self.layout.fields)}",
                    path=self.path,
                    line=line,
                    remedy=_guess(row, self.layout),
                )
        return None

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def column(self, name: str) -> Any:
        """Return one field of all rows: an Arrow array of text, or of floats where it parsed."""
        return self._table[name].combine_chunks()

    def text(self, name: str) -> list[str]:
        """Return one field of all rows as text."""
        return list(self._texts[name].to_pylist())

    def integers(self, name: str) -> NDArray[np.int64]:
        """Parse one field of all rows.

        Raises
        ------
        InputError
            Names the line of the first field that is not a whole number of 64 bits.
        """
        fields = self.column(name).dictionary_encode()
        try:
            numbers = np.array([integer(field) for field in fields.dictionary.to_pylist()])
        except ValueError:
            raise self._bad_number(name, "a whole number", integer) from None
        return numbers.astype(np.int64)[fields.indices.to_numpy()]

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

        def parse(field: str) -> float:
            value = number(field)
            if not accept(np.array([value])).all():
                raise ValueError(field)
            return value

        column = self.column(name)
        try:
            numbers: Floats = (
                np.array(list(map(number, column.to_pylist())))
                if column.type == "string"
                else column.to_numpy()
            )
        except ValueError:
            raise self._bad_number(name, what, parse) from None
        if not accept(numbers).all():
            raise self._bad_number(name, what, parse)
        return numbers

    def _bad_number(self, name: str, what: str, parse: Callable[[str], float]) -> InputError:
        """Return the error of the first field that does not parse."""
        position, field = next(
            (i, field) for i, field in enumerate(self.text(name)) if not _parses(field, parse)
        )
        return InputError(
            f"{name} {shown(field)} is not {what}",
            path=self.path,
            line=self.line(position),
            remedy=self._other_kind(name),
        )

    def line(self, position: int) -> int:
        """Line number, from 1, of a row given by its position among the rows."""
        filled = (n for n, line in enumerate(self._data.split(b"\n"), 1) if line.split())
        return next(n for i, n in enumerate(filled) if i == position)

    def duplicate(self, *names: str) -> InputError:
        """Return the error of the first row with the topic and document of another."""
        first: dict[tuple[str, ...], int] = {}
        for position, key in enumerate(zip(*map(self.text, names), strict=True)):
            before = first.setdefault(key, position)
            if before != position:
                break
        what = (
            f"document {cut(key[1])} stands twice in topic {cut(key[0])}"
            if len(names) > 1
            else f"{names[0]} {shown(key[0])} stands twice"
        )
        return InputError(
            f"{what}, first in line {self.line(before)}",
            path=self.path,
            line=self.line(position),
            remedy=self._other_order(names[-1]) or "keep one of the two lines",
        )

    def _other_order(self, name: str) -> str:
        """Say which fields may have changed places where documents stand twice."""
        if self._grades_as_docnos():
            return _GRADES_AS_DOCNOS
        unused = _UNUSED.get(self.layout.kind)
        if unused is None or len(set(self.text(name))) > 1:
            return ""
        column = self.layout.fields.index(unused)
        if len({row.split()[column] for row in self._data.split(b"\n") if row.split()}) == 1:
            return ""
        return f"if {unused} and {name} changed places, write {' '.join(self.layout.fields)}"

    def _grades_as_docnos(self) -> bool:
        """Whether docnos of qrels are all small whole numbers, and not all grades are."""
        if self.layout is not QRELS:
            return False
        docnos, grades = set(self.text("docno")), set(self.text("relevance"))
        return all(_parses(text, _small) for text in docnos) and not all(
            _parses(text, _small) for text in grades
        )

    def first(self) -> list[str]:
        """Return the fields of the first line that has any."""
        lines = (line.split() for line in self._data.split(b"\n", 1000))
        return [field.decode() for field in next(filter(None, lines))]

    def _other_kind(self, name: str) -> str:
        """Recognise qrels and erels, whose lines have as many fields, by what they hold."""
        if self.layout not in (QRELS, ERELS):
            return "correct the field"
        other, parse = (ERELS, probability) if self.layout is QRELS else (QRELS, integer)
        texts = set(self.text(name))
        if all(_parses(text, parse) for text in texts):
            return f"if this is a file of {other.kinds}, {other.command}"
        if all(_parses(text, number) for text in texts):
            return MEAN_GRADES
        swapped = self._grades_as_docnos() and not any(_parses(text, number) for text in texts)
        return _GRADES_AS_DOCNOS if swapped else "correct the field"

    def __repr__(self) -> str:
        return f"Rows({str(self.path)!r}: {len(self)} lines of a {self.layout.kind})"


def number(field: str) -> float:
    """Parse a number as C does: Python's own form ``1_000`` is none.

    Raises
    ------
    ValueError
        It is not a number.
    """
    if "_" in field:
        raise ValueError(field)
    return float(field.encode())


def is_quoted(text: str) -> bool:
    """Whether a field stands between double quotes, as R writes text.

    Examples
    --------
    >>> is_quoted('"d1"'), is_quoted('d"1')
    (True, False)
    """
    return len(text) > 1 and text[0] == text[-1] == '"'


def unquoted(text: str) -> str:
    """Return a field without the double quotes that it stands between.

    Examples
    --------
    >>> unquoted('"d1"'), unquoted('d"1')
    ('d1', 'd"1')
    """
    return text[1:-1].replace('""', '"') if is_quoted(text) else text


def probability(field: str) -> float:
    """Parse a number from 0 to 1.

    Raises
    ------
    ValueError
        It is none.
    """
    if not 0.0 <= (value := number(field)) <= 1.0:
        raise ValueError(field)
    return value


def integer(field: str) -> int:
    """Parse a whole number of 64 bits.

    Raises
    ------
    ValueError
        It is none.
    """
    if "_" in field or not -(2**63) <= (value := int(field.encode())) < 2**63:
        raise ValueError(field)
    return value


def _small(field: str) -> int:
    """Parse a whole number that may be a grade."""
    if abs(value := integer(field)) > _MOST_GRADE:
        raise ValueError(field)
    return value


def refuse_aggregate(data: bytes, path: str | Path) -> None:
    """Refuse the table of pairs that the command `labels` writes: it is for people.

    Parameters
    ----------
    data : bytes
    path : str or Path

    Raises
    ------
    InputError

    Examples
    --------
    >>> refuse_aggregate(b"topic,docno,labels,probability,tied", "soft.csv")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: soft.csv: this is a table of pairs that `labels` wrote as CSV; ...
    """
    head = data[:_HEAD].lstrip()
    as_csv = head.startswith(b"topic,docno,labels,probability,")
    if as_csv or (head.startswith(b"[") and b'"labels":' in head):
        raise InputError(
            f"this is a table of pairs that `labels` wrote as {'CSV' if as_csv else 'JSON'}",
            path=path,
            remedy="run `labels` with -o OUT.erels, and give --erels OUT.erels",
        )


def _parses(field: str, parse: Callable[[str], float]) -> bool:
    try:
        parse(field)
    except ValueError:
        return False
    return True


def _single_spaced(data: bytes) -> bytes:
    """Put one space between fields, and none around lines; what has that already is not copied."""
    characters = np.frombuffer(data, dtype=np.uint8)
    blank = characters <= ord(" ")
    others = np.count_nonzero(characters < ord(" ")) - np.count_nonzero(characters == ord("\n"))
    if not (others or (blank[1:] & blank[:-1]).any() or blank[:1].any() or data.endswith(b" ")):
        return data
    data = data.translate(_WHITE_TO_SPACE)
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def read_bytes(path: Path) -> bytes:
    """Read a plain or gzipped text file.

    Raises
    ------
    InputError
        The file cannot be read, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read()
        if data.startswith(_GZIP_MAGIC):
            data = _decompressed(data, path)
    except FileNotFoundError as error:
        raise InputError("no such file", path=path, remedy="check the path") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be read ({error})", path=path, remedy="check the file") from error
    data = data.removeprefix(codecs.BOM_UTF8)
    bad, what = data.find(b"\0"), "is not UTF-8 text"
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            bad = error.start
        else:
            if bad < 0:
                bad, what = data.find(codecs.BOM_UTF8), "begins a byte order mark inside the text"
    if bad >= 0:
        raise InputError(
            f"byte 0x{data[bad]:02x} {what}",
            path=path,
            line=data.count(b"\n", 0, bad) + 1,
            remedy="convert the whole file to UTF-8 (iconv -t UTF-8)",
        )
    return data


def _decompressed(data: bytes, path: Path) -> bytes:
    """Decompress, but no more than a text can expand."""
    left = max(_ANY_EXPANSION, _MOST_EXPANSION * len(data))
    members = []
    while data:
        member = zlib.decompressobj(wbits=31)
        members.append(member.decompress(data, left + 1))
        left -= len(members[-1])
        if left < 0:
            raise InputError(
                f"expands to more than {_MOST_EXPANSION} times its size, as no text does",
                path=path,
                remedy="decompress it yourself (gunzip) if it is what you mean",
            )
        if not member.eof:
            raise EOFError("it ends too early")
        # zeros may follow a member
        data = member.unused_data.lstrip(b"\0")
    return b"".join(members)


def _guess(row: Sequence[bytes], expected: Layout) -> str:
    """Say what a line with other fields looks like."""
    if expected.separator:
        between = expected.separator.decode()
        return f"write {between.join(expected.fields)}; names hold no white space"
    if len(row) == 1 and row[0].count(b",") >= max(len(expected.fields) - 2, 1):
        labels = "; if it holds labels of judges, give it as --labels" * (expected is QRELS)
        return f"write spaces in place of commas{labels}"
    for layout in (RUN, QRELS, PRELS):
        if len(row) == len(layout.fields) and layout is not expected:
            return f"if this is a file of {layout.kinds}, {layout.command}"
    return "correct the line"
