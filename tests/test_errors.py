"""Arguments that count something, and words of before."""

from __future__ import annotations

import ast
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pools import pool_of

import rtc_bayes as rb
from rtc_bayes.checks import real_number, whole_number
from rtc_bayes.errors import InputError
from rtc_bayes.judging import HoldOutSession


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_integers_of_python_and_numpy_are_taken(value):
    number = whole_number("draws", value, least=1)
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize("value", [3.0, np.float64(3.0), True, "3", None, -1, 0, np.nan, [3]])
def test_everything_else_is_refused_by_name(value):
    with pytest.raises(InputError, match=r"draws is .*; give a whole number of at least 1"):
        whole_number("draws", value, least=1)


@pytest.mark.parametrize("value", [np.float32(0.5), np.int64(1), 1, 0.25])
def test_numbers_of_python_and_numpy_are_taken(value):
    number = real_number("share", value, 0.0, 1.0, "give another")
    assert number == value
    assert type(number) is float


@pytest.mark.parametrize("value", [True, np.True_, "1", None, np.nan, [1.0], 0, 1.5, 10**400])
def test_every_other_number_is_refused_by_name(value):
    with pytest.raises(InputError, match=r"share is .*; give another"):
        real_number("share", value, 0.0, 1.0, "give another", ends="(]")


@pytest.mark.parametrize(
    "call",
    [
        lambda comparison: rb.Estimand(residual=True),
        lambda comparison: comparison.with_equivalence(True),
        lambda comparison: comparison.with_forecast(True),
    ],
)
def test_a_truth_is_no_number(call):
    pool = pool_of({"a": {"1": "xy"}, "b": {"1": "yx"}}, depth=2)
    comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.9, 0.1]))
    with pytest.raises(InputError, match="is True; give"):
        call(comparison)


@pytest.mark.parametrize(
    ("call", "word", "now"),
    [
        (rb.simulate, "topics", "n_topics"),
        (rb.simulate, "systems", "n_systems"),
        (rb.demo, "topics", "n_topics"),
        (rb.demo, "systems", "n_systems"),
        (rb.Plan, "systems", "n_systems"),
        (rb.Plan, "initial", "n_initial"),
        (rb.study, "systems", "n_systems"),
        (rb.calibrate, "initial", "n_initial"),
        (rb.hold_out, "baseline", "baseline_topics"),
        (rb.hold_out, "most_runs", "most_systems"),
        (rb.design_counts, "baseline", "baseline_topics"),
        (rb.design_table, "baseline", "baseline_topics"),
        (rb.pilot_power, "baseline", "baseline_topics"),
        (rb.reusability, "design", "hold_out"),
        (rb.judged_under, "design", "hold_out"),
        (rb.loss_posterior, "design", "hold_out"),
        (HoldOutSession, "design", "hold_out"),
        (rb.plan, "level", "confidence"),
        (rb.extend, "how", "strategy"),
        (rb.audit, "alpha", "level"),
        (rb.moments, "probabilities", "relevance"),
        (rb.sample_scores, "p", "relevance"),
    ],
)
def test_a_word_of_before_is_told_the_new_one(call, word, now):
    with pytest.raises(InputError, match=f"{call.__name__} takes no {word}; write {now}"):
        call(**{word: 3})


@pytest.mark.parametrize(
    ("call", "word", "said"),
    [
        (rb.study, "budget", "study takes no budget; write budgets=[...], the value in a list"),
        (rb.study, "estimandd", "study takes no estimandd; write estimand"),
        (rb.fit, "modle", "fit takes no modle; write model"),
        (rb.compare, "baselin", "compare takes no baselin; write baseline"),
        (rb.calibrate, "budgets", "calibrate takes no budgets; write budget"),
        (rb.simulate, "n_topic", "simulate takes no n_topic; write n_topics"),
        (rb.Plan, "trial", "Plan takes no trial; write trials"),
        (rb.read_qrels, "sources", "read_qrels takes no sources; write source"),
        (rb.read_runs, "nameby", "read_runs takes no nameby; write name_by"),
    ],
)
def test_a_word_that_is_nearly_one_is_told_it(call, word, said):
    with pytest.raises(InputError) as raised:
        call(**{word: 3})
    assert str(raised.value) == said


def test_a_word_that_is_near_none_is_told_all():
    with pytest.raises(InputError, match="fit takes no zzz; write one of pool, judgments, model, "):
        rb.fit(zzz=1)
    with pytest.raises(InputError, match="read_runs takes no files; write one of name_by, order"):
        rb.read_runs(files="track")
    with pytest.raises(TypeError, match="missing"):
        rb.fit()


def test_a_class_with_moved_words_is_a_class_still():
    plan = rb.Plan(("mtc",), n_systems=4, n_initial=3)
    assert isinstance(plan, rb.Plan)
    assert pickle.loads(pickle.dumps(plan)) == plan
    with pytest.raises(InputError, match="Plan takes no systems; write n_systems"):
        replace(plan, systems=5)


def test_an_attribute_of_before_is_told_the_new_word():
    plan = rb.Plan(("mtc",), n_systems=4, n_initial=3)
    with pytest.raises(AttributeError, match=r"Plan has no systems; write n_systems$"):
        plan.systems  # noqa: B018
    with pytest.raises(AttributeError, match=r"Plan has no nothing$"):
        plan.nothing  # noqa: B018
    assert not hasattr(plan, "systems")


@pytest.mark.parametrize(
    ("word", "now"),
    [
        ("baseline", "baseline_topics"),
        ("site_baseline", "within_baseline"),
        ("site_reuse", "within_reuse"),
        ("pair_baseline", "between_baseline"),
        ("pair_reuse", "between_reuse"),
    ],
)
def test_an_attribute_of_before_is_told_the_new_one(word, now):
    counts = rb.design_counts(6, 25)
    assert isinstance(getattr(counts, now), int)
    with pytest.raises(AttributeError, match=f"DesignCounts has no {word}; write {now}"):
        getattr(counts, word)
    assert not hasattr(counts, "nothing")
    assert pickle.loads(pickle.dumps(counts)) == counts


@pytest.mark.parametrize(
    "statement",
    [
        "from rtc_bayes.relevance import calibration",
        "import rtc_bayes.relevance; rtc_bayes.relevance.calibration",
    ],
)
def test_a_module_of_before_says_where_it_stands(statement):
    with pytest.raises(InputError, match=r"use rtc_bayes\.relevance\.system_calibration"):
        exec(statement, {})


@pytest.mark.parametrize(
    ("name", "home"), [("whole_number", "checks"), ("options_of", "signatures")]
)
def test_a_check_of_before_says_where_it_stands(name, home):
    with pytest.raises(InputError, match=rf"errors has no {name}; use rtc_bayes\.{home}\.{name}"):
        exec(f"from rtc_bayes.errors import {name}", {})
    assert hasattr(__import__(f"rtc_bayes.{home}", fromlist=[home]), name)


@pytest.mark.parametrize("read", [rb.read_runs, rb.read_qrels])
@pytest.mark.parametrize(
    "table",
    [
        {10**5000: {"d": 1}},
        {"1": {10**5000: 1}},
        {"1": {"d": 10**5000}},
        {10**4000: {10**4000: None}},
        {"9" * 5000: {"9" * 5000: "\ud800"}},
    ],
)
def test_a_number_of_thousands_of_digits_is_refused_in_few_words(read, table):
    with pytest.raises(InputError) as caught:
        read(table)
    assert caught.value.remedy
    assert len(str(caught.value)) < 400


def test_every_message_says_what_to_do():
    package = Path(rb.__file__).parent
    without = [
        f"{file.relative_to(package)}:{node.lineno}"
        for file in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).split(".")[-1] == "InputError"
        and not {"remedy", None} & {keyword.arg for keyword in node.keywords}
    ]
    assert without == []


def test_what_a_message_names_exists():
    """Calls in texts of the code, as ``Pool.from_runs(...)`` and ``rb.fit(...)``, are there."""
    said = set()
    for path in Path(rb.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                said |= set(re.findall(r"\b([A-Z]\w+|rb|rtc_bayes)\.([a-z]\w*)\(", node.value))
    public = {"rb": rb, "rtc_bayes": rb} | {name: getattr(rb, name) for name in rb.__all__}
    named = [(public[owner], name) for owner, name in said if owner in public]
    assert len(named) > 50
    assert not [name for owner, name in named if not hasattr(owner, name)]


def test_a_model_warns_at_the_line_that_called_the_package():
    pool = pool_of({"a": {"1": "xyz"}, "b": {"1": "zyx"}})
    judgments = rb.Judgments.from_labels(pool, [0, 1], [1, 0])
    with pytest.warns(rb.CollectionWarning, match="inferred, as a smallest set") as caught:
        rb.fit(pool, judgments, model="robust")
    assert {warning.filename for warning in caught} == {__file__}
