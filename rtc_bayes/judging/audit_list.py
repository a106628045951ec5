"""The documents of an audit: drawn by known probabilities, and judged in random order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import real_number
from rtc_bayes.collection.ids import by_topic
from rtc_bayes.collection.qrels import Prel, Prels, Qrels
from rtc_bayes.errors import InputError
from rtc_bayes.judging.audit_grades import with_grades
from rtc_bayes.measures.sampling import (
    Sample,
    equal_parts,
    inclusion_probabilities,
    permanent_numbers,
    poisson_sample,
    sampling_weights,
)
from rtc_bayes.signatures import explains_types, moved

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from rtc_bayes.collection import Pool
    from rtc_bayes.measures.sampling import SamplingWeights

type Floats = NDArray[np.float64]

ALGORITHM = 1
"""The number of the method in the prels of an audit, that of statAP."""


@moved(weights="write sampling")
@explains_types
def audit_documents(
    pool: Pool,
    share: float,
    qrels: Qrels | None = None,
    *,
    sampling: SamplingWeights | ArrayLike | None = None,
    seed: int = 0,
) -> Prels:
    """Draw the documents of an audit: a Poisson sample of a share of the pool.

    Every topic is expected to get the same number of documents, but for small ones, of which all
    are drawn: others get what these lack. :func:`audit_order` says in which
    order to judge them, and :func:`audit` what the judgments say of a comparison.

    Parameters
    ----------
    pool : Pool
    share : float, above 0 and at most 1
        The expected number of documents drawn, as a share of the pool's documents.
    qrels : Qrels, optional
        Judgments there are; documents without one have the grade -1. What nobody can judge, those
        that the qrels grade -1, is left out.
    sampling : {"uniform", "depth", "rank"} or array-like of float, shape (documents,); optional
        What probabilities are in proportion to: see :func:`inclusion_probabilities`. By default
        half of a topic's documents are drawn by "rank" and half alike, so that none is so unlikely
        to be drawn that it would count for very many.
    seed : int, at least 0
        Of the permanent random numbers. The same seed is needed to evaluate the audit.

    Returns
    -------
    Prels
        Grade, method 1 and inclusion probability of every document drawn, and the relevance level
        of the qrels.

    Raises
    ------
    InputError
        A share outside (0, 1], or bad weights.

    Warns
    -----
    CollectionWarning
        Documents drawn that nobody can judge: how many.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=4, seed=1).runs, depth=10)
    >>> drawn = rb.audit_documents(pool, 0.2, seed=1)
    >>> drawn
    Prels(3 topics, 10 documents)
    """
    remedy = "give it above 0, at most 1"
    real_number("the share of an audit", share, 0.0, 1.0, remedy, ends="(]")
    size = _size_of_topics(pool, share * pool.n_documents, sampling)
    if sampling is None:
        sampling = sum(
            inclusion_probabilities(pool, 0.5 * size, sampling=each) for each in ("rank", "uniform")
        )
    probability = inclusion_probabilities(pool, size, sampling=sampling)
    rows = by_topic(
        (*pool.pair_of(d), Prel(-1, ALGORITHM, float(probability[d])))
        for d in np.flatnonzero(poisson_sample(pool, probability, seed=seed))
    )
    return with_grades(Prels(rows), Qrels({}) if qrels is None else qrels)


def _size_of_topics(pool: Pool, total: float, weights: SamplingWeights | ArrayLike | None) -> float:
    """Return how many documents a topic may have so that all topics have `total` together."""
    can_be_drawn = sampling_weights(pool, "uniform" if weights is None else weights) > 0.0
    sizes = np.bincount(pool.topic_of, can_be_drawn, pool.n_topics)
    return float(equal_parts(sizes, total).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Arrivals:
    """The documents of an audit in the order in which they are to be judged.

    Attributes
    ----------
    sample : Sample
    documents : ndarray of int, shape (drawn,)
        Numbers in the sample's pool.
    time : ndarray of float, shape (drawn,)
        When each has its turn, rising in [0, 1): its permanent random number over its inclusion
        probability. At time t the sample is a Poisson sample with t times the probabilities.
    judged : ndarray of bool, shape (drawn,)
    end : float
        Up to when all are judged: the time of the first that is not, else 1.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> sample = rb.Sample(rb.Judgments.from_labels(pool, [0], [1]), [1, 0.5])
    >>> times, judged = np.array([0.2, 0.7]), np.array([True, False])
    >>> order = Arrivals(sample, np.array([0, 1]), times, judged, 0.7)
    >>> order.to_frame().values.tolist()
    [['1', 'b', 0.5]]
    """

    sample: Sample
    documents: NDArray[np.int64]
    time: Floats
    judged: NDArray[np.bool_]
    end: float

    @property
    def next(self) -> NDArray[np.int64]:
        """The documents that are not judged, the next to judge first."""
        return self.documents[~self.judged]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each document that is left to judge, the next first.

        Returns
        -------
        DataFrame
            topic, docno, and the probability with which it was drawn.
        """
        import pandas as pd

        pairs = map(self.sample.judgments.pool.pair_of, self.next)
        frame = pd.DataFrame(pairs, columns=["topic", "docno"])
        return frame.assign(probability=self.sample.probability[self.next])


@explains_types
def audit_order(sample: Sample, *, seed: int = 0) -> Arrivals:
    """Say in which order the documents of an audit are judged, and how far judging has come.

    Parameters
    ----------
    sample : Sample
        What is judged, and the inclusion probabilities of all documents drawn at least: see
        :func:`split_audit`.
    seed : int
        That by which they were drawn.

    Returns
    -------
    Arrivals
        All documents drawn, in their order; ``to_frame()`` has those that are left to judge.

    Raises
    ------
    InputError
        A judged document that the seed and its probability do not draw.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=4, seed=1).runs, depth=10)
    >>> drawn = rb.audit_documents(pool, 0.2, seed=1)
    >>> order = rb.audit_order(rb.split_audit(pool, drawn).sample, seed=1)
    >>> len(order.documents), order.next[:3].tolist(), int(order.judged.sum())
    (10, [29, 19, 26], 0)
    >>> list(order.to_frame().columns)
    ['topic', 'docno', 'probability']
    """
    pool, judged = sample.judgments.pool, sample.judgments.judged
    numbers = permanent_numbers(pool, seed=seed)
    probability = np.nan_to_num(sample.probability)
    drawn = numbers < probability
    if (judged & ~drawn).any():
        first = int(np.flatnonzero(judged & ~drawn)[0])
        topic, docno = pool.pair_of(first)
        raise InputError(
            f"document {docno} of topic {topic} was not drawn by seed {seed} and probability "
            f"{probability[first]:g}",
            remedy="give the seed by which the audit was drawn, and leave out of its file what "
            "was judged for other reasons",
        )
    documents = np.flatnonzero(drawn)
    time = numbers[documents] / probability[documents]
    order = np.argsort(time, kind="stable")
    documents, time = documents[order], time[order]
    waiting = ~judged[documents]
    end = float(time[waiting][0]) if waiting.any() else 1.0
    return Arrivals(sample, documents, time, ~waiting, end)
