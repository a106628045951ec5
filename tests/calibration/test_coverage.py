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
    found = coverage(outcomes(), seed=1)
    error = np.sqrt(found["level"] * (1 - found["level"]) / (TRIALS * SYSTEMS))
    assert (np.abs(found["whole_list"] - found["level"]) < 4 * error).all()
    assert (found["whole_list_low"] < found["whole_list"]).all()
    assert (found["whole_list"] < found["whole_list_high"]).all()
    assert found["n"].tolist() == [TRIALS * SYSTEMS] * 4


def test_intervals_of_half_the_width_cover_too_seldom():
    found = coverage(outcomes(narrow=0.5)).set_index("level")
    # within half of 1.96 standard deviations
    assert found.loc[0.95, "whole_list"] == pytest.approx(0.673, abs=4 * 0.0105)


def test_bias_is_expected_less_true():
    found = bias(outcomes(shift=0.02)).iloc[0]
    assert found["bias"] == pytest.approx(0.02, abs=4 * found["mean_sd"] / np.sqrt(2000))
    assert found["bias_low"] < found["bias"] < found["bias_high"]
    assert found["rmse"] == pytest.approx(np.hypot(found["mean_sd"], 0.02), rel=0.1)


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
    found = bias(frame).iloc[0]
    assert found["bias"] == pytest.approx(-0.2)
    # one trial says nothing of others
    assert np.isnan(found["bias_low"])


def test_pit_without_variance():
    found = pit([0.2, 0.2, 0.2, 0.0], [0.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.3, 0.0])
    assert found.tolist() == [0.0, 0.5, 1.0, 0.5]


def test_a_comparison_beside_the_truth():
    pool = pool_of({"s": {"1": "abc"}, "t": {"1": "cbd"}})
    relevance = Relevance.from_values(pool, np.full(4, 0.5))
    comparison = compare(pool, relevance)
    found = against_truth(comparison, {"whole_list": {"s": 0.9, "t": 0.2}})
    assert found["quantity"].tolist() == ["score", "score", "difference"]
    assert found["a"].tolist() == ["s", "t", "s"]
    assert found["b"].tolist() == ["", "", "t"]
    np.testing.assert_allclose(found["whole_list"], [0.9, 0.2, 0.7])
    np.testing.assert_allclose(
        found["expected"], [*comparison.expected, *comparison.expected_difference]
    )
    np.testing.assert_allclose(
        found["pit_whole_list"], pit(found["expected"], found["sd"], found["whole_list"])
    )
