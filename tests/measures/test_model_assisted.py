"""Scores by a model and a sample: unbiased whatever the model, over all samples."""

from itertools import product

import numpy as np
import pytest
from pools import random_pool

import rtc_bayes as rb
from rtc_bayes import InputError, Judgments, Sample
from rtc_bayes.measures.model_assisted import model_assisted, numerator

MODELS = ("right", "wrong", "nothing")


@pytest.fixture(scope="module")
def case():
    """A pool of one topic and 11 documents, labels, and inclusion probabilities."""
    rng = np.random.default_rng(8)
    pool = random_pool(rng, systems=3, topics=1, documents=11, longest=9)
    labels = (rng.random(pool.n_documents) < 0.5).astype(float)
    probability = rng.uniform(0.2, 1.0, pool.n_documents)
    probability[3] = 1.0
    return pool, labels, probability


def p_of(model, labels):
    if model == "right":
        return 0.1 + 0.8 * labels
    if model == "wrong":
        return 0.9 - 0.85 * labels
    return np.zeros(len(labels))


def samples(pool, labels, probability):
    """Yield every Poisson sample, with its probability."""
    for drawn in product((False, True), repeat=pool.n_documents):
        chance = float(np.where(drawn, probability, 1.0 - probability).prod())
        if chance > 0.0:
            documents = np.flatnonzero(drawn)
            judgments = Judgments.from_labels(pool, documents, labels[documents])
            yield Sample(judgments, probability), chance


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("measure", ["P@5", "DCG@8", "RBP(p=0.8)"])
def test_linear_measures_are_unbiased_with_the_variance_that_is_said(case, model, measure):
    pool, labels, probability = case
    p = p_of(model, labels)
    true = rb.moments(pool, labels, measure=measure, pairs="none").mean_expected[0]
    mean, square, said, pairs = np.zeros((4, 3))
    pairs = np.zeros((3, 3))
    for sample, chance in samples(pool, labels, probability):
        estimate = model_assisted(p, sample, measure=measure)
        scores = estimate.scores.mean[:, 0]
        mean += chance * scores
        square += chance * (scores - true) ** 2
        said += chance * estimate.scores.variance[:, 0]
        pairs += chance * (estimate.covariance - np.outer(scores - true, scores - true))
    np.testing.assert_allclose(mean, true, atol=1e-12)
    np.testing.assert_allclose(said, square, atol=1e-12)
    np.testing.assert_allclose(pairs, 0.0, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_the_parts_of_average_precision_are_unbiased(case, model):
    """Products of different documents are, as draws are independent."""
    pool, labels, probability = case
    p, lists = p_of(model, labels), pool.lists(0)
    relevant = labels.sum()
    true = rb.moments(pool, labels, pairs="none").mean_expected[0] * relevant
    mean, count = np.zeros(3), 0.0
    for sample, chance in samples(pool, labels, probability):
        y, drawn = sample.judgments.labels, sample.judgments.judged
        x = p + np.where(drawn, (np.nan_to_num(y) - p) / probability, 0.0)
        mean += chance * numerator(lists, x)[0]
        count += chance * x.sum()
    np.testing.assert_allclose(mean, true, atol=1e-12)
    assert count == pytest.approx(relevant, abs=1e-12)


def test_a_model_that_is_right_varies_less(case):
    pool, labels, probability = case
    said = {
        model: sum(
            chance * model_assisted(p_of(model, labels), sample).scores.variance
            for sample, chance in samples(pool, labels, probability)
        )
        for model in MODELS
    }
    assert (said["right"] < 0.3 * said["nothing"]).all()


def test_all_drawn_for_sure_is_the_measure_itself(case):
    pool, labels, _ = case
    sample = Sample(
        Judgments.from_labels(pool, np.arange(pool.n_documents), labels), np.ones(pool.n_documents)
    )
    for measure in ("AP", "P@5"):
        estimate = model_assisted(p_of("wrong", labels), sample, measure=measure)
        true = rb.moments(pool, labels, measure=measure, pairs="none").expected[0]
        np.testing.assert_allclose(estimate.scores.mean, true, atol=1e-12)
        assert not estimate.covariance.any()


def test_without_the_model_it_is_stat_ap():
    simulated = rb.simulate(n_topics=5, n_systems=4, seed=1)
    pool = rb.Pool.from_runs(simulated.runs, depth=20)
    sample = Sample.draw(pool, simulated.qrels, rb.inclusion_probabilities(pool, 15), seed=1)
    p = np.random.default_rng(2).random(pool.n_documents)
    ours, theirs = model_assisted(p, sample, tuning=0.0), rb.stat_ap(sample)
    np.testing.assert_allclose(ours.scores.mean, theirs.scores.mean, atol=1e-12)
    np.testing.assert_allclose(ours.scores.variance, theirs.scores.variance, atol=1e-12)
    np.testing.assert_allclose(ours.covariance, theirs.covariance, atol=1e-12)


def test_tuning_trusts_a_model_as_far_as_it_helps(case):
    """A right model keeps its weight, one that is wrong loses it."""
    pool, labels, probability = case
    documents = np.arange(9)
    sample = Sample(Judgments.from_labels(pool, documents, labels[documents]), probability * 0.9)
    for model, nearest in (("right", 1.0), ("wrong", 0.0)):
        p = p_of(model, labels)
        auto = model_assisted(p, sample, measure="P@5", tuning="auto").scores.mean
        near = model_assisted(p, sample, measure="P@5", tuning=nearest).scores.mean
        far = model_assisted(p, sample, measure="P@5", tuning=1.0 - nearest).scores.mean
        assert (np.abs(auto - near) <= np.abs(auto - far)).all()


def test_a_comparison_is_refused_for_its_fit():
    simulated = rb.simulate(n_topics=3, n_systems=3, seed=1)
    pool = rb.Pool.from_runs(simulated.runs, depth=10)
    sample = Sample.draw(pool, simulated.qrels, np.full(pool.n_documents, 0.3), seed=1)
    relevance = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.4))
    with pytest.raises(InputError, match=r"are a Comparison; give a Relevance, a Fit \(as those"):
        model_assisted(rb.compare(pool, relevance), sample)


def test_what_has_no_estimate_is_refused(case):
    pool, labels, probability = case
    sample = Sample(Judgments.none(pool), probability)
    for measure in ("nDCG@10", "RR", "ERR@10"):
        with pytest.raises(InputError, match="neither linear"):
            model_assisted(labels, sample, measure=measure)
    with pytest.raises(InputError, match="tuning"):
        model_assisted(labels, sample, tuning=2.0)
    with pytest.raises(InputError, match="tuning is None; give a number"):
        model_assisted(labels, sample, tuning=None)
    graded = Sample(
        Judgments.none(pool).with_labels([0], [1.0], [2.0]), np.full(pool.n_documents, 0.5)
    )
    with pytest.raises(InputError, match="grades from 1 on are relevant; read the sample with"):
        model_assisted(labels, graded, measure="P(rel=2)@3")
    with pytest.raises(InputError, match="DCG@2 has gains by grade"):
        model_assisted(labels, graded, measure="DCG@2")
    by_level = Sample(
        Judgments.none(pool, relevance_level=2).with_labels([0], [1.0], [2.0]),
        np.full(pool.n_documents, 0.5),
    )
    both = [model_assisted(labels, by_level, measure=m) for m in ("P(rel=2)@3", "P@3")]
    np.testing.assert_array_equal(both[0].scores.mean, both[1].scores.mean)
