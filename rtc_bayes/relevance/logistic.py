"""Logistic regression with beta priors on log-odds: what layers 2 and 3 share.

A prior LogitBeta(a, b) on a coefficient x has density sigma(x)^a (1 - sigma(x))^b up to a
constant: the likelihood of ``a`` relevant and ``b`` nonrelevant pseudo-judgments of a document
whose only feature is that coefficient's. It stays a weighted logistic regression,
log-concave, with one mode.
"""

from __future__ import annotations

import numpy as np

from rtc_bayes.relevance.newton import Floats, Mode, maximise


def sigmoid(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), without overflow.

    Examples
    --------
    >>> sigmoid(np.array([0.0, 800.0]))
    array([0.5, 1. ])
    """
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def fit_logistic(
    features: Floats, relevant: Floats, nonrelevant: Floats, *, prior: tuple[float, float]
) -> Mode:
    """Find the mode of a weighted logistic regression with a LogitBeta prior.

    The log density is sum_i [relevant_i log sigma(x_i' c) + nonrelevant_i log sigma(-x_i' c)]
    + sum_j [a log sigma(c_j) + b log sigma(-c_j)].

    Parameters
    ----------
    features : ndarray of float, shape (rows, coefficients)
    relevant, nonrelevant : ndarray of float, shape (rows,)
        Weight of each label in each row, at least 0. A label between 0 and 1 is split.
    prior : tuple of float
        The ``a`` and ``b``, positive, of LogitBeta(a, b) on every coefficient.

    Returns
    -------
    Mode
        Of the coefficients, from 0.
    """
    a, b = prior
    weight = relevant + nonrelevant

    def log_density(c: Floats) -> float:
        eta = features @ c
        data = relevant @ eta - weight @ np.logaddexp(0.0, eta)
        return float(data + a * c.sum() - (a + b) * np.logaddexp(0.0, c).sum())

    def derivatives(c: Floats) -> tuple[Floats, Floats]:
        p, q = sigmoid(features @ c), sigmoid(c)
        gradient = features.T @ (relevant - weight * p) + a - (a + b) * q
        curvature = (features.T * (weight * p * (1.0 - p))) @ features
        curvature[np.diag_indices_from(curvature)] += (a + b) * q * (1.0 - q)
        return gradient, curvature

    return maximise(np.zeros(features.shape[1]), log_density, derivatives)
