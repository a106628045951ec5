"""Merging judgments: nothing is lost or made up, and rules settle what is in conflict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pools import pool_of

import rtc_bayes as rb
from rtc_bayes.errors import CollectionWarning, InputError

RULES = ["first", "highest", "lowest", "majority"]
GRADES = st.integers(-2, 3)
QRELS = st.dictionaries(
    st.sampled_from("12"), st.dictionaries(st.sampled_from("abcde"), GRADES), max_size=2
).map(rb.Qrels)
SOURCES = st.lists(QRELS, min_size=1, max_size=4)


def cells(qrels):
    return {(topic, d): grade for topic, values in qrels.items() for d, grade in values.items()}


@given(SOURCES, st.sampled_from(RULES))
def test_no_judgment_is_lost_or_made_up(sources, rule):
    merged = rb.merge(*sources, conflict=rule)
    tables = [cells(source) for source in sources]
    result = cells(merged.qrels)
    assert result.keys() == set().union(*tables)
    for key, grade in result.items():
        stated = [table[key] for table in tables if key in table]
        made = [g for g in stated if g >= 0]
        assert grade in (made or stated)
        expected = {"highest": max, "lowest": min, "first": lambda some: some[0]}
        if made and rule != "majority":
            assert grade == expected[rule](made)
        if made and rule == "majority":
            assert made.count(grade) == max(map(made.count, made))
    for document in merged.documents:
        of_source = dict(zip(merged.sources, tables, strict=True))
        key = document.topic, document.docno
        assert document.grades == {s: t[key] for s, t in of_source.items() if key in t}


@given(QRELS, st.integers(1, 3), st.sampled_from(["refuse", *RULES]))
def test_merging_the_same_is_idempotent(qrels, times, rule):
    merged = rb.merge(*[qrels] * times, conflict=rule)
    assert cells(merged.qrels) == cells(qrels)
    assert not merged.conflicts
    assert rb.merge(merged.qrels, qrels, conflict=rule).qrels == merged.qrels


@given(SOURCES, st.randoms(use_true_random=False))
def test_only_first_asks_for_an_order(sources, random):
    shuffled = random.sample(sources, len(sources))
    for rule in ("highest", "lowest", "majority"):
        merged, other = (rb.merge(*s, conflict=rule) for s in (sources, shuffled))
        assert cells(merged.qrels) == cells(other.qrels)
        assert len(merged.conflicts) == len(other.conflicts)


@given(SOURCES)
def test_refusing_is_an_error_exactly_where_there_is_a_conflict(sources):
    conflicts = rb.merge(*sources, conflict="first").conflicts
    if not conflicts:
        assert cells(rb.merge(*sources).qrels) == cells(rb.merge(*sources, conflict="first").qrels)
        return
    with pytest.raises(InputError, match=f"^{len(conflicts)} documents? (is|are) judged diff") as e:
        rb.merge(*sources)
    assert str(e.value).count(" of topic ") == min(len(conflicts), 3)
    assert all(f"{c.docno} of topic {c.topic}" in str(e.value) for c in conflicts[:3])


def test_frames_say_the_grade_of_every_source_and_ties():
    merged = rb.merge(
        {"x": rb.Qrels({"1": {"a": 1, "b": 0}}), "y": rb.Qrels({"1": {"a": 0, "c": -1}})},
        conflict="majority",
    )
    assert list(merged.to_frame()) == ["topic", "docno", "grade", "x", "y"]
    assert merged.to_frame()["y"].isna().tolist() == [False, True, False]
    (row,) = merged.conflicts_frame().to_dict("records")
    assert row == {"topic": "1", "docno": "a", "grade": 1, "x": 1, "y": 0, "tie": True}
    assert "1 of them ties" in repr(merged)
    assert [document.judged_by for document in merged.documents] == [("x", "y"), ("x",), ()]


def test_judged_for_is_that_of_every_source_by_topic():
    one = rb.Qrels({"1": {"a": 1}, "2": {"a": 1}}, judged_for=["s1"])
    two = rb.Qrels({"2": {"b": 1}, "3": {"b": 1}}, judged_for={"2": ["s2", "s1"], "3": ["s2"]})
    assert dict(rb.merge(one, two).qrels.judged_for) == {
        "1": ("s1",),
        "2": ("s1", "s2"),
        "3": ("s2",),
    }
    assert rb.merge(one, one).qrels.judged_for == ("s1",)
    assert rb.merge(one, rb.Qrels({"1": {"z": 0}})).qrels.judged_for is None


def test_the_relevance_level_is_that_of_every_source_that_names_one():
    sources = [
        rb.Qrels({"1": {docno: 2}}, relevance_level=level)
        for docno, level in (("a", 2), ("b", None), ("c", 2), ("d", 1))
    ]
    for together in (rb.merge(*sources[:3]).qrels, rb.read_qrels(sources[:3])):
        assert together.relevance_level == 2
    for put in (rb.merge, lambda *several: rb.read_qrels(several)):
        with pytest.warns(rb.CollectionWarning, match="made at relevance levels 1, 2; together"):
            put(*sources)


@pytest.mark.parametrize(
    ("arguments", "conflict", "message"),
    [
        ([], "first", "cannot merge nothing; give Qrels"),
        ([{"grade": rb.Qrels({})}], "first", "a source is named 'grade'"),
        (["ours.qrels"], "first", "cannot merge a str; give Qrels, as read_qrels"),
        ([rb.Qrels({})], "newest", "conflict is 'newest'; give one of refuse, first"),
    ],
)
def test_what_cannot_be_merged(arguments, conflict, message):
    with pytest.raises(InputError, match=message):
        rb.merge(*arguments, conflict=conflict)


@pytest.fixture
def pool():
    return pool_of({"one": {"1": ["a", "b", "c"], "2": ["x"]}})


@given(SOURCES, st.sampled_from(RULES))
@pytest.mark.filterwarnings("ignore::rtc_bayes.errors.CollectionWarning")
def test_judgments_merge_as_their_qrels_do(sources, rule):
    pool = pool_of({"one": {"1": ["a", "b", "c"], "2": ["a"]}})
    first, *others = [rb.Judgments.from_qrels(pool, source) for source in sources]
    merged = first.merge(*others, conflict=rule)
    expected = {k: max(g, -1) for k, g in cells(rb.merge(*sources, conflict=rule).qrels).items()}
    assert cells(merged.to_qrels()) == expected
    assert merged.n_judged == sum(grade >= 0 for grade in expected.values())


def test_probabilities_merge_and_conflicts_are_told(pool):
    ours = rb.Judgments.from_labels(pool, pool.locate("1", ["a", "b"]), [1.0, 0.25])
    theirs = rb.Judgments.from_labels(pool, pool.locate("1", ["b", "c"]), [0.75, 0.5])
    with pytest.raises(InputError, match=r"b of topic 1 \(source 1: 0.25, source 2: 0.75\)"):
        ours.merge(theirs)
    with pytest.warns(CollectionWarning, match="1 document is judged differently; settled by h"):
        merged = ours.merge(theirs, conflict="highest")
    assert merged.labels[merged.order].tolist() == [1.0, 0.75, 0.5]
    assert np.isnan(merged.grades[merged.order]).tolist() == [False, True, True]
    assert pool.docnos[merged.order].tolist() == ["a", "b", "c"]


def test_labels_of_judges_stay_beside_what_is_merged(pool):
    document = int(pool.documents(0).start)
    ids = pool.topics, [pool.docnos[pool.documents(t).start] for t in range(2)]
    labels = rb.Labels.of(*ids, ["llm"] * 2, [1, 0])
    ours = rb.Judgments.from_labels(pool, [document], [1.0])
    theirs = ours.with_judge_labels(labels)
    for merged in (ours.merge(theirs), theirs.merge(ours), theirs.merge(theirs)):
        assert merged.judge_labels is labels
    assert ours.merge(ours).judge_labels is None
    other = ours.with_judge_labels(rb.Labels.of(*ids, ["other"] * 2, [0, 1]))
    with pytest.raises(InputError, match="labels of judges beside several of the judgments; leave"):
        theirs.merge(other)


def test_judgments_of_other_documents_extend_the_pool(pool):
    other = pool_of({"two": {"1": ["z", "a"], "9": ["q"]}})
    ours = rb.Judgments.from_labels(pool, [0], [1.0], judged_for=["one"])
    theirs = rb.Judgments.from_labels(other, range(3), [1, 1, 0], judged_for=["two"])
    merged = ours.merge(theirs)
    assert cells(merged.to_qrels()) == {("1", "a"): 1, ("1", "z"): 1}
    assert merged.pool.systems == pool.systems
    assert merged.judged_for_topic("1") == ("one", "two")
    with pytest.raises(InputError, match="relevance levels 1 and 2; read them at one level"):
        ours.merge(replace(theirs, relevance_level=2))
