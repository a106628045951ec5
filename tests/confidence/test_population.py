"""Topics as a sample: each of them, and the population that they come from."""

from dataclasses import replace

import numpy as np
import pytest
from pools import POOL_ALONE, pool_of
from scipy import stats

from rtc_bayes import (
    Estimand,
    InputError,
    Relevance,
    compare,
    moments,
    topic_differences,
)
from rtc_bayes.confidence.likeness import likeness, unlikeness
from rtc_bayes.confidence.population import inferred
from rtc_bayes.confidence.setting import Setting
from rtc_bayes.confidence.topics import by_topic
from rtc_bayes.report.pairs import pairs_table
from rtc_bayes.report.tables import probability


def drawn_topics(rng, topics, documents=15):
    """Two systems on topics of a population: the pool, and true probabilities of relevance."""
    quality = rng.normal(size=(topics, documents))
    skill = np.stack([rng.normal(0.9, 0.5, topics), rng.normal(0.6, 0.5, topics)])
    noise = rng.normal(size=(2, topics, documents))
    order = np.argsort(-(skill[..., None] * quality + noise), axis=2)
    rankings = {
        f"s{s}": {f"{t:04d}": [f"d{i:02d}" for i in order[s, t]] for t in range(topics)}
        for s in range(2)
    }
    return pool_of(rankings), 1 / (1 + np.exp(1.0 - quality.ravel()))


def judged_some(rng, p, share):
    """Probabilities after a share of the documents is judged."""
    truth = (rng.random(len(p)) < p).astype(float)
    return np.where(rng.random(len(p)) < share, truth, p)


def test_differences_by_topic_are_the_enumerated_ones(make_pool, oracle):
    rng = np.random.default_rng(51)
    pool = make_pool(rng, 3, 4, 7)
    p = rng.random(pool.n_documents) ** 2
    p[pool.documents(2)] = 1.0
    result = topic_differences(pool, Relevance.from_values(pool, p), "s2", "s0")
    assert list(result) == ["topic", "expected_difference", "sd", "share"]
    assert tuple(result["topic"]) == pool.topics
    for t in range(4):
        inside = pool.documents(t)
        lists = [(pool.ranking(s, t) - inside.start).tolist() for s in (2, 0)]
        scores, weights = oracle.distribution(lists, p[inside].tolist(), oracle.SCORES["AP"])
        mean, second, *_ = oracle.cumulants(scores[:, 0] - scores[:, 1], weights)
        assert result["expected_difference"][t] == pytest.approx(mean, abs=1e-8)
        assert result["sd"][t] == pytest.approx(np.sqrt(second), abs=1e-7)
    assert result["share"].to_numpy() == pytest.approx(
        result["sd"] ** 2 / (result["sd"] ** 2).sum()
    )
    assert result["share"][2] == 0
    pair = compare(pool, Relevance.from_values(pool, p), POOL_ALONE).pair("s2", "s0")
    assert result["expected_difference"].mean() == pytest.approx(pair.expected_difference)
    assert np.sqrt((result["sd"] ** 2).sum()) / 4 == pytest.approx(pair.sd)


def test_differences_by_topic_over_draws_and_by_outcomes(make_pool):
    rng = np.random.default_rng(52)
    pool = make_pool(rng, 2, 3, 8)
    relevance = Relevance.from_values(pool, rng.random((30, 1, pool.n_documents)) * 0.6)
    exact = topic_differences(pool, relevance, "s0", "s1")
    table = moments(pool, relevance.values)
    each = table.expected[:, 0] - table.expected[:, 1]
    assert exact["expected_difference"].to_numpy() == pytest.approx(each.mean(axis=0))
    assert (exact["sd"] > each.std(axis=0)).all()
    counted = topic_differences(pool, relevance, "s0", "s1", "AP@8")
    assert counted["sd"].to_numpy() == pytest.approx(exact["sd"].to_numpy())
    bpref = topic_differences(pool, relevance, "s0", "s1", "Bpref", outcomes=3000)
    one = compare(pool, relevance, Estimand("Bpref", topics=["1"]), outcomes=3000, seed=9)
    # standard errors: of a mean and of a standard deviation of 3000 outcomes
    assert bpref["sd"][1] == pytest.approx(one.sd_difference[0], rel=5 / np.sqrt(2 * 3000))
    assert bpref["expected_difference"][1] == pytest.approx(
        one.expected_difference[0], abs=5 * one.sd_difference[0] / np.sqrt(3000) * np.sqrt(2)
    )


def test_where_nothing_is_in_doubt_no_topic_has_a_share(make_pool, point):
    pool = make_pool(np.random.default_rng(53), 2, 2, 5)
    result = topic_differences(pool, point(pool, np.ones(10)), "s0", "s1")
    assert result["share"].tolist() == [0, 0]
    for names, message in ((("s0", "s9"), "no system is named 's9'"), (("s0", "s0"), "itself")):
        with pytest.raises(InputError, match=message):
            topic_differences(pool, point(pool, np.ones(10)), *names)


def test_complete_judgments_give_the_paired_t_test(make_pool, point):
    rng = np.random.default_rng(54)
    pool = make_pool(rng, 3, 9, 12)
    judged = point(pool, (rng.random(pool.n_documents) < 0.4).astype(float))
    scores = moments(pool, judged.values).expected[0]
    for pair in compare(pool, judged, POOL_ALONE).with_population().pairs:
        a, b = scores[int(pair.a[1])], scores[int(pair.b[1])]
        test = stats.ttest_rel(a, b, alternative="greater")
        assert pair.p_less_population == pytest.approx(test.pvalue)
        assert pair.p_greater_population == pytest.approx(1 - test.pvalue)
        assert pair.sd_population == pytest.approx((a - b).std(ddof=1) / 3)
        assert pair.confidence == 1


def test_no_order_is_certain_on_topics_that_nobody_saw(make_pool, point):
    """Where P(better) is 1 but for 2.5e-21, and 1 in floating point."""
    pool = make_pool(np.random.default_rng(55), 2, 9, 12)
    comparison = compare(pool, point(pool, np.full(pool.n_documents, 0.3)), POOL_ALONE)
    sure = replace(
        comparison.with_population(),
        sd_population=np.array([0.01]),
        p_greater_population=np.array([1.0]),
        p_less_population=np.array([2.5e-21]),
    )
    shown = pairs_table(sure)["P(better) on topics like these"].iloc[0]
    assert probability(shown) == "> 0.999"


def test_what_relevance_adds_to_the_spread_of_topics_counts_once():
    rng = np.random.default_rng(55)
    measured = rng.normal(0.1, 2.0, size=(1, 40)) + rng.normal(0.0, 1.5, size=(1, 40))
    noise = np.full((1, 40), 1.5**2)
    result = inferred(measured, noise, noise[:, 0] / 40)
    # noise of topics is in their spread already: the variance is that of a mean of 40
    assert result.sd_population**2 == pytest.approx(measured.var(ddof=1) / 40)
    # topics that spread less than their noise say nothing of the population beside it
    narrow = inferred(0.1 * measured, noise, noise[:, 0] / 40)
    assert narrow.sd_population**2 == pytest.approx(noise[:, 0] / 40)


def test_an_error_that_topics_share_does_not_spread_them():
    expected = np.linspace(-1.0, 1.5, 10)[None]
    # per topic 1 of its own and 3 shared: the mean has the variance 3.1
    result = inferred(expected, np.full((1, 10), 4.0), np.array([3.1]))
    between = expected.var(ddof=1) - 1.0
    assert result.sd_population**2 == pytest.approx(3.1 + max(between, 0.0) / 10)
    # a residual is shared, though the topics' variances lack it
    less = inferred(expected, np.full((1, 10), 0.1), np.array([3.01]), residual=3.0)
    assert less.sd_population**2 == pytest.approx(3.01 + (expected.var(ddof=1) - 0.1) / 10)


@pytest.fixture(scope="module")
def population():
    """Two thousand topics, their probabilities, and the mean difference of the two systems."""
    pool, p = drawn_topics(np.random.default_rng(56), 2000)
    table = moments(pool, p)
    return pool, p, (table.expected[0, 0] - table.expected[0, 1]).mean()


@pytest.mark.parametrize(("share", "exact"), [(1.0, True), (0.6, True), (0.0, False)])
def test_intervals_cover_the_mean_of_the_population(population, share, exact):
    """Two hundred samples of ten topics: how often an interval holds the population's mean."""
    pool, p, truth = population
    judged = judged_some(np.random.default_rng(57), p, share)
    setting = Setting.from_pool(pool, Relevance.from_values(pool, judged))
    expected, uncertainty = (part.reshape(200, 10) for part in by_topic(setting))
    result = inferred(expected, uncertainty, uncertainty.mean(axis=1) / 10)
    below = stats.t.cdf((truth - expected.mean(axis=1)) / result.sd_population, 9)
    for level in (0.5, 0.9):
        covered = (np.abs(below - 0.5) < level / 2).mean()
        error = 3.5 * np.sqrt(level * (1 - level) / 200)
        assert covered > level - error
        assert not exact or covered < level + error


def test_the_population_is_never_surer_than_the_sample(make_pool):
    rng = np.random.default_rng(57)
    pool = make_pool(rng, 4, 5, 12)
    relevance = Relevance.from_values(pool, rng.random((8, 1, pool.n_documents)) * 0.5)
    for measure in ("AP", "Bpref"):
        comparison = compare(pool, relevance, measure, outcomes=400).with_population()
        assert (comparison.sd_population >= comparison.sd_difference).all()
        sums = (
            comparison.p_less_population
            + comparison.p_equal_population
            + comparison.p_greater_population
        )
        assert sums == pytest.approx(np.ones(6))
    pair = comparison.pair("s1", "s3")
    back = comparison.pair("s3", "s1")
    assert pair.p_less_population == back.p_greater_population
    assert back == pair.reversed()


def test_a_residual_is_no_doubt_about_topics(make_pool, point):
    pool = make_pool(np.random.default_rng(58), 2, 6, 12)
    relevance = point(pool, np.random.default_rng(59).random(pool.n_documents))
    plain, result = (
        compare(pool, relevance, Estimand(residual=residual)).with_population()
        for residual in (0.0, 0.1)
    )
    left = 0.1**2 * unlikeness(likeness(pool))
    assert (left > 0.0).all()
    assert result.sd_population**2 == pytest.approx(plain.sd_population**2 + left)


def test_one_topic_is_no_sample(make_pool, point):
    pool = make_pool(np.random.default_rng(60), 2, 1, 5)
    with pytest.raises(InputError, match="two topics or more"):
        compare(pool, point(pool, np.full(5, 0.5))).with_population()
