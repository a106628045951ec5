import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from rtc_bayes.confidence import corrected, from_outcomes, normal


def test_the_normal_is_phi_of_minus_e_over_sd():
    less, equal, greater = normal([-1.0, 0.0, 2.0], [4.0, 1.0, 1.0])
    assert less == pytest.approx([stats.norm.cdf(0.5), 0.5, stats.norm.cdf(-2.0)])
    assert equal.tolist() == [0, 0, 0]
    assert less + greater == pytest.approx(1.0)


@pytest.mark.parametrize("form", [normal, lambda e, v: corrected(e, v, np.nan, np.nan)])
def test_without_variance_the_difference_is_known(form):
    less, equal, greater = form([-0.1, 0.0, 1e-17, 0.1], [0.0, 0.0, 0.0, 0.0])
    assert less.tolist() == [1, 0, 0, 0]
    assert equal.tolist() == [0, 1, 1, 0]
    assert greater.tolist() == [0, 0, 0, 1]


def test_the_corrected_form_without_shape_is_the_normal():
    expected = np.linspace(-4, 4, 33)
    for mine, theirs in zip(corrected(expected, 1.0, 0.0, 0.0), normal(expected, 1.0), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-15)


@pytest.mark.parametrize(("degrees", "most"), [(50, 0.002), (200, 0.0004)])
def test_the_corrected_form_follows_a_chi_square(degrees, most):
    x = np.linspace(-3, 3, 61)
    skewness, kurtosis = np.sqrt(8 / degrees), 12 / degrees
    less, _, greater = corrected(-x, 1.0, skewness, kurtosis)
    truth = stats.chi2.cdf(degrees + x * np.sqrt(2 * degrees), degrees)
    assert np.abs(less - truth).max() < most
    assert np.abs(normal(-x, 1.0).less - truth).max() > 5 * most
    assert less + greater == pytest.approx(1.0)


def test_the_corrected_form_follows_a_laplace_better_than_the_normal():
    x = np.linspace(-3, 3, 61)
    mean_of_10 = np.random.default_rng(1).laplace(size=(10, 200_000)).mean(axis=0)
    truth = np.searchsorted(np.sort(mean_of_10), x * np.sqrt(0.2)) / 200_000
    less = corrected(-x, 1.0, 0.0, 0.3).less
    assert np.abs(less - truth).max() < 4 * 0.5 / np.sqrt(200_000)
    assert np.abs(normal(-x, 1.0).less - truth).max() > 4 * 0.5 / np.sqrt(200_000)


@given(st.floats(-30, 30), st.floats(-30, 200))
def test_the_corrected_form_is_a_distribution_whatever_the_shape(skewness, kurtosis):
    expected = np.linspace(9, -9, 1801)
    less, equal, greater = corrected(expected[:, None], 1.0, [skewness], [kurtosis])
    assert less.min() >= 0
    assert less.max() <= 1
    assert (equal == 0).all()
    assert less + greater == pytest.approx(1.0)
    # linear interpolation beside a curved normal leaves a little
    assert np.diff(less[:, 0]).min() > -1e-5
    assert less[0, 0] < 1e-4
    assert less[-1, 0] > 1 - 1e-4


@given(st.floats(-2, 2), st.floats(-2, 5), st.floats(-4, 4))
def test_the_corrected_form_turns_with_the_sign(skewness, kurtosis, expected):
    one = corrected([expected], 1.0, skewness, kurtosis)
    other = corrected([-expected], 1.0, -skewness, kurtosis)
    assert one.less == pytest.approx(other.greater, abs=1e-12)


def test_draws_of_expected_values_share_a_shape():
    expected = np.array([[0.1, -0.2], [0.3, 0.0]])
    variance = np.array([[1.0, 0.5], [2.0, 0.0]])
    overall = corrected(expected, variance, [0.3, -0.2], [0.5, 0.1])
    for d in range(2):
        row = corrected(expected[d], variance[d], [0.3, -0.2], [0.5, 0.1])
        assert overall.less[d] == pytest.approx(row.less)
        assert overall.equal[d] == pytest.approx(row.equal)


def test_outcomes_are_counted_and_rounding_is_a_tie():
    less, equal, greater = from_outcomes([[-0.5, 1e-16, -1e-13, 0.2], [0.1, 0.1, 0.1, -2e-12]])
    assert less.tolist() == [0.25, 0.25]
    assert equal.tolist() == [0.5, 0.0]
    assert greater.tolist() == [0.25, 0.75]


def test_no_ties_are_no_rounding_error():
    """1 - less - greater is below 0 for these shares: it printed as -0.000."""
    less, equal, greater = from_outcomes([-1.0] * 9 + [1.0] * 1)
    assert 1.0 - less - greater < 0.0
    assert equal == 0.0
