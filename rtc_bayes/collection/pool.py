"""The pool: which documents a set of systems retrieved to a depth, and at which rank."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.lists import Lists
from rtc_bayes.collection.tails import Tails, tail_of
from rtc_bayes.errors import CollectionWarning, InputError

if TYPE_CHECKING:
    import xarray as xr

    from rtc_bayes.collection.runs import Runs


@dataclass(frozen=True, eq=False, repr=False)
class Pool:
    """The documents that systems retrieved, per topic, to a depth.

    Documents of a topic are contiguous and sorted by docno. A short list is short: nothing
    is padded. Make one with :meth:`from_runs`.

    Attributes
    ----------
    systems : tuple of str
        In the order given.
    topics : tuple of str
        In natural order.
    depth : int
        The first documents of every list, down to this rank, are the pool.
    score_depth : int
        Measures read lists down to this rank: those of the pool's documents that a system is
        known to rank there, all others being not relevant.
    docnos : ndarray of str, shape (documents,)
    topic_starts : ndarray of int, shape (topics + 1,)
        Documents of topic t are ``topic_starts[t]`` to ``topic_starts[t + 1]``.
    ranked : ndarray of int, shape (sum of list lengths,)
        Document indices in rank order, list after list.
    list_starts : ndarray of int, shape (systems * topics + 1,)
        The list of system s on topic t begins at ``list_starts[s * topics + t]``.
    digests : tuple of str
        A digest of each system's run.
    tails : Tails or None
        Ranks of the pool's documents below the depth; None where no list is longer.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    depth: int
    score_depth: int
    docnos: NDArray[np.object_]
    topic_starts: NDArray[np.int64]
    ranked: NDArray[np.int32]
    list_starts: NDArray[np.int64]
    digests: tuple[str, ...] = field(default=())
    tails: Tails | None = None

    def __post_init__(self) -> None:
        for array in (self.docnos, self.topic_starts, self.ranked, self.list_starts):
            array.flags.writeable = False

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        *,
        depth: int = 100,
        reach: int = 1000,
        score_depth: int | None = None,
        documents: Mapping[str, Iterable[str]] | None = None,
    ) -> Pool:
        """Pool the first `depth` documents of every run for every topic of any run.

        Parameters
        ----------
        runs : Runs
        depth : int
            At least 1.
        reach : int
            Where systems rank the pooled documents below the depth is kept down to this rank, as
            evidence for models that use it, and for measures.
        score_depth : int, optional
            Measures read lists down to this rank; by default the depth.
        documents : mapping of str to iterable of str, optional
            Docnos per topic that belong to the pool besides, as judged ones: so that measures
            find them in lists below the depth. Topics without a run are left out.

        Raises
        ------
        InputError
            A depth below 1, or a score depth outside the ranks from the depth to the reach.

        Warns
        -----
        CollectionWarning
            Once, naming the runs that lack a topic: they score 0 there.
        """
        if depth < 1:
            raise InputError(f"depth is {depth}", remedy="give a depth of at least 1")
        score_depth = depth if score_depth is None else score_depth
        if not depth <= score_depth <= max(depth, reach):
            raise InputError(
                f"score depth is {score_depth}",
                remedy=f"give one from the depth, {depth}, to {max(depth, reach)}",
            )
        topics = runs.topics
        lacking = {tag: len(topics) - len(run.topics) for tag, run in runs.items()}
        lacking = {tag: n for tag, n in lacking.items() if n}
        if lacking:
            named = ", ".join(f"{tag} ({n})" for tag, n in lacking.items())
            warnings.warn(
                f"runs without some of the {len(topics)} topics, where they score 0: {named}",
                CollectionWarning,
                stacklevel=2,
            )
        cells = len(runs) * len(topics)
        docnos: list[str] = []
        starts = [0]
        nothing = np.empty(0, dtype=np.int32)
        heads, tails = [nothing] * cells, [(nothing, nothing)] * cells
        lengths = np.zeros(cells, dtype=np.int32)
        for t, topic in enumerate(topics):
            lists = [run.ranking(topic)[: max(depth, reach)].tolist() for run in runs.values()]
            besides = documents.get(topic, ()) if documents else ()
            ordered = sorted(set(besides).union(*(ranked[:depth] for ranked in lists)))
            index = dict(zip(ordered, count(len(docnos)), strict=False))
            docnos.extend(ordered)
            starts.append(len(docnos))
            for cell, ranked in zip(range(t, cells, len(topics)), lists, strict=True):
                heads[cell] = np.array([index[docno] for docno in ranked[:depth]], dtype=np.int32)
                tails[cell] = tail_of(ranked, index, depth)
                lengths[cell] = len(ranked)
        return cls(
            systems=runs.systems,
            topics=topics,
            depth=depth,
            score_depth=score_depth,
            docnos=np.array(docnos, dtype=object),
            topic_starts=np.array(starts, dtype=np.int64),
            ranked=np.concatenate([nothing, *heads]),
            list_starts=np.cumsum([0, *map(len, heads)], dtype=np.int64),
            digests=tuple(run.digest for run in runs.values()),
            tails=Tails.of_lists(tails, lengths, depth=depth),
        )

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.systems)

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(self.topics)

    @property
    def n_documents(self) -> int:
        """Number of (topic, document) pairs."""
        return len(self.docnos)

    @property
    def topic_of(self) -> NDArray[np.int32]:
        """Topic number of every document, shape (documents,)."""
        return np.repeat(np.arange(self.n_topics, dtype=np.int32), np.diff(self.topic_starts))

    def documents(self, topic: int) -> slice:
        """Return the document indices of a topic, given by its number."""
        return slice(int(self.topic_starts[topic]), int(self.topic_starts[topic + 1]))

    def ranking(self, system: int, topic: int) -> NDArray[np.int32]:
        """Document indices that a system retrieved for a topic, best first."""
        cell = system * self.n_topics + topic
        return self.ranked[self.list_starts[cell] : self.list_starts[cell + 1]]

    def lists(self, topic: int) -> Lists:
        """All systems' lists for a topic, as they are scored: down to the score depth."""
        documents, ranks = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int32)]
        starts = [0]
        for s in range(self.n_systems):
            head = self.ranking(s, topic)
            documents.append(head)
            ranks.append(np.arange(1, len(head) + 1, dtype=np.int32))
            starts.append(starts[-1] + len(head))
            if self.tails is not None and self.score_depth > self.depth:
                cell = self.tails.of_cell(s * self.n_topics + topic)
                inside = self.tails.ranks[cell] <= self.score_depth
                documents.append(self.tails.documents[cell][inside])
                ranks.append(self.tails.ranks[cell][inside])
                starts[-1] += int(inside.sum())
        first = np.int32(self.topic_starts[topic])
        return Lists(
            (np.concatenate(documents) - first).astype(np.int32),
            np.array(starts, dtype=np.int64),
            np.concatenate(ranks),
        )

    @property
    def reach(self) -> int:
        """The lowest rank that is known of any list: at least the depth."""
        return self.depth if self.tails is None else self.tails.reach

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Lengths of the lists, cut at the reach, shape (systems, topics)."""
        whole = np.diff(self.list_starts) if self.tails is None else self.tails.lengths
        return whole.astype(np.int32).reshape(self.n_systems, self.n_topics)

    def ranks(self, topic: int, *, below: bool = False) -> NDArray[np.int32]:
        """Ranks of a topic's documents, from 1; 0 where a system did not retrieve it.

        Parameters
        ----------
        topic : int
            Its number.
        below : bool
            Give the ranks below the depth as well, down to the reach.

        Returns
        -------
        ndarray of int32, shape (systems, documents of the topic)
        """
        inside = self.documents(topic)
        ranks = np.zeros((self.n_systems, inside.stop - inside.start), dtype=np.int32)
        for s in range(self.n_systems):
            ranked = self.ranking(s, topic)
            ranks[s, ranked - inside.start] = np.arange(1, len(ranked) + 1)
            if below and self.tails is not None:
                tail = self.tails.of_cell(s * self.n_topics + topic)
                ranks[s, self.tails.documents[tail] - inside.start] = self.tails.ranks[tail]
        return ranks

    def locate(self, topic: str, docnos: Iterable[str]) -> NDArray[np.int64]:
        """Find a topic's docnos in the pool: their indices, -1 for those it does not hold."""
        wanted = np.array(list(docnos), dtype=object)
        if topic not in self.topics or not len(wanted):
            return np.full(len(wanted), -1, dtype=np.int64)
        inside = self.documents(self.topics.index(topic))
        known = self.docnos[inside]
        place = np.searchsorted(known, wanted)
        found = place < len(known)
        found[found] = known[place[found]] == wanted[found]
        return np.where(found, place + inside.start, -1).astype(np.int64)

    def select(self, systems: Sequence[str]) -> Pool:
        """Return the pool of only these systems: the documents they retrieved.

        Raises
        ------
        InputError
            A system that the pool does not hold.
        """
        for name in systems:
            if name not in self.systems:
                raise InputError(f"the pool holds no system {name!r}")
        chosen = [self.systems.index(name) for name in systems]
        parts = [self.ranking(s, t) for s in chosen for t in range(self.n_topics)]
        ranked = np.concatenate(parts)
        kept = np.unique(ranked)
        cells = np.add.outer(np.array(chosen) * self.n_topics, np.arange(self.n_topics))
        return Pool(
            systems=tuple(systems),
            topics=self.topics,
            depth=self.depth,
            score_depth=self.score_depth,
            docnos=self.docnos[kept],
            topic_starts=np.searchsorted(kept, self.topic_starts).astype(np.int64),
            ranked=np.searchsorted(kept, ranked).astype(np.int32),
            list_starts=np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.int64),
            digests=tuple(self.digests[s] for s in chosen) if self.digests else (),
            tails=None if self.tails is None else self.tails.select(cells.ravel(), kept),
        )

    def with_documents(self, documents: Mapping[str, Iterable[str]]) -> Pool:
        """Return the pool with more documents, which no system ranks.

        Parameters
        ----------
        documents : mapping of str to iterable of str
            Docnos to add per topic; those already there change nothing.

        Raises
        ------
        InputError
            A topic that the pool does not hold.
        """
        unknown = [topic for topic in documents if topic not in self.topics]
        if unknown:
            raise InputError(f"the pool holds no topic {unknown[0]!r}")
        new: list[str] = []
        places = [np.empty(0, dtype=np.int64)]
        added = np.zeros(self.n_topics, dtype=np.int64)
        for t, topic in enumerate(self.topics):
            wanted = np.array(sorted(set(documents.get(topic, ()))), dtype=object)
            absent = wanted[self.locate(topic, wanted) < 0]
            new.extend(absent)
            added[t] = len(absent)
            inside = self.documents(t)
            places.append(np.searchsorted(self.docnos[inside], absent) + inside.start)
        if not new:
            return self
        # where each new document stands among the old ones, non-decreasing
        place = np.concatenate(places)
        # an old document moves by the number of new ones that stand before it
        moved = np.arange(self.n_documents) + np.searchsorted(
            place, np.arange(self.n_documents), side="right"
        )
        starts = self.topic_starts + np.concatenate([[0], np.cumsum(added)])
        docnos = np.empty(self.n_documents + len(new), dtype=object)
        docnos[moved] = self.docnos
        docnos[place + np.arange(len(new))] = np.array(new, dtype=object)
        return Pool(
            systems=self.systems,
            topics=self.topics,
            depth=self.depth,
            score_depth=self.score_depth,
            docnos=docnos,
            topic_starts=starts.astype(np.int64),
            ranked=moved[self.ranked].astype(np.int32),
            list_starts=self.list_starts,
            digests=self.digests,
            tails=None if self.tails is None else self.tails.renumbered(moved),
        )

    def overlap(self) -> NDArray[np.float64]:
        """Mean share of documents that two systems both retrieved, over topics.

        The share of a topic is the number of documents in both lists over the length of the
        longer one (Carterette 2007, section 5, "Worst Case"); a topic where both lists are
        empty counts 0.

        Returns
        -------
        ndarray of float, shape (systems, systems)
            Symmetric, in [0, 1].
        """
        total = np.zeros((self.n_systems, self.n_systems))
        for t in range(self.n_topics):
            retrieved = (self.ranks(t) > 0).astype(np.float64)
            length = retrieved.sum(axis=1)
            longer = np.maximum(np.maximum.outer(length, length), 1.0)
            total += retrieved @ retrieved.T / longer
        return total / max(self.n_topics, 1)

    def to_xarray(self) -> xr.Dataset:
        """Return the pool as a labelled data set (dims document, entry, system, topic)."""
        import xarray as xr

        return xr.Dataset(
            {
                "ranked": ("entry", self.ranked),
                "list_length": (
                    ("system", "topic"),
                    np.diff(self.list_starts).reshape(self.n_systems, self.n_topics),
                ),
                "documents": ("topic", np.diff(self.topic_starts)),
                "digest": ("system", np.array(self.digests or [""] * self.n_systems, dtype=str)),
            }
            | ({} if self.tails is None else self.tails.to_xarray()),
            coords={
                "system": np.array(self.systems, dtype=str),
                "topic": np.array(self.topics, dtype=str),
                "docno": ("document", self.docnos.astype(str)),
            },
            attrs={"depth": self.depth, "reach": self.reach, "score_depth": self.score_depth},
        )

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> Pool:
        """Rebuild a pool from :meth:`to_xarray`'s data set."""
        digests = tuple(str(d) for d in data["digest"].values)
        return cls(
            systems=tuple(str(s) for s in data["system"].values),
            topics=tuple(str(t) for t in data["topic"].values),
            depth=int(data.attrs["depth"]),
            score_depth=int(data.attrs.get("score_depth", data.attrs["depth"])),
            docnos=np.array([str(d) for d in data["docno"].values], dtype=object),
            topic_starts=np.concatenate([[0], np.cumsum(data["documents"].values)]).astype(
                np.int64
            ),
            ranked=data["ranked"].values.astype(np.int32),
            list_starts=np.concatenate([[0], np.cumsum(data["list_length"].values.ravel())]).astype(
                np.int64
            ),
            digests=digests if any(digests) else (),
            tails=Tails.from_xarray(data),
        )

    def save(self, path: str | Path) -> None:
        """Write the pool to a netCDF file."""
        from rtc_bayes.store.datasets import write_dataset

        write_dataset(self.to_xarray(), path)

    @classmethod
    def load(cls, path: str | Path) -> Pool:
        """Read a pool from a netCDF file."""
        from rtc_bayes.store.datasets import read_dataset

        return cls.from_xarray(read_dataset(path))

    def __repr__(self) -> str:
        scored = f", scored to {self.score_depth}" if self.score_depth != self.depth else ""
        return (
            f"Pool({self.n_systems} systems, {self.n_topics} topics, depth {self.depth}{scored}, "
            f"{self.n_documents} documents)"
        )
