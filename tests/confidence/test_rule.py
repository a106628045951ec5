import numpy as np
import pytest

from rtc_bayes.confidence import choose, rule


@pytest.mark.parametrize(
    ("skewness", "kurtosis", "tie", "topics", "form"),
    [
        (0.0, 0.0, 0.0, 50, "normal"),
        (-0.15, -0.3, 0.0, 50, "normal"),
        (0.16, 0.0, 0.0, 50, "corrected"),
        (-0.1, 0.31, 0.0, 50, "corrected"),
        (-0.5, 1.0, 0.0, 50, "corrected"),
        (0.51, 0.0, 0.0, 50, "montecarlo"),
        (0.0, -1.01, 0.0, 50, "montecarlo"),
        (0.0, 0.0, 0.002, 50, "montecarlo"),
        (0.0, 0.0, 0.0, 2, "montecarlo"),
        (np.nan, np.nan, 1.0, 0, "normal"),
    ],
)
def test_the_rule(skewness, kurtosis, tie, topics, form):
    assert choose([skewness], [kurtosis], [tie], [topics]).tolist() == [form]


def test_a_form_that_outcomes_contradict_is_not_used():
    zeros, topics = np.zeros(3), np.full(3, 50)
    far = rule.FARTHEST + 0.1
    chosen = choose(zeros, zeros, zeros, topics, [0, far, far], [0, 0, far])
    assert chosen.tolist() == ["normal", "corrected", "montecarlo"]


def test_the_first_look_is_precise_enough_for_the_limits():
    assert np.sqrt(6 / rule.PILOT) * 3.5 < rule.NORMAL_SKEWNESS
    assert np.sqrt(24 / rule.PILOT) * 3.5 < rule.NORMAL_KURTOSIS
