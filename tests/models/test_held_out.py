"""Systems held out of a topic enter a fit of all systems as new systems do."""

from __future__ import annotations

import numpy as np
import pytest
from pools import pool_of

import rtc_bayes as rb
from rtc_bayes import Judgments
from rtc_bayes_models.robust import Design, Robust

MODELS = ["robust", "rtc:map", "hierarchical"]
RUNS = {
    "first": {"1": ["a", "b", "c", "d"], "2": ["a", "b", "h"], "3": ["a", "c"]},
    "second": {"1": ["b", "e", "a", "f"], "2": ["c", "a", "d"], "3": ["c", "b", "f"]},
    "held": {"1": ["g", "a", "i", "k"], "2": ["e", "f", "g", "c"], "3": ["b", "g", "a"]},
}
LABELS = {
    "1": {"a": 1, "b": 0, "e": 0, "c": 1},
    "2": {"a": 1, "c": 0, "h": 0, "d": 1},
    "3": {"a": 0, "b": 1, "g": 1, "f": 0},
}
# held is out of topics 1 and 2, and judged for on topic 3
BY_TOPIC = {"1": ("first", "second"), "2": ("first", "second"), "3": ("first", "second", "held")}


def fitted(model, judged_for, runs=RUNS):
    pool = pool_of(runs)
    judgments = Judgments.from_qrels(pool, rb.Qrels(LABELS, judged_for=judged_for))
    sampling = {"draws": 40, "chains": 2, "tune": 20} if model == "robust" else {}
    return rb.fit(pool, judgments, model=model, seed=4, **sampling)


def probabilities(fit):
    """Return the mean probability of every document, by topic and docno."""
    pool, p = fit.judgments.pool, fit.relevance.values.mean(axis=0)
    return {
        (pool.topics[t], docno): float(value)
        for t, docno, value in zip(pool.topic_of, pool.docnos, p, strict=True)
    }


@pytest.mark.filterwarnings("ignore::rtc_bayes.FitWarning")
@pytest.mark.parametrize("model", MODELS)
def test_what_only_a_held_out_system_ranks_is_no_evidence(model):
    """Exchanging documents that nobody judged, in its list, changes nothing about all others."""
    other = {**RUNS, "held": {**RUNS["held"], "1": ["k", "a", "g", "i"], "2": ["f", "g", "e", "c"]}}
    before = probabilities(fitted(model, BY_TOPIC))
    after = probabilities(fitted(model, BY_TOPIC, other))
    moved = {("1", d) for d in "gik"} | {("2", d) for d in "efg"}
    assert before.keys() == after.keys()
    change = {document: abs(after[document] - p) for document, p in before.items()}
    least = 1e-3 * change["1", "g"]  # from its first rank to its third
    assert least > 0.0
    assert max(change[document] for document in before.keys() - moved) < least
    # each is as likely as the document that stood at its rank
    assert abs(after["1", "k"] - before["1", "g"]) < least
    assert abs(after["2", "e"] - before["2", "g"]) < least


@pytest.mark.parametrize("model", ["rtc:map", "hierarchical"])
def test_models_that_do_not_ask_who_chose_the_documents(model):
    by_topic, everyone = fitted(model, BY_TOPIC), fitted(model, tuple(RUNS))
    np.testing.assert_array_equal(by_topic.relevance.values, everyone.relevance.values)


@pytest.mark.filterwarnings("ignore::rtc_bayes.FitWarning")
def test_robust_asks_it_topic_by_topic():
    by_topic, everyone = fitted("robust", BY_TOPIC), fitted("robust", tuple(RUNS))
    never = fitted("robust", ("first", "second"))
    held_out = dict.fromkeys(RUNS["held"], ("first", "second"))
    np.testing.assert_array_equal(
        fitted("robust", held_out).relevance.values, never.relevance.values
    )
    assert not np.array_equal(by_topic.relevance.values, never.relevance.values)
    assert not np.array_equal(by_topic.relevance.values, everyone.relevance.values)


def test_a_document_is_new_on_the_topics_without_its_system():
    pool = pool_of(RUNS)
    design = Design(Robust(), Judgments.none(pool, judged_for=BY_TOPIC))
    for t, topic in enumerate(pool.topics):
        columns, _ = design.features(t)
        f, new = columns[:, -6:-3], columns[:, -3:]
        only_held = (f[:, 2] > 0) & (f[:, :2] == 0).all(axis=1)
        assert only_held.any()
        is_new = (new != 0).any(axis=1)
        assert is_new.tolist() == (only_held if topic != "3" else only_held & False).tolist()
        assert (new[is_new] == f[is_new]).all()
