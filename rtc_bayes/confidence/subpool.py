"""Parts of a pool that keep the documents which count in the number of relevant ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool
    from rtc_bayes.collection.tails import Tails


def with_systems(pool: Pool, systems: NDArray[np.int64]) -> Pool:
    """Keep only these systems' lists, and every document.

    Unlike :meth:`rtc_bayes.collection.Pool.select`, which drops the documents that only other
    systems retrieved.

    Parameters
    ----------
    pool : Pool
    systems : ndarray of int
        System numbers.
    """
    lists = [pool.ranking(s, t) for s in systems for t in range(pool.n_topics)]
    return replace(
        pool,
        systems=tuple(pool.systems[s] for s in systems),
        ranked=np.concatenate([np.empty(0, dtype=np.int32), *lists]),
        list_starts=_starts([len(ranked) for ranked in lists]),
        digests=tuple(pool.digests[s] for s in systems) if pool.digests else (),
        tails=_tails(pool, systems, np.arange(pool.n_topics), np.arange(pool.n_documents)),
    )


def with_topics(
    pool: Pool, values: NDArray[np.floating], topics: Sequence[str]
) -> tuple[Pool, NDArray[np.floating]]:
    """Keep only these topics, with all their documents and lists.

    Parameters
    ----------
    pool : Pool
    values : ndarray, shape (draws, documents)
        Probabilities of the pool's documents.
    topics : sequence of str
        Ids; the pool's order is kept.

    Returns
    -------
    pool : Pool
    values : ndarray, shape (draws, documents that are left)

    Raises
    ------
    InputError
        No topic, one twice, or one that the pool does not hold.
    """
    unknown = [topic for topic in topics if topic not in pool.topics]
    if unknown:
        raise InputError(f"the pool holds no topic {unknown[0]!r}")
    if not topics or len(set(topics)) < len(topics):
        raise InputError("topics must be given, each once")
    kept = [t for t, topic in enumerate(pool.topics) if topic in set(topics)]
    spans = [pool.documents(t) for t in kept]
    documents = np.concatenate([np.arange(span.start, span.stop) for span in spans])
    starts = _starts([span.stop - span.start for span in spans])
    # a list moves with its topic's first document
    lists = [
        pool.ranking(s, t) - np.int32(pool.topic_starts[t] - start)
        for s in range(pool.n_systems)
        for t, start in zip(kept, starts[:-1], strict=True)
    ]
    part = replace(
        pool,
        topics=tuple(pool.topics[t] for t in kept),
        docnos=pool.docnos[documents],
        topic_starts=starts,
        ranked=np.concatenate([np.empty(0, dtype=np.int32), *lists]).astype(np.int32),
        list_starts=_starts([len(ranked) for ranked in lists]),
        tails=_tails(pool, np.arange(pool.n_systems), np.array(kept), documents),
    )
    return part, values[:, documents]


def _tails(
    pool: Pool,
    systems: NDArray[np.int64],
    topics: NDArray[np.int64],
    documents: NDArray[np.int64],
) -> Tails | None:
    """Keep the tails of these lists and documents; none where they are not scored."""
    if pool.tails is None or pool.score_depth == pool.depth:
        return None
    cells = np.add.outer(systems * pool.n_topics, topics).ravel()
    return pool.tails.select(cells, documents.astype(np.int32))


def _starts(lengths: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
