"""Moments of a measure under probable relevance: per system and topic, and of every difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import check_word, real_number, with_article
from rtc_bayes.collection.grades import GradeDistribution
from rtc_bayes.collection.immutable import freeze_fields
from rtc_bayes.collection.lists import Lists
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.collection.pool import ONE_EACH
from rtc_bayes.collection.relevance import HasRelevance, Relevance, as_relevance
from rtc_bayes.errors import InputError
from rtc_bayes.measures.analytic import on_topic
from rtc_bayes.measures.names import Measure, MeasureLike, parse_measure
from rtc_bayes.measures.overlaps import Overlaps
from rtc_bayes.measures.pairs import log_ties
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import counted
from rtc_bayes.workers import Workers, each_topic

if TYPE_CHECKING:
    import xarray as xr

    from rtc_bayes.collection import Pool

Floats = NDArray[np.float64]

# draws that are worked on at once
_DRAWS = 128
_OF_PAIRS = ("difference_expected", "difference_variance", "third", "fourth", "log_tie")


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Moments of a measure for systems and pairs of systems, for every draw of probabilities.

    A difference is that of the means over topics, first system less second. Arrays that are given
    to the class itself are not copied, and become read-only.

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

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=4).runs, depth=5)
    >>> scores = rb.moments(pool, np.full(pool.n_documents, 0.5), measure="P@5")
    >>> scores
    Moments(P@5, exact: 4 systems, 3 topics, 6 pairs, 1 draw)
    >>> scores.mean_expected.round(3).tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    >>> scores.score_matrix()
    ScoreMatrix(P@5, 4 systems, 3 topics)
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
        freeze_fields(self)

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

    def to_xarray(self) -> xr.Dataset:
        """Return the moments with dims draw, system, topic and pair.

        The systems of a pair are its coordinates `a` and `b`.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=4).runs, depth=5)
        >>> data = rb.moments(pool, np.full(pool.n_documents, 0.5)).to_xarray()
        >>> dict(data.sizes)
        {'draw': 1, 'system': 4, 'topic': 3, 'pair': 6}
        >>> data.attrs
        {'measure': 'AP', 'moments': 'exact'}
        """
        import xarray as xr

        names = np.array(self.systems, dtype=str)
        of_cells = {name: getattr(self, name) for name in ("expected", "variance")}
        of_pairs = {name: getattr(self, name) for name in _OF_PAIRS}
        return xr.Dataset(
            {name: (("draw", "system", "topic"), values) for name, values in of_cells.items()}
            | {name: (("draw", "pair"), values) for name, values in of_pairs.items()},
            coords={
                "system": names,
                "topic": np.array(self.topics, dtype=str),
                "a": ("pair", names[self.pairs[:, 0]]),
                "b": ("pair", names[self.pairs[:, 1]]),
            },
            attrs={"measure": self.measure, "moments": self.moments},
        )

    def __repr__(self) -> str:
        return (
            f"Moments({self.measure}, {self.moments}: {counted(len(self.systems), 'system')}, "
            f"{counted(len(self.topics), 'topic')}, {counted(len(self.pairs), 'pair')}, "
            f"{counted(len(self.expected), 'draw')})"
        )


@explains_types
@moved(probabilities="write relevance")
def moments(
    pool: Pool,
    relevance: ArrayLike | Relevance | HasRelevance,
    *,
    measure: MeasureLike = "AP",
    moments: Literal["exact", "plugin"] = "exact",
    tolerance: float = 1e-8,
    pairs: ArrayLike | Literal["all", "none"] = "all",
    workers: Workers = Workers(),
) -> Moments:
    """Moments of a measure, and of all differences between systems, under probable relevance.

    Documents are independent given the probabilities.

    Parameters
    ----------
    pool : Pool
    relevance : Relevance, Fit, or array_like of shape (documents,) or (draws, documents)
        Probabilities of relevance of the pool's documents, in [0, 1]; 0 and 1 for judged ones.
        An array is read topic by topic: one in a file (numpy.memmap) is never held whole. A
        Relevance adds the documents outside the pool that may be relevant.
    measure : str or measure of ir_measures, default "AP"
        AP, P, R, DCG, nDCG, RBP or RR, with cutoffs and RBP's p as ir-measures writes them.
    moments : {"exact", "plugin"}
        The measure's own moments, or those of its numerator over the denominator at the expected
        number of relevant documents (for AP: Carterette 2007, section 3.2). Linear measures (P,
        DCG, RBP) and RR have only one kind.
    tolerance : float
        Bound on the error of an expected score on a topic, and about that of a variance, for AP;
        in [1e-15, 0.01]. Other measures are exact to rounding.
    pairs : "all", "none", or array_like of int of shape (pairs, 2)
        Differences of which systems, by number: of every pair (the first before the second in the
        pool), of no pair (where scores of systems are all that is wanted), or of these.
    workers : Workers
        How many topics are worked on at a time, and where. It does not change the numbers.

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

    Examples
    --------
    Two systems find the same two documents; each is relevant with probability 0.5.

    >>> import rtc_bayes as rb
    >>> rankings = {"bm25": ["d1", "d2"], "lm": ["d2", "d1"]}
    >>> runs = rb.Runs([rb.Run.from_rankings(tag, {"1": r}) for tag, r in rankings.items()])
    >>> pool = rb.Pool.from_runs(runs, depth=2)
    >>> scores = rb.moments(pool, [0.5, 0.5])
    >>> scores.mean_expected.round(6).tolist()
    [[0.625, 0.625]]
    >>> scores.difference_variance.round(6).tolist()
    [[0.125]]

    Of certain relevance, and no pair:

    >>> rb.moments(pool, [1, 0], pairs="none").mean_expected.tolist()
    [[1.0, 0.5]]
    """
    pool, values, grades = on_pool(pool, relevance)
    parsed, values = by_grade(pool, values, grades, parse_measure(measure))
    if not parsed.has_moments or (parsed.graded and grades is not None):
        of = " of graded judgments" if parsed.has_moments else ""
        raise InputError(
            f"the moments of {measure}{of} are not known",
            remedy="sample outcomes instead (montecarlo)",
        )
    check_word("moments", moments, ("exact", "plugin"))
    real_number("tolerance", tolerance, 1e-15, 0.01, "choose one in [1e-15, 0.01]")
    draws = np.atleast_2d(values)
    chosen = _checked_pairs(pool, pairs)

    work = partial(
        _one_topic, measure=parsed, chosen=chosen, exact=moments == "exact", tolerance=tolerance
    )
    by_topic = each_topic(work, topic_parts(pool, draws), workers)
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
        workers.progress("topics", t + 1, pool.n_topics)
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
        if len(pairs):
            with np.errstate(divide="ignore"):
                log_tie = log_ties(*lists, *shared, np.ascontiguousarray(np.log1p(-p).T))
        else:
            log_tie = np.empty((0, len(p)))
        by_pair = (
            score[pairs[:, 0]] - score[pairs[:, 1]],
            part.difference_variance,
            part.third,
            part.fourth,
            log_tie,
        )
        blocks.append(_Block(part.expected[:, which], part.variance[:, which], by_pair, number))
    return blocks


def on_pool(
    pool: Pool, probabilities: ArrayLike | Relevance | HasRelevance
) -> tuple[Pool, NDArray[np.floating], GradeDistribution | None]:
    """Line probabilities of relevance up with a pool.

    Parameters
    ----------
    pool : Pool
    probabilities : array_like, Relevance or Fit
        An array has shape (documents,) or (draws, documents).

    Returns
    -------
    pool : Pool
        With every document that a Relevance says may be relevant.
    values : ndarray, shape (documents,) or (draws, documents)
    grades : GradeDistribution or None
        Those of a Relevance.

    Raises
    ------
    InputError
        Not numbers, another shape, or a document of the pool without probability.
    """
    if isinstance(probabilities, Relevance) or hasattr(probabilities, "relevance"):
        relevance = as_relevance(probabilities)
        return *relevance.on(pool), relevance.grades
    values = np.asarray(probabilities)
    if values.dtype.kind == "O" and not values.ndim:
        raise InputError(
            f"probabilities are {with_article(type(probabilities).__name__)}",
            remedy="give a Relevance, a Fit (as those that a Comparison was made of), or an array: "
            "(documents,) or (draws, documents)",
        )
    if values.dtype.kind not in "fiub" or values.ndim not in (1, 2):
        raise InputError(
            f"probabilities are a {type(probabilities).__name__} of shape {values.shape}",
            remedy="give a Relevance, a Fit, or an array: (documents,) or (draws, documents)",
        )
    if values.shape[-1] != pool.n_documents:
        raise InputError(
            f"probabilities for {counted(values.shape[-1], 'document')}, and the pool has "
            f"{pool.n_documents:,}",
            remedy=ONE_EACH,
        )
    return pool, values, None


def check_rel(measure: Measure, highest: int | None) -> None:
    """Refuse a ``rel`` that no document has.

    Parameters
    ----------
    measure : Measure
    highest : int or None
        The highest grade judged; None: relevance is binary.

    Raises
    ------
    InputError
        A ``rel`` above 1 without grades, or above the highest.
    """
    if measure.rel > 1 and highest is None:
        raise InputError(
            f"{measure} asks for grades from {measure.rel} on, and no grade above 1 is known here",
            remedy="give a Fit to graded judgments, or a Relevance with grades; or the measure "
            f"without rel, and relevance level {measure.rel}",
        )
    if highest is not None and measure.rel > highest:
        raise InputError(
            f"{measure}: rel={measure.rel} is above the highest grade judged, {highest}",
            remedy=f"give rel from 1 to {highest}",
        )


def by_grade(
    pool: Pool,
    values: NDArray[np.floating],
    grades: GradeDistribution | None,
    measure: Measure,
) -> tuple[Measure, NDArray[np.floating]]:
    """Return a measure without ``rel``, and the probabilities of what is relevant to it.

    Parameters
    ----------
    pool : Pool
    values : ndarray, shape (documents,) or (draws, documents)
        Probabilities of relevance.
    grades : GradeDistribution or None
    measure : Measure

    Raises
    ------
    InputError
        A ``rel`` above 1 without grades, or above the highest.
    """
    check_rel(measure, None if grades is None else grades.highest)
    if measure.rel and grades is not None:
        values = grades.at_least(pool, values, measure.rel)
    return replace(measure, rel=0), values


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


def _checked_pairs(pool: Pool, pairs: ArrayLike | Literal["all", "none"]) -> NDArray[np.int64]:
    remedy = 'give "all", "none", or rows of two system numbers'
    if isinstance(pairs, str):
        if pairs not in ("all", "none"):
            raise InputError(f"pairs are {pairs!r:.80}", remedy=remedy)
        systems = pool.n_systems if pairs == "all" else 0
        return np.stack(all_pairs(systems), axis=1)
    chosen = np.asarray(pairs)
    if chosen.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if chosen.dtype.kind not in "iu" or chosen.ndim != 2 or chosen.shape[1] != 2:
        raise InputError(f"pairs are {pairs!r:.80}", remedy=remedy)
    if chosen.min() < 0 or chosen.max() >= pool.n_systems:
        raise InputError(f"pairs name systems outside 0 to {pool.n_systems - 1}", remedy=remedy)
    return chosen.astype(np.int64)
