import math

import numpy as np
import pandas as pd
import pytest

import rtc_bayes as rb
from rtc_bayes.trials.scores import (
    BINS,
    accuracy_bins,
    bin_of,
    bootstrap_interval,
    expected_winnings,
    log_score,
    score_pairs,
    summarise,
    winnings,
)


def test_winnings_by_hand():
    # odds: .5 -> 1, .75 -> 3, .9 -> 9
    assert winnings([0.5, 0.75, 0.9, 0.9], [0, 0, 0, 1]) == pytest.approx([-1, -3, -9, 1])


@pytest.mark.parametrize("confidence", [0.995, 1.0])
def test_a_loss_is_at_most_100(confidence):
    assert winnings([confidence], [False]) == pytest.approx([-100])
    assert winnings([confidence], [True]) == pytest.approx([1])


def test_expected_winnings_are_zero_until_the_cap_on_losses_helps():
    assert expected_winnings([0.5, 0.8, 0.99]) == pytest.approx([0, 0, 0], abs=1e-12)
    assert expected_winnings([0.995, 1.0]) == pytest.approx([0.995 - 0.005 * 100, 1.0])


def test_expected_winnings_are_the_mean_of_winnings():
    p = np.array([0.6, 0.97, 0.999])
    mean = p * winnings(p, np.ones(3)) + (1 - p) * winnings(p, np.zeros(3))
    assert expected_winnings(p) == pytest.approx(mean)


def test_log_score_by_hand():
    result = log_score([0.5, 0.8, 0.8, 1.0, 1.0], [1, 1, 0, 1, 0])
    expected = [math.log(2), -math.log(0.8), -math.log(0.2), 1e-6, -math.log(1e-6)]
    assert result == pytest.approx(expected)
    # the probability that the first is better may be anything
    assert log_score([0.2, 0.0], [0, 1]) == pytest.approx([-math.log(0.8), -math.log(1e-6)])


@pytest.mark.parametrize("score", [winnings, accuracy_bins, lambda p, _: expected_winnings(p)])
def test_a_confidence_is_in_the_predicted_sign(score):
    with pytest.raises(rb.InputError, match=r"confidences have 0\.1, .*; give max\(P, 1 - P\)"):
        score([0.9, 0.1], [1, 0])
    score([0.5 - 1e-12, 1.0 + 1e-12], [1, 0])


def test_bins_are_closed_below():
    edges = [low for low, _ in BINS]
    assert bin_of(edges).tolist() == list(range(len(BINS)))
    assert bin_of([0.5999, 0.9499, 0.9899, 1.0]).tolist() == [0, 4, 5, 6]


def test_accuracy_by_bin():
    result = accuracy_bins([0.5, 0.55, 0.65, 1.0], [1, 0, 1, 0])
    assert (result[0].pairs, result[0].share, result[0].accuracy) == (2, 0.5, 0.5)
    assert (result[1].share, result[1].accuracy) == (0.25, 1.0)
    assert (result[2].share, result[2].accuracy) == (0.0, None)
    assert (result[6].share, result[6].accuracy) == (0.25, 0.0)


def test_bootstrap_resamples_trials_not_pairs():
    # within a trial all pairs agree: only the number of trials bounds the precision
    rng = np.random.default_rng(1)
    trials, pairs = 40, 45
    outcome = rng.normal(size=trials)
    low, high = bootstrap_interval(np.repeat(outcome, pairs), np.repeat(np.arange(trials), pairs))
    error = outcome.std() / math.sqrt(trials)
    assert low == pytest.approx(outcome.mean() - 1.645 * error, abs=0.25 * error)
    assert high == pytest.approx(outcome.mean() + 1.645 * error, abs=0.25 * error)


def test_bootstrap_weighs_trials_by_their_pairs():
    low, high = bootstrap_interval([1.0, 1.0, 1.0, 0.0], [0, 0, 0, 1])
    assert (low, high) == (0.0, 1.0)
    assert bootstrap_interval([2.0, 2.0], [7, 9]) == (2.0, 2.0)


def trials(**columns):
    base = {"judged": [10, 20, 90], "tau": [0.5, 0.7, None], "failure": None}
    seconds = {"seconds_judging": [1.0, 2.0, 3.0], "seconds_evaluating": [1.0, 1.0, 1.0]}
    return pd.DataFrame({"trial": [0, 1, 2], **base, **seconds, **columns})


def pairs(confidence, correct):
    trial = [0, 0, 1, 2][: len(correct)]
    return pd.DataFrame({"trial": trial, "confidence": confidence, "correct": correct})


def test_summary_by_hand():
    summary = summarise(trials(), pairs([0.75, 0.5, 0.99, 0.9], [1, 1, 0, 1]))
    assert summary.W == pytest.approx(-24.0)  # noqa: SIM300
    assert summary.W_capped == pytest.approx(-4.0)  # 1, 1, -19, 1
    assert summary.W_expected == pytest.approx(0.0, abs=1e-12)
    assert summary.W_interval[0] <= summary.W <= summary.W_interval[1]
    assert summary.mean_confidence == pytest.approx(0.785)
    assert summary.accuracy == 0.75
    assert (summary.trials, summary.median_judged, summary.mean_judged) == (3, 20, 40)
    assert summary.mean_tau == pytest.approx(0.6)
    assert summary.seconds_per_trial == pytest.approx(3.0)


def test_failed_trials_are_counted_and_left_out():
    summary = summarise(trials(failure=["bad", None, None]), pairs([0.9] * 4, [1] * 4))
    assert (summary.trials, summary.failed, summary.median_judged, summary.mean_tau) == (
        3,
        1,
        55,
        0.7,
    )
    assert summary.seconds_per_trial == pytest.approx(3.5)
    none = summarise(trials(failure="bad"), pairs([], []))
    assert (none.median_judged, none.mean_judged, none.seconds_per_trial) == (None,) * 3


@pytest.mark.parametrize(
    ("confidence", "correct", "said"),
    [
        (
            [0.9] * 4,
            [1, 0, None, 1],
            r"^1 of 4 pairs have no outcome: .*Outcome\.unequal_pairs\(\)",
        ),
        ([None] * 4, [1, 0, None, 1], "no outcome"),
        ([0.9, None, None, 0.9], [1, 0, 0, 1], "^2 of 4 pairs have no confidence; give one for"),
        ([None] * 4, [1, 0, 2, 1], "outcomes have 2"),
    ],
)
def test_pairs_without_an_outcome_or_some_without_a_confidence_are_refused(
    confidence, correct, said
):
    with pytest.raises(rb.InputError, match=said):
        score_pairs(pairs(confidence, correct))
    with pytest.raises(rb.InputError, match=said):
        summarise(trials(), pairs(confidence, correct))


def test_summary_without_confidence():
    summary = summarise(trials(), pairs([None] * 4, [1, 1, 0, 1]))
    undefined = (
        summary.W,
        summary.W_interval,
        summary.W_capped,
        summary.W_expected,
        summary.log_score,
    )
    assert undefined == (None,) * 5
    assert (summary.log_score_interval, summary.bins, summary.mean_confidence) == (None,) * 3
    assert summary.pairs == 4
    assert summary.accuracy == 0.75


def test_intervals_of_the_log_score_and_of_tau_cover_their_means():
    summary = summarise(trials(), pairs([0.75, 0.5, 0.99, 0.9], [1, 1, 0, 1]))
    assert summary.log_score_interval[0] < summary.log_score < summary.log_score_interval[1]
    # the third trial has no tau
    assert summary.tau_interval == (0.5, 0.7)


def test_one_trial_has_no_interval():
    one = pairs([0.75, 0.5, 0.99, 0.9], [1, 1, 0, 1]).assign(trial=0)
    summary = summarise(trials().iloc[:1], one)
    assert summary.W == pytest.approx(-24.0)  # noqa: SIM300
    assert (summary.W_interval, summary.log_score_interval, summary.tau_interval) == (None,) * 3


def test_summary_as_json_has_the_documented_keys():
    summary = summarise(trials(), pairs([0.75, 0.5, 0.99, 0.9], [1, 1, 0, 1])).to_dict()
    assert set(summary) == {
        "pairs",
        "trials",
        "failed",
        "W",
        "W_interval",
        "W_capped",
        "W_expected",
        "log_score",
        "log_score_interval",
        "mean_confidence",
        "accuracy",
        "bins",
        "median_judged",
        "mean_judged",
        "mean_tau",
        "tau_interval",
        "seconds_per_trial",
    }
    assert summary["bins"][6] == {"low": 0.99, "high": 1, "pairs": 1, "share": 0.25, "accuracy": 0}
    assert isinstance(summary["W_interval"], list)


@pytest.mark.parametrize(
    ("score", "arguments", "message"),
    [
        (rb.log_score, ([0.5], [2]), "outcomes have 2; give numbers from 0 to 1"),
        (
            rb.log_score,
            ([0.5, 0.6], [1]),
            r"confidences of shape \(2,\) and outcomes of shape \(1,\)",
        ),
        (rb.log_score, ([math.nan], [1]), "confidences have nan"),
        (rb.winnings, ([1.5], [1]), "confidences have 1.5"),
        (rb.winnings, ([0.5], ["a"]), "outcomes are .*; give numbers"),
        (rb.winnings, ([0.5], [0.5]), "outcomes are not all 0 or 1"),
        (rb.expected_winnings, ([2.0],), "confidences have 2"),
        (rb.accuracy_bins, ([2.0], [1]), "confidences have 2"),
        (rb.kendall_tau, ([1, math.nan], [1, 2]), "expected have nan"),
        (rb.kendall_tau, ([1, 2, 3], [1, 2]), r"scores of shape \(3,\) and \(2,\)"),
        (rb.bootstrap_interval, ([1, 2], [1]), r"values of shape \(2,\), and trials of shape"),
        (rb.bootstrap_interval, ([], []), "one value at least"),
    ],
)
def test_what_no_confidence_can_be_is_refused(score, arguments, message):
    with pytest.raises(rb.InputError, match=message):
        score(*arguments)


def test_the_coverage_of_an_interval_is_a_share():
    with pytest.raises(rb.InputError, match="coverage is 2; give one above 0 and below 1"):
        rb.bootstrap_interval([1.0], [1], coverage=2)
