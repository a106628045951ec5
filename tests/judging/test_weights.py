"""Weights against their literal sums over pairs."""

from itertools import combinations

import numpy as np
import pytest
from pools import pool_of

from rtc_bayes import Judgments, Pool, build, simulate
from rtc_bayes.judging.kernels import heaviest
from rtc_bayes.judging.state import JudgingState
from rtc_bayes.judging.weights import WEIGHTS


def literal_weight(name, cs, p, labels, i):
    """Weight of document i for the coefficient matrices of every pair."""
    n = len(p)
    judged = ~np.isnan(labels)
    if judged[i]:
        return 0.0
    others = [j for j in range(n) if j != i]
    if name == "mtc06":
        best = 0.0
        for c in cs:
            w_r = c[i, i] + sum(c[i, j] for j in others if labels[j] == 1)
            w_n = c[i, i] + sum(c[i, j] for j in others if labels[j] != 0)
            best = max(best, p[i] * abs(w_r), (1 - p[i]) * abs(w_n))
        return best
    influences = [c[i, i] + sum(c[i, j] * p[j] for j in others) for c in cs]
    if name == "influence":
        return max(abs(x) for x in influences)
    return p[i] * (1 - p[i]) * sum(x * x for x in influences) / p.sum() ** 2


@pytest.mark.parametrize("name", ["evr", "influence", "mtc06"])
@pytest.mark.parametrize("systems", [2, 4])
def test_weights_are_their_sums(rng, cases, name, systems):
    for _ in range(10):
        pool = cases.pool(rng, systems=systems)
        labels = rng.choice([0.0, 1.0, np.nan], pool.n_documents, p=[0.3, 0.2, 0.5])
        judged = np.flatnonzero(~np.isnan(labels))
        p = np.where(np.isnan(labels), rng.random(pool.n_documents), labels)
        state = JudgingState(Judgments.from_labels(pool, judged, labels[judged]), p)
        for t in range(pool.n_topics):
            inside = pool.documents(t)
            cs = [cases.coefficients(pool, t, s, u) for s, u in combinations(range(systems), 2)]
            result = WEIGHTS[name](state.topics[t])
            for i in range(len(result)):
                expected = literal_weight(name, cs, p[inside], labels[inside], i)
                assert result[i] == pytest.approx(expected, abs=1e-12)


def test_variance_reduction_is_what_a_judgment_takes_off_on_average(rng, cases):
    pool = cases.pool(rng, topics=1, documents=9, length=8)
    p = rng.uniform(0.1, 0.9, pool.n_documents)
    before = JudgingState(Judgments.none(pool), p)
    weights = WEIGHTS["evr"](before.topics[0])
    mu = p.sum()
    for document in range(pool.n_documents):
        left = 0.0
        for label, chance in ((1.0, p[document]), (0.0, 1 - p[document])):
            after = JudgingState(Judgments.none(pool), p)
            after.observe(document, label)
            topic = after.topics[0]
            left += chance * topic.moments()[1][0] * topic.divisor**2
        taken = before.topics[0].moments()[1][0] - left / mu**2
        assert weights[document] == pytest.approx(taken, abs=1e-12)


def test_reuse_is_the_squared_slope_of_every_systems_own_score(rng, cases):
    """A_s = E S_s / mu as a function of p_i: its slope by differences, times the variance."""
    pool = cases.pool(rng, systems=3, topics=1, documents=9, length=8)
    p = rng.uniform(0.1, 0.9, pool.n_documents)
    state = JudgingState(Judgments.none(pool), p).topics[0]
    weights = WEIGHTS["reuse"](state)
    step = 1e-5
    for i in range(pool.n_documents):
        scores = []
        for change in (step, -step):
            moved = JudgingState(Judgments.none(pool), p + change * (np.arange(len(p)) == i))
            scores.append(moved.topics[0].numerators / moved.topics[0].divisor)
        slope = (scores[0] - scores[1]) / (2 * step)
        assert weights[i] == pytest.approx(p[i] * (1 - p[i]) * (slope**2).sum(), rel=1e-6)


@pytest.mark.parametrize("name", ["evr", "reuse"])
def test_where_nothing_is_relevant_no_judgment_takes_variance_off(rng, cases, name):
    pool = cases.pool(rng, topics=1)
    state = JudgingState(Judgments.none(pool), np.zeros(pool.n_documents))
    assert WEIGHTS[name](state.topics[0]).tolist() == [0.0] * pool.n_documents


def test_the_first_of_equals_up_to_rounding_is_heaviest():
    assert heaviest(np.array([0.1, 0.3, 0.3 + 1e-15, 0.2])) == 1
    assert heaviest(np.array([0.1, 0.3, 0.3001])) == 2


def numerator(pool, relevant):
    """Sum of the precisions at relevant documents, first system minus second, from the lists."""
    sums = []
    for s in range(2):
        hits = relevant[pool.ranking(s, 0)]
        sums.append((hits * np.cumsum(hits) / np.arange(1, len(hits) + 1)).sum())
    return sums[0] - sums[1]


@pytest.fixture
def two_lists(rng, cases):
    """Two systems on one topic, some documents judged: the labels are NaN where not."""
    pool = cases.pool(rng, topics=1, documents=7, length=6)
    return pool, rng.choice([0.0, 1.0, np.nan], pool.n_documents, p=[0.2, 0.2, 0.6])


@pytest.mark.parametrize("trial", range(10))
def test_mtc06_is_the_most_that_a_judgment_moves_the_numerator(two_lists, trial):
    """Relevant: from all others unjudged nonrelevant. Nonrelevant: from all relevant."""
    pool, labels = two_lists
    unjudged = np.isnan(labels)
    judged = np.flatnonzero(~unjudged)
    p = np.where(unjudged, np.linspace(0.2, 0.7, len(labels)), labels)
    state = JudgingState(Judgments.from_labels(pool, judged, labels[judged]), p)
    weights = WEIGHTS["mtc06"](state.topics[0])
    for i in np.flatnonzero(unjudged):
        one = np.arange(len(labels)) == i
        none, every = np.where(unjudged, 0.0, labels), np.where(unjudged, 1.0, labels)
        gained = numerator(pool, np.where(one, 1.0, none)) - numerator(pool, none)
        lost = numerator(pool, every) - numerator(pool, np.where(one, 0.0, every))
        assert weights[i] == pytest.approx(max(p[i] * abs(gained), (1 - p[i]) * abs(lost)))


def weights_at_one_half(pool, labels):
    judged = np.flatnonzero(~np.isnan(labels))
    p = np.where(np.isnan(labels), 0.5, labels)
    topic = JudgingState(Judgments.from_labels(pool, judged, labels[judged]), p).topics[0]
    return WEIGHTS["mtc06"](topic), WEIGHTS["influence"](topic)


def test_at_one_half_influence_is_the_mean_of_the_moves_of_which_mtc06_is_half_the_larger(
    rng, cases
):
    for _ in range(20):
        pool = cases.pool(rng, topics=1, documents=7, length=6)
        labels = rng.choice([0.0, 1.0, np.nan], pool.n_documents, p=[0.2, 0.2, 0.6])
        moved, influence = weights_at_one_half(pool, labels)
        c = cases.coefficients(pool, 0, 0, 1)
        for i in np.flatnonzero(np.isnan(labels)):
            others = np.arange(len(labels)) != i
            if_relevant = c[i, i] + c[i, others & (labels == 1)].sum()
            if_not = c[i, i] + c[i, others & (labels != 0)].sum()
            assert influence[i] == pytest.approx(abs(if_relevant + if_not) / 2, abs=1e-12)
            assert moved[i] == pytest.approx(max(abs(if_relevant), abs(if_not)) / 2, abs=1e-12)
            assert influence[i] <= 2 * moved[i] + 1e-12


def test_mtc06_and_influence_agree_on_lists_that_share_nothing():
    pool = pool_of({"A": {"1": "abcd"}, "B": {"1": "wxyz"}}, depth=4)
    moved, influence = weights_at_one_half(pool, np.full(8, np.nan))
    assert moved.tolist() == sorted(moved[:4], reverse=True) * 2
    assert (
        np.argsort(-moved, kind="stable").tolist() == np.argsort(-influence, kind="stable").tolist()
    )


def test_mtc06_and_influence_can_choose_differently_with_nothing_judged():
    pool = pool_of({"A": {"1": "efdcab"}, "B": {"1": "edbfca"}}, depth=6)
    moved, influence = weights_at_one_half(pool, np.full(6, np.nan))
    assert moved == pytest.approx([1 / 12, 37 / 120, 0.1, 1 / 6, 0, 7 / 24], abs=1e-12)
    assert pool.docnos[moved.argmax()] == "b"
    assert pool.docnos[influence.argmax()] == "f"


def test_rtc_by_mtc06_begins_as_algorithm_1_of_2006_and_leaves_it_at_the_first_fit():
    made = simulate(n_topics=3, n_systems=2, seed=1)
    pool = Pool.from_runs(made.runs, depth=20)
    orders = [
        build(pool, made.qrels, name, budget=40, confidence=None).judgments.order
        for name in ("mtc", "rtc[weight=mtc06]:map")
    ]
    assert orders[0][:10].tolist() == orders[1][:10].tolist()
    assert orders[0].tolist() != orders[1].tolist()
