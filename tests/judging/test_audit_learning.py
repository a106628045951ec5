"""What a model learns from an audit's labels: against Bayes' rule over its draws."""

import numpy as np
import pytest
from scipy.special import expit

from rtc_bayes.judging.audit_learning import updated

DOCUMENTS = 12


def correlated(rng, draws, level=0.7, own=0.5):
    """Draws of which all documents share a level."""
    base = np.linspace(-2.0, 1.0, DOCUMENTS)
    shared = rng.normal(0.0, level, (draws, 1))
    return expit(base + shared + rng.normal(0.0, own, (draws, DOCUMENTS)))


def by_weights(draws, labels):
    """Bayes' rule: draws are weighed by the labels before."""
    weight, believed = np.ones(len(draws)), []
    for label, p in zip(labels, draws.T, strict=True):
        believed.append(weight @ p / weight.sum())
        weight = weight * (p if label else 1.0 - p)
    return np.array(believed)


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_it_is_bayes_rule_where_draws_are_many(label):
    rng = np.random.default_rng(2)
    labels, every = np.full(DOCUMENTS, label), correlated(rng, 400_000)
    exact = by_weights(every, labels)
    # 600 draws estimate the first mean with a standard error of .008, and what eleven labels
    # move the last by, .3 at most, to about a twentieth of itself
    believed = updated(correlated(rng, 600), labels)
    assert np.abs(believed - exact).max() < 0.04
    assert np.abs(exact - every.mean(axis=0)).max() > 0.15


@pytest.mark.parametrize("document", range(0, DOCUMENTS, 4))
def test_before_any_label_it_is_the_mean_of_the_draws(document):
    draws = correlated(np.random.default_rng(1), 50)[:, [document]]
    believed = updated(draws, np.ones(1))
    np.testing.assert_allclose(believed, draws.mean(axis=0), atol=1e-9)


def test_later_labels_change_nothing():
    draws, labels = correlated(np.random.default_rng(1), 200), np.arange(DOCUMENTS) % 2.0
    np.testing.assert_array_equal(updated(draws, labels)[:5], updated(draws, labels[:5]))


def test_one_draw_learns_nothing():
    draws = correlated(np.random.default_rng(1), 1)
    believed = updated(draws, np.ones(DOCUMENTS))
    np.testing.assert_array_equal(believed, draws[0])


def test_correlations_by_chance_teach_next_to_nothing():
    rng = np.random.default_rng(3)
    alone = expit(rng.normal(0.0, 1.0, (20, 40)))
    believed = updated(alone, np.ones(40))
    assert np.abs(believed - alone.mean(axis=0)).max() < 0.02


def test_certain_probabilities_stay():
    draws = np.tile([0.0, 1.0, 0.5], (30, 1))
    believed = updated(draws, np.array([1.0, 0.0, 1.0]))
    np.testing.assert_allclose(believed, [0.0, 1.0, 0.5], atol=1e-5)
