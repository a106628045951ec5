"""What judgments and labels of documents should tell of the differences of systems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from rtc_bayes.collection.grades import is_unseen
from rtc_bayes.confidence import Comparison
from rtc_bayes.measures import parse_measure
from rtc_bayes.measures.analytic import gradient_on_pool
from rtc_bayes.quadrature import gauss_hermite

Floats = NDArray[np.float64]

# points and weights of Gauss and Hermite's rule for a normal distribution
_NODES, _WEIGHTS = gauss_hermite(15)
# of a document's relevance, below which nothing is left to tell; and of a difference's, at most
_LEAST_VARIANCE, _MOST_REMOVED = 1e-9, 1.0 - 1e-6


class Learning:
    """What documents tell of the differences of systems, given what is to be told so far.

    All is taken as jointly normal: relevance y of documents, and scores.

    Parameters
    ----------
    comparison : Comparison
        By a measure with moments.

    Attributes
    ----------
    p, variance : ndarray of float, shape (documents,)
        Probability of relevance at first, and the variance of y that is left.
    covariance : ndarray of float, shape (systems, documents)
        Of the mean scores and y.
    removed : ndarray of float, shape (pairs,)
        What is off the variance of each difference.
    """

    def __init__(self, comparison: Comparison) -> None:
        setting = comparison.asked_setting
        values = np.asarray(setting.values)
        self.p: Floats = np.mean(values, axis=0, dtype=np.float64)
        self.variance = self.p * (1.0 - self.p)
        self.removed = np.zeros(len(setting.pairs))
        self._apart = values - self.p.astype(values.dtype)
        of_p = np.mean(self._apart**2, axis=0, dtype=np.float64)
        self._own = np.maximum(self.variance - of_p, 0.0)
        gradient = gradient_on_pool(setting.pool, parse_measure(setting.measure), self.p)
        # the scores of systems alone: of many systems the moments of all pairs take long
        scores = replace(setting, pairs=setting.pairs[:1]).table("plugin").mean_expected
        scores = (scores - scores.mean(axis=0)).astype(values.dtype)
        self.covariance = gradient * self._own + scores.T @ self._apart / len(values)
        self._chance = np.cov(scores.T, ddof=0) / len(values)
        self._of_p = of_p
        self._told: list[Floats] = []
        self._seen = ~is_unseen(setting.pool)
        self._pairs = setting.pairs
        self._mean = comparison.expected_difference
        self._variance = comparison.sd_difference**2
        self._most = np.maximum(self._variance - setting.lasting_variance, 0.0)

    def gains(self) -> Floats:
        """Return the expected gain of each document's judgment, shape (documents,)."""
        a, b = self._pairs.T
        rate = self._rate()
        # sum over pairs of rate (c_a - c_b)^2: a quadratic form of the graph of pairs
        form = np.zeros((len(self.covariance),) * 2)
        np.add.at(form, (a, a), rate)
        np.add.at(form, (b, b), rate)
        np.add.at(form, (a, b), -rate)
        np.add.at(form, (b, a), -rate)
        square = np.einsum("sd,sd->d", self.covariance, form @ self.covariance)
        square -= float((form * self._chance).sum()) * self._of_p
        unsure = self.variance > _LEAST_VARIANCE
        gain = np.divide(square, self.variance, out=np.zeros_like(square), where=unsure)
        return np.where(self._seen, np.maximum(gain, 0.0), 0.0)

    def learn(self, document: int, told: float) -> None:
        """Go on to what is left once a document's relevance is told, or a share of it."""
        with_it = self._apart.T @ self._apart[:, document] / len(self._apart)
        with_it = with_it.astype(np.float64)
        with_it[document] += self._own[document]
        for past in self._told:
            with_it -= past[document] * past
        noisy = self.variance[document] / told
        of_scores = self.covariance[:, document].copy()
        a, b = self._pairs.T
        more = (of_scores[a] - of_scores[b]) ** 2 / noisy
        self.removed = np.minimum(self.removed + more, _MOST_REMOVED * self._most)
        self.covariance = self.covariance - np.outer(of_scores, with_it) / noisy
        self._told.append(with_it / np.sqrt(noisy))
        self.variance = np.maximum(self.variance - self._told[-1] ** 2, 0.0)

    def _rate(self) -> Floats:
        """Gain in the mean over pairs for each unit off a difference's variance, shape (pairs,)."""
        left = self._variance - self.removed
        unsure = left > 0.0
        scale = np.sqrt(np.where(unsure, left, 1.0))
        moved = np.sqrt(self.removed) * _NODES[:, None]
        z = (self._mean + moved) / scale
        # phi(z)^2 / (Phi(z) Phi(-z)), in logarithms as either may be nothing
        information = np.exp(-z * z - np.log(2.0 * np.pi) - log_ndtr(z) - log_ndtr(-z))
        rate: Floats = 0.5 * (_WEIGHTS @ information) / scale**2 / max(len(left), 1)
        return np.where(unsure & (self._most > 0.0), rate, 0.0)


def rates(p: Floats, relevant: NDArray[np.integer]) -> tuple[float, float]:
    """How often a judge calls relevant what is, and what is not.

    Parameters
    ----------
    p : ndarray of float, shape (labels,)
        Probabilities of relevance of what the judge labelled.
    relevant : ndarray of int, shape (labels,)
        1 where the judge says so, 0 elsewhere.

    Returns
    -------
    float, float
        Shares, of one label more of either kind.

    Examples
    --------
    >>> rates(np.array([1.0, 1.0, 0.0, 0.0]), np.array([1, 0, 0, 0]))
    (0.5, 0.25)
    """
    of_relevant = (1.0 + float(p @ relevant)) / (2.0 + float(p.sum()))
    of_others = (1.0 + float((1.0 - p) @ relevant)) / (2.0 + float((1.0 - p).sum()))
    return of_relevant, of_others


def told_by_label(p: Floats, of_relevant: float, of_others: float) -> Floats:
    """Squared correlation of a label and of relevance, shape (documents,); 0 to 1.

    Parameters
    ----------
    p : ndarray of float, shape (documents,)
        Probabilities of relevance.
    of_relevant, of_others : float
        How often the judge calls relevant what is, and what is not.

    Examples
    --------
    A perfect judge, one that labels by lot, and one that says the opposite:

    >>> p = np.array([0.1, 0.5])
    >>> [told_by_label(p, *of).round(2).tolist() for of in ((1, 0), (0.3, 0.3), (0, 1))]
    [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    """
    says = p * of_relevant + (1.0 - p) * of_others
    told: Floats = np.divide(
        (of_relevant - of_others) ** 2 * p * (1.0 - p),
        says * (1.0 - says),
        out=np.zeros_like(p),
        where=(says > 0.0) & (says < 1.0),
    )
    return told
