"""What judges do as a population: skills and leanings of judges, on the log scale.

Of a document that seems of grade y, judge j gives grade g with a chance proportional to
exp(u_jyg), where

    u_jyg = mu_yg + a_j [g = y] + b_jg + e_jyg
    a_j ~ Normal(0, skill^2),  b_jg ~ Normal(0, lean^2),  e_jyg ~ Normal(0, own_y^2 / 2)

The skill a_j raises what is right whatever the document, so that a judge that is often right on
relevant documents is on others too; the leaning b_jg raises a grade, right or wrong, and so lowers
the one where it raises the other. Only differences from u_jyy matter: these log odds are kept, and
their covariance over judges, of which a, b and e are what it consists of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

USUAL = 0.75
"""How often judges are right, before any label: at the prior's median."""
SD_USUAL = 1.0
"""The standard deviation of its log odds."""
SD_SCALE = 1.0
"""Of the half-normal priors of the scales."""


@dataclass(frozen=True, eq=False)
class JudgePopulation:
    """Where log odds of judges are, and how they differ.

    Attributes
    ----------
    mean : ndarray, shape (odds,)
        Of the log odds of each wrong grade to the right one, by seeming grade.
    log_scale : ndarray, shape (2 + grade,)
        Logarithms of `skill`, `lean` and `own` of each seeming grade.
    """

    mean: Floats
    log_scale: Floats

    @classmethod
    def usual(cls, n_grades: int) -> JudgePopulation:
        """Return the population at the middle of its prior."""
        scale = np.full(2 + n_grades, np.log(0.5))
        return cls(np.full(n_grades * (n_grades - 1), prior_mean(n_grades)), scale)

    def root(self) -> Floats:
        """Return the lower Cholesky factor of the covariance of log odds: (odds, odds)."""
        n_grades = len(self.log_scale) - 2
        parts = np.exp(2.0 * self.log_scale)
        covariance = np.tensordot(parts, _shapes(n_grades), axes=1)
        return np.asarray(np.linalg.cholesky(covariance))

    def log_prior(self) -> float:
        """Return the log density of mean and logarithms of scales, up to a constant."""
        n_grades = len(self.log_scale) - 2
        away = (self.mean - prior_mean(n_grades)) / SD_USUAL
        scale = np.exp(self.log_scale) / SD_SCALE
        return float(-0.5 * (away @ away + scale @ scale) + self.log_scale.sum())

    def given(self, odds: Floats, random: np.random.Generator) -> JudgePopulation:
        """Draw a population given the log odds of its judges: (judge, odds)."""
        judges, size = odds.shape
        root = self.root()
        whitened = np.linalg.solve(root, np.eye(size))
        precision = whitened.T @ whitened
        spread = np.linalg.cholesky(judges * precision + np.eye(size) / SD_USUAL**2)
        pull = precision @ odds.sum(axis=0) + self._prior_mean() / SD_USUAL**2
        mean = np.linalg.solve(spread.T, np.linalg.solve(spread, pull) + random.normal(size=size))
        scatter = (odds - mean).T @ (odds - mean)
        now = JudgePopulation(mean, self.log_scale)
        density = now._log_density(scatter, judges)
        step = 2.4 / np.sqrt(2.0 * judges + 2.0)
        for place in range(len(self.log_scale)):
            log_scale = now.log_scale.copy()
            log_scale[place] += step * random.standard_normal()
            proposed = JudgePopulation(mean, log_scale)
            there = proposed._log_density(scatter, judges)
            if np.log(random.random()) < there - density:
                now, density = proposed, there
        return now

    def _log_density(self, scatter: Floats, judges: int) -> float:
        """Return the log density of scales, and of log odds of this scatter about their mean."""
        root = self.root()
        standard = np.linalg.solve(root, np.linalg.solve(root, scatter).T)
        log_root = float(np.log(np.diagonal(root)).sum())
        return self.log_prior() - judges * log_root - 0.5 * float(np.trace(standard))

    def _prior_mean(self) -> float:
        return prior_mean(len(self.log_scale) - 2)


def prior_mean(n_grades: int) -> float:
    """Return the prior mean of the log odds of a wrong grade to the right one."""
    return float(np.log((1.0 - USUAL) / USUAL / (n_grades - 1)))


@cache
def _shapes(n_grades: int) -> Floats:
    """Return what a unit variance of each scale adds to the covariance: (scale, odds, odds)."""
    cells = [(y, g) for y in range(n_grades) for g in range(n_grades) if g != y]
    seems, truth = np.array(cells).T
    one = np.eye(n_grades)
    lean = one[truth] - one[seems]
    # e of a wrong grade less e of the right one, which all odds of a seeming grade share
    of = (seems == np.arange(n_grades)[:, None]).astype(np.float64)
    own = [0.5 * (np.outer(row, row) + np.diag(row)) for row in of]
    return np.stack([np.ones((len(cells), len(cells))), lean @ lean.T, *own])


@njit(cache=True, nogil=True, error_model="numpy")
def log_chances(odds: Floats, n_grades: int) -> Floats:  # pragma: no cover  (compiled)
    """Return logarithms of the chances of what judges say: (judge, seeming, given).

    Parameters
    ----------
    odds : ndarray, shape (judge, odds)
        Log odds of each wrong grade to the right one, by seeming grade.
    n_grades : int
    """
    said = np.empty((len(odds), n_grades, n_grades))
    for judge in range(len(odds)):
        place = 0
        for y in range(n_grades):
            log_total = _log_whole(odds[judge], y, n_grades)
            for g in range(n_grades):
                said[judge, y, g] = -log_total
                if g != y:
                    said[judge, y, g] += odds[judge, place]
                    place += 1
    return said


@njit(cache=True, nogil=True, error_model="numpy")
def draw_odds(  # pragma: no cover  (compiled)
    random: np.random.Generator,
    counts: Floats,
    mean: Floats,
    root: Floats,
    odds: Floats,
    steps: int,
) -> None:
    """Draw the log odds of every judge, in place, by elliptical slices (Murray et al. 2010).

    Parameters
    ----------
    random : numpy.random.Generator
    counts : ndarray, shape (judge, seeming, given)
        What judges said.
    mean : ndarray, shape (odds,)
    root : ndarray, shape (odds, odds)
        Of the covariance of log odds over judges.
    odds : ndarray, shape (judge, odds)
        Filled.
    steps : int
    """
    size = len(mean)
    other, proposed = np.empty(size), np.empty(size)
    for judge in range(len(odds)):
        now = _log_likelihood(counts[judge], odds[judge])
        for _ in range(steps):
            other[:] = 0.0
            for column in range(size):
                normal = random.standard_normal()
                for row in range(column, size):
                    other[row] += root[row, column] * normal
            level = now + np.log(random.random())
            angle = 2.0 * np.pi * random.random()
            low, high = angle - 2.0 * np.pi, angle
            while True:
                cosine, sine = np.cos(angle), np.sin(angle)
                for row in range(size):
                    away = odds[judge, row] - mean[row]
                    proposed[row] = mean[row] + away * cosine + other[row] * sine
                now = _log_likelihood(counts[judge], proposed)
                if now >= level:
                    break
                if angle < 0.0:
                    low = angle
                else:
                    high = angle
                angle = low + (high - low) * random.random()
            odds[judge] = proposed


@njit(cache=True, nogil=True, error_model="numpy")
def _log_likelihood(counts: Floats, odds: Floats) -> float:  # pragma: no cover  (compiled)
    """Return the log probability of what a judge said, (seeming, given), up to a constant."""
    n_grades = len(counts)
    total, place = 0.0, 0
    for y in range(n_grades):
        labels = counts[y, y]
        for g in range(n_grades):
            if g != y:
                labels += counts[y, g]
                total += counts[y, g] * odds[place]
                place += 1
        if labels > 0.0:
            total -= labels * _log_whole(odds, y, n_grades)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _log_whole(odds: Floats, y: int, n_grades: int) -> float:  # pragma: no cover  (compiled)
    """Return the logarithm of 1 and the odds of wrong grades where y is right, together."""
    largest = 0.0
    first = y * (n_grades - 1)
    for place in range(first, first + n_grades - 1):
        largest = max(largest, odds[place])
    total = np.exp(-largest)
    for place in range(first, first + n_grades - 1):
        total += np.exp(odds[place] - largest)
    return largest + np.log(total)
