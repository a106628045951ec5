"""Judgments of a random sample of documents, each with the probability that it was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import check_type, whole_number
from rtc_bayes.collection import Judgments, Pool, Qrels, Runs
from rtc_bayes.collection.ids import shared_topics
from rtc_bayes.collection.immutable import freeze
from rtc_bayes.collection.pool import ONE_EACH
from rtc_bayes.collection.qrels import Prel, Prels, level_of
from rtc_bayes.errors import InputError
from rtc_bayes.measures.estimand import Estimand
from rtc_bayes.measures.staged import expected_more
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import counted

type Floats = NDArray[np.float64]

SamplingWeights = Literal["uniform", "depth", "rank"]


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Judgments that carry their inclusion probabilities (Poisson sampling).

    Attributes
    ----------
    judgments : Judgments
        Of the documents drawn; labels 0 or 1.
    probability : ndarray of float, shape (documents,)
        The probability with which each document of the pool was to be drawn, in [0, 1]; above 0
        where it is judged. Draws are independent. NaN where it is not known, of a document that
        was not drawn.
    strata : ndarray of int, shape (documents,), or None
        The stratum of every document, within its topic, of which all judged documents are a simple
        random sample; -1: in none. None where draws are not by strata.

    Raises
    ------
    InputError
        Other probabilities, or labels between 0 and 1.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> probability = rb.inclusion_probabilities(pool, 8, sampling="rank")
    >>> sample = rb.Sample.draw(pool, simulated.qrels, probability, seed=1)
    >>> sample
    Sample(21 of 54 documents judged, 24.0 expected)
    """

    judgments: Judgments
    probability: Floats
    strata: NDArray[np.integer] | None = None

    def __post_init__(self) -> None:
        probability = np.array(self.probability, dtype=np.float64)
        pool = self.judgments.pool
        if probability.shape != (pool.n_documents,):
            raise InputError(
                f"probability has shape {probability.shape}, and the pool "
                f"{counted(pool.n_documents, 'document')}",
                remedy=ONE_EACH,
            )
        if ((probability < 0.0) | (probability > 1.0)).any():
            raise InputError("an inclusion probability is outside [0, 1]", remedy="give others")
        judged = self.judgments.judged
        if not (probability[judged] > 0.0).all():
            first = int(np.flatnonzero(judged & ~(probability > 0.0))[0])
            topic = pool.topics[pool.topic_of[first]]
            raise InputError(
                f"document {pool.docnos[first]} of topic {topic} is judged, but has no inclusion "
                "probability above 0",
                remedy="give the probability with which it was drawn, 1 if it was sure to be",
            )
        if not np.isin(self.judgments.labels[judged], (0.0, 1.0)).all():
            raise InputError(
                "a label is neither 0 nor 1", remedy="give labels of relevant and nonrelevant"
            )
        freeze(probability)
        object.__setattr__(self, "probability", probability)

    @classmethod
    @explains_types
    def draw(
        cls,
        pool: Pool,
        qrels: Qrels,
        probability: ArrayLike,
        *,
        seed: int = 0,
        relevance_level: int | None = None,
    ) -> Sample:
        """Draw documents and label them by a truth file; one that it lacks is nonrelevant.

        Parameters
        ----------
        pool : Pool
        qrels : Qrels
        probability : array-like of float, shape (documents,)
            From 0 to 1.
        seed : int
            Of the permanent random numbers.
        relevance_level : int, optional
            Grades from here on are relevant; by default the level that the qrels name, or 1.
        """
        check_type(pool, Pool, "the pool is", "pool the runs: Pool.from_runs(runs)")
        drawn = np.flatnonzero(poisson_sample(pool, probability, seed=seed))
        judgments = judged_by(pool, qrels, drawn, level_of(qrels, relevance_level))
        return cls(judgments, np.asarray(probability, dtype=np.float64))

    @classmethod
    def from_prels(
        cls,
        lists: Pool | Runs,
        prels: Prels,
        *,
        relevance_level: int | None = None,
        unfinished: bool = False,
    ) -> Sample:
        """Take prels, as :func:`rtc_bayes.read_prels` reads them, over a pool, or over whole lists.

        A document with probability 1, such as those that no sample drew (method 0), stands for
        itself alone.

        Parameters
        ----------
        lists : Pool or Runs
            A pool, whose lists are scored to its depth, or runs: their whole lists, as far down as
            ranks are known, of the topics of the prels. Documents of the prels that they lack are
            added.
        prels : Prels
        relevance_level : int, optional
            Grades from here on are relevant; by default the level that the prels name, or 1.
        unfinished : bool
            Whether documents may have no grade yet (a negative one), as in an audit under way.
            Estimates of scores take them for not drawn, and are then too low.

        Raises
        ------
        InputError
            A document without a grade, unless that is allowed; no topic in common.

        Warns
        -----
        CollectionWarning
            Topics of the prels that no run has.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> from rtc_bayes.collection import Prel, Prels
        >>> runs = rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})])
        >>> prels = Prels({"1": {"a": Prel(1, 1, 1.0), "c": Prel(1, 1, 0.5)}})
        >>> rb.stat_ap(rb.Sample.from_prels(runs, prels)).scores.mean.round(2).tolist()
        [[0.78]]
        """
        check_type(prels, Prels, "prels are", "read them: read_prels(FILE)")
        if not unfinished:
            _check_finished(prels)
        pool = lists if isinstance(lists, Pool) else _whole_lists(lists, prels)
        judgments = Judgments.from_qrels(pool, prels.qrels(), relevance_level=relevance_level)
        # those without a grade yet, too: an audit waits for all that were drawn
        drawn = {topic: list(rows) for topic, rows in prels.items() if topic in pool.topics}
        judgments = judgments.on(judgments.pool.with_documents(drawn))
        pool = judgments.pool
        probability = np.full(pool.n_documents, np.nan)
        for topic, rows in prels.items():
            place = pool.locate(topic, list(rows))
            held = place >= 0
            of_rows = np.array([row.probability for row in rows.values()])
            probability[place[held]] = of_rows[held]
        return cls(judgments, probability)

    def to_prels(self, *, algorithm: int = 1) -> Prels:
        """Return the judgments with their probabilities, as ``write_prels`` writes them.

        Parameters
        ----------
        algorithm : int
            The number to give the method, 1 as in Million Query files of statAP.
        """
        pool = self.judgments.pool
        grades = self.judgments.to_qrels()
        rows: dict[str, dict[str, Prel]] = {}
        for topic, graded in grades.items():
            place = pool.locate(topic, list(graded))
            rows[topic] = {
                docno: Prel(grade, algorithm, float(self.probability[d]))
                for (docno, grade), d in zip(graded.items(), place, strict=True)
            }
        return Prels(rows, relevance_level=grades.relevance_level)

    @explains_types
    def on(self, pool: Pool) -> Sample:
        """Return the sample over another pool; a document that this pool lacks was not drawn.

        Parameters
        ----------
        pool : Pool
            It is extended by judged documents that it lacks.
        """
        judgments = self.judgments.on(pool)
        every, own = judgments.pool, self.judgments.pool
        probability = np.full(every.n_documents, np.nan)
        strata = np.full(every.n_documents, -1)
        for t, topic in enumerate(every.topics):
            inside = every.documents(t)
            place = own.locate(topic, every.docnos[inside])
            held = np.flatnonzero(place >= 0)
            probability[inside.start + held] = self.probability[place[held]]
            if self.strata is not None:
                strata[inside.start + held] = self.strata[place[held]]
        return Sample(judgments, probability, None if self.strata is None else strata)

    def select_topics(self, topics: Sequence[str]) -> Sample:
        """Return the sample of some topics, in the pool's order."""
        return self.on(self.judgments.pool.select_topics(topics))

    @property
    def weights(self) -> Floats:
        """One over the probability of every relevant document drawn, else 0; (documents,)."""
        relevant = np.nan_to_num(self.judgments.labels) > 0.0
        return np.where(relevant, 1.0 / np.where(relevant, self.probability, 1.0), 0.0)

    def __repr__(self) -> str:
        n, every = self.judgments.n_judged, self.probability
        expected = f", {every.sum():.1f} expected" if not np.isnan(every).any() else ""
        return f"Sample({n} of {counted(len(every), 'document')} judged{expected})"


def _check_finished(prels: Prels) -> None:
    """Refuse documents that were drawn and have no grade yet."""
    waiting = [
        (topic, docno)
        for topic, rows in prels.items()
        for docno, row in rows.items()
        if row.relevance < 0
    ]
    if waiting:
        topic, docno = waiting[0]
        have = "have" if len(waiting) > 1 else "has"
        raise InputError(
            f"{counted(len(waiting), 'document')} of the sample {have} no grade yet: {docno} of "
            f"topic {topic}" + (", ..." if len(waiting) > 1 else ""),
            path=prels.path or None,
            remedy="grade all that was drawn: an estimate takes what has no grade for not drawn",
        )


def _whole_lists(runs: Runs, prels: Prels) -> Pool:
    """Pool runs on the topics of a sample, with lists as far down as ranks are known."""
    # topics that no run has are named where the judgments are read
    shared = shared_topics(runs.topics, prels.topics, prels.path, say=False)
    return Estimand().pool(runs, prels.qrels()).select_topics(shared)


def judged_by(
    pool: Pool, qrels: Qrels, documents: NDArray[np.integer], relevance_level: int
) -> Judgments:
    """Judge documents, in this order, by a truth file; one that it lacks is nonrelevant."""
    topic_of = pool.topic_of
    grades = [
        max(qrels.get(pool.topics[topic_of[d]], {}).get(pool.docnos[d], 0), 0) for d in documents
    ]
    labels = [float(grade >= relevance_level) for grade in grades]
    return Judgments.from_labels(
        pool, documents, labels, grades=grades, relevance_level=relevance_level
    )


def permanent_numbers(pool: Pool, *, seed: int = 0) -> Floats:
    """Give every document of a pool its permanent random number, uniform in [0, 1).

    It depends on the seed, the topic and the docno alone: in another pool, or at a later stage, a
    document has the same one (Brewer, Early and Joyce 1972; Ohlsson 1995).

    Parameters
    ----------
    pool : Pool
    seed : int, at least 0

    Returns
    -------
    ndarray of float, shape (documents,)

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=4, seed=1).runs, depth=10)
    >>> part = pool.select_topics(pool.topics[:1])
    >>> bool((permanent_numbers(part) == permanent_numbers(pool)[: part.n_documents]).all())
    True
    """
    key = str(whole_number("seed", seed)).encode()
    numbers = np.empty(pool.n_documents)
    for t, topic in enumerate(pool.topics):
        begun = blake2b(key + b"\0" + topic.encode() + b"\0", digest_size=8)
        for document in range(pool.topic_starts[t], pool.topic_starts[t + 1]):
            one = begun.copy()
            one.update(str(pool.docnos[document]).encode())
            # 53 bits, as many as a float holds
            numbers[document] = (int.from_bytes(one.digest(), "big") >> 11) * 2.0**-53
    return numbers


def poisson_sample(pool: Pool, probability: ArrayLike, *, seed: int = 0) -> NDArray[np.bool_]:
    """Draw each document by itself: those whose permanent random number is below its probability.

    Where probabilities never fall from one stage to the next, with one seed, a stage's sample
    holds the sample of the stage before, and is a Poisson sample with its own probabilities.

    Parameters
    ----------
    pool : Pool
    probability : array-like of float, shape (documents,)
        From 0 to 1.
    seed : int, at least 0

    Returns
    -------
    ndarray of bool, shape (documents,)

    Raises
    ------
    InputError
        Probabilities outside [0, 1], or not one for each document.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=4, seed=1).runs, depth=10)
    >>> few, more = (poisson_sample(pool, np.full(pool.n_documents, p)) for p in (0.1, 0.3))
    >>> bool(more[few].all()), int(few.sum()) < int(more.sum())
    (True, True)
    """
    probability = np.asarray(probability, dtype=np.float64)
    if probability.shape != (pool.n_documents,):
        raise InputError(
            f"probability has shape {probability.shape}, and the pool "
            f"{counted(pool.n_documents, 'document')}",
            remedy=ONE_EACH,
        )
    wrong = ~((probability >= 0.0) & (probability <= 1.0))
    if wrong.any():
        raise InputError(
            f"an inclusion probability is {probability[wrong][0]:g}",
            remedy="give numbers from 0 to 1",
        )
    return permanent_numbers(pool, seed=seed) < probability


@moved(weights="write sampling")
@explains_types
def inclusion_probabilities(
    pool: Pool, size: float, *, sampling: SamplingWeights | ArrayLike = "rank"
) -> Floats:
    """Return inclusion probabilities in proportion to weights, for a sample of a given size.

    In every topic min(1, c times weight), with c so that they sum to the size, or all that have
    weight are sure to be drawn. They never fall as the size grows.

    Parameters
    ----------
    pool : Pool
    size : float, above 0
        Expected number of documents drawn in a topic.
    sampling : {"uniform", "depth", "rank"} or array-like of float, shape (documents,)
        Weights of documents, or their name. "uniform": alike; "depth": one over the best rank;
        "rank": the mean over systems of the prior of average precision (:func:`rank_prior`). A
        document that no system ranks has no weight by the last two.

    Returns
    -------
    ndarray of float, shape (documents,)

    Raises
    ------
    InputError
        A size that is not above 0, or weights that are below 0 or infinite.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c", "d"]})])
    >>> pool = rb.Pool.from_runs(runs, depth=4)
    >>> inclusion_probabilities(pool, 2, sampling="depth").round(3).tolist()
    [0.96, 0.48, 0.32, 0.24]
    """
    if not size > 0.0:
        raise InputError(f"size is {size}", remedy="give a number of documents above 0")
    values = sampling_weights(pool, sampling)
    probability = np.zeros(pool.n_documents)
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        probability[inside] = expected_more(probability[inside], values[inside], size)
    return probability


def sampling_weights(pool: Pool, sampling: SamplingWeights | ArrayLike) -> Floats:
    """Return what inclusion probabilities are in proportion to: see the function before this.

    Raises
    ------
    InputError
        Weights that are below 0 or infinite, or not one for each document.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> sampling_weights(pool, "depth").tolist()
    [1.0, 0.5]
    """
    if not isinstance(sampling, str):
        values = np.asarray(sampling, dtype=np.float64)
        if values.shape != (pool.n_documents,) or not ((values >= 0.0) & (values < np.inf)).all():
            raise InputError(
                "weights are below 0 or infinite, or not one for each document",
                remedy="give uniform, depth, rank, or finite numbers of at least 0",
            )
        return values
    best = pool.best_ranks
    if sampling == "uniform":
        return np.ones(pool.n_documents)
    if sampling == "depth":
        return np.where(best > 0, 1.0 / np.maximum(best, 1), 0.0)
    if sampling == "rank":
        by_topic = [rank_prior(pool.ranks(t)).mean(axis=0) for t in range(pool.n_topics)]
        return np.concatenate([np.zeros(0), *by_topic])
    raise InputError(f"sampling is {sampling!r}", remedy="give uniform, depth or rank")


def rank_prior(ranks: NDArray[np.integer]) -> Floats:
    """Return the prior of average precision of every system over its documents.

    Draw a rank of n uniformly, as average precision does, then a document at it or above: the
    document at rank r has probability (H_n - H_(r-1))/n, with H the harmonic numbers, about
    log(n/r)/n (Aslam, Pavlu and Yilmaz, SIGIR 2006; Li and Kanoulas, CIKM 2017).

    Parameters
    ----------
    ranks : ndarray of int, shape (systems, documents)
        From 1; 0 where a system does not retrieve a document.

    Returns
    -------
    ndarray of float, shape (systems, documents)
        Each system's sums to 1 where it ranks a document at every rank down to n.

    Examples
    --------
    >>> rank_prior(np.array([[2, 1, 0]])).tolist()
    [[0.25, 0.75, 0.0]]
    """
    prior = np.zeros(ranks.shape)
    for row, of_system in zip(prior, ranks, strict=True):
        listed = of_system > 0
        n = int(of_system.max(initial=0))
        tails = np.cumsum(1.0 / np.arange(n, 0, -1))[::-1]
        row[listed] = tails[of_system[listed] - 1] / max(n, 1)
    return prior


def equal_parts(most: Floats, total: float) -> Floats:
    """Spread a number of documents equally, in parts of one too, no more to each than its most.

    Parameters
    ----------
    most : ndarray of float, at least 0
    total : float, at least 0

    Returns
    -------
    ndarray of float
        They sum to the total, or are all that is available.

    Examples
    --------
    >>> equal_parts(np.array([5.0, 1.0, 5.0]), 8.0).tolist()
    [3.5, 1.0, 3.5]
    """
    if total >= most.sum() * (1.0 - 1e-12):
        return most.copy()
    rising = np.sort(most)
    used_up = np.cumsum(rising) - rising
    level = (total - used_up) / np.arange(len(most), 0, -1)
    return np.minimum(most, level[np.argmax(level <= rising)])
