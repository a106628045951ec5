"""Small linear algebra of the Gibbs sampler, compiled: loops, and matrix products in one place."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from rtc_bayes.relevance.newton import Floats

# of a matrix that are factored together
_COLUMNS = 32


@njit(cache=True, nogil=True, error_model="numpy")
def add_product(left: Floats, right: Floats, factor: float, out: Floats) -> None:
    """Add factor left' right to out."""
    product = np.dot(left.T, right)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] += factor * product[i, j]


@njit(cache=True, nogil=True, error_model="numpy")
def softplus(x: float) -> float:
    """Return log(1 + exp(x))."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@njit(cache=True, nogil=True, error_model="numpy")
def cholesky(lower: Floats) -> None:
    """Factor a symmetric matrix, given by its lower triangle, in place.

    By blocks of columns, which leave the rest to a matrix product. Where the matrix has no factor,
    or holds what is no number, so does the factor.
    """
    n = len(lower)
    for first in range(0, n, _COLUMNS):
        last = min(n, first + _COLUMNS)
        for j in range(first, last):
            for k in range(first, j):
                for i in range(j, n):
                    lower[i, j] -= lower[i, k] * lower[j, k]
            root = math.sqrt(lower[j, j])
            for i in range(j, n):
                lower[i, j] /= root
        if last < n:
            block = np.ascontiguousarray(lower[last:, first:last].T)
            add_product(block, block, -1.0, lower[last:, last:])


@njit(cache=True, nogil=True, error_model="numpy")
def forward(lower: Floats, x: Floats) -> None:
    """Set x to lower^-1 x."""
    for i in range(len(x)):
        for j in range(i):
            x[i] -= lower[i, j] * x[j]
        x[i] /= lower[i, i]


@njit(cache=True, nogil=True, error_model="numpy")
def forward_rows(lower: Floats, rows: Floats) -> None:
    """Set rows to lower^-1 rows."""
    for i in range(len(rows)):
        for j in range(i):
            factor = lower[i, j]
            for k in range(rows.shape[1]):
                rows[i, k] -= factor * rows[j, k]
        for k in range(rows.shape[1]):
            rows[i, k] /= lower[i, i]


@njit(cache=True, nogil=True, error_model="numpy")
def backward(lower: Floats, x: Floats) -> None:
    """Set x to lower'^-1 x."""
    for i in range(len(x) - 1, -1, -1):
        for j in range(i + 1, len(x)):
            x[i] -= lower[j, i] * x[j]
        x[i] /= lower[i, i]
