"""Judged documents that no run retrieved: where they are so many that names seem to differ.

Judgments of a whole track hold many documents that a few of its runs do not retrieve. But on a
topic with several judgments these runs retrieve some, if they name documents as the judgments do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.errors import warn
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.collection.judgments import Judgments

NAMES = "check that runs and judgments name documents alike"
"""What to do where documents of judgments are in no list."""

# judged documents of which, by chance alone, no run would have none
_SEVERAL = 10


def topics_of_other_names(judged: NDArray[np.int64], retrieved: NDArray[np.int64]) -> list[int]:
    """Return the topics on which runs and judgments seem to name documents differently.

    Where no judged document is retrieved at all, and ten or more are judged, these are all judged
    topics. Else they are topics with ten judgments or more, none of which is retrieved, if these
    topics hold more than half of all judged documents. Otherwise there are none.

    Parameters
    ----------
    judged, retrieved : ndarray of int, shape (topics,)
        How many documents of each topic are judged, and how many of these are in some list.

    Examples
    --------
    >>> topics_of_other_names(np.array([8, 0, 4]), np.array([0, 0, 0]))
    [0, 2]
    >>> topics_of_other_names(np.array([20, 20, 15]), np.array([0, 1, 0]))
    [0, 2]
    >>> topics_of_other_names(np.array([20, 20, 3]), np.array([0, 1, 0]))
    []
    """
    total, least = judged.sum(), _SEVERAL if retrieved.any() else 1
    topics = (judged >= least) & (retrieved == 0)
    if total < _SEVERAL or 2 * judged[topics].sum() <= total:
        return []
    return [int(topic) for topic in np.flatnonzero(topics)]


def warn_of_unretrieved(judgments: Judgments) -> None:
    """Warn where so many judged documents are in no list that names seem to differ.

    That is on the topics of :func:`topics_of_other_names`; or where more than half of the judged
    documents are in no list although they were judged for these runs alone, and all ranks of their
    lists are known; then lists may have been cut since, too.

    Warns
    -----
    CollectionWarning
        How many documents, or on how many topics, and the first of them.
    """
    pool = judgments.pool
    in_list = np.zeros(pool.n_documents, dtype=bool)
    in_list[pool.ranked] = True
    if pool.tails is not None:
        in_list[pool.tails.documents] = True
    is_judged = judgments.judged
    judged, retrieved = (
        np.bincount(pool.topic_of[of], minlength=pool.n_topics)
        for of in (is_judged, is_judged & in_list)
    )
    of_all = counted(judgments.n_judged, "judged document")
    known_to = pool.reach if pool.placed else pool.depth
    none = judgments.order[~in_list[judgments.order]]
    deeper = "" if pool.placed else ", or pool more deeply"
    if topics := topics_of_other_names(judged, retrieved):
        none = none[np.isin(pool.topic_of[none], topics)]
        text = f"no run has any of {of_all} among its first {known_to}"
        if retrieved.any():
            text = (
                f"on {len(topics)} of {counted(int((judged > 0).sum()), 'judged topic')} no run "
                f"has any judged document among its first {known_to}"
            )
    elif (
        pool.placed
        and judgments.n_judged >= _SEVERAL
        and 2 * len(none) > judgments.n_judged
        and judgments.judged_for
        and set(judgments.judged_for) <= set(pool.systems)
    ):
        text = f"no run has {len(none)} of {of_all}, though they were judged for these runs"
        deeper = ", and that lists are as long as when they were judged"
    else:
        return
    topic, docno = pool.pair_of(none[0])
    warn(f"{text}, as {docno} of topic {topic}: {NAMES}{deeper}")
