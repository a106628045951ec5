import numpy as np
import pytest

from rtc_bayes.confidence.outcomes import sample, sampled_moments, shape_about, shares

PAIR = np.array([[0, 1]])


def test_the_shape_is_that_of_the_differences():
    rng = np.random.default_rng(3)
    scores = np.stack([rng.gamma(4.0, size=(1, 200_000)), np.zeros((1, 200_000))])
    shape = shape_about(scores, PAIR, np.array([[4.0]]), np.array([[4.0]]))
    assert shape.skewness == pytest.approx([1.0], abs=0.03)
    assert shape.excess_kurtosis == pytest.approx([1.5], abs=0.2)


def test_the_shape_is_a_mean_over_draws_and_not_of_their_mixture():
    rng = np.random.default_rng(4)
    centres = np.array([0.0, 100.0, 7.0])
    draws = rng.gamma(4.0, size=(3, 50_000)) + centres[:, None]
    draws[2] = centres[2]  # a draw without variance has no shape
    scores = np.stack([draws, np.zeros_like(draws)])
    expected = (centres + np.array([4.0, 4.0, 0.0]))[:, None]
    shape = shape_about(scores, PAIR, expected, np.array([[4.0], [4.0], [0.0]]))
    assert shape.skewness == pytest.approx([1.0], abs=0.04)
    assert np.isnan(shape_about(scores, PAIR, expected, np.zeros((3, 1))).skewness).all()


def test_variance_that_the_sample_missed_shows():
    scores = np.zeros((2, 1, 4000))
    shape = shape_about(scores, PAIR, np.zeros((1, 1)), np.full((1, 1), 1e-6))
    assert shape.excess_kurtosis == pytest.approx([3.0])


def test_many_pairs_are_counted_in_parts(monkeypatch):
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 3, size=(6, 2, 50)).astype(float)
    pairs = np.stack(np.triu_indices(6, 1), axis=1)
    moments = np.zeros((2, len(pairs))), np.ones((2, len(pairs)))
    at_once = [*shares(scores, pairs), *shape_about(scores, pairs, *moments)]
    at_once += [sampled_moments(scores, pairs).unjudged]
    monkeypatch.setattr("rtc_bayes.confidence.outcomes._BLOCK", 350)
    parts = [*shares(scores, pairs), *shape_about(scores, pairs, *moments)]
    parts += [sampled_moments(scores, pairs).unjudged]
    for one, other in zip(at_once, parts, strict=True):
        assert one == pytest.approx(other)
    assert sum(at_once[:3]) == pytest.approx(1.0)


def test_variance_has_a_part_within_draws_and_one_between():
    rng = np.random.default_rng(6)
    centres = rng.normal(0.0, 0.5, size=2000)
    draws = centres[:, None] + rng.normal(0.0, 2.0, size=(2000, 10))
    result = sampled_moments(np.stack([draws, np.zeros_like(draws)]), PAIR)
    # standard errors: sqrt(2 / 18000) * 4 = .04, and about .02
    assert result.unjudged == pytest.approx([4.0], abs=0.17)
    assert result.parameters == pytest.approx([centres.var()], abs=0.09)
    assert result.sd[0] ** 2 == pytest.approx((result.unjudged + result.parameters)[0])
    one = sampled_moments(np.stack([draws[:1], np.zeros_like(draws[:1])]), PAIR)
    assert one.parameters.tolist() == [0.0]


def test_the_sampled_shape_is_that_given_the_parameters():
    rng = np.random.default_rng(8)
    centres = rng.choice([0.0, 50.0], size=(20_000, 1), p=[0.9, 0.1])
    draws = centres + rng.gamma(4.0, size=(20_000, 5))
    shape = sampled_moments(np.stack([draws, np.zeros_like(draws)]), PAIR).shape
    # a gamma's, and not those of the mixture, which are 2.6 and 4.9
    assert shape.skewness == pytest.approx([1.0], abs=0.1)
    assert shape.excess_kurtosis == pytest.approx([1.5], abs=0.4)
    few = sampled_moments(np.stack([draws, np.zeros_like(draws)])[..., :3], PAIR).shape
    assert np.isnan(few).all()


def test_every_draw_gets_as_many_outcomes(make_pool):
    pool = make_pool(np.random.default_rng(0), 2, 2, 4)
    values = np.stack([np.zeros(8), np.full(8, 0.5), np.ones(8)])
    scores = sample(pool, values, measure="AP", outcomes=10, seed=1)
    assert scores.shape == (2, 3, 4)
    assert (scores[:, 0] == 0).all()
    assert (scores[:, 2] == 1).all()
    assert scores[:, 1].std() > 0
