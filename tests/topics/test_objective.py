"""The objective of topic selection: properties 2, 3 and 7 of the thesis's formulas, and errors."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from topic_scores import drawn, matrices, matrix

import rtc_bayes as rb
from rtc_bayes.topics.objective import Objective


@given(matrices, st.data())
def test_rho_is_the_correlation_with_the_mean_over_all_topics(scores, data):
    n = len(scores.topics)
    d = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    d[data.draw(st.integers(0, n - 1))] = 1.0
    objective = Objective.of(scores)
    expected = np.corrcoef(scores.mean.mean(axis=1), scores.mean @ d)[0, 1]
    assert objective.rho(d) == pytest.approx(expected, abs=1e-12)
    assert objective.rho(np.ones(n)) == pytest.approx(1.0, abs=1e-12)


def test_the_covariance_is_the_sample_covariance():
    scores = drawn(1)
    objective = Objective.of(scores)
    np.testing.assert_allclose(objective.covariance, np.cov(scores.mean.T), atol=1e-15)
    np.testing.assert_allclose(objective.with_all, np.cov(scores.mean.T).sum(axis=0))
    assert objective.variance == pytest.approx(np.cov(scores.mean.T).sum())
    fresh = Objective.of(scores)
    np.testing.assert_allclose(fresh.column(3), objective.covariance[3], atol=1e-15)


@given(matrices, st.floats(-1, 1), st.floats(0.1, 50))
def test_a_constant_of_a_topic_says_nothing_and_a_unit_scales_gamma(scores, shift, unit):
    d = np.arange(1.0, 1 + len(scores.topics))
    objective = Objective.of(scores)
    shifted = scores.mean.copy()
    shifted[:, 1] += shift
    assert Objective.of(matrix(shifted)).gamma(d) == pytest.approx(objective.gamma(d), rel=1e-9)
    scaled = Objective.of(matrix(unit * scores.mean))
    assert scaled.gamma(d) == pytest.approx(unit * objective.gamma(d), rel=1e-9)
    assert scaled.rho(d) == pytest.approx(objective.rho(d), rel=1e-9)


def test_equal_weights_on_some_systems_give_their_sample_covariance():
    scores = drawn(2)
    some = Objective.of(scores, {f"s{n}": 0.25 for n in (0, 3, 5, 7)})
    expected = np.cov(scores.mean[[0, 3, 5, 7]].T)
    np.testing.assert_allclose(some.covariance, expected, atol=1e-15)


def test_unequal_weights_have_the_factor_of_reliability_weights():
    scores = drawn(3, systems=3)
    weights = {"s0": 2.0, "s1": 1.0, "s2": 1.0}
    expected = np.cov(scores.mean.T, aweights=[2, 1, 1])  # ddof 1: the same factor
    np.testing.assert_allclose(Objective.of(scores, weights).covariance, expected, atol=1e-15)


def test_noise_is_the_mean_variance_and_lowers_gamma():
    scores = drawn(4)
    variance = np.zeros(scores.mean.shape)
    variance[:, 2] = np.linspace(0.0, 0.02, len(variance))
    noisy, exact = Objective.of(matrix(scores.mean, variance)), Objective.of(scores)
    assert noisy.noise[2] == pytest.approx(0.01)
    d = np.zeros(len(scores.topics))
    d[2] = 1.0
    expected = exact.with_all[2] / (exact.covariance[2, 2] + 0.01) ** 0.5
    assert noisy.gamma(d) == pytest.approx(expected)
    d[2], d[3] = 0.0, 1.0
    assert noisy.gamma(d) == pytest.approx(exact.gamma(d))


def test_no_topics_have_no_correlation():
    objective = Objective.of(matrix(np.array([[0.1, 0.5], [0.3, 0.5], [0.2, 0.5]])))
    assert objective.rho([0, 0]) == objective.rho([0, 1]) == 0.0  # the second varies in nothing


@pytest.mark.parametrize(
    ("scores", "weights", "message"),
    [
        ([[0.1, 0.2], [np.nan, 0.3]], None, "without a score on topic 1: .*; give the score"),
        ([[0.1, 0.2], [0.2, 0.1]], None, "the same mean score"),
        ([[0.1, 0.2]], None, "1 system to select topics by; give two"),
        ([[0.1, 0.2], [0.4, 0.1]], {"s0": 1, "s1": -1}, "below 0"),
        ([[0.1, 0.2], [0.4, 0.1]], {"s0": 1, "x": 1}, "a weight is for x"),
    ],
)
def test_what_cannot_be_used_is_refused(scores, weights, message):
    variance = np.where(np.isnan(scores), np.nan, 0.0)
    with pytest.raises(rb.InputError, match=message):
        Objective.of(matrix(np.array(scores), variance), weights)
