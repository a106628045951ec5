"""Documents chosen for a person to judge."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from pools import judge, pool_of, random_pool

import rtc_bayes as rb
from rtc_bayes import (
    CollectionWarning,
    Estimand,
    InputError,
    Judgments,
    Qrels,
    build,
    next_documents,
)
from rtc_bayes.judging import JudgingSession, parse_algorithm
from rtc_bayes.judging.session import start_judge
from rtc_bayes.judging.weights import WEIGHTS


@pytest.fixture
def pool():
    return pool_of(
        {
            "A": {"1": ["a", "b", "c"], "2": ["x", "y"]},
            "B": {"1": ["d", "b", "e"], "2": ["y", "z"]},
            "C": {"1": ["a", "d", "b"], "2": ["x", "z"]},
        }
    )


@pytest.mark.parametrize("algorithm", ["ip", "mtc", "mtc[weight=evr]", "rtc:map", "uniform"])
def test_the_first_is_what_a_session_would_ask(pool, algorithm):
    judgments = Judgments.from_labels(pool, [0, 3], [1.0, 0.0])
    suggested = next_documents(pool, judgments, algorithm=algorithm, count=3)
    session = JudgingSession(judgments, algorithm, confidence=None, budget=1)
    document = session.next()
    assert pool.docnos[document] == suggested[0].docno
    assert len(suggested) == len({(d.topic, d.docno) for d in suggested}) == 3
    assert all(d.weight > 0 for d in suggested)
    judged = {("1", pool.docnos[0]), ("1", pool.docnos[3])}
    assert not judged & {(d.topic, d.docno) for d in suggested}


def test_why_is_a_short_phrase_and_numbers_have_their_columns(pool):
    chosen = next_documents(pool, Judgments.none(pool), algorithm="mtc", count=1)
    result = chosen[0]
    assert (result.topic, result.docno) == ("1", "a")
    assert result.why == "systems differ: rank 1 in A, not in B"
    assert (result.p, result.retrieved_by) == (0.5, 2)
    assert chosen.weight_text == "by how much the judgment can move the numerator of a difference"
    by_rank = next_documents(pool, Judgments.none(pool), algorithm="ip", count=2)
    assert [d.why for d in by_rank] == ["rank 1 in A", "rank 1 in B"]
    assert [(d.p, d.retrieved_by) for d in by_rank] == [(None, 2), (None, 2)]
    assert by_rank.weight_text == ""


@pytest.mark.parametrize("weight", WEIGHTS)
def test_every_weight_says_what_it_is(pool, weight):
    algorithm = f"mtc[weight={weight}]"
    chosen = next_documents(pool, Judgments.none(pool), algorithm=algorithm, count=1)
    assert chosen.weight_text.startswith("by how much ")


@pytest.mark.parametrize(
    ("weight", "pair", "said"),
    [
        ("evr", None, "should lower the topic's variances of all pairs together"),
        ("evr", ("A", "B"), "should lower the topic's variance of the difference"),
        ("influence", None, "the expected numerator of a difference"),
        ("influence", ("A", "B"), "the expected numerator of the difference"),
    ],
)
def test_a_weight_is_of_one_pair_or_of_all(pool, weight, pair, said):
    algorithm = f"mtc[weight={weight}]"
    chosen = next_documents(pool, Judgments.none(pool), algorithm=algorithm, pair=pair, count=1)
    assert chosen.weight_text.endswith(said)


def test_weights_fall_unless_a_floor_is_served_first(pool):
    weights = [
        d.weight for d in next_documents(pool, Judgments.none(pool), algorithm="mtc", count=6)
    ]
    assert weights == sorted(weights, reverse=True)
    served = next_documents(pool, Judgments.none(pool), algorithm="mtc[floor=2]", count=5)
    assert [d.topic for d in served[:4]] == ["1", "1", "2", "2"]
    assert [d.why.split(";")[0] for d in served[:4]] == [
        "its topic has no judgment yet",
        "its topic has 1 of 2 judgments",
    ] * 2
    assert "of 2 judgments" not in served[4].why


def test_fewer_when_nothing_else_has_weight(pool):
    everything = next_documents(pool, Judgments.none(pool), algorithm="mtc", count=1000)
    assert 0 < len(everything) <= pool.n_documents
    judged = Judgments.from_labels(pool, range(pool.n_documents), [1.0] * pool.n_documents)
    assert next_documents(pool, judged, algorithm="mtc") == []
    assert next_documents(pool, judged, algorithm="ip") == []


def test_judgments_of_other_systems_count(pool):
    elsewhere = pool.with_documents({"1": ["zz"]})
    judged = Judgments.from_labels(elsewhere, elsewhere.locate("1", ["zz", "a"]), [1.0, 1.0])
    suggested = next_documents(pool.select(["A", "B"]), judged, algorithm="mtc", count=10)
    assert {d.docno for d in suggested}.isdisjoint({"zz", "a"})


def test_asking_for_none(pool):
    with pytest.raises(InputError, match="at least 1"):
        next_documents(pool, Judgments.none(pool), algorithm="mtc", count=0)


def test_ranks_below_the_score_depth_are_not_told():
    rankings = {"s0": {"1": ["a", "b", "c", "d"]}, "s1": {"1": ["d", "c", "b", "a"]}}
    for score_depth, told in ((1, "rank 1 in s0, not in s1"), (4, "rank 1 in s0, rank 4 in s1")):
        pool = pool_of(rankings, depth=1)
        estimand = Estimand(scope="pool", score_depth=score_depth)
        (first, *_) = next_documents(pool, Judgments.none(pool), estimand, algorithm="mtc", count=1)
        assert (first.docno, told in first.why) == ("a", True)


def by_document(documents):
    return {(d.topic, d.docno): pytest.approx(d.weight, rel=1e-12) for d in documents}


@pytest.mark.parametrize("weight", WEIGHTS)
def test_weights_for_a_pair_are_those_of_its_pool_with_every_document(cases, rng, weight):
    pool = cases.pool(rng, systems=4, topics=2, documents=7, length=5)
    judged = judge(pool, 4)
    algorithm = f"mtc[weight={weight}]"
    for pair in (("s0", "s2"), ("s3", "s1")):
        two = pool.select(sorted(pair), keep_documents=True)
        own = next_documents(two, judged.on(two), algorithm=algorithm, count=99)
        chosen = next_documents(pool, judged, algorithm=algorithm, pair=pair, count=99)
        assert by_document(chosen) == {(d.topic, d.docno): d.weight for d in own}
        assert [d.docno for d in chosen] == [d.docno for d in own]
        if weight in ("mtc06", "influence"):  # nothing in them counts other documents
            alone = pool.select(sorted(pair))
            theirs = judged.on(pool).keep(judged.order[np.isin(judged.order, listed(pool, pair))])
            own = next_documents(alone, theirs.on(alone), algorithm=algorithm, count=99)
            assert by_document(chosen) == {(d.topic, d.docno): d.weight for d in own}


def listed(pool, pair):
    """Documents that either system of a pair retrieved."""
    numbers = [pool.systems.index(name) for name in pair]
    return [
        d
        for t in range(pool.n_topics)
        for d in pool.topic_starts[t] + np.flatnonzero(pool.ranks(t)[numbers].any(axis=0))
    ]


def test_evr_for_a_pair_is_what_a_judgment_takes_off_its_variance(cases, rng):
    """By enumeration of all outcomes; mu is of all documents of the topic."""
    pool = random_pool(rng, systems=3, topics=1, documents=7, longest=5)
    judged = judge(pool, 2)
    p = np.where(judged.judged, judged.labels, 0.5)
    c = cases.coefficients(pool, 0, 0, 2)
    _, before = cases.outcome_moments(c, p)
    chosen = next_documents(
        pool, judged, algorithm="mtc[weight=evr]", pair=("s0", "s2"), count=pool.n_documents
    )
    assert len(chosen) > 2
    for document in chosen:
        (d,) = pool.locate("0", [document.docno])
        after = 0.0
        for label in (0.0, 1.0):
            _, variance = cases.outcome_moments(c, np.where(np.arange(len(p)) == d, label, p))
            after += variance / 2
        assert document.weight == pytest.approx((before - after) / p.sum() ** 2, abs=1e-10)


@pytest.mark.parametrize("algorithm", ["mtc", "rtc:map", "robust:gibbs"])
def test_the_least_sure_pair_is_said_and_can_be_chosen_for(rng, algorithm):
    pool = random_pool(rng, systems=4, topics=3, documents=12, longest=8)
    judged = replace(judge(pool, 14), judged_for=pool.systems)
    confidence = start_judge(judged, parse_algorithm(algorithm)).confidence()
    pairs = [(a, b) for n, a in enumerate(pool.systems) for b in pool.systems[n + 1 :]]
    least = pairs[int(np.argmin(confidence))]
    said = next_documents(pool, judged, algorithm=algorithm, count=1)
    assert (said.pair, said.confidence) == (least, pytest.approx(confidence.min()))
    chosen = next_documents(pool, judged, algorithm=algorithm, pair="least", count=3)
    assert chosen == next_documents(pool, judged, algorithm=algorithm, pair=least[::-1], count=3)
    assert (chosen.pair, chosen.confidence) == (least, pytest.approx(confidence.min(), abs=1e-12))
    for number, pair in enumerate(pairs):
        one = next_documents(pool, judged, algorithm=algorithm, pair=pair, count=1)
        assert one.confidence == pytest.approx(confidence[number], abs=1e-12)
        assert all(name in one[0].why for name in pair)


def test_what_is_chosen_is_a_sequence_and_says_what_the_command_prints(pool):
    nothing = Judgments.none(pool)
    chosen = next_documents(pool, nothing, algorithm="mtc", count=3)
    assert (len(chosen), chosen[0], chosen[-1]) == (3, chosen.documents[0], [*chosen][2])
    assert chosen == list(chosen) == chosen[:]
    assert chosen[1:] == [chosen[1], chosen[2]]
    assert chosen != replace(chosen, confidence=0.6)
    assert chosen != "documents"
    assert chosen.to_frame().to_dict("records") == [asdict(document) for document in chosen]
    first, *rows = repr(chosen).splitlines()
    assert first == f"NextDocuments(3 documents; A and B: confidence {chosen.confidence:.3g})"
    assert [row.split()[1].rstrip(":") for row in rows] == [each.docno for each in chosen]
    html = chosen._repr_html_()
    assert f"Next documents: 3 documents; A and B: confidence {chosen.confidence:.3g}" in html
    assert html.count("<tr>") == 4
    assert (chosen.why_none, chosen.may_stop) == ("", False)


@pytest.mark.parametrize("algorithm", ["mtc", "ip"])
def test_that_nothing_is_chosen_has_its_reason(pool, algorithm):
    every = next_documents(pool, Judgments.none(pool), algorithm=algorithm, count=1000)
    located = [int(pool.locate(d.topic, [d.docno])[0]) for d in every]
    judged = Judgments.from_labels(pool, located, [0.0] * len(located))
    nothing = next_documents(pool, judged, algorithm=algorithm)
    assert not nothing
    assert nothing.why_none == (
        "no document is left to judge"
        if judged.n_open == 0
        else "no document left can tell the systems apart"
    )
    columns = ["topic", "docno", "weight", "p", "retrieved_by", "why"]
    assert nothing.to_frame().columns.tolist() == columns


@pytest.mark.parametrize(
    ("name", "now"), [("suggest", "next_documents"), ("Suggestions", "judging.NextDocuments")]
)
def test_names_of_before_are_told_the_new_ones(name, now):
    with pytest.raises(InputError, match=rf"has no {name}; use rtc_bayes\.{now}$"):
        getattr(rb.judging, name)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("A", "run-b"), "no system is named 'run-b'; name one of Run-B"),
        (("A", "A"), "'A' is compared with itself"),
        ("A", 'pair is .A.; give two systems, or "least"'),
        (("A", "Run-B", "C"), "give two systems"),
    ],
)
def test_a_pair_that_cannot_be_used(pair, message):
    pool = pool_of({name: {"1": ["a", "b"]} for name in ("A", "Run-B", "C")})
    with pytest.raises(InputError, match=message):
        next_documents(pool, Judgments.none(pool), algorithm="mtc", pair=pair)


@pytest.mark.parametrize("pair", [("A", "B"), "least"])
def test_a_judge_that_weighs_no_pair_says_so(pool, pair):
    with pytest.raises(InputError, match="ip does not weigh documents for one pair; use mtc"):
        next_documents(pool, Judgments.none(pool), algorithm="ip", pair=pair)
    assert next_documents(pool, Judgments.none(pool), algorithm="ip").pair is None


def test_systems_that_nothing_tells_apart_are_not_asked_for(pool):
    """Neither as the least sure pair, nor, without a word, until every pair is sure."""
    lists = {
        s: {t: list(pool.docnos[pool.ranking(i, n)]) for n, t in enumerate("12")}
        for i, s in enumerate("ABC")
    }
    twice = pool_of({**lists, "copy": lists["A"]})
    assert twice.alike == (("A", "copy"),)
    least = next_documents(twice, Judgments.none(twice), algorithm="mtc", pair="least")
    assert least.pair != ("A", "copy")
    assert least
    truth = Qrels({"1": {"a": 1, "b": 0}, "2": {"x": 1, "y": 0}})
    with pytest.warns(CollectionWarning, match="A and copy have the same lists to rank 100"):
        build(twice, truth, "mtc", confidence=0.9)
    build(twice, truth, "mtc", confidence=None, budget=2)


def test_a_document_that_cannot_be_judged_is_not_asked_for_again(pool):
    first, second = (
        next_documents(pool, Judgments.none(pool), algorithm="mtc", count=count) for count in (2, 4)
    )
    marked = rb.Qrels({first[0].topic: {first[0].docno: -1}})
    assert next_documents(pool, marked, algorithm="mtc", count=3) == second[1:]
    of_python = next_documents(
        pool,
        Judgments.none(pool),
        algorithm="mtc",
        count=2,
        aside=[(d.topic, d.docno) for d in first],
    )
    assert of_python == second[2:]


def test_what_cannot_be_judged_takes_no_place_of_a_floor(pool):
    options = {"algorithm": "mtc[floor=1]", "count": pool.n_topics}
    first = next_documents(pool, Judgments.none(pool), **options)
    aside = [(d.topic, d.docno) for d in first[:1]]
    again = next_documents(pool, Judgments.none(pool), aside=aside, **options)
    assert [d.topic for d in again] == [d.topic for d in first]
    assert again[0].docno != first[0].docno
    for algorithm in ("ip", "mtf", "maxmean", "mmns", "active", "rankvar", "pool", "sample"):
        one = next_documents(pool, Judgments.none(pool), algorithm=algorithm, count=1)[0]
        other = next_documents(
            pool, Judgments.none(pool), algorithm=algorithm, count=1, aside=[(one.topic, one.docno)]
        )[0]
        assert (other.topic, other.docno) != (one.topic, one.docno)
    for wrong in ("ab", ["ab"], [("1",)], {"1": ["d"]}, [(1, "d")], [["1", ["d"]]]):
        with pytest.raises(rb.InputError, match=r"aside holds .*; give pairs of topic and docno"):
            next_documents(pool, Judgments.none(pool), aside=wrong)


def test_build_goes_on_without_what_cannot_be_judged(pool):
    truth = rb.Qrels({topic: {} for topic in pool.topics} | {"1": {"x": 1}})
    options = {"confidence": None, "budget": 3}
    first = rb.build(pool, truth, "mtc", **options)
    marked = rb.Qrels({step.topic: {step.docno: -1} for step in first.steps[:1]})
    again = rb.build(pool, truth, "mtc", judgments=marked, **options)
    assert (first.steps[0].topic, first.steps[0].docno) not in {
        (step.topic, step.docno) for step in again.steps
    }
    assert len(again.steps) == 3


def test_what_cannot_be_judged_is_kept_with_the_judgments(pool, tmp_path):
    truth = rb.Qrels({topic: {} for topic in pool.topics} | {"1": {"x": 1}})
    first = rb.build(pool, truth, "mtc", budget=2)
    marked = rb.Qrels({step.topic: {step.docno: -1} for step in first.steps[:1]})
    again = rb.build(pool, truth, "mtc", budget=1, judgments=marked).judgments
    assert again.aside == again.to_qrels().negative == marked.negative
    again.save(tmp_path / "judged.nc")
    for judgments in (again, rb.Judgments.load(tmp_path / "judged.nc"), again.to_qrels()):
        rest = rb.build(pool, truth, "mtc", budget=100, judgments=judgments)
        assert rest.judgments.n_judged == pool.n_documents - 1
        assert rest.judgments.to_qrels().negative == marked.negative


def test_a_budget_alone_is_spent(pool):
    truth = rb.Qrels({topic: {} for topic in pool.topics} | {"1": {"x": 1}})
    spent = rb.build(pool, truth, "mtc", budget=3)
    assert (spent.target, spent.judgments.n_judged, spent.reason) == (None, 3, "budget")
    assert rb.build(pool, truth, "mtc").target == 0.95
    both = rb.build(pool, truth, "mtc", budget=3, confidence=0.9)
    assert both.target == 0.9
    with pytest.raises(rb.InputError, match=r"confidence .* says nothing to ip, which has none"):
        rb.build(pool, truth, "ip", budget=3, confidence=0.9)


def test_what_cannot_be_judged_is_no_room_and_no_floor(rng):
    """A topic of which nothing can be judged keeps no judge from ending."""
    pool = random_pool(rng, systems=4, topics=3, documents=14, depth=8)
    first = pool.topics[0]
    marked = [(first, docno) for docno in pool.docnos[pool.documents(0)]]
    none = Judgments.none(pool).with_aside(marked)
    truth = rb.Qrels({topic: {"d0001": 1} for topic in pool.topics})
    free, held = (
        rb.build(pool, truth, f"mtc[weight=evr,floor={floor}]", judgments=none, confidence=0.52)
        for floor in (0, 1)
    )
    assert free.reason == held.reason == "reached"
    every = rb.build(pool, truth, "mtc", judgments=none, budget=1000)
    assert every.reason in ("exhausted", "no document has weight")
    session = JudgingSession(none, "mtc")
    with pytest.raises(rb.InputError, match="is one that nobody can judge; judge another"):
        session.observe(int(none.aside_documents[0]), 1.0)


def test_merging_keeps_what_cannot_be_judged(pool):
    topic, docnos = pool.topics[0], pool.docnos[pool.documents(0)]
    one, two = (
        Judgments.from_qrels(pool, rb.Qrels({topic: {docno: grade, other: -1}}))
        for docno, grade, other in ((docnos[0], 1, docnos[1]), (docnos[1], 0, docnos[0]))
    )
    both = one.merge(two)
    assert both.aside == ((topic, docnos[1]), (topic, docnos[0]))
    assert both.aside_documents.tolist() == []
    assert dict(both.to_qrels()[topic]) == {docnos[0]: 1, docnos[1]: 0}
    assert (one.n_open, both.n_open) == (pool.n_documents - 2,) * 2
    part = pool.select_topics(pool.topics[1:])
    assert one.on(part).aside == ()
    assert one.with_aside([(part.topics[0], "such")]).on(part).n_open == part.n_documents


def test_actions_leave_out_what_cannot_be_judged_of_later_judgments(pool):
    """Judged documents that the comparison's pool lacks move no other."""
    topic, docnos = pool.topics[0], pool.docnos[pool.documents(0)]
    fitted = rb.fit(pool, Judgments.none(pool), model="uniform")
    later = rb.Qrels({topic: {"0 new": 1, docnos[1]: -1}})
    judgments = Judgments.from_qrels(pool, later)
    actions = rb.next_actions(rb.compare(pool, fitted), judgments, {"human": 1}, count=500)
    assert (topic, docnos[1]) not in set(zip(actions["topic"], actions["docno"], strict=True))
    assert (topic, docnos[0]) in set(zip(actions["topic"], actions["docno"], strict=True))
