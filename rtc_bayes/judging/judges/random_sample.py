"""A random sample of each topic's documents, by known probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.errors import InputError
from rtc_bayes.judging.judges.in_turn import InFixedOrder
from rtc_bayes.judging.judges.interface import Chooser
from rtc_bayes.measures.sampling import Sample, permanent_numbers, sampling_weights
from rtc_bayes.measures.staged import drawn_more
from rtc_bayes.relevance.options import check_options

type Floats = NDArray[np.float64]

EDGES = (10, 30)
"""Where strata end: best rank 1 to 10, 11 to 30, and below."""

_LEAST = 2.0**-53


@dataclass(frozen=True)
class RandomSample:
    """Judge a random sample of each topic's documents, the topics in turn.

    Estimates from samples (``statap``, ``infap``, ``xinfap``) need the probability with which each
    document was drawn: :meth:`sample`.

    Parameters
    ----------
    by : {"rank", "depth", "uniform", "strata"}
        "rank", "depth" and "uniform": in the order of a random number over the weight of
        :func:`rtc_bayes.inclusion_probabilities`, which is sequential Poisson sampling (Ohlsson
        1998). "strata": documents of best rank 1 to 10, 11 to 30 and below, in turn, at random
        within each (Yilmaz, Kanoulas and Aslam, SIGIR 2008), so that the probability is exactly
        the share of the stratum that is judged.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=20)
    >>> judge = RandomSample(by="strata")
    >>> result = rb.build(pool, simulated.qrels, judge, budget=12, seed=3)
    >>> judge.sample(result.judgments, seed=3)
    Sample(12 of 106 documents judged, 12.0 expected)
    """

    by: Literal["rank", "depth", "uniform", "strata"] = "rank"
    name: ClassVar[str] = "sample"
    has_confidence: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_options(self)

    def start(self, judgments: Judgments, *, seed: int) -> Chooser:
        """Make the chooser of one session; the seed gives the random numbers."""
        pool = judgments.pool
        numbers = _numbers(pool, seed)
        if self.by != "strata":
            with np.errstate(divide="ignore"):
                ratio = numbers / sampling_weights(pool, self.by)
            # the order of drawn_more to the last digit, so that `sample` knows what was drawn
            return InFixedOrder(judgments, 1.0 / ratio, _places(ratio))
        strata = strata_of(pool)
        weights = np.zeros(pool.n_documents)
        for t, s in np.ndindex(pool.n_topics, len(EDGES) + 1):
            inside = pool.documents(t)
            members = inside.start + np.flatnonzero(strata[inside] == s)
            # the first of every stratum, then the second of every stratum, ...
            place = _places(numbers[members])
            weights[members] = 1.0 / (1.0 + place * (len(EDGES) + 1) + s)
        return InFixedOrder(judgments, weights, np.arange(pool.n_documents))

    def sample(self, judgments: Judgments, *, seed: int) -> Sample:
        """Say with which probability each document was drawn.

        By "strata" and "uniform" it is the share of the stratum, or topic, that is judged. By
        "rank" and "depth" it is that of a stage of :func:`rtc_bayes.measures.staged.drawn_more`
        (priority sampling: Duffield, Lund and Thorup 2007): with these Horvitz and Thompson's
        estimates are unbiased, and documents are as independent as in a Poisson sample.

        Parameters
        ----------
        judgments : Judgments
            All of them by this judge, over the pool that it judged.
        seed : int, at least 0
            That judging had.

        Returns
        -------
        Sample
            With strata by "uniform", of which there is one, and "strata".

        Raises
        ------
        InputError
            By "rank" or "depth" judgments of other documents than the judge draws with this seed.
        """
        pool = judgments.pool
        if self.by in ("uniform", "strata"):
            ranked = np.where(pool.best_ranks > 0, 0, -1)
            strata = strata_of(pool) if self.by == "strata" else ranked
            return Sample(judgments, _shares(judgments, strata), strata)
        weights, numbers = sampling_weights(pool, self.by), _numbers(pool, seed)
        probability = np.zeros(pool.n_documents)
        for t in range(pool.n_topics):
            inside = pool.documents(t)
            u, w, drawn = numbers[inside], weights[inside], judgments.judged[inside]
            of_topic = drawn_more(np.zeros(len(u)), u, w, int(drawn.sum()))
            if ((u < of_topic) != drawn).any():
                raise InputError(
                    f"judgments of topic {pool.topics[t]} that {self.name} does not make with seed "
                    f"{seed}",
                    remedy="give the seed that judging had, and the judgments of this judge alone",
                )
            probability[inside] = of_topic
        return Sample(judgments, probability)


def _numbers(pool: Pool, seed: int) -> Floats:
    """Permanent random numbers, above 0."""
    return np.maximum(permanent_numbers(pool, seed=seed), _LEAST)


def _places(values: Floats) -> NDArray[np.int64]:
    """Return the place of each value in ascending order, from 0; of equals the first is first."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")


def _shares(judgments: Judgments, strata: NDArray[np.int64]) -> Floats:
    """Return which share of its stratum, on its topic, is judged, for every document."""
    key = judgments.pool.topic_of * (strata.max() + 2) + strata + 1
    judged = np.bincount(key, weights=judgments.judged)
    shares: Floats = (judged / np.maximum(np.bincount(key), 1))[key]
    return np.where(strata >= 0, shares, 0.0)


def strata_of(pool: Pool) -> NDArray[np.int64]:
    """Return the stratum of every document by its best rank, -1 where no system ranks it.

    Parameters
    ----------
    pool : Pool

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> lists = {"1": [f"d{n:02d}" for n in range(40)]}
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", lists)]))
    >>> np.bincount(strata_of(pool)).tolist()
    [10, 20, 10]
    """
    best = pool.best_ranks
    return np.where(best > 0, np.searchsorted(EDGES, best), -1)
