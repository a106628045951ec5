"""Nodes and weights of Gauss's rules, for means over a standard normal and over 0 to 1."""

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
    return _fixed(nodes, weights / weights.sum())


@cache
def gauss_legendre(count: int) -> tuple[Floats, Floats]:
    """Return nodes and weights for means over the interval from 0 to 1.

    Parameters, what is returned and how exact it is are as of :func:`gauss_hermite`.

    Examples
    --------
    >>> nodes, weights = gauss_legendre(3)
    >>> round(float(weights @ nodes**4), 6)
    0.2
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return _fixed((nodes + 1.0) / 2.0, weights / 2.0)


def _fixed(nodes: Floats, weights: Floats) -> tuple[Floats, Floats]:
    for values in (nodes, weights):
        values.flags.writeable = False
    return nodes, weights
