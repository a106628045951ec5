"""Pooling: the first documents of every run's lists, and where lists have them further down."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import count, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.ids import keyed_by_text, list_of_names, some
from rtc_bayes.collection.lists import starts_of
from rtc_bayes.collection.tails import Tails
from rtc_bayes.errors import InputError, warn
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.collection.qrels import Qrels
    from rtc_bayes.collection.runs import Runs

_NOTHING = np.empty(0, dtype=np.int32)


class Pooled(NamedTuple):
    """The documents and lists of a pool.

    Attributes
    ----------
    docnos, topic_starts, ranked, list_starts, tails
        As of :class:`rtc_bayes.Pool`.
    padded : ndarray of bool, shape (systems,)
        Whether a list of the system was filled up to the depth.
    """

    docnos: NDArray[np.object_]
    topic_starts: NDArray[np.int64]
    ranked: NDArray[np.int32]
    list_starts: NDArray[np.int64]
    tails: Tails | None
    padded: NDArray[np.bool_]


def documents_beside(
    documents: Mapping[str, Iterable[str]] | Mapping[int, Iterable[str]] | None,
    qrels: Qrels | None,
) -> dict[str, list[str]]:
    """Return the docnos that belong to a pool beside those retrieved, by topic."""
    beside = {
        topic: list_of_names("documents", docnos)
        for topic, docnos in keyed_by_text(documents or {}, "topic").items()
    }
    for topic, grades in (qrels or {}).items():
        beside.setdefault(topic, []).extend(d for d, grade in grades.items() if grade >= 0)
    return beside


def check_topics(runs: Runs, *, warn_of_lacking: bool) -> None:
    """Refuse runs without a topic, or one that shares none; warn of runs that lack some."""
    topics = runs.topics
    if not topics:
        raise InputError("the runs hold no topic", remedy="give runs with at least one topic")
    _check_common_topics(runs)
    lacking = {tag: len(topics) - len(run.topics) for tag, run in runs.items()}
    lacking = {tag: n for tag, n in lacking.items() if n}
    if lacking and warn_of_lacking:
        named = ", ".join(f"{tag} ({n})" for tag, n in lacking.items())
        warn(
            f"runs without some of {counted(len(topics), 'topic')}, where they score 0: {named}",
        )


def pooled(
    runs: Runs, depth: int, reach: int, beside: Mapping[str, Collection[str]], *, pad: bool
) -> Pooled:
    """Pool the first `depth` documents of every run for every topic of any run.

    Parameters
    ----------
    runs : Runs
    depth : int
    reach : int, at least the depth
        Ranks of pooled documents below the depth are kept down to this one.
    beside : mapping of str to collection of str
        Docnos by topic that belong to the pool as well.
    pad : bool
        Fill lists up to the depth: see :meth:`rtc_bayes.Pool.from_runs`.
    """
    topics = runs.topics
    cells = len(runs) * len(topics)
    docnos: list[str] = []
    starts = [0]
    heads, tails, tail_ranks = ([_NOTHING] * cells for _ in range(3))
    lengths, same = np.zeros((2, cells), dtype=np.int32)
    padded = np.zeros(len(runs), dtype=bool)
    for t, topic in enumerate(topics):
        lists = [run.ranking(topic)[:reach] for run in runs.values()]
        if pad:
            padded |= [len(docs) < depth for docs in lists]
            lists = [_padded(*one, depth) for one in zip(runs, lists, strict=True)]
        heads_of_topic = (docs[:depth].tolist() for docs in lists)
        of_topic = sorted(set(beside.get(topic, ())).union(*heads_of_topic))
        number = dict(zip(of_topic, count(len(docnos)), strict=False)).get
        docnos.extend(of_topic)
        starts.append(len(docnos))
        distinct: dict[bytes, list[tuple[int, NDArray[np.object_]]]] = {}
        for cell, docs in zip(range(t, cells, len(topics)), lists, strict=True):
            numbers = np.fromiter(map(number, docs.tolist(), repeat(-1)), np.int32, len(docs))
            below = np.flatnonzero(numbers[depth:] >= 0) + depth
            heads[cell] = numbers[:depth].copy()
            tails[cell], tail_ranks[cell] = numbers[below], (below + 1).astype(np.int32)
            lengths[cell] = len(docs)
            # lists whose documents of the pool are the same may differ by others
            alike = distinct.setdefault(numbers.tobytes(), [])
            same[cell] = next((c for c, other in alike if np.array_equal(other, docs)), cell)
            if same[cell] == cell:
                alike.append((cell, docs))
    longest = int(lengths.max(initial=0))
    below_depth = None
    if longest > depth:
        below_depth = Tails(
            reach=longest,
            documents=np.concatenate(tails),
            ranks=np.concatenate(tail_ranks),
            starts=starts_of([*map(len, tails)]),
            lengths=lengths,
            same=same,
        )
    return Pooled(
        docnos=np.array(docnos, dtype=object),
        topic_starts=np.array(starts, dtype=np.int64),
        ranked=np.concatenate([_NOTHING, *heads]),
        list_starts=starts_of([*map(len, heads)]),
        tails=below_depth,
        padded=padded,
    )


def _check_common_topics(runs: Runs) -> None:
    """Refuse runs that share no topic with the others, alone or as a group."""
    of = {tag: set(run.topics) for tag, run in runs.items() if run.topics}
    tags = [*of]
    common, apart = of[tags[0]] if tags else set(), tags[1:]
    while near := [tag for tag in apart if of[tag] & common]:
        common = common.union(*(of[tag] for tag in near))
        apart = [tag for tag in apart if tag not in near]
    if apart:
        together = [tag for tag in tags if tag not in apart]
        fewer, others = sorted([apart, together], key=len)
        raise InputError(
            f"no topic in common between {some(fewer)} and {some(others)}",
            remedy="give runs of the same topics, of lines topic Q0 docno rank score tag",
        )


def _padded(system: str, docnos: NDArray[np.object_], depth: int) -> NDArray[np.object_]:
    """Fill a list up to the depth with documents of the system's own."""
    missing = range(1, depth - len(docnos) + 1)
    return np.append(docnos, np.array([f"phantom-{system}-{n}" for n in missing], dtype=object))
