import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rtc_bayes.robustness import compare_algorithms
from rtc_bayes.trials.scores import kendall_tau


def test_kendall_tau_by_hand():
    # five pairs of six in the same order
    assert kendall_tau([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6)
    assert kendall_tau([1.0, 1.0, 1.0], [1, 2, 3]) is None


def test_tests_pair_by_trial():
    rng = np.random.default_rng(5)
    a, b = rng.integers(50, 900, size=(2, 20))
    tau_a, tau_b = rng.normal(0.5, 0.1, size=(2, 20))
    order = rng.permutation(20)
    frame = pd.concat(
        [
            pd.DataFrame({"trial": range(20), "algorithm": "mtc", "judged": a, "tau": tau_a}),
            pd.DataFrame(
                {"trial": order, "algorithm": "rtc:map", "judged": b[order], "tau": tau_b[order]}
            ),
        ]
    )
    row = compare_algorithms(frame).iloc[0]
    assert (row["a"], row["b"], row["trials"]) == ("mtc", "rtc:map", 20)
    assert row["judged_difference"] == np.median(a - b)
    assert row["judged_p"] == pytest.approx(stats.wilcoxon(a, b).pvalue)
    assert row["judged_mean_difference"] == pytest.approx(np.mean(a - b))
    assert row["judged_t_p"] == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert row["tau_p"] == pytest.approx(stats.ttest_rel(tau_a, tau_b).pvalue)


def test_no_difference_has_no_p_value():
    frame = pd.DataFrame(
        {
            "trial": [0, 1, 0, 1],
            "algorithm": ["ip", "ip", "mtc", "mtc"],
            "judged": [5, 9, 5, 9],
            "tau": [0.1, 0.2, 0.1, 0.2],
        }
    )
    row = compare_algorithms(frame).iloc[0]
    assert np.isnan(row["judged_p"])
    assert np.isnan(row["judged_t_p"])
    assert np.isnan(row["tau_p"])


def test_the_same_difference_in_every_trial_has_no_p_value():
    tau = {"ip": [0.6, 0.4, 0.2], "mtc": [0.8, 0.6, 0.4]}  # -0.2 each, but for rounding
    frame = pd.concat(
        pd.DataFrame({"trial": range(3), "algorithm": name, "judged": [5, 9, 7], "tau": of})
        for name, of in tau.items()
    )
    row = compare_algorithms(frame).iloc[0]
    assert row["tau_difference"] == pytest.approx(-0.2)
    assert np.isnan(row["tau_p"])


def test_one_algorithm_has_nothing_to_be_tested_against():
    frame = pd.DataFrame({"trial": [0], "algorithm": ["ip"], "judged": [5], "tau": [0.1]})
    assert compare_algorithms(frame).empty


def test_algorithms_without_a_common_trial():
    frame = pd.DataFrame(
        {"trial": [0, 1], "algorithm": ["ip", "mtc"], "judged": [5, 6], "tau": [0.1, 0.2]}
    )
    row = compare_algorithms(frame).iloc[0]
    assert row["trials"] == 0
    assert row.drop(["a", "b", "trials"]).isna().all()
