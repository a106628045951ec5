"""Simulations of the layers of ``rtc``, to calibrate their samplers.

The layers are calibrated one by one, each given what the one before hands on:

- *rank*: its likelihood is not generative. A topic's documents do not play a tournament; it is
  said that each rank beat every lower one, and that all of them won and lost equally often against
  the reference. Still its density is the posterior of a tournament, which can be drawn exactly for
  a few items: strengths theta from LogitBeta(R + 1, N + 1), each pair plays once, and the draw is
  kept if no circle of wins occurred, its items in the order of their wins.
- *calibration*: with ``smoothing="beta"`` it has a prior, LogitBeta(a, b) on A and on B, and a
  likelihood, and is calibrated as it stands. With ``cells`` the prior is that of pseudo-judgments
  and the labels are the same Bernoulli; with ``platt`` there is no likelihood of labels at all: its
  targets depend on how many are relevant. The sampler is the same for all three.
- *aggregation*: LogitBeta(a, b) on each weight, labels Bernoulli: as it stands.

The layers together are no generative model: the judgments are used three times. So there is no
calibration of ``rtc`` as a whole but that on truth (:func:`rtc_bayes.calibration.calibrate`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from rtc_bayes.relevance.cut import ranks, stages
from rtc_bayes.relevance.cut.hmc import leapfrog
from rtc_bayes.relevance.cut.posterior import TRANSITIONS
from rtc_bayes.relevance.logistic import sigmoid

type Floats = NDArray[np.float64]
type Simulated = tuple[dict[str, Floats], dict[str, Floats]]


@dataclass(frozen=True)
class RankStage:
    """Layer 1 of one topic, its true strengths drawn exactly.

    Attributes
    ----------
    items : int
        Ranks and one more; a few, as circles of wins are discarded.
    most : int
        Judged relevant and nonrelevant documents are drawn from 0 to this number each.
    draws : int
    """

    items: int = 4
    most: int = 5
    draws: int = 99

    def __call__(self, number: int, seed: int) -> Simulated:
        """Simulate once."""
        random = np.random.default_rng(seed)
        relevant, nonrelevant = random.integers(self.most + 1, size=2).astype(float)
        theta = exact_strengths(self.items, relevant, nonrelevant, random)
        drawn = ranks.sample(self.items, relevant, nonrelevant, "none", 1, self.draws, seed)
        return {"theta": theta}, {"theta": drawn.theta[0].astype(np.float64)}


def exact_strengths(
    items: int, relevant: float, nonrelevant: float, random: np.random.Generator
) -> Floats:
    """Draw from layer 1's posterior by rejection, shape (items,); for few items."""
    place = np.arange(items)
    while True:
        share = random.beta(relevant + 1.0, nonrelevant + 1.0, size=items)
        theta = np.log(share) - np.log1p(-share)
        beats = np.triu(random.random((items, items)) < sigmoid(theta[:, None] - theta[None, :]), 1)
        wins = beats.sum(axis=1) + (np.tril(~beats.T, -1)).sum(axis=1)
        # without a circle the numbers of wins are 0, 1, ..., items - 1
        if np.array_equal(np.sort(wins), place):
            return theta[np.argsort(-wins)]


@dataclass(frozen=True)
class CalibrationStage:
    """Layer 2 of one system with ``smoothing="beta"``, given q*.

    Attributes
    ----------
    judged : int
        Documents.
    prior : tuple of float
        LogitBeta(a, b) of A and B.
    draws : int
    """

    judged: int = 20
    prior: tuple[float, float] = (1.0, 1.0)
    draws: int = 99

    def __call__(self, number: int, seed: int) -> Simulated:
        """Simulate once."""
        random = np.random.default_rng(seed)
        true = _logit_beta(self.prior, 2, random)
        # a cell for each document, and the one of documents that are not ranked
        q = np.append(random.random(self.judged), 0.0)
        labels = (random.random(self.judged) < sigmoid(true[0] + true[1] * q[:-1])).astype(float)
        out, stats = np.empty((self.draws, 1, 2)), np.zeros((self.draws, 2))
        stages.calibrations(
            np.tile(q, (self.draws, 1)),
            np.array([0, self.judged]),
            np.arange(self.judged),
            labels,
            np.ones(self.judged),
            self.prior,
            np.zeros((1, 2)),
            np.eye(2)[None],
            random.standard_normal((self.draws, 1, TRANSITIONS + 1, 2)),
            random.random((self.draws, 1, TRANSITIONS, 2)),
            *leapfrog(2),
            out,
            stats,
        )
        return {"A": true[0], "B": true[1]}, {"A": out[:, 0, 0], "B": out[:, 0, 1]}


@dataclass(frozen=True)
class AggregationStage:
    """Layer 3, given calibrated probabilities.

    Attributes
    ----------
    systems, judged : int
    prior : tuple of float
        LogitBeta(a, b) of each weight, and of the intercept.
    intercept : bool
    draws : int
    """

    systems: int = 3
    judged: int = 30
    prior: tuple[float, float] = (1.0, 1.0)
    intercept: bool = True
    draws: int = 99

    def __call__(self, number: int, seed: int) -> Simulated:
        """Simulate once."""
        random = np.random.default_rng(seed)
        features = self.features(random)
        true = _logit_beta(self.prior, len(features), random)
        labels = (random.random(self.judged) < sigmoid(true @ features)).astype(float)
        return {"lambda": true}, {"lambda": self.sample(features, labels, random)}

    def features(self, random: np.random.Generator) -> Floats:
        """Draw q_ij, shape (systems, judged), and a row of ones for the intercept."""
        q = random.uniform(0.1, 0.9, size=(self.systems, self.judged))
        return np.vstack([q, np.ones((int(self.intercept), self.judged))])

    def sample(self, features: Floats, labels: Floats, random: np.random.Generator) -> Floats:
        """Draw the weights by the compiled sampler, shape (draws, coefficients)."""
        size, cells = len(features), self.systems * self.judged
        # A = 0 and B = 1: what is reported is the log-odds of what is wanted
        reported = logit(features[: self.systems]).ravel()
        out, stats = np.empty((self.draws, size)), np.zeros((self.draws, 2))
        stages.aggregations(
            np.tile(np.append(reported, 0.0), (self.draws, 1)),
            np.tile([0.0, 1.0], (self.draws, self.systems, 1)),
            False,
            np.arange(cells).reshape(self.systems, self.judged),
            labels,
            self.prior,
            np.zeros(size),
            np.eye(size),
            random.standard_normal((self.draws, TRANSITIONS + 1, size)),
            random.random((self.draws, TRANSITIONS, 2)),
            *leapfrog(size),
            out,
            stats,
        )
        return out


STAGES = {
    "rank": RankStage(),
    "calibration": CalibrationStage(),
    "aggregation": AggregationStage(),
}
"""The layers of ``rtc``."""


def _logit_beta(prior: tuple[float, float], size: int, random: np.random.Generator) -> Floats:
    share = random.beta(*prior, size=size)
    return np.log(share) - np.log1p(-share)
