"""How labels go with ranks, which tells a judge by lot from one who tells of relevance.

What is relevant is ranked higher. Within topics, of documents that people judged and ten systems
rank, relevance has a correlation r with the mean of the systems' rank curves of .12 (CLEF eHealth
2015, judged to depth 10), .31 (Robust 2003), .34 (TREC-8) and .41 (DL 2020), of some sets of runs
and within .03 of others. Labels by lot have one of 0, with a standard deviation of 1 / sqrt(n) of n
documents. So two things are told of labels before people have judged any document:

- A judge's credit is the probability that it does not label by lot, as one in twenty does::

      r ~ Normal(0, 1 / n) by lot,  r ~ Normal(0.3, 0.14^2 + 1 / n) else

  The log likelihood ratios of its labels count so much.
- Labels tell of systems as far as they follow the ranks as relevance does: r^2 - 1 / n, what is
  more than chance, over the least of the four r^2. A judge who is often wrong tells less of systems
  than a good one, and leaves more of their own effects.

A negative r counts as 0, and judges whom people's judgments confirm have the credit 1: where runs
are bad, or only what is ranked first is labelled, good labels go with ranks no more than those by
lot. See ``experiments.judges.by_lot``; ``--ranks`` prints the four r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from rtc_bayes.collection import Pool
from rtc_bayes.relevance.evidence import rank_curve
from rtc_bayes.relevance.newton import Floats

# r of people on a next collection: mean, and sd by four; the least of the four
_MEAN, _SD, _LEAST = 0.3, 0.14, 0.12
# log-odds that a judge does not label by lot
_PRIOR = np.log(19.0)
_ROUNDING = 1e-9


class RankCorrelation(NamedTuple):
    """A correlation within topics, and of how many documents, one less for each topic.

    Both are 0 where labels or ranks do not vary, or there is one document a topic.
    """

    r: float
    n: int


@dataclass(frozen=True, eq=False)
class BesideRanks:
    """How high systems rank each document of a pool.

    Attributes
    ----------
    topic : ndarray of int, shape (documents,)
    height : ndarray of float, shape (documents,)
        The mean of the systems' rank curves.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> lists = {"1": ["a", "b", "c"], "2": ["d", "e", "f"]}
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", lists)]))
    >>> labels = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    >>> r, n = BesideRanks.of(pool).correlation(labels, np.ones(6, dtype=bool))
    >>> round(r, 2), n
    (0.86, 4)
    """

    topic: NDArray[np.integer]
    height: Floats

    @classmethod
    def of(cls, pool: Pool, systems: NDArray[np.bool_] | None = None) -> BesideRanks:
        """Take the ranks of a pool, by all systems or some."""
        counted = np.ones(pool.n_systems, dtype=bool) if systems is None else systems
        curves = (rank_curve(pool.ranks(t).T, pool.depth) for t in range(pool.n_topics))
        height = np.concatenate([of @ counted for of in curves])
        return cls(pool.topic_of, height / max(np.count_nonzero(counted), 1))

    def correlation(self, x: Floats, labelled: NDArray[np.bool_]) -> RankCorrelation:
        """Correlate x of labelled documents with how high systems rank them.

        Parameters
        ----------
        x : ndarray of float, shape (documents,)
        labelled : ndarray of bool, shape (documents,)
        """
        topic = np.unique(self.topic[labelled], return_inverse=True)[1]
        sizes = np.bincount(topic)
        within = np.stack([x, self.height])[:, labelled]
        means = np.array([np.bincount(topic, of, len(sizes)) for of in within])
        within -= (means / np.maximum(sizes, 1))[:, topic]
        square = (within**2).sum(axis=1)
        if (square <= _ROUNDING).any():
            return RankCorrelation(0.0, 0)
        r = float(within[0] @ within[1]) / float(np.sqrt(square.prod()))
        return RankCorrelation(r, len(topic) - len(sizes))


def follows(correlation: RankCorrelation) -> float:
    """Say how far labels follow ranks as relevance does, from 0 to 1.

    Examples
    --------
    >>> follows(RankCorrelation(0.3, 1000)), follows(RankCorrelation(0.01, 1000))
    (1.0, 0.0)
    >>> round(follows(RankCorrelation(0.08, 1000)), 2)
    0.38
    """
    r, n = correlation
    if n == 0 or r < 0.0:
        return 0.0
    return float(np.clip((r * r - 1.0 / n) / _LEAST**2, 0.0, 1.0))


def credit(correlations: Sequence[RankCorrelation]) -> Floats:
    """Return the probability of each judge that it does not label by lot.

    Parameters
    ----------
    correlations : sequence of RankCorrelation
        Of each judge's labels; 1 is returned where n is 0.

    Examples
    --------
    >>> each = [RankCorrelation(0.3, 1000), RankCorrelation(0, 1000), RankCorrelation(0, 10)]
    >>> credit(each).round(2)
    array([1.  , 0.32, 0.92])
    """
    r, n = np.array(correlations, dtype=np.float64).reshape(-1, 2).T
    r, chance = np.maximum(r, 0.0), 1.0 / np.maximum(n, 1.0)
    by_people = norm.logpdf(r, _MEAN, np.sqrt(_SD**2 + chance))
    odds = _PRIOR + by_people - norm.logpdf(r, 0.0, np.sqrt(chance))
    return np.where(n > 0, expit(odds), 1.0)
