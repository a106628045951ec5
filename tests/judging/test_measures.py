"""Judging for other measures than average precision: moments, weights, proofs and commands."""

from itertools import product

import numpy as np
import pytest
from pools import pool_of

import rtc_bayes as rb
from rtc_bayes import Estimand, InputError, Judgments
from rtc_bayes.judging.judges import Chooser
from rtc_bayes.judging.state import JudgingState
from rtc_bayes.judging.stopping import SignProof
from rtc_bayes.judging.weights import WEIGHTS, evr, reuse, weighed_by, weighed_by_or_ap
from rtc_bayes.measures import parse_measure
from rtc_bayes.measures.analytic import on_topic

LINEAR = ["P@3", "DCG@4", "RBP(p=0.7)"]
RATIOS = ["R@3", "nDCG@3", "nDCG"]
MEASURES = [*LINEAR, *RATIOS, "RR", "RR@2", "AP@3"]


@pytest.mark.parametrize("systems", [2, 4])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_session_has_the_exact_moments_of_the_measure(rng, cases, measure, systems):
    """After every judgment, as a comparison has them; of draws, with what they differ by."""
    pool = cases.pool(rng, systems=systems)
    draws = rng.random((3, pool.n_documents))
    for p in (draws[:1], draws):
        known = p.copy()
        state = JudgingState(Judgments.none(pool), known, measure)
        for document in rng.permutation(pool.n_documents)[:9]:
            known[:, document] = rng.integers(2)
            state.observe(int(document), known[0, document])
            mean = known.mean(axis=0)
            of_mean = rb.moments(pool, mean, measure=measure)
            each, at_mean = (
                rb.moments(pool, q, measure=measure, moments="plugin").difference_expected
                for q in (known, mean)
            )
            state.restart(known)
            expected, variance = state.moments()
            shift = each.mean(axis=0) - at_mean[0]
            spread = each.var(axis=0, ddof=1) if len(p) > 1 else 0.0
            np.testing.assert_allclose(expected, of_mean.difference_expected[0] + shift, atol=1e-8)
            np.testing.assert_allclose(variance, of_mean.difference_variance[0] + spread, atol=1e-8)


@pytest.mark.parametrize("measure", MEASURES)
def test_judgments_one_by_one_are_those_at_once(rng, cases, measure):
    pool = cases.pool(rng, systems=3)
    p = rng.random(pool.n_documents)
    state = JudgingState(Judgments.none(pool), p, measure)
    chosen = rng.permutation(pool.n_documents)[:8]
    labels = rng.integers(2, size=8).astype(float)
    for document, label in zip(chosen, labels, strict=True):
        state.moments()
        state.observe(int(document), label)
    at_once = JudgingState(Judgments.from_labels(pool, chosen, labels), p, measure)
    cases.check_same(state, at_once)


@pytest.mark.parametrize("systems", [2, 3])
@pytest.mark.parametrize("measure", MEASURES)
def test_evr_is_the_variance_that_a_judgment_takes_off(rng, cases, measure, systems):
    """Exactly: the variance before less the expected one."""
    pool = cases.pool(rng, systems=systems, topics=1)
    p = rng.random(pool.n_documents)
    state = JudgingState(Judgments.none(pool), p, measure)
    before, weights = state.moments()[1].sum(), evr(state.topics[0])
    own = reuse(state.topics[0])
    for document in range(pool.n_documents):
        left = left_of_scores = 0.0
        for label, chance in ((0.0, 1.0 - p[document]), (1.0, p[document])):
            after = JudgingState(Judgments.from_labels(pool, [document], [label]), p, measure)
            left += chance * after.moments()[1].sum()
            known = np.where(np.arange(p.size) == document, label, p)
            left_of_scores += chance * scores_of(pool, known, measure)[1]
        assert weights[document] == pytest.approx(before - left, abs=1e-8)
        taken = scores_of(pool, p, measure)[1] - left_of_scores
        assert own[document] == pytest.approx(taken, abs=1e-8)


def scores_of(pool, p, measure):
    """Expected scores, and the sum of the variances of the systems' scores."""
    moments = rb.moments(pool, p, measure=measure)
    return moments.mean_expected[0], moments.mean_variance[0].sum()


@pytest.mark.parametrize(("measure", "exact"), [("nDCG@3", 0.031), ("R@3", 0.057)])
def test_a_topic_where_next_to_nothing_is_relevant_is_not_unsure(measure, exact):
    """By plug-in moments either: what counts is divided by one document at least."""
    pool = pool_of({"A": {"1": "abcdefgh"}, "B": {"1": "hgfedcba"}}, depth=8)
    p = np.full(8, 0.01)
    own, plugin = (
        rb.moments(pool, p, measure=measure, moments=moments).difference_variance[0, 0]
        for moments in ("exact", "plugin")
    )
    assert own == pytest.approx(exact, abs=0.001)
    assert plugin == pytest.approx(own, rel=0.06)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_topic_without_documents_tells_nothing(measure):
    pool = pool_of({"A": {"1": "ab", "2": ""}, "B": {"1": "ba", "2": ""}, "C": {"2": "c"}})
    both = JudgingState(Judgments.none(pool.select(["A", "B"])), np.full(2, 0.5), measure)
    for topic in both.topics:
        for weight in WEIGHTS.values():
            assert np.isfinite(weight(topic)).all()
        assert topic.bounds(0)[0] <= 0.0 <= topic.bounds(0)[1]
    assert np.isfinite(both.moments()).all()
    alone = rb.moments(pool.select(["A", "B"]), [0.5, 0.5], measure=measure, moments="plugin")
    assert np.isfinite(alone.mean_expected).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_bounds_hold_for_every_completion(rng, cases, measure):
    proofs = 0
    for _ in range(40):
        pool = cases.pool(rng, topics=1, documents=7, length=5)
        labels = (rng.random(pool.n_documents) < 0.5).astype(float)
        labels[rng.random(labels.size) < 0.4] = np.nan
        judged, free = np.flatnonzero(~np.isnan(labels)), np.flatnonzero(np.isnan(labels))
        state = JudgingState(
            Judgments.from_labels(pool, judged, labels[judged]), rng.random(labels.size), measure
        )
        outcomes = np.repeat(np.nan_to_num(labels)[:, None], 2 ** len(free), axis=1)
        outcomes[free] = np.array(list(product((0.0, 1.0), repeat=len(free)))).T
        scores = on_topic(parse_measure(measure), pool.lists(0), len(labels)).score(
            outcomes.astype(np.int8)
        )
        values = scores[0] - scores[1]
        lowest, highest = state.topics[0].bounds(0)
        assert lowest <= values.min() + 1e-12
        assert highest >= values.max() - 1e-12
        if measure in LINEAR:
            assert lowest == pytest.approx(values.min(), abs=1e-12)
            assert highest == pytest.approx(values.max(), abs=1e-12)
        if SignProof(state).holds(0):
            proofs += 1
            assert values.min() > 0 or values.max() < 0
    assert proofs > 0 or measure.startswith("RR")


@pytest.mark.parametrize("algorithm", ["mtc[weight=evr]", "rtc:map", "hierarchical:map"])
def test_precision_at_a_cutoff_is_judged_to_the_cutoff(algorithm):
    """No document below it is asked for, and all of them settle the difference."""
    simulated = rb.simulate(n_topics=3, n_systems=2, seed=3)
    pool = rb.Pool.from_runs(simulated.runs, depth=30)
    result = rb.build(pool, simulated.qrels, algorithm, "P@5", confidence=1.0)
    first = np.concatenate(
        [np.where(pool.ranks(t) > 0, pool.ranks(t), 99).min(axis=0) for t in range(3)]
    )
    assert result.judgments.n_judged > 0
    assert (first[result.judgments.order] <= 5).all()
    assert result.reason in ("reached", "proved", "no document has weight")
    scores = rb.evaluate(simulated.runs, simulated.qrels, ["P@5"]).mean_frame().set_index("system")
    true = np.subtract(*scores.loc[list(pool.systems), "P@5"])
    if result.reason != "proved":
        assert result.differences[0] == pytest.approx(true, abs=1e-12)
    assert np.sign(result.differences[0]) == np.sign(true)


def test_a_judge_of_ones_own_is_told_the_measure_if_it_asks():
    simulated = rb.simulate(n_topics=2, n_systems=3, seed=1)
    pool = rb.Pool.from_runs(simulated.runs, depth=5)
    told = []

    class InOrder(Chooser):
        def choose(self, count):
            return [(int(document), 1.0) for document in self.unjudged()[:count]]

    class Deaf:
        name, has_confidence = "deaf", False

        def start(self, judgments, *, seed):
            return InOrder(judgments)

    class Asks(Deaf):
        def start(self, judgments, *, seed, measure):
            told.append(measure)
            return InOrder(judgments)

    for judge, measure in ((Deaf(), "ERR@20"), (Asks(), "P@5")):
        result = rb.build(pool, simulated.qrels, judge, measure, budget=2)
        assert result.judgments.n_judged == 2
        assert (result.measure, result.meta()["measure"]) == (measure, measure)
    assert told == ["P@5"]
    with pytest.raises(InputError, match="not chosen for ERR@20"):
        rb.build(pool, simulated.qrels, Asks(), "ERR@20", budget=2)


def test_what_documents_are_not_weighed_by_is_refused():
    simulated = rb.simulate(n_topics=3, n_systems=3, seed=1)
    pool = rb.Pool.from_runs(simulated.runs, depth=10)
    none = Judgments.none(pool)
    with pytest.raises(InputError, match=r"not chosen for ERR@20.*choose them for AP or nDCG"):
        rb.next_documents(pool, none, "ERR@20", algorithm="mtc")
    with pytest.raises(InputError, match="by the relevance level, not by rel=2"):
        rb.build(pool, simulated.qrels, "mtc", "P(rel=2)@5", budget=1)
    assert rb.build(pool, simulated.qrels, "ip", "Bpref", budget=1).judgments.n_judged == 1
    with pytest.raises(InputError, match="unknown"):
        weighed_by_or_ap("nDCG_10")
    assert weighed_by(rb.Estimand("P(rel=1)@5").measure) == weighed_by_or_ap("P(rel=1)@5")
    assert weighed_by_or_ap("ERR@20") == weighed_by_or_ap("P(rel=2)@5") == "AP"


def test_what_grades_counted_as_is_said():
    pool = pool_of({"A": {"1": "abcd"}, "B": {"1": "dcba"}}, depth=4)
    graded = rb.Qrels({"1": {"a": 3, "b": 1, "c": 2, "d": 0}})

    def said(measure, qrels=graded, level=2):
        about = Estimand(measure, scope="pool", relevance_level=level)
        return repr(rb.build(pool, qrels, "mtc", about, confidence=None, budget=4))

    assert said("AP").endswith("Grades from 2 on counted as relevant)")
    assert said("nDCG@2").endswith("Grades from 2 on counted as relevant)")
    assert "Grades" not in said("nDCG@2", rb.Qrels({"1": {"a": 1, "d": 0}}), 1)


def test_why_says_what_moves():
    pool = pool_of({"A": {"1": "abcd"}, "B": {"1": "dcba"}}, depth=4)
    judged = Judgments.none(pool)
    by_ap, by_p = (
        rb.next_documents(pool, judged, measure, algorithm="mtc", count=1)
        for measure in (Estimand(scope="pool"), Estimand("P@1", scope="pool"))
    )
    assert by_ap.weight_text == "by how much the judgment can move the numerator of the difference"
    assert by_p.weight_text == "by how much the judgment can move the difference"
    assert by_p[0].why == "systems differ: rank 1 in A, rank 4 in B"
    assert by_p[0].weight == pytest.approx(0.5)


def test_the_page_asks_for_no_document_where_all_that_counts_is_judged():
    simulated = rb.simulate(n_topics=3, n_systems=3, seed=2)
    pool = rb.Pool.from_runs(simulated.runs, depth=20)
    every = Judgments.from_qrels(pool, simulated.qrels, judged_for=pool.systems)
    ranks = [every.pool.ranks(t) for t in range(pool.n_topics)]
    some = every.keep(
        np.flatnonzero(np.concatenate([((r > 0) & (r <= 5)).any(axis=0) for r in ranks]))
    )
    assert len(some.judged_topics) == 3
    fit = rb.fit(pool, some, model="hierarchical:map")

    def page(measure):
        return rb.compare(pool, fit, measure).to_html(judgments=some, algorithm="hierarchical:map")

    assert "No document left can tell the systems apart." in page("P@5")
    assert "judge these documents" in page("AP")
    of_err = page("ERR@5")
    assert "judge these documents" in of_err
    assert "Documents are chosen for average precision." in of_err
    assert "chosen for average precision" not in page("nDCG@10")


@pytest.mark.parametrize("measure", ["R@3", "nDCG@3", "nDCG", "AP@3", "RR@2"])
@pytest.mark.parametrize("sure", [0.0, 1.0])
def test_a_document_of_which_a_model_is_sure_has_its_weight(rng, cases, measure, sure):
    """As one of which it is nearly sure."""
    pool = cases.pool(rng, systems=3, topics=1, documents=9, length=6)
    p = rng.random(pool.n_documents)
    p[:4] = sure
    exactly, nearly = (
        JudgingState(Judgments.none(pool), of, measure).topics[0].effect
        for of in (p, np.clip(p, 1e-9, 1.0 - 1e-9))
    )
    np.testing.assert_allclose(exactly, nearly, atol=1e-6)
    never = JudgingState(Judgments.none(pool), np.zeros(pool.n_documents), measure)
    assert (WEIGHTS["influence"](never.topics[0]) > 0.0).any()
