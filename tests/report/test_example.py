from dataclasses import replace

import pandas as pd
import pytest

from rtc_bayes.report.example import Example

LAST = "rtc:map/robust:gibbs"


def test_the_trial_of_median_tau(shown):
    study = shown.study
    example = Example.of(study)
    assert example.algorithm == LAST
    taus = study.trials[study.trials["algorithm"] == LAST].set_index("trial")["tau"]
    # of two, the lower
    assert example.tau == taus.min() == taus[example.trial]
    for frame, table in ((example.systems, study.systems), (example.judgments, study.judgments)):
        assert set(frame["algorithm"]) == {LAST}
        assert set(frame["trial"]) == {example.trial}
        mine = table[(table["algorithm"] == LAST) & (table["trial"] == example.trial)]
        assert len(frame) == len(mine)


def test_probabilities_point_to_the_predicted_system(shown):
    example = Example.of(shown.study)
    expected, true = (example.systems.set_index("system")[name] for name in ("expected", "true"))
    assert example.systems["expected"].is_monotonic_decreasing
    # wrong ones among them, or the test shows nothing
    assert set(example.pairs["correct"]) == {0, 1}
    # of a skewed posterior about 0 the mean and the median may lie on its two sides
    clear = example.pairs["expected_difference"].abs() > 0.1 * example.pairs["sd"]
    assert clear.sum() > 30
    for pair, far in zip(example.pairs.itertuples(), clear, strict=True):
        assert max(pair.p_greater, 1 - pair.p_greater) == pytest.approx(pair.confidence)
        assert (pair.p_greater > 0.5) == ((true[pair.a] > true[pair.b]) == pair.correct)
        if far:
            assert (pair.p_greater > 0.5) == (expected[pair.a] > expected[pair.b])


def test_who_was_judged_for(shown):
    example = Example.of(shown.study)
    judged = set(example.systems.loc[example.systems["judged_for"], "system"])
    assert len(judged) == 2
    for pair in example.pairs.itertuples():
        assert pair.initial == len(judged & {pair.a, pair.b})


def test_no_confidence_no_example(shown):
    study = shown.study
    only = replace(study, summary={"ip": study.summary["ip"]})
    assert isinstance(only.trials, pd.DataFrame)
    assert Example.of(only) is None
