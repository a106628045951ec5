"""Judging for nDCG and DCG where judgments have grades: moments, weights, proofs and sessions."""

from itertools import product

import numpy as np
import pytest
from pools import pool_of

import rtc_bayes as rb
from rtc_bayes import Estimand, InputError, Judgments
from rtc_bayes.judging import HoldOutSession, JudgingSession, parse_algorithm
from rtc_bayes.judging.judges import Chooser
from rtc_bayes.judging.session import start_judge
from rtc_bayes.judging.state import JudgingState
from rtc_bayes.judging.weights import WEIGHTS, evr, reuse
from rtc_bayes.measures import parse_measure
from rtc_bayes.measures.sampled import scorer

GRADED = ["DCG@3", "nDCG@3", "nDCG", "nDCG(dcg='exp-log2')@4"]


def graded_case(rng, cases, level=1, highest=3, **sizes):
    """A pool with a few graded judgments, one of which is of the highest grade."""
    pool = cases.pool(rng, **sizes)
    documents = rng.permutation(pool.n_documents)[:4]
    grades = np.append(highest, rng.integers(highest + 1, size=len(documents) - 1))
    return Judgments.none(pool, relevance_level=level).with_labels(
        documents, (grades >= level).astype(float), grades
    )


def chances(judgments, p):
    """Probabilities of all grades, (documents, grades), by the distribution alone."""
    given = judgments.grade_distribution().chances(judgments.pool)
    every = (1.0 - p)[:, None] * given[0] + p[:, None] * given[1]
    judged = judgments.order
    every[judged] = np.arange(every.shape[1]) == judgments.grades[judged, None]
    return every


def best_list(counts, gains, cutoff):
    """DCG of a list filled from the top with expected numbers of documents of each grade."""
    left, total, places = list(counts), 0.0, min(cutoff, round(sum(counts)))
    for rank in range(1, places + 1):
        room = 1.0
        for grade in reversed(range(len(gains))):
            take = min(room, left[grade])
            left[grade] -= take
            room -= take
            total += take * gains[grade] / np.log2(rank + 1)
    return max(total, gains[1])


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("measure", GRADED)
def test_moments_are_those_of_all_outcomes_of_grades(rng, cases, measure, level):
    """Over the best list of expected numbers of grades, which is unknown to first order.

    The best list is taken to grow with the gains of all documents.
    """
    judgments = graded_case(rng, cases, level, highest=2, topics=2, documents=6, length=5)
    pool, asked = judgments.pool, parse_measure(measure)
    p = rng.random(pool.n_documents)
    state = JudgingState(judgments, p, measure)
    every, gains = chances(judgments, state_p(state)), asked.gains(np.arange(3))
    expected = variance = 0.0
    for t in range(pool.n_topics):
        part = every[pool.documents(t)]
        outcomes = np.array(list(product(range(3), repeat=len(part)))).T.astype(np.int8)
        weight = np.prod([row[of] for row, of in zip(part, outcomes, strict=True)], axis=0)
        dcg = parse_measure("DCG" if asked.cutoff is None else f"DCG@{asked.cutoff}")
        discounts = scorer(dcg, pool.lists(t), np.zeros(len(part), dtype=bool), graded=False)(
            np.eye(len(part), dtype=np.int8)
        )
        sums = discounts @ gains[outcomes]
        difference = sums[0] - sums[1]
        below, mean = 1.0, weight @ difference
        expected += mean / pool.n_topics
        if asked.kind == "nDCG":
            counts, step = part.sum(axis=0), 1e-7
            more = np.append(counts[0] - step * counts[1:].sum(), counts[1:] * (1.0 + step))
            best = [best_list(all_, gains, asked.cutoff or len(part)) for all_ in (counts, more)]
            below, grown = best[0], (best[1] - best[0]) / (step * counts @ gains)
            expected += mean * (1.0 / below - 1.0) / pool.n_topics
            difference -= mean / below * grown * gains[outcomes].sum(axis=0)
        square = weight @ difference**2 - (weight @ difference) ** 2
        variance += square / below**2 / pool.n_topics**2
    np.testing.assert_allclose(state.moments(), [[expected], [variance]], atol=1e-8)


def state_p(state):
    return np.concatenate([topic.p for topic in state.topics])


@pytest.mark.parametrize("measure", GRADED)
def test_with_all_judged_the_difference_is_the_true_one(measure):
    pool = pool_of({"A": {"1": "abcd", "2": "xy"}, "B": {"1": "dcba", "2": "yx"}}, depth=4)
    qrels = rb.Qrels({"1": {"a": 3, "b": 1, "c": 2, "d": 0}, "2": {"x": 0, "y": 1}})
    judgments = Judgments.from_qrels(pool, qrels)
    state = JudgingState(judgments, np.full(pool.n_documents, 0.5), measure)
    true = 0.0
    for t, topic in enumerate(pool.topics):
        inside = pool.documents(t)
        grades = np.array([[qrels[topic][d]] for d in pool.docnos[inside]], dtype=np.int8)
        none = np.zeros(len(grades), dtype=bool)
        score = scorer(parse_measure(measure), pool.lists(t), none, graded=True)
        first, second = score(grades)[:, 0]
        true += (first - second) / pool.n_topics
    expected, variance = state.moments()
    assert expected[0] == pytest.approx(true, abs=1e-12)
    assert variance[0] == 0.0
    assert state.confidence()[0] == 1.0


@pytest.mark.parametrize("measure", GRADED)
def test_judgments_one_by_one_are_those_at_once(rng, cases, measure):
    """Once grades are learnt again, and of draws of relevance."""
    begun = graded_case(rng, cases, systems=3)
    pool = begun.pool
    p = rng.random((3, pool.n_documents))
    state = JudgingState(begun, p, measure)
    rest = rng.permutation(np.flatnonzero(~begun.judged))[:6]
    grades = rng.integers(4, size=6).astype(float)
    labels = (grades > 0).astype(float)
    grades[-1], labels[-1] = np.nan, 0.25
    for document, label, grade in zip(rest.tolist(), labels, grades, strict=True):
        state.moments()
        state.observe(document, label, grade)
    judgments = begun.with_labels(rest, labels, grades)
    assert state.learn_grades(judgments)
    at_once = JudgingState(judgments, p, measure)
    cases.check_same(state, at_once)


@pytest.mark.parametrize("measure", ["DCG@3", "DCG"])
def test_evr_is_the_variance_that_a_grade_takes_off(rng, cases, measure):
    """On average over the grades, with what grades the others have unchanged."""
    judgments = graded_case(rng, cases, systems=3, topics=1)
    p = rng.random(judgments.pool.n_documents)
    state = JudgingState(judgments, p, measure)
    before, weights = state.moments()[1].sum(), evr(state.topics[0])
    every = chances(judgments, state_p(state))
    assert (reuse(state.topics[0])[~judgments.judged] >= 0.0).all()
    for document in np.flatnonzero(~judgments.judged).tolist():
        left = 0.0
        for grade, chance in enumerate(every[document]):
            after = JudgingState(judgments, p, measure)
            after.observe(document, float(grade > 0), grade)
            left += chance * after.moments()[1].sum()
        assert weights[document] == pytest.approx(before - left, abs=1e-12)


def test_a_best_list_of_one_document_does_not_grow():
    """Of a topic where next to nothing is relevant."""
    pool = pool_of({"A": {"1": "ab", "2": "xy"}, "B": {"1": "ba", "2": "yx"}}, depth=2)
    elsewhere = Judgments.from_qrels(pool, rb.Qrels({"1": {"a": 3}}))
    floor = JudgingState(elsewhere, np.full(pool.n_documents, 1e-3), "nDCG@5").topics[1]
    np.testing.assert_array_equal(floor.effect, floor.measure.gains)


def test_nothing_is_proved_where_a_higher_grade_may_come():
    """Twenty documents that favour A are judged, and one of grade 3 would favour B."""
    lists = {"1": "abcdefghij", "2": "klmnopqrst"}
    other = {"1": "z" + lists["1"][1:] + "a", "2": "y" + lists["2"][1:] + "k"}
    pool = pool_of({"A": lists, "B": other}, depth=11)
    qrels = {t: dict.fromkeys(docnos, 1) for t, docnos in lists.items()}
    judgments = Judgments.from_qrels(pool, rb.Qrels(qrels))
    session = JudgingSession(judgments, "mtc", confidence=1.0, measure="DCG@10")
    while (document := session.next()) is not None:
        assert len(session.steps) < 2
        session.observe(document, 0.0)
    assert session.reason == "reached"
    assert len(session.steps) == 2
    graded = Judgments.from_qrels(pool, rb.Qrels({"1": {**qrels["1"], "z": 3}, "2": qrels["2"]}))
    before, after = (
        JudgingState(made, np.zeros(pool.n_documents), "DCG@10").moments()[0][0]
        for made in (judgments, graded)
    )
    assert before > 0.0 > after


def test_a_relevance_level_counts_before_any_grade_does():
    """At level 2 a document of grade 1 is not relevant, and has its gain."""
    pool = pool_of({"A": {"1": "ab"}, "B": {"1": "ba"}}, depth=2)
    judgments = Judgments.none(pool, relevance_level=2).with_labels([0, 1], [0, 0], [1, 0])
    state = JudgingState(judgments, np.full(2, 0.5), "nDCG")
    assert state.moments()[0][0] == pytest.approx(1.0 - 1.0 / np.log2(3.0))
    assert state.confidence()[0] == 1.0
    compared = rb.compare(
        pool,
        rb.fit(pool, judgments, model="uniform"),
        Estimand("nDCG", residual=0.0, unseen=False),
        outcomes=50,
    )
    assert compared.expected.tolist() == pytest.approx([1.0, 1.0 / np.log2(3.0)])


def test_influence_is_by_the_gains_to_expect(rng, cases):
    """Of a document that turns out relevant, and of one that does not."""
    judgments = graded_case(rng, cases, level=2, systems=2, topics=1)
    pool = judgments.pool
    p = rng.random(pool.n_documents)
    state = JudgingState(judgments, p, "DCG@4")
    (topic,) = state.topics
    weights = WEIGHTS["influence"](topic)
    for document in np.flatnonzero(~judgments.judged).tolist():
        ends = []
        for label in (0.0, 1.0):
            known = np.where(np.arange(len(p)) == document, label, p)
            (if_so,) = JudgingState(judgments, known, "DCG@4").topics
            ends.append(if_so.numerators[0] - if_so.numerators[1])
        assert weights[document] == pytest.approx(abs(ends[1] - ends[0]), abs=1e-12)


def test_a_session_learns_grades_as_they_come():
    """The confidence of two lists that differ in grade alone is in their grades."""
    lists = {str(t): "abcd" for t in range(1, 7)}
    pool = pool_of({"A": lists, "B": dict.fromkeys(lists, "badc")}, depth=4)
    asked = {"confidence": None, "budget": 24, "measure": "nDCG"}
    session = JudgingSession(Judgments.none(pool), "mtc", **asked)
    graded = {"a": 3, "b": 1, "c": 0, "d": 0}
    while (document := session.next()) is not None:
        grade = graded[pool.docnos[document]]
        session.observe(document, float(grade > 0), grade)
        if session.judgments.n_judged == 1:
            assert 0.5 < session.confidence < 1.0
    assert session.confidence == 1.0
    assert session.differences[0] > 0.0
    assert session.judgments.highest_grade == 3.0
    assert {step.grade for step in session.steps} == {3.0, 1.0, 0.0}
    order = session.judgments.order
    alike = Judgments.from_labels(pool, order, session.judgments.labels[order])
    assert JudgingSession(alike, "mtc", **asked).differences == (0.0,)


def test_a_session_judges_for_the_systems_of_its_pool():
    """If it begins with nothing judged, and nobody says for whom."""
    pool = pool_of({"A": {"1": "ab"}, "B": {"1": "ba"}}, depth=2)
    asked = {"confidence": None, "budget": 1}
    session = JudgingSession(Judgments.none(pool), "mtc", **asked)
    session.observe(session.next(), 1.0)
    assert session.judgments.judged_for == ("A", "B")
    said = JudgingSession(Judgments.none(pool, judged_for=["A"]), "mtc", **asked)
    assert said.judgments.judged_for == ("A",)
    made = Judgments.none(pool).with_labels([0], [1.0])
    assert JudgingSession(made, "mtc", **asked).judgments.judged_for is None


def test_a_grade_is_at_most_what_an_outcome_holds():
    pool = pool_of({"A": {"1": "ab"}, "B": {"1": "ba"}}, depth=2)
    session = JudgingSession(Judgments.none(pool), "mtc", confidence=None, budget=2, measure="nDCG")
    with pytest.raises(InputError, match="up to 127"):
        session.observe(0, 1.0, 200)
    assert (len(session.steps), session.judgments.n_judged) == (0, 0)


def test_a_resumed_session_is_the_one_that_went_on():
    """Grades are learnt again when a model is fitted."""
    simulated = rb.simulate(n_topics=4, n_systems=3, seed=2)
    pool = rb.Pool.from_runs(simulated.runs, depth=10)

    def judge(session, count):
        for _ in range(count):
            document = session.next()
            topic, docno = pool.topics[pool.topic_of[document]], pool.docnos[document]
            relevant = simulated.qrels[topic].get(docno, 0) > 0
            session.observe(document, float(relevant), 1 + document % 3 if relevant else 0)

    asked = {"confidence": None, "budget": 50, "measure": "nDCG@10"}
    whole = JudgingSession(Judgments.none(pool), "rtc:map", **asked)
    judge(whole, 20)
    resumed = JudgingSession(whole.judgments, "rtc:map", **asked)
    assert resumed.confidence == pytest.approx(whole.confidence, abs=1e-12)
    judge(whole, 5)
    judge(resumed, 5)
    assert resumed.judgments.order.tolist() == whole.judgments.order.tolist()
    assert resumed.judgments.highest_grade == 3.0


@pytest.mark.parametrize(("label", "grade"), [(0.0, 2), (1.0, 1), (0.5, 2), (1.0, -1), (1.0, 2.5)])
def test_a_grade_must_have_its_label(label, grade):
    pool = pool_of({"A": {"1": "ab"}, "B": {"1": "ba"}}, depth=2)
    none = Judgments.none(pool, relevance_level=2)
    session = JudgingSession(none, "mtc", confidence=None, budget=2, measure="nDCG")
    with pytest.raises(InputError, match="grade"):
        session.observe(0, label, grade)
    session.observe(0, 1.0, 2)
    session.observe(1, 0.25)
    assert np.nan_to_num(session.judgments.grades, nan=-1.0).tolist() == [2.0, -1.0]


def test_build_keeps_grades_and_counts_them():
    """Under a design, too; a judge of one's own need not know of them."""
    simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    pool = rb.Pool.from_runs(simulated.runs, depth=10)
    graded = {
        t: {d: g * (1 + n % 3) for n, (d, g) in enumerate(of.items())}
        for t, of in simulated.qrels.items()
    }
    qrels = rb.Qrels(graded)

    class InOrder(Chooser):
        def choose(self, count):
            return [(int(document), 1.0) for document in self.unjudged()[:count]]

    class Own:
        name, has_confidence = "own", False

        def start(self, judgments, *, seed):
            return InOrder(judgments)

    groups = dict(zip(pool.systems, ["siteA", "siteA", "siteB", "siteB"], strict=True))
    design = rb.HoldOutDesign(pool.topics, ("siteA", "siteB"), [[1, 1, 0], [1, 1, 1]])
    about = Estimand("nDCG@5", relevance_level=2)
    for algorithm, more in (
        ("mtc", {}),
        (Own(), {}),
        ("mtc", {"hold_out": design, "groups": groups}),
    ):
        made = rb.build(pool, qrels, algorithm, about, confidence=None, budget=20, **more).judgments
        assert made.relevance_level == 2
        for document in made.order.tolist():
            topic = made.pool.topics[made.pool.topic_of[document]]
            grade = max(graded[topic].get(made.pool.docnos[document], 0), 0)
            assert made.grades[document] == grade
            assert made.labels[document] == float(grade >= 2)
    session = HoldOutSession(Judgments.none(pool), "mtc", design, groups, budget=1)
    session.observe(session.next(), 1.0)
    assert session.judgments.highest_grade == 1.0


def test_the_pair_that_is_looked_at_alone_learns_grades_too():
    """Of many systems one pair has a state of its own, for which the moments of all hold."""
    simulated = rb.simulate(n_topics=3, n_systems=22, seed=4)
    pool = rb.Pool.from_runs(simulated.runs, depth=5)
    judge = parse_algorithm("mtc[weight=evr]")
    chooser = start_judge(Judgments.none(pool), judge, measure="nDCG@5")
    looked = 0
    for step in range(25):
        ((document, _),) = chooser.choose(1)
        relevant = simulated.qrels[pool.topics[pool.topic_of[document]]].get(
            pool.docnos[document], 0
        )
        grade = relevant * (1 + step % 3)
        chooser.take_grade(document, grade)
        chooser.observe(document, float(relevant))
        list(chooser.open_pairs(0.999))
        pair, alone = chooser.state._unsure
        every = [part[pair] for part in chooser.state.moments()]
        np.testing.assert_allclose(np.ravel(alone.moments()), every, atol=1e-12)
        looked += chooser.state.highest_grade > 1
    assert looked > 5


@pytest.mark.parametrize("measure", ["nDCG@4", "nDCG", "nDCG(dcg='exp-log2')@4"])
def test_a_score_moves_with_the_gain_of_a_document_as_is_said(rng, cases, measure):
    """By a finite difference, where the best list grows with the gains of all documents."""
    judgments = graded_case(rng, cases, systems=2, topics=1, documents=12, length=9)
    p = rng.uniform(0.1, 0.4, judgments.pool.n_documents)
    (topic,) = JudgingState(judgments, p, measure).topics
    gains, counts, step = topic._table[:, 0], topic._counts, 1e-7
    best, total = topic._best(counts), topic._steps @ counts
    lists = topic.measure.gains
    for document in range(len(p)):
        more = gains + step * (np.arange(len(p)) == document)
        grown = topic._best(counts * (1.0 + step / total))
        moved = (lists @ more / grown - lists @ gains / best) / step
        np.testing.assert_allclose(topic.effect[:, document], moved, rtol=1e-4, atol=1e-6)
        nonrelevant, relevant = topic._given[:, document, 0]
        np.testing.assert_allclose(
            topic.move[:, document], moved * (relevant - nonrelevant), rtol=1e-4, atol=1e-6
        )
