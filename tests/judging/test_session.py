"""Sessions: order, stopping, floor, budget, missing documents."""

import json

import numpy as np
import pools
import pytest

import rtc_bayes as rb
from rtc_bayes import (
    CollectionWarning,
    Estimand,
    HoldOutDesign,
    InputError,
    Judgments,
    Pool,
    Qrels,
    next_documents,
    read_qrels,
    read_runs,
)
from rtc_bayes.errors import FitError
from rtc_bayes.judging import HoldOutSession, JudgingSession, build
from rtc_bayes.judging.state import JudgingState
from rtc_bayes.judging.weights import mtc06

ALGORITHMS = ["ip", "mtc", "mtc[weight=evr,floor=1]", "rtc:map", "uniform"]


def pool_of(*rankings, depth=10):
    """One system per argument: {topic: docnos}."""
    return pools.pool_of({f"s{i}": lists for i, lists in enumerate(rankings)}, depth=depth)


def chosen(result):
    return [(step.topic, step.docno) for step in result.steps]


def judged_everything(pool, grade=0):
    return Qrels({t: dict.fromkeys(pool.docnos, grade) for t in pool.topics})


def test_incremental_pooling_goes_by_rank_then_topic_then_docno():
    pool = pool_of({"2": ["C", "A", "X"], "10": ["P", "Q"]}, {"2": ["B", "C"], "10": ["P", "A"]})
    result = build(pool, judged_everything(pool), "ip", budget=100)
    assert chosen(result) == [
        ("2", "B"),
        ("2", "C"),
        ("10", "P"),
        ("2", "A"),
        ("10", "A"),
        ("10", "Q"),
        ("2", "X"),
    ]
    assert result.reason == "exhausted"
    assert result.confidence is None
    short = build(pool, judged_everything(pool), "ip", budget=3)
    assert short.reason == "budget"
    assert chosen(short) == chosen(result)[:3]


def test_incremental_pooling_needs_a_budget_and_takes_no_floor():
    pool = pool_of({"1": ["A"]})
    with pytest.raises(InputError, match="budget"):
        build(pool, judged_everything(pool), "ip")
    with pytest.raises(InputError, match="floor"):
        build(pool, judged_everything(pool), "ip", budget=1, floor=1)


def test_each_choice_is_the_heaviest_of_the_whole_pool(rng, cases):
    pool = cases.pool(rng, topics=4, documents=20, length=10)
    truth = cases.truth(rng, pool)
    result = build(pool, truth, "mtc", confidence=1.0)
    assert len(result.steps) > 10
    documents, labels = [], []
    for step in result.steps:
        state = JudgingState(
            Judgments.from_labels(pool, documents, labels), np.full(pool.n_documents, 0.5)
        )
        weights = np.concatenate([mtc06(topic) for topic in state.topics])
        best = int(np.argmax(weights >= weights.max() * (1 - 1e-9)))
        t = pool.topic_of[best]
        assert (step.topic, step.docno) == (pool.topics[t], pool.docnos[best])
        assert step.weight == pytest.approx(weights[best])
        assert step.label == truth[step.topic][step.docno]
        assert step.confidence == pytest.approx(float(state.confidence()[0]), abs=1e-12)
        documents.append(best)
        labels.append(step.label)


def test_ties_go_to_the_first_topic_and_docno():
    same = {"B": 1}
    pool = pool_of({"9": ["B", "A"], "10": ["B", "A"]}, {"9": ["C", "D"], "10": ["C", "D"]})
    result = build(pool, Qrels({"9": same, "10": same}), "mtc", budget=1)
    assert chosen(result) == [("9", "B")]


def test_reached_for_either_sign():
    better = {str(t): [f"R{i}" for i in range(10)] for t in range(8)}
    worse = {str(t): [f"N{i}" for i in range(10)] for t in range(8)}
    truth = Qrels(
        {t: dict.fromkeys(docnos, 1) | dict.fromkeys(worse[t], 0) for t, docnos in better.items()}
    )
    for first, second, sign in ((better, worse, 1), (worse, better, -1)):
        result = build(pool_of(first, second), truth, "mtc")
        assert result.reason == "reached"
        assert 0.95 <= result.confidence < 1
        assert np.sign(result.differences[0]) == sign
        assert all(step.confidence < 0.95 for step in result.steps)


def test_proved_when_no_judgment_can_change_the_sign():
    # D1 relevant leaves S0 ahead whatever the rest: 1/1 against at most 1/2 from below
    pool = pool_of({"1": ["D1"]}, {"1": ["D2"], "2": []})
    session = JudgingSession(
        Judgments.from_labels(pool, pool.locate("1", ["D1", "D2"]), [1.0, 0.0]),
        "mtc",
        confidence=1.0,
    )
    assert session.next() is None
    assert session.reason == "reached"  # nothing is unknown
    pool = pool_of({"1": ["D1", "D2", "D3"]}, {"1": ["D4", "D5", "D3"]})
    judged = Judgments.from_labels(pool, pool.locate("1", ["D1", "D4", "D5"]), [1.0, 0.0, 0.0])
    session = JudgingSession(judged, "mtc", confidence=1.0)
    assert session.next() is None
    assert session.reason == "proved"
    assert session.confidence < 1.0


def test_no_document_of_identical_runs_has_weight():
    lists = {"1": ["A", "B"], "2": ["C"]}
    for algorithm in ("mtc", "mtc[floor=1]", "rtc:map", "uniform"):
        with pytest.warns(CollectionWarning, match="no judgment tells them apart"):
            result = build(pool_of(lists, lists), Qrels({"1": {"A": 1}}), algorithm)
        assert result.reason == "no document has weight"
        assert result.judgments.n_judged == 0
        assert result.confidence == 0.5


def test_exhausted_when_all_is_judged_and_equal():
    pool = pool_of({"1": ["A"], "2": ["B"]}, {"1": ["B"], "2": ["A"]})
    result = build(pool, judged_everything(pool, grade=1), "mtc", confidence=0.999)
    assert result.reason == "exhausted"
    assert result.judgments.n_judged == pool.n_documents
    assert result.confidence == 0.5


def test_budget_caps_and_without_confidence_is_spent(rng, cases):
    pool = cases.pool(rng, topics=4, documents=20, length=10)
    truth = cases.truth(rng, pool)
    assert build(pool, truth, "mtc", confidence=0.9999, budget=5).reason == "budget"
    assert build(pool, truth, "mtc", budget=0).judgments.n_judged == 0
    easy = build(pool, truth, "mtc", confidence=0.51)
    spent = build(pool, truth, "mtc", confidence=None, budget=len(easy.steps) + 3)
    assert len(spent.steps) == len(easy.steps) + 3
    assert spent.reason == "budget"


@pytest.mark.parametrize("floor", [1, 3])
def test_the_floor_comes_first_and_in_topic_order(rng, cases, floor):
    pool = cases.pool(rng, topics=5, documents=30, length=10)
    result = build(pool, cases.truth(rng, pool), "mtc", confidence=0.5001, floor=floor)
    judgable = [t for t in pool.topics if (pool.ranks(pool.topics.index(t)) > 0).any()]
    expected = [t for t in judgable for _ in range(floor)]
    assert [step.topic for step in result.steps][: len(expected)] == expected
    # within a topic its heaviest document
    first = build(pool, cases.truth(rng, pool), "mtc", budget=1, floor=floor).steps[0]
    state = JudgingState(Judgments.none(pool), np.full(pool.n_documents, 0.5))
    assert first.weight == pytest.approx(mtc06(state.topics[0]).max())


@pytest.mark.parametrize("algorithm", ["ip", "mtc", "mtc[weight=evr,floor=1]"])
def test_judging_goes_on_from_what_was_judged_before(rng, cases, algorithm, tmp_path):
    pool = cases.pool(rng, topics=4, documents=30, length=10)
    truth = cases.truth(rng, pool)
    whole = build(pool, truth, algorithm, confidence=None, budget=20)
    first = build(pool, truth, algorithm, confidence=None, budget=8)
    rb.write_qrels(first.judgments.to_qrels(), tmp_path / "first.qrels")
    for before in (first.judgments, read_qrels(tmp_path / "first.qrels")):
        rest = build(pool, truth, algorithm, confidence=None, budget=12, judgments=before)
        assert chosen(first) + chosen(rest) == chosen(whole)
        assert rest.judgments.to_qrels() == whole.judgments.to_qrels()
        assert "20 judged, 8 of them before" in repr(rest)
        assert rest.meta()["judged"] == 20
    # topics without a judgment are no part of an average over those judged
    begun = sorted({step.topic for step in first.steps})
    judged = build(
        pool,
        truth,
        algorithm,
        Estimand(topics="judged"),
        confidence=None,
        budget=1,
        judgments=before,
    )
    assert sorted(judged.judgments.pool.topics) == begun


@pytest.mark.parametrize("kind", ["judgments", "qrels"])
def test_judgments_made_before_may_be_of_documents_that_the_pool_lacks(kind):
    data = rb.simulate(n_topics=3, n_systems=4, depth=30, seed=1)
    pool = Pool.from_runs(data.runs, depth=5)
    deep = Pool.from_runs(data.runs, depth=30)
    outside = [d for d in deep.docnos if d not in set(pool.docnos)][:4]
    other = {t: {d: 1 for d in outside if d in data.qrels[t]} | {"nowhere": 0} for t in pool.topics}
    before = Qrels(other)
    begun = before if kind == "qrels" else Judgments.from_qrels(pool, before)
    result = build(pool, data.qrels, "mtc", confidence=None, budget=12, judgments=begun)
    assert len(result.steps) == 12
    for step in result.steps:
        assert step.grade == data.qrels[step.topic].get(step.docno, 0)
    missing = {(step.topic, step.docno) for step in result.steps} & set(result.missing)
    assert missing == {
        (s.topic, s.docno) for s in result.steps if s.docno not in data.qrels[s.topic]
    }


def test_labels_of_judgments_made_before_are_kept():
    data = rb.simulate(n_topics=3, n_systems=4, depth=10, seed=1)
    pool = Pool.from_runs(data.runs, depth=10)
    pairs = [(t, d, 1 - (g > 0)) for t in pool.topics for d, g in data.qrels[t].items()]
    topics, docnos, grades = zip(*pairs, strict=True)
    labels = rb.Labels.of(topics, docnos, ["llm"] * len(pairs), grades)
    begun = Judgments.none(pool).with_judge_labels(labels)
    result = build(pool, data.qrels, "hierarchical:map", confidence=None, budget=2, judgments=begun)
    assert result.judgments.judge_labels is not None
    again = build(pool, data.qrels, "hierarchical:map", confidence=None, budget=2, labels=labels)
    assert chosen(again) == chosen(result)


def test_judgments_made_before_are_of_one_level_and_no_design():
    pool = pool_of({"1": ["A"], "2": ["B"]}, {"1": ["C"], "2": ["D"]})
    truth = judged_everything(pool, grade=2)
    before = Judgments.from_qrels(pool, Qrels({"1": {"A": 2}}), relevance_level=1)
    with pytest.raises(InputError, match="made before count grades from 1 on as relevant"):
        build(pool, truth, "mtc", Estimand(relevance_level=2), judgments=before)
    design = rb.HoldOutDesign(pool.topics, ("x", "y"), [[1, 1], [1, 0]])
    by = {"budget": 2, "hold_out": design, "groups": {"s0": "x", "s1": "y"}}
    with pytest.raises(InputError, match="does not go on from judgments made before"):
        build(pool, truth, "mtc", judgments=before, **by)


def test_the_floor_of_an_algorithm_is_overruled():
    pool = pool_of({"1": ["A"], "2": ["B"]}, {"1": ["C"], "2": ["D"]})
    truth = judged_everything(pool)
    two = build(pool, truth, "uniform", confidence=None, budget=2)
    assert [step.topic for step in two.steps] == ["1", "2"]
    none = build(pool, truth, "uniform", confidence=None, budget=2, floor=0)
    assert [step.topic for step in none.steps] == ["1", "1"]


def test_documents_missing_from_the_truth_are_nonrelevant_and_reported():
    pool = pool_of({"1": ["A", "B"], "2": ["E"]}, {"1": ["C", "D"], "2": ["F"]})
    truth = Qrels({"1": {"A": 2, "C": -1, "D": 1}})
    result = build(pool, truth, "mtc", Estimand(relevance_level=2), confidence=None)
    assert result.judgments.n_judged == pool.n_documents
    assert sorted(result.missing) == [("1", "B"), ("1", "C"), ("2", "E"), ("2", "F")]
    assert result.judgments.relevant.tolist() == [1.0, 0.0]
    assert "4 missing" in repr(result)
    meta = json.loads(json.dumps(result.meta()))
    assert meta["judged_for"] == ["s0", "s1"]
    assert meta["topics"] == {
        "1": {"judged": 4, "relevant": 1},
        "2": {"judged": 2, "relevant": 0},
    }
    assert (meta["algorithm"], meta["judged"], meta["relevant"]) == ("mtc", 6, 1)
    assert (meta["reason"], meta["confidence"]) == (result.reason, result.confidence)
    assert len(meta["missing"]) == 4


def test_a_topic_with_no_documents_and_one_system_without_a_topic():
    pool = pool_of({"1": ["A"], "2": []}, {"1": ["B"], "3": ["C"]})
    result = build(pool, judged_everything(pool, grade=1), "mtc", confidence=0.999, floor=1)
    assert set(chosen(result)) == {("1", "A"), ("1", "B"), ("3", "C")}
    assert result.differences[0] < 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_seed_gives_the_same_session(rng, cases, algorithm):
    pool = cases.pool(rng, systems=3, topics=5, documents=20, length=10)
    truth = cases.truth(rng, pool)
    one = build(pool, truth, algorithm, budget=40, seed=5)
    two = build(pool, truth, algorithm, budget=40, seed=5)
    assert one.steps == two.steps
    assert one.reason == two.reason


def test_several_systems_end_when_the_least_sure_pair_is_sure(rng, cases):
    pool = cases.pool(rng, systems=4, topics=8, documents=20, length=10)
    result = build(pool, cases.truth(rng, pool), "mtc", confidence=0.8)
    p = np.where(result.judgments.judged, result.judgments.labels, 0.5)
    confidence = JudgingState(result.judgments, p).confidence()
    assert len(confidence) == 6
    assert result.reason == "reached"
    assert result.confidence == pytest.approx(confidence.min(), abs=1e-9)
    assert confidence.min() >= 0.8


def test_a_model_is_fitted_at_ten_judgments_and_every_ten(rng, cases, monkeypatch):
    from rtc_bayes.judging.judges import weighted as module

    fits = []

    def recorded(model, method, judgments, seed=0):
        fits.append((judgments.n_judged, seed))
        estimated = real(model, method, judgments, seed)
        assert len(estimated.p) == judgments.pool.n_documents
        return estimated

    real = module.estimate
    monkeypatch.setattr(module, "estimate", recorded)
    pool = cases.pool(rng, topics=6, documents=30, length=10)
    truth = cases.truth(rng, pool)
    build(pool, truth, "rtc:map", confidence=None, budget=35)
    assert [n for n, _ in fits] == [10, 20, 30]
    assert len({seed for _, seed in fits}) == 3
    fits.clear()
    reference = build(pool, truth, "mtc", confidence=None, budget=13).judgments
    session = JudgingSession(reference, "rtc:map", confidence=None, budget=12)
    while (document := session.next()) is not None:
        session.observe(document, 0.0)
    assert [n for n, _ in fits] == [13, 23]
    assert session.judgments.n_judged == 25
    assert session.judgments.order[:13].tolist() == reference.order.tolist()


def test_a_method_that_draws_is_fitted_the_more_rarely_the_more_is_judged(rng, cases, monkeypatch):
    from rtc_bayes.judging.judges import weighted as module

    fits = []

    def recorded(model, method, judgments, sampling):
        assert method == "laplace"
        fits.append(judgments.n_judged)
        return real(model, "map", judgments, sampling)

    real = module.estimate
    monkeypatch.setattr(module, "estimate", recorded)
    monkeypatch.setattr(module, "REFIT_GROWTH", 0.5)
    pool = cases.pool(rng, topics=6, documents=30, length=10)
    truth = cases.truth(rng, pool)
    build(pool, truth, "hierarchical:laplace", confidence=None, budget=70)
    assert fits == [10, 20, 30, 45, 68]


def test_a_fit_of_too_few_draws_is_drawn_again_once(rng, cases, monkeypatch):
    from rtc_bayes.judging.judges import weighted as module

    asked = []

    def failing(model, method, judgments, sampling):
        asked.append(sampling.draws)
        if sampling.draws < enough:
            raise FitError("too few draws")
        return real(model, "map", judgments, sampling)

    real = module.estimate
    monkeypatch.setattr(module, "estimate", failing)
    pool = cases.pool(rng, topics=6, documents=30, length=10)
    truth = cases.truth(rng, pool)
    few = module.SAMPLING.draws
    enough = 4 * few
    build(pool, truth, "rtc:cut", confidence=None, budget=11)
    assert asked == [few, 4 * few]
    enough += 1
    for algorithm, tried in (("rtc:cut", 2), ("rtc:map", 1)):
        asked.clear()
        with pytest.raises(FitError):
            build(pool, truth, algorithm, confidence=None, budget=11)
        assert len(asked) == tried


@pytest.mark.parametrize("held_out", [False, True])
def test_judging_goes_on_after_a_fit_that_failed(rng, cases, monkeypatch, held_out):
    from rtc_bayes.judging.judges import weighted as module

    def failing(*asked):
        raise FitError("no fit")

    pool = cases.pool(rng, topics=6, documents=30, length=10)
    none = Judgments.none(pool)
    if held_out:
        groups = {name: name for name in pool.systems}
        nobody = np.ones((pool.n_systems, pool.n_topics))
        design = HoldOutDesign(pool.topics, pool.systems, nobody)
        session = HoldOutSession(none, "rtc:map", design, groups, budget=15)
    else:
        session = JudgingSession(none, "rtc:map", confidence=None, budget=15)
    with monkeypatch.context() as patched:
        patched.setattr(module, "estimate", failing)
        for _ in range(9):
            session.observe(session.next(), 1.0)
        tenth = session.next()
        with pytest.raises(FitError):
            session.observe(tenth, 0.0)
    assert session.judgments.n_judged == len(session.steps) == 10
    while (document := session.next()) is not None:
        assert document != tenth
        session.observe(document, 0.0)
    assert (session.reason, session.judgments.n_judged) == ("budget", 15)


def test_until_a_model_is_fitted_nothing_is_estimated(rng, cases):
    pool = cases.pool(rng, topics=6, documents=30, length=10)
    truth = cases.truth(rng, pool)
    uninformed = build(pool, truth, "mtc[weight=influence]", confidence=None, budget=10)
    model = build(pool, truth, "rtc:map", confidence=None, budget=11)
    assert chosen(model)[:10] == chosen(uninformed)


def test_a_session_takes_other_documents_and_noisy_labels():
    pool = pool_of({"1": ["A", "B"]}, {"1": ["C", "D"]})
    session = JudgingSession(Judgments.none(pool), "mtc", confidence=None)
    assert session.next() == session.next()
    other = int(pool.locate("1", ["D"])[0])
    session.observe(other, 0.7)
    assert session.steps[0].weight == 0.0
    for document, label, message in (
        (other, 1.0, "judged already"),
        (session.next(), 1.5, "outside"),
        (99, 1.0, "no document"),
    ):
        with pytest.raises(InputError, match=message):
            session.observe(document, label)
    while (document := session.next()) is not None:
        session.observe(document, 1.0)
    assert session.reason == "exhausted"
    assert f"JudgingSession(mtc, {pool.n_documents} judged, confidence" in repr(session)
    resumed = JudgingSession(session.judgments.keep(session.judgments.order[:2]), "mtc")
    assert "JudgingSession(mtc, 2 judged, 0 in this session, confidence" in repr(resumed)
    resumed.observe(resumed.next(), 1.0)
    assert "3 judged, 1 in this session, confidence" in repr(resumed)
    # the noisy label is not a certainty
    assert 0.5 < session.confidence < 1.0
    assert "exhausted" in repr(session)


EVERY_KIND = [*ALGORITHMS, "pool", "mtf", "maxmean", "active", "rankvar", "sample"]


@pytest.mark.parametrize("algorithm", EVERY_KIND)
def test_a_grade_of_minus_one_sets_the_document_aside(rng, cases, algorithm):
    """It was refused, and next() went on returning the document."""
    pool = cases.pool(rng, topics=3, documents=14, length=7)
    session = JudgingSession(Judgments.none(pool), algorithm, budget=1000)
    aside, judged = [], []
    while (document := session.next()) is not None:
        assert document not in (*aside, *judged)
        if len(judged) == len(aside):
            session.observe(document, 0.0, -1)
            aside.append(document)
        else:
            session.observe(document, float(len(judged) % 2))
            judged.append(document)
    assert len(aside) > 3
    assert [session.pool.docnos[d] for d in judged] == [step.docno for step in session.steps]
    made = session.judgments
    assert made.aside_documents.tolist() == sorted(aside)
    assert made.order.tolist() == judged
    assert len(made.to_qrels().negative) == len(aside)
    if session.reason == "exhausted":
        assert len(aside) + len(judged) == pool.n_documents
    for again in ({"grade": -1}, {}):
        with pytest.raises(InputError, match="is one that nobody can judge"):
            session.observe(aside[0], 0.0, **again)
    with pytest.raises(InputError, match="is judged already"):
        session.observe(judged[0], 0.0, -1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"confidence": 0.5},
        {"confidence": 1.01},
        {"budget": -1},
        {"floor": -1},
        {"relevance_level": 2},
        {"estimand": "ERR@10"},
        {"estimand": Estimand(depth=7)},
        {"estimand": Estimand(topics="judged")},
    ],
)
def test_arguments_out_of_range(arguments):
    pool = pool_of({"1": ["A"]}, {"1": ["B"]})
    with pytest.raises(InputError):
        build(pool, judged_everything(pool), "mtc", **arguments)


def test_nothing_to_compare():
    pool = pool_of({"1": ["A"]})
    with pytest.raises(InputError, match="systems apart"):
        build(pool, judged_everything(pool), "mtc")
    with pytest.raises(InputError, match="no topic in common"):
        build(pool_of({"1": ["A"]}, {"1": ["B"]}), Qrels({"7": {"A": 1}}), "mtc")


def test_trec8_pair(trec8):
    files = sorted((trec8 / "runs").iterdir())
    runs = read_runs(*(str(files[i]) for i in (10, 90)))
    pool = Pool.from_runs(runs, depth=100)
    qrels = read_qrels(trec8 / "qrels.txt.gz")
    result = build(pool, qrels, "mtc")
    assert result.reason in ("reached", "proved")
    assert 10 < result.judgments.n_judged < pool.n_documents
    # the state kept through all judgments is the one made anew from them
    p = np.where(result.judgments.judged, result.judgments.labels, 0.5)
    fresh = JudgingState(result.judgments, p)
    assert result.confidence == pytest.approx(float(fresh.confidence()[0]), abs=1e-10)
    assert build(pool, qrels, "rtc:map").confidence >= 0.95


def test_a_confidence_does_not_end_judging_before_the_least(rng, cases):
    pool = cases.pool(rng, topics=4, documents=20, length=10)
    truth = cases.truth(rng, pool)
    soon = build(pool, truth, "mtc", confidence=0.6)
    later = build(pool, truth, "mtc[least=4.7]", confidence=0.6)
    assert (soon.reason, later.reason) == ("reached", "reached")
    assert soon.judgments.n_judged < 19 == later.judgments.n_judged
    assert soon.steps == later.steps[: len(soon.steps)]
    assert build(pool, truth, "mtc[least=4.7]", confidence=0.6, budget=7).reason == "budget"


def test_a_sure_session_without_documents_left_has_reached_its_confidence():
    better, worse = ({str(t): [f"{name}{t}"] for t in range(4)} for name in "RN")
    truth = Qrels({t: {f"R{t}": 1, f"N{t}": 0} for t in better})
    result = build(pool_of(better, worse), truth, "mtc[least=3]")
    assert (result.reason, result.confidence) == ("reached", 1.0)


def test_the_confidence_with_the_residual_is_that_of_a_comparison():
    """By the normal and plug-in moments, as judging goes by; judging does not wait for it."""
    made = rb.simulate(n_topics=4, n_systems=3, seed=2)
    pool = rb.Pool.from_runs(made.runs, depth=10)
    estimand = rb.Estimand(scope="pool", residual=0.05)
    result = rb.build(pool, made.qrels, "mtc", estimand, budget=20)
    fitted = rb.fit(pool, result.judgments, model="uniform")
    exact = rb.compare(pool, fitted, estimand, moments="plugin", form="normal")
    assert result.compared == pytest.approx(exact.confidence.min(), abs=1e-6)
    assert result.compared < result.confidence
    assert f"and {result.compared:.3f} with the residual" in repr(result)
    without = rb.build(pool, made.qrels, "mtc", rb.Estimand(scope="pool"), budget=20)
    assert without.compared == pytest.approx(without.confidence)
    assert "residual" not in repr(without)


def test_documents_are_chosen_for_the_topics_of_the_estimand():
    runs = (
        {"1": ["A", "B", "C"], "2": ["D", "E", "F"]},
        {"1": ["C", "B", "A"], "2": ["F", "E", "D"]},
    )
    pool = pool_of(*runs)
    result = build(pool, judged_everything(pool), "mtc", Estimand(topics=["2"]), budget=2)
    assert {step.topic for step in result.steps} == {"2"}
    assert result.judgments.pool.topics == ("2",)
    chosen = next_documents(pool, Judgments.none(pool), Estimand(topics=["2"]), algorithm="mtc")
    assert {document.topic for document in chosen} == {"2"}


@pytest.mark.parametrize("algorithm", ["mtc", "rtc:map"])
def test_systems_that_tie_are_not_told_apart(algorithm):
    """Differences of fifths that sum to 0 but for rounding, with nothing unknown."""
    data = rb.simulate(n_topics=5, n_systems=2, depth=60, seed=2)
    pool = Pool.from_runs(data.runs, depth=20)
    about = Estimand("P@5", scope="pool", depth=20)
    result = build(pool, data.qrels, algorithm, about, confidence=0.95)
    pair = rb.compare(pool, rb.fit(pool, result.judgments, model="uniform"), about).pairs[0]
    assert pair.p_equal == 1.0
    assert (result.confidence, result.reason) == (0.5, "no document has weight")


@pytest.mark.parametrize("measure", ["R@1", "AP@1", "nDCG@2"])
def test_what_is_below_the_cutoff_of_a_ratio_counts(measure):
    """Relevant documents below the cutoff decide between the topics."""
    lists = {"1": "amcde", "2": "bn"}, {"1": "fmcde", "2": "gn"}
    pool = pool_of(*lists)
    top = Qrels({"1": {"a": 1, "f": 0, "m": 0}, "2": {"b": 0, "g": 1, "n": 0}})
    judgments = Judgments.from_qrels(pool, top, judged_for=pool.systems)
    session = JudgingSession(judgments, "mtc", measure=measure, confidence=0.999)
    assert session.confidence < 0.999
    offered = session.next()
    assert pool.docnos[offered] in "cde"
    every = Qrels({"1": {**top["1"], "c": 1, "d": 1, "e": 1}, "2": top["2"]})
    by_all = build(pool, every, "mtc", Estimand(measure, scope="pool"), judgments=judgments)
    truth = build(pool, every, "pool", Estimand(measure, scope="pool"), budget=pool.n_documents)
    scores = rb.compare(pool, rb.fit(pool, truth.judgments), Estimand(measure, scope="pool"))
    assert by_all.confidence > 0.95
    assert (by_all.differences[0] > 0) == (scores.expected[0] > scores.expected[1])


def test_judging_that_needs_no_judgment_says_why():
    lists = {"1": "abcdefghij", "2": "klmnopqrst"}
    pool = pool_of(lists, {"1": "a", "2": "k"})
    result = build(pool, judged_everything(pool), "rtc:map", Estimand(scope="pool"))
    assert (result.judgments.n_judged, result.reason) == (0, "reached")
    assert "No judgment was made: with p = 0.5 for every document" in repr(result)
    asked = build(pool, judged_everything(pool), "rtc:map", Estimand(scope="pool"), floor=1)
    assert asked.judgments.n_judged >= 2
    assert "No judgment was made" not in repr(asked)


def test_a_confidence_before_the_first_fit_says_so():
    data = rb.simulate(n_topics=4, n_systems=3, seed=2)
    pool = rb.Pool.from_runs(data.runs, depth=10)
    for budget, algorithm, before in ((5, "rtc:map", True), (10, "rtc:map", False)):
        result = build(pool, data.qrels, algorithm, budget=budget)
        assert result.before_fit is result.meta()["before_fit"] is before
        assert ("The model is first fitted at 10 judgments" in repr(result)) is before
    # each sub-pool of a hold-out design fits to its own judgments
    groups = dict(zip(pool.systems, "xyz", strict=True))
    design = rb.HoldOutDesign(pool.topics, ("x", "y", "z"), ~np.eye(3, 4, dtype=bool))
    for budget, before in ((18, True), (60, False)):
        held = build(pool, data.qrels, "rtc:map", budget=budget, hold_out=design, groups=groups)
        assert held.before_fit is before
    # judges that fit no model have nothing to wait for
    assert not build(pool, data.qrels, "mtc", budget=5).before_fit


def test_judging_goes_on_by_the_relevance_level_of_what_was_judged():
    pool = pool_of({"1": "abcdef"}, {"1": "fedcba"})
    truth = Qrels({"1": dict(zip("abcdef", [0, 1, 2, 3, 1, 2], strict=True))})
    about = Estimand(scope="pool")
    options = {"confidence": None, "budget": 2}
    two = build(pool, truth, "mtc", Estimand(scope="pool", relevance_level=2), **options)
    for before in (two.judgments, two.judgments.to_qrels()):
        more = build(pool, truth, "mtc", about, judgments=before, **options)
        assert more.judgments.relevance_level == 2
        assert more.judgments.n_judged == 4
