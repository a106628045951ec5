"""Scores under sampled relevance: any measure, and a check on its moments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, get_args

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.collection.grades import GradeDistribution, TopicGrades, is_unseen
from rtc_bayes.collection.relevance import HasRelevance, Relevance
from rtc_bayes.errors import InputError
from rtc_bayes.measures.names import Measure, MeasureKind, MeasureLike, parse_measure
from rtc_bayes.measures.pool_moments import TopicPart, by_grade, on_pool, topic_parts
from rtc_bayes.measures.sampled import scorer
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.workers import Workers, each_topic

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool

Floats = NDArray[np.float64]
Outcomes = NDArray[np.int8]

# outcomes held at once; the stream of random numbers depends on it
_BLOCK = 1024
# bits of a random word, and words held at once
_LANES, _HELD = 64, 1 << 22


@explains_types
@moved(p="write relevance")
def sample_scores(
    pool: Pool,
    relevance: ArrayLike | Relevance | HasRelevance,
    *,
    measure: MeasureLike = "AP",
    outcomes: int = defaults.OUTCOMES,
    seed: int = 0,
    workers: Workers = Workers(),
    grades: GradeDistribution | None = None,
) -> Floats:
    """Sample the relevance of every document, and score the systems on each outcome.

    Parameters
    ----------
    pool : Pool
    relevance : Relevance, Fit, or array_like of shape (documents,) or (draws, documents)
        Probabilities of relevance, in [0, 1].
    measure : str or measure of ir_measures
        One with known moments, or Bpref, ERR, Rprec or Success. Where judgments are graded, nDCG,
        DCG and ERR score sampled grades, and ``rel`` says which grades are relevant.
    outcomes : int
        For every draw, at least 1.
    seed : int, at least 0
        The same seed gives the same outcomes for every measure and for any set of systems over
        the same documents.
    workers : Workers
        As of :func:`rtc_bayes.moments`.
    grades : GradeDistribution, optional
        Of an array's documents; a Relevance has its own.

    Returns
    -------
    ndarray, shape (outcomes, systems) or (draws, outcomes, systems)
        Means over topics.

    Raises
    ------
    InputError
        Probabilities of another shape or outside [0, 1], a measure that is unknown or not computed
        of uncertain relevance, ``rel`` without grades so high, no outcomes, or a cluster that
        cannot be used.
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
    pool, values, own = on_pool(pool, relevance)
    total = np.zeros((len(np.atleast_2d(values)) * outcomes, pool.n_systems))
    topics = sample_scores_by_topic(
        pool,
        values,
        measure=measure,
        outcomes=outcomes,
        seed=seed,
        workers=workers,
        grades=grades or own,
    )
    for t, scores in enumerate(topics):
        total += scores
        workers.progress("outcomes", t + 1, pool.n_topics)
    total /= max(pool.n_topics, 1)
    return total.reshape(*values.shape[:-1], outcomes, pool.n_systems)


def sample_scores_by_topic(
    pool: Pool,
    values: NDArray[np.floating],
    *,
    measure: MeasureLike = "AP",
    outcomes: int = defaults.OUTCOMES,
    seed: int = 0,
    workers: Workers = Workers(),
    grades: GradeDistribution | None = None,
) -> Iterator[Floats]:
    """Sample the relevance of every document, and score the systems on one topic after another.

    Parameters
    ----------
    pool : Pool
    values : ndarray, shape (documents,) or (draws, documents)
        Probabilities of relevance.
    measure, outcomes, seed, workers, grades
        As of :func:`sample_scores`, which has the means of these over topics.

    Yields
    ------
    ndarray, shape (draws times outcomes, systems)
        Of the pool's topics, in order.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("bm25", {"1": ["d1"], "2": ["d1", "d2"]})])
    >>> pool = rb.Pool.from_runs(runs, depth=2)
    >>> topics = sample_scores_by_topic(pool, np.array([1.0, 0.0, 1.0]), outcomes=2)
    >>> [scores.ravel().tolist() for scores in topics]
    [[1.0, 1.0], [0.5, 0.5]]
    """
    seed = whole_number("seed", seed)
    parsed, values = by_grade(pool, values, grades, computed(measure))
    draws = np.atleast_2d(values)
    sampled, slopes = None, np.empty(0)
    if grades is not None and parsed.graded:
        sampled, slopes = grades.on(pool), grades.slopes(len(draws) * outcomes, seed)
    work = partial(_one_topic, measure=parsed, outcomes=outcomes, seed=seed, slopes=slopes)
    unseen = is_unseen(pool)
    parts = (
        (
            *part,
            unseen[pool.documents(part[0].number)],
            None if sampled is None else sampled.of_topic(part[0].number, pool),
        )
        for part in topic_parts(pool, draws)
    )
    yield from each_topic(work, parts, workers)


def computed(measure: MeasureLike) -> Measure:
    """Return a measure that is computed of uncertain relevance.

    Raises
    ------
    InputError
        An unknown measure, or one that is not.
    """
    parsed = parse_measure(measure)
    if parsed.kind is None:
        raise InputError(
            f"{parsed} is not computed of uncertain relevance: it would make a qrels of every "
            "outcome, which takes a thousand times longer",
            remedy=f"choose one of {', '.join(get_args(MeasureKind))}; evaluate() computes it of "
            "qrels",
        )
    return parsed


def _one_topic(
    topic: TopicPart,
    unseen: NDArray[np.bool_],
    grades: TopicGrades | None,
    *,
    measure: Measure,
    outcomes: int,
    seed: int,
    slopes: Floats,
) -> Floats:
    """Scores on a topic, of shape (draws x outcomes, systems)."""
    draws = topic.draws
    lists, which = topic.lists.distinct()
    score = scorer(measure, lists, unseen, graded=grades is not None)
    own = np.random.SeedSequence(seed, spawn_key=(topic.number,))
    sampler = _Sampler(draws, np.random.default_rng(own))
    # beside the stream of relevance, which is the same for every measure
    of_grades = np.random.default_rng(own.spawn(1)[0])
    result = np.empty((len(draws) * outcomes, len(which)))
    for first in range(0, len(result), _BLOCK):
        draw = np.arange(first, min(first + _BLOCK, len(result))) // outcomes
        outcome = sampler.sample(draw)
        if grades is not None:
            judged = np.nan_to_num(grades.judged, nan=-1.0).astype(np.int8)
            shares = of_grades.standard_gamma(grades.weights, (len(draw), *grades.weights.shape))
            tilt = slopes[first : first + len(draw)]
            _grade(outcome, judged, shares, tilt, grades.above, grades.unseen, of_grades)
        result[first : first + len(draw)] = score(outcome)[which].T
    return result


@njit(cache=True, nogil=True)
def _grade(
    outcomes: Outcomes,
    judged: Outcomes,
    shares: Floats,
    slopes: Floats,
    above: Floats,
    unseen: NDArray[np.bool_],
    generator: np.random.Generator,
) -> None:
    """Turn relevance (documents, outcomes) into grades: the judged one, or one drawn.

    Parameters
    ----------
    judged : ndarray of int8, shape (documents,)
        -1 where there is none.
    shares : ndarray, shape (outcomes, 2, grades)
        Of the grades given nonrelevance and relevance, to any sum.
    slopes : ndarray, shape (outcomes,)
    above : ndarray, shape (2, documents)
        Height: a grade has exp(slope * above) times as much against the one below.
    unseen : ndarray of bool, shape (documents,)
        Of grade 0 if not relevant.
    """
    grades = shares.shape[2]
    certain = (shares[:, 0, 1:] == 0.0).all()
    part = np.empty(grades)
    for document in range(len(outcomes)):
        row = outcomes[document]
        if judged[document] >= 0:
            row[:] = judged[document]
            continue
        for o in range(len(row)):
            relevant = row[o]
            if relevant == 0 and (certain or unseen[document]):
                continue
            step = np.exp(slopes[o] * above[relevant, document])
            total, tilt = 0.0, 1.0
            for grade in range(grades):
                total += shares[o, relevant, grade] * tilt
                part[grade] = total
                tilt *= step
            number = generator.random() * total
            grade = 0
            while grade < grades - 1 and number >= part[grade]:
                grade += 1
            row[o] = grade


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
