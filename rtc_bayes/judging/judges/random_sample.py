"""A random sample of each topic's documents, by known probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.judging.judges.in_turn import InFixedOrder
from rtc_bayes.judging.judges.interface import Chooser
from rtc_bayes.measures.sampling import Sample, permanent_numbers, sampling_weights, scaled
from rtc_bayes.relevance.options import check_options

type Floats = NDArray[np.float64]

EDGES = (10, 30)
"""Where strata end: best rank 1 to 10, 11 to 30, and below."""

_LEAST = 2.0**-53


@dataclass(frozen=True)
class RandomSample:
    """Judge a random sample of each topic's documents, the topics in turn.

    Estimates from samples (``statap``, ``infap``, ``xinfap``) need the probability with which each
    document was drawn, which the judge knows for as many judgments as there are.

    Parameters
    ----------
    by : {"rank", "depth", "uniform", "strata"}
        "rank", "depth" and "uniform": in the order of a random number over the weight of
        :func:`rtc_bayes.inclusion_probabilities`, which is sequential Poisson sampling (Ohlsson
        1998); n documents are drawn with about the probabilities of a sample of n. "strata":
        documents of best rank 1 to 10, 11 to 30 and below, in turn, at random within each
        (Yilmaz, Kanoulas and Aslam, SIGIR 2008), so that the probability is exactly the share of
        the stratum that is judged.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=20)
    >>> judge = RandomSample(by="strata")
    >>> result = rb.build(pool, simulated.qrels, judge, budget=12)
    >>> judge.sample(result.judgments)
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
        numbers = np.maximum(permanent_numbers(pool, seed=seed), _LEAST)
        if self.by != "strata":
            weights = sampling_weights(pool, self.by) / numbers
        else:
            strata = strata_of(pool)
            weights = np.zeros(pool.n_documents)
            for t, s in np.ndindex(pool.n_topics, len(EDGES) + 1):
                inside = pool.documents(t)
                members = inside.start + np.flatnonzero(strata[inside] == s)
                place = np.argsort(np.argsort(numbers[members], kind="stable"), kind="stable")
                # the first of every stratum, then the second of every stratum, ...
                weights[members] = 1.0 / (1.0 + place * (len(EDGES) + 1) + s)
        return InFixedOrder(judgments, weights, np.arange(pool.n_documents))

    def sample(self, judgments: Judgments) -> Sample:
        """Say with which probability each document was to be drawn, by how many are judged.

        Parameters
        ----------
        judgments : Judgments
            All of them by this judge, over the pool that it judged.

        Returns
        -------
        Sample
            With strata by "uniform", of which there is one, and "strata".
        """
        pool, judged = judgments.pool, judgments.judged
        probability = np.zeros(pool.n_documents)
        strata = strata_of(pool) if self.by == "strata" else np.where(pool.best_ranks > 0, 0, -1)
        weights = None if self.by == "strata" else sampling_weights(pool, self.by)
        for t in range(pool.n_topics):
            inside = pool.documents(t)
            if weights is not None:
                probability[inside] = scaled(weights[inside], float(judged[inside].sum()))
                continue
            for s in range(len(EDGES) + 1):
                members = inside.start + np.flatnonzero(strata[inside] == s)
                probability[members] = judged[members].mean() if len(members) else 0.0
        fixed = self.by in ("uniform", "strata")
        return Sample(judgments, probability, strata if fixed else None)


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
