"""Rows of a CSV file with a header, each with its line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from rtc_bayes.errors import InputError
from rtc_bayes.store.shown import counted

# what else may stand between fields
_OTHERS = {"\t": "tabs", ";": "semicolons"}


class CsvRow(NamedTuple):
    """The fields of a row, without the white space around them, and its line in the file."""

    line: int
    fields: list[str]


def read_csv_rows(path: str | Path, what: str, remedy: str) -> list[CsvRow]:
    """Read the rows that are not blank, the first of them the header.

    Parameters
    ----------
    path : str or Path
    what : str
        What the file should hold, for messages: "scores".
    remedy : str
        What to give instead of a file that holds none.

    Returns
    -------
    list of CsvRow
        At least two, all with as many fields.

    Raises
    ------
    InputError
        Naming the file and the line.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            rows = [
                CsvRow(reader.line_num, [field.strip() for field in fields])
                for fields in reader
                if any(fields)
            ]
    except FileNotFoundError as error:
        raise InputError("no such file", path=path, remedy="check the path") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"cannot be read as CSV ({error})",
            path=path,
            remedy="give a readable file of UTF-8, fields apart by commas",
        ) from error
    if len(rows) < 2:
        raise InputError(f"holds no {what}", path=path, remedy=remedy)
    for mark, name in _OTHERS.items():
        if all(len(fields) == 1 and mark in fields[0] for _, fields in rows):
            raise InputError(
                f"{name} stand between fields, where commas are expected",
                path=path,
                line=rows[0].line,
                remedy=f"write commas, and {remedy}",
            )
    for line, fields in rows:
        if len(fields) != len(rows[0].fields):
            raise InputError(
                f"{counted(len(fields), 'field')} under a header of {len(rows[0].fields)}",
                path=path,
                line=line,
                remedy="separate fields by commas, and leave one empty for what has no value",
            )
    return rows
