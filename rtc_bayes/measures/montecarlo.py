"""Scores under sampled relevance: any measure, and a check on its moments."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.collection.lists import Lists
from rtc_bayes.collection.relevance import HasRelevance, Relevance
from rtc_bayes.errors import moved, whole_number
from rtc_bayes.measures.analytic import on_topic
from rtc_bayes.measures.names import Measure, MeasureLike, ir_measure, parse_measure
from rtc_bayes.measures.pool_moments import TopicPart, on_pool, topic_parts
from rtc_bayes.workers import Workers, each_topic

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool

Floats = NDArray[np.float64]
Outcomes = NDArray[np.int8]

# outcomes held at once; the stream of random numbers depends on it
_BLOCK = 1024
# bits of a random word, and words held at once
_LANES, _HELD = 64, 1 << 22


@moved(p="write relevance")
def sample_scores(
    pool: Pool,
    relevance: ArrayLike | Relevance | HasRelevance,
    *,
    measure: MeasureLike = "AP",
    outcomes: int = 20_000,
    seed: int = 0,
    workers: Workers = Workers(),
) -> Floats:
    """Sample the relevance of every document, and score the systems on each outcome.

    Parameters
    ----------
    pool : Pool
    relevance : Relevance, Fit, or array_like of shape (documents,) or (draws, documents)
        Probabilities of relevance, in [0, 1].
    measure : str or measure of ir_measures
        Any of ir_measures. Those with known moments are fast; the others make a qrels of every
        outcome, about a thousand times slower.
    outcomes : int
        For every draw, at least 1.
    seed : int, at least 0
        The same seed gives the same outcomes for every measure and for any set of systems over
        the same documents.
    workers : Workers
        As of :func:`rtc_bayes.moments`.

    Returns
    -------
    ndarray, shape (outcomes, systems) or (draws, outcomes, systems)
        Means over topics.

    Raises
    ------
    InputError
        Probabilities of another shape or outside [0, 1], an unknown measure, no outcomes, or a
        cluster that cannot be used.
    UnfinishedError
        The cluster was lost.

    Examples
    --------
    One of two documents is relevant for certain, the other with probability 0.5:

    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("bm25", {"1": ["d1", "d2"]})])
    >>> pool = rb.Pool.from_runs(runs, depth=2)
    >>> scores = rb.sample_scores(pool, [0.5, 1.0], outcomes=1000)
    >>> scores.shape
    (1000, 1)
    >>> sorted(set(scores.ravel().tolist()))
    [0.5, 1.0]
    """
    outcomes = whole_number("outcomes", outcomes, least=1)
    seed = whole_number("seed", seed)
    parsed = parse_measure(measure)
    pool, values = on_pool(pool, relevance)
    draws = np.atleast_2d(values)
    total = np.zeros((len(draws) * outcomes, pool.n_systems))
    work = partial(_one_topic, measure=parsed, outcomes=outcomes, seed=seed)
    topics = each_topic(work, topic_parts(pool, draws), workers)
    for t, scores in enumerate(topics):
        total += scores
        workers.progress("outcomes", t + 1, pool.n_topics)
    total /= max(pool.n_topics, 1)
    return total.reshape(*values.shape[:-1], outcomes, pool.n_systems)


def _one_topic(topic: TopicPart, *, measure: Measure, outcomes: int, seed: int) -> Floats:
    """Scores on a topic, of shape (draws x outcomes, systems)."""
    draws = topic.draws
    lists, which = topic.lists.distinct()
    scorer = (
        on_topic(measure, lists, draws.shape[1]).score
        if measure.kind is not None
        else _QrelsScorer(measure.name, lists).score
    )
    own = np.random.SeedSequence(seed, spawn_key=(topic.number,))
    sampler = _Sampler(draws, np.random.default_rng(own))
    result = np.empty((len(draws) * outcomes, len(which)))
    for first in range(0, len(result), _BLOCK):
        draw = np.arange(first, min(first + _BLOCK, len(result))) // outcomes
        result[first : first + len(draw)] = scorer(sampler.sample(draw))[which].T
    return result


class _Sampler:
    """Samples the relevance of a topic's documents.

    Documents that are certain in every draw take no random numbers.

    Parameters
    ----------
    p : ndarray of float, shape (draws, documents)
        In [0, 1].
    generator : numpy.random.Generator
    """

    def __init__(self, p: NDArray[np.floating], generator: np.random.Generator) -> None:
        self._p = np.ascontiguousarray(p.T, dtype=np.float64)
        self._generator = generator
        self._uncertain = np.flatnonzero((p > 0.0).any(axis=0) & (p < 1.0).any(axis=0))
        self._relevant = np.flatnonzero((p == 1.0).all(axis=0))

    def sample(self, draw: NDArray[np.int64]) -> Outcomes:
        """Sample outcomes (documents, size) under these draws, in rising order."""
        relevant = np.zeros((len(self._p), len(draw)), dtype=np.int8)
        relevant[self._relevant] = 1
        place = np.arange(len(draw)) - np.searchsorted(draw, draw)
        starts = np.flatnonzero(place % _LANES == 0)
        # few enough lanes are then left to compare one by one
        digits = round(np.log2(len(draw) / len(starts))) + 2
        held = max(1, _HELD // (len(starts) * digits))
        lanes = draw[starts], np.append(starts, len(draw))
        for first in range(0, len(self._uncertain), held):
            part = self._uncertain[first : first + held]
            size = (len(part), len(starts), digits)
            words = self._generator.integers(2**_LANES, size=size, dtype=np.uint64)
            _compare(words, self._generator, self._p, part, *lanes, relevant)
        return relevant


@njit(cache=True, nogil=True)
def _compare(
    words: NDArray[np.uint64],
    generator: np.random.Generator,
    p: Floats,
    documents: NDArray[np.int64],
    draws: NDArray[np.int64],
    starts: NDArray[np.int64],
    relevant: Outcomes,
) -> None:
    """Set the relevance of these documents: where a uniform number lies below p.

    Binary digits are compared, from the first: a random word is one digit of the numbers of all
    its lanes. Few agree with p in all digits given; they take a number for the rest of theirs.

    Parameters
    ----------
    words : ndarray, shape (documents, parts, digits)
    p : ndarray, shape (all documents, draws)
    draws, starts : ndarray of int
        Outcomes ``starts[k]`` to ``starts[k + 1]``, at most one a lane, are of draw ``draws[k]``.
    relevant : ndarray of int8, shape (all documents, outcomes)
    """
    count = words.shape[2]
    for n in range(len(documents)):
        of_document = relevant[documents[n]]
        for k in range(len(draws)):
            scaled = p[documents[n], draws[k]] * (1 << count)
            digits = min(np.int64(scaled), (1 << count) - 1)
            rest = scaled - digits
            below = np.uint64(0)
            equal = ~np.uint64(0)
            for d in range(count):
                word = words[n, k, d]
                # all ones where the digit of p is one
                one = np.uint64(-((digits >> (count - 1 - d)) & 1))
                below |= equal & ~word & one
                equal &= ~(word ^ one)
            lanes = of_document[starts[k] : starts[k + 1]]
            for lane in range(len(lanes)):
                lanes[lane] = (below >> np.uint64(lane)) & np.uint64(1)
            if equal << np.uint64(_LANES - len(lanes)):
                for lane in range(len(lanes)):
                    if (equal >> np.uint64(lane)) & np.uint64(1):
                        lanes[lane] = generator.random() < rest


class _QrelsScorer:
    """Scores lists with ir-measures, each outcome being a query of its own.

    A list ends with its last known document.
    """

    def __init__(self, measure: str, lists: Lists) -> None:
        self.measure = measure
        self.lists = [_by_name(lists, s) for s in range(lists.n_lists)]
        listed = {str(i) for i in lists.ranked.tolist()}
        # what stands at a rank that no document is known to have is not relevant
        self.others = dict.fromkeys(set().union(*self.lists) - listed, 0)

    def score(self, outcomes: Outcomes) -> Floats:
        """Score every list on every outcome, shape (lists, outcomes)."""
        import ir_measures

        measure = ir_measure(self.measure)
        documents, size = outcomes.shape
        names = [str(i) for i in range(documents)]
        qrels = {
            str(o): self.others | dict(zip(names, outcomes[:, o].tolist(), strict=True))
            for o in range(size)
        }
        evaluator = ir_measures.evaluator([measure], qrels)
        result = np.zeros((len(self.lists), size))
        for s, scores in enumerate(self.lists):
            if not scores:
                continue
            for metric in evaluator.iter_calc(dict.fromkeys(qrels, scores)):
                result[s, int(metric.query_id)] = metric.value
        return result


def _by_name(lists: Lists, s: int) -> dict[str, float]:
    """Scores of the documents of a list, with others where none is known above the last."""
    inside = slice(*lists.starts[[s, s + 1]])
    at_rank = dict(zip(lists.ranks[inside].tolist(), lists.ranked[inside].tolist(), strict=True))
    lowest = max(at_rank, default=0)
    return {
        str(at_rank.get(rank, f"at{rank}")): float(lowest - rank) for rank in range(1, lowest + 1)
    }
