"""Comparisons of more systems than whose pairs are worth moments of their own."""

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes.defaults import MANY_PAIRS

N_SYSTEMS = 22


@pytest.fixture(scope="module")
def pool():
    runs = rb.simulate(n_topics=5, n_systems=N_SYSTEMS, seed=4).runs
    return rb.Pool.from_runs(runs, depth=8)


@pytest.fixture(scope="module")
def drawn(pool):
    p = np.random.default_rng(1).beta(1.0, 2.0, (1, 4, pool.n_documents))
    return rb.Relevance.from_values(pool, p)


def test_draws_of_many_systems_are_compared_by_outcomes(pool, drawn):
    auto = rb.compare(pool, drawn)
    exact = rb.compare(pool, drawn, moments="exact")
    assert len(auto.a) > MANY_PAIRS
    assert (auto.moments, exact.moments) == ("montecarlo", "exact")
    assert auto.meta["exact_draws"] == 0 < exact.meta["exact_draws"]
    outcomes = auto.meta["outcomes"]
    assert outcomes == 20_000
    # five standard errors of a share, and the error of the exact comparison's own form
    assert np.abs(auto.p_less - exact.p_less).max() < 5 * 0.5 / np.sqrt(outcomes) + 0.01
    error = exact.sd_difference / np.sqrt(outcomes)
    off = np.abs(auto.expected_difference - exact.expected_difference)
    assert (off < 5 * error).all()
    np.testing.assert_allclose(auto.sd_difference, exact.sd_difference, rtol=5 / np.sqrt(outcomes))
    assert auto.meta["draws_error"] == pytest.approx(exact.meta["draws_error"], rel=0.1)
    assert "another seed may move" in auto.seed_text


def test_equivalence_is_counted_over_the_outcomes_of_the_signs(pool, drawn):
    comparison = rb.compare(pool, drawn)
    p_rope = comparison.with_equivalence(1e-9).p_rope
    counts = p_rope * (comparison.meta["outcomes"] + 2)
    np.testing.assert_allclose(counts, counts.round(), atol=1e-6)
    assert comparison.with_equivalence(0.01).setting.moments == comparison.setting.moments


def test_topics_of_them_are_asked_by_moments(pool, drawn):
    by_outcomes = rb.compare(pool, drawn).score_matrix()
    by_moments = rb.compare(pool, drawn, moments="exact").score_matrix()
    np.testing.assert_array_equal(by_outcomes.mean, by_moments.mean)


def test_what_is_cheap_or_asked_for_stays_by_moments(pool, drawn):
    point = rb.Relevance.from_values(pool, drawn.values[0])
    assert rb.compare(pool, point).moments == "exact"
    assert rb.compare(pool, drawn, baseline=pool.systems[0]).moments == "exact"
    assert rb.compare(pool, drawn, form="normal").moments == "exact"
    few = pool.select(pool.systems[:20])
    assert rb.compare(few, drawn).moments == "exact"
