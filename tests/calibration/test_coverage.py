"""Coverage: exact distributions are covered as often as they say, too narrow ones are not."""

import numpy as np
import pandas as pd
import pytest
from pools import pool_of

from rtc_bayes.calibration import against_truth, bias, coverage, pit
from rtc_bayes.collection import Relevance
from rtc_bayes.confidence import compare

TRIALS, SYSTEMS = 400, 5


def outcomes(narrow=1.0, shift=0.0, seed=2):
    """Scores of systems in trials, as `against_truth` gives them."""
    random = np.random.default_rng(seed)
    expected, sd = random.uniform(0.1, 0.4, (2, TRIALS * SYSTEMS)) * [[1.0], [0.1]]
    true = random.normal(expected - shift, sd)
    return pd.DataFrame(
        {
            "trial": np.repeat(np.arange(TRIALS), SYSTEMS),
            "quantity": "score",
            "expected": expected,
            "sd": sd * narrow,
            "whole_list": true,
            "pit_whole_list": pit(expected, sd * narrow, true),
        }
    )


def test_exact_intervals_cover_as_often_as_they_say():
    result = coverage(outcomes(), seed=1)
    error = np.sqrt(result["level"] * (1 - result["level"]) / (TRIALS * SYSTEMS))
    assert (np.abs(result["whole_list"] - result["level"]) < 4 * error).all()
    assert (result["whole_list_low"] < result["whole_list"]).all()
    assert (result["whole_list"] < result["whole_list_high"]).all()
    assert result["n"].tolist() == [TRIALS * SYSTEMS] * 4


def test_intervals_of_half_the_width_cover_too_seldom():
    result = coverage(outcomes(narrow=0.5)).set_index("level")
    # within half of 1.96 standard deviations
    assert result.loc[0.95, "whole_list"] == pytest.approx(0.673, abs=4 * 0.0105)


def test_bias_is_expected_less_true():
    result = bias(outcomes(shift=0.02)).iloc[0]
    assert result["bias"] == pytest.approx(0.02, abs=4 * result["mean_sd"] / np.sqrt(2000))
    assert result["bias_low"] < result["bias"] < result["bias_high"]
    assert result["rmse"] == pytest.approx(np.hypot(result["mean_sd"], 0.02), rel=0.1)


def test_differences_are_turned_to_the_true_sign():
    frame = pd.DataFrame(
        {
            "quantity": "difference",
            "expected": [0.1, -0.1],
            "sd": 0.1,
            "whole_list": [0.3, -0.3],
            "pit_whole_list": 0.5,
        }
    )
    result = bias(frame).iloc[0]
    assert result["bias"] == pytest.approx(-0.2)
    # one trial says nothing of others
    assert np.isnan(result["bias_low"])


def test_pit_without_variance():
    result = pit([0.2, 0.2, 0.2, 0.0], [0.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.3, 0.0])
    assert result.tolist() == [0.0, 0.5, 1.0, 0.5]


def test_a_comparison_beside_the_truth():
    pool = pool_of({"s": {"1": "abc"}, "t": {"1": "cbd"}})
    relevance = Relevance.from_values(pool, np.full(4, 0.5))
    comparison = compare(pool, relevance)
    result = against_truth(comparison, {"whole_list": {"s": 0.9, "t": 0.2}})
    assert result["quantity"].tolist() == ["score", "score", "difference"]
    assert result["a"].tolist() == ["s", "t", "s"]
    assert result["b"].tolist() == ["", "", "t"]
    np.testing.assert_allclose(result["whole_list"], [0.9, 0.2, 0.7])
    np.testing.assert_allclose(
        result["expected"], [*comparison.expected, *comparison.expected_difference]
    )
    np.testing.assert_allclose(
        result["pit_whole_list"], pit(result["expected"], result["sd"], result["whole_list"])
    )


def test_what_is_certain_but_for_rounding_is_no_error():
    assert pit([-4.7e-18, 0.3, 0.3], [2.4e-17, 0.0, 1e-17], [-1.1e-16, 0.3, 0.4]).tolist() == [
        0.5,
        0.5,
        1.0,
    ]
