"""The documents that two lists of a topic share: all that their covariance needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.collection.lists import Lists

Documents = NDArray[np.int32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Overlaps:
    """What the two lists of each of some pairs share, in the order of the first list.

    Attributes
    ----------
    pairs : ndarray of int64, shape (pairs, 2)
        List numbers.
    starts : ndarray of int64, shape (pairs + 1,)
        Pair n shares the documents from ``starts[n]`` to ``starts[n + 1]``.
    first, second : ndarray of int32
        Where the two lists hold the document, as entries of ``ranked``.
    """

    pairs: Numbers
    starts: Numbers
    first: Documents
    second: Documents

    @classmethod
    def of(cls, lists: Lists, documents: int, pairs: Numbers) -> Overlaps:
        """Find what pairs of lists share.

        Parameters
        ----------
        lists : Lists
        documents : int
            Number of documents of the topic.
        pairs : ndarray of int64, shape (pairs, 2)
            List numbers, no pair twice.
        """
        number = np.full((lists.n_lists, lists.n_lists), -1, dtype=np.int64)
        number[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
        return cls(pairs, *_shared(lists.ranked, lists.starts, documents, len(pairs), number))

    def __repr__(self) -> str:
        return f"Overlaps({len(self.pairs)} pairs, {len(self.first)} shared documents)"


@njit(cache=True, nogil=True)
def _shared(
    ranked: Documents, starts: Numbers, documents: int, pairs: int, number: Numbers
) -> tuple[Numbers, Documents, Documents]:
    """Return starts, first and second, given the number of each pair of lists (or -1)."""
    lists = starts.shape[0] - 1
    # where each document is listed
    listed = np.zeros(documents + 1, dtype=np.int64)
    for i in ranked:
        listed[i + 1] += 1
    for i in range(documents):
        listed[i + 1] += listed[i]
    holder = np.empty(ranked.shape[0], dtype=np.int64)
    entry = np.empty(ranked.shape[0], dtype=np.int32)
    filled = listed[:-1].copy()
    for s in range(lists):
        for m in range(starts[s], starts[s + 1]):
            i = ranked[m]
            holder[filled[i]] = s
            entry[filled[i]] = m
            filled[i] += 1

    shared_starts = np.zeros(pairs + 1, dtype=np.int64)
    for a in range(lists):
        for i in ranked[starts[a] : starts[a + 1]]:
            for h in range(listed[i], listed[i + 1]):
                n = number[a, holder[h]]
                if n >= 0:
                    shared_starts[n + 1] += 1
    for n in range(pairs):
        shared_starts[n + 1] += shared_starts[n]
    first = np.empty(shared_starts[-1], dtype=np.int32)
    second = np.empty(shared_starts[-1], dtype=np.int32)
    end = shared_starts[:-1].copy()
    for a in range(lists):
        for m in range(starts[a], starts[a + 1]):
            i = ranked[m]
            for h in range(listed[i], listed[i + 1]):
                n = number[a, holder[h]]
                if n >= 0:
                    first[end[n]] = m
                    second[end[n]] = entry[h]
                    end[n] += 1
    return shared_starts, first, second
