import math

import numpy as np
import pandas as pd
import pytest

from rtc_bayes.errors import InputError
from rtc_bayes.robustness import break_down, side_by_side
from rtc_bayes.robustness.breakdown import (
    by_imbalance,
    by_initial_imbalance,
    by_judged,
    by_original,
    by_overlap,
    judged_limits,
)

# two trials of mtc and of ip, which has no confidence; odds: .75 -> 3, .9 -> 9, .96 -> 24
PAIRS = pd.DataFrame(
    [
        (0, "mtc", 0.96, 1, 2, 0.05),
        (0, "mtc", 0.75, 0, 1, 0.1),
        (0, "mtc", 0.90, 1, 0, 0.3),
        (1, "mtc", 0.96, 0, 1, 0.29),
        (1, "mtc", 0.50, 1, 1, 1.0),
        (0, "ip", np.nan, 1, 2, 0.05),
        (1, "ip", np.nan, 0, 1, 0.29),
    ],
    columns=["trial", "algorithm", "confidence", "correct", "initial", "overlap"],
    # an index of its own, as after filtering
    index=range(10, 17),
)


def by_key(frame):
    return frame.set_index(["algorithm", "group"])


def test_groups_by_hand():
    result = by_key(break_down(PAIRS, by_original(PAIRS)))
    assert list(result.loc["mtc"].index) == ["two original", "one original", "no original"]
    one = result.loc[("mtc", "one original")]
    assert (one["pairs"], one["trials"]) == (3, 2)
    assert one["accuracy"] == pytest.approx(1 / 3)
    assert one["W"] == pytest.approx((-3 - 24 + 1) / 3)
    # by trial: -3 and (-24 + 1) / 2
    assert (one["W_low"], one["W_high"]) == pytest.approx((-11.5, -3))
    assert one["log_score"] == pytest.approx(-(math.log(0.25) + math.log(0.04) + math.log(0.5)) / 3)
    assert (one["sure_share"], one["sure_accuracy"]) == pytest.approx((1 / 3, 0))
    assert one["share_0.7"] == pytest.approx(1 / 3)
    assert one["accuracy_0.7"] == 0
    assert one["accuracy_0.5"] == 1
    assert np.isnan(one["accuracy_0.6"])


def test_groups_need_not_be_categories():
    trials = by_key(break_down(PAIRS, PAIRS["trial"]))
    assert list(trials.loc["mtc"].index) == sorted(set(PAIRS["trial"]))
    with pytest.raises(InputError, match=r'group is a str; give a Series, as pairs\["trial"\]'):
        break_down(PAIRS, "trial")


def test_sure_pairs_are_those_of_several_bins():
    everyone = pd.Series(pd.Categorical(["all"] * len(PAIRS)), index=PAIRS.index)
    row = by_key(break_down(PAIRS, everyone)).loc[("mtc", "all")]
    assert row["sure_share"] == pytest.approx(3 / 5)
    assert row["sure_accuracy"] == pytest.approx(2 / 3)


def test_one_trial_gives_no_interval():
    two = by_key(break_down(PAIRS, by_original(PAIRS))).loc[("mtc", "two original")]
    assert two["W"] == 1
    assert np.isnan(two["W_low"])


def test_overlap_is_closed_below_and_loses_no_pair():
    assert by_overlap(PAIRS).tolist() == [
        "0 to 0.1",
        "0.1 to 0.2",
        "0.3 to 1",
        "0.2 to 0.3",
        "0.3 to 1",
        "0 to 0.1",
        "0.2 to 0.3",
    ]
    result = by_key(break_down(PAIRS, by_overlap(PAIRS)))
    assert result.loc["mtc"]["pairs"].tolist() == [1, 1, 1, 2]
    assert result.loc["ip"]["pairs"].tolist() == [1, 0, 1, 0]


def test_imbalance_of_pairs_and_of_trials():
    pairs = PAIRS.assign(imbalance=[0.5, 0.9, 0.55, 0.6, 0.7, 0.62, 1.0])
    assert by_imbalance(pairs).tolist() == [
        "0.5 to 0.55",
        "0.7 to 1",
        "0.55 to 0.6",
        "0.6 to 0.7",
        "0.7 to 1",
        "0.6 to 0.7",
        "0.7 to 1",
    ]
    # trial 1 has no unequal pair of initial systems
    of_trial = by_initial_imbalance(pairs)
    assert of_trial.tolist() == ["0.5 to 0.55"] * 5 + ["0.6 to 0.7", "0.5 to 0.55"]
    assert of_trial.index.equals(pairs.index)


def test_imbalance_that_was_not_kept():
    for group in (by_imbalance, by_initial_imbalance):
        with pytest.raises(InputError, match=r"imbalance of pairs\.csv; run it again"):
            group(PAIRS.assign(imbalance=np.nan))


def test_without_confidence_there_is_an_accuracy():
    ip = by_key(break_down(PAIRS, by_overlap(PAIRS))).loc["ip"]
    np.testing.assert_array_equal(ip["accuracy"], [1, np.nan, 0, np.nan])
    assert ip[["W", "W_low", "sure_share", "sure_accuracy", "share_0.5"]].isna().all(axis=None)


def test_judgments_are_compared_within_an_algorithm():
    judged = [*range(0, 200, 10), *range(1000, 1020)]
    trials = pd.DataFrame(
        {"trial": [*range(20)] * 2, "algorithm": ["mtc"] * 20 + ["ip"] * 20, "judged": judged}
    )
    assert judged_limits(trials).loc["mtc"].tolist() == pytest.approx([19, 95])
    # pairs in another order than trials, two of each
    pairs = pd.concat([trials, trials]).sample(frac=1, random_state=3).drop(columns="judged")
    pairs = pairs.reset_index(drop=True)
    group = by_judged(pairs, trials)
    for algorithm in ("mtc", "ip"):
        counts = group[pairs["algorithm"] == algorithm].value_counts()
        assert counts.to_dict() == {
            "fewest tenth": 4,
            "up to the median": 16,
            "above the median": 20,
        }
        least = pairs[(pairs["algorithm"] == algorithm) & (group == "fewest tenth")]
        assert set(least["trial"]) == {0, 1}


def test_as_many_judgments_as_the_limit_are_few():
    trials = pd.DataFrame({"trial": [0, 1, 2], "algorithm": "mtc", "judged": [5, 5, 5]})
    assert set(by_judged(trials, trials)) == {"fewest tenth"}


def test_a_study_breaks_itself_down(done):
    original, overlap, judged = done.by_original(), done.by_overlap(), done.by_judged()
    imbalance = (done.by_imbalance(), done.by_initial_imbalance())
    for algorithm, summary in done.summary.items():
        for frame in (original, overlap, judged, *imbalance):
            mine = frame[(frame["algorithm"] == algorithm) & (frame["pairs"] > 0)]
            assert mine["pairs"].sum() == summary["pairs"]
            for score in ("accuracy", "W"):
                mean = (mine[score] * mine["pairs"]).sum(skipna=False) / summary["pairs"]
                expected = np.nan if summary[score] is None else summary[score]
                assert mean == pytest.approx(expected, nan_ok=True)
    assert original["pairs"].tolist() == [3, 12, 3] * 3


def test_studies_side_by_side(done):
    result = side_by_side({"one": done, "two": done})
    assert result["collection"].tolist() == ["one"] * 3 + ["two"] * 3
    row = result.iloc[4]
    summary = done.summary["mtc"]
    assert row["algorithm"] == "mtc"
    assert row["W"] == summary["W"]
    assert [row["W_low"], row["W_high"]] == summary["W_interval"]
    assert row["median_judged"] == summary["median_judged"]
    assert row["mean_tau"] == summary["mean_tau"]
    for entry in summary["bins"]:
        assert row[f"share_{entry['low']:g}"] == entry["share"]
    assert np.isnan(result["W"].iloc[0])
