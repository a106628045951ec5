"""Estimates of an audit and their limits, which hold at every look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.judging.assisting_model import AssistingModel
from rtc_bayes.judging.audit_turns import Turns
from rtc_bayes.measures.names import Measure

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool

type Floats = NDArray[np.float64]

FEWEST = 30
"""From how many judged documents of an audit on limits are stated."""

_HIGHEST_PACE = 0.999


def count_of(draws: NDArray[np.floating]) -> tuple[float, float]:
    """Return mean and standard deviation of the number of relevant documents."""
    of_draws = draws.sum(axis=1, dtype=np.float64)
    given_draw = (draws * (1.0 - draws)).sum(axis=1, dtype=np.float64)
    return float(of_draws.mean()), float(np.sqrt(of_draws.var() + given_draw.mean()))


def robbins(variance: Floats, prior: Floats, alpha: float) -> Floats:
    """Return how far a martingale may ever be from 0: Robbins' two-sided normal mixture.

    The bound sqrt((V + r) log((V + r)/(r alpha^2))), with V its variance up to a time and r any
    number above 0 (Howard, Ramdas, McAuliffe and Sekhon, Annals of Statistics 2021, eq. 14).

    Parameters
    ----------
    variance : ndarray of float, at least 0
    prior : ndarray of float, at least 0
        Where it is 0 there is nothing uncertain, and the bound is 0.
    alpha : float, in (0, 1)

    Examples
    --------
    >>> robbins(np.array([100.0]), np.array([12.0]), 0.05).round(1).tolist()
    [30.4]
    """
    r = np.where(prior > 0.0, prior, 1.0)
    bound = np.sqrt((variance + r) * np.log((variance + r) / (r * alpha**2)))
    return np.where(prior > 0.0, bound, 0.0)


def estimates_of(
    pool: Pool,
    measure: Measure,
    p: Floats,
    turns: Turns,
    counted: NDArray[np.bool_],
    level: float,
) -> dict[str, Floats]:
    """Estimate the count and every score about the assisting model, with limits.

    A document not yet drawn comes at rate q/(1 - q t), q its inclusion probability. Weighted by
    (1 - q t)/q its error is what one expects all errors not yet seen to add. What is learned at
    time t has the weight 1/(1 - pace t)^2, as what is left to draw shrinks, and all that is learned
    up to t has t/(1 - pace t); pace is the typical inclusion probability.
    """
    names, seen = ("estimate", "se", "low", "high"), turns.time < turns.end
    if not seen.any():
        return {name: np.full(1 + pool.n_systems, np.nan) for name in names}
    place, q, time = turns.place[seen], turns.probability[seen], turns.time[seen]
    model = AssistingModel.fit(pool, p, place, turns.label[seen])
    slopes = np.ones((1 + pool.n_systems, pool.n_documents))
    slopes[1:] = model.slopes(pool, measure)

    drawn = model.p[turns.place]
    by_model = drawn * (1.0 - drawn) / turns.probability**2
    pace = float(by_model @ turns.probability / by_model.sum()) if by_model.any() else 0.0
    pace = min(pace, _HIGHEST_PACE)
    weight = (1.0 - turns.probability * turns.time) / (1.0 - pace * turns.time) ** 2
    total = turns.end / (1.0 - pace * turns.end)
    inverse = slopes[:, place] * (weight[seen] / q)
    error = turns.label[seen] - model.p[place]
    # what the errors seen say of those not seen
    left = (inverse - slopes[:, place] * (time / (1.0 - pace * time))) @ error / total
    expected = np.append(model.updated[counted].sum(), model.expected(pool, measure))
    variance = inverse**2 @ np.stack([error**2, (model.p * (1.0 - model.p))[place]], axis=1)
    largest = variance.max(axis=1)
    by_end = np.maximum(slopes[:, turns.place] ** 2 @ (by_model * weight**2), largest)
    # the bound is then tightest at the end of the audit, nearly
    sharp = 2.0 * np.log(1.0 / level)
    radius = robbins(largest, by_end / (sharp + np.log1p(sharp)), level) / total
    if len(place) < FEWEST:
        radius[:] = np.nan
    estimate = expected + left
    values = (estimate, np.sqrt(largest) / total, estimate - radius, estimate + radius)
    return dict(zip(names, values, strict=True))
