"""Where systems rank a pool's documents below its depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

type Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Tails:
    """Ranks below a pool's depth of documents that other systems brought into the pool.

    Evidence for models; of measures, for those that read lists to a score depth below the depth.

    Attributes
    ----------
    reach : int
        The lowest rank that is known of any list.
    documents : ndarray of int32, shape (entries,)
        Indices into the pool, in rank order, list after list as in ``Pool.ranked``.
    ranks : ndarray of int32, shape (entries,)
        Each above the pool's depth and at most the reach.
    starts : ndarray of int64, shape (systems * topics + 1,)
        The tail of system s on topic t begins at ``starts[s * topics + t]``.
    lengths : ndarray of int32, shape (systems * topics,)
        Of the lists, cut at the reach.
    """

    reach: int
    documents: NDArray[np.int32]
    ranks: NDArray[np.int32]
    starts: Integers
    lengths: NDArray[np.int32]

    def __post_init__(self) -> None:
        for array in (self.documents, self.ranks, self.starts, self.lengths):
            array.flags.writeable = False

    @classmethod
    def of_lists(
        cls,
        parts: Sequence[tuple[NDArray[np.int32], NDArray[np.int32]]],
        lengths: NDArray[np.int32],
        *,
        depth: int,
    ) -> Tails | None:
        """Join what :func:`tail_of` found in every list; None where no list goes below the depth.

        Parameters
        ----------
        parts : sequence of pairs of ndarray of int32
            Of system s on topic t at ``s * topics + t``.
        lengths : ndarray of int32, shape (systems * topics,)
        depth : int
        """
        longest = int(lengths.max(initial=0))
        if longest <= depth:
            return None
        documents, ranks = zip(*parts, strict=True)
        return cls(
            reach=longest,
            documents=np.concatenate(documents),
            ranks=np.concatenate(ranks),
            starts=np.cumsum([0, *map(len, ranks)], dtype=np.int64),
            lengths=lengths,
        )

    def of_cell(self, cell: int) -> slice:
        """Return the entries of the list of system s on topic t, cell ``s * topics + t``."""
        return slice(int(self.starts[cell]), int(self.starts[cell + 1]))

    def select(self, cells: Integers, kept: NDArray[np.int32]) -> Tails:
        """Keep some lists, and of them the documents that are kept, numbered by their place there.

        Parameters
        ----------
        cells : ndarray of int
        kept : ndarray of int32
            Indices into the pool, ascending.
        """
        spans = [np.arange(self.starts[cell], self.starts[cell + 1]) for cell in cells]
        which = np.repeat(np.arange(len(cells)), [len(span) for span in spans])
        entries = np.concatenate([np.empty(0, dtype=np.int64), *spans])
        inside = np.isin(self.documents[entries], kept)
        entries = entries[inside]
        counts = np.bincount(which[inside], minlength=len(cells))
        return Tails(
            reach=self.reach,
            documents=np.searchsorted(kept, self.documents[entries]).astype(np.int32),
            ranks=self.ranks[entries],
            starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            lengths=self.lengths[cells],
        )

    def renumbered(self, moved: Integers) -> Tails:
        """Give every document of the pool another index."""
        return replace(self, documents=moved[self.documents].astype(np.int32))

    def to_xarray(self) -> dict[str, tuple[str, NDArray[np.int32]]]:
        """Return the variables that a pool's data set gets; the reach is an attribute there."""
        return {
            "tail_document": ("tail", self.documents),
            "tail_rank": ("tail", self.ranks),
            "tail_entries": ("cell", np.diff(self.starts).astype(np.int32)),
            "tail_length": ("cell", self.lengths),
        }

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> Tails | None:
        """Rebuild the tails of a pool's data set; None where it has none."""
        if "tail_rank" not in data:
            return None
        return cls(
            reach=int(data.attrs["reach"]),
            documents=data["tail_document"].values.astype(np.int32),
            ranks=data["tail_rank"].values.astype(np.int32),
            starts=np.concatenate([[0], np.cumsum(data["tail_entries"].values)]).astype(np.int64),
            lengths=data["tail_length"].values.astype(np.int32),
        )

    def __repr__(self) -> str:
        return f"Tails({len(self.ranks)} ranks below the depth, to {self.reach})"


def tail_of(
    ranked: Sequence[str], index: Mapping[str, int], depth: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Find the documents of a pool below the depth of one list, and their ranks.

    Parameters
    ----------
    ranked : sequence of str
        Docnos, best first.
    index : mapping of str to int
        The index of each docno of the topic that is in the pool.
    depth : int

    Returns
    -------
    documents, ranks : ndarray of int32
    """
    found = [(index[d], rank) for rank, d in enumerate(ranked[depth:], depth + 1) if d in index]
    documents, ranks = np.array(found, dtype=np.int32).reshape(-1, 2).T
    return documents, ranks
