"""The shared solver, against a general optimiser on the log density as written."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize
from scipy.special import log_expit

from rtc_bayes.relevance.logistic import fit_logistic, sigmoid
from rtc_bayes.relevance.newton import maximise


def literal(c, features, relevant, nonrelevant, a, b):
    total = a * log_expit(c).sum() + b * log_expit(-c).sum()
    for x, s, f in zip(features, relevant, nonrelevant, strict=True):
        total += s * log_expit(x @ c) + f * log_expit(-(x @ c))
    return total


@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.2, 3.0), (5.0, 0.5)])
@pytest.mark.parametrize("seed", range(3))
def test_mode_is_that_of_the_literal_density(prior, seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(25, 3))
    relevant = rng.random(25)
    nonrelevant = rng.random(25) * 2
    mode = fit_logistic(features, relevant, nonrelevant, prior=prior)
    best = minimize(
        lambda c: -literal(c, features, relevant, nonrelevant, *prior),
        np.zeros(3),
        options={"gtol": 1e-7},
    )
    np.testing.assert_allclose(mode.at, best.x, atol=1e-5)
    assert literal(mode.at, features, relevant, nonrelevant, *prior) >= -best.fun - 1e-12
    assert mode.converged
    assert mode.gradient < 1e-6


def test_prior_is_pseudo_judgments():
    """LogitBeta(a, b) on a coefficient is a relevant and b nonrelevant rows e_j."""
    rng = np.random.default_rng(5)
    features = rng.random((10, 2))
    label = rng.integers(0, 2, 10).astype(float)
    tiny = (1e-9, 1e-9)
    rows = np.vstack([features, np.eye(2)])
    as_rows = fit_logistic(
        rows, np.append(label, [2.0, 2.0]), np.append(1 - label, [0.5, 0.5]), prior=tiny
    )
    as_prior = fit_logistic(features, label, 1 - label, prior=(2.0, 0.5))
    np.testing.assert_allclose(as_prior.at, as_rows.at, atol=1e-6)


def test_no_data_gives_the_prior_mode():
    mode = fit_logistic(np.empty((0, 2)), np.empty(0), np.empty(0), prior=(3.0, 1.0))
    np.testing.assert_allclose(mode.at, np.log(3.0), rtol=1e-8)


def test_duplicate_columns_share_the_weight():
    rng = np.random.default_rng(2)
    x = rng.random((30, 1))
    label = (rng.random(30) < x[:, 0]).astype(float)
    mode = fit_logistic(np.hstack([x, x, x]), label, 1 - label, prior=(1.0, 1.0))
    assert mode.converged
    assert np.ptp(mode.at) < 1e-8


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 30),
    st.integers(1, 6),
    st.floats(-3, 3),
    st.floats(0.01, 20),
    st.floats(0.01, 20),
    st.integers(0, 10**6),
)
def test_any_problem_converges(rows, columns, magnitude, a, b, seed):
    """Separated labels, features large or tiny, more columns than rows."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, columns)) * 10.0**magnitude
    label = (features[:, 0] > 0).astype(float)
    mode = fit_logistic(features, label, 1 - label, prior=(a, b))
    assert mode.converged
    assert np.isfinite(mode.at).all()


def test_a_density_without_mode_is_reported():
    mode = maximise(np.zeros(1), lambda x: float(x[0]), lambda x: (np.ones(1), 1e-3 * np.eye(1)))
    assert not mode.converged


def test_sigmoid_neither_overflows_nor_cancels():
    np.testing.assert_allclose(sigmoid(np.array([-800.0, 0.0, 800.0])), [0.0, 0.5, 1.0])
    x = np.linspace(-30, 30, 13)
    np.testing.assert_allclose(sigmoid(x), 1 / (1 + np.exp(-x)), rtol=1e-12, atol=1e-16)
