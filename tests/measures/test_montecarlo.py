"""Sampled outcomes: against the moments, and against ir-measures."""

from __future__ import annotations

import numpy as np
import pytest
from pools import pool_of
from qrels_scorer import QrelsScorer
from topics import random_topic

from rtc_bayes.errors import InputError
from rtc_bayes.measures import moments, montecarlo, sample_scores
from rtc_bayes.measures.montecarlo import _Sampler
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.measures.sampled import scorer
from rtc_bayes.workers import Workers


def large_pool(rng, documents, systems):
    names = [f"d{i:04d}" for i in range(documents)]
    quality = rng.random(documents)
    rankings = {}
    for s in range(systems):
        order = np.argsort(-(quality + 0.3 * rng.standard_normal(documents)))
        rankings[f"s{s}"] = {"1": [names[i] for i in order]}
    return pool_of(rankings, depth=documents), 0.3 * quality**4


def check_within_four_standard_errors(outcomes, documents):
    pool, p = large_pool(np.random.default_rng(31), documents, 3)
    result = moments(pool, p, tolerance=1e-10)
    scores = sample_scores(pool, p, measure="AP", outcomes=outcomes, seed=7)
    for n, (a, b) in enumerate(result.pairs):
        sampled = scores[:, a] - scores[:, b]
        mean, variance = result.difference_expected[0, n], result.difference_variance[0, n]
        assert abs(sampled.mean() - mean) < 4 * np.sqrt(variance / outcomes)
        squares = (sampled - mean) ** 2
        assert abs(squares.mean() - variance) < 4 * squares.std() / np.sqrt(outcomes)


def test_moments_of_1000_documents_match_sampled_outcomes():
    check_within_four_standard_errors(20_000, 1000)


@pytest.mark.slow
def test_moments_of_1000_documents_match_a_million_outcomes():
    check_within_four_standard_errors(1_000_000, 1000)


@pytest.mark.parametrize("measure", ["P@5", "R@5", "nDCG@5", "nDCG", "RR", "RBP", "AP@5", "DCG@9"])
def test_moments_match_sampled_outcomes(measure):
    pool, p = large_pool(np.random.default_rng(32), 40, 2)
    result = moments(pool, p, measure=measure)
    scores = sample_scores(pool, p, measure=measure, outcomes=20_000, seed=8)
    standard_error = np.sqrt(result.mean_variance[0] / 20_000)
    assert (np.abs(scores.mean(axis=0) - result.mean_expected[0]) < 4 * standard_error).all()
    assert scores.var(axis=0) == pytest.approx(result.mean_variance[0], rel=0.1)


@pytest.mark.parametrize(
    "measure",
    ["AP", "AP@4", "P@5", "R@5", "nDCG@5", "nDCG", "RR", "Bpref", "Rprec", "Success@3", "ERR@5"],
)
def test_scores_are_those_of_ir_measures(measure):
    rng = np.random.default_rng(33)
    # gdeval prints five digits, and starts a process for every list
    tolerance, times = (5.1e-6, 1) if measure == "ERR@5" else (1e-12, 5)
    for _ in range(times):
        topic = random_topic(rng, 12)
        outcomes = (rng.random((12, 40)) < 0.2).astype(np.int8)
        outcomes[topic.p == 0.0] = 0
        for lists in (topic.complete, topic.with_holes):
            ours = scorer(parse_measure(measure), lists, np.zeros(12, dtype=bool), graded=False)(
                outcomes
            )
            theirs = QrelsScorer(measure, lists).score(outcomes)
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


def test_other_measures_are_scored_on_the_same_outcomes(random_pool):
    pool = random_pool(np.random.default_rng(34), systems=3, topics=2, length=8)
    p = np.random.default_rng(35).random(pool.n_documents)
    exact = sample_scores(pool, p, measure="P@3", outcomes=50, seed=1)
    success = sample_scores(pool, p, measure="Success@3", outcomes=50, seed=1)
    bpref = sample_scores(pool, p, measure="Bpref", outcomes=50, seed=1)
    assert ((success > 0) == (exact > 0)).all()
    assert bpref.shape == (50, 3)
    assert np.isfinite(bpref).all()


def test_the_seed_decides_the_outcomes(random_pool):
    pool = random_pool(np.random.default_rng(36), systems=2, topics=2, length=8)
    p = np.full(pool.n_documents, 0.4)
    one, same, other = (sample_scores(pool, p, outcomes=2000, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_certain_documents_keep_their_relevance(random_pool):
    pool = random_pool(np.random.default_rng(37), systems=2, topics=2, length=8)
    x = (np.random.default_rng(38).random(pool.n_documents) < 0.5).astype(float)
    scores = sample_scores(pool, x, outcomes=3, seed=0)
    np.testing.assert_allclose(scores, np.tile(moments(pool, x).mean_expected, (3, 1)))


def test_bad_input_is_named(random_pool):
    pool = random_pool(np.random.default_rng(39), systems=2, topics=2, length=8)
    p = np.full(pool.n_documents, 0.4)
    with pytest.raises(InputError, match="at least 1"):
        sample_scores(pool, p, outcomes=0)
    for wrong in ({"outcomes": 2.0}, {"seed": 0.5}, {"seed": -1}):
        with pytest.raises(InputError, match="give a whole number of at least"):
            sample_scores(pool, p, **wrong)
    with pytest.raises(InputError, match="probabilities for"):
        sample_scores(pool, p[1:])
    with pytest.raises(InputError, match="is unknown"):
        sample_scores(pool, p, measure="nonsense")


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "Bpref"])
def test_threads_change_nothing(random_pool, measure):
    pool = random_pool(np.random.default_rng(4), 3, 6, 9)
    draws = np.random.default_rng(5).random((2, pool.n_documents), dtype=np.float32)
    result = [
        sample_scores(pool, draws, measure=measure, outcomes=8, seed=3, workers=Workers(jobs))
        for jobs in (1, 3)
    ]
    np.testing.assert_array_equal(*result)


def test_draws_are_sampled_together(random_pool):
    pool = random_pool(np.random.default_rng(40), systems=2, topics=2, length=8)
    draws = np.random.default_rng(41).random((3, pool.n_documents))
    draws[2] = draws[2] < 0.5
    scores = sample_scores(pool, draws, outcomes=4000, seed=1)
    assert scores.shape == (3, 4000, 2)
    result = moments(pool, draws)
    error = np.sqrt(result.mean_variance / 4000)
    assert (np.abs(scores.mean(axis=1) - result.mean_expected) <= 4.5 * error + 1e-12).all()
    np.testing.assert_array_equal(
        sample_scores(pool, draws[:1], outcomes=50, seed=3)[0],
        sample_scores(pool, draws[0], outcomes=50, seed=3),
    )


def test_documents_are_relevant_as_often_as_their_probability_says():
    """Of every draw, whatever the binary digits of p, and independently of each other."""
    of_one_draw = [0.3, 1e-3, 0.0, 1.0, 1 / 3, 0.0, 1.0, 1e-12]
    of_another = [1.0, 0.5, 0.25, 1.0, 255 / 256, 0.0, 0.0, 1.0 - 1e-12]
    p = np.array([of_one_draw, of_another])
    each = 100_000
    relevant = _Sampler(p, np.random.default_rng(3)).sample(np.repeat([0, 1], each))
    result = relevant.reshape(-1, 2, each).mean(axis=2).T
    error = np.sqrt(p * (1.0 - p) / each)
    certain = (p == 0.0) | (p == 1.0)
    np.testing.assert_array_equal(result[certain], p[certain])
    assert (np.abs(result - p) <= 4.5 * error + 1e-9).all()
    # neighbours in one random word, the same place in two words, and two documents
    first, last = relevant[0, :each].astype(float), relevant[4, :each].astype(float)
    for one, other in ((first[1:], first[:-1]), (first[64:], first[:-64]), (first, last)):
        assert abs(np.corrcoef(one, other)[0, 1]) < 4.5 / np.sqrt(each)


def test_few_words_held_at_once_change_no_probability(monkeypatch):
    monkeypatch.setattr(montecarlo, "_HELD", 1)
    p = np.array([[0.2, 0.7]])
    draw = np.zeros(50_000, dtype=np.int64)
    result = _Sampler(p, np.random.default_rng(5)).sample(draw).mean(axis=1)
    np.testing.assert_allclose(result, p[0], atol=4.5 * 0.5 / np.sqrt(50_000))


@pytest.mark.parametrize("measure", ["ERR@5", "Bpref", "Success@3", "ERR@3"])
def test_documents_outside_the_pool_are_not_relevant_to_any_measure(measure, deeper_pool):
    rng = np.random.default_rng(36)
    pool, deeper, place = deeper_pool(rng, systems=3, topics=2, length=7, depth=3)
    # certain relevance: the outcomes are the same whatever the documents' numbers
    p = (rng.random(pool.n_documents) < 0.4).astype(float)
    of_whole = np.zeros(deeper.n_documents)
    of_whole[place] = p
    result, wanted = (
        sample_scores(of, values, measure=measure, outcomes=2)
        for of, values in ((pool, p), (deeper, of_whole))
    )
    np.testing.assert_allclose(result, wanted, atol=1e-9)
