"""Panels of labels."""

from __future__ import annotations

import numpy as np
import pytest

from rtc_bayes import InputError, Labels, fit_panel
from rtc_bayes.crowd.panel_labels import panel


def columns(probability=None):
    topics, documents = ["1", "1", "1", "2", "2"], ["d1", "d2", "d1", "d1", "d1"]
    return Labels.of(
        topics, documents, ["a", "a", "b", "b", "b"], [3, 0, 3, 0, 1], probability=probability
    )


def test_grades_are_scores_and_repeated_labels_are_averaged():
    scores = [[1, 1], [0, np.nan], [np.nan, 1 / 6]]
    by_scores = fit_panel(scores, ["1", "1", "2"], [1, 0, np.nan], judges=["a", "b"])
    by_labels = panel(columns(), {("1", "d1"): 2, ("1", "d2"): 1, ("9", "d9"): 3}, rel=2)
    np.testing.assert_array_equal(by_labels.human, [1, 0, np.nan])
    np.testing.assert_allclose(by_labels.probability, by_scores.probability)


def test_a_stated_probability_replaces_the_grade():
    stated = np.array([0.7, np.nan, np.nan, 0.4, 0.4])
    scores = [[0.7, 1], [0, np.nan], [np.nan, 0.4]]
    np.testing.assert_allclose(
        panel(columns(probability=stated)).probability,
        fit_panel(scores, ["1", "1", "2"]).probability,
    )


def test_grades_are_those_of_humans():
    given = columns(), {("1", "d1"): 2, ("1", "d2"): 1}
    graded = panel(*given, rel=2, graded=True)
    np.testing.assert_array_equal(graded.human, [2, 1, np.nan])
    np.testing.assert_array_equal(graded.grades[:2], np.eye(4)[[2, 1]])
    np.testing.assert_array_equal(graded.probability[:2], [1, 0])
    assert graded.probability[2] == pytest.approx(graded.grades[2, 2:].sum())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rel": 0}, "rel is 0"),
        ({"rel": 4, "graded": True}, "rel is 4, and the highest grade is 3"),
        ({"human": {("1", "d1"): 4}, "graded": True}, "human labels that are not 0 to 3 or NaN"),
        ({"families": {"c": "x"}}, "judges without labels: c"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        panel(columns(), **options)
