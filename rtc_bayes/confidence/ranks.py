"""Which system is the best, and at which rank each may stand: counted over outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.confidence.forms import TIE
from rtc_bayes.confidence.outcomes import sampled_moments
from rtc_bayes.confidence.setting import MOVED, RelevanceLike, Setting
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.workers import Workers

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Pool
    from rtc_bayes.measures.estimand import EstimandLike

Floats = NDArray[np.float64]

# ends and middle of the interval that holds a rank with probability 0.9
_QUANTILES = (0.05, 0.5, 0.95)


class Ranks(NamedTuple):
    """What outcomes say of the order of systems, each of shape (systems,).

    Attributes
    ----------
    p_best : ndarray
        Probability of the highest score; systems that share it share the probability.
    rank_low, rank_median, rank_high : ndarray
        Quantiles 0.05, 0.5 and 0.95 of the rank, 1 being the best; tied systems have the mean of
        their ranks.
    """

    p_best: Floats
    rank_low: Floats
    rank_median: Floats
    rank_high: Floats


@explains_types
@moved(**MOVED)
def rank_systems(
    pool: Pool,
    relevance: RelevanceLike,
    estimand: EstimandLike = None,
    *,
    outcomes: int = defaults.OUTCOMES,
    seed: int = 0,
    workers: Workers = Workers(),
) -> pd.DataFrame:
    """Say how probable it is that each system is the best, and between which ranks it stands.

    The relevance of every document is sampled under each draw of the probabilities, and the
    systems are ranked on every outcome, as Goldstein and Spiegelhalter (1996, *League tables and
    their limitations*) rank institutions on draws. A share P of n outcomes has the standard
    error sqrt(P (1 - P) / n), and that of the draws besides.

    Parameters
    ----------
    pool, relevance, estimand, outcomes, seed, workers
        As in :func:`rtc_bayes.compare`.

    Returns
    -------
    DataFrame
        One row per system, the best first: system, expected, sd (of the outcomes, and of the error
        that all scores share), p_best, rank_low, rank_median, rank_high.

    Raises
    ------
    InputError
        As in :func:`rtc_bayes.compare`.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings
    >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
    >>> pool = rb.Pool.from_runs(runs)
    >>> relevance = rb.Relevance.from_values(pool, [0.9, 0.1])  # of x and y
    >>> ranks = rb.rank_systems(pool, relevance, outcomes=1000)
    >>> ranks.loc[ranks["p_best"].idxmax(), "system"]
    'A'
    """
    import pandas as pd

    setting = Setting.from_pool(
        pool, relevance, estimand, outcomes=outcomes, seed=seed, workers=workers
    )
    scores = setting.sample_all()
    sampled = sampled_moments(scores, setting.pairs[:0])
    sd = setting.with_common_error(sampled.expected, sampled.sd**2)
    moments = {"expected": sampled.expected, "sd": sd}
    frame = pd.DataFrame({"system": setting.pool.systems} | moments | count_ranks(scores)._asdict())
    return frame.sort_values("expected", ascending=False, kind="stable", ignore_index=True)


def count_ranks(scores: Floats) -> Ranks:
    """Rank systems on every outcome.

    Parameters
    ----------
    scores : ndarray, shape (systems, draws, outcomes per draw)
        Scores less than 1e-12 apart, from neighbour to neighbour, are tied.
    """
    first, last = _places(scores.reshape(len(scores), -1))
    best = (first == 1) / last
    low, median, high = np.quantile(0.5 * (first + last), _QUANTILES, axis=1, method="inverted_cdf")
    return Ranks(best.mean(axis=1), low, median, high)


def _places(scores: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last rank of the systems tied with each, shape (systems, outcomes)."""
    systems = len(scores)
    order = np.argsort(-scores, axis=0, kind="stable")
    falls = -np.diff(np.take_along_axis(scores, order, axis=0), axis=0) >= TIE
    edge = np.ones((1, scores.shape[1]), dtype=bool)
    rank = np.arange(1, systems + 1)[:, None]
    first = np.maximum.accumulate(np.where(np.vstack([edge, falls]), rank, 0), axis=0)
    ends = np.where(np.vstack([falls, edge]), rank, systems)[::-1]
    last = np.minimum.accumulate(ends, axis=0)[::-1]
    places = np.empty((2, *scores.shape), dtype=np.int64)
    np.put_along_axis(places[0], order, first, axis=0)
    np.put_along_axis(places[1], order, last, axis=0)
    return places[0], places[1]
