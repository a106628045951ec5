"""Panels of labels."""

from __future__ import annotations

import numpy as np
import pytest

from rtc_bayes import InputError, Labels, Qrels, fit_panel
from rtc_bayes.crowd.panel_labels import panel


def columns(probability=None):
    topics, documents = ["1", "1", "1", "2", "2"], ["d1", "d2", "d1", "d1", "d1"]
    return Labels.of(
        topics, documents, ["a", "a", "b", "b", "b"], [3, 0, 3, 0, 1], probability=probability
    )


def test_grades_are_scores_and_repeated_labels_are_averaged():
    scores = [[1, 1], [0, np.nan], [np.nan, 1 / 6]]
    by_scores = fit_panel(scores, ["1", "1", "2"], [1, 0, np.nan], judges=["a", "b"])
    by_labels = panel(
        columns(), {("1", "d1"): 2, ("1", "d2"): 1, ("9", "d9"): 3}, relevance_level=2
    )
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
    graded = panel(*given, relevance_level=2, graded=True)
    np.testing.assert_array_equal(graded.human, [2, 1, np.nan])
    np.testing.assert_array_equal(graded.grades[:2], np.eye(4)[[2, 1]])
    np.testing.assert_array_equal(graded.probability[:2], [1, 0])
    assert graded.probability[2] == pytest.approx(graded.grades[2, 2:].sum())


def test_grades_of_humans_may_be_qrels_or_unknown():
    by_pair = panel(columns(), {("1", "d1"): 2, ("2", "d1"): -1, ("1", "d2"): np.nan})
    by_topic = panel(columns(), Qrels({"1": {"d1": 2}}))
    np.testing.assert_array_equal(by_pair.human, [1, np.nan, np.nan])
    np.testing.assert_array_equal(by_pair.probability, by_topic.probability)
    stated = panel(columns(), Qrels({"1": {"d1": 2, "d2": 1}}, relevance_level=2))
    np.testing.assert_array_equal(stated.human, [1, 0, np.nan])
    with pytest.raises(InputError, match=r"topic 1, d1: a human's grade is 0\.5"):
        panel(columns(), {("1", "d1"): 0.5})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relevance_level": 0}, "relevance_level is 0"),
        (
            {"relevance_level": 4, "graded": True},
            "relevance_level is 4, and the highest grade is 3",
        ),
        ({"human": {("1", "d1"): 4}, "graded": True}, "grade is 4, the labels' highest is 3"),
        ({"families": {"c": "x"}}, "judges without labels: c"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        panel(columns(), **options)


def test_the_one_of_a_judge_of_two_grades_is_the_highest_grade():
    """Among judges of grades 0 to 3, as aggregation says of it."""
    rng = np.random.default_rng(2)
    pairs = [("1", f"d{i}") for i in range(150)]
    graded, binary = rng.integers(0, 4, 150), rng.integers(0, 2, 150)
    topics, docnos = ([pair[k] for pair in pairs] * 2 for k in (0, 1))
    judges = ["graded"] * 150 + ["binary"] * 150
    one, three = (
        panel(
            Labels.of(topics, docnos, judges, [*graded, *binary * most]), relevance_level=2
        ).probability
        for most in (1, 3)
    )
    np.testing.assert_allclose(one, three)


def test_a_judge_with_the_name_of_a_family_is_not_of_it():
    scores = np.random.default_rng(1).random((12, 3))
    asked = {"families": {"a1": "gpt", "a2": "gpt"}}
    one, other = (
        fit_panel(scores, ["1"] * 12, judges=["a1", "a2", name], **asked).probability
        for name in ("gpt", "other")
    )
    np.testing.assert_allclose(one, other)
