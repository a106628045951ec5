"""Graded judgments: grades kept, sampled and scored; brute force, ir-measures, and refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import oracle
import pytest
from pools import pool_of
from qrels_scorer import QrelsScorer
from scipy.optimize import minimize_scalar
from topics import random_topic

import rtc_bayes as rb
from rtc_bayes.collection.grades import CONCENTRATION, _Half, tilted
from rtc_bayes.confidence.unseen import with_unseen
from rtc_bayes.errors import InputError
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.measures.sampled import scorer
from rtc_bayes.trials.complete import scores_by

RANKINGS = {"a": {"1": list("uvwxy")}, "b": {"1": list("ywuxv")}}
QRELS = rb.Qrels({"1": {"u": 3, "w": 1, "z": 2, "y": 0}})


def judged(level, qrels=QRELS, rankings=RANKINGS):
    """Judgments, and relevance with probability 0.3 of what is not judged."""
    judgments = rb.Judgments.from_qrels(pool_of(rankings, depth=5), qrels, relevance_level=level)
    p = np.where(judgments.judged, judgments.labels, 0.3)
    grades = judgments.grade_distribution()
    return judgments, rb.Relevance.from_values(judgments.pool, p, grades=grades)


def height(docno, rankings=RANKINGS):
    """Of a document in RANKINGS, five deep: what is in no list would be sixth."""
    ranks = [[*of["1"], docno].index(docno) + 1 for of in rankings.values()]
    return math.log(sum(1 / rank for rank in ranks) / len(ranks))


def shares(level, draws):
    """Draw the grades' probabilities of a topic with QRELS, and which are relevant, anew."""
    random = np.random.default_rng(5)
    grades, result = list(QRELS["1"].values()), np.zeros((draws, 4))
    for levels in (range(level), range(level, 4)):
        n = np.array([grades.count(g) for g in levels])
        weights = n + CONCENTRATION * (n + 1) / (n + 1).sum()
        result[:, levels] = (
            random.dirichlet(weights, draws) if draws > 1 else weights / weights.sum()
        )
    return result


def weights_of(outcomes, relevance, pool, level, draws):
    """Probabilities of outcomes, rows of grades: means over draws of shares and of the slope."""
    grades = relevance.grades
    drawn = shares(level, draws)
    sd = grades.slope_sd if draws > 1 else 0.0
    slope = np.random.default_rng(6).normal(grades.slope, sd, draws)
    total = np.ones((draws, len(outcomes)))
    for i, (docno, p) in enumerate(zip(pool.docnos, relevance.values[0], strict=True)):
        if docno in QRELS["1"]:
            continue
        chance = np.zeros((draws, 4))
        for given, levels in ((1 - p, range(level)), (p, range(level, 4))):
            of = {d: height(d) for d, g in QRELS["1"].items() if g in levels}
            centre = (sum(of.values()) + CONCENTRATION * np.mean([*of.values()])) / (
                len(of) + CONCENTRATION
            )
            tilt = np.exp(slope[:, None] * (height(docno) - centre) * np.array(levels))
            part = drawn[:, levels] * tilt
            chance[:, levels] = given * part / part.sum(axis=1, keepdims=True)
        total *= chance[:, outcomes[:, i]]
    return total.mean(axis=0)


def brute_force(relevance, pool, score, level, draws):
    number = {docno: i for i, docno in enumerate(pool.docnos)}
    lists = [[number[d] for d in RANKINGS[s]["1"]] for s in pool.systems]
    possible = [[QRELS["1"].get(d)] if d in QRELS["1"] else range(4) for d in pool.docnos]
    outcomes = np.array([*itertools.product(*possible)])
    rows = [[score(ranking, grades.tolist()) for ranking in lists] for grades in outcomes]
    weights = weights_of(outcomes, relevance, pool, level, draws)
    assert sum(weights) == pytest.approx(1.0)
    return np.array(rows), weights


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
def test_sampled_scores_of_grades_are_those_of_brute_force(measure, score, level):
    """Over grades, their probabilities and the slope."""
    judgments, relevance = judged(level)
    assert relevance.grades.slope != 0.0
    scores, weights = brute_force(relevance, judgments.pool, score, level, draws=200_000)
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
def test_rel_has_moments_of_its_own(name, score, rel, level):
    """Of one draw of relevance a comparison is over the grades' probabilities and the slope."""
    judgments, relevance = judged(level)
    of = score or oracle.reciprocal_rank
    scores, weights = brute_force(
        relevance,
        judgments.pool,
        lambda r, grades: of(r, [int(g >= rel) for g in grades]),
        level,
        1 if rel == level else 200_000,
    )
    mean, covariance = oracle.mean_and_covariance(scores, weights)
    sd = np.sqrt(covariance.diagonal())
    # what arrays of probabilities have is of one draw
    assert (
        rb.moments(judgments.pool, relevance, measure=f"{name}(rel={rel})").expected.shape[0] == 1
    )
    sampled = rb.sample_scores(judgments.pool, relevance, measure=f"{name}(rel={rel})", outcomes=10)
    assert sampled.shape[:2] == (1, 10)
    if rel > 1 or level == 1:
        estimand = rb.Estimand(f"{name}(rel={rel})", scope="pool", topics=("1",))
        comparison = rb.compare(judgments.pool, relevance, estimand)
        assert comparison.moments == "exact"
        # of 200 draws of grades, and of the outcomes of brute force; none at the relevance level
        error = 1e-8 + (rel != level) * 4.5 * sd / np.sqrt(200)
        assert (np.abs(comparison.expected - mean) <= error).all()
        wide = 1e-7 if rel == level else 0.05
        np.testing.assert_allclose(comparison.sd, sd, rtol=wide, atol=1e-7)


def test_rel_of_many_draws_has_the_spread_of_grades():
    """Each draw of relevance has its own probabilities of the grades and its own slope."""
    judgments, relevance = judged(1)
    pool, grades = judgments.pool, relevance.grades
    # v is nonrelevant for certain, so that only the grade of x is open
    p = np.where(pool.docnos == "v", 0.0, relevance.values[0])
    at_least = grades.at_least(pool, np.tile(p, (4000, 1)), 2)
    of_x = at_least[:, pool.docnos == "x"]
    assert len(np.unique(of_x)) == len(of_x)
    outcomes = np.array(
        [[g if d == "x" else QRELS["1"].get(d, 0) for d in pool.docnos] for g in range(4)]
    )
    certain = rb.Relevance.from_values(pool, p, grades=grades)
    weights = weights_of(outcomes, certain, pool, level=1, draws=200_000)
    error = of_x.std() / 4000**0.5
    assert of_x.mean() == pytest.approx(weights[2:].sum(), abs=4.5 * error)
    assert not at_least[:, judgments.judged].std(axis=0).any()


def test_the_slope_is_the_likeliest():
    """Of the likelihood written out anew: each grade by all other judgments, and a normal prior."""
    rng = np.random.default_rng(1)
    rankings = {
        s: {str(t): [f"d{i}" for i in rng.permutation(30)] for t in range(8)} for s in "abc"
    }
    pool = pool_of(rankings, depth=30)
    heights = {
        str(t): {
            d: height(d, {s: {"1": of[str(t)]} for s, of in rankings.items()})
            for d in pool.docnos[pool.documents(t)]
        }
        for t in range(8)
    }
    grades = {
        topic: {
            d: 2 if rng.random() < 1 / (1 + math.exp(-1.2 * (x + 2))) else 1
            for d, x in of.items()
            if rng.random() < 0.5
        }
        for topic, of in heights.items()
    }
    judgments = rb.Judgments.from_qrels(pool, rb.Qrels(grades))
    rows = [(t, grade, heights[t][d]) for t, of in grades.items() for d, grade in of.items()]
    mean, c = np.mean([x for *_, x in rows]), CONCENTRATION
    shared = {g: (sum(h == g for _, h, _ in rows) + 1) / (len(rows) + 2) for g in (1, 2)}

    def surprise(slope):
        total = slope**2 / 2
        for i, (topic, grade, x) in enumerate(rows):
            others = [(h, y) for j, (t, h, y) in enumerate(rows) if t == topic and j != i]
            above = x - (sum(y for _, y in others) + c * mean) / (len(others) + c)
            weights = {
                g: (sum(h == g for h, _ in others) + c * shared[g]) * math.exp(slope * g * above)
                for g in (1, 2)
            }
            total -= math.log(weights[grade] / sum(weights.values()))
        return total

    best = minimize_scalar(surprise, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9})
    learned = judgments.grade_distribution()
    assert learned.slope == pytest.approx(best.x, abs=1e-6)
    # and its standard deviation by the second derivative there
    step = 1e-3
    around = [surprise(best.x + k * step) for k in (-1, 0, 1)]
    assert learned.slope_sd == pytest.approx(
        step / (around[0] - 2 * around[1] + around[2]) ** 0.5, rel=1e-3
    )
    assert abs(learned.slope - 1.2) < 3 * learned.slope_sd


def test_the_slope_of_a_few_grades_is_the_likeliest():
    """Newton's steps without a check of their length end far from it."""
    pool = pool_of({"A": {t: [f"d{r}" for r in range(1, 301)] for t in "12"}}, depth=300)
    grades = {"1": {"d50": 4}, "2": dict.fromkeys(["d110", "d52", "d213", "d78", "d81", "d30"], 4)}
    grades["2"]["d2"] = 3
    learned = rb.Judgments.from_qrels(pool, rb.Qrels(grades)).grade_distribution()
    half = _Half(
        topic=np.array([0, *[1] * 7]),
        grade=np.array([4, 4, 4, 4, 4, 4, 4, 3]),
        height=-np.log([50, 110, 52, 213, 78, 81, 30, 2]),
        topics=2,
        levels=range(1, 5),
        concentration=CONCENTRATION,
    )
    probabilities, above = half.others()

    def surprise(slope):
        chances = tilted(probabilities, slope * above, half.levels)
        return slope**2 / 2 - np.log(chances[range(8), half.grade - 1]).sum()

    slopes = np.linspace(-5.0, 15.0, 2001)
    assert learned.slope == pytest.approx(slopes[np.argmin([*map(surprise, slopes)])], abs=0.01)


def test_heights_stay_with_documents():
    """Of a pool of fewer systems, documents are as high as all systems rank them."""
    judgments, relevance = judged(1)
    grades, alone = relevance.grades, judgments.pool.select(["a"])
    above = grades.on(judgments.pool).above
    place = judgments.pool.locate("1", alone.docnos)
    np.testing.assert_array_equal(grades.on(alone).above, above[:, place])
    for docno in judgments.pool.docnos:
        assert grades.heights["1"][docno] == pytest.approx(height(docno))


def test_ranks_below_the_depth_count_in_heights():
    rankings = {s: {"1": [*first, *"klmn"]} for s, first in (("a", "uv"), ("b", "wu"))}
    pool = pool_of(rankings, depth=2)
    ranks = pool.ranks(0, below=True)
    expected = np.where(ranks > 0, 1 / np.maximum(ranks, 1), 1 / (pool.reach + 1)).mean(axis=0)
    np.testing.assert_allclose(pool.mean_reciprocal_ranks, expected)


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
        ours = scorer(parse_measure(measure), lists, np.zeros(12, dtype=bool), graded=True)(grades)
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
    np.testing.assert_allclose(comparison.expected, truth, atol=1e-12)
    np.testing.assert_allclose(scores_by(judgments, estimand)[0], truth, atol=1e-12)


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
    for name in ("slope", "slope_sd", "heights"):
        assert getattr(loaded.relevance.grades, name) == getattr(fit.relevance.grades, name)
    np.testing.assert_array_equal(loaded.relevance.grades.centre, fit.relevance.grades.centre)
    assert loaded.judgments.to_qrels() == QRELS


def test_a_file_of_an_older_version_has_grades_by_topic_alone():
    _, relevance = judged(2)
    older = relevance.to_xarray()
    names = ("grade_weight", "grade_height", "grade_height_topic", "grade_height_docno")
    older["grade_probability"] = (older["grade_weight"].dims, relevance.grades.probabilities)
    loaded = rb.Relevance.from_xarray(older.drop_vars(names)).grades
    assert loaded.slope == loaded.slope_sd == 0.0
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
    unseen = relevance.grades.on(pool).unseen
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
    with pytest.raises(InputError, match="no grade above 1 is known here"):
        rb.compare(judgments.pool, binary, "AP(rel=2)")
    with pytest.raises(InputError, match="no grade above 1 is known here"):
        rb.sample_scores(judgments.pool, relevance.values[0], measure="P(rel=2)@3")
    with pytest.raises(InputError, match="rel is 1, and the relevance level 2"):
        rb.Estimand("AP(rel=1)", relevance_level=2)
    with pytest.raises(InputError, match="nDCG of graded judgments are not known"):
        rb.moments(judgments.pool, relevance, measure="nDCG")
    with pytest.raises(InputError, match="whole numbers"):
        rb.Judgments.from_labels(judgments.pool, [0], [1], grades=[1.5])
