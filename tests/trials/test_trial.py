"""One trial: what its outcomes are made of, against the same done by hand."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from pools import POOL_ALONE

from rtc_bayes import (
    CollectionWarning,
    Estimand,
    InputError,
    Qrels,
    Run,
    Runs,
    compare,
    evaluate,
    fit,
)
from rtc_bayes.judging import build
from rtc_bayes.relevance import Draws
from rtc_bayes.trials import Collection, Plan, draw_systems, outcomes, quietly
from rtc_bayes.trials.complete import scores_by

SEED = 4
PLAN = Plan(
    ("mtc/rtc:map", "mtc/robust:gibbs", "ip"),
    n_systems=5,
    estimand=Estimand(scope="pool", depth=20),
    budgets=(40, 15),
    draws=30,
    chains=2,
    tune=20,
)


@pytest.fixture(scope="module")
def collection(small):
    return Collection.from_runs(small.runs, small.qrels, PLAN.estimand)


@pytest.fixture(scope="module")
def trial(collection):
    with quietly():
        return {outcome.label: outcome for outcome in outcomes(collection, PLAN, SEED)}


def test_labels_are_those_of_the_plan(trial):
    assert tuple(trial) == PLAN.labels
    assert [outcome.judged for outcome in trial.values()] == [40, 15] * 3
    assert {outcome.reason for outcome in trial.values()} == {"budget"}


def test_budgets_are_first_judgments_of_one_judging(trial, collection, small):
    draw = draw_systems(collection.pool.systems, PLAN, SEED)
    built = build(
        collection.pool.select(draw.initial),
        small.qrels,
        "mtc",
        POOL_ALONE,
        confidence=None,
        budget=40,
    )
    few, many = trial["mtc/rtc:map at 15"], trial["mtc/rtc:map at 40"]
    assert few.judging is many.judging is trial["mtc/robust:gibbs at 15"].judging
    assert few.judging.judgments.order.tolist() == built.judgments.order.tolist()
    assert many.confidence == built.confidence
    assert few.confidence == built.steps[15].confidence != many.confidence
    order = built.judgments.order[:15]
    docnos = few.judgments.pool.docnos[few.judgments.order]
    assert docnos.tolist() == built.judgments.pool.docnos[order].tolist()


def test_with_budgets_only_their_own_judgments_are_missing(small):
    half = Qrels({t: {d: small.qrels[t][d] for d in [*small.qrels[t]][::2]} for t in small.qrels})
    plan = replace(PLAN, algorithms=("ip",))
    by_half = Collection.from_runs(small.runs, half, PLAN.estimand)
    many, few = outcomes(by_half, plan, SEED)
    assert many.missing == len(many.judging.missing)
    judged = few.judgments.to_qrels()
    assert few.missing == sum(d not in half[t] for t in judged for d in judged[t]) < many.missing


@pytest.mark.parametrize(
    ("label", "sampling"),
    [("mtc/rtc:map at 15", {}), ("mtc/robust:gibbs at 15", {"draws": 30, "chains": 2, "tune": 20})],
)
def test_an_outcome_is_fit_and_compare(trial, label, sampling):
    outcome = trial[label]
    seed = outcome.draw.evaluating_seed
    model = label.split("/")[1].split(" ")[0]
    with quietly():
        by_hand = fit(outcome.pool, outcome.judgments, model=model, seed=seed, **sampling)
    np.testing.assert_array_equal(outcome.relevance.values, by_hand.relevance.values)
    moments = PLAN.moments_of(PLAN.parsed[label.split(" ")[0]].evaluator)
    comparison = compare(outcome.pool, by_hand.relevance, POOL_ALONE, moments=moments, seed=seed)
    np.testing.assert_array_equal(outcome.comparison.confidence, comparison.confidence)
    # what the model says of judged documents is kept apart from their labels
    order = outcome.judgments.order
    assert not np.isin(outcome.estimate.p[..., order], (0.0, 1.0)).all()
    assert np.isin(outcome.relevance.values[:, order], (0.0, 1.0)).all()
    assert isinstance(outcome.estimate, Draws) == bool(sampling)


def test_pairs_that_are_truly_equal_have_no_outcome(trial):
    outcome = trial["mtc/rtc:map at 15"]
    every, unequal = outcome.pairs_frame(), outcome.unequal_pairs()
    equal = every["true_difference"] == 0.0
    assert every["correct"].isna().tolist() == equal.tolist()
    assert len(unequal) == (~equal).sum()
    assert set(unequal["correct"]) <= {0, 1}


def test_pairs_have_what_all_scores_share(small):
    """As the comparison has it, about whole lists; 0 about a pool, or without a model."""
    plan = replace(PLAN, algorithms=("mtc/uniform", "ip"), estimand=Estimand(depth=20))
    collection = Collection.from_runs(small.runs, small.qrels, plan.estimand)
    with quietly():
        by_model, *_, by_none = outcomes(collection, plan, SEED)
    shared = by_model.pairs_frame()["sd_shared"]
    np.testing.assert_allclose(shared, by_model.comparison.sd_shared)
    assert (shared > 0.0).all()
    assert (by_none.pairs_frame()["sd_shared"] == 0.0).all()


def test_imbalance_counts_judged_documents_of_both_lists(trial):
    outcome = trial["mtc/rtc:map at 15"]
    pool, judged = outcome.judgments.pool, set(outcome.judgments.order)
    held = {
        system: sum(
            document in judged
            for topic in range(pool.n_topics)
            for document in pool.ranking(number, topic)
        )
        for number, system in enumerate(pool.systems)
    }
    for row in outcome.pairs_frame().itertuples():
        one, other = held[row.a], held[row.b]
        expected = max(one, other) / (one + other) if one + other else 0.5
        assert row.imbalance == expected


def test_the_truth_follows_the_estimand(small):
    topics = small.runs.topics[1:4]
    estimand = Estimand("nDCG@10", depth=20, topics=topics)
    collection = Collection.from_runs(small.runs, small.qrels, estimand)
    table = evaluate(small.runs, small.qrels, ["nDCG@10"], topics="all")
    chosen = [table.topics.index(topic) for topic in topics]
    np.testing.assert_allclose(collection.truth, table["nDCG@10"][:, chosen].mean(axis=1))
    plan = Plan(("ip", "mtc"), n_systems=4, estimand=estimand, budgets=(20,))
    for outcome in outcomes(collection, plan, SEED):
        assert outcome.truth.tolist() == collection.truth_of(outcome.draw.everyone).tolist()
    assert outcome.comparison.measure == "nDCG@10"
    assert outcome.comparison.topics == topics
    with pytest.raises(InputError, match="the runs have no topic nowhere"):
        Collection.from_runs(small.runs, small.qrels, Estimand(topics=("nowhere",)))


@pytest.mark.parametrize("asked", ["all", "judged", "named"])
def test_what_has_no_truth_is_no_part_of_a_trial(small, asked):
    """Neither what is judged nor what is scored; as if the runs had the other topics alone."""
    topics = small.runs.topics[:3]
    some = Qrels({topic: dict(small.qrels[topic]) for topic in topics})
    estimand = Estimand("AP", depth=20, topics=topics if asked == "named" else asked)
    with (
        pytest.warns(CollectionWarning, match="without a judgment in the truth, left aside: ")
        if asked == "all"
        else nullcontext()
    ):
        collection = Collection.from_runs(small.runs, some, estimand)
    assert collection.pool.topics == topics
    lists = [
        Run.from_rankings(name, {topic: run.ranking(topic) for topic in topics})
        for name, run in small.runs.items()
    ]
    alone = Collection.from_runs(Runs(lists), some, Estimand("AP", depth=20))
    plan = Plan(("mtc",), n_systems=4, estimand=Estimand("AP", depth=20), budgets=(20,))
    with quietly():
        (one,) = outcomes(collection, plan, SEED)
        (two,) = outcomes(alone, plan, SEED)
    assert one.truth.tolist() == two.truth.tolist()
    assert one.comparison.expected.tolist() == two.comparison.expected.tolist()
    with pytest.raises(InputError, match="the truth has no judgment of a topic of the runs"):
        Collection.from_runs(small.runs, Qrels({"x": {"d": 1}}), Estimand())


@pytest.mark.parametrize("measure", ["AP", "ERR@10"])
def test_scores_by_labels(small, collection, measure):
    """With complete judgments, of lists cut at the depth; ERR has no moments."""
    estimand = Estimand(measure, scope="pool", depth=20, score_depth=20)
    scores, differences = scores_by(collection.judgments, estimand)
    if measure == "AP":
        expected = evaluate(small.runs, small.qrels, ["AP@20"], topics="all").mean["AP@20"]
        np.testing.assert_allclose(scores, expected, atol=1e-9)
    first, second = np.triu_indices(len(scores), 1)
    np.testing.assert_allclose(differences, scores[first] - scores[second], atol=1e-12)
    some, _ = scores_by(collection.judgments, Estimand(measure, topics=small.runs.topics[:2]))
    assert not np.allclose(some, scores)


def test_graded_judgments_are_relevant_from_the_level_on(small):
    estimand = Estimand("nDCG@10", relevance_level=2)
    graded = type(small.qrels)(
        {t: {d: 2 * g for d, g in of.items()} for t, of in small.qrels.items()}
    )
    doubled = Collection.from_runs(small.runs, graded, estimand)
    plain = Collection.from_runs(small.runs, small.qrels, Estimand("nDCG@10"))
    np.testing.assert_array_equal(doubled.truth, plain.truth)


def test_labels_of_a_pool_are_those_of_the_judgments(collection, small):
    pool = collection.pool.select(collection.pool.systems[:3])
    expected = [
        float(small.qrels[pool.topics[t]].get(pool.docnos[d], 0) > 0)
        for d, t in enumerate(pool.topic_of)
    ]
    assert collection.labels(pool).tolist() == expected
