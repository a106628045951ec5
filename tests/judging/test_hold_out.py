"""Judging under a hold-out design: who is judged for, what is shared, and how one goes on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pools import random_pool

import rtc_bayes as rb
from rtc_bayes import InputError, Judgments, Qrels
from rtc_bayes.collection.hold_out import HoldOutDesign, read_hold_out
from rtc_bayes.judging import Chooser, HoldOutSession, JudgingSession
from rtc_bayes.judging.sharing import fewest_a_topic, shares

GROUPS = {f"s{n}": f"site{n // 2}" for n in range(6)}
SITES = ("site0", "site1", "site2")


@dataclass(frozen=True)
class AtRandom:
    """A judge that takes any document."""

    name: ClassVar[str] = "at-random"
    has_confidence: ClassVar[bool] = False

    def start(self, judgments, *, seed):
        return RandomChooser(judgments, seed)


class RandomChooser(Chooser):
    def __init__(self, judgments, seed):
        super().__init__(judgments)
        self.priority = np.random.default_rng(seed).random(self.pool.n_documents)

    def choose(self, count):
        left = self.unjudged()
        return [(int(d), 1.0) for d in left[np.argsort(self.priority[left])][:count]]


def random_design(rng, pool):
    """Hold at most two of three sites out of each topic; more topics, in an order of their own."""
    topics = (*rng.permutation(pool.topics).tolist(), "not in the runs")
    held = rng.integers(0, 3, len(topics))
    mask = np.ones((3, len(topics)), dtype=bool)
    for t, count in enumerate(held):
        mask[rng.choice(3, count, replace=False), t] = False
    return HoldOutDesign(topics, SITES, mask)


def random_case(seed, topics=5):
    rng = np.random.default_rng(seed)
    pool = random_pool(rng, 6, topics, 12, shortest=2, longest=6, depth=6)
    truth = {
        topic: {d: int(rng.random() < 0.4) for d in pool.docnos[pool.documents(t)]}
        for t, topic in enumerate(pool.topics)
    }
    return pool, Qrels(truth), random_design(rng, pool)


def retrieved_by_contributors(pool, design):
    """Return by topic the documents that some system which contributes retrieved."""
    allowed = {}
    for t, topic in enumerate(pool.topics):
        held = design.held_out(topic)
        rows = [s for s, system in enumerate(pool.systems) if GROUPS[system] not in held]
        allowed[topic] = {str(pool.docnos[d]) for s in rows for d in pool.ranking(s, t)}
    return allowed


def judged(result):
    return [(step.topic, step.docno) for step in result.steps]


JUDGES = ["mtc", "ip", AtRandom(), "rtc:map"]


@pytest.mark.parametrize("judge", JUDGES, ids=["mtc", "pooling", "random", "rtc:map"])
def test_only_documents_of_contributors_are_judged(judge):
    examples = 8 if judge == "rtc:map" else 60

    @settings(max_examples=examples, deadline=None, derandomize=True)
    @given(seed=st.integers(0, 2**20), budget=st.integers(1, 200))
    def check(seed, budget):
        pool, truth, design = random_case(seed)
        options = {"hold_out": design, "groups": GROUPS, "confidence": None, "seed": seed}
        result = rb.build(pool, truth, judge, budget=min(budget, 20), **options)
        allowed = retrieved_by_contributors(pool, design)
        assert all(docno in allowed[topic] for topic, docno in judged(result))
        assert len(set(judged(result))) == len(result.steps)
        assert result.judgments.hold_out == design.digest
        for topic in pool.topics:
            of = result.judgments.judged_for_topic(topic)
            assert of == tuple(s for s in pool.systems if GROUPS[s] not in design.held_out(topic))
        if result.reason == "budget":
            assert len(result.steps) == min(budget, 20)

    check()


def test_a_hold_out_matters():
    """With nobody held out some of the documents that the designs leave out are judged."""
    left_out = 0
    for seed in range(10):
        pool, truth, design = random_case(seed)
        result = rb.build(pool, truth, "ip", budget=80, confidence=None)
        allowed = retrieved_by_contributors(pool, design)
        left_out += sum(docno not in allowed[topic] for topic, docno in judged(result))
    assert left_out > 10


@pytest.mark.parametrize("judge", ["mtc", "ip"])
def test_a_design_that_holds_nobody_out_changes_nothing(judge):
    pool, truth, _ = random_case(1)
    design = HoldOutDesign(pool.topics, SITES, np.ones((3, pool.n_topics)))
    options = {"budget": 12, "confidence": None}
    plain = rb.build(pool, truth, judge, **options)
    under = rb.build(pool, truth, judge, hold_out=design, groups=GROUPS, **options)
    assert judged(plain) == judged(under)
    assert [step.confidence for step in plain.steps] == [step.confidence for step in under.steps]
    assert plain.confidence == under.confidence


def test_a_sub_pool_is_judged_like_a_pool_of_its_own():
    """The documents of a sub-pool come in the order in which its own session chooses them."""
    pool, truth, design = random_case(3)
    result = rb.build(
        pool, truth, "mtc", budget=25, confidence=None, hold_out=design, groups=GROUPS
    )
    for part in design.pools(pool, GROUPS):
        here = [pair for pair in judged(result) if pair[0] in part.topics]
        own = rb.build(part, truth, "mtc", budget=len(here), confidence=None)
        assert here == judged(own)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**20), budget=st.integers(0, 40))
def test_every_topic_counts_equally_until_a_sub_pool_is_used_up(seed, budget):
    pool, truth, design = random_case(seed)
    result = rb.build(
        pool, truth, "ip", budget=budget, confidence=None, hold_out=design, groups=GROUPS
    )
    parts = design.pools(pool, GROUPS)
    made = Counter(topic for topic, _ in judged(result))
    counts = [sum(made[topic] for topic in part.topics) for part in parts]
    assert sum(counts) == min(budget, sum(part.n_documents for part in parts))
    spare = [c / p.n_topics for c, p in zip(counts, parts, strict=True) if c < p.n_documents]
    # a share is rounded by less than one judgment
    for count, part in zip(counts, parts, strict=True):
        for other in spare:
            assert count / part.n_topics < other + 1.0 / part.n_topics + 1.0


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    parts=st.lists(
        st.tuples(st.integers(1, 20), st.integers(0, 30), st.integers(0, 50)), min_size=1
    ),
    count=st.integers(0, 200),
)
def test_shares(parts, count):
    topics, before, room = zip(*parts, strict=True)
    given = shares(count, topics, before, room)
    assert sum(given) == min(count, sum(room))
    assert all(0 <= g <= r for g, r in zip(given, room, strict=True))
    after = [b + g for b, g in zip(before, given, strict=True)]
    taking = [n for n in range(len(parts)) if given[n] > 0]
    spare = [n for n in range(len(parts)) if given[n] < room[n]]
    # nobody who takes stands above one with documents left by more than what rounding explains
    for n in taking:
        for m in spare:
            assert (after[n] - 1) / topics[n] < (after[m] + 1) / topics[m]


def test_shares_are_largest_remainders():
    assert shares(10, [5, 3, 2], [0, 0, 0], [99, 99, 99]) == [5, 3, 2]
    assert shares(11, [5, 3, 2], [0, 0, 0], [99, 99, 99]) == [6, 3, 2]  # 5.5, 3.3, 2.2
    assert shares(1, [1, 1], [0, 0], [9, 9]) == [1, 0]
    assert shares(10, [5, 3, 2], [0, 0, 0], [1, 99, 99]) == [1, 5, 4]  # 5.4 and 3.6
    assert fewest_a_topic([0, 0], [1, 1], [0, 0]) is None


@pytest.mark.parametrize("judge", ["ip", "mtc"])
def test_what_nobody_can_judge_is_set_aside_and_the_budget_spent_on_others(judge):
    pool, _, design = random_case(3)
    session = HoldOutSession(Judgments.none(pool), judge, design, GROUPS, budget=12)
    first = session.next()
    session.observe(first, 0.0, -1)
    while (document := session.next()) is not None:
        assert document != first
        session.observe(document, 0.0)
    assert (len(session.steps), session.reason) == (12, "budget")
    assert session.judgments.aside_documents.tolist() == [first]
    with pytest.raises(InputError, match="is one that nobody can judge"):
        session.observe(first, 0.0)
    every = HoldOutSession(session.judgments, judge, design, GROUPS, budget=1000)
    while (document := every.next()) is not None:
        assert document != first
        every.observe(document, 0.0)


def test_what_a_judge_leaves_goes_to_the_others():
    """All documents of one sub-pool judged: the others have the rest of the budget."""
    pool, truth, _ = random_case(5)
    mask = np.ones((3, pool.n_topics), dtype=bool)
    mask[:2, 0] = False  # two systems on the first topic: few documents
    design = HoldOutDesign(pool.topics, SITES, mask)
    first, rest = sorted(design.pools(pool, GROUPS), key=lambda part: part.n_topics)
    budget = first.n_documents + rest.n_documents - 3
    result = rb.build(
        pool, truth, "ip", budget=budget, confidence=None, hold_out=design, groups=GROUPS
    )
    made = Counter(topic for topic, _ in judged(result))
    assert made[pool.topics[0]] == first.n_documents
    assert len(result.steps) == budget
    assert result.reason == "budget"
    more = rb.build(
        pool, truth, "ip", budget=budget + 9, confidence=None, hold_out=design, groups=GROUPS
    )
    assert len(more.steps) == budget + 3
    assert more.reason == "exhausted"


def test_a_confidence_ends_judging_when_every_sub_pool_has_it():
    pool, truth, design = random_case(5)
    options = {"hold_out": design, "groups": GROUPS, "budget": 200}
    sure = rb.build(pool, truth, "mtc", confidence=0.6, **options)
    every = rb.build(pool, truth, "mtc", confidence=None, **options)
    assert sure.reason == "reached"
    assert 0.6 <= sure.confidence < 0.7
    assert len(sure.steps) < 0.8 * len(every.steps)
    assert judged(sure) == judged(every)[: len(sure.steps)]
    # a sub-pool that is sure goes on until all are
    parts = design.pools(pool, GROUPS)
    made = [sum(step.topic in part.topics for step in sure.steps) for part in parts]
    spare = [m / p.n_topics for m, p in zip(made, parts, strict=True) if m < p.n_documents]
    assert max(spare) - min(spare) <= 1.0


@pytest.mark.parametrize("judge", ["mtc", "ip", "rtc:map"])
def test_next_goes_on_where_build_would(judge):
    """The documents of a batch are those that sessions of the sub-pools choose next."""
    pool, truth, design = random_case(7)
    options = {"hold_out": design, "groups": GROUPS}
    made = rb.build(pool, truth, judge, budget=10, confidence=None, **options).judgments
    (document,) = rb.next_documents(pool, made, algorithm=judge, count=1, **options)
    session = HoldOutSession(made, judge, design, GROUPS, budget=1)
    chosen = session.next()
    assert (document.topic, document.docno) == (
        pool.topics[pool.topic_of[chosen]],
        pool.docnos[chosen],
    )
    made_in = Counter(pool.topics[t] for t in pool.topic_of[made.order])
    parts = design.pools(pool, GROUPS)
    a_topic = [sum(made_in[topic] for topic in p.topics) / p.n_topics for p in parts]
    (own,) = (n for n, part in enumerate(parts) if document.topic in part.topics)
    assert a_topic[own] == min(a_topic)
    batch = rb.next_documents(pool, made, algorithm=judge, count=12, **options)
    assert len({(d.topic, d.docno) for d in batch}) == 12
    allowed = retrieved_by_contributors(pool, design)
    assert all(d.docno in allowed[d.topic] for d in batch)
    assert (batch[0].topic, batch[0].docno) == (document.topic, document.docno)


def test_next_over_and_over_builds_what_build_does():
    """A person who asks for one document at a time judges as a session that goes on."""
    pool, truth, design = random_case(11)
    options = {"hold_out": design, "groups": GROUPS}
    made = Judgments.none(pool)
    by_hand = []
    for _ in range(15):
        (document,) = rb.next_documents(pool, made, algorithm="mtc", count=1, **options)
        where = made.pool.locate(document.topic, [document.docno])
        made = made.with_labels(where, [truth[document.topic][document.docno]])
        by_hand.append((document.topic, document.docno))
    session = HoldOutSession(Judgments.none(pool), "mtc", design, GROUPS, budget=15)
    while (document := session.next()) is not None:
        topic, docno = pool.topics[pool.topic_of[document]], pool.docnos[document]
        session.observe(document, float(truth[topic][docno]))
    per_part = [
        [[pair for pair in pairs if pair[0] in part.topics] for part in design.pools(pool, GROUPS)]
        for pairs in (by_hand, judged(session))
    ]
    for mine, theirs in zip(*per_part, strict=True):
        assert abs(len(mine) - len(theirs)) <= 1
        both = min(len(mine), len(theirs))
        assert mine[:both] == theirs[:both]


def test_a_batch_ends_where_documents_do():
    pool, truth, design = random_case(4)
    options = {"hold_out": design, "groups": GROUPS}
    every = rb.next_documents(pool, Judgments.none(pool), algorithm="ip", count=10_000, **options)
    assert len(every) == sum(part.n_documents for part in design.pools(pool, GROUPS))
    everything = rb.build(pool, truth, "ip", budget=10_000, confidence=None, **options).judgments
    assert rb.next_documents(pool, everything, algorithm="ip", count=3, **options) == []


def test_a_pair_is_judged_where_both_take_part():
    pool, _, _ = random_case(6)
    mask = np.ones((3, pool.n_topics), dtype=bool)
    mask[0, :2], mask[1, 2:4] = False, False
    design = HoldOutDesign(pool.topics, SITES, mask)
    options = {"algorithm": "mtc", "count": 6, "hold_out": design, "groups": GROUPS}
    nothing = Judgments.none(pool)
    chosen = rb.next_documents(pool, nothing, pair=("s2", "s0"), **options)
    assert {document.topic for document in chosen} == {pool.topics[4]}
    assert chosen.pair == ("s0", "s2")
    assert 0.5 <= chosen.confidence <= 1.0
    everywhere = rb.next_documents(pool, nothing, pair="least", **options)
    assert len({document.topic for document in everywhere}) > 1
    mask[2, 4], mask[0, 4] = True, False
    apart = {**options, "hold_out": HoldOutDesign(pool.topics, SITES, mask)}
    with pytest.raises(InputError, match="leaves s0 and s2 together on no topic"):
        rb.next_documents(pool, nothing, pair=("s0", "s2"), **apart)


def test_the_judgments_remember_the_design(tmp_path):
    pool, truth, design = random_case(8)
    result = rb.build(pool, truth, "ip", budget=9, confidence=None, hold_out=design, groups=GROUPS)
    design.write(tmp_path / "design.csv")
    assert read_hold_out(tmp_path / "design.csv").digest == result.judgments.hold_out
    made = result.judgments
    rb.write_qrels(made.to_qrels(), tmp_path / "judged")
    back = Judgments.from_qrels(pool, rb.read_qrels(tmp_path / "judged"))
    made.save(tmp_path / "judged.nc")
    for same in (back, Judgments.load(tmp_path / "judged.nc"), made.on(pool), made.merge(back)):
        assert same.hold_out == design.digest
        assert same.judged_for_by_topic == made.judged_for_by_topic
    assert result.meta()["hold_out"] == design.digest
    assert result.meta()["judged_for"] == {
        topic: list(systems) for topic, systems in made.judged_for_by_topic.items()
    }


def test_going_on_under_another_design_is_refused():
    pool, truth, design = random_case(9)
    other = HoldOutDesign(design.topics, design.groups, ~np.zeros_like(design.contributes))
    under = {"hold_out": design, "groups": GROUPS}
    made = rb.build(pool, truth, "ip", budget=9, confidence=None, **under).judgments
    both = f"design {design.digest[:12]}, not {other.digest[:12]}; give the design"
    with pytest.raises(InputError, match=both):
        rb.next_documents(pool, made, algorithm="ip", hold_out=other, groups=GROUPS)
    alone = f"made under hold-out design {design.digest[:12]}, none is given; give"
    with pytest.raises(InputError, match=alone):
        rb.next_documents(pool, made, algorithm="ip")
    with pytest.raises(InputError, match=alone):
        JudgingSession(made, "mtc")
    for_everyone = rb.build(pool, truth, "ip", budget=30, confidence=None).judgments
    with pytest.raises(InputError, match=r"was judged for s\d, which the design holds out of it"):
        rb.next_documents(pool, for_everyone, algorithm="ip", **under)


def build_refused(**changes):
    pool, truth, design = random_case(10)
    words = {"budget": 5, "hold_out": design, "groups": GROUPS} | changes
    with pytest.raises(InputError) as caught:
        rb.build(pool, truth, "mtc", **words)
    return str(caught.value)


def test_refusals():
    pool, _, design = random_case(10)
    assert "judged by a budget, not until" in build_refused(budget=None)
    assert "needs the group of every system" in build_refused(groups=None)
    assert "groups are for judging under" in build_refused(hold_out=None)
    assert "confidence is 0.3" in build_refused(confidence=0.3)
    lone = {system: group for system, group in GROUPS.items() if system != "s3"}
    assert "no group for s3; give a group for every system" in build_refused(groups=lone)
    assert "group elsewhere, which the design lacks" in build_refused(
        groups={**GROUPS, "s3": "elsewhere"}
    )
    few = HoldOutDesign(pool.topics[1:], SITES, np.ones((3, pool.n_topics - 1)))
    assert f"the design has no topic {pool.topics[0]}" in build_refused(hold_out=few)
    session = HoldOutSession(Judgments.none(pool), "ip", design, GROUPS, budget=2)
    allowed = retrieved_by_contributors(pool, design)
    outside = next(
        d
        for t, topic in enumerate(pool.topics)
        for d in range(pool.documents(t).start, pool.documents(t).stop)
        if pool.docnos[d] not in allowed[topic]
    )
    with pytest.raises(InputError, match="no sub-pool of the design holds document"):
        session.observe(outside, 1.0)


def test_a_session_takes_documents_that_it_did_not_ask_for():
    pool, _, design = random_case(12)
    session = HoldOutSession(Judgments.none(pool), "ip", design, GROUPS, budget=6)
    last = design.pools(pool, GROUPS)[-1]
    docnos = last.docnos[last.documents(0)][:4]
    for document in pool.locate(last.topics[0], docnos):
        session.observe(int(document), 1.0)
    while (document := session.next()) is not None:
        session.observe(document, 0.0)
    assert (session.reason, len(session.steps)) == ("budget", 6)
    assert session.judgments.order.tolist()[:4] == pool.locate(last.topics[0], docnos).tolist()
