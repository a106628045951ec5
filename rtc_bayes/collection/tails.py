"""Where systems rank a pool's documents below its depth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.immutable import freeze_fields
from rtc_bayes.collection.lists import entries_of, starts_of

if TYPE_CHECKING:
    import xarray as xr

type Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Tails:
    """Ranks below a pool's depth of documents that other systems brought into the pool.

    Evidence for models; of measures, for those that read lists to a score depth below the depth.
    Arrays that are given to the class itself are not copied, and become read-only.

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
    same : ndarray of int32, shape (systems * topics,)
        Lists of a topic with the same number hold the same documents in the same order, down to
        the reach.
    """

    reach: int
    documents: NDArray[np.int32]
    ranks: NDArray[np.int32]
    starts: Integers
    lengths: NDArray[np.int32]
    same: NDArray[np.int32]

    def __post_init__(self) -> None:
        freeze_fields(self)

    def of_cell(self, cell: int) -> slice:
        """Return the entries of the list of system s on topic t, cell ``s * topics + t``."""
        return slice(int(self.starts[cell]), int(self.starts[cell + 1]))

    def select(self, cells: Integers, kept: NDArray[np.integer]) -> Tails:
        """Keep some lists, and of them the documents that are kept, numbered by their place there.

        Parameters
        ----------
        cells : ndarray of int
        kept : ndarray of int
            Indices into the pool, ascending.
        """
        entries, starts = entries_of(self.starts, cells)
        inside = np.isin(self.documents[entries], kept)
        entries = entries[inside]
        return Tails(
            reach=self.reach,
            documents=np.searchsorted(kept, self.documents[entries]).astype(np.int32),
            ranks=self.ranks[entries],
            starts=starts_of(inside)[starts],
            lengths=self.lengths[cells],
            same=self.same[cells],
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
            "tail_same": ("cell", self.same),
        }

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> Tails | None:
        """Rebuild the tails of a pool's data set; None where it has none.

        Of one of an older version no lists below the depth are known to be the same.
        """
        if "tail_rank" not in data:
            return None
        lengths = data["tail_length"].values.astype(np.int32)
        apart = np.where(lengths > data.attrs["depth"], 1 + np.arange(len(lengths)), 0)
        same = data["tail_same"].values if "tail_same" in data else apart
        return cls(
            reach=int(data.attrs["reach"]),
            documents=data["tail_document"].values.astype(np.int32),
            ranks=data["tail_rank"].values.astype(np.int32),
            starts=starts_of(data["tail_entries"].values),
            lengths=lengths,
            same=same.astype(np.int32),
        )

    def __repr__(self) -> str:
        return f"Tails({len(self.ranks)} ranks below the depth, to {self.reach})"
