"""Nodes and weights of Gauss and Hermite's rule, for means over a standard normal."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


@cache
def gauss_hermite(count: int) -> tuple[Floats, Floats]:
    """Return nodes and weights for means over a standard normal.

    Parameters
    ----------
    count : int, at least 1
        Nodes; means of polynomials of degree ``2 * count - 1`` are exact.

    Returns
    -------
    nodes, weights : ndarray of float, shape (count,)
        The weights sum to 1. Both are read-only.

    Examples
    --------
    >>> nodes, weights = gauss_hermite(7)
    >>> round(float(weights @ nodes**4), 6)
    3.0
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    weights = weights / weights.sum()
    for values in (nodes, weights):
        values.flags.writeable = False
    return nodes, weights
