"""Hold-out designs: files, masks and pools; judgments that name the design they were made under."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pools import pool_of

import rtc_bayes as rb
from rtc_bayes import CollectionWarning, InputError, Judgments, Qrels
from rtc_bayes.collection.hold_out import (
    HoldOutDesign,
    check_design,
    groups_of,
    read_hold_out,
    warn_of_held_out,
)

SITES = ("A", "B", "C")
GROUPS = {"a1": "A", "a2": "A", "b1": "B", "c1": "C"}
DESIGN = HoldOutDesign(("3", "1", "2"), SITES, [[1, 0, 1], [1, 1, 0], [1, 1, 0]])
LISTS = {
    "a1": {"1": ["p", "q"], "2": ["p", "q"], "3": ["p"]},
    "a2": {"1": ["p", "r"], "2": ["r"], "3": ["q"]},
    "b1": {"1": ["q", "s"], "2": ["s", "p"], "3": ["p", "r"]},
    "c1": {"1": ["s", "t"], "2": ["t"], "3": ["s"]},
}

names = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1).filter(
        lambda name: name == name.strip()
    ),
    min_size=2,
    max_size=6,
    unique=True,
)


@given(data=st.data(), topics=names, groups=names)
def test_a_design_is_read_as_it_was_written(data, topics, groups):
    mask = data.draw(
        st.lists(
            st.lists(st.booleans(), min_size=len(groups), max_size=len(groups)).filter(any),
            min_size=len(topics),
            max_size=len(topics),
        )
    )
    design = HoldOutDesign(tuple(topics), tuple(groups), np.array(mask).T)
    with tempfile.TemporaryDirectory() as folder:
        design.write(Path(folder, "design.csv"))
        again = read_hold_out(Path(folder, "design.csv"))
    assert (again.topics, again.groups) == (design.topics, design.groups)
    assert (again.contributes == design.contributes).all()
    assert again.digest == design.digest
    assert again.to_frame().equals(design.to_frame())
    turned = HoldOutDesign(tuple(topics[::-1]), tuple(groups), np.array(mask)[::-1].T)
    assert turned.digest != design.digest


def test_who_takes_part():
    assert [DESIGN.held_out(topic) for topic in ("1", "2", "3")] == [("A",), ("B", "C"), ()]
    assert DESIGN.contributors("1", GROUPS) == ("b1", "c1")
    assert DESIGN.mask(["c1", "a2"], GROUPS, ["2", "3", "1"]).tolist() == [
        [False, True, True],
        [True, True, False],
    ]
    assert DESIGN.blocks() == {(): ("3",), ("A",): ("1",), ("B", "C"): ("2",)}
    assert DESIGN.contributes.flags.writeable is False
    pool = pool_of(LISTS)
    assert DESIGN.judged_for(pool, GROUPS) == {
        topic: DESIGN.contributors(topic, GROUPS) for topic in pool.topics
    }


def test_a_system_held_out_is_absent_from_the_pool():
    parts = DESIGN.pools(pool_of(LISTS), {**GROUPS, "not a run": "elsewhere"})
    assert [part.topics for part in parts] == [("3",), ("1",), ("2",)]
    assert [part.systems for part in parts] == [
        ("a1", "a2", "b1", "c1"),
        ("b1", "c1"),
        ("a1", "a2"),
    ]
    assert [sorted(part.docnos) for part in parts] == [
        ["p", "q", "r", "s"],
        ["q", "s", "t"],
        ["p", "q", "r"],
    ]
    assert all((part.lengths > 0).all() for part in parts)


def test_groups_may_be_numbers():
    design = HoldOutDesign(DESIGN.topics, ("0", "1", "2"), DESIGN.contributes)
    numbers = {system: SITES.index(group) for system, group in GROUPS.items()}
    systems = [*GROUPS]
    for topic in DESIGN.topics:
        assert design.contributors(topic, numbers) == DESIGN.contributors(topic, GROUPS)
    assert (
        design.mask(systems, numbers, DESIGN.topics) == DESIGN.mask(systems, GROUPS, DESIGN.topics)
    ).all()
    design.check_groups(numbers)
    for each, groups in ((DESIGN, GROUPS), (design, numbers)):
        with pytest.warns(CollectionWarning, match="judgments of 2 topics were made for systems"):
            warn_of_held_out(systems, each.topics, each, groups)
    with pytest.raises(InputError, match="group nan is not an id; give text or a whole number"):
        design.contributors("1", {"a1": float("nan")})


def test_topics_may_be_numbers():
    design = HoldOutDesign(tuple(map(int, DESIGN.topics)), DESIGN.groups, DESIGN.contributes)
    assert design.held_out(2) == DESIGN.held_out("2")
    assert design.contributors(2, GROUPS) == DESIGN.contributors("2", GROUPS)
    for topics in ([2, 3], np.array([2, 3])):
        asked = design.mask([*GROUPS], GROUPS, topics)
        assert (asked == DESIGN.mask([*GROUPS], GROUPS, ["2", "3"])).all()
    with pytest.raises(InputError, match=r"topic 2\.0 is not an id"):
        design.held_out(2.0)


def test_pools_that_are_refused():
    pool = pool_of(LISTS)
    with pytest.raises(InputError, match="the design has no topic 2; plan a design over"):
        HoldOutDesign(("1", "3"), SITES, np.ones((3, 2))).pools(pool, GROUPS)
    alone = HoldOutDesign(("1", "2", "3"), SITES, [[0, 1, 1], [0, 1, 1], [1, 1, 1]])
    with pytest.raises(InputError, match="with A, B held out, 1 of the systems are left; hold out"):
        alone.pools(pool, GROUPS)
    with pytest.raises(InputError, match="no group for b1, c1; give a group"):
        DESIGN.pools(pool, {"a1": "A", "a2": "A"})
    with pytest.raises(InputError, match="system c1 is of group D, which the design lacks; give"):
        DESIGN.mask(["c1"], {"c1": "D"}, ["1"])
    many = [f"s{n}" for n in range(9)]
    with pytest.raises(InputError, match="no group for s0, s1, s2, s3 and 5 more"):
        groups_of(many, {})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((("1", "1"), SITES, np.ones((3, 2))), "topics .* must be distinct, and 1 stands twice"),
        ((("1",), ("A", ""), np.ones((2, 1))), "group '' is not an id"),
        (((301.0,), SITES, np.ones((3, 1))), r"topic 301\.0 is not an id"),
        ((("1",), SITES, np.ones((1, 3))), r"shape \(1, 3\), not \(groups, topics\) \(3, 1\)"),
        ((("1",), ("A",), np.ones((1, 1))), "two groups or more"),
        ((("1", "2"), SITES, [[1, 0]] * 3), "every group is held out of topic 2"),
    ],
)
def test_designs_that_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        HoldOutDesign(*arguments)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "holds no design; give"),
        ("query,A,B\n1,1,1\n", 1, "its first column is not topic"),
        ("topic,A,B\n1,1,1\n\n2,1,yes\n", 4, "'yes' is neither 1"),
        ("topic,A,B\n1,1,1\n2,1\n", 3, "field"),
        ("topic,A,B\n1,1,1\n1,1,0\n", None, "topics of a design must be distinct"),
        ("topic,A,B\n1,0,0\n", None, "every group is held out of topic 1"),
        ("topic,A\n1,1\n", None, "two groups or more"),
    ],
)
def test_files_that_are_no_designs(tmp_path, text, line, message):
    path = tmp_path / "design.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_hold_out(path)
    assert caught.value.path == str(path)
    assert caught.value.line == line
    assert caught.value.remedy


def test_a_design_made_by_hand(tmp_path):
    path = tmp_path / "design.csv"
    path.write_text("topic,A,B,C\r\n3,1,1,1\r\n1,0,1,1\r\n2,1,0,0\r\n")
    assert read_hold_out(path).digest == DESIGN.digest


@pytest.mark.parametrize("judged_for", [None, ("x",), {"1": ("x",)}])
def test_qrels_keep_the_design(tmp_path, judged_for):
    qrels = Qrels({"1": {"p": 1}}, judged_for=judged_for, hold_out=DESIGN.digest)
    assert pickle.loads(pickle.dumps(qrels)).hold_out == DESIGN.digest
    rb.write_qrels(qrels, tmp_path / "q")
    back = rb.read_qrels(tmp_path / "q")
    assert (back.hold_out, back.judged_for) == (DESIGN.digest, judged_for)
    rb.write_qrels(Qrels({"1": {"p": 1}}), tmp_path / "q")
    assert rb.read_qrels(tmp_path / "q").hold_out is None
    (tmp_path / "q.meta.json").write_text('{"hold_out": 3}')
    with pytest.raises(InputError, match="design by its digest") as caught:
        rb.read_qrels(tmp_path / "q")
    assert caught.value.path == str(tmp_path / "q.meta.json")


def test_judgments_keep_the_design(tmp_path):
    pool = pool_of(LISTS)
    made_for = DESIGN.judged_for(pool, GROUPS)
    made = Judgments.from_labels(
        pool, [0, 5], [1.0, 0.0], judged_for=made_for, hold_out=DESIGN.digest
    )
    made.save(tmp_path / "judged.nc")
    changed = [
        Judgments.load(tmp_path / "judged.nc"),
        made.with_labels([1], [1.0]),
        made.keep([0]),
        made.relabelled([0.0, 1.0]),
        made.on(pool.select(["a1", "b1"])),
        Judgments.from_qrels(pool, made.to_qrels()),
        made.with_judged_for(),
    ]
    for judgments in changed:
        assert judgments.hold_out == DESIGN.digest
        assert judgments.judged_for_by_topic == made_for
    assert Judgments.none(pool).hold_out is None


def test_check_design():
    other = HoldOutDesign(("1", "2", "3"), SITES, np.ones((3, 3)))
    pool = pool_of(LISTS)
    made = Judgments.none(pool, hold_out=DESIGN.digest)
    for unsaid in (Qrels({}), Judgments.none(pool)):
        check_design(unsaid, DESIGN)
        check_design(unsaid, None)
    for said in (made, made.to_qrels()):
        check_design(said, DESIGN)
        with pytest.raises(InputError, match=f"{DESIGN.digest[:12]}, not {other.digest[:12]}; giv"):
            check_design(said, other)
        with pytest.raises(InputError, match=f"design {DESIGN.digest[:12]}, none is given; give"):
            check_design(said, None)
    with pytest.raises(InputError) as caught:
        check_design(Qrels({}, path="judged.qrels", hold_out=DESIGN.digest), other)
    assert caught.value.path == "judged.qrels"


def test_judgments_of_different_designs_do_not_merge(tmp_path):
    one = Qrels({"1": {"p": 1}}, hold_out="1" * 64)
    two = Qrels({"1": {"q": 1}}, hold_out="2" * 64)
    plain = Qrels({"1": {"q": 1}})
    assert rb.merge(one, one, Qrels({})).qrels.hold_out == "1" * 64
    assert rb.merge(one, one).meta()["hold_out"] == "1" * 64
    assert "hold_out" not in rb.merge(plain, plain).meta()
    pool = pool_of(LISTS)
    for other, named in ((two, "2" * 12), (plain, "none")):
        message = f"different hold-out designs: {'1' * 12}, {named}; put judgments of one"
        with pytest.raises(InputError, match=message):
            rb.merge(one, other)
        with pytest.raises(InputError, match=message):
            Judgments.from_qrels(pool, one).merge(Judgments.from_qrels(pool, other))
        rb.write_qrels(one, tmp_path / "one")
        rb.write_qrels(other, tmp_path / "other")
        with pytest.raises(InputError, match=message):
            rb.read_qrels([tmp_path / "one", tmp_path / "other"])
    nothing = Judgments.none(pool)
    assert nothing.merge(Judgments.from_qrels(pool, one)).hold_out == "1" * 64
    merged = rb.merge(one, Qrels({"2": {"q": 0}}, hold_out="1" * 64))
    merged.write(tmp_path / "merged")
    assert rb.read_qrels(tmp_path / "merged").hold_out == "1" * 64
