"""Proposals of a random walk that learns how far and where to go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

_ACCEPTANCE = 0.25


class AdaptiveWalk:
    """A random walk of Metropolis, its covariance that of the places seen (Haario et al. 2001).

    Parameters
    ----------
    size : int
        Of a place.
    """

    def __init__(self, size: int) -> None:
        self._mean = np.zeros(size)
        self._covariance = np.eye(size) * 0.05
        self._log_step = np.log(2.4 / np.sqrt(size))
        self._root = np.linalg.cholesky(self._covariance)
        self._seen = 0

    def step(self, random: np.random.Generator) -> Floats:
        """Return how far to go."""
        normal = random.standard_normal(len(self._mean))
        return np.asarray(np.exp(self._log_step) * (self._root @ normal))

    def learn(self, place: Floats, accepted: bool) -> None:
        """Take notice of a place, and of whether the step to it was accepted."""
        self._seen += 1
        pace = 1.0 / (self._seen + 10.0) ** 0.6
        self._log_step += pace * (accepted - _ACCEPTANCE)
        if self._seen == 1:
            self._mean = place.copy()
        away = place - self._mean
        self._mean += pace * away
        self._covariance += pace * (np.outer(away, away) - self._covariance)
        if self._seen % 20 == 0:
            small = 1e-6 * np.eye(len(place))
            self._root = np.linalg.cholesky(self._covariance + small)
