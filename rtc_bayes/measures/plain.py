"""Evaluation without a model: what becomes of documents that are not judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.collection.lists import starts_of
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.errors import InputError
from rtc_bayes.measures.scores import less_mean

type Floats = NDArray[np.float64]

Unjudged = Literal["nonrelevant", "condensed", "bpref", "infap", "xinfap", "statap", "bootstrap"]
"""What becomes of documents that are not judged, where no model says how likely they are.

They are nonrelevant; taken out of the lists; not counted (bpref); inferred from a random sample of
documents, of all or by strata (infap, xinfap) or with any probabilities (statap); or labelled as
judged documents of the same lists, drawn at random (bootstrap).
"""

UNJUDGED: tuple[Unjudged, ...] = get_args(Unjudged)


@dataclass(frozen=True, eq=False)
class PairDifferences:
    """Differences of mean scores, and how sure one is of the sign of each.

    Attributes
    ----------
    difference, sd : ndarray of float, shape (pairs,)
        Mean over topics of the first system's score less the second's, and its standard error;
        pairs in the order of ``numpy.triu_indices``.
    confidence : ndarray of float, shape (pairs,)
        In the sign of the difference, in [0.5, 1].

    Examples
    --------
    >>> from rtc_bayes.measures import paired_t
    >>> paired_t([[0.5, 0.7], [0.5, 0.7]]).confidence.tolist()
    [0.5]
    """

    difference: Floats
    sd: Floats
    confidence: Floats


def paired_t(scores: ArrayLike) -> PairDifferences:
    """Say how sure a paired t test over topics is of the order of every two systems.

    The confidence is one less the one-sided p-value: the t distribution with n - 1 degrees of
    freedom at the difference over its standard error. It speaks of topics like these; of errors
    that missing judgments make in every topic alike it knows nothing.

    Parameters
    ----------
    scores : array-like of float, shape (systems, topics)
        At least two topics.

    Returns
    -------
    PairDifferences
        Pairs in the order of ``numpy.triu_indices``.

    Raises
    ------
    InputError
        Fewer than two topics, another shape, or a score that is not a number.

    Examples
    --------
    >>> both = paired_t([[0.5, 0.7, 0.6], [0.4, 0.5, 0.6]])
    >>> both.difference.round(3).tolist(), both.sd.round(3).tolist()
    ([0.1], [0.058])
    >>> both.confidence.round(3).tolist()
    [0.887]
    """
    from scipy.stats import t as student

    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] < 2 or not np.isfinite(scores).all():
        raise InputError(
            f"scores of shape {scores.shape} give no paired t test",
            remedy="give finite scores of systems by topics, of two topics or more",
        )
    n = scores.shape[1]
    first, second = all_pairs(len(scores))
    mean = scores.mean(axis=1)
    centred = less_mean(scores)
    products = centred @ centred.T
    squares = np.diag(products)
    # a pair at a time would take the memory of pairs by topics
    spread = np.maximum(squares[first] + squares[second] - 2.0 * products[first, second], 0.0)
    # differences that are the same in every topic, but for rounding
    spread[spread < _ROUNDING * (squares[first] + squares[second])] = 0.0
    difference = mean[first] - mean[second]
    difference[np.abs(difference) < _ROUNDING] = 0.0
    sd = np.sqrt(spread / (n * (n - 1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(difference == 0.0, 0.0, np.abs(difference) / sd)
    return PairDifferences(difference, sd, student.cdf(statistic, n - 1))


_ROUNDING = 1e-13


def condensed(judgments: Judgments) -> Judgments:
    """Take the documents that are not judged out of all lists of a pool (Sakai, SIGIR 2007).

    Parameters
    ----------
    judgments : Judgments

    Returns
    -------
    Judgments
        The same, over a pool of the same documents whose lists, as deep as they were scored, rank
        judged documents only, each as many places higher as stood above it unjudged.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})])
    >>> pool = rb.Pool.from_runs(runs, depth=3)
    >>> judgments = rb.Judgments.from_qrels(pool, rb.Qrels({"1": {"c": 1, "a": 0}}))
    >>> condensed(judgments).pool.ranks(0).tolist()
    [[1, 0, 2]]
    """
    pool, judged = judgments.pool, judgments.judged
    rows: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)] * (pool.n_systems * pool.n_topics)
    for t in range(pool.n_topics):
        lists = pool.lists(t)
        ranked = lists.ranked + np.int32(pool.topic_starts[t])
        for s in range(pool.n_systems):
            row = ranked[lists.starts[s] : lists.starts[s + 1]]
            rows[s * pool.n_topics + t] = row[judged[row]]
    shorter = replace(
        pool,
        depth=pool.score_depth,
        ranked=np.concatenate([np.empty(0, dtype=np.int32), *rows]),
        list_starts=starts_of([*map(len, rows)]),
        tails=None,
    )
    return replace(judgments, pool=shorter)
