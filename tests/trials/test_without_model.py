"""Evaluators without a model, and the judge that draws samples for them."""

import numpy as np
import pytest
from pools import pool_of, random_pool

import rtc_bayes as rb
from rtc_bayes import InputError, Judgments
from rtc_bayes.judging import parse_algorithm
from rtc_bayes.judging.judges import RandomSample
from rtc_bayes.measures.bootstrap import bootstrapped_relevance
from rtc_bayes.trials import Collection, Plan, outcomes
from rtc_bayes.trials.without_model import estimates_by

EVALUATORS = ("bpref", "infap", "xinfap", "statap", "bootstrap")


@pytest.fixture(scope="module")
def collection():
    made = rb.simulate(n_topics=15, n_systems=6, seed=2)
    return Collection.from_runs(made.runs, made.qrels, rb.Estimand(depth=20, scope="pool"))


def judged(collection, by, count, seed=0):
    judge = RandomSample(by=by)
    built = rb.build(collection.pool, collection.qrels, judge, budget=count, seed=seed)
    return judge, built.judgments


@pytest.mark.parametrize("by", ["rank", "depth", "uniform", "strata"])
def test_weights_by_the_probabilities_that_are_said_are_unbiased(by):
    """Over 400 seeds, of every document and of all together, in a pool of two topics."""
    pool = random_pool(np.random.default_rng(1), systems=3, topics=2, documents=40, longest=35)
    qrels = rb.Qrels({topic: {"d0000": 0} for topic in pool.topics})
    weights = []
    for seed in range(400):
        judge = RandomSample(by=by)
        judgments = rb.build(pool, qrels, judge, budget=24, seed=seed).judgments
        assert np.bincount(pool.topic_of[judgments.order]).tolist() == [12, 12]
        said = judge.sample(judgments, seed=seed).probability
        assert (said[judgments.judged] > 0.0).all()
        if by in ("uniform", "strata"):
            assert said.sum() == pytest.approx(24.0)
        weights.append(np.where(judgments.judged, 1.0 / np.where(said > 0.0, said, 1.0), 0.0))
    made = np.array(weights)
    for each, true in ((made.T, 1.0), ([made.sum(axis=1)], pool.n_documents)):
        for of in each:
            error = of.std() / np.sqrt(len(of))
            assert abs(of.mean() - true) <= 4.0 * error + 1e-9


def test_with_two_of_three_documents_the_probabilities_are_those_of_the_integral():
    """A document of weight 1 is left out where it is behind both others: E[u^2 / 6] = 1 / 18."""
    pool = pool_of({"one": {"1": "abc"}, "two": {"1": "abc"}}, depth=3)
    judge, seeds = RandomSample(by="depth"), 1500
    drawn = said = 0.0
    for seed in range(seeds):
        judgments = rb.build(pool, rb.Qrels({"1": {"a": 1}}), judge, budget=2, seed=seed).judgments
        drawn += judgments.judged[0] / seeds
        said += judge.sample(judgments, seed=seed).probability[0] / seeds
    assert abs(drawn - 17 / 18) <= 4.0 * np.sqrt(17.0 / 18**2 / seeds)
    assert abs(said - 17 / 18) <= 4.0 * np.sqrt(17.0 / 18**2 / seeds)


@pytest.mark.parametrize("gap", [1e-14, 1e-16])
def test_numbers_that_are_nearly_equal_are_drawn_in_one_order(gap, monkeypatch):
    """By the judge and by what it says of its draws, whichever docno comes first."""
    pool = pool_of({"one": {"1": "abc"}, "two": {"1": "bac"}}, depth=3)
    numbers = np.array([0.3 + gap, 0.3, 0.9])
    module = "rtc_bayes.judging.judges.random_sample.permanent_numbers"
    monkeypatch.setattr(module, lambda pool, seed: numbers)
    judge = RandomSample(by="depth")
    judgments = rb.build(pool, rb.Qrels({"1": {"a": 1}}), judge, budget=1).judgments
    assert judgments.order.tolist() == [int(numbers[1] < numbers[0])]
    said = judge.sample(judgments, seed=0).probability
    assert ((numbers < said) == judgments.judged).all()


def test_the_probabilities_of_other_judgments_are_refused(collection):
    judge, judgments = judged(collection, "rank", 60, seed=1)
    with pytest.raises(InputError, match="that sample does not make with seed 2"):
        judge.sample(judgments, seed=2)


def test_a_larger_budget_holds_the_smaller(collection):
    for by in ("rank", "strata"):
        _, few = judged(collection, by, 60)
        _, more = judged(collection, by, 120)
        assert more.order[:60].tolist() == few.order.tolist()


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_with_all_judged_the_truth_comes_out(collection, evaluator):
    """Of all but bpref, which orders systems on a scale of its own."""
    judge, judgments = judged(collection, "strata", collection.pool.n_documents)
    made = estimates_by(
        evaluator, judgments, collection.estimand, sample=judge.sample(judgments, seed=0), seed=1
    )
    true = estimates_by("nonrelevant", judgments, collection.estimand).expected
    if evaluator == "bpref":
        assert np.corrcoef(made.expected, true)[0, 1] > 0.9
    else:
        np.testing.assert_allclose(made.expected, true, atol=1e-4)
    if evaluator in ("statap", "bootstrap"):
        np.testing.assert_allclose(made.sd, 0.0, atol=1e-9)
        assert (made.pairs.confidence >= 0.5).all()


def test_in_a_study_each_evaluator_states_confidences(collection):
    names = tuple(f"sample[by=strata]/{evaluator}" for evaluator in EVALUATORS)
    plan = Plan(
        names, n_systems=6, n_initial=4, estimand=collection.estimand, budgets=(90,), trials=1
    )
    seen = {}
    for outcome in outcomes(collection, plan, seed=3):
        prediction = outcome.prediction
        assert outcome.failure is None
        assert np.isfinite(prediction.expected).all()
        assert (prediction.confidence >= 0.5).all()
        assert (prediction.confidence <= 1.0).all()
        assert set(np.sign(prediction.sign)) <= {-1.0, 0.0, 1.0}
        seen[outcome.label] = prediction.expected
    assert len(seen) == len(names)
    assert len({tuple(values.round(6)) for values in seen.values()}) == len(names)


def test_stat_ap_in_a_study_is_that_of_the_sample(collection):
    judge, judgments = judged(collection, "rank", 90)
    sample = judge.sample(judgments, seed=0)
    made = estimates_by("statap", judgments, collection.estimand, sample=sample)
    direct = rb.stat_ap(sample)
    np.testing.assert_allclose(made.expected, direct.scores.mean.mean(axis=1))
    np.testing.assert_allclose(made.pairs.confidence, direct.pairs().confidence)


def test_bootstrapped_probabilities_are_shares_of_judged_documents_around():
    """Of 4,000 draws the mean is near the share, over lists that hold the document."""
    pool = pool_of({"one": {"1": "abcd"}, "two": {"1": "defg"}}, depth=4)
    # of `one` a, b and c are judged, of `two` e and f
    judgments = Judgments.from_labels(pool, [0, 1, 2, 4, 5], [1, 1, 0, 0, 0])
    draws = bootstrapped_relevance(judgments, draws=4000, seed=1)
    assert draws[:, judgments.order].std(axis=0).max() == 0.0
    # a, b, c, e and f weigh anew; the share of the topic counts in a list like one document
    a, b, c, e, f = np.random.default_rng(9).exponential(size=(5, 200_000))
    every = a + b + c + e + f
    topic = (a + b + (a + b) / every) / (every + 1.0)
    one, two = (a + b + topic) / (a + b + c + 1.0), topic / (e + f + 1.0)
    # d stands in both lists, g in the second alone
    for document, share in ((3, (one + two) / 2.0), (6, two)):
        error = share.std() / np.sqrt(4000)
        assert abs(draws[:, document].mean() - share.mean()) < 3.5 * error
        assert draws[:, document].std() == pytest.approx(share.std(), rel=0.1)


def test_a_bootstrap_is_never_quite_sure(collection):
    _, judgments = judged(collection, "rank", 60)
    pairs = estimates_by("bootstrap", judgments, collection.estimand, seed=2).pairs
    assert pairs.confidence.max() < 1.0
    assert (pairs.sd > 0.0).all()


@pytest.mark.parametrize(
    ("algorithm", "said"),
    [
        ("mtf/statap", "known probabilities"),
        ("ip/xinfap", "known probabilities"),
        ("sample/xinfap", "by strata"),
        ("sample[by=luck]/statap", "by"),
    ],
)
def test_a_judge_that_draws_no_sample_is_refused(algorithm, said):
    with pytest.raises(InputError, match=said):
        parse_algorithm(algorithm)


@pytest.mark.parametrize("evaluator", ["bpref", "infap", "xinfap", "statap"])
def test_other_measures_are_refused(collection, evaluator):
    judge, judgments = judged(collection, "strata", 60)
    with pytest.raises(InputError, match="estimates average precision"):
        estimates_by(
            evaluator,
            judgments,
            rb.Estimand("P@5", depth=20),
            sample=judge.sample(judgments, seed=0),
        )


@pytest.mark.parametrize("evaluator", ["nonrelevant", "bpref", "infap", "bootstrap"])
def test_judged_topics_are_those_with_a_judgment(evaluator):
    """And not those whose names are parts of the word."""
    pool = pool_of({name: dict.fromkeys(("e", "dg", "7", "8"), name) for name in ("abc", "bca")})
    qrels = rb.Qrels({"7": {"a": 1, "b": 0}, "8": {"a": 0, "c": 1}})
    judgments = Judgments.from_qrels(pool, qrels)
    judged, named = (
        estimates_by(evaluator, judgments, rb.Estimand(topics=topics, depth=3), seed=1)
        for topics in ("judged", ("7", "8"))
    )
    assert judged.expected.tolist() == named.expected.tolist()
    assert judged.pairs.confidence.tolist() == named.pairs.confidence.tolist()


@pytest.mark.parametrize("evaluator", ["nonrelevant", "condensed", "bpref", "infap", "xinfap"])
def test_one_topic_is_refused_before_any_judging(evaluator, monkeypatch):
    monkeypatch.setattr("rtc_bayes.trials.trial.build", lambda *_, **__: pytest.fail("judged"))
    made = rb.simulate(n_topics=1, n_systems=4, seed=1)
    algorithms = ("mtc", f"sample[by=strata]/{evaluator}")
    plan = Plan(algorithms, n_systems=3, estimand=rb.Estimand(depth=10), budgets=(5,))
    collection = Collection.from_runs(made.runs, made.qrels, plan.estimand)
    with pytest.raises(InputError, match=f"{evaluator} states .*, and there is 1 topic; give two"):
        list(outcomes(collection, plan, seed=1))


def test_bootstrapped_average_precision_of_deep_lists_is_too_low():
    """What is drawn does not depend on rank, and relevant documents are at the top."""
    made = rb.simulate(n_topics=15, n_systems=6, seed=2)
    estimand = rb.Estimand(depth=100, scope="pool")
    deep = Collection.from_runs(made.runs, made.qrels, estimand)
    _, some = judged(deep, "uniform", 300)
    _, every = judged(deep, "uniform", deep.pool.n_documents)
    bootstrapped = estimates_by("bootstrap", some, estimand)
    true = estimates_by("nonrelevant", every, estimand)
    assert (bootstrapped.expected < true.expected - 3.0 * bootstrapped.sd).all()
