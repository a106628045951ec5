"""Graded judgments: grades kept, sampled and scored; brute force, ir-measures, and refusals."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest
from pools import pool_of
from qrels_scorer import QrelsScorer
from scipy.optimize import minimize_scalar
from topics import random_topic

import rtc_bayes as rb
from rtc_bayes.collection.grades import CONCENTRATION, GradeDistribution
from rtc_bayes.confidence.unseen import with_unseen
from rtc_bayes.errors import InputError
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.measures.sampled import scorer
from rtc_bayes.trials.complete import scores_by

RANKINGS = {"a": {"1": list("uvwxy")}, "b": {"1": list("ywuxv")}}
QRELS = rb.Qrels({"1": {"u": 3, "w": 1, "z": 2, "y": 0}})


def judged(level, qrels=QRELS, rankings=RANKINGS, p=None):
    """Judgments and relevance; with `p`, of documents u to z, grades go by it."""
    judgments = rb.Judgments.from_qrels(pool_of(rankings, depth=5), qrels, relevance_level=level)
    p = np.full(judgments.pool.n_documents, 0.3) if p is None else np.array(p)
    grades = judgments.grade_distribution(None if np.ptp(p) == 0.0 else p[None, None])
    p = np.where(judgments.judged, judgments.labels, p)
    return judgments, rb.Relevance.from_values(judgments.pool, p, grades=grades)


#: Of u to z; what is judged is u, w, y and z.
UNLIKE = (0.9, 0.3, 0.2, 0.7, 0.05, 0.8)


def chances(relevance, pool, slope=0.0):
    """Of each document {grade: probability}, from the class's formula written out anew."""
    level = 1 if relevance.grades.probabilities[0, 0, 1] == 0.0 else 2
    grades = list(QRELS["1"].values())

    def distribution(levels):
        counts = {g: grades.count(g) for g in levels}
        total = sum(counts.values())
        shared = {g: (n + 1) / (total + len(levels)) for g, n in counts.items()}
        c = CONCENTRATION
        odds = [
            logit(p) for p, d in zip(UNLIKE, "uvwxyz", strict=True) if QRELS["1"].get(d) in counts
        ]
        centre = (sum(odds) + c * np.mean(odds)) / (total + c)

        def of(p):
            weights = {
                g: (counts[g] + c * shared[g]) * math.exp(slope * g * (logit(p) - centre))
                for g in levels
            }
            return {g: weight / sum(weights.values()) for g, weight in weights.items()}

        return of

    of_relevant, of_nonrelevant = distribution(range(level, 4)), distribution(range(level))
    result = []
    for docno, p in zip(pool.docnos, relevance.values[0], strict=True):
        if docno in QRELS["1"]:
            result.append({QRELS["1"][docno]: 1.0})
        else:
            relevant, nonrelevant = of_relevant(p), of_nonrelevant(p)
            result.append(
                {g: p * q for g, q in relevant.items()}
                | {g: (1 - p) * q for g, q in nonrelevant.items()}
            )
    return result


def logit(p):
    return math.log(p / (1 - p))


def brute_force(relevance, pool, score):
    number = {docno: i for i, docno in enumerate(pool.docnos)}
    lists = [[number[d] for d in RANKINGS[s]["1"]] for s in pool.systems]
    rows, weights = [], []
    for grades, weight in oracle.grade_outcomes(chances(relevance, pool, relevance.grades.slope)):
        rows.append([score(ranking, grades) for ranking in lists])
        weights.append(weight)
    assert sum(weights) == pytest.approx(1.0)
    return np.array(rows), np.array(weights)


@pytest.mark.parametrize("p", [None, UNLIKE])
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize(
    ("measure", "score"),
    [
        ("nDCG@3", lambda ranking, grades: oracle.ndcg(ranking, grades, 3)),
        ("nDCG", oracle.ndcg),
        ("DCG@4", lambda ranking, grades: oracle.dcg(ranking, grades, 4)),
        ("ERR@4", lambda ranking, grades: oracle.expected_reciprocal_rank(ranking, grades, 4)),
    ],
)
def test_sampled_scores_of_grades_are_those_of_brute_force(measure, score, level, p):
    judgments, relevance = judged(level, p=p)
    assert (relevance.grades.slope == 0.0) == (p is None)
    scores, weights = brute_force(relevance, judgments.pool, score)
    mean, covariance = oracle.mean_and_covariance(scores, weights)
    pair = oracle.sign_probabilities(scores[:, 0] - scores[:, 1], weights)
    estimand = rb.Estimand(measure, scope="pool", topics=("1",))
    comparison = rb.compare(judgments.pool, relevance, estimand, outcomes=40_000)
    sd = np.sqrt(covariance.diagonal())
    np.testing.assert_allclose(comparison.expected, mean, atol=4.5 * sd.max() / 200)
    np.testing.assert_allclose(comparison.sd, sd, rtol=0.03)
    assert comparison.p_greater[0] == pytest.approx(pair[2], abs=0.012)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize(("name", "score"), [("AP", oracle.average_precision), ("RR", None)])
@pytest.mark.parametrize("rel", [1, 2, 3])  # of an estimand, 1 is the relevance level
@pytest.mark.parametrize("p", [None, UNLIKE])
def test_rel_has_moments_of_its_own(name, score, rel, level, p):
    judgments, relevance = judged(level, p=p)
    of = score or oracle.reciprocal_rank
    scores, weights = brute_force(
        relevance, judgments.pool, lambda r, grades: of(r, [int(g >= rel) for g in grades])
    )
    mean, covariance = oracle.mean_and_covariance(scores, weights)
    if rel > 1 or level == 1:
        estimand = rb.Estimand(f"{name}(rel={rel})", scope="pool", topics=("1",))
        comparison = rb.compare(judgments.pool, relevance, estimand)
        assert comparison.moments == "exact"
        np.testing.assert_allclose(comparison.expected, mean, atol=1e-8)
        np.testing.assert_allclose(comparison.sd, np.sqrt(covariance.diagonal()), atol=1e-8)
    direct = rb.moments(judgments.pool, relevance, measure=f"{name}(rel={rel})")
    np.testing.assert_allclose(direct.mean_expected[0], mean, atol=1e-9)


def test_the_slope_is_the_likeliest():
    """Of the likelihood written out anew: each grade by all other judgments, and a normal prior."""
    rng = np.random.default_rng(1)
    pool = pool_of({"a": {str(t): [f"d{i}" for i in range(30)] for t in range(8)}}, depth=30)
    p = rng.uniform(0.05, 0.95, pool.n_documents)
    grades = {}
    for t in range(8):
        for docno, value in zip(pool.docnos[pool.documents(t)], p[pool.documents(t)], strict=True):
            if rng.random() < value:
                high = rng.random() < 1 / (1 + math.exp(-1.2 * logit(value)))
                grades.setdefault(str(t), {})[docno] = 2 if high else 1
    judgments = rb.Judgments.from_qrels(pool, rb.Qrels(grades))
    rows = [
        (t, grade, logit(p[pool.locate(t, [docno])[0]]))
        for t, of_topic in grades.items()
        for docno, grade in of_topic.items()
    ]
    mean, c = np.mean([odds for *_, odds in rows]), CONCENTRATION
    shared = {g: (sum(h == g for _, h, _ in rows) + 1) / (len(rows) + 2) for g in (1, 2)}

    def surprise(slope):
        total = slope**2 / 2
        for i, (topic, grade, odds) in enumerate(rows):
            others = [(h, x) for j, (t, h, x) in enumerate(rows) if t == topic and j != i]
            above = odds - (sum(x for _, x in others) + c * mean) / (len(others) + c)
            weights = {
                g: (sum(h == g for h, _ in others) + c * shared[g]) * math.exp(slope * g * above)
                for g in (1, 2)
            }
            total -= math.log(weights[grade] / sum(weights.values()))
        return total

    best = minimize_scalar(surprise, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9})
    slope = judgments.grade_distribution(p[None, None]).slope
    assert slope == pytest.approx(best.x, abs=1e-6)
    # the standard error of so many judgments, and the prior, leave it within this of the truth
    assert 0.7 < slope < 1.6


def test_every_judged_document_has_a_probability():
    judgments, _ = judged(1)
    n = judgments.pool.n_documents
    for p in (np.full((1, 1, n + 1), 0.5), np.full((1, 1, n), np.nan)):
        with pytest.raises(InputError, match=r"judgments\.pool"):
            judgments.grade_distribution(p)
    with pytest.raises(InputError, match="1 judged document without a probability"):
        GradeDistribution.from_qrels(rb.Qrels({"1": {"a": 2, "b": 1}}), relevance={"1": {"a": 0.5}})


def test_a_judged_document_is_predicted_without_its_own_label():
    """Two draws that are alike before a document's own label: its p is their mean again."""
    judgments, _ = judged(1)
    draws = np.full((1, 2, 6), 0.5)
    draws[0, :, 0] = 0.8, 0.2
    chance = np.array([0.8, 0.2])  # of u being relevant, as it is: the posterior's draws
    often = np.repeat(draws, (1000 * chance).astype(int), axis=1)
    by_draws = judgments.grade_distribution(often)
    plain = draws.mean(axis=1)[:, None]
    np.testing.assert_allclose(by_draws.centre, judgments.grade_distribution(plain).centre)


@pytest.mark.parametrize(
    ("measure", "tolerance"),
    [("nDCG@5", 1e-12), ("nDCG", 1e-12), ("ERR@5", 5.1e-6), ("nDCG(dcg='exp-log2')@5", 5e-6)],
)
def test_scores_of_grades_are_those_of_ir_measures(measure, tolerance):
    """Of sampled qrels; gdeval prints five digits."""
    rng = np.random.default_rng(2)
    topic = random_topic(rng, 12)
    grades = (rng.integers(0, 4, (12, 40)) * (rng.random((12, 40)) < 0.4)).astype(np.int8)
    for lists in (topic.complete, topic.with_holes):
        ours = scorer(parse_measure(measure), lists, 12, graded=True)(grades)
        theirs = QrelsScorer(measure, lists).score(grades)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("measure", ["nDCG", "nDCG@3", "ERR@3", "AP(rel=2)", "P(rel=3)@3"])
def test_complete_grades_give_the_true_scores(measure, level):
    complete = rb.Qrels({"1": {**QRELS["1"], "v": 0, "x": 2}, "2": {"p": 2, "q": 1}})
    rankings = {s: {**of, "2": ["q", "p"]} for s, of in RANKINGS.items()}
    judgments, relevance = judged(level, complete, rankings)
    runs = rb.Runs([rb.Run.from_rankings(s, of) for s, of in rankings.items()])
    truth = rb.evaluate(runs, complete, [measure], relevance_level=level).mean[measure]
    estimand = rb.Estimand(measure, scope="pool", relevance_level=level)
    comparison = rb.compare(judgments.pool, relevance, estimand, outcomes=10)
    tolerance = 5e-6 if measure.startswith("ERR") else 1e-12
    np.testing.assert_allclose(comparison.expected, truth, atol=tolerance)
    np.testing.assert_allclose(scores_by(judgments, estimand)[0], truth, atol=tolerance)


def test_unjudged_documents_are_of_grade_0_in_scores_by_judgments():
    judgments, _ = judged(2)
    estimand = rb.Estimand("nDCG", relevance_level=2)
    runs = rb.Runs([rb.Run.from_rankings(s, of) for s, of in RANKINGS.items()])
    truth = rb.evaluate(runs, QRELS, ["nDCG"]).mean["nDCG"]
    np.testing.assert_allclose(scores_by(judgments, estimand)[0], truth, atol=1e-12)


def test_binary_judgments_leave_graded_measures_as_they_were():
    binary = rb.Qrels({"1": {"u": 1, "w": 0}})
    judgments, relevance = judged(1, binary)
    assert relevance.grades is None
    comparison = rb.compare(judgments.pool, relevance, "nDCG@3")
    assert comparison.moments == "exact"


def test_grades_stay_with_judgments_and_fits(tmp_path):
    judgments, _ = judged(2)
    assert judgments.to_qrels() == QRELS
    assert dict(judgments.keep(judgments.order[:2]).to_qrels()["1"]) == {"u": 3, "w": 1}
    wider = judgments.pool.with_documents({"1": ["a new one"]})
    assert judgments.on(wider).to_qrels() == QRELS
    judgments.save(tmp_path / "judgments.nc")
    again = rb.Judgments.load(tmp_path / "judgments.nc")
    assert again.to_qrels() == QRELS
    assert again.relevance_level == 2
    fit = rb.fit(judgments.pool, judgments, model="rtc")
    assert fit.relevance.grades.slope != 0.0
    fit.save(tmp_path / "fit.nc")
    loaded = rb.Fit.load(tmp_path / "fit.nc")
    for one in (fit, loaded):
        comparisons = rb.compare(judgments.pool, one, ["nDCG", "AP(rel=3)"], outcomes=50)
        assert comparisons["nDCG"].moments == "montecarlo"
    np.testing.assert_array_equal(
        loaded.relevance.grades.probabilities, fit.relevance.grades.probabilities
    )
    assert loaded.relevance.grades.slope == fit.relevance.grades.slope
    np.testing.assert_array_equal(loaded.relevance.grades.centre, fit.relevance.grades.centre)
    assert loaded.judgments.to_qrels() == QRELS


def test_a_file_without_a_slope_has_grades_by_topic_alone():
    _, relevance = judged(2, p=UNLIKE)
    older = relevance.to_xarray().drop_vars(["grade_slope", "grade_centre"])
    loaded = rb.Relevance.from_xarray(older).grades
    assert loaded.slope == 0.0
    np.testing.assert_array_equal(loaded.probabilities, relevance.grades.probabilities)


def test_building_keeps_the_grades_of_the_truth():
    pool = pool_of(RANKINGS, depth=5)
    result = rb.build(pool, QRELS, "ip", rb.Estimand(relevance_level=2), budget=4)
    for docno, grade in result.judgments.to_qrels()["1"].items():
        assert grade == QRELS["1"].get(docno, 0)
    assert result.judgments.relevance_level == 2


def test_unseen_documents_have_a_gain_only_if_relevant():
    judgments, relevance = judged(2)
    pool, values = with_unseen(judgments.pool, relevance.values)
    unseen = relevance.grades.on(pool, values).unseen
    assert unseen.sum() == pool.n_documents - judgments.pool.n_documents
    at_least = relevance.grades.at_least(pool, values, 1)
    np.testing.assert_allclose(at_least[:, unseen], values[:, unseen])


def test_erels_with_graded_judgments_keep_the_grades():
    pool = pool_of(RANKINGS, depth=5)
    erels = rb.Probabilities({"1": {"v": 0.3}})
    relevance = rb.Relevance.from_erels(pool, erels, qrels=QRELS, default_p=0.5)
    assert relevance.grades.judged == QRELS


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("AP(rel=4)", "rel=4 is above the highest grade judged, 3"),
        ("Compat", "not computed of uncertain relevance.*choose one of AP, P"),
        ("nDCG(gains={1: 2})", "not computed of uncertain relevance"),
    ],
)
def test_what_cannot_be_had_is_refused(measure, message):
    judgments, relevance = judged(1)
    with pytest.raises(InputError, match=message):
        rb.compare(judgments.pool, relevance, measure)


def test_grades_that_are_not_there_are_refused():
    judgments, relevance = judged(1)
    binary = rb.Relevance.from_values(judgments.pool, relevance.values[0])
    with pytest.raises(InputError, match="no judgment has one above 1"):
        rb.compare(judgments.pool, binary, "AP(rel=2)")
    with pytest.raises(InputError, match="no judgment has one above 1"):
        rb.sample_scores(judgments.pool, relevance.values[0], measure="P(rel=2)@3")
    with pytest.raises(InputError, match="rel is 1, and the relevance level 2"):
        rb.Estimand("AP(rel=1)", relevance_level=2)
    with pytest.raises(InputError, match="nDCG of graded judgments are not known"):
        rb.moments(judgments.pool, relevance, measure="nDCG")
    with pytest.raises(InputError, match="whole numbers"):
        rb.Judgments.from_labels(judgments.pool, [0], [1], grades=[1.5])
