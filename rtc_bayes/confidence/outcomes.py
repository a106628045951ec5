"""Sampled outcomes of systems, and what they say of pairs: shares, shape, moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import measures
from rtc_bayes.confidence.forms import TIE, SignProbabilities, from_outcomes
from rtc_bayes.store import spawn_seeds
from rtc_bayes.workers import ALONE, Workers

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool
    from rtc_bayes.collection.grades import GradeDistribution
    from rtc_bayes.measures.names import MeasureLike

Floats = NDArray[np.float64]

# sampled differences held at once
_BLOCK = 2_000_000


class Shape(NamedTuple):
    """Skewness and excess kurtosis of differences, each of shape (pairs,)."""

    skewness: Floats
    excess_kurtosis: Floats


def sample(
    pool: Pool,
    values: NDArray[np.floating],
    *,
    measure: MeasureLike,
    outcomes: int,
    seed: int,
    workers: Workers = ALONE,
    grades: GradeDistribution | None = None,
) -> Floats:
    """Sample the scores of a pool's systems, with as many outcomes for every draw.

    Parameters
    ----------
    pool : Pool
    values : ndarray, shape (draws, documents)
        Probabilities of relevance.
    measure : str or Measure
    outcomes : int
        In all, rounded up to a multiple of the draws.
    seed : int
    workers : Workers
    grades : GradeDistribution, optional
        Of graded measures.

    Returns
    -------
    ndarray, shape (systems, draws, outcomes per draw)
        Means over topics.
    """
    each = -(-outcomes // len(values))
    (own,) = spawn_seeds(seed, 1)
    scores = measures.sample_scores(
        pool,
        values,
        measure=measure,
        outcomes=each,
        seed=own,
        workers=workers,
        grades=grades,
    )
    return np.ascontiguousarray(np.moveaxis(scores, 2, 0))


def shares(scores: Floats, pairs: NDArray[np.int64]) -> SignProbabilities:
    """Shares of outcomes, over all draws, in which the first system is below, like and above.

    Parameters
    ----------
    scores : ndarray, shape (systems, draws, outcomes per draw)
    pairs : ndarray of int, shape (pairs, 2)
        Rows of `scores`.
    """
    parts = np.empty((3, len(pairs)))
    for inside in _blocks(scores, pairs):
        parts[:, inside] = from_outcomes(_differences(scores, pairs[inside], flat=True))
    return SignProbabilities(*parts)


def shares_within(scores: Floats, pairs: NDArray[np.int64], rope: float) -> Floats:
    """Shares of outcomes, over all draws, in which the difference is nearer to 0 than `rope`.

    Parameters
    ----------
    scores : ndarray, shape (systems, draws, outcomes per draw)
    pairs : ndarray of int, shape (pairs, 2)
        Rows of `scores`.
    rope : float
        A difference of this size, but for rounding, is not nearer.
    """
    part = np.empty(len(pairs))
    for inside in _blocks(scores, pairs):
        difference = _differences(scores, pairs[inside], flat=True)
        part[inside] = (np.abs(difference) < rope - TIE).mean(axis=1)
    return part


def shape_about(
    scores: Floats, pairs: NDArray[np.int64], expected: Floats, variance: Floats
) -> Shape:
    """Shape of the differences given the parameters, about their known moments; mean over draws.

    With z the difference less its mean over its sd, the skewness is the mean of He3(z) and the
    excess kurtosis that of He4(z). Of n outcomes of a near-normal difference they have standard
    errors sqrt(6 / n) and sqrt(24 / n), as if the moments had been estimated; and variance
    that the sample missed, from rare events, shows as an excess kurtosis of up to 3.

    Parameters
    ----------
    scores : ndarray, shape (systems, draws, outcomes per draw)
    pairs : ndarray of int, shape (pairs, 2)
        Rows of `scores`.
    expected, variance : ndarray, shape (draws, pairs)
        Exact moments of the differences.

    Returns
    -------
    Shape
        Not a number for a pair without variance in any draw.
    """
    shape = Shape(np.empty(len(pairs)), np.empty(len(pairs)))
    sd = np.sqrt(variance)
    for inside in _blocks(scores, pairs):
        spread = sd.T[inside, :, None]
        z = _differences(scores, pairs[inside]) - expected.T[inside, :, None]
        z = np.divide(z, spread, out=np.zeros_like(z), where=spread > 0.0)
        square = z * z
        varies = spread[..., 0] > 0.0
        he3 = (z * (square - 3.0)).mean(axis=2)
        he4 = (square * (square - 6.0) + 3.0).mean(axis=2)
        shape.skewness[inside] = mean_where(he3, varies, axis=1)
        shape.excess_kurtosis[inside] = mean_where(he4, varies, axis=1)
    return shape


class Sampled(NamedTuple):
    """Moments of a measure that only outcomes tell, over draws of the parameters.

    Attributes
    ----------
    expected, sd : ndarray, shape (systems,)
    difference : ndarray, shape (pairs,)
    unjudged, parameters : ndarray, shape (pairs,)
        The two parts of the variance of the difference.
    shape : Shape
        Given the parameters: third and fourth cumulants, means over draws, over powers of
        `unjudged`; not a number for a pair without variance, or of fewer than four outcomes per
        draw.
    draws_error : float
        The largest standard error, of any pair, that draws and their outcomes leave in
        P(< 0) + P(= 0) / 2.
    """

    expected: Floats
    sd: Floats
    difference: Floats
    unjudged: Floats
    parameters: Floats
    shape: Shape
    draws_error: float


def sampled_moments(scores: Floats, pairs: NDArray[np.int64]) -> Sampled:
    """Estimate the moments of scores and of their differences from outcomes.

    The variance of the draws' means is corrected for the outcomes within them, and not below 0.

    Parameters
    ----------
    scores : ndarray, shape (systems, draws, outcomes per draw)
        At least 2 outcomes per draw.
    pairs : ndarray of int, shape (pairs, 2)
        Rows of `scores`.
    """
    means = scores.mean(axis=-1)
    central, (draws, each) = scores - means[..., None], scores.shape[1:]
    unjudged = np.square(central).mean(axis=(1, 2)) * each / (each - 1)
    parameters = _between_draws(means.var(axis=-1), unjudged, draws, each)
    difference, within, between, third, fourth, spread = np.empty((6, len(pairs)))
    for inside in _blocks(scores, pairs):
        of_draws = means[pairs[inside, 0]] - means[pairs[inside, 1]]
        z = _differences(central, pairs[inside])
        square = z * z
        variance = square.mean(axis=-1)
        within[inside] = variance.mean(axis=-1) * each / (each - 1)
        third[inside], fourth[inside] = _cumulants(z, square, variance)
        difference[inside], between[inside] = of_draws.mean(axis=-1), of_draws.var(axis=-1)
        below = (z <= -TIE - of_draws[..., None]).mean(axis=-1)
        above = (z >= TIE - of_draws[..., None]).mean(axis=-1)
        spread[inside] = _error_of_mean(0.5 * (above - below), 0.25 * (above + below), each)
    varies = np.where(within > TIE**2, within, np.nan)
    return Sampled(
        expected=scores.mean(axis=(1, 2)),
        sd=np.sqrt(unjudged + parameters),
        difference=difference,
        unjudged=within,
        parameters=_between_draws(between, within, draws, each),
        shape=Shape(third / varies**1.5, fourth / varies**2),
        draws_error=float(spread.max(initial=0.0)),
    )


def mean_where(values: Floats, chosen: NDArray[np.bool_], *, axis: int) -> Floats:
    """Mean of the chosen values along an axis; not a number where none is."""
    count = chosen.sum(axis=axis)
    total = np.where(chosen, values, 0.0).sum(axis=axis)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


def error_of_draws(values: Floats, *, axis: int) -> Floats:
    """Return the standard error of the mean over draws, which lie along an axis; two at least.

    Examples
    --------
    >>> error_of_draws(np.array([[0.2, 0.5], [0.4, 0.5]]), axis=0).round(3).tolist()
    [0.1, 0.0]
    """
    return np.asarray(values.std(axis=axis, ddof=1) / np.sqrt(values.shape[axis]))


def _between_draws(between: Floats, within: Floats, draws: int, each: int) -> Floats:
    """Take from the variance of draws' means what their outcomes add to it."""
    return np.maximum(between - within / each * (1.0 - 1.0 / draws), 0.0)


def _error_of_mean(means: Floats, squares: Floats, each: int) -> Floats:
    """Return the standard error of the mean over draws, of means (pairs, draws) of outcomes.

    Of one draw the spread of its outcomes, so many of `each`, tells it: `squares` are the means of
    their squares.
    """
    draws = means.shape[-1]
    if draws > 1:
        return error_of_draws(means, axis=-1)
    return np.sqrt(np.maximum(squares - means**2, 0.0)[..., 0] / each)


def _cumulants(z: Floats, square: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Means over draws of the unbiased third and fourth cumulants (k-statistics).

    Of `z` (pairs, draws, outcomes per draw) without each draw's mean, its square, and the mean of
    that over outcomes.
    """
    n = z.shape[-1]
    if n < 4:
        none = np.full(len(z), np.nan)
        return none, none
    third = np.einsum("pdo,pdo->p", square, z) / z[0].size
    fourth = np.einsum("pdo,pdo->p", square, square) / z[0].size
    of_square = 3.0 * (n - 1) * np.square(variance).mean(axis=-1)
    scale = n**2 / ((n - 1) * (n - 2))
    return third * scale, ((n + 1) * fourth - of_square) * scale / (n - 3)


def _differences(scores: Floats, pairs: NDArray[np.int64], *, flat: bool = False) -> Floats:
    """Return differences (pairs, draws, outcomes per draw), or (pairs, outcomes) if flat."""
    difference = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    return difference.reshape(len(pairs), -1) if flat else difference


def _blocks(scores: Floats, pairs: NDArray[np.int64]) -> list[slice]:
    """Parts of the pairs small enough to hold all their differences."""
    size = max(1, _BLOCK // scores[0].size) if len(scores) else 1
    return [slice(first, first + size) for first in range(0, len(pairs), size)]
