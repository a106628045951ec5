"""Moments of a measure under probable relevance: per system and topic, and of every difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.collection.lists import Lists
from rtc_bayes.errors import InputError
from rtc_bayes.measures.analytic import on_topic
from rtc_bayes.measures.names import Measure, parse_measure
from rtc_bayes.measures.overlaps import Overlaps
from rtc_bayes.measures.pairs import log_ties
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.store import Progress, silent
from rtc_bayes.workers import each_topic

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool

Floats = NDArray[np.float64]

# draws that are worked on at once
_DRAWS = 128


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Moments of a measure for systems and pairs of systems, for every draw of probabilities.

    A difference is that of the means over topics, first system less second.

    Attributes
    ----------
    systems, topics : tuple of str
    measure : str
    moments : {"exact", "plugin"}
    expected, variance : ndarray, shape (draws, systems, topics)
    pairs : ndarray of int64, shape (pairs, 2)
        System numbers.
    difference_expected, difference_variance : ndarray, shape (draws, pairs)
    third, fourth : ndarray, shape (draws, pairs)
        Cumulants of the difference, to first order in the relevance of each document.
    log_tie : ndarray, shape (draws, pairs)
        Log of a lower bound on the probability that the two are equal: that no document is
        relevant which they rank differently. -inf if one is known to be.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str
    moments: str
    expected: Floats
    variance: Floats
    pairs: NDArray[np.int64]
    difference_expected: Floats
    difference_variance: Floats
    third: Floats
    fourth: Floats
    log_tie: Floats

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def mean_expected(self) -> Floats:
        """Expected mean over topics, shape (draws, systems)."""
        return self.expected.mean(axis=2)

    @property
    def mean_variance(self) -> Floats:
        """Variance of the mean over topics, shape (draws, systems)."""
        return self.variance.sum(axis=2) / len(self.topics) ** 2

    def score_matrix(self) -> ScoreMatrix:
        """Mean and variance per system and topic, over relevance and over the draws."""
        return ScoreMatrix(
            mean=self.expected.mean(axis=0),
            variance=self.variance.mean(axis=0) + self.expected.var(axis=0),
            systems=self.systems,
            topics=self.topics,
            measure=self.measure,
        )

    def __repr__(self) -> str:
        return (
            f"Moments({self.measure}, {self.moments}: {len(self.systems)} systems, "
            f"{len(self.topics)} topics, {len(self.pairs)} pairs, {len(self.expected)} draws)"
        )


def moments(
    pool: Pool,
    probabilities: ArrayLike,
    *,
    measure: str = "AP",
    moments: Literal["exact", "plugin"] = "exact",
    tolerance: float = 1e-8,
    pairs: ArrayLike | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress = silent,
) -> Moments:
    """Moments of a measure, and of all differences between systems, under probable relevance.

    Documents are independent given the probabilities.

    Parameters
    ----------
    pool : Pool
    probabilities : array_like, shape (documents,) or (draws, documents)
        Probabilities of relevance of the pool's documents, in [0, 1]; 0 and 1 for judged ones.
        They are read topic by topic: an array in a file (numpy.memmap) is never held whole.
    measure : str, default "AP"
        AP, P, R, DCG, nDCG, RBP or RR, with cutoffs and RBP's p as ir-measures writes them.
    moments : {"exact", "plugin"}
        The measure's own moments, or those of its numerator over the denominator at the expected
        number of relevant documents (for AP: Carterette 2007, section 3.2). Linear measures (P,
        DCG, RBP) and RR have only one kind.
    tolerance : float
        Bound on the error of an expected score on a topic, and about that of a variance, for AP;
        in [1e-15, 0.01]. Other measures are exact to rounding.
    pairs : array_like of int, shape (pairs, 2), optional
        System numbers; by default every pair, the first before the second in the pool.
    jobs : int
        Topics at a time, in threads; -1 for one on every core. It does not change the numbers.
    scheduler : str, optional
        ``dask://HOST:PORT``, of a cluster that takes the place of threads.
    progress : Progress
        Called as topics are done.

    Returns
    -------
    Moments

    Raises
    ------
    InputError
        Probabilities of another shape or outside [0, 1], a measure without known moments,
        pairs of systems that are not there, or a cluster that cannot be used.
    UnfinishedError
        The cluster was lost.
    """
    parsed = parse_measure(measure)
    if parsed.kind is None:
        raise InputError(
            f"the moments of {measure} are not known", remedy="sample outcomes instead (montecarlo)"
        )
    if moments not in ("exact", "plugin"):
        raise InputError(f"moments are {moments!r}", remedy="choose exact or plugin")
    if not 1e-15 <= tolerance <= 0.01:
        raise InputError(f"tolerance is {tolerance}", remedy="choose one in [1e-15, 0.01]")
    draws = np.atleast_2d(np.asarray(probabilities))
    check_count(pool, draws)
    chosen = _checked_pairs(pool, pairs)

    work = partial(
        _one_topic, measure=parsed, chosen=chosen, exact=moments == "exact", tolerance=tolerance
    )
    by_topic = each_topic(work, topic_parts(pool, draws), jobs=jobs, scheduler=scheduler)
    cells = (len(draws), pool.n_systems, pool.n_topics)
    expected, variance = np.zeros(cells), np.zeros(cells)
    totals = tuple(np.zeros((len(chosen), len(draws))) for _ in range(5))
    for t, blocks in enumerate(by_topic):
        for first, block in zip(range(0, len(draws), _DRAWS), blocks, strict=True):
            inside = slice(first, first + _DRAWS)
            expected[inside, :, t] = block.expected
            variance[inside, :, t] = block.variance
            for total, part in zip(totals, block.by_pair, strict=True):
                total[:, inside] += part[block.number]
        progress("topics", t + 1, pool.n_topics)
    topics = max(pool.n_topics, 1)
    difference, spread, third, fourth, log_tie = (np.ascontiguousarray(x.T) for x in totals)
    return Moments(
        systems=pool.systems,
        topics=pool.topics,
        measure=parsed.name,
        moments=moments,
        expected=expected,
        variance=variance,
        pairs=chosen,
        difference_expected=difference / topics,
        difference_variance=spread / topics**2,
        third=third / topics**3,
        fourth=fourth / topics**4,
        log_tie=log_tie,
    )


class _Block(NamedTuple):
    """Moments on one topic for some draws.

    Attributes
    ----------
    expected, variance : ndarray, shape (draws, systems)
    by_pair : tuple of ndarray, shape (pairs of lists, draws)
        Difference, its variance, its third and fourth cumulants, and log of a tie.
    number : ndarray of int64, shape (pairs,)
        For every pair of systems its pair of lists.
    """

    expected: Floats
    variance: Floats
    by_pair: tuple[Floats, ...]
    number: NDArray[np.int64]


def _one_topic(
    topic: TopicPart,
    *,
    measure: Measure,
    chosen: NDArray[np.int64],
    exact: bool,
    tolerance: float,
) -> list[_Block]:
    draws = topic.draws
    documents = draws.shape[1]
    lists, which = topic.lists.cut(measure.cutoff).distinct()
    on_lists = on_topic(measure, lists, documents)
    # pairs of systems whose lists are the same two are one pair
    codes, number = np.unique(which[chosen] @ [lists.n_lists, 1], return_inverse=True)
    pairs = np.stack(np.divmod(codes, lists.n_lists), axis=1)
    overlaps = Overlaps.of(lists, documents, pairs)
    shared = overlaps.pairs, overlaps.starts, overlaps.first, overlaps.second
    blocks = []
    for begin in range(0, len(draws), _DRAWS):
        p = np.ascontiguousarray(draws[begin : begin + _DRAWS], dtype=np.float64)
        part = on_lists.over_draws(p, overlaps, exact=exact, tolerance=tolerance)
        score = part.expected.T
        with np.errstate(divide="ignore"):
            log_q = np.ascontiguousarray(np.log1p(-p).T)
        by_pair = (
            score[pairs[:, 0]] - score[pairs[:, 1]],
            part.difference_variance,
            part.third,
            part.fourth,
            log_ties(*lists, *shared, log_q),
        )
        blocks.append(_Block(part.expected[:, which], part.variance[:, which], by_pair, number))
    return blocks


def check_count(pool: Pool, probabilities: NDArray[np.floating]) -> None:
    """See that there is a probability for every document of the pool.

    Raises
    ------
    InputError
    """
    if probabilities.shape[-1] != pool.n_documents:
        raise InputError(
            f"{probabilities.shape[-1]} probabilities for {pool.n_documents} documents",
            remedy="give one for every document of the pool",
        )


class TopicPart(NamedTuple):
    """A topic's part of a pool and of probabilities.

    Attributes
    ----------
    number : int
        Of the topic in the pool.
    lists : Lists
        As of :meth:`Pool.lists`.
    draws : ndarray, shape (draws, documents of the topic)
    """

    number: int
    lists: Lists
    draws: NDArray[np.floating]


def topic_parts(pool: Pool, draws: NDArray[np.floating]) -> Iterator[tuple[TopicPart]]:
    """Part a pool and probabilities by topic, each part the one argument of a call.

    Parameters
    ----------
    pool : Pool
    draws : ndarray, shape (draws, documents)

    Yields
    ------
    tuple of TopicPart

    Raises
    ------
    InputError
        If a probability is outside [0, 1], naming the first document that is wrong.
    """
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        # not a memmap, which another process could not open
        part = np.asarray(draws[:, inside])
        wrong = ~((part >= 0.0) & (part <= 1.0))
        if wrong.any():
            draw, document = np.argwhere(wrong)[0]
            raise InputError(
                f"the probability of document {pool.docnos[inside.start + document]} of topic "
                f"{pool.topics[t]} is {part[draw, document]}",
                remedy="give probabilities in [0, 1]",
            )
        yield (TopicPart(t, pool.lists(t), part),)


def _checked_pairs(pool: Pool, pairs: ArrayLike | None) -> NDArray[np.int64]:
    if pairs is None:
        return np.argwhere(np.triu(np.ones((pool.n_systems,) * 2, dtype=bool), 1)).astype(np.int64)
    chosen = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < pool.n_systems):
        raise InputError(f"pairs name systems outside 0 to {pool.n_systems - 1}")
    return chosen
