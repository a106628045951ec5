"""Parts of a pool that keep the documents which count in the number of relevant ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool


def with_systems(pool: Pool, systems: NDArray[np.int64]) -> Pool:
    """Keep only these systems' lists, and every document.

    Parameters
    ----------
    pool : Pool
    systems : ndarray of int
        System numbers.
    """
    return _scored(pool).select([pool.systems[s] for s in systems], keep_documents=True)


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
    part = _scored(pool).select_topics(topics)
    kept = np.isin(pool.topic_of, [pool.topics.index(topic) for topic in topics])
    return part, values[:, kept]


def _scored(pool: Pool) -> Pool:
    """Leave out the ranks below the depth where measures do not read them."""
    return pool if pool.score_depth > pool.depth else replace(pool, tails=None)
