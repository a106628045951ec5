"""An oracle for logistic layers: Polya-Gamma Gibbs (Polson, Scott and Windle 2013), slow and plain.

The LogitBeta(a, b) prior of a coefficient is data: a relevant and b nonrelevant pseudo-judgments
of that coefficient alone. A row of weight w takes omega ~ PG(w, eta), drawn as
sum_k g_k / (2 pi^2 ((k - 1/2)^2 + (eta / 2 pi)^2)), g_k ~ Gamma(w, 1), of which the first `terms`
are drawn and the rest is a gamma variate of the mean and variance that are known to be left.
"""

import numpy as np


def gibbs(features, relevant, weight, prior, draws, seed, warm=100, terms=20):
    """Return draws of the coefficients, shape (draws, coefficients)."""
    n = features.shape[1]
    rows = np.vstack([features, np.eye(n)])
    relevant = np.concatenate([relevant, np.full(n, prior[0])])
    weight = np.concatenate([weight, np.full(n, sum(prior))])
    random = np.random.default_rng(seed)
    x, kept = np.zeros(n), np.empty((draws, n))
    for sweep in range(warm + draws):
        omega = draw_omega(random, weight, rows @ x, terms)
        factor = np.linalg.cholesky(rows.T @ (omega[:, None] * rows))
        mean = np.linalg.solve(factor @ factor.T, rows.T @ (relevant - weight / 2))
        x = mean + np.linalg.solve(factor.T, random.standard_normal(n))
        if sweep >= warm:
            kept[sweep - warm] = x
    return kept


def draw_omega(random, weight, eta, terms):
    # the moments divide by eta
    eta = np.maximum(np.abs(eta), 1e-2)
    half = np.arange(terms)[None, :] + 0.5
    scale = 1 / (2 * np.pi**2 * (half**2 + (eta[:, None] / (2 * np.pi)) ** 2))
    drawn = (random.standard_gamma(np.tile(weight[:, None], terms)) * scale).sum(axis=1)
    mean, variance = moments(weight, eta)
    mean_left = mean - weight * scale.sum(axis=1)
    variance_left = variance - weight * (scale**2).sum(axis=1)
    return drawn + random.gamma(mean_left**2 / variance_left, variance_left / mean_left)


def moments(weight, eta):
    """Return mean and variance of PG(weight, eta), eta above 0."""
    mean = weight / (2 * eta) * np.tanh(eta / 2)
    variance = weight / (4 * eta**3) * (np.sinh(eta) - eta) / np.cosh(eta / 2) ** 2
    return mean, variance
