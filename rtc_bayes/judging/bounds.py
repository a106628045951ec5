"""How far a difference on one topic can go, over all that open documents may turn out to be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.judging import kernels

type Floats = NDArray[np.float64]


def of_gains(gain: Floats, settled: Floats) -> tuple[float, float]:
    """Bound a sum of gains of relevant documents.

    Parameters
    ----------
    gain : ndarray, shape (documents,)
        Of each document if it is relevant; negative ones, too.
    settled : ndarray, shape (documents,)
        1 or 0, NaN where open.

    Examples
    --------
    >>> of_gains(np.array([1.0, 0.5, -0.5]), np.array([1.0, np.nan, np.nan]))
    (0.5, 1.5)
    """
    sure, open_gains = float(np.nansum(gain * settled)), gain[np.isnan(settled)]
    lowest = sure + float(open_gains[open_gains < 0.0].sum())
    highest = sure + float(open_gains[open_gains > 0.0].sum())
    return lowest, highest


def of_precision(a: Floats, b: Floats, settled: Floats) -> tuple[float, float]:
    """Bound the difference in average precision of two lists.

    S is bounded by taking every open positive coefficient as present and every negative one
    as absent; R lies between the number judged relevant and that plus the number open.

    Parameters
    ----------
    a, b : ndarray, shape (documents,)
        One over the rank, 0 where not retrieved.
    settled : ndarray, shape (documents,)
        1 or 0, NaN where open.

    Examples
    --------
    >>> of_precision(np.array([1.0, 0.5]), np.array([0.5, 1.0]), np.array([1.0, np.nan]))
    (0.0, 0.5)
    """
    certain = float(np.nansum(settled))
    most = certain + float(np.isnan(settled).sum())
    highest = kernels.highest_numerator(a, b, settled)
    lowest = -kernels.highest_numerator(b, a, settled)
    return over(lowest, highest, certain, most)


def over(lowest: float, highest: float, certain: float, most: float) -> tuple[float, float]:
    """Bound a ratio, 0 where it divides by 0, of bounds of its parts.

    Parameters
    ----------
    lowest, highest : float
        Of the numerator.
    certain, most : float
        The least and the most that it is divided by; above 0 it is at least 1.

    Examples
    --------
    >>> over(-1.0, 3.0, certain=2.0, most=4.0)
    (-0.5, 1.5)
    """

    def largest(numerator: float) -> float:
        if numerator > 0.0:
            return numerator / max(1.0, certain)
        return numerator / most if certain > 0.0 else 0.0

    return 0.0 - largest(-lowest), largest(highest)
