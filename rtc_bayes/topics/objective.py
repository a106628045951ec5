"""How well scores on weighted topics follow scores on all topics (Hosseini 2013, chapters 4, 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import with_article
from rtc_bayes.collection.ids import is_keyed
from rtc_bayes.errors import InputError
from rtc_bayes.measures.scores import ScoreMatrix, check_complete, less_mean
from rtc_bayes.store.shown import counted

type Floats = NDArray[np.float64]

# Values that differ by less are equal but for rounding.
EQUAL = 1e-9
# Topics that cancel each other leave this share of their variance, by rounding.
_NOTHING = 1e-12


class AlikeError(InputError):
    """All systems have the same mean score, so that no topic says more than another.

    Examples
    --------
    >>> raise AlikeError("all systems have the same mean score")
    Traceback (most recent call last):
    rtc_bayes.topics.objective.AlikeError: all systems have the same mean score
    """


@dataclass(frozen=True, eq=False)
class Objective:
    """The covariance of topics over systems, and the noise of each topic's scores.

    Attributes
    ----------
    centred : ndarray, shape (systems, topics)
        Scores less each topic's weighted mean over systems.
    factor : ndarray, shape (systems,)
        Such that ``centred.T @ diag(factor) @ centred`` is the covariance S of topics over systems
        (equation 4.13; weighted, section 4.5.2): 1 / (systems - 1) for equal weights.
    noise : ndarray, shape (topics,)
        U, each topic's mean over systems of the variance of its scores (section 6.3); 0 where
        judgments are complete.

    Examples
    --------
    >>> scores = ScoreMatrix([[0.1, 0.3], [0.2, 0.2], [0.6, 0.4]], np.zeros((3, 2)), "abc", "12")
    >>> objective = Objective.of(scores)
    >>> objective.covariance.round(3).tolist()
    [[0.07, 0.02], [0.02, 0.01]]
    >>> round(objective.rho([1, 0]), 3), round(objective.rho([1, 1]), 3)
    (0.982, 1.0)
    """

    centred: Floats
    factor: Floats
    noise: Floats

    @classmethod
    def of(cls, scores: ScoreMatrix, weights: Mapping[str, float] | None = None) -> Objective:
        """Take the covariance and the noise of a score matrix.

        Parameters
        ----------
        scores : ScoreMatrix
        weights : mapping of str to float, optional
            Weight of each system, at least 0; systems that are not named have weight 0, and what
            they score is not read. Default: equal weights. Weights p that sum to 1 give the
            covariance the factor 1 / (1 - sum p^2), which for equal ones is that of the sample
            covariance.

        Raises
        ------
        InputError
            Fewer than two systems have a weight, a weight is below 0 or of no system, a score is
            missing, or all systems have the same mean.
        """
        share = system_shares(scores, weights)
        used = share > 0.0
        check_complete(
            scores,
            [name for name, weighs in zip(scores.systems, used, strict=True) if weighs],
            "give the score, or leave out such systems (a weight of 0) or topics",
        )
        mean, share = scores.mean[used], share[used]
        factor = share / (1.0 - share @ share)
        objective = cls(centred(mean, share), factor, share @ scores.variance[used])
        if objective.variance <= EQUAL**2 * (factor @ mean.sum(axis=1) ** 2):
            raise AlikeError(
                "all systems have the same mean score", remedy="give systems that differ"
            )
        return objective

    @cached_property
    def deviations(self) -> Floats:
        """Scaled scores whose cross product is S, shape (systems, topics)."""
        return np.sqrt(self.factor)[:, None] * self.centred

    @cached_property
    def covariance(self) -> Floats:
        """S, shape (topics, topics)."""
        return self.deviations.T @ self.deviations

    @cached_property
    def with_all(self) -> Floats:
        """Covariance S e of each topic with the sum over all topics, shape (topics,)."""
        return self.deviations.T @ self.deviations.sum(axis=1)

    @cached_property
    def variance(self) -> float:
        """Variance e'Se of the sum over all topics."""
        total = self.deviations.sum(axis=1)
        return float(total @ total)

    @cached_property
    def alone(self) -> Floats:
        """Standard deviation of each topic by itself, noise and all, shape (topics,)."""
        return np.sqrt((self.deviations**2).sum(axis=0) + self.noise)

    def column(self, topic: int) -> Floats:
        """Covariance of one topic with every topic, shape (topics,)."""
        if "covariance" in self.__dict__:
            return self.covariance[topic]
        return self.deviations.T @ self.deviations[:, topic]

    def gamma(self, weights: ArrayLike) -> float:
        """Return e'Sd / sqrt(d'(S + U)d), equations (4.3) and (6.5).

        Parameters
        ----------
        weights : array_like, shape (topics,)
            The weights d of topics.

        Returns
        -------
        float
            In units of the measure times topics; 0 if all weights are 0, no weighted topic tells
            systems apart, or they cancel each other.
        """
        return float(self.gammas(np.asarray(weights, dtype=np.float64)[:, None])[0])

    def gammas(self, weights: Floats) -> Floats:
        """Return :meth:`gamma` of several weightings, the columns of shape (topics, weightings)."""
        size = ((self.deviations @ weights) ** 2).sum(axis=0) + self.noise @ weights**2
        return gamma_of(self.with_all @ weights, size, self.alone @ np.abs(weights))

    def rho(self, weights: ArrayLike) -> float:
        """Return gamma / sqrt(e'Se), equation (4.6).

        Without noise it is the Pearson correlation, over systems, of the mean over all topics
        with the weighted mean.

        Returns
        -------
        float
            In [-1, 1].
        """
        return self.gamma(weights) / self.variance**0.5


def gamma_of(top: Floats, size: Floats, most: Floats) -> Floats:
    """Return gamma = top / sqrt(size); 0 where topics cancel, so that size is nothing but rounding.

    Parameters
    ----------
    top : ndarray
        e'Sd.
    size : ndarray
        d'(S + U)d.
    most : ndarray
        What the square root of `size` is at most: the sum over topics of ``|d|`` times their
        standard deviations.

    Examples
    --------
    >>> gamma_of(np.array([1.0, 1e-17]), np.array([4.0, 1e-33]), np.array([2.0, 2.0])).tolist()
    [0.5, 0.0]
    """
    seen = size > _NOTHING * most**2
    return np.where(seen, top / np.sqrt(np.where(seen, size, 1.0)), 0.0)


def centred(scores: Floats, share: Floats) -> Floats:
    """Take each topic's weighted mean over systems away; what is left by rounding becomes 0.

    Examples
    --------
    >>> centred(np.array([[0.1, 0.0], [0.1, 1.0]]), np.array([0.75, 0.25])).tolist()
    [[0.0, -0.25], [0.0, 0.75]]
    """
    return less_mean(scores, axis=0, mean=share @ scores)


def system_shares(scores: ScoreMatrix, weights: Mapping[str, float] | None) -> Floats:
    """Return weights of systems that sum to 1, shape (systems,).

    Raises
    ------
    InputError
        As of :meth:`Objective.of`.

    Examples
    --------
    >>> scores = ScoreMatrix([[0.1], [0.2], [0.6]], np.zeros((3, 1)), "abc", "1")
    >>> system_shares(scores, {"a": 1, "c": 3}).tolist()
    [0.25, 0.0, 0.75]
    """
    if weights is None:
        weights = dict.fromkeys(scores.systems, 1.0)
    if not is_keyed(weights):
        raise InputError(
            f"weights are {with_article(type(weights).__name__)}",
            remedy="give {system: weight}; systems that are left out weigh 0",
        )
    weights = dict(weights)
    if unknown := [name for name in weights if name not in scores.systems]:
        raise InputError(
            f"a weight is for {unknown[0]}, which has no scores", remedy="name systems of scores"
        )
    share = np.array([weights.get(name, 0.0) for name in scores.systems], dtype=np.float64)
    if not (np.isfinite(share).all() and (share >= 0.0).all()):
        raise InputError(
            "a system's weight is below 0 or not a number", remedy="give weights of at least 0"
        )
    if np.count_nonzero(share) < 2:
        raise InputError(
            f"{counted(int(np.count_nonzero(share)), 'system')} to select topics by",
            remedy="give two or more",
        )
    return np.asarray(share / share.sum())
