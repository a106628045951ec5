"""The columns of a study's tables: declared, stacked from the trials, and read again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

type Columns = Mapping[str, str]
"""What columns hold, by their names: ``int``, ``float``, ``bool``, ``str`` (never undefined) or
``str?``. Undefined numbers are NaN."""

AGAIN = "delete it and run again"


def columns(text: str) -> dict[str, str]:
    """Declare the columns of a table: ``NAME`` holds floats, ``NAME:TYPE`` what it says.

    Examples
    --------
    >>> columns("trial:int algorithm:str confidence failure:str?")
    {'trial': 'int', 'algorithm': 'str', 'confidence': 'float', 'failure': 'str?'}
    """
    parts = [part.partition(":") for part in text.split()]
    return {name: held or "float" for name, _, held in parts}


def is_number(held: str) -> bool:
    """Whether a column holds numbers, by what :func:`columns` says of it."""
    return not held.startswith("str")


def stacked(parts: list[dict[str, list[Any]]], columns: Columns) -> pd.DataFrame:
    """Return the rows of all trials as one table."""
    import pandas as pd

    table = pd.DataFrame({name: [v for part in parts for v in part[name]] for name in columns})
    return table.apply(
        lambda column: (
            pd.to_numeric(column) if is_number(columns[column.name]) else column.astype(str)
        )
    )


def read_table(path: Path, columns: Columns) -> pd.DataFrame:
    """Read a table; columns that an earlier version did not write are undefined."""
    import pandas as pd

    text = {name: str for name, held in columns.items() if not is_number(held)}
    try:
        # a system may be called NA
        table = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""])
        if not set(table.columns) & set(columns):
            raise ValueError("none of its columns")
        table = table.reindex(columns=list(columns))
        for name in columns.keys() - text:
            table[name] = pd.to_numeric(table[name])
    except (ValueError, OverflowError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"is no table of a study: {reason}", path=path, remedy=AGAIN) from error
    return table.fillna({name: "" for name, held in columns.items() if held == "str"})
