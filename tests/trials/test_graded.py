"""Graded measures in studies: the truth has the real grades, and so has what judging collected."""

from __future__ import annotations

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes.trials import Collection, Plan, outcomes


@pytest.fixture(scope="module")
def graded():
    simulated = rb.simulate(n_topics=4, n_systems=5, seed=2)
    random = np.random.default_rng(3)
    table = {
        t: {d: int(g * random.integers(1, 4)) for d, g in of.items()}
        for t, of in simulated.qrels.items()
    }
    return simulated.runs, rb.Qrels(table)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("measure", ["nDCG@10", "AP(rel=3)"])
def test_the_truth_has_the_real_grades(graded, measure, level):
    runs, qrels = graded
    estimand = rb.Estimand(measure, depth=20, relevance_level=level)
    collection = Collection.from_runs(runs, qrels, estimand)
    wanted = rb.evaluate(runs, qrels, [measure], topics="all").mean[measure]
    np.testing.assert_allclose(collection.truth, wanted, atol=1e-12)


@pytest.mark.parametrize("measure", ["nDCG@10", "P(rel=2)@10"])
def test_a_trial_with_nearly_all_judged_tells_the_truth(graded, measure):
    """Of the first ten ranks, so that nothing is cut."""
    runs, qrels = graded
    estimand = rb.Estimand(measure, scope="pool", depth=10)
    collection = Collection.from_runs(runs, qrels, estimand)
    everything = sum(len(of) for of in qrels.values())
    plan = Plan(("uniform",), n_systems=3, estimand=estimand, budgets=(everything,))
    (outcome,) = outcomes(collection, plan, seed=1)
    assert outcome.relevance.grades is not None
    assert outcome.judgments.to_qrels().n_values == outcome.judgments.n_judged
    for topic, of in outcome.judgments.to_qrels().items():
        assert dict(of) == {docno: qrels[topic].get(docno, 0) for docno in of}
    # a document without weight for AP is left unjudged; the ideal ranking is of the pool alone
    if measure == "nDCG@10":
        assert outcome.comparison.moments == "montecarlo"
        assert (outcome.prediction.expected > outcome.truth).all()
    else:
        np.testing.assert_allclose(outcome.prediction.expected, outcome.truth, atol=0.02)
