"""Evaluation without a model: condensed lists and paired t tests."""

import numpy as np
import pytest
from pools import judge, random_pool
from scipy.stats import ttest_rel

import rtc_bayes as rb
from rtc_bayes import Estimand, InputError
from rtc_bayes.judging import parse_algorithm
from rtc_bayes.measures.plain import condensed, paired_t
from rtc_bayes.trials import Collection, Plan, outcomes
from rtc_bayes.trials.complete import scores_by, topic_scores_by


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def test_the_confidence_is_that_of_scipys_paired_t(rng):
    scores = rng.random((5, 7))
    both = paired_t(scores)
    for pair, (a, b) in enumerate(zip(*np.triu_indices(5, 1), strict=True)):
        test = ttest_rel(scores[a], scores[b])
        assert both.confidence[pair] == pytest.approx(1 - test.pvalue / 2, abs=1e-12)
        assert both.difference[pair] == pytest.approx((scores[a] - scores[b]).mean(), abs=1e-14)
        spread = (scores[a] - scores[b]).std(ddof=1) / np.sqrt(7)
        assert both.sd[pair] == pytest.approx(spread, rel=1e-9)


def test_pairs_that_are_equal_or_the_same_distance_apart_everywhere(rng):
    one = rng.random(6)
    both = paired_t([one, one, one + 0.125])
    assert both.confidence.tolist() == [0.5, 1.0, 1.0]
    assert both.sd.tolist() == [0.0, 0.0, 0.0]
    for bad in ([[0.5], [0.4]], [0.5, 0.4], [[0.5, np.nan], [0.1, 0.2]]):
        with pytest.raises(InputError) as refusal:
            paired_t(bad)
        assert refusal.value.remedy


@pytest.mark.parametrize("score_depth", [6, 9])
def test_condensed_lists_are_those_of_ir_measures(rng, score_depth):
    pool = random_pool(rng, systems=4, topics=3, documents=12, depth=6)
    pool = rb.Pool.from_runs(_runs(pool, rng), depth=6, score_depth=score_depth)
    judgments = judge(pool, pool.n_documents // 2, share=0.5)
    inside = judgments.to_qrels()
    lists = condensed(judgments)
    scores = topic_scores_by(lists, Estimand(depth=6, scope="pool"))
    cut = rb.Runs(
        rb.Run.from_rankings(
            name,
            {topic: _list(pool, s, t) for t, topic in enumerate(pool.topics)},
        )
        for s, name in enumerate(pool.systems)
    )
    expected = rb.evaluate(cut, inside, "AP(judged_only=True)", topics="all").values
    np.testing.assert_allclose(scores, expected["AP(judged_only=True)"], atol=1e-12)
    assert lists.pool.n_documents == pool.n_documents
    assert not np.isin(lists.pool.ranked, np.flatnonzero(~judgments.judged)).any()


def _list(pool, system, topic):
    lists = pool.lists(topic)
    row = lists.ranked[lists.starts[system] : lists.starts[system + 1]]
    return pool.docnos[row + pool.topic_starts[topic]].tolist()


def _runs(pool, rng):
    return rb.Runs(
        rb.Run.from_rankings(
            name, {t: list(rng.permutation([f"d{i}" for i in range(12)])) for t in pool.topics}
        )
        for name in pool.systems
    )


def test_a_trial_evaluates_without_a_model():
    made = rb.simulate(n_topics=5, n_systems=6, seed=2)
    estimand = Estimand(depth=15)
    algorithms = ("ip", "ip/nonrelevant", "mtf/condensed")
    plan = Plan(algorithms, n_systems=5, estimand=estimand, budgets=(30,))
    collection = Collection.from_runs(made.runs, made.qrels, estimand)
    bare, nonrelevant, lists = outcomes(collection, plan, seed=1)
    scores, differences = scores_by(nonrelevant.judgments, estimand)
    np.testing.assert_allclose(nonrelevant.prediction.expected, scores, atol=1e-12)
    np.testing.assert_allclose(nonrelevant.prediction.expected_difference, differences, atol=1e-12)
    np.testing.assert_allclose(bare.prediction.expected, scores, atol=1e-12)
    assert np.isnan(bare.prediction.confidence).all()
    for one in (nonrelevant, lists):
        assert ((one.prediction.confidence >= 0.5) & (one.prediction.confidence <= 1)).all()
        assert np.isfinite(one.pairs_frame()["confidence"]).all()
    assert (lists.prediction.expected != nonrelevant.prediction.expected).any()


def test_what_evaluates_without_a_model_is_named_like_a_model():
    algorithm = parse_algorithm("pool[ties=docno]/condensed")
    assert (algorithm.unjudged, algorithm.evaluator) == ("condensed", None)
    assert parse_algorithm("mtc/nonrelevant").evaluator is None
    assert parse_algorithm("mtc").unjudged is None
    with pytest.raises(InputError, match="nonrelevant or condensed"):
        parse_algorithm("mtc/ip")
    graded = Estimand("nDCG@5", depth=15)
    made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    collection = Collection.from_runs(made.runs, made.qrels, graded)
    plan = Plan(("pool/condensed",), n_systems=3, estimand=graded, budgets=(5,))
    with pytest.raises(InputError, match="without a model"):
        list(outcomes(collection, plan, seed=1))
