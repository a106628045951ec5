"""Judgments over a pool: relevant, nonrelevant, unjudged, or a noisy assessor's probability."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.collection.pool import Pool
from rtc_bayes.collection.qrels import Qrels
from rtc_bayes.errors import CollectionWarning, InputError

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False, repr=False)
class Judgments:
    """What is known of the relevance of a pool's documents.

    Attributes
    ----------
    pool : Pool
        The pool judged, with every judged document that no system retrieved.
    labels : ndarray of float, shape (documents,)
        1 relevant, 0 nonrelevant, between the two a noisy assessor's probability; NaN unjudged.
    order : ndarray of int, shape (judged,)
        Document indices in the order in which the judgments were made.
    judged_for : tuple of str or None
        The systems that the judgments were made for; None when not known.
    """

    pool: Pool
    labels: NDArray[np.float64]
    order: NDArray[np.int64]
    judged_for: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self.labels.flags.writeable = self.order.flags.writeable = False

    @classmethod
    def none(cls, pool: Pool, *, judged_for: Sequence[str] | None = None) -> Judgments:
        """Nothing judged yet."""
        return cls.from_labels(pool, [], [], judged_for=judged_for)

    @classmethod
    def from_labels(
        cls,
        pool: Pool,
        documents: ArrayLike,
        labels: ArrayLike,
        *,
        judged_for: Sequence[str] | None = None,
    ) -> Judgments:
        """Judge documents of the pool by their indices.

        Parameters
        ----------
        pool : Pool
        documents : array_like of int, shape (judged,)
            Distinct document indices, in the order judged.
        labels : array_like of float, shape (judged,)
            Each in [0, 1].
        judged_for : sequence of str, optional

        Raises
        ------
        InputError
            A label outside [0, 1] or a document judged twice.
        """
        order = np.array(documents, dtype=np.int64)
        values = np.array(labels, dtype=np.float64)
        if order.shape != values.shape:
            raise InputError(f"{len(order)} documents but {len(values)} labels")
        if len(values) and not (values.min() >= 0.0 and values.max() <= 1.0):
            raise InputError("a label is outside [0, 1]")
        if len(np.unique(order)) != len(order):
            raise InputError("a document is judged twice")
        every = np.full(pool.n_documents, np.nan)
        every[order] = values
        return cls(pool, every, order, None if judged_for is None else tuple(judged_for))

    @classmethod
    def from_qrels(
        cls,
        pool: Pool,
        qrels: Qrels,
        *,
        relevance_level: int = 1,
        judged_for: Sequence[str] | None = None,
    ) -> Judgments:
        """Take the judgments of a qrels file.

        Parameters
        ----------
        pool : Pool
        qrels : Qrels
            Graded; negative grades are unjudged.
        relevance_level : int
            The lowest grade that counts as relevant, at least 1.
        judged_for : sequence of str, optional
            The systems that the judgments were made for.

        Raises
        ------
        InputError
            Qrels and pool have no topic in common, or the relevance level is below 1.

        Warns
        -----
        CollectionWarning
            Once, naming judged topics for which there is no run.
        """
        if relevance_level < 1:
            raise InputError(
                f"relevance level is {relevance_level}", remedy="give a level of at least 1"
            )
        shared = [topic for topic in qrels if topic in set(pool.topics)]
        if len(qrels) and not shared:
            raise InputError(
                f"no topic in common: the runs have {_some(pool.topics)}, "
                f"the judgments {_some(qrels.topics)}",
                path=qrels.path or None,
                remedy="give the qrels of these runs' topics",
            )
        foreign = sorted(set(qrels) - set(shared))
        if foreign:
            warnings.warn(
                f"{len(foreign)} judged topics have no run and are left aside: {_some(foreign)}",
                CollectionWarning,
                stacklevel=2,
            )
        grades = [(t, docno, g) for t in shared for docno, g in qrels[t].items() if g >= 0]
        wanted: dict[str, list[str]] = {t: [] for t in shared}
        for topic, docno, _ in grades:
            wanted[topic].append(docno)
        whole = pool.with_documents(wanted)
        located = [whole.locate(topic, docnos) for topic, docnos in wanted.items() if docnos]
        return cls.from_labels(
            whole,
            np.concatenate(located) if located else [],
            [float(grade >= relevance_level) for _, _, grade in grades],
            judged_for=judged_for,
        )

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which documents are judged, shape (documents,)."""
        return ~np.isnan(self.labels)

    @property
    def n_judged(self) -> int:
        """Number of judgments."""
        return len(self.order)

    @property
    def relevant(self) -> NDArray[np.float64]:
        """Number judged relevant per topic (the sum of labels), shape (topics,)."""
        return self._per_topic(self.labels[self.order])

    @property
    def nonrelevant(self) -> NDArray[np.float64]:
        """Number judged nonrelevant per topic (the sum of 1 - label), shape (topics,)."""
        return self._per_topic(1.0 - self.labels[self.order])

    @property
    def judged_topics(self) -> tuple[str, ...]:
        """Topics with a judgment, in natural order."""
        counts = self._per_topic(np.ones(self.n_judged))
        return tuple(name for name, n in zip(self.pool.topics, counts, strict=True) if n)

    @property
    def coverage(self) -> NDArray[np.float64]:
        """Fraction judged of all documents in a system's lists, to the depth; shape (systems,)."""
        pool = self.pool
        counted = np.concatenate([[0], np.cumsum(self.judged[pool.ranked])])
        bounds = pool.list_starts[:: max(pool.n_topics, 1)]
        return np.diff(counted[bounds]) / np.maximum(np.diff(bounds), 1)

    def _per_topic(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        topic = np.searchsorted(self.pool.topic_starts, self.order, side="right") - 1
        return np.bincount(topic, weights=values, minlength=self.pool.n_topics)

    def on(self, pool: Pool) -> Judgments:
        """Return the same judgments over another pool, extended by documents it lacks.

        Judgments of topics that the other pool does not hold are left out.
        """
        if pool is self.pool:
            return self
        topic = np.searchsorted(self.pool.topic_starts, self.order, side="right") - 1
        names = [self.pool.topics[t] for t in topic]
        docnos = self.pool.docnos[self.order]
        groups: dict[str, list[int]] = {}
        for position, name in enumerate(names):
            if name in pool.topics:
                groups.setdefault(name, []).append(position)
        whole = pool.with_documents({name: docnos[where] for name, where in groups.items()})
        index = np.full(len(names), -1, dtype=np.int64)
        for name, where in groups.items():
            index[where] = whole.locate(name, docnos[where])
        kept = index >= 0
        return Judgments.from_labels(
            whole, index[kept], self.labels[self.order][kept], judged_for=self.judged_for
        )

    def to_qrels(self) -> Qrels:
        """Return hard judgments as qrels, in the order made.

        Raises
        ------
        InputError
            A label between 0 and 1: qrels cannot hold it.
        """
        if not np.isin(self.labels[self.order], (0.0, 1.0)).all():
            raise InputError(
                "a label lies between 0 and 1", remedy="write probabilities as an erels file"
            )
        table: dict[str, dict[str, int]] = {}
        topic_of = self.pool.topic_of
        for document in self.order:
            topic = self.pool.topics[topic_of[document]]
            table.setdefault(topic, {})[self.pool.docnos[document]] = int(self.labels[document])
        return Qrels(table)

    def to_xarray(self) -> xr.Dataset:
        """Return pool and judgments as one labelled data set."""
        data = self.pool.to_xarray()
        data["label"] = ("document", self.labels)
        data["order"] = ("judgment", self.order)
        if self.judged_for is not None:
            data.attrs["judged_for"] = list(self.judged_for)
        return data

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> Judgments:
        """Rebuild judgments from :meth:`to_xarray`'s data set."""
        judged_for = data.attrs.get("judged_for")
        return cls(
            Pool.from_xarray(data),
            data["label"].values.astype(np.float64),
            data["order"].values.astype(np.int64),
            None if judged_for is None else tuple(str(s) for s in np.atleast_1d(judged_for)),
        )

    def save(self, path: str | Path) -> None:
        """Write pool and judgments to a netCDF file."""
        from rtc_bayes.store.datasets import write_dataset

        write_dataset(self.to_xarray(), path)

    @classmethod
    def load(cls, path: str | Path) -> Judgments:
        """Read pool and judgments from a netCDF file."""
        from rtc_bayes.store.datasets import read_dataset

        return cls.from_xarray(read_dataset(path))

    def __repr__(self) -> str:
        topics = int((self.relevant + self.nonrelevant > 0).sum())
        made_for = "" if self.judged_for is None else f", made for {', '.join(self.judged_for)}"
        return (
            f"Judgments({self.n_judged} judged, {self.relevant.sum():g} relevant, in {topics} of "
            f"{self.pool.n_topics} topics{made_for})"
        )


def infer_judged_for(judgments: Judgments) -> tuple[str, ...]:
    """Guess for which systems judgments were made: a smallest set that retrieved them all.

    The set is built greedily: at each step the system that retrieved most of the judged
    documents not yet explained, the first given among equals. Documents that no system
    retrieved explain nothing.

    Returns
    -------
    tuple of str
        In the pool's order; empty when no judged document was retrieved.
    """
    pool = judgments.pool
    judged = judgments.judged
    left = np.zeros(pool.n_documents, dtype=bool)
    left[pool.ranked] = True
    left &= judged
    bounds = pool.list_starts[:: max(pool.n_topics, 1)]
    retrieved = [pool.ranked[bounds[s] : bounds[s + 1]] for s in range(pool.n_systems)]
    chosen: list[int] = []
    while left.any():
        best = int(np.argmax([np.count_nonzero(left[documents]) for documents in retrieved]))
        chosen.append(best)
        left[retrieved[best]] = False
    return tuple(pool.systems[s] for s in sorted(chosen))


def _some(names: Iterable[str], most: int = 4) -> str:
    known = list(names)
    return ", ".join(known[:most]) + (", ..." if len(known) > most else "")
