"""Moments on one topic against enumeration of all outcomes."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from topics import random_topic

from rtc_bayes.collection.lists import Lists
from rtc_bayes.measures.analytic import on_topic
from rtc_bayes.measures.names import parse_measure


def check(topic, name, *, tolerance=1e-12, error=1e-9, gradient=False):
    score = oracle.SCORES[name]
    scores, weights = oracle.distribution(topic.lists, topic.p, score)
    mean, covariance = oracle.mean_and_covariance(scores, weights)
    for lists in (topic.complete, topic.with_holes):
        measure = on_topic(parse_measure(name), lists, len(topic.p))
        result = measure.moments(topic.p, exact=True, tolerance=tolerance)
        np.testing.assert_allclose(result.expected, mean, rtol=0, atol=error)
        np.testing.assert_allclose(result.covariance, covariance, rtol=0, atol=error)
        for a in range(len(mean)):
            for b in range(a):
                _, variance, _, _ = oracle.cumulants(scores[:, a] - scores[:, b], weights)
                assert result.pair_variance(a, b) == pytest.approx(variance, rel=1e-7, abs=1e-13)
                if np.array_equal(topic.lists[a], topic.lists[b]):
                    assert result.pair_variance(a, b) == 0.0
    if gradient:
        for i in np.flatnonzero((topic.p > 0) & (topic.p < 1)):
            expected = []
            for x in (0.0, 1.0):
                p = topic.p.copy()
                p[i] = x
                expected.append(np.dot(*oracle.distribution(topic.lists, p, score)[::-1]))
            np.testing.assert_allclose(result.gradient[:, i], expected[1] - expected[0], atol=error)


def test_average_precision_on_500_random_topics():
    rng = np.random.default_rng(2007)
    for _ in range(500):
        check(random_topic(rng, int(rng.integers(1, 10))), "AP")


@pytest.mark.parametrize("documents", [11, 12, 13])
def test_average_precision_on_larger_topics(documents):
    check(random_topic(np.random.default_rng(documents), documents), "AP")


@pytest.mark.parametrize("name", oracle.SCORES)
def test_every_measure_and_its_gradient(name):
    rng = np.random.default_rng(list(name.encode()))
    for _ in range(15):
        check(random_topic(rng, int(rng.integers(1, 8))), name, gradient=True)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, 1e-12])
def test_the_tolerance_bounds_the_error(tolerance):
    rng = np.random.default_rng(8)
    for _ in range(20):
        topic = random_topic(rng, int(rng.integers(2, 10)))
        check(topic, "AP", tolerance=tolerance, error=tolerance) if tolerance < 1e-9 else None
        scores, weights = oracle.distribution(topic.lists, topic.p, oracle.average_precision)
        measure = on_topic(parse_measure("AP"), topic.complete, len(topic.p))
        result = measure.moments(topic.p, exact=True, tolerance=tolerance)
        assert np.abs(result.expected - weights @ scores).max() <= tolerance


def test_rare_relevance_keeps_its_digits():
    rng = np.random.default_rng(3)
    topic = random_topic(rng, 8)
    topic.p[:] = 1e-9 * rng.random(8)
    scores, weights = oracle.distribution(topic.lists, topic.p, oracle.average_precision)
    mean, covariance = oracle.mean_and_covariance(scores, weights)
    measure = on_topic(parse_measure("AP"), topic.complete, 8)
    result = measure.moments(topic.p, exact=True, tolerance=1e-12)
    np.testing.assert_allclose(result.expected, mean, rtol=1e-10)
    np.testing.assert_allclose(np.diag(result.covariance), np.diag(covariance), rtol=1e-10)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", oracle.SCORES)
def test_complete_judgments_give_the_score_and_no_variance(name, exact):
    rng = np.random.default_rng(11)
    for _ in range(20):
        topic = random_topic(rng, 9)
        x = (rng.random(9) < 0.4).astype(float)
        measure = on_topic(parse_measure(name), topic.complete, 9)
        result = measure.moments(x, exact=exact, tolerance=1e-8)
        true = [oracle.SCORES[name](ranking, x.astype(int)) for ranking in topic.lists]
        np.testing.assert_allclose(result.expected, true, rtol=0, atol=1e-15)
        assert not result.covariance.any()


def coefficients(topic, s):
    """The a-form of a list, spelled out."""
    documents = len(topic.p)
    rank = dict(zip(topic.lists[s].tolist(), range(1, documents + 1), strict=False))
    a = np.zeros((documents, documents))
    for i in rank:
        for j in rank:
            a[i, j] = 1 / max(rank[i], rank[j])
    return a


def test_plugin_moments_are_the_printed_sums():
    rng = np.random.default_rng(12)
    checked = 0
    for _ in range(60):
        topic = random_topic(rng, int(rng.integers(2, 9)))
        if not np.any((topic.p > 0) & (topic.p < 1)):
            continue
        measure = on_topic(parse_measure("AP"), topic.complete, len(topic.p))
        result = measure.moments(topic.p, exact=False, tolerance=1e-8)
        for s in range(len(topic.lists)):
            mean, variance = oracle.printed_moments(coefficients(topic, s), topic.p)
            assert result.expected[s] == pytest.approx(mean, abs=1e-12)
            assert result.covariance[s, s] == pytest.approx(variance, abs=1e-12)
            for u in range(s):
                c = coefficients(topic, s) - coefficients(topic, u)
                mean, variance = oracle.printed_moments(c, topic.p)
                assert result.expected[s] - result.expected[u] == pytest.approx(mean, abs=1e-12)
                assert result.pair_variance(s, u) == pytest.approx(variance, abs=1e-12)
                checked += 1
    assert checked > 50


@pytest.mark.parametrize("name", ["R@3", "nDCG", "nDCG@3"])
def test_plugin_ratios_divide_by_the_denominator_at_the_expected_count(name):
    topic = random_topic(np.random.default_rng(4), 8)
    topic.p[:] = [0.5, 0.25, 0.25, 1.0, 0.0, 0.5, 0.25, 0.25]
    measure = on_topic(parse_measure(name), topic.complete, 8)
    result = measure.moments(topic.p, exact=False, tolerance=1e-8)
    cutoff = None if name == "nDCG" else 3
    if name == "R@3":
        below, numerator = 3.0, [sum(topic.p[part[:3]]) for part in topic.lists]
    else:
        below = 1 + 1 / np.log2(3) + 1 / 2
        numerator = [oracle.dcg(part, topic.p, cutoff) for part in topic.lists]
    np.testing.assert_allclose(result.expected, np.array(numerator) / below, atol=1e-14)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", oracle.SCORES)
@pytest.mark.parametrize("documents", [0, 1])
def test_empty_lists_score_nothing(name, exact, documents):
    none = np.empty(0, dtype=np.int32)
    measure = on_topic(
        parse_measure(name), Lists.complete(none, np.zeros(3, dtype=np.int64)), documents
    )
    result = measure.moments(np.full(documents, 0.5), exact=exact, tolerance=1e-8)
    assert not result.expected.any()
    assert not result.covariance.any()
    assert result.pair_variance(0, 1) == 0.0


@pytest.mark.parametrize("name", ["AP", "R@3", "nDCG", "nDCG@3", "RR"])
@pytest.mark.parametrize("p", [5e-324, 1e-12, 1 - 1e-12, 1 - 1.2e-16])
def test_almost_certain_relevance_is_finite(name, p):
    ranked = np.array([0, 1, 2, 3, 3, 2, 1, 0], dtype=np.int32)
    measure = on_topic(parse_measure(name), Lists.complete(ranked, np.array([0, 4, 8])), 6)
    result = measure.moments(np.full(6, p), exact=True, tolerance=1e-8)
    for values in (result.expected, result.covariance, result.gradient):
        assert np.isfinite(values).all()
    assert (result.covariance.diagonal() >= 0).all()
    assert result.pair_variance(0, 1) >= 0


@pytest.mark.parametrize("name", ["AP", "R@3", "nDCG", "nDCG@3"])
def test_thousands_of_certain_documents_take_no_digits(name):
    """R is 5000 and a few: the score is that of a small problem over almost the same R."""
    p = np.concatenate([np.ones(5000), [0.5, 0.25]])
    ranked = np.array([5000, 0, 5001, 1], dtype=np.int32)
    measure = on_topic(parse_measure(name), Lists.complete(ranked, np.array([0, 4])), len(p))
    result = measure.moments(p, exact=True, tolerance=1e-12)
    outcomes = np.ones((5002, 4), dtype=np.int8)
    outcomes[5000:] = [[0, 0, 1, 1], [0, 1, 0, 1]]
    weights = np.array([0.375, 0.125, 0.375, 0.125])
    mean, variance, _, _ = oracle.cumulants(measure.score(outcomes)[0], weights)
    assert result.expected[0] == pytest.approx(mean, rel=1e-11)
    assert result.covariance[0, 0] == pytest.approx(variance, rel=1e-9)
