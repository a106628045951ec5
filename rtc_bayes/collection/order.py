"""The orders that hold everywhere: topics by natural order of id, documents by docno, pairs."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(text: str) -> tuple[tuple[int, int, str, str], ...]:
    """Sort key that compares runs of digits as numbers: 9 before 10, MQ2 before MQ10.

    Parameters
    ----------
    text : str
        A topic id.

    Returns
    -------
    tuple
        Comparable with the key of any other text; different texts have different keys.

    Examples
    --------
    >>> from rtc_bayes.collection import natural_key
    >>> sorted(["MQ10", "9", "MQ2", "10"], key=natural_key)
    ['9', '10', 'MQ2', 'MQ10']
    """
    # split leaves the digits at odd places; of two numbers the longer is the greater, whatever
    # their length; "7" and "07" differ by their text
    key = []
    for i, part in enumerate(_DIGITS.split(text)):
        digits = part.lstrip("0")
        if part:
            key.append((0, len(digits), digits, part) if i % 2 else (1, 0, part, ""))
    return (*key, (-1, 0, "", ""))


def natural_order(ids: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct ids in natural order."""
    return tuple(sorted(set(ids), key=natural_key))


def all_pairs(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every two of `n` systems, as numbers: 0 and 1, 0 and 2, and so on.

    Returns
    -------
    first, second : ndarray of int64, shape (n (n - 1) / 2,)
        The first is the lower number; also an index into the upper triangle of a matrix.

    Examples
    --------
    >>> first, second = all_pairs(3)
    >>> first.tolist(), second.tolist()
    ([0, 0, 1], [1, 2, 2])
    """
    first, second = np.triu_indices(n, 1)
    return first.astype(np.int64, copy=False), second.astype(np.int64, copy=False)
