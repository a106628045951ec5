"""The pool: which documents a set of systems retrieved to a depth, and at which rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.collection.ids import keyed_by_text, list_of_names, list_of_topics, some, text_of
from rtc_bayes.collection.immutable import freeze_fields
from rtc_bayes.collection.lists import Lists, entries_of, starts_of
from rtc_bayes.collection.pooled_lists import check_topics, documents_beside, pooled
from rtc_bayes.collection.tails import Tails
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types
from rtc_bayes.store import digest_text
from rtc_bayes.store.saved import Saved, check_holds
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import xarray as xr

    from rtc_bayes.collection.qrels import Qrels
    from rtc_bayes.collection.runs import Runs

ONE_EACH = (
    "give one for every document of the pool; of judgments that added documents to it, that is "
    "judgments.pool"
)
"""What to do where values are not one for every document."""


class Entries(NamedTuple):
    """System, topic and rank of every document in the lists of a pool, in ``Pool.ranked``'s order.

    Attributes
    ----------
    system, topic : ndarray of int64, shape (sum of list lengths,)
        Numbers, from 0.
    rank : ndarray of int64, shape (sum of list lengths,)
        From 1 to the depth.
    """

    system: NDArray[np.int64]
    topic: NDArray[np.int64]
    rank: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Pool(Saved):
    """The documents that systems retrieved, per topic, to a depth.

    Documents of a topic are contiguous and sorted by docno. A short list is short: nothing
    is padded unless asked for. Make one with :meth:`from_runs`: arrays that are given to the class
    itself are not copied, and become read-only.

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
        A digest of each system's run; another where its lists were padded.
    tails : Tails or None
        Ranks of the pool's documents below the depth; None where no list is longer.
    placed : bool
        Whether all ranks of its documents down to the reach are known: not below the depth, of
        documents that were added later.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> one = rb.Run.from_rankings("one", {"1": ["a", "b"], "2": ["x"]})
    >>> two = rb.Run.from_rankings("two", {"1": ["b", "c"], "2": ["x", "y"]})
    >>> pool = rb.Pool.from_runs(rb.Runs([one, two]))
    >>> pool
    Pool(2 systems, 2 topics, depth 100, 5 documents)
    >>> pool.docnos.tolist(), pool.topic_of.tolist(), pool.best_ranks.tolist()
    (['a', 'b', 'c', 'x', 'y'], [0, 0, 0, 1, 1], [1, 1, 2, 1, 2])

    Documents are known by their index; -1 stands for a docno that the pool does not hold.

    >>> pool.locate("2", ["y", "typo"]).tolist()
    [4, -1]
    >>> pool.docnos[pool.ranking(1, 0)].tolist()
    ['b', 'c']

    A pool does not change. These return another one.

    >>> pool.select(["one"])
    Pool(1 system, 2 topics, depth 100, 3 documents)
    >>> pool.select_topics(["2"])
    Pool(2 systems, 1 topic, depth 100, 2 documents)
    >>> pool.with_documents({"2": ["judged"]}).docnos.tolist()
    ['a', 'b', 'c', 'judged', 'x', 'y']
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
    placed: bool = True

    def __post_init__(self) -> None:
        freeze_fields(self)

    @classmethod
    @explains_types
    def from_runs(
        cls,
        runs: Runs,
        *,
        depth: int = defaults.DEPTH,
        reach: int = defaults.REACH,
        score_depth: int | None = None,
        documents: Mapping[str, Iterable[str]] | Mapping[int, Iterable[str]] | None = None,
        qrels: Qrels | None = None,
        pad: bool = False,
    ) -> Pool:
        """Pool the first `depth` documents of every run for every topic of any run.

        Parameters
        ----------
        runs : Runs
        depth : int, at least 1
            How many documents of each list are pooled.
        reach : int, at least 1
            Where systems rank the pooled documents below the depth is kept down to this rank, as
            evidence for models that use it, and for measures.
        score_depth : int, optional
            Measures read lists down to this rank, from the depth to the reach; by default the
            depth.
        documents : mapping of str or int to iterable of str, optional
            Docnos per topic that belong to the pool as well, so that measures find them in lists
            below the depth. Topics without a run are left out.
        qrels : Qrels, optional
            Their judged documents belong to the pool as well, by the same rule. Grades are not
            used: see :meth:`Judgments.from_qrels`.
        pad : bool
            Fill every list that is shorter than the depth, up to the depth, with documents named
            ``phantom-SYSTEM-1``, ``phantom-SYSTEM-2``, ..., which no other system lists and no
            judgments name, as the evaluation program of Carterette (SIGIR 2007) does. Each then
            has a chance of being relevant, so that a short list looks better than it is. For
            reproducing the paper's tables only; a topic that a run lacks is filled, too.

        Raises
        ------
        InputError
            A depth or reach that is no whole number of at least 1, a score depth that is not one
            from the depth to the reach, no topic at all, or a run that shares none with any other.

        Warns
        -----
        CollectionWarning
            Once, naming the runs that lack a topic: they score 0 there.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> one = rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})
        >>> two = rb.Run.from_rankings("two", {"1": ["b", "d", "a"]})
        >>> pool = rb.Pool.from_runs(rb.Runs([one, two]), depth=2)
        >>> pool.docnos.tolist()
        ['a', 'b', 'd']
        >>> pool.ranks(0).tolist()
        [[1, 2, 0], [0, 1, 2]]
        >>> pool.ranks(0, below=True).tolist()
        [[1, 2, 0], [3, 1, 2]]

        Padded, as for reproducing the paper:

        >>> short = rb.Runs([rb.Run.from_rankings("one", {"1": ["a"]})])
        >>> rb.Pool.from_runs(short, depth=3, pad=True).docnos.tolist()
        ['a', 'phantom-one-1', 'phantom-one-2']
        """
        depth = whole_number("depth", depth, least=1)
        reach = max(depth, whole_number("reach", reach, least=1))
        beside = documents_beside(documents, qrels)
        score_depth = whole_number("score_depth", depth if score_depth is None else score_depth)
        if not depth <= score_depth <= reach:
            raise InputError(
                f"score_depth is {score_depth}",
                remedy=f"give one from the depth, {depth}, to {reach}",
            )
        check_topics(runs, warn_of_lacking=not pad)
        lists = pooled(runs, depth, reach, beside, pad=pad)
        return cls(
            systems=runs.systems,
            topics=runs.topics,
            depth=depth,
            score_depth=score_depth,
            docnos=lists.docnos,
            topic_starts=lists.topic_starts,
            ranked=lists.ranked,
            list_starts=lists.list_starts,
            digests=tuple(
                digest_text(f"padded {run.digest}") if filled else run.digest
                for run, filled in zip(runs.values(), lists.padded, strict=True)
            ),
            tails=lists.tails,
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
        """Return the document indices of a topic, given by its number.

        Raises
        ------
        InputError
            No number of a topic of the pool.
        """
        _check_number("topic", topic, self.n_topics, "pool.topics.index(ID) is a topic's")
        return slice(int(self.topic_starts[topic]), int(self.topic_starts[topic + 1]))

    def ranking(self, system: int, topic: int) -> NDArray[np.int32]:
        """Document indices that a system retrieved for a topic, best first; both by their number.

        Raises
        ------
        InputError
            No number of a system or a topic of the pool.
        """
        _check_number("system", system, self.n_systems, "pool.systems.index(NAME) is a system's")
        _check_number("topic", topic, self.n_topics, "pool.topics.index(ID) is a topic's")
        return self._ranking(system, topic)

    def _ranking(self, system: int, topic: int) -> NDArray[np.int32]:
        """Return :meth:`ranking` of numbers that are the pool's."""
        cell = system * self.n_topics + topic
        return self.ranked[self.list_starts[cell] : self.list_starts[cell + 1]]

    def lists(self, topic: int) -> Lists:
        """All systems' lists for a topic, as they are scored: down to the score depth."""
        documents, ranks = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int32)]
        starts = [0]
        for s in range(self.n_systems):
            head = self._ranking(s, topic)
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
    def entries(self) -> Entries:
        """System, topic and rank of every entry of ``ranked``.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> runs = rb.Runs([rb.Run.from_rankings(s, {"1": ["a", "b"]}) for s in ("one", "two")])
        >>> pool = rb.Pool.from_runs(runs)
        >>> pool.ranked.tolist(), pool.entries.system.tolist(), pool.entries.rank.tolist()
        ([0, 1, 0, 1], [0, 0, 1, 1], [1, 2, 1, 2])
        """
        lengths = np.diff(self.list_starts)
        system, topic = np.divmod(np.repeat(np.arange(len(lengths)), lengths), self.n_topics)
        rank = np.arange(1, len(self.ranked) + 1) - np.repeat(self.list_starts[:-1], lengths)
        return Entries(system, topic, rank)

    @property
    def best_ranks(self) -> NDArray[np.int64]:
        """Best rank of every document in any list; 0 where none holds it, shape (documents,)."""
        best = np.full(self.n_documents, self.depth + 1)
        np.minimum.at(best, self.ranked, self.entries.rank)
        return np.where(best > self.depth, 0, best)

    @property
    def mean_reciprocal_ranks(self) -> NDArray[np.float64]:
        """How high systems rank every document: the mean over systems of 1 / rank.

        A list that does not hold it counts as one that has it just below the reach. Shape
        (documents,), in (0, 1].

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> runs = rb.Runs([rb.Run.from_rankings(s, {"1": [s, "z"]}) for s in "ab"])
        >>> rb.Pool.from_runs(runs, depth=2).mean_reciprocal_ranks.round(3).tolist()
        [0.667, 0.667, 0.5]
        """
        nowhere = 1.0 / (self.reach + 1)
        total = np.zeros(self.n_documents)
        np.add.at(total, self.ranked, 1.0 / self.entries.rank - nowhere)
        if self.tails is not None:
            np.add.at(total, self.tails.documents, 1.0 / self.tails.ranks - nowhere)
        return nowhere + total / max(self.n_systems, 1)

    @property
    def alike(self) -> tuple[tuple[str, ...], ...]:
        """Systems whose lists are the same down to the depth, on every topic, together.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> lists = {"A": ["x", "y"], "B": ["y"], "C": ["x", "y"]}
        >>> runs = [rb.Run.from_rankings(system, {"1": of}) for system, of in lists.items()]
        >>> rb.Pool.from_runs(rb.Runs(runs)).alike
        (('A', 'C'),)
        """
        together: dict[bytes, list[str]] = {}
        for s, system in enumerate(self.systems):
            starts = self.list_starts[s * self.n_topics : (s + 1) * self.n_topics + 1]
            lists = self.ranked[starts[0] : starts[-1]].tobytes()
            together.setdefault((starts - starts[0]).tobytes() + lists, []).append(system)
        return tuple(tuple(names) for names in together.values() if len(names) > 1)

    @property
    def reach(self) -> int:
        """The lowest rank that is known of any list: at least the depth."""
        return self.depth if self.tails is None else self.tails.reach

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Lengths of the lists, cut at the reach, shape (systems, topics)."""
        lengths = np.diff(self.list_starts) if self.tails is None else self.tails.lengths
        return lengths.astype(np.int32).reshape(self.n_systems, self.n_topics)

    @property
    def cut_at(self) -> int:
        """The rank at which all systems' lists are cut, the lowest where they differ; else 0.

        Those of a system are taken for cut where half of those that hold a document, or more, are
        of one length. Lists that end by themselves differ in length, as those that are condensed to
        judged documents do.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> lists = {"1": ["a", "b"], "2": ["a", "c"], "3": ["d"]}
        >>> rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("cut", lists)])).cut_at
        2
        """
        lowest = 0
        for lengths in self.lengths:
            length, lists = np.unique(lengths[lengths > 0], return_counts=True)
            if len(lists) and 2 * lists.max() < lists.sum():
                return 0
            lowest = max(lowest, int(length[lists.argmax()]) if len(lists) else 0)
        return lowest

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

        Raises
        ------
        InputError
            As :meth:`documents`.
        """
        inside = self.documents(topic)
        ranks = np.zeros((self.n_systems, inside.stop - inside.start), dtype=np.int32)
        for s in range(self.n_systems):
            ranked = self._ranking(s, topic)
            ranks[s, ranked - inside.start] = np.arange(1, len(ranked) + 1)
            if below and self.tails is not None:
                tail = self.tails.of_cell(s * self.n_topics + topic)
                ranks[s, self.tails.documents[tail] - inside.start] = self.tails.ranks[tail]
        return ranks

    def locate(self, topic: str | int, docnos: Iterable[str]) -> NDArray[np.int64]:
        """Find a topic's docnos in the pool: their indices, -1 for those it does not hold."""
        topic = text_of(topic, "topic")
        wanted = np.array(list_of_names("docnos", docnos), dtype=object)
        if topic not in self.topics or not len(wanted):
            return np.full(len(wanted), -1, dtype=np.int64)
        inside = self.documents(self.topics.index(topic))
        docnos = self.docnos[inside]
        place = np.searchsorted(docnos, wanted)
        held = place < len(docnos)
        held[held] = docnos[place[held]] == wanted[held]
        return np.where(held, place + inside.start, -1).astype(np.int64)

    def pair_of(self, document: int | np.integer) -> tuple[str, str]:
        """Return the topic and the docno of a document of the pool, given by its index.

        Raises
        ------
        InputError
            No index of a document of the pool, such as the -1 by which :meth:`locate` says that
            the pool does not hold a docno.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> pool.pair_of(1)
        ('1', 'b')
        """
        located = "pool.locate(ID, DOCNOS) finds them, and gives -1 for those it does not hold"
        _check_number("document", document, self.n_documents, located)
        topic = int(np.searchsorted(self.topic_starts, document, side="right")) - 1
        return self.topics[topic], str(self.docnos[document])

    def locate_pairs(self, pairs: Iterable[tuple[str, str]]) -> NDArray[np.int64]:
        """Return the indices, ascending, of the documents (topic, docno) that the pool holds.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> pool.locate_pairs([("1", "b"), ("1", "typo"), ("2", "a")]).tolist()
        [1]
        """
        of_topics: dict[str, list[str]] = {}
        for topic, docno in pairs:
            of_topics.setdefault(topic, []).append(docno)
        located = [self.locate(topic, docnos) for topic, docnos in of_topics.items()]
        places = np.concatenate([np.empty(0, dtype=np.int64), *located])
        return np.unique(places[places >= 0])

    def select(self, systems: Sequence[str], *, keep_documents: bool = False) -> Pool:
        """Return the pool of only these systems.

        Parameters
        ----------
        systems : sequence of str
            At least one; their order is kept.
        keep_documents : bool
            Keep every document: those that only other systems retrieved count in the number of
            relevant documents. By default only what these systems retrieved is kept. In a
            comparison of whole lists, the relevant documents that nobody retrieved and the residual
            go by the systems that are left, so that scores are not those of the comparison of all.

        Raises
        ------
        InputError
            No system, one twice, or one that the pool does not hold.
        """
        chosen = _numbers("system", systems, self.systems)
        every = np.arange(self.n_documents) if keep_documents else None
        return self._part(chosen, np.arange(self.n_topics), every)

    def select_topics(self, topics: Iterable[str | int]) -> Pool:
        """Return the pool of only these topics, with all their documents and lists.

        Parameters
        ----------
        topics : iterable of str or int
            Ids, each once; the pool's order is kept.

        Raises
        ------
        InputError
            No topic, one twice, or one that the pool does not hold.
        """
        chosen = np.sort(_numbers("topic", list_of_topics(topics), self.topics))
        documents, _ = entries_of(self.topic_starts, chosen)
        return self._part(np.arange(self.n_systems), chosen, documents)

    def _part(
        self,
        systems: NDArray[np.int64],
        topics: NDArray[np.int64],
        documents: NDArray[np.int64] | None,
    ) -> Pool:
        """Keep the lists of these systems on these topics, and these documents or those listed."""
        cells = np.add.outer(systems * self.n_topics, topics).ravel()
        entries, list_starts = entries_of(self.list_starts, cells)
        ranked = self.ranked[entries]
        kept = np.unique(ranked) if documents is None else documents
        of_topic = np.diff(np.searchsorted(kept, self.topic_starts))
        return replace(
            self,
            systems=tuple(self.systems[s] for s in systems),
            topics=tuple(self.topics[t] for t in topics),
            docnos=self.docnos[kept],
            topic_starts=starts_of(of_topic[topics]),
            ranked=np.searchsorted(kept, ranked).astype(np.int32),
            list_starts=list_starts,
            digests=tuple(self.digests[s] for s in systems) if self.digests else (),
            tails=None if self.tails is None else self.tails.select(cells, kept),
        )

    def with_documents(
        self, documents: Mapping[str, Iterable[str]] | Mapping[int, Iterable[str]]
    ) -> Pool:
        """Return the pool with more documents, which no system ranks as far as the pool knows.

        Parameters
        ----------
        documents : mapping of str or int to iterable of str
            Docnos to add per topic; those already there change nothing.

        Raises
        ------
        InputError
            A topic that the pool does not hold.
        """
        by_topic = keyed_by_text(documents, "topic")
        if unknown := [topic for topic in by_topic if topic not in self.topics]:
            raise InputError(
                f"the pool holds no topic {unknown[0]!r}",
                remedy=f"name one of {some(self.topics)}",
            )
        new: list[str] = []
        places = [np.empty(0, dtype=np.int64)]
        added = np.zeros(self.n_topics, dtype=np.int64)
        for t, topic in enumerate(self.topics):
            docnos = list_of_names("documents", by_topic.get(topic, ()))
            wanted = np.array(sorted(set(docnos)), dtype=object)
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
        every = np.empty(self.n_documents + len(new), dtype=object)
        every[moved] = self.docnos
        every[place + np.arange(len(new))] = np.array(new, dtype=object)
        return replace(
            self,
            docnos=every,
            topic_starts=self.topic_starts + starts_of(added),
            ranked=moved[self.ranked].astype(np.int32),
            tails=None if self.tails is None else self.tails.renumbered(moved),
            placed=self.placed and self.tails is None,
        )

    def overlap(self, depth: int | None = None) -> NDArray[np.float64]:
        """Mean share of documents that two systems both retrieved, over topics.

        The share of a topic is the number of documents in both lists over the length of the
        longer one (Carterette 2007, section 5, "Worst Case"); a topic where both lists are
        empty counts 0.

        Parameters
        ----------
        depth : int, at least 1, optional
            Compare the first so many documents of each list; by default all that are pooled.

        Returns
        -------
        ndarray of float, shape (systems, systems)
            Symmetric, in [0, 1].

        Raises
        ------
        InputError
            A depth that is no whole number of at least 1.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> one = rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})
        >>> two = rb.Run.from_rankings("two", {"1": ["b", "d", "a"]})
        >>> pool = rb.Pool.from_runs(rb.Runs([one, two]))
        >>> pool.overlap(2).tolist()
        [[1.0, 0.5], [0.5, 1.0]]
        """
        from scipy.sparse import csr_array

        deepest = self.depth if depth is None else whole_number("depth", depth, least=1)
        total = np.zeros((self.n_systems, self.n_systems))
        for t in range(self.n_topics):
            lists = self.lists(t).cut(min(deepest, self.depth))
            held = np.ones(len(lists.ranked))
            inside = self.documents(t)
            shape = self.n_systems, inside.stop - inside.start
            retrieved = csr_array((held, lists.ranked, lists.starts), shape=shape)
            length = np.diff(lists.starts)
            longer = np.maximum(np.maximum.outer(length, length), 1)
            total += (retrieved @ retrieved.T).toarray() / longer
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
            attrs={
                "depth": self.depth,
                "reach": self.reach,
                "score_depth": self.score_depth,
                "placed": int(self.placed),
            },
        )

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> Self:
        """Rebuild a pool from :meth:`to_xarray`'s data set.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> rb.Pool.from_xarray(pool.to_xarray())
        Pool(1 system, 1 topic, depth 100, 2 documents)
        """
        needed = ("digest", "system", "topic", "docno", "documents", "ranked", "list_length")
        check_holds(data, (*needed, "depth"), "pool")
        digests = tuple(str(d) for d in data["digest"].values)
        return cls(
            systems=tuple(str(s) for s in data["system"].values),
            topics=tuple(str(t) for t in data["topic"].values),
            depth=int(data.attrs["depth"]),
            score_depth=int(data.attrs.get("score_depth", data.attrs["depth"])),
            docnos=np.array([str(d) for d in data["docno"].values], dtype=object),
            topic_starts=starts_of(data["documents"].values),
            ranked=data["ranked"].values.astype(np.int32),
            list_starts=starts_of(data["list_length"].values.ravel()),
            digests=digests if any(digests) else (),
            tails=Tails.from_xarray(data),
            placed=bool(data.attrs.get("placed", True)),
        )

    def __repr__(self) -> str:
        scored = f", scored to {self.score_depth}" if self.score_depth != self.depth else ""
        return (
            f"Pool({counted(self.n_systems, 'system')}, {counted(self.n_topics, 'topic')}, depth "
            f"{self.depth}{scored}, {counted(self.n_documents, 'document')})"
        )


def _check_number(what: str, number: int | np.integer, count: int, more: str) -> None:
    """Refuse what is no number, from 0, of a system, topic or document."""
    if not isinstance(number, Integral) or not 0 <= number < count:
        raise InputError(
            f"the pool has no {what} of the number {number!r:.60}",
            remedy=f"give one from 0 to {count - 1}; {more}",
        )


def _numbers(what: str, names: Iterable[str], held: Sequence[str]) -> NDArray[np.int64]:
    """Return the numbers of systems or topics by name."""
    number = {name: n for n, name in enumerate(held)}
    wanted = list_of_names(f"{what}s", names)
    if unknown := [name for name in wanted if name not in number]:
        raise InputError(
            f"the pool holds no {what} {unknown[0]!r}", remedy=f"name one of {some(held)}"
        )
    if not wanted or len(set(wanted)) < len(wanted):
        raise InputError(
            f"a {what} is named twice" if wanted else f"no {what} is named",
            remedy=f"name {what}s of the pool, each once",
        )
    return np.array([number[name] for name in wanted], dtype=np.int64)
