"""Three forms of P(difference < 0), P(= 0) and P(> 0): normal, corrected, and counted outcomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr

Floats = NDArray[np.float64]

#: Differences nearer to 0 than this are ties: scores that are equal but for rounding.
TIE = 1e-12

# Where the corrected form follows a shape no further: the expansion means little beyond.
_MOST_SKEWNESS = 1.0
_KURTOSIS_RANGE = (-2.0, 4.0)

_STEP = 0.02
_GRID = np.arange(-400, 401) * _STEP
# pairs whose distributions are tabulated at once
_BLOCK = 1024


class SignProbabilities(NamedTuple):
    """Probabilities that a difference is below, at and above 0; they sum to 1.

    Attributes
    ----------
    less, equal, greater : ndarray
        Of one shape, in [0, 1].
    """

    less: Floats
    equal: Floats
    greater: Floats

    def mean(self) -> SignProbabilities:
        """Average over the first axis (the draws)."""
        return SignProbabilities(*(part.mean(axis=0) for part in self))


def normal(expected: ArrayLike, variance: ArrayLike) -> SignProbabilities:
    """Probabilities of a normal difference: P(< 0) = Phi(-E / sd).

    Carterette 2007, section 3.2. A normal has no ties; without variance the difference is known,
    and a tie if it is 0 but for rounding.

    Parameters
    ----------
    expected, variance : array_like
        Of the difference; variance at least 0. They broadcast.

    Returns
    -------
    SignProbabilities

    Examples
    --------
    >>> float(normal(0.02, 0.01**2).less.round(3))
    0.023
    """
    expected, variance = _broadcast(expected, variance)
    return _around_certainty(expected, variance, ndtr(_standardised(expected, variance)))


def corrected(
    expected: ArrayLike, variance: ArrayLike, skewness: ArrayLike, excess_kurtosis: ArrayLike
) -> SignProbabilities:
    """Probabilities by an Edgeworth expansion to the second order.

    With x = -E / sd, skewness g and excess kurtosis k, P(< 0) is
    Phi(x) - phi(x) [g He2(x) / 6 + k He3(x) / 24 + g^2 He5(x) / 72], He being Hermite's
    polynomials (Hall 1992, *The Bootstrap and Edgeworth Expansion*, section 2.4). It is held in
    [0, 1] and made to fall as E grows, by the mean of its greatest value below x and its least
    above; it follows a skewness up to 1 in size, and an excess kurtosis in [-2, 4], no further.

    Parameters
    ----------
    expected, variance : array_like, shape (..., pairs)
        Of the difference.
    skewness, excess_kurtosis : array_like, shape (pairs,)
        A shape that is not a number counts as the normal's, 0.

    Returns
    -------
    SignProbabilities

    Examples
    --------
    >>> corrected([0.01], [0.01**2], [0.4], [0.0]).less.round(3)
    array([0.162])
    """
    expected, variance = _broadcast(expected, variance)
    x = np.atleast_1d(_standardised(expected, variance))
    pairs = x.shape[-1]
    skew = np.clip(_finite(skewness, pairs), -_MOST_SKEWNESS, _MOST_SKEWNESS)
    kurtosis = np.clip(_finite(excess_kurtosis, pairs), *_KURTOSIS_RANGE)
    less = np.empty_like(x)
    for first in range(0, pairs, _BLOCK):
        block = slice(first, first + _BLOCK)
        table = _shift_table(skew[block], kurtosis[block])
        less[..., block] = ndtr(x[..., block]) + _interpolated(table, x[..., block])
    less = np.clip(less, 0.0, 1.0).reshape(expected.shape)
    return _around_certainty(expected, variance, less)


def student(expected: ArrayLike, variance: ArrayLike, degrees: float) -> SignProbabilities:
    """Probabilities of a Student difference: P(< 0) = F(-E / sd), F of so many degrees of freedom.

    Parameters
    ----------
    expected, variance : array_like
        Centre of the difference and its scale squared. They broadcast.
    degrees : float
        Above 0.

    Returns
    -------
    SignProbabilities
        Without variance, those of :func:`normal`.
    """
    expected, variance = _broadcast(expected, variance)
    return _around_certainty(expected, variance, stdtr(degrees, _standardised(expected, variance)))


def within(form: Callable[[Floats], SignProbabilities], expected: Floats, rope: float) -> Floats:
    """Probability that a difference is nearer to 0 than `rope`, by a form's own distribution.

    Parameters
    ----------
    form : callable
        From expected differences to probabilities, all else fixed.
    expected : ndarray
    rope : float
        Above 0; the region of practical equivalence is (-rope, rope).

    Returns
    -------
    ndarray
        In [0, 1].
    """
    above, below = form(expected - rope), form(expected + rope)
    return np.maximum(above.less - below.less - below.equal, 0.0)


def from_outcomes(differences: ArrayLike) -> SignProbabilities:
    """Shares of sampled differences below, at and above 0.

    The standard error of a share P of n outcomes is sqrt(P (1 - P) / n).

    Parameters
    ----------
    differences : array_like, shape (..., outcomes)
        Score of the first system less that of the second; within 1e-12 of 0 is a tie.

    Returns
    -------
    SignProbabilities
        Of shape (...).

    Examples
    --------
    >>> [float(share) for share in from_outcomes([-0.1, 0.0, 0.2, 0.3])]
    [0.25, 0.25, 0.5]
    """
    differences = np.asarray(differences, dtype=np.float64)
    below, above = differences <= -TIE, differences >= TIE
    equal = ~(below | above)
    return SignProbabilities(below.mean(axis=-1), equal.mean(axis=-1), above.mean(axis=-1))


def smoothed(shares: SignProbabilities, outcomes: int) -> SignProbabilities:
    """Probabilities from the shares of outcomes: one more below 0 and one more above.

    That no outcome had a sign does not make the sign impossible. The probability that the first
    system is below, a tie counting half, is then (below + ties / 2 + 1) / (outcomes + 2): its
    posterior mean under a uniform prior (Laplace's rule of succession). It differs from the share
    by at most 1 / (outcomes + 2), less than a standard error of the share.

    Parameters
    ----------
    shares : SignProbabilities
        From :func:`from_outcomes`.
    outcomes : int
        Behind every share.

    Returns
    -------
    SignProbabilities
    """
    below, equal, above = (outcomes * share for share in shares)
    size = outcomes + 2.0
    return SignProbabilities((below + 1.0) / size, equal / size, (above + 1.0) / size)


def _broadcast(*values: ArrayLike) -> tuple[Floats, ...]:
    return np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in values))


def _standardised(expected: Floats, variance: Floats) -> Floats:
    sd = np.sqrt(variance)
    return -np.divide(expected, sd, out=np.zeros(expected.shape), where=sd > 0.0)


def _finite(values: ArrayLike, pairs: int) -> Floats:
    """Values of every pair, 0 for those that are not a number."""
    return np.broadcast_to(np.nan_to_num(np.asarray(values, dtype=np.float64)), (pairs,))


def _around_certainty(expected: Floats, variance: Floats, less: Floats) -> SignProbabilities:
    """Probabilities from P(< 0) where there is variance, and from the difference elsewhere."""
    certain = variance <= 0.0
    tied = certain & (np.abs(expected) < TIE)
    less = np.where(certain, (expected < 0.0) & ~tied, less)
    equal = tied.astype(np.float64)
    return SignProbabilities(less, equal, np.where(tied, 0.0, 1.0 - less))


def _shift_table(skewness: Floats, kurtosis: Floats) -> Floats:
    """Distribution less the normal on the grid, shape (pairs, grid); monotone with the normal."""
    x = _GRID
    density = np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi)
    he2, he3, he5 = x**2 - 1.0, x**3 - 3.0 * x, x**5 - 10.0 * x**3 + 15.0 * x
    shift = np.outer(skewness / 6.0, he2) + np.outer(kurtosis / 24.0, he3)
    shift += np.outer(skewness**2 / 72.0, he5)
    table = np.clip(ndtr(x) - density * shift, 0.0, 1.0)
    below = np.maximum.accumulate(table, axis=1)
    above = np.minimum.accumulate(table[:, ::-1], axis=1)[:, ::-1]
    return 0.5 * (below + above) - ndtr(x)


def _interpolated(table: Floats, x: Floats) -> Floats:
    """Values of each pair's row at x (..., pairs), linear between the points of the grid."""
    place = np.clip((x - _GRID[0]) / _STEP, 0.0, len(_GRID) - 1.0)
    left = np.minimum(place.astype(np.int64), len(_GRID) - 2)
    share = place - left
    pair = np.arange(x.shape[-1])
    return (1.0 - share) * table[pair, left] + share * table[pair, left + 1]
