"""How many relevant documents of each topic are still without a judgment (chapter 7.4.4)."""

from __future__ import annotations

import numpy as np

from rtc_bayes.measures.sampling import Sample
from rtc_bayes.topics.beliefs import CLASSIFIERS, belief
from rtc_bayes.topics.objective import Floats

ZOBEL = "zobel"


def unjudged_relevant(sample: Sample, by: str, seed: int) -> Floats:
    """Estimate r, the number of relevant documents of every topic that are not judged.

    Parameters
    ----------
    sample : Sample
    by : str
        A classifier (``svm``, ``logistic``): how many documents without a judgment it calls
        relevant (section 7.4.4). A relevance model: the sum of their probabilities. ``zobel``:
        what his curve gives at the pool's depth, less what was found.
    seed : int

    Returns
    -------
    ndarray, shape (topics,)
        At least 0.
    """
    judgments = sample.judgments
    pool = judgments.pool
    if by == ZOBEL:
        return _by_curve(sample)
    p = np.atleast_2d(belief(by, pool, seed)(judgments)).mean(axis=0)
    if by in CLASSIFIERS:
        p = (p > 0.5).astype(np.float64)
    return np.bincount(pool.topic_of, np.where(judgments.judged, 0.0, p), pool.n_topics)


def _by_curve(sample: Sample) -> Floats:
    """Fit C k^s - 1 to the relevant documents of ranks up to k, by weights (Zobel 1998; 3.1)."""
    pool, weights = sample.judgments.pool, sample.weights
    r = np.zeros(pool.n_topics)
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        best, w = pool.best_ranks[inside], weights[inside]
        held = (w > 0.0) & (best > 0)
        deepest = int(best[sample.judgments.judged[inside]].max(initial=0))
        if not held.any() or deepest < 2:
            continue
        by_rank = np.bincount(best[held], w[held], minlength=deepest + 1)[1 : deepest + 1]
        slope, start = zobel_curve(by_rank.cumsum())
        at_depth = np.exp(start + slope * np.log(pool.depth)) - 1.0
        r[t] = max(at_depth - held.sum(), 0.0)
    return r


def zobel_curve(relevant: Floats) -> tuple[float, float]:
    """Fit log(relevant + 1) = log C + s log(depth) by least squares.

    Parameters
    ----------
    relevant : ndarray, shape (depths,)
        Relevant documents among the first k of any list, k from 1.

    Returns
    -------
    s, log C : float

    Examples
    --------
    >>> s, log_c = zobel_curve(3.0 * np.arange(1, 20) ** 0.5 - 1.0)
    >>> round(s, 6), round(float(np.exp(log_c)), 6)
    (0.5, 3.0)
    """
    x = np.log(np.arange(1, len(relevant) + 1))
    slope, start = np.polyfit(x, np.log(relevant + 1.0), 1)
    return float(slope), float(start)
