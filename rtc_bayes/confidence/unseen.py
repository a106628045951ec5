"""Relevant documents without a judgment, and those that no system retrieved to the depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.grades import UNSEEN, is_unseen

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Pool

type Floats = NDArray[np.float64]


def share_unjudged(
    pool: Pool, values: NDArray[np.floating], judgments: Judgments | None = None
) -> float:
    """Share of the relevant documents that are expected without a judgment, 0 to 1.

    A relevant document has its judgment if its probability is 1 in every draw, and it is judged
    where judgments are at hand. Twins that :func:`with_unseen` added do not count, and labels of
    judges that err settle nothing.

    Parameters
    ----------
    pool : Pool
        With every document of its topics that is judged relevant.
    values : ndarray, shape (draws, documents)
        Probabilities of relevance.
    judgments : Judgments, optional
        Those that the probabilities are by.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("a", {"1": ["d", "e", "f", "g"]})]))
    >>> share_unjudged(pool, np.array([[1.0, 0.0, 0.2, 0.6], [1.0, 0.0, 0.4, 0.8]]))
    0.5
    >>> share_unjudged(pool, np.ones((1, 4)), rb.Judgments.from_labels(pool, [0], [1]))
    0.75
    """
    p = values.mean(axis=0, dtype=np.float64)
    p[is_unseen(pool)] = 0.0
    settled = _judged_relevant(pool, p, judgments)
    relevant = float(p.sum())
    return float(p[~settled].sum()) / relevant if relevant > 0.0 else 0.0


def share_guessed(
    pool: Pool, values: NDArray[np.floating], judgments: Judgments | None = None
) -> float:
    """Share of the relevant documents that no system retrieved which is guessed, 0 to 1.

    The twins that :func:`with_unseen` added are guesses; documents that are judged relevant, as by
    complete judgments, and that no system retrieved to the depth, are known. Where there are
    neither it is 1: that each was found by two systems tells nothing of those that none found.

    Parameters
    ----------
    pool : Pool
        With twins.
    values : ndarray, shape (draws, documents)
        Probabilities of relevance.
    judgments : Judgments, optional
        Those that the probabilities are by.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = {"one": ["a", "b"], "two": ["b", "c"]}
    >>> runs = rb.Runs([rb.Run.from_rankings(name, {"1": of}) for name, of in runs.items()])
    >>> def guessed(judged):
    ...     pool = rb.Pool.from_runs(runs, qrels=rb.Qrels({"1": dict.fromkeys(judged, 1)}))
    ...     return share_guessed(*with_unseen(pool, np.ones((1, pool.n_documents))))
    >>> [guessed(judged) for judged in ("abc", "abcd", "abcde")]
    [1.0, 0.0, 0.0]
    """
    p = values.mean(axis=0, dtype=np.float64)
    twins = is_unseen(pool)
    nowhere = np.ones(pool.n_documents, dtype=bool)
    nowhere[pool.ranked] = False
    guessed = float(p[twins].sum())
    judged = float(p[nowhere & ~twins & _judged_relevant(pool, p, judgments)].sum())
    return guessed / (guessed + judged) if guessed + judged > 0.0 else 1.0


def _judged_relevant(pool: Pool, p: Floats, judgments: Judgments | None) -> NDArray[np.bool_]:
    """Tell which documents have a judgment that says relevant, by their mean probabilities."""
    settled: NDArray[np.bool_] = p >= 1.0
    if judgments is not None:
        relevant_ones = judgments.keep(np.flatnonzero(judgments.labels > 0.0))
        settled &= relevant_ones.on(pool).judged
    return settled


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
