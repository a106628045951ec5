"""Draws from the Polya-Gamma distribution PG(1, eta): compiled.

The exact sampler of Polson, Scott and Windle ("Bayesian inference for logistic models using
Polya-Gamma latent variables", 2013, section 4): PG(1, eta) is a quarter of the tilted Jacobi
variable J*(1, |eta| / 2), drawn by Devroye's method of alternating series from a proposal that
is inverse Gaussian to the left of 0.64 and exponential to its right.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_CUT = 0.64
# beyond it the exponential part has a probability below 1e-100
_FAR = 30.0
# beyond it PG(1, eta) is its mean to the last digit, and the series would divide by zero
_VAST = 1e100


@njit(cache=True, nogil=True, error_model="numpy")
def polya_gamma(random: np.random.Generator, eta: float) -> float:
    """Draw from PG(1, eta), whose mean is tanh(eta / 2) / (2 eta).

    Parameters
    ----------
    random : numpy.random.Generator
    eta : float
        Of either sign. Of one that is not a number, the draw is none either.
    """
    if not abs(eta) < _VAST:
        return 0.5 / abs(eta)
    z = 0.5 * abs(eta)
    rate = 0.125 * math.pi**2 + 0.5 * z * z
    share = _exponential_share(z, rate)
    while True:
        if random.random() < share:
            x = _CUT + random.standard_exponential() / rate
        else:
            x = _left_part(random, z)
        total = _term(0, x)
        threshold = random.random() * total
        n = 0
        while True:
            n += 1
            if n % 2:
                total -= _term(n, x)
                if threshold <= total:
                    return 0.25 * x
            else:
                total += _term(n, x)
                if threshold > total:
                    break


@njit(cache=True, nogil=True, error_model="numpy")
def _term(n: int, x: float) -> float:
    """Term n of the alternating series of the density at tilt 0."""
    half = n + 0.5
    if x > _CUT:
        return math.pi * half * math.exp(-0.5 * x * (half * math.pi) ** 2)
    return (2.0 / (math.pi * x)) ** 1.5 * math.pi * half * math.exp(-2.0 * half * half / x)


@njit(cache=True, nogil=True, error_model="numpy")
def _exponential_share(z: float, rate: float) -> float:
    """Probability that the proposal lies to the right of the cut."""
    if z > _FAR:
        return 0.0
    root = math.sqrt(_CUT)
    upper = math.exp(rate * _CUT - z) * _normal_cdf((_CUT * z - 1.0) / root)
    lower = math.exp(rate * _CUT + z) * _normal_cdf(-(_CUT * z + 1.0) / root)
    return 1.0 / (1.0 + 4.0 / math.pi * rate * (upper + lower))


@njit(cache=True, nogil=True, error_model="numpy")
def _normal_cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@njit(cache=True, nogil=True, error_model="numpy")
def _left_part(random: np.random.Generator, z: float) -> float:
    """Draw from the inverse Gaussian of mean 1 / z and shape 1, cut to its left part."""
    if z * _CUT < 1.0:
        while True:
            first, second = random.standard_exponential(), random.standard_exponential()
            if first * first > 2.0 * second / _CUT:
                continue
            x = _CUT / (1.0 + _CUT * first) ** 2
            if random.random() <= math.exp(-0.5 * z * z * x):
                return x
    mean = 1.0 / z
    while True:
        square = random.standard_normal() ** 2
        spread = mean * square
        x = mean + 0.5 * mean * (spread - math.sqrt(4.0 * spread + spread * spread))
        if random.random() > mean / (mean + x):
            x = mean * mean / x
        if x <= _CUT:
            return x
