"""The ranked lists of one topic: cut at a rank, and without repeats."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Documents = NDArray[np.int32]
Starts = NDArray[np.int64]


def cut(ranked: Documents, starts: Starts, cutoff: int | None) -> tuple[Documents, Starts]:
    """First `cutoff` documents of every list; all of them if it is None.

    Parameters
    ----------
    ranked : ndarray of int32
        Document numbers in rank order, list after list.
    starts : ndarray of int64, shape (lists + 1,)
    cutoff : int or None

    Returns
    -------
    ranked, starts : ndarray
    """
    if cutoff is None:
        return ranked, starts
    return _joined([ranked[a:b][:cutoff] for a, b in pairwise(starts.tolist())])


def distinct(ranked: Documents, starts: Starts) -> tuple[Documents, Starts, NDArray[np.int64]]:
    """Keep every list once.

    Equal lists then have the same moments to the last bit, and cost nothing.

    Returns
    -------
    ranked, starts : ndarray
        The distinct lists, in the order of their first appearance.
    which : ndarray of int64, shape (lists,)
        For every given list its number among the distinct ones.
    """
    found: dict[bytes, int] = {}
    parts: list[Documents] = []
    which = np.empty(len(starts) - 1, dtype=np.int64)
    for s, (first, end) in enumerate(pairwise(starts.tolist())):
        part = ranked[first:end]
        which[s] = found.setdefault(part.tobytes(), len(found))
        if which[s] == len(parts):
            parts.append(part)
    return *_joined(parts), which


def _joined(parts: list[Documents]) -> tuple[Documents, Starts]:
    starts = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=starts[1:])
    return np.concatenate([np.empty(0, dtype=np.int32), *parts]), starts
