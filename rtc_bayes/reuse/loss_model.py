"""By how much do scores fall where a group is held out? The model, as data and as a PyMC graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.reuse.held import HeldScores

if TYPE_CHECKING:
    import pymc as pm

# Variances are carried to the square root's scale away from 0.
_EDGE = 0.02


@dataclass(frozen=True)
class LossPriors:
    """Priors, in units of the square root of a score, and of shares of it.

    Attributes
    ----------
    delta : float
        Sd of the mean share lost: a score that falls by 30% loses .16 of its root.
    spread : float
        Scale (half-normal) of the sd over groups of their shares.
    group, topic, centre : float
        Sd of groups' and of topics' numbers, and the mean of topics'.
    noise, noise_spread : float
        Median of a group's noise on a topic, and the sd of its logarithm.
    """

    delta: float = 0.15
    spread: float = 0.08
    group: float = 0.3
    topic: float = 0.4
    centre: float = 0.5
    noise: float = 0.1
    noise_spread: float = 0.7


PRIORS = LossPriors()


@dataclass(frozen=True)
class LossData:
    """Scores of groups by topic, as square roots, whose noise depends little on how large it is.

    Attributes
    ----------
    z : ndarray, shape (groups, topics)
        Mean over a group's systems of the square root of the score; 0 where the group was not
        evaluated.
    variance : ndarray, shape (groups, topics)
        Known variance of `z`: systems of a group share their documents, so theirs is not averaged
        away.
    held : ndarray of bool, shape (groups, topics)
    evaluated : ndarray of bool, shape (groups, topics)
    """

    z: NDArray[np.float64]
    variance: NDArray[np.float64]
    held: NDArray[np.bool_]
    evaluated: NDArray[np.bool_]

    @classmethod
    def of_scores(cls, held: HeldScores, variance: NDArray[np.float64]) -> LossData:
        """Average a group's systems on each topic.

        Parameters
        ----------
        held : HeldScores
        variance : ndarray, shape (systems, topics)
            Of scores; 0 where these are complete.
        """
        scored = ~np.isnan(held.scores)
        score = np.where(scored, np.maximum(held.scores, 0.0), 0.0)
        spread = np.where(scored, variance, 0.0) / (4.0 * np.maximum(score, _EDGE))
        count = np.maximum(1.0, held.members @ scored)
        place = [int(np.flatnonzero(row)[0]) for row in held.members]
        return cls(
            (held.members @ np.sqrt(score)) / count,
            (held.members @ spread) / count,
            ~held.contributes[place],
            held.members @ scored > 0,
        )


def loss_graph(data: LossData) -> pm.Model:
    """Make the hierarchical model of the loss as a PyMC graph.

    A group's mean root score on a topic is the group's number plus the topic's, times 1 less the
    share that the group loses where it is held out, with an error that is Student's t: its scale
    is the group's own, with the known variance added. Groups' shares are
    ``delta + spread * offset``, normal about ``delta``.

    Parameters
    ----------
    data : LossData

    Returns
    -------
    pymc.Model
        Its variables are of_group, of_topic, delta, spread, offset, share, log_noise and nu.
    """
    import pymc as pm

    at = np.nonzero(data.evaluated)
    n_groups, n_topics = data.z.shape
    coords: dict[str, Any] = {"group": np.arange(n_groups), "topic": np.arange(n_topics)}
    with pm.Model(coords=coords) as model:
        group = pm.Normal("of_group", 0.0, PRIORS.group, dims="group")
        topic = pm.Normal("of_topic", PRIORS.centre, PRIORS.topic, dims="topic")
        delta = pm.Normal("delta", 0.0, PRIORS.delta)
        spread = pm.HalfNormal("spread", PRIORS.spread)
        offset = pm.Normal("offset", 0.0, 1.0, dims="group")
        share = pm.Deterministic("share", delta + spread * offset, dims="group")
        log_noise = pm.Normal("log_noise", np.log(PRIORS.noise), PRIORS.noise_spread, dims="group")
        nu = pm.Gamma("nu", 2.0, 0.1)
        scale = pm.math.sqrt(pm.math.exp(2.0 * log_noise[at[0]]) + data.variance[at])
        expected = (group[at[0]] + topic[at[1]]) * (1.0 - data.held[at] * share[at[0]])
        pm.StudentT("z", nu, expected, sigma=scale, observed=data.z[at])
    return model
