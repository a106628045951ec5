"""The orders that hold everywhere: topics by natural order of id, documents by docno."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that compares runs of digits as numbers: 9 before 10, MQ2 before MQ10.

    Parameters
    ----------
    text : str
        A topic id.

    Returns
    -------
    tuple
        Comparable with the key of any other text; different texts have different keys.
    """
    parts = _DIGITS.split(text)
    # odd parts are the digits; the text itself breaks the tie between "7" and "07"
    key = tuple((1, int(p), p) if i % 2 else (0, 0, p) for i, p in enumerate(parts) if p or i % 2)
    return (*key, (0, 0, ""))


def natural_order(ids: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct ids in natural order."""
    return tuple(sorted(set(ids), key=natural_key))
