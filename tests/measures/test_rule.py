"""Sums of powers that stand for 1/r, and the windows they are asked for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import convolve

from rtc_bayes.measures.rule import (
    gauss_rules,
    relevant_window,
    spectral_nodes,
    spectral_weights,
    unit_rules,
)
from rtc_bayes.measures.tilts import nodes


def rule_of(low, high, tolerance):
    """Nodes and weights for the window of r, and their error."""
    (rule,) = unit_rules(np.array([low]), np.array([high]), tolerance)
    return rule.u / low, rule.weight / low, rule.error


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize(("low", "high"), [(1, 1), (1, 7), (1, 100), (3, 2000), (200, 500)])
def test_rule_reaches_its_tolerance_on_the_window(low, high, tolerance):
    u, weight, error = rule_of(low, high, tolerance)
    r = np.arange(low, high + 1)
    power = np.exp(-np.outer(r, u))
    assert np.abs(r * (power @ weight) - 1).max() <= tolerance
    assert np.abs(r * r * (power @ (weight * u)) - 1).max() <= tolerance
    assert error <= tolerance


def test_rule_does_no_harm_off_the_window():
    u, weight, _ = rule_of(20, 60, 1e-8)
    r = np.arange(1, 20_000)
    power = np.exp(-np.outer(r, u))
    assert (r * (power @ weight)).max() <= 2
    assert (r * r * (power @ (weight * u))).max() <= 2
    assert (weight > 0).all()


def test_rule_refuses_an_empty_window():
    with pytest.raises(ValueError, match="window"):
        rule_of(5, 4, 1e-8)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize(("documents", "most"), [(12, 40), (400, 6)])
def test_fewer_nodes_sum_moments_of_tilted_probabilities(documents, most, tolerance):
    p = 0.6 * np.random.default_rng(2).random((3, documents))
    p[1] *= 0.5
    mean = p.sum(axis=1)
    u, weight1, _ = rule_of(1, documents, 1e-13)
    t = np.exp(-u)
    weight = weight1 * np.prod(1 - p[:, None] * (1 - t[:, None]), axis=2)
    counts, few, weights = gauss_rules(np.tile(u, (3, 1)), weight, mean**2, tolerance)
    assert counts.max() <= min(most, len(t))
    assert (weights > 0).all()
    for d, (fewer, of_draw) in enumerate(
        zip(*(np.split(x, counts.cumsum()[:-1]) for x in (few, weights)), strict=True)
    ):
        for power in (0, 1):
            before, after = (
                (w * x**power)
                @ (p[d] * np.exp(-x)[:, None] / (1 - p[d] * -np.expm1(-x)[:, None])).sum(axis=1)
                ** 2
                for x, w in ((u, weight[d]), (fewer, of_draw))
            )
            assert abs(after - before) <= tolerance


@pytest.mark.parametrize(("mean", "few", "many"), [(5, 20, 26), (50, 4, 6), (200, 4, 4)])
def test_many_relevant_documents_need_few_nodes(mean, few, many):
    """As docs/confidence.md says, by the default tolerance."""
    p = np.random.default_rng(3).random((4, 1000))
    counts = np.diff(nodes(p * mean / p.sum(axis=1, keepdims=True), 1e-8).draw_starts)
    assert ((few <= counts) & (counts <= many)).all()


@pytest.mark.parametrize("leaving", [1e-3, 1e-8, 1e-14])
def test_window_is_left_as_rarely_as_asked(leaving):
    rng = np.random.default_rng(5)
    for documents, power in [(5, 1), (40, 1), (200, 5), (400, 0.2), (300, 40)]:
        p = rng.random(documents) ** power
        p[:2] = [0.0, 1.0]
        distribution = np.ones(1)
        for x in p:
            distribution = convolve(distribution, [1 - x, x], method="direct")
        low, high = relevant_window(p, leaving)
        inside = np.zeros(documents + 1, dtype=bool)
        inside[low : high + 1] = True
        assert distribution[~inside].sum() <= leaving
        assert 1 <= low <= p.sum() <= high <= documents - 1


def test_window_of_certain_documents_is_a_point():
    assert relevant_window(np.array([1.0, 0.0, 1.0]), 1e-8) == (2, 2)


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 1), (3, 10), (40, 75)])
def test_spectral_sum_is_any_function_of_the_window(low, high):
    values = np.random.default_rng(1).random(high - low + 1)
    t = spectral_nodes(low, high)
    weights = spectral_weights(low, values)
    r = np.arange(low, high + 1)
    np.testing.assert_allclose((t ** r[:, None] @ weights).real, values, atol=1e-13)
