"""Relevant documents without a judgment, and those that no system retrieved to the depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.grades import UNSEEN, is_unseen

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Pool


class RelevantShares(NamedTuple):
    """What is known of the relevant documents.

    Attributes
    ----------
    unjudged : float, 0 to 1
        Share of them that are expected without a judgment, of those that some system retrieved or
        somebody judged.
    guessed : float, 0 to 1
        Share of those that no system retrieved which is guessed. Twins that :func:`with_unseen`
        added are guesses; documents that are judged relevant, as by complete judgments, and that no
        system retrieved to the depth, are known. Where there are neither it is 1: that each was
        found by two systems tells nothing of those that none found.
    """

    unjudged: float
    guessed: float


def relevant_shares(
    pool: Pool, values: NDArray[np.floating], judgments: Judgments | None = None
) -> RelevantShares:
    """Return which shares of the relevant documents have no judgment, and are guessed.

    A relevant document has its judgment if its probability is 1 in every draw, and it is judged
    where judgments are at hand. Labels of judges that err settle nothing.

    Parameters
    ----------
    pool : Pool
        With every document of its topics that is judged relevant, and with twins.
    values : ndarray, shape (draws, documents)
        Probabilities of relevance.
    judgments : Judgments, optional
        Those that the probabilities are by.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("a", {"1": ["d", "e", "f", "g"]})]))
    >>> relevant_shares(pool, np.array([[1.0, 0.0, 0.2, 0.6], [1.0, 0.0, 0.4, 0.8]])).unjudged
    0.5
    >>> judged = rb.Judgments.from_labels(pool, [0], [1])
    >>> relevant_shares(pool, np.ones((1, 4)), judged).unjudged
    0.75
    >>> runs = {"one": ["a", "b"], "two": ["b", "c"]}
    >>> runs = rb.Runs([rb.Run.from_rankings(name, {"1": of}) for name, of in runs.items()])
    >>> def guessed(judged):
    ...     pool = rb.Pool.from_runs(runs, qrels=rb.Qrels({"1": dict.fromkeys(judged, 1)}))
    ...     return relevant_shares(*with_unseen(pool, np.ones((1, pool.n_documents)))).guessed
    >>> [guessed(judged) for judged in ("abc", "abcd", "abcde")]
    [1.0, 0.0, 0.0]
    """
    p = values.mean(axis=0, dtype=np.float64)
    twins, nowhere = is_unseen(pool), np.ones(pool.n_documents, dtype=bool)
    nowhere[pool.ranked] = False
    settled = p >= 1.0
    if judgments is not None:
        relevant_ones = judgments.keep(np.flatnonzero(judgments.labels > 0.0))
        settled &= relevant_ones.on(pool).judged
    relevant, guesses = float(p[~twins].sum()), float(p[twins].sum())
    unseen = guesses + float(p[nowhere & settled & ~twins].sum())
    return RelevantShares(
        float(p[~settled & ~twins].sum()) / relevant if relevant > 0.0 else 0.0,
        guesses / unseen if unseen > 0.0 else 1.0,
    )


def with_unseen(pool: Pool, values: NDArray[np.floating]) -> tuple[Pool, NDArray[np.floating]]:
    """Add, to every topic, as many relevant documents as systems are expected to have missed.

    By the first-order jackknife (Burnham and Overton 1978): of J systems with f1 relevant
    documents that one of them alone retrieved to the pool's depth, (J - 1) / J f1 were missed by
    all. So each such document gets a twin that no system ranks, relevant with (J - 1) / J of its
    probability. One system alone is taken as one of two that share nothing: it missed half as many
    as it found. Where the pool holds documents that no system retrieved to its depth, as judged
    ones that others found, the twins stand only for relevant ones beyond those.

    Parameters
    ----------
    pool : Pool
    values : ndarray, shape (draws, documents)
        Probabilities of relevance; copied into memory.

    Returns
    -------
    pool : Pool
        With the twins, docnos that end in "(unseen)".
    values : ndarray, shape (draws, documents with twins)
    """
    systems = max(pool.n_systems, 2)
    share = (systems - 1) / systems
    twins: dict[str, list[str]] = {}
    parts = []
    for t, topic in enumerate(pool.topics):
        inside = pool.documents(t)
        finders = (pool.ranks(t) > 0).sum(axis=0)
        alone = finders == 1
        twins[topic] = [docno + UNSEEN for docno in pool.docnos[inside][alone]]
        p = values[:, inside]
        missed = share * p[:, alone].sum(axis=1)
        others = p[:, finders == 0].sum(axis=1)
        beyond = np.divide(
            missed - others, missed, out=np.zeros_like(missed), where=missed > others
        )
        parts.append((p, share * beyond[:, None] * p[:, alone]))
    extended = pool.with_documents(twins)
    result = np.empty((len(values), extended.n_documents), dtype=values.dtype)
    for t, (topic, (p, of_twins)) in enumerate(zip(pool.topics, parts, strict=True)):
        result[:, extended.locate(topic, pool.docnos[pool.documents(t)])] = p
        result[:, extended.locate(topic, twins[topic])] = of_twins
    return extended, result
