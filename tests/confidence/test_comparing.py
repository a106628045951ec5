import json
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from pools import POOL_ALONE, pool_of
from scipy.special import expit
from scipy.stats import binom, norm

from rtc_bayes import (
    Comparison,
    Estimand,
    Judgments,
    Labels,
    Pool,
    Qrels,
    Relevance,
    Run,
    Runs,
    Workers,
    build,
    compare,
    fit,
    moments,
    plot_difference,
    read_qrels,
    sample_scores,
    simulate,
)
from rtc_bayes.confidence.caution import caution
from rtc_bayes.confidence.likeness import likeness, unlikeness
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.errors import CollectionWarning, InputError
from rtc_bayes.measures.residual import short_lists_error
from rtc_bayes.report.command_tables import comparison_tables
from rtc_bayes.report.comparison_page import trust


def signs(pair):
    return np.array([pair.p_less, pair.p_equal, pair.p_greater])


def assert_within_errors(actual, truth, outcomes, errors=4.5):
    spread = np.sqrt(np.maximum(truth * (1 - truth), 1 / outcomes) / outcomes)
    assert (np.abs(actual - truth) < errors * spread).all(), (actual, truth)


@pytest.mark.parametrize("topics", [1, 2, 3])
@pytest.mark.parametrize("seed", [1, 2])
def test_outcomes_give_the_enumerated_probabilities(make_pool, exact_signs, point, topics, seed):
    rng = np.random.default_rng(seed)
    pool = make_pool(rng, 2, topics, 7, depth=6)
    p = rng.random(pool.n_documents) ** 2
    p[rng.random(len(p)) < 0.2] = 0.0
    truth = exact_signs(pool, p)
    counted = compare(pool, point(pool, p), POOL_ALONE, form="montecarlo", outcomes=40_000)
    assert_within_errors(signs(counted.pair("s0", "s1")), truth, 40_000)
    chosen = compare(pool, point(pool, p), POOL_ALONE, outcomes=40_000).pair("s0", "s1")
    assert chosen.form != "normal"
    below, exact = chosen.p_less + chosen.p_equal / 2, truth[0] + truth[1] / 2
    assert abs(below - exact) < 4 * 0.5 / np.sqrt(40_000)


def test_few_topics_leave_the_normal(make_pool, exact_signs, point):
    rng = np.random.default_rng(8)
    pool = make_pool(rng, 2, 2, 6)
    p = np.full(pool.n_documents, 0.1)
    truth = exact_signs(pool, p)
    below = truth[0] + truth[1] / 2
    chosen = compare(pool, point(pool, p), POOL_ALONE).pair("s0", "s1")
    normal = compare(pool, point(pool, p), POOL_ALONE, form="normal").pair("s0", "s1")
    assert chosen.form == "montecarlo"
    assert chosen.p_equal == pytest.approx(truth[1], abs=0.02)
    assert normal.p_equal == 0
    assert abs(normal.p_less - below) > 0.03
    assert abs(chosen.p_less + chosen.p_equal / 2 - below) < 4 * 0.5 / np.sqrt(20_000)


def test_rare_events_leave_the_normal(point):
    """Very many tiny probabilities: the variance comes from a few relevant documents."""
    rng = np.random.default_rng(9)
    names = [f"d{i:03d}" for i in range(300)]
    better = {str(t): list(names) for t in range(10)}
    worse = {str(t): [*names[5:60], *names[:5], *names[200:300]] for t in range(10)}
    for ranking in worse.values():
        ranking[:60] = [ranking[i] for i in rng.permutation(60)]
    pool = pool_of({"a": better, "b": worse}, depth=300)
    p = np.full(pool.n_documents, 0.5 / 300)
    scores = sample_scores(pool, p, outcomes=100_000, seed=99)
    difference = scores[:, 0] - scores[:, 1]
    truth = np.array([(difference < -1e-12).mean(), 0, (difference > 1e-12).mean()])
    truth[1] = 1 - truth.sum()
    chosen = compare(pool, point(pool, p), POOL_ALONE).pair("a", "b")
    normal = compare(pool, point(pool, p), POOL_ALONE, form="normal").pair("a", "b")
    assert chosen.form == "montecarlo"
    assert chosen.excess_kurtosis > 1
    assert_within_errors(signs(chosen), truth, 20_000)
    assert abs(normal.p_less - truth[0] - truth[1] / 2) > 0.04


def test_a_mild_shape_is_corrected(point):
    rng = np.random.default_rng(10)
    quality = rng.normal(size=(6, 40))
    runs = {}
    for s in range(5):
        ranked = np.argsort(-(0.15 * s * quality + rng.normal(size=quality.shape)), axis=1)
        rankings = {str(t): [f"d{i:02d}" for i in ranked[t]] for t in range(6)}
        runs[f"s{s}"] = rankings
    pool = pool_of(runs)
    p = np.exp(quality)
    p = (np.minimum(p / p.sum(axis=1, keepdims=True) * 3, 0.9)).ravel()
    scores = sample_scores(pool, p, outcomes=200_000, seed=99)
    comparison = compare(pool, point(pool, p), POOL_ALONE)
    normal = compare(pool, point(pool, p), POOL_ALONE, form="normal")
    truth = np.array(
        [(scores[:, int(x.a[1])] < scores[:, int(x.b[1])]).mean() for x in comparison.pairs]
    )
    mended = np.array(comparison.form) == "corrected"
    assert mended.sum() >= 5
    error = np.abs(comparison.p_less - truth)[mended]
    assert error.max() < 0.01
    assert error.mean() < 0.5 * np.abs(normal.p_less - truth)[mended].mean()


def test_many_topics_keep_the_normal(make_pool, point):
    rng = np.random.default_rng(11)
    pool = make_pool(rng, 4, 40, 40)
    p = rng.random(pool.n_documents) * 0.6
    comparison = compare(pool, point(pool, p), POOL_ALONE)
    assert set(comparison.form) == {"normal"}
    scores = sample_scores(pool, p, outcomes=50_000, seed=99)
    truth = [(scores[:, int(x.a[1])] < scores[:, int(x.b[1])]).mean() for x in comparison.pairs]
    assert comparison.p_less == pytest.approx(np.array(truth), abs=0.012)


def test_identical_runs_are_tied_and_near_identical_ones_nearly():
    names = [f"d{i}" for i in range(20)]
    swapped = [*names[:18], names[19], names[18]]
    runs = {"one": names, "two": names, "near": swapped}
    pool = pool_of({tag: {"1": run, "2": run} for tag, run in runs.items()})
    p = np.full(40, 0.2)
    comparison = compare(pool, Relevance.from_values(pool, p), POOL_ALONE)
    same = comparison.pair("one", "two")
    assert (same.p_less, same.p_equal, same.p_greater) == (0, 1, 0)
    assert (same.sd, same.skewness, same.form) == (0, None, "normal")
    assert same.confidence == 0.5
    near = comparison.pair("one", "near")
    assert near.form == "montecarlo"
    # equal unless one of the two last documents is relevant and the other is not, by symmetry
    tie = (1 - 2 * 0.2 * 0.8) ** 2
    assert near.p_equal == pytest.approx(tie, abs=0.1)
    assert near.p_equal > 0.4


def test_judged_documents_leave_no_doubt(make_pool, point):
    rng = np.random.default_rng(12)
    pool = make_pool(rng, 3, 5, 10)
    p = (rng.random(pool.n_documents) < 0.3).astype(float)
    for form in ("auto", "normal", "corrected", "montecarlo"):
        comparison = compare(pool, point(pool, p), POOL_ALONE, form=form, outcomes=50)
        assert set(comparison.confidence.tolist()) <= {0.5, 1.0}
        assert comparison.sd_difference.tolist() == [0, 0, 0]
        assert np.isnan(comparison.skewness).all()


def test_no_probability_at_all_is_a_tie(make_pool, point):
    pool = make_pool(np.random.default_rng(0), 3, 2, 5)
    comparison = compare(pool, point(pool, np.zeros(10)), POOL_ALONE)
    assert comparison.p_equal.tolist() == [1, 1, 1]


def test_two_draws_make_a_mixture(make_pool, exact_signs):
    rng = np.random.default_rng(13)
    pool = make_pool(rng, 2, 3, 6)
    draws = rng.random((2, pool.n_documents)) ** [[1], [3]]
    relevance = Relevance.from_values(pool, draws[:, None])
    truth = np.mean([exact_signs(pool, p) for p in draws], axis=0)
    comparison = compare(pool, relevance, POOL_ALONE, form="montecarlo", outcomes=40_000).pair(
        "s0", "s1"
    )
    assert_within_errors(signs(comparison), truth, 40_000)

    table = moments(pool, draws)
    expected, variance = table.difference_expected[:, 0], table.difference_variance[:, 0]
    assert comparison.expected_difference == pytest.approx(expected.mean())
    assert comparison.variance_unjudged == pytest.approx(variance.mean())
    assert comparison.variance_parameters == pytest.approx(np.ptp(expected) ** 2 / 4)
    assert comparison.variance_parameters > 0
    assert comparison.sd**2 == pytest.approx(variance.mean() + expected.var())

    alone = [
        compare(pool, Relevance.from_values(pool, p), POOL_ALONE, form="normal").p_less[0]
        for p in draws
    ]
    both = compare(pool, relevance, POOL_ALONE, form="normal")
    assert both.p_less[0] == pytest.approx(np.mean(alone))
    assert both.sd[0] ** 2 == pytest.approx(
        table.mean_variance[:, 0].mean() + table.mean_expected[:, 0].var()
    )


def test_a_certain_and_an_uncertain_draw(make_pool):
    pool = make_pool(np.random.default_rng(14), 2, 4, 12)
    draws = np.stack([np.zeros(pool.n_documents), np.full(pool.n_documents, 0.4)])
    comparison = compare(pool, Relevance.from_values(pool, draws[:, None]), POOL_ALONE)
    pair = comparison.pair("s0", "s1")
    assert pair.p_equal == pytest.approx(0.5, abs=0.02)
    assert pair.skewness is not None


@pytest.mark.parametrize("form", ["auto", "normal", "corrected", "montecarlo"])
def test_the_order_of_systems_turns_the_sign(make_pool, form):
    rng = np.random.default_rng(15)
    pool = make_pool(rng, 4, 6, 12)
    p = rng.random(pool.n_documents) * 0.3
    turned = pool.select(pool.systems[::-1])
    one = compare(pool, Relevance.from_values(pool, p), POOL_ALONE, form=form, seed=3)
    other = compare(turned, Relevance.from_values(pool, p), POOL_ALONE, form=form, seed=3)
    for pair in one.pairs:
        back = other.pair(pair.a, pair.b)
        assert back.form == pair.form
        assert signs(back) == pytest.approx(signs(pair), abs=1e-9)
        assert back.expected_difference == pytest.approx(pair.expected_difference, abs=1e-12)
        assert back.sd == pytest.approx(pair.sd, rel=1e-7)
        assert back.skewness == pytest.approx(pair.skewness, abs=1e-6)


def test_the_same_seed_gives_the_same_answer(make_pool, point):
    pool = make_pool(np.random.default_rng(16), 3, 2, 8)
    relevance = point(pool, np.full(pool.n_documents, 0.2))
    one, same, other = (compare(pool, relevance, seed=seed, outcomes=500) for seed in (5, 5, 6))
    assert one.to_json() == same.to_json()
    assert one.p_less.tolist() != other.p_less.tolist()


def test_documents_that_only_other_systems_retrieved_count():
    pool = pool_of({"a": {"1": ["d1", "d2"]}, "b": {"1": ["d2", "d1"]}})
    pool = pool.with_documents({"1": ["d3", "d4"]})
    p = np.array([0.5, 0.4, 1.0, 1.0])
    comparison = compare(pool, Relevance.from_values(pool, p), POOL_ALONE, form="montecarlo")
    # a > b if d1 is relevant and d2 is not
    assert comparison.p_greater[0] == pytest.approx(0.5 * 0.6, abs=4 * 0.5 / np.sqrt(20_000))
    assert comparison.expected[0] < 0.4


def test_a_measure_without_moments_goes_by_outcomes(make_pool, point):
    rng = np.random.default_rng(17)
    pool = make_pool(rng, 3, 2, 6)
    p = rng.random(pool.n_documents)
    comparison = compare(pool, point(pool, p), "Bpref", outcomes=300)
    assert comparison.moments == "montecarlo"
    assert set(comparison.form) == {"montecarlo"}
    scores = sample_scores(pool, p, measure="Bpref", outcomes=2000, seed=77)
    error = 5 * scores.std(axis=0) / np.sqrt(300)
    assert (np.abs(comparison.expected - scores.mean(axis=0)) < error).all()
    assert comparison.expected_difference[0] == pytest.approx(
        comparison.expected[0] - comparison.expected[1]
    )
    assert comparison.variance_parameters.tolist() == [0, 0, 0]
    draws = Relevance.from_values(pool, np.stack([p, p**4])[:, None])
    assert compare(pool, draws, "Bpref", outcomes=100).variance_unjudged.min() > 0


@pytest.mark.parametrize("measure", ["P@3", "RR", "nDCG@4", "RBP(p=0.7)", "R@3"])
def test_other_measures_agree_with_enumeration(make_pool, exact_signs, point, measure, oracle):
    oracle.SCORES.setdefault("P@3", lambda ranking, x: oracle.precision(ranking, x, 3))
    oracle.SCORES.setdefault("nDCG@4", lambda ranking, x: oracle.ndcg(ranking, x, 4))
    rng = np.random.default_rng(18)
    pool = make_pool(rng, 2, 3, 6)
    p = rng.random(pool.n_documents) ** 2
    comparison = compare(pool, point(pool, p), Estimand(measure, scope="pool"))
    assert comparison.measure == measure
    assert_within_errors(
        signs(comparison.pair("s0", "s1")), exact_signs(pool, p, score=measure), 20_000
    )


def test_the_mean_is_over_the_topics_asked_for(make_pool):
    rng = np.random.default_rng(19)
    pool = make_pool(rng, 3, 4, 8, depth=6)
    p = rng.random(pool.n_documents)
    table = moments(pool, p)
    relevance = Relevance.from_values(pool, p)
    comparison = compare(pool, relevance, Estimand(topics=["3", "1"], scope="pool"))
    assert comparison.topics == ("1", "3")
    assert comparison.expected == pytest.approx(table.expected[0][:, [1, 3]].mean(axis=1))
    assert comparison.sd == pytest.approx(np.sqrt(table.variance[0][:, [1, 3]].sum(axis=1)) / 2)
    assert compare(pool, relevance, Estimand(topics=pool.topics, scope="pool")).to_dict() == (
        compare(pool, relevance, POOL_ALONE).to_dict()
    )


def test_plugin_moments_are_normal_unless_asked_otherwise(make_pool, point):
    rng = np.random.default_rng(20)
    pool = make_pool(rng, 3, 2, 8)
    p = rng.random(pool.n_documents) * 0.2
    with pytest.warns(CollectionWarning, match="plug-in standard deviation of . systems? is above"):
        compare(pool, point(pool, p / 100), moments="plugin")
    p = 0.3 + p
    published = compare(pool, point(pool, p), moments="plugin")
    assert set(published.form) == {"normal"}
    assert published.moments == "plugin"
    counted = compare(pool, point(pool, p), moments="plugin", form="montecarlo")
    exact = compare(pool, point(pool, p), form="montecarlo")
    assert counted.p_less.tolist() == exact.p_less.tolist()
    mended = compare(pool, point(pool, p), moments="plugin", form="corrected")
    assert mended.skewness == pytest.approx(exact.skewness)
    assert (mended.p_less != published.p_less).all()


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "R@4"])
def test_many_draws_go_through_the_analytic_moments(make_pool, measure):
    """Exact moments of 32 draws and plug-in ones of all give what exact moments of all do."""
    rng = np.random.default_rng(23)
    pool = make_pool(rng, 3, 4, 20)
    shift = rng.normal(0, 1, size=(2000, 1)) + rng.normal(0, 0.5, size=(2000, pool.n_documents))
    draws = 1 / (1 + np.exp(1.5 - shift))
    relevance, estimand = (
        Relevance.from_values(pool, draws[:, None]),
        Estimand(measure, scope="pool"),
    )
    comparison = compare(pool, relevance, estimand, form="normal")
    kept = comparison.meta["draws"]
    assert (comparison.moments, comparison.meta["exact_draws"]) == ("exact", 32)
    assert kept == 600  # evenly spaced
    table = moments(pool, draws, measure=measure)
    expected, variance = table.difference_expected, table.difference_variance
    below = norm.cdf(-expected / np.sqrt(variance))
    # the error that is stated, of thinned draws and of the correction
    assert np.abs(comparison.p_less - below.mean(axis=0)).max() < 4 * 0.005
    apart = np.abs(comparison.expected_difference - expected.mean(axis=0))
    assert (apart < 4 * expected.std(axis=0) / np.sqrt(kept)).all()
    gap = np.abs(comparison.variance_unjudged - variance.mean(axis=0))
    assert (gap < 4 * variance.std(axis=0) / np.sqrt(kept)).all()


def test_small_pools_have_exact_moments_of_every_draw():
    """There exact moments are not a line of plug-in ones: 32 draws had sds 8 to 16% too small."""
    simulated = simulate(n_topics=25, n_systems=5, seed=9)
    pool = Pool.from_runs(simulated.runs, depth=10)
    judgments = build(pool, simulated.qrels, "ip", budget=25, confidence=None).judgments
    relevance = fit(pool, judgments, model="hierarchical").relevance
    comparison = compare(pool, relevance, POOL_ALONE, moments="exact")
    assert comparison.meta["exact_draws"] == comparison.meta["draws"] == 600
    table = moments(pool, relevance)
    assert comparison.expected == pytest.approx(table.mean_expected.mean(axis=0), rel=1e-12)
    total = table.mean_variance.mean(axis=0) + table.mean_expected.var(axis=0)
    assert comparison.sd == pytest.approx(np.sqrt(total), rel=1e-12)


def test_lines_of_logarithms_leave_a_variance_its_mean():
    """Their exponentials have a lower mean: a variance of a small pool was 10% too small."""
    lists = {"A": {"1": "abc", "2": "xy"}, "B": {"1": "cbd", "2": "yz"}}
    pool = pool_of(lists, depth=3)
    judgments = Judgments.from_qrels(pool, read_qrels({"1": {"a": 1}, "2": {"x": 0}}))
    relevance = fit(pool, judgments, model="hierarchical", seed=1).relevance
    asked = Estimand("nDCG@3", scope="pool")
    comparison = compare(pool, relevance, asked, form="normal")
    assert comparison.meta["exact_draws"] == 32
    table = moments(pool, relevance, measure="nDCG@3")
    assert comparison.variance_unjudged == pytest.approx(
        table.difference_variance.mean(axis=0), rel=0.03
    )


def test_draws_with_next_to_nothing_relevant_do_not_widen_scores(make_pool):
    """Their plug-in variances are beyond any that scores can have, and are not followed."""
    rng = np.random.default_rng(26)
    pool = make_pool(rng, 4, 3, 15)
    odds = rng.normal(-1, 0.7, size=(400, 1)) + rng.normal(0, 1, size=(400, pool.n_documents))
    few = np.setdiff1d(np.arange(400), np.arange(32) * 400 // 32)[::30]  # of those not computed
    odds[few, pool.documents(0)] -= 8
    draws = 1 / (1 + np.exp(-odds))
    plugin = moments(pool, draws, moments="plugin", pairs="none")
    assert plugin.variance.max() > 0.25  # more than half of 0 and half of 1 have
    comparison = compare(pool, Relevance.from_values(pool, draws[:, None]), POOL_ALONE)
    assert comparison.meta["exact_draws"] == 32
    table = moments(pool, draws)
    spread = table.mean_expected.var(axis=0)
    total = spread + table.mean_variance.mean(axis=0)
    # what is left of a variance, as its mean is that of 32 draws, and of the draws that are kept
    error = 4 * table.mean_variance.std(axis=0) / np.sqrt(32)
    error += 4 * spread * np.sqrt(2 / comparison.meta["draws"])
    assert (np.abs(comparison.sd**2 - total) < error).all()
    gap = np.abs(comparison.variance_unjudged - table.difference_variance.mean(axis=0))
    assert (gap < 4 * table.difference_variance.std(axis=0) / np.sqrt(32)).all()


def test_a_rare_mode_that_few_draws_miss_is_computed():
    """In 3% of draws a topic is rich in relevant documents: scores were up to 9% too low."""
    pool = Pool.from_runs(simulate(n_topics=10, n_systems=4, seed=1).runs, depth=30)
    rare = np.random.default_rng(3).random((600, 10)) < 0.03
    draws = 1 / (1 + np.exp(3 - 4 * rare[:, pool.topic_of] + 0.5 * np.log(pool.best_ranks)))
    comparison = compare(pool, Relevance.from_values(pool, draws), POOL_ALONE, form="normal")
    table = moments(pool, draws)
    np.testing.assert_allclose(comparison.expected, table.mean_expected.mean(axis=0), rtol=1e-9)
    assert comparison.meta["exact_draws"] == comparison.meta["draws"] == 600
    # a normal level is none
    level = np.random.default_rng(3).normal(0, 0.5, (600, 1))
    draws = 1 / (1 + np.exp(2 - level + 0.5 * np.log(pool.best_ranks)))
    assert compare(pool, Relevance.from_values(pool, draws), POOL_ALONE).meta["exact_draws"] == 32


@pytest.mark.parametrize("draws", [127, 128, 400])
def test_lists_that_are_judged_to_the_cutoff_leave_the_number_of_relevant_documents(draws):
    """Of which plug-in variances are 0; by the binomial, of the six documents that C retrieves."""
    lists = {"A": {"1": "abc"}, "B": {"1": "bxc"}, "C": {"1": "uvwyzt"}}
    pool = pool_of(lists, depth=6)
    judged = {"a": 1.0, "b": 1.0, "c": 0.0, "x": 0.0}
    level = expit(-1.0 + 0.5 * np.random.default_rng(0).standard_normal(draws))
    p = [[judged.get(docno, chance) for docno in pool.docnos] for chance in level]
    asked = Estimand("AP@3", depth=6, scope="pool")
    comparison = compare(pool, Relevance.from_values(pool, p), asked)
    # AP@3 of A is 2 / R, and that of B 1 / R
    inverse = 1.0 / (2.0 + np.arange(7))
    chances = binom.pmf(np.arange(7), 6, level[:, None])
    mean, square = chances @ inverse, chances @ inverse**2
    sd = np.sqrt(square.mean() - mean.mean() ** 2)
    np.testing.assert_allclose(comparison.expected[:2], np.array([2, 1]) * mean.mean(), rtol=0.02)
    # moments of 32 of the draws stand for those of all
    np.testing.assert_allclose(comparison.sd[:2], np.array([2, 1]) * sd, rtol=0.02)
    np.testing.assert_allclose(comparison.pair("A", "B").sd, sd, rtol=0.02)


def test_plugin_variances_of_many_draws_follow_those_of_some(make_pool):
    """Expectations are those of every draw; a probability is off by a tenth of its error."""
    rng = np.random.default_rng(25)
    pool = make_pool(rng, 3, 4, 20)
    shift = rng.normal(0, 1, size=(600, 1)) + rng.normal(0, 0.5, size=(600, pool.n_documents))
    draws = 1 / (1 + np.exp(1.5 - shift))
    comparison = compare(
        pool, Relevance.from_values(pool, draws[:, None]), POOL_ALONE, moments="plugin"
    )
    table = moments(pool, draws, moments="plugin")
    expected, variance = table.difference_expected, table.difference_variance
    assert comparison.meta["draws"] == 600
    assert comparison.expected_difference == pytest.approx(expected.mean(axis=0), abs=1e-12)
    below = norm.cdf(-expected / np.sqrt(variance))
    error = below.std(axis=0) / np.sqrt(600)
    assert (np.abs(comparison.p_less - below.mean(axis=0)) < 0.2 * error).all()
    assert comparison.variance_unjudged == pytest.approx(variance.mean(axis=0), rel=0.05)
    skewness = (table.third / variance**1.5).mean(axis=0)
    assert comparison.skewness == pytest.approx(skewness, abs=0.05)
    assert (variance.std(axis=0) > 0.1 * variance.mean(axis=0)).all()


def test_few_draws_have_exact_moments_each(make_pool):
    rng = np.random.default_rng(24)
    pool = make_pool(rng, 3, 4, 8)
    draws = rng.random((100, pool.n_documents))
    comparison = compare(pool, Relevance.from_values(pool, draws[:, None]), POOL_ALONE)
    table = moments(pool, draws)
    assert comparison.meta["exact_draws"] == comparison.meta["draws"] == 100
    assert comparison.expected_difference == pytest.approx(table.difference_expected.mean(axis=0))
    assert comparison.variance_unjudged == pytest.approx(table.difference_variance.mean(axis=0))
    # what plug-in moments give is exact where nothing is divided
    linear = compare(
        pool,
        Relevance.from_values(pool, np.tile(draws, (2, 1))[:, None]),
        Estimand("P@3", scope="pool"),
    )
    assert linear.meta["exact_draws"] == 200


def test_counting_never_makes_certain(make_pool, point):
    """One system has a document more: it is never the worse one, which outcomes cannot prove."""
    runs = {"a": ["d1", "d2", "d3"], "b": ["d1", "d2"], "c": ["d1", "d2"]}
    pool = pool_of({tag: {"1": run} for tag, run in runs.items()})
    for measure in ("AP", "Bpref"):
        comparison = compare(
            pool, point(pool, [0.5, 0.5, 0.9]), Estimand(measure, scope="pool"), form="montecarlo"
        )
        more, same = comparison.pair("a", "b"), comparison.pair("b", "c")
        assert more.p_less == pytest.approx(1 / 20_002)
        assert more.p_less + more.p_equal + more.p_greater == pytest.approx(1.0)
        assert (same.p_less, same.p_equal, same.p_greater) == (0, 1, 0)
        judged = compare(
            pool, point(pool, [1.0, 1.0, 1.0]), Estimand(measure, scope="pool"), outcomes=10
        )
        assert judged.pair("a", "b").p_greater == 1.0


@pytest.mark.parametrize("measure", ["AP", "ERR", "Rprec", "Success@1"])
def test_a_difference_is_known_where_only_equal_lists_are_unsure(measure):
    pool = pool_of({"s0": {"1": "ab", "2": "c"}, "s1": {"1": "ba", "2": "c"}})
    relevance = Relevance.from_values(pool, [1.0, 0.0, 0.5])
    about = Estimand(measure, scope="pool", unseen=False, residual=0.0)
    assert compare(pool, relevance, about, outcomes=100).p_greater.tolist() == [1.0]


def test_one_system_has_no_pairs(make_pool, point):
    pool = make_pool(np.random.default_rng(0), 1, 2, 4)
    for measure in ("AP", "Bpref"):
        comparison = compare(pool, point(pool, np.full(8, 0.5)), measure, outcomes=10)
        assert comparison.pairs == ()
        assert len(comparison.expected) == 1
        assert json.loads(comparison.to_json())["pairs"] == []
        repr(comparison)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "gamma"}, "form is 'gamma'; give auto"),
        ({"moments": "printed"}, "give auto, exact or plugin"),
        ({"outcomes": 1}, "at least 2"),
        ({"seed": -1}, "at least 0"),
        ({"estimand": Estimand(topics=["99"])}, "no topic '99'"),
        ({"estimand": Estimand(topics=[])}, "each once"),
        ({"estimand": Estimand(topics=["1", "1"])}, "each once"),
        ({"estimand": "MAPP"}, "MAPP"),
    ],
)
def test_bad_arguments_are_named(make_pool, point, options, message):
    pool = make_pool(np.random.default_rng(0), 2, 2, 4)
    with pytest.raises(InputError, match=message):
        compare(pool, point(pool, np.full(8, 0.5)), **options)


def test_a_document_without_probability_is_an_error(make_pool, point):
    small = make_pool(np.random.default_rng(0), 2, 2, 4)
    large = make_pool(np.random.default_rng(0), 2, 2, 6)
    with pytest.raises(InputError, match="no probability"):
        compare(large, point(small, np.full(8, 0.5)))


def test_a_pool_that_lacks_what_its_lists_hold_is_refused():
    """Documents of the fit below its depth would count as relevant and be in no list."""
    made = simulate(n_topics=3, n_systems=4, seed=1)
    deep, shallow = (Pool.from_runs(made.runs, depth=depth) for depth in (30, 10))
    fitted = fit(deep, Judgments.from_qrels(deep, made.qrels), model="rtc")
    for estimand in (Estimand(), POOL_ALONE):
        with pytest.raises(
            InputError, match=r"of depth 10, lacks document .* at rank \d+ in the fit"
        ):
            compare(shallow, fitted, estimand)
    pair = deep.systems[:2]
    with pytest.raises(InputError, match="keep_documents=True"):
        compare(deep.select(pair), fitted)
    # lists that are cut at the depth lose nothing
    of_pair = compare(deep.select(pair), fitted, POOL_ALONE).expected
    np.testing.assert_allclose(of_pair, compare(deep, fitted, POOL_ALONE).expected[:2], rtol=1e-9)


@pytest.mark.parametrize(
    ("judged", "level", "said"),
    [
        ([], 1, "nothing is judged"),
        ([0, 0, 0, 0], 1, "no judged document is relevant: the scale of the scores is not known"),
        ([2, 1, 0, 2], 3, "grade 2 is the highest judged, and 3 the lowest relevant one"),
        ([1, 0], 1, "with 2.0 judgments a topic, fewer than the 3.5 of the checks"),
        ([1, 0, 0, 1], 1, None),
    ],
)
def test_judgments_that_tell_too_little_are_remarked_on(make_pool, judged, level, said):
    pool = make_pool(np.random.default_rng(0), 2, 1, 6)
    table = {pool.topics[0]: dict(zip(pool.docnos, judged, strict=False))}
    none = (
        pytest.warns(CollectionWarning, match="above the highest") if level > 1 else nullcontext()
    )
    with none:
        judgments = Judgments.from_qrels(pool, Qrels(table), relevance_level=level)
    comparison = compare(pool, fit(pool, judgments, model="rtc"), POOL_ALONE)
    page = comparison.to_html(judgments=judgments)
    if said is None:
        assert "judged" not in comparison.meta
        assert "a confidence is a hint" not in page
    else:
        assert said in comparison.meta["judged"]
        assert said in page


def test_topics_at_a_time_change_no_comparison(make_pool):
    rng = np.random.default_rng(31)
    pool = make_pool(rng, 4, 5, 8)
    values = rng.random((2, 3, pool.n_documents)).astype(np.float32)
    relevance = Relevance.from_values(pool, values)
    one, two = (compare(pool, relevance, workers=Workers(jobs)) for jobs in (1, 2))
    assert one.to_dict() == two.to_dict()


@pytest.mark.parametrize(("residual", "mostly"), [(0.9, False), (1.1, True)])
def test_a_residual_that_is_most_of_what_is_unsure_is_said(make_pool, residual, mostly):
    """Of two systems it doubles the variance where its square is half of theirs."""
    pool = make_pool(np.random.default_rng(3), 2, 2, 7, depth=5)
    relevance = Relevance.from_values(pool, np.full(pool.n_documents, 0.3))
    (without,) = compare(pool, relevance, Estimand(residual=0)).sd_difference
    (apart,) = np.sqrt(unlikeness(likeness(pool)))
    comparison = compare(pool, relevance, Estimand(residual=residual * without / apart))
    said = comparison.residual_text
    assert (said is not None) is mostly
    assert (str(said) in "".join(trust(comparison, None)).lower()) is mostly
    (systems, _) = comparison_tables(comparison, None, seed=0)
    assert (str(said) in systems.title) is mostly


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        (1, "its expected score may be far off"),
        (7, "expected scores of 7 systems are often all too high or all too low"),
        (8, None),
        (50, None),
        (51, "expected scores of 51 systems are often all too high or all too low"),
    ],
)
def test_the_level_of_few_and_of_many_systems_is_cautioned_about(make_pool, systems, said):
    """Their expected scores by whole lists; neither measures of first ranks nor the pool's."""
    pool = make_pool(np.random.default_rng(3), systems, 2, 300, depth=150)
    assert pool.lengths.max() >= 100
    drawn = Relevance.from_values(pool, np.full((1, 2, pool.n_documents), 0.3))
    comparison = compare(pool, drawn, moments="plugin")
    level = comparison.level_text
    assert level is None if said is None else said in str(level)
    point = Relevance.from_values(pool, np.full(pool.n_documents, 0.3), method="map")
    of_point = compare(pool, point, moments="plugin")
    assert of_point.level_text == level
    assert "By map every document has one probability" in "".join(trust(of_point, None))
    for other in ("P@5", POOL_ALONE):
        assert compare(pool, drawn, other, moments="plugin").level_text is None
    judged = Relevance.from_values(pool, np.ones((1, 2, pool.n_documents)))
    complete = compare(pool, judged, Estimand(residual=0), moments="plugin")
    assert (complete.level_text is None) is (
        systems >= 8
    )  # what few systems missed no judgment of theirs tells
    assert comparison.residual_text is None
    # a graded cutoff is one of first ranks, too
    for deep in ("AP(rel=2)", "nDCG", "R@10"):
        assert replace(comparison, measure=deep).level_text == level
    assert replace(comparison, measure="AP(rel=2)@5").level_text is None


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        # d and f, of eight
        (
            "P@4",
            "25% of the documents that P@4 counts are outside the pool of depth 2 and count as "
            "nonrelevant, so that scores are too low: give depth 4 (--depth)",
        ),
        ("nDCG@4", "so that scores are off: give depth 4 (--depth)"),
        ("P@9", "25% of the documents that P@9 counts"),  # lists end at rank 4
        ("P@2", None),
        (Estimand("P@4", scope="pool"), None),
    ],
)
def test_a_measure_of_more_ranks_than_are_pooled_is_cautioned_about(measure, said):
    lists = {"one": ["a", "b", "c", "d"], "two": ["c", "e", "a", "f"]}
    runs = Runs([Run.from_rankings(name, {"1": of}) for name, of in lists.items()])
    pool = Pool.from_runs(runs, depth=2)
    comparison = compare(pool, Relevance.from_values(pool, np.full(pool.n_documents, 0.5)), measure)
    assert comparison.level_text is None if said is None else said in str(comparison.level_text)
    assert (said in repr(comparison)) if said else ("outside" not in repr(comparison))


@pytest.mark.parametrize(
    ("estimand", "options"),
    [(POOL_ALONE, {"form": "normal"}), ("Success@1", {"outcomes": 2000})],
    ids=["moments", "outcomes"],
)
def test_the_error_of_draws_is_told(estimand, options):
    """The spread of P over other draws of the same posterior."""
    rng = np.random.default_rng(4)
    pool = pool_of({"A": {"1": "abcd", "2": "xy"}, "B": {"1": "dcba", "2": "yx"}})

    def compared():
        odds = rng.normal(0, 2, size=(200, 1)) + rng.normal(0, 1, size=(200, pool.n_documents))
        draws = 1 / (1 + np.exp(-odds))
        return compare(pool, Relevance.from_values(pool, draws), estimand, **options)

    several = [compared() for _ in range(60)]
    told = np.mean([each.meta["draws_error"] for each in several])
    spread = np.std([each.p_less[0] + 0.5 * each.p_equal[0] for each in several], ddof=1)
    # of 60 the standard deviation is known to a tenth
    assert told == pytest.approx(spread, rel=0.35)


def test_the_error_of_outcomes_is_told_of_a_point_estimate():
    """The spread of P over other seeds of the same outcomes."""
    pool = pool_of({"A": {"1": "abcd", "2": "xy"}, "B": {"1": "dcba", "2": "yx"}})
    point = Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
    several = [compare(pool, point, "ERR@4", outcomes=100, seed=seed) for seed in range(60)]
    told = np.mean([each.meta["draws_error"] for each in several])
    spread = np.std([each.p_less[0] + 0.5 * each.p_equal[0] for each in several], ddof=1)
    assert told == pytest.approx(spread, rel=0.35)
    assert "by less with more outcomes or draws of the fit" in several[0].seed_text


@pytest.mark.filterwarnings("ignore:no label is of")
def test_few_labels_or_equal_ones_leave_the_caution():
    pool = Pool.from_runs(simulate(n_topics=2, n_systems=2, seed=1).runs, depth=60)
    judged = Judgments.from_labels(pool, [0, 1, pool.topic_starts[1]], [1, 0, 1])
    topics = [pool.topics[t] for t in pool.topic_of]

    def said(grades):
        n = len(grades)
        labels = Labels.of(topics[:n], pool.docnos[:n], ["llm"] * n, grades)
        return "fewer than the 3.5" in caution(judged.with_judge_labels(labels), pool.topics)

    assert said([1] * pool.n_documents)
    assert said([1, 0, 1])
    assert not said([n % 2 for n in range(pool.n_documents)])


def test_documents_aside_are_counted_where_nothing_is_judged():
    pool = pool_of({"A": {"1": "ab"}})
    aside = Judgments.none(pool).with_aside([("1", "a")])
    assert caution(aside, pool.topics).startswith(
        "nothing is judged (1 document of a negative grade, which nobody can judge, left out): the"
    )


@pytest.mark.parametrize(("measure", "shares"), [("AP", True), ("nDCG", True), ("P@10", False)])
def test_short_lists_widen_intervals_and_move_no_probability(make_pool, measure, shares):
    """What is below the end of every list is one factor of all scores, and of their differences."""
    pool = make_pool(np.random.default_rng(5), 4, 6, 60, depth=20)
    longest = pool.cut_at
    assert 0 < longest < 100
    p = np.random.default_rng(6).uniform(0.05, 0.6, pool.n_documents)
    relevance = Relevance.from_values(pool, p)
    short = compare(pool, relevance, measure)
    long = compare(pool, relevance, Estimand(measure, residual=short.meta["residual"]))
    for name in ("expected", "expected_difference", "sd_difference", "p_less", "p_greater"):
        np.testing.assert_array_equal(getattr(short, name), getattr(long, name))
    assert (short_lists_error(measure, 4, longest) > 0.0) is shares
    part = short.meta["common_error"]
    assert (part > 0.0) is shares is (short.sd_shared is not None)
    if not shares:
        assert short.pairs == long.pairs
        return
    np.testing.assert_allclose(short.sd_shared, part * np.abs(short.expected_difference))
    for pair, other in zip(short.pairs, long.pairs, strict=True):
        width, without = (half(of) for of in (pair, other))
        assert width**2 == pytest.approx(without**2 + (NORMAL_95 * pair.sd_shared) ** 2)
        assert half(pair.reversed()) == width
    assert f"lists are cut at rank {longest}" in short.level_text
    assert f"{part:.0%} of each score (intervals allow for it" in short.common_text
    assert Comparison.from_xarray(short.to_xarray()).pairs == short.pairs


def half(pair):
    low, high = pair.interval
    return (high - low) / 2.0


def test_lists_scored_to_a_rank_are_as_short_as_those_cut_there(make_pool):
    """Of cut lists, and of whole ones scored so far, the same pair says the same."""
    random = np.random.default_rng(7)
    ranked = {
        f"s{s}": {str(t): random.permutation([f"d{t}.{i}" for i in range(150)]) for t in range(4)}
        for s in range(3)
    }
    cut = {s: {t: docnos[:20] for t, docnos in of.items()} for s, of in ranked.items()}
    said = []
    for lists, about in ((cut, Estimand()), (ranked, Estimand(depth=20, score_depth=20))):
        pool = about.pool(Runs([Run.from_rankings(s, of) for s, of in lists.items()]))
        values = np.full(pool.n_documents, 0.3)
        comparison = compare(pool, Relevance.from_values(pool, values), about)
        said.append([(pair.interval, pair.sd_shared) for pair in comparison.pairs])
        assert comparison.meta["lists_cut_at"] == 20
    for (interval, shared), (other, same) in zip(*said, strict=True):
        assert interval == pytest.approx(other)
        assert shared == pytest.approx(same)


def test_the_figure_and_a_rope_know_of_short_lists(make_pool):
    pool = make_pool(np.random.default_rng(5), 2, 6, 60, depth=20)
    p = np.random.default_rng(6).uniform(0.05, 0.6, pool.n_documents)
    comparison = compare(pool, Relevance.from_values(pool, p))
    (pair,) = comparison.pairs
    axes = plot_difference(comparison, pair.a, pair.b)
    (drawn,) = [line for line in axes.lines if line.get_label() == "95% interval"]
    # of 20,000 outcomes, whose quantiles have an error of 3% of a standard deviation
    assert drawn.get_xdata() == pytest.approx(pair.interval, abs=0.1 * pair.sd)
    assert "too small" not in comparison.common_text
    asked = comparison.with_equivalence(0.01)
    assert "it moves no P(better) and no P(too small to matter)" in asked.common_text
