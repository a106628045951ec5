"""What a model comes to believe of an audit's documents, label by label.

A bet on a document is fair only if it is made at the probability that the model gives it once it
knows the labels seen before. Draws of a posterior say what the model learns from them: a level, a
system or a topic that is better than expected moves many documents together. Weighing draws by
the labels would say so exactly, but a few dozen labels leave the weight of all on one or two.
So log-odds are taken as jointly normal, with the draws' variances and covariances; each label
changes the mean and variance of its own document as Bayes' rule does, and those of all others
by regression on it (assumed density filtering).

Correlations of D draws have an error of 1 / sqrt(D), which would be taken for something learned.
So all are multiplied by the one factor that is best on average (Schaefer and Strimmer 2005).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from rtc_bayes.collection.relevance import spaced
from rtc_bayes.judging.assisting_model import CERTAIN
from rtc_bayes.quadrature import gauss_hermite

type Floats = NDArray[np.float64]

# evenly spaced ones are taken of more
_MOST_DRAWS = 600
# for expectations under a normal distribution
_NODES, _WEIGHTS = gauss_hermite(21)
_STEPS = 30


def updated(draws: NDArray[np.floating], labels: Floats) -> Floats:
    """Return the probability of each document given the labels of those before it.

    Parameters
    ----------
    draws : ndarray of float, shape (draws, documents)
        Probabilities of relevance by a model, documents in the order in which they are judged.
    labels : ndarray of float, shape (labels,)
        0 or 1, of the first documents.

    Returns
    -------
    ndarray of float, shape (labels,)
        Of the documents that have labels. That of the first is the mean over draws; all are, of
        one draw. Of several draws probabilities are no nearer to 0 and 1 than `CERTAIN`.

    Examples
    --------
    Draws that differ in a level which all documents share: every relevant one raises the next.

    >>> level = np.linspace(0.1, 0.6, 200)[:, None] * np.ones(4)
    >>> updated(level, np.ones(4)).round(2)
    array([0.35, 0.41, 0.46, 0.51])
    """
    draws = np.asarray(draws, dtype=np.float64)
    p = draws.mean(axis=0)
    believed: Floats = np.array(p[: len(labels)])
    if len(draws) == 1:
        return believed
    draws = draws[spaced(len(draws), min(len(draws), _MOST_DRAWS))]
    odds = logit(np.clip(draws, CERTAIN, 1.0 - CERTAIN))
    apart = (odds - odds.mean(axis=0)) / np.sqrt(len(odds) - 1)
    variance = (apart**2).sum(axis=0)
    shared = _shared(apart, variance)
    mean = _of_mean(np.clip(p, CERTAIN, 1.0 - CERTAIN), variance)
    apart *= np.sqrt(shared)
    # covariances are apart' state apart, and means have moved by apart' moved
    state, moved = np.eye(len(odds)), np.zeros(len(odds))
    for d, label in enumerate(labels):
        own = apart[:, d]
        with_all = state @ own
        v, m = own @ with_all + (1.0 - shared) * variance[d], mean[d] + own @ moved
        at = m + np.sqrt(v) * _NODES
        likely = expit(at)
        believed[d] = _WEIGHTS @ likely
        if v < CERTAIN:
            continue
        weight = _WEIGHTS * (likely if label else 1.0 - likely)
        weight /= weight.sum()
        after = weight @ at
        narrower = v - weight @ (at - after) ** 2
        moved += with_all * ((after - m) / v)
        state -= np.outer(with_all, with_all) * (narrower / v**2)
    return believed


def _shared(apart: Floats, variance: Floats) -> float:
    """Return what correlations of the draws are multiplied by, from 0 to 1."""
    varies = variance > CERTAIN
    z = apart[:, varies] / np.sqrt(variance[varies])
    n = z.shape[1]
    square = float(((z @ z.T) ** 2).sum()) - n
    by_chance = n * (n - 1) / (len(z) - 1)
    return max(1.0 - by_chance / square, 0.0) if square > by_chance else 0.0


def _of_mean(p: Floats, variance: Floats) -> Floats:
    """Return the mean of normal log-odds by which the expected probability is p."""
    mean, spread = logit(p), np.sqrt(variance)[:, None] * _NODES
    for _ in range(_STEPS):
        likely = expit(mean[:, None] + spread)
        slope = (likely * (1.0 - likely)) @ _WEIGHTS
        mean = mean - np.clip((likely @ _WEIGHTS - p) / np.maximum(slope, CERTAIN**2), -1.0, 1.0)
    return mean
