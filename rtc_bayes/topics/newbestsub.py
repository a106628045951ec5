"""Sets of topics that NewBestSub found (Roitero, Soprano, Brunello and Mizzaro 2018)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rtc_bayes.collection.ids import list_of_topics
from rtc_bayes.errors import InputError
from rtc_bayes.store.csv_rows import CsvRow, read_csv_rows
from rtc_bayes.store.shown import counted

_REMEDY = "give a ...-Top-10-Solutions.csv of NewBestSub"


class TopicSet(NamedTuple):
    """A set of topics and what NewBestSub says of it.

    Attributes
    ----------
    correlation : float
        Pearson's or Kendall's, as NewBestSub was told, of the mean over the set with that over all.
    topics : tuple of str

    Examples
    --------
    >>> TopicSet(0.98, ("401", "403")).topics
    ('401', '403')
    """

    correlation: float
    topics: tuple[str, ...]


def read_newbestsub(path: str | Path, topics: Sequence[str | int]) -> list[TopicSet]:
    r"""Read the best (or worst) sets of topics of each size from NewBestSub's CSV.

    Parameters
    ----------
    path : str or Path
        Its ``...-Top-10-Solutions.csv``, with columns Cardinality, Correlation and Topics (ids
        separated by ``;``) or TopicsB64 (bits of 64-bit words in base64, as its later versions
        write).
    topics : sequence of str or int
        All topics in the order of the columns that NewBestSub was given.

    Returns
    -------
    list of TopicSet
        In the order of the file.

    Raises
    ------
    InputError
        Naming the file and the line: other columns, a topic that is not named, or another number
        of topics than the row says.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "Top-10-Solutions.csv")
    ...     _ = path.write_text("Cardinality,Correlation,Topics\n2,0.981200,401;403\n")
    ...     read_newbestsub(path, ["401", "402", "403"])
    [TopicSet(correlation=0.9812, topics=('401', '403'))]
    """
    header, *rows = read_csv_rows(path, "sets of topics", _REMEDY)
    columns = [field.lower() for field in header.fields]
    if columns[:2] != ["cardinality", "correlation"] or columns[2:] not in (
        ["topics"],
        ["topicsb64"],
    ):
        raise InputError(
            f"the header is {','.join(header.fields):.80}",
            path=path,
            line=header.line,
            remedy=_REMEDY,
        )
    ids = tuple(list_of_topics(topics))
    return [_row(row, ids, path) for row in rows]


def _row(row: CsvRow, topics: tuple[str, ...], path: str | Path) -> TopicSet:
    size, correlation, text = row.fields
    try:
        chosen = _decoded(text, topics) if text.startswith("B64:") else _named(text)
        read = TopicSet(float(correlation), chosen)
        expected = int(float(size))
    except (ValueError, OverflowError, IndexError, binascii.Error) as error:
        raise InputError(
            f"cannot be read ({error})", path=path, line=row.line, remedy=_REMEDY
        ) from error
    if unknown := [topic for topic in read.topics if topic not in topics]:
        raise InputError(
            f"topic {unknown[0]} is not one of the {len(topics)} topics",
            path=path,
            line=row.line,
            remedy="give all topics that NewBestSub was given",
        )
    if len(read.topics) != expected:
        raise InputError(
            f"{counted(len(read.topics), 'topic')} where the row says {expected}",
            path=path,
            line=row.line,
            remedy="give the topics in the order that NewBestSub was given them",
        )
    return read


def _named(text: str) -> tuple[str, ...]:
    return tuple(topic.strip() for topic in text.strip("[]").split(";") if topic.strip())


def _decoded(text: str, topics: tuple[str, ...]) -> tuple[str, ...]:
    """Read bits, the first topic the lowest bit of the first byte."""
    code = text.removeprefix("B64:")
    raw = base64.b64decode(code + "=" * (-len(code) % 4), validate=True)
    bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), bitorder="little")
    return tuple(topics[place] for place in np.flatnonzero(bits))
