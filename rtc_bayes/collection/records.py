"""Rows that a user holds in memory: data frames, mappings, and lists of named tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtc_bayes.checks import brief_repr, cut
from rtc_bayes.collection.ids import text_id
from rtc_bayes.collection.lines import integer, number
from rtc_bayes.errors import InputError

TOPIC = ("topic", "qid", "query_id", "q_id", "query")
DOCUMENT = ("docno", "doc_id", "docid")
SYSTEM = ("system", "name", "tag", "run")
GRADE = ("label", "grade", "relevance", "score")
GROUP = ("group", "site")
# beside an id: the query's text, and the number that PyTerrier gives a document
BESIDE = {"query": "topic", "docid": "docno"}


@dataclass(frozen=True)
class Records:
    """Named columns of equal length.

    Attributes
    ----------
    kind : str
        What they came from, for messages: "data frame".
    columns : mapping of str to sequence
    rows : sequence
        What names a row in messages.
    """

    kind: str
    columns: Mapping[str, Sequence[Any]]
    rows: Sequence[Any]

    @classmethod
    def of_frame(cls, frame: Any) -> Records:
        """Take the columns of a pandas or polars frame, and named levels of its index.

        Of a level and a column that mean the same, the column counts.
        """
        names = list(frame.columns)
        for name in names:
            if names.count(name) > 1:
                raise InputError(
                    f"data frame: column {name} stands twice", remedy="drop or rename one"
                )
        if not len(frame):
            raise InputError("data frame: no rows", remedy="give a frame with rows")
        rows = frame.index if hasattr(frame, "index") else range(len(frame))
        columns = {str(name): frame[name].to_list() for name in names}
        own = {
            name
            for words in (TOPIC, DOCUMENT, SYSTEM, GRADE, GROUP)
            if any(word in columns for word in words if word not in BESIDE)
            for name in words
        }
        levels = {name: ids for name, ids in index_levels(frame).items() if name not in own}
        return cls("data frame", levels | columns, rows)

    @classmethod
    def of_tuples(cls, tuples: Sequence[Any], value: str) -> Records:
        """Take (query_id, doc_id, `value`) of named tuples, as of ir_measures or ir_datasets."""
        columns = {}
        for name in ("query_id", "doc_id", value):
            try:
                columns[name] = [getattr(row, name) for row in tuples]
            except AttributeError as error:
                raise InputError(
                    f"a list of named tuples: {error}",
                    remedy=f"give tuples with query_id, doc_id and {value}",
                ) from None
        return cls("list of named tuples", columns, range(len(tuples)))

    @classmethod
    def of_mapping(cls, table: Mapping[Any, Mapping[Any, Any]], value: str) -> Records:
        """Take {topic: {docno: value}}."""
        triples = [(t, d, v) for t, values in table.items() for d, v in values.items()]
        topics, docnos, numbers = zip(*triples, strict=True) if triples else ((), (), ())
        columns = {"topic": topics, "docno": docnos, value: numbers}
        return cls("mapping", columns, list(zip(topics, docnos, strict=True)))

    def __len__(self) -> int:
        return len(self.rows)

    def name(self, names: Sequence[str]) -> str:
        """Return the first of some names that is a column's."""
        for name in names:
            if name in self.columns:
                return name
        raise InputError(
            f"{self.kind}: no column {' or '.join(names)} among {', '.join(self.columns)}",
            remedy="name the columns as PyTerrier, ir_measures or ranx do",
        )

    def ids(self, name: str) -> list[str]:
        """Return a column of ids as text."""
        return self._parsed(name, text_id, "an id", "give text or a whole number")

    def numbers(self, name: str) -> list[float]:
        """Return a column of numbers, none of them NaN."""
        name = self.name([name])
        return self._parsed(name, _float, "a number", "correct or drop the row")

    def grades(self, name: str) -> list[int]:
        """Return a column of whole numbers."""
        return self._parsed(name, grade, "a whole number", "correct or drop the row")

    def topics_and_docnos(self) -> tuple[list[str], list[str]]:
        """Return the columns of topics and of documents."""
        return self.ids(self.name(TOPIC)), self.ids(self.name(DOCUMENT))

    def check_distinct(self, *columns: Sequence[str]) -> None:
        """Raise an InputError where what the columns say together stands twice."""
        seen: dict[tuple[str, ...], Any] = {}
        for row, values in zip(self.rows, zip(*columns, strict=True), strict=True):
            if values in seen:
                *_, what = values
                within = f" in topic {cut(values[-2])}" if len(values) > 1 else ""
                kind = "document" if within else "system"
                raise InputError(
                    f"{self.kind}, row {_row(row)}: {kind} {cut(what)} stands twice{within}, first "
                    f"in row {_row(seen[values])}",
                    remedy="keep one of the two rows",
                )
            seen[values] = row

    def _parsed[Value](
        self, name: str, parse: Callable[[Any], Value], what: str, remedy: str
    ) -> list[Value]:
        made = []
        for row, value in zip(self.rows, self.columns[name], strict=True):
            try:
                made.append(parse(value))
            except (TypeError, ValueError, OverflowError):
                raise InputError(
                    f"{self.kind}, row {_row(row)}: {name} {brief_repr(value)} is not {what}",
                    remedy=remedy,
                ) from None
        return made


def index_levels(frame: Any) -> dict[str, list[Any]]:
    """Return the named levels of a pandas frame's index, which hold what columns hold.

    A frame of PyTerrier has a column query: with qid in the index it must not pass for the topic.
    """
    if not hasattr(frame, "index"):
        return {}
    index = frame.index
    levels = enumerate(index.names)
    return {str(n): index.get_level_values(i).to_list() for i, n in levels if n is not None}


def _row(row: object) -> str:
    """Name a row by its label, or by its topic and document."""
    labels = row if isinstance(row, tuple) else (row,)
    return ": ".join(
        cut(label) if isinstance(label, str) else brief_repr(label) for label in labels
    )


def _float(value: Any) -> float:
    made = number(value) if isinstance(value, str) else float(value)
    if made != made:
        raise ValueError(value)
    return made


def grade(value: Any) -> int:
    """Return a relevance grade as an int of 64 bits; raises where it is no whole number."""
    made = value if isinstance(value, str) else int(value)
    if not isinstance(value, str) and made != value:
        raise ValueError(value)
    return integer(str(made))
