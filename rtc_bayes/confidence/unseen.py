"""Relevant documents without a judgment, and those that no system retrieved to the depth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.collection.grades import UNSEEN, is_unseen
from rtc_bayes.measures.residual import LONG, SHORTEST

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Pool

type Floats = NDArray[np.float64]

_MOST = 1.5
"""How many times as many relevant documents a doubling of depth has as the one before, at most."""


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


def lists_end(pool: Pool) -> int:
    """Return the rank at which lists are cut, or scored to; of others a rank that none reaches.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("a", {"1": ["d", "e", "f"]})])
    >>> pool = rb.Pool.from_runs(runs, depth=2, score_depth=2)
    >>> lists_end(pool), lists_end(rb.Pool.from_runs(runs))
    (2, 3)
    """
    scored = pool.score_depth if pool.score_depth < pool.reach else defaults.REACH
    return min(pool.cut_at or defaults.REACH, scored)


def below_is_guessed(pool: Pool, values: NDArray[np.floating]) -> Floats:
    """Return how much is guessed of what lies below short lists, from 0 to 1.

    Parameters
    ----------
    pool : Pool
    values : ndarray, shape (draws, documents)
        Probabilities of relevance.

    Returns
    -------
    ndarray of float, shape (draws,)
        1 of lists that end at a rank from 10 to 99, all of them in the pool; 0 of others. Between
        them where somebody judged beyond the lists: where more relevant documents are known that
        no system retrieved than the jackknife expects; 0 with twice as many.
    """
    end = lists_end(pool)
    if not SHORTEST <= end < LONG or pool.depth < end:
        return np.zeros(len(values))
    finders = _finders(pool)
    missed = _share_missed(pool) * values[:, finders == 1].sum(axis=1, dtype=np.float64)
    elsewhere = values[:, finders == 0].sum(axis=1, dtype=np.float64)
    return (2.0 - _over(elsewhere, missed, np.where(elsewhere > 0.0, 2.0, 0.0))).clip(0.0, 1.0)


def relevant_below(pool: Pool, values: NDArray[np.floating]) -> Floats:
    """Return how many relevant documents lie below short lists, for each near their ends.

    Every doubling of depth brings new relevant documents. Of lists that end at a rank L, from 10
    to 99, it is known how many are first ranked between L / 4 and L / 2, and between L / 2 and L,
    on all topics together. The ratio r of these numbers goes on: the next doubling has r times as
    many as the last, the one after r times as many again, and so down to rank 100. r is at most
    1.5, and 1 where nothing tells it. No number here is fitted to a collection.

    Parameters
    ----------
    pool : Pool
    values : ndarray, shape (draws, documents)
        Probabilities of relevance.

    Returns
    -------
    ndarray of float, shape (draws,)
        Relevant documents below rank L, for each that is first ranked between L / 2 and L; as much
        of them as is guessed (:func:`below_is_guessed`).

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> ranking = [f"d{n}" for n in range(50)]
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("a", {"1": ranking})]))
    >>> even, falling = np.full(50, 0.1), 1.0 / (1.0 + pool.best_ranks)
    >>> relevant_below(pool, np.array([even, falling])).round(2).tolist()
    [1.5, 0.99]
    """
    guessed = below_is_guessed(pool, values)
    if not guessed.any():
        return guessed
    end = lists_end(pool)
    doublings, best = math.log2(LONG / end), pool.best_ranks
    before, last = (
        values[:, (best > end * start) & (best <= end * 2.0 * start)].sum(axis=1, dtype=np.float64)
        for start in (0.25, 0.5)
    )
    ratio = np.minimum(_over(last, before, 1.0), _MOST)
    steps = np.arange(math.ceil(doublings))[:, None]
    below = (np.minimum(doublings - steps, 1.0) * ratio ** (steps + 1.0)).sum(axis=0)
    return np.asarray(guessed * below)


def with_unseen(pool: Pool, values: NDArray[np.floating]) -> tuple[Pool, NDArray[np.floating]]:
    """Add, to every topic, as many relevant documents as systems are expected to have missed.

    By the first-order jackknife (Burnham and Overton 1978): of J systems with f1 relevant
    documents that one of them alone retrieved to the pool's depth, (J - 1) / J f1 were missed by
    all. So each such document gets a twin that no system ranks, relevant with (J - 1) / J of its
    probability. One system alone is taken as one of two that share nothing: it missed half as many
    as it found. Where lists are short, documents near their ends get twins for what lies below
    them (:func:`relevant_below`). Where the pool holds documents that no system retrieved
    to its depth, as judged ones that others found, the twins stand only for relevant ones beyond
    those.

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
    share, below = _share_missed(pool), relevant_below(pool, values)
    copies, late = math.ceil(below.max()), pool.best_ranks > lists_end(pool) / 2.0
    finders = _finders(pool)
    twins: dict[str, list[str]] = {}
    parts = []
    for t, topic in enumerate(pool.topics):
        inside = pool.documents(t)
        p, docnos, finders_of = values[:, inside], pool.docnos[inside], finders[inside]
        alone = finders_of == 1
        near_end = np.tile(np.flatnonzero((finders_of > 0) & late[inside]), copies)
        twins[topic] = [docno + UNSEEN for docno in docnos[alone]]
        twins[topic] += [f"{docno} ({n}){UNSEEN}" for n, docno in enumerate(docnos[near_end])]
        each = below[:, None] / max(copies, 1)
        of_twins = np.hstack([share * p[:, alone], each * p[:, near_end]])
        missed, others = of_twins.sum(axis=1), p[:, finders_of == 0].sum(axis=1)
        beyond = _over(missed - others, missed, 0.0).clip(min=0.0)
        parts.append((p, (beyond[:, None] * of_twins).astype(values.dtype)))
    extended = pool.with_documents(twins)
    result = np.empty((len(values), extended.n_documents), dtype=values.dtype)
    for t, (topic, (p, of_twins)) in enumerate(zip(pool.topics, parts, strict=True)):
        result[:, extended.locate(topic, pool.docnos[pool.documents(t)])] = p
        result[:, extended.locate(topic, twins[topic])] = of_twins
    return extended, result


def _share_missed(pool: Pool) -> float:
    """Return how many documents the jackknife expects for each that one system alone found."""
    systems = max(pool.n_systems, 2)
    return (systems - 1) / systems


def _finders(pool: Pool) -> NDArray[np.int64]:
    """Count the systems that retrieved each document to the pool's depth."""
    return np.bincount(pool.ranked, minlength=pool.n_documents)


def _over(part: Floats, total: Floats, otherwise: float | Floats) -> Floats:
    """Divide; return something else where there is nothing to divide by."""
    result = np.broadcast_to(otherwise, total.shape).astype(np.float64)
    return np.divide(part, total, out=result, where=total > 0.0)
