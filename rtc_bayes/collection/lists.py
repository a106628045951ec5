"""The ranked lists of one topic, as measures read them."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray


def starts_of(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return where lists of these lengths, one after another, begin, and where the last ends.

    Examples
    --------
    >>> starts_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def entries_of(
    starts: NDArray[np.int64], numbers: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the entries of some of the lists that stand one after another.

    Parameters
    ----------
    starts : ndarray of int64, shape (lists + 1,)
        List n has the entries ``starts[n]`` to ``starts[n + 1]``.
    numbers : ndarray of int
        The lists wanted, in the order wanted.

    Returns
    -------
    entries : ndarray of int64
    starts : ndarray of int64, shape (lists wanted + 1,)
        Where each list wanted begins among the entries.

    Examples
    --------
    >>> entries, starts = entries_of(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> entries.tolist(), starts.tolist()
    ([2, 3, 4, 0, 1], [0, 3, 5])
    """
    lengths = np.diff(starts)[numbers]
    begins = starts_of(lengths)
    return np.arange(begins[-1]) + np.repeat(starts[numbers] - begins[:-1], lengths), begins


class Lists(NamedTuple):
    """Lists of one topic, with the rank of every document that they are known to hold.

    At a rank that no document has, a list holds one that is not relevant.

    Attributes
    ----------
    ranked : ndarray of int32, shape (entries,)
        Documents in rank order, list after list, numbered from 0 within the topic.
    starts : ndarray of int64, shape (lists + 1,)
        List s is ``ranked[starts[s]:starts[s + 1]]``.
    ranks : ndarray of int32, shape (entries,)
        Of each document in its list, from 1, rising.
    """

    ranked: NDArray[np.int32]
    starts: NDArray[np.int64]
    ranks: NDArray[np.int32]

    @classmethod
    def complete(cls, ranked: NDArray[np.int32], starts: NDArray[np.int64]) -> Self:
        """Return lists that hold a known document at every rank."""
        first = np.repeat(starts[:-1], np.diff(starts))
        return cls(ranked, starts, (np.arange(len(ranked)) - first + 1).astype(np.int32))

    @property
    def n_lists(self) -> int:
        """Number of lists."""
        return len(self.starts) - 1

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]:
        """What kernels take: ranked, starts, and one over the rank of every entry."""
        return self.ranked, self.starts, 1.0 / self.ranks

    def cut(self, rank: int | None) -> Self:
        """Keep what is ranked at most this low; everything for None."""
        if rank is None:
            return self
        kept = self.ranks <= rank
        before = np.concatenate([[0], np.cumsum(kept)])
        return type(self)(self.ranked[kept], before[self.starts], self.ranks[kept])

    def take(self, numbers: NDArray[np.int64]) -> Self:
        """Return some of the lists, by number."""
        entries, starts = entries_of(self.starts, numbers)
        return type(self)(self.ranked[entries], starts, self.ranks[entries])

    def distinct(self) -> tuple[Self, NDArray[np.int64]]:
        """Keep every list once: equal lists then have equal moments to the last bit, for nothing.

        Returns
        -------
        lists : Lists
            The distinct ones, in the order of their first appearance.
        which : ndarray of int64, shape (lists,)
            For every given list its number among the distinct ones.
        """
        numbers: dict[bytes, int] = {}
        spans = [slice(a, b) for a, b in pairwise(self.starts.tolist())]
        contents = [self.ranked[span].tobytes() + self.ranks[span].tobytes() for span in spans]
        which = np.array([numbers.setdefault(c, len(numbers)) for c in contents], dtype=np.int64)
        _, first = np.unique(which, return_index=True)
        return self.take(first.astype(np.int64)), which
