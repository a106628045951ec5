"""Scores per system and topic in CSV files: a row per cell, or a table of systems and topics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.records import SYSTEM, TOPIC
from rtc_bayes.errors import InputError, warn
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.store.csv_rows import CsvRow, read_csv_rows

_COLUMNS = {
    "system": SYSTEM,
    "topic": TOPIC,
    "score": ("score", "mean", "value"),
    "variance": ("variance",),
    "measure": ("measure",),
}
_NOT_EVALUATED = ("", "nan", "na")
_REMEDY = "give columns system, topic, score, or a table of systems and topics"


class ScoreFile(NamedTuple):
    """What a file holds: mean and variance (systems, topics), NaN where there is no score."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str


class _Cell(NamedTuple):
    line: int
    system: str
    topic: str
    score: float
    variance: float


def read_scores(path: str | Path, measure: str | None = None) -> ScoreFile:
    """Read scores in the layouts of :meth:`rtc_bayes.ScoreMatrix.from_csv`.

    Parameters
    ----------
    path : str or Path
    measure : str, optional
        The one to read where the file names several, or the name of the one that it holds.

    Raises
    ------
    InputError
        Naming the file and the line.
    """
    header, *rows = read_csv_rows(path, "scores", _REMEDY)
    place: dict[str, int] = {}
    for column, names in _COLUMNS.items():
        for n, field in enumerate(header.fields):
            if field.lower() in names:
                place.setdefault(column, n)
    if {"system", "topic", "score"} <= place.keys():
        rows, named = _of_measure(rows, place, measure, path)
        cells = _cells_of_rows(rows, place, path)
    else:
        named = measure or ""
        _check_columns(header.fields, path)
        cells = _cells_of_table(header, rows, path)
    every = list(cells)
    # trec_eval and its like add the mean over topics
    topics = [cell for cell in every if cell.topic != "all"]
    if 0 < len(topics) < len(every):
        warn(f"{path}: 'all' is taken for the mean over topics, and left out")
        every = topics
    return ScoreFile(*_matrix(iter(every), path), named)


def _check_columns(names: Sequence[str], path: str | Path) -> None:
    """Refuse tables of other things that this library writes."""
    if "weight" in names and "rho" in names:
        raise InputError("holds topics that were selected, no scores", path=path, remedy=_REMEDY)
    measures = names[0].lower() in _COLUMNS["system"] and all(map(_is_measure, names[1:]))
    if measures and len(names) > 1:
        raise InputError(
            f"its columns are measures, {', '.join(names[1:4])}, not topics",
            path=path,
            remedy="give the scores of each topic, as evaluate --per-topic writes them",
        )


def _is_measure(name: str) -> bool:
    if name in ("statAP", "sd"):
        return True
    try:
        parse_measure(name)
    except InputError:
        return False
    return True


def _of_measure(
    rows: list[CsvRow], place: Mapping[str, int], measure: str | None, path: str | Path
) -> tuple[list[CsvRow], str]:
    """Keep the rows of one measure, and name it."""
    if "measure" not in place:
        return rows, measure or ""
    names = list(dict.fromkeys(row.fields[place["measure"]] for row in rows))
    if measure is None and len(names) == 1:
        return rows, names[0]
    if measure not in names:
        problem = "holds several measures" if measure is None else f"holds no {measure}"
        raise InputError(
            problem,
            path=path,
            remedy=f"ask for one of {', '.join(names[:10])} (measure=, --measure), or give a file "
            "with the rows of one alone",
        )
    return [row for row in rows if row.fields[place["measure"]] == measure], measure


def _cells_of_rows(
    rows: list[CsvRow], place: Mapping[str, int], path: str | Path
) -> Iterator[_Cell]:
    for line, fields in rows:
        score = _number(fields[place["score"]], path, line)
        certain = "variance" not in place or math.isnan(score)
        variance = 0.0 if certain else _number(fields[place["variance"]], path, line)
        yield _Cell(line, fields[place["system"]], fields[place["topic"]], score, variance)


def _cells_of_table(header: CsvRow, rows: list[CsvRow], path: str | Path) -> Iterator[_Cell]:
    """Read a table; one without a column of names has a row for every topic, from 1."""
    corner = header.fields[0].lower()
    if not corner:  # as pandas and R write row names
        raise InputError(
            "the first column has no name",
            path=path,
            line=header.line,
            remedy="call it topic or system, by what its rows are",
        )
    by_system = corner in _COLUMNS["system"]
    if by_system and header.fields[1:2] and header.fields[1].lower() in _COLUMNS["topic"]:
        raise InputError(
            f"columns {', '.join(header.fields[:10])}, of which none is called score",
            path=path,
            line=header.line,
            remedy="call the column of scores so",
        )
    named = by_system or corner in _COLUMNS["topic"]
    for number, (line, fields) in enumerate(rows, 1):
        name = fields[0] if named else str(number)
        for column, field in list(zip(header.fields, fields, strict=True))[named:]:
            system, topic = (name, column) if by_system else (column, name)
            yield _Cell(line, system, topic, _number(field, path, line), 0.0)


def _matrix(
    cells: Iterator[_Cell], path: str | Path
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...], tuple[str, ...]]:
    """Put cells in their places, systems and topics in the order of the file."""
    by_name: dict[tuple[str, str], _Cell] = {}
    for cell in cells:
        if not cell.system or not cell.topic:
            raise InputError(
                "a system or topic has no name", path=path, line=cell.line, remedy="name it"
            )
        if cell.variance < 0.0:
            remedy = "give variances of at least 0"
            raise InputError("a variance is below 0", path=path, line=cell.line, remedy=remedy)
        if (before := by_name.setdefault((cell.system, cell.topic), cell)) is not cell:
            raise InputError(
                f"system {cell.system} has two scores on topic {cell.topic}, the first on line "
                f"{before.line}",
                path=path,
                line=cell.line,
                remedy="keep one of them",
            )
    if not by_name:
        raise InputError("no score", path=path, remedy=_REMEDY)
    systems, topics = (tuple(dict.fromkeys(names)) for names in zip(*by_name, strict=True))
    row, column = ({name: n for n, name in enumerate(names)} for names in (systems, topics))
    mean, variance = np.full((2, len(systems), len(topics)), np.nan)
    for (system, topic), cell in by_name.items():
        if not math.isnan(cell.score):
            place = row[system], column[topic]
            mean[place], variance[place] = cell.score, cell.variance
    return mean, variance, systems, topics


def _number(field: str, path: str | Path, line: int) -> float:
    if field.lower() in _NOT_EVALUATED:
        return math.nan
    try:
        value = math.nan if "_" in field else float(field)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"{field!r:.80} is not a number",
            path=path,
            line=line,
            remedy="give a score, or leave the field empty where there is none",
        )
    return value
