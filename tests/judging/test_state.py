"""The incremental state against literal sums and against a state made anew."""

import numpy as np
import pytest
from pools import pool_of, random_rankings

from rtc_bayes import Judgments
from rtc_bayes.judging.state import JudgingState
from rtc_bayes.judging.weights import evr


def literal_numerators(pool, cases, topic, p, labels):
    """E S, influences and quadratic sums of every system or pair, written out."""
    k = pool.n_systems
    nothing = np.zeros((p.size, p.size))
    a = []
    for s in range(k):
        rank = np.where(pool.ranks(topic)[s] > 0, pool.ranks(topic)[s], np.inf)
        a.append(nothing + 1.0 / np.maximum.outer(rank, rank))
    judged = ~np.isnan(labels)
    weights = {
        "effect": p,
        "if_relevant": np.where(judged, labels, 0.0),
        "if_nonrelevant": np.where(judged, labels, 1.0),
    }
    sums = {
        name: np.array(
            [
                [
                    m[i, i] + sum(m[i, j] * w[j] for j in range(p.size) if j != i)
                    for i in range(p.size)
                ]
                for m in a
            ]
        )
        for name, w in weights.items()
    }
    for name in ("if_relevant", "if_nonrelevant"):
        sums[name] = sums[name][1:] - sums[name][0]
    numerators = [
        sum(m[i, i] * p[i] for i in range(p.size))
        + sum(m[i, j] * p[i] * p[j] for j in range(p.size) for i in range(j))
        for m in a
    ]
    return sums, np.array(numerators)


@pytest.mark.parametrize("systems", [2, 4])
@pytest.mark.parametrize("binary", [True, False])
def test_every_judgment_keeps_the_state_of_literal_sums(rng, cases, systems, binary):
    for _ in range(5):
        pool = cases.pool(rng, systems=systems)
        p = rng.random(pool.n_documents)
        state = JudgingState(Judgments.none(pool), p)
        state.moments()  # so that the quadratic sums are kept up and not made at the end
        labels = np.full(pool.n_documents, np.nan)
        for document in rng.permutation(pool.n_documents):
            labels[document] = p[document] = rng.integers(2) if binary else rng.random()
            state.observe(int(document), labels[document])
            t = pool.topic_of[document]
            inside = pool.documents(t)
            sums, numerators = literal_numerators(pool, cases, t, p[inside], labels[inside])
            topic = state.topics[t]
            for name, expected in sums.items():
                np.testing.assert_allclose(getattr(topic, name), expected, atol=1e-10, err_msg=name)
            np.testing.assert_allclose(topic.numerators, numerators, atol=1e-10)
            made_anew = JudgingState(
                Judgments.from_labels(
                    pool, np.flatnonzero(~np.isnan(labels)), labels[~np.isnan(labels)]
                ),
                p,
            )
            for kept, fresh in zip(state.moments(), made_anew.moments(), strict=True):
                np.testing.assert_allclose(kept, fresh, atol=1e-10)
            np.testing.assert_allclose(topic.quadratic, made_anew.topics[t].quadratic, atol=1e-10)


@pytest.mark.parametrize("systems", [2, 4])
def test_moments_are_those_of_all_outcomes(rng, cases, systems):
    for _ in range(5):
        pool = cases.pool(rng, systems=systems, documents=7)
        p = rng.random(pool.n_documents)
        p[rng.random(p.size) < 0.2] = 0.0
        expected, variance = JudgingState(Judgments.none(pool), p).moments()
        pair = 0
        for first in range(systems):
            for second in range(first + 1, systems):
                mean = spread = 0.0
                for t in range(pool.n_topics):
                    q = p[pool.documents(t)]
                    if q.sum() == 0:
                        continue
                    c = cases.coefficients(pool, t, first, second)
                    e, v = cases.outcome_moments(c, q)
                    mean += e / q.sum() / pool.n_topics
                    spread += v / q.sum() ** 2 / pool.n_topics**2
                assert expected[pair] == pytest.approx(mean, abs=1e-12)
                assert variance[pair] == pytest.approx(spread, abs=1e-12)
                pair += 1


def test_new_probabilities_leave_judged_documents_alone(rng, cases):
    pool = cases.pool(rng)
    state = JudgingState(Judgments.none(pool), np.full(pool.n_documents, 0.5))
    state.observe(0, 1.0)
    p = rng.random(pool.n_documents)
    state.restart(p)
    p[0] = 1.0
    fresh = JudgingState(Judgments.from_labels(pool, [0], [1.0]), p)
    for kept, made in zip(state.moments(), fresh.moments(), strict=True):
        np.testing.assert_allclose(kept, made, atol=1e-14)


def test_nothing_cancels_between_nearly_identical_runs():
    docnos = [f"D{i:03d}" for i in range(100)]
    swapped = [*docnos[:-2], docnos[-1], docnos[-2]]
    pool = pool_of({"A": {"1": docnos}, "B": {"1": swapped}})
    state = JudgingState(Judgments.none(pool), np.full(100, 0.5))
    # c_ij differs from 0 only on the diagonal of the swapped documents: 1/99 - 1/100
    c, v, mu = 1 / 99 - 1 / 100, 0.25, 50.0
    # and L_i = c (1 + sum of the 98 above at .5), of opposite sign for the two
    influence = c * (1 + 98 * 0.5)
    expected, variance = state.moments()
    assert expected[0] == pytest.approx(0.0, abs=1e-16)
    assert variance[0] == pytest.approx(
        (2 * v * influence**2 + 2 * 98 * v * v * c * c) / mu**2, rel=1e-10
    )


def test_identical_runs_have_no_sign():
    pool = pool_of({name: {"1": ["A", "B", "C"]} for name in "XY"})
    state = JudgingState(Judgments.none(pool), np.full(3, 0.5))
    assert state.confidence().tolist() == [0.5]


def test_everything_judged_leaves_no_doubt(rng, cases):
    pool = cases.pool(rng, systems=3, documents=12, length=10)
    state = JudgingState(Judgments.none(pool), rng.random(pool.n_documents))
    state.moments()
    for document in range(pool.n_documents):
        state.observe(document, float(document % 3 == 0))
    expected, variance = state.moments()
    assert (variance == 0.0).all()
    np.testing.assert_array_equal(state.confidence(), np.where(expected == 0, 0.5, 1.0))


def test_draws_add_what_is_unknown_of_the_parameters(rng, cases):
    pool = cases.pool(rng, systems=3)
    draws = rng.random((4, pool.n_documents))
    judgments = Judgments.from_labels(pool, [0, 3], [1.0, 0.0])
    draws[:, [0, 3]] = 1.0, 0.0
    state = JudgingState(judgments, draws)
    each = np.array([JudgingState(judgments, p).moments()[0] for p in draws])
    expected, variance = state.moments()
    np.testing.assert_allclose(expected, each.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(state.parameter_variance, each.var(axis=0, ddof=1), atol=1e-12)
    unjudged = JudgingState(judgments, draws.mean(axis=0)).moments()[1]
    np.testing.assert_allclose(variance, unjudged + state.parameter_variance, atol=1e-12)


def test_a_restart_with_draws_equals_a_state_made_of_them(rng, cases):
    pool = cases.pool(rng, systems=2)
    draws = rng.random((5, pool.n_documents))
    state = JudgingState(Judgments.none(pool), rng.random(pool.n_documents))
    state.observe(1, 1.0)
    state.restart(draws)
    fresh = JudgingState(Judgments.from_labels(pool, [1], [1.0]), draws)
    for kept, made in zip(state.moments(), fresh.moments(), strict=True):
        np.testing.assert_allclose(kept, made, atol=1e-12)


def test_one_draw_is_a_point(rng, cases):
    pool = cases.pool(rng)
    p = rng.random(pool.n_documents)
    state = JudgingState(Judgments.none(pool), p[None])
    assert (state.parameter_variance == 0.0).all()
    for one, point in zip(
        state.moments(), JudgingState(Judgments.none(pool), p).moments(), strict=True
    ):
        np.testing.assert_array_equal(one, point)


def test_lists_scored_below_the_depth_are_those_of_a_deeper_pool(rng):
    """Documents of the deeper pool alone are known to be nonrelevant."""
    rankings = random_rankings(rng, 3, 1, 12, longest=9)
    pool = pool_of(rankings, depth=3, score_depth=9)
    to_depth_9 = pool_of(rankings, depth=9)
    p = rng.random((4, pool.n_documents))
    place = to_depth_9.locate("0", pool.docnos)
    p_of_whole = np.zeros((4, to_depth_9.n_documents))
    p_of_whole[:, place] = p
    state = JudgingState(Judgments.none(pool), p)
    other = JudgingState(Judgments.none(to_depth_9), p_of_whole)
    for document, label in ((0, 1.0), (2, 0.0)):
        state.observe(document, label)
        other.observe(int(place[document]), label)
        np.testing.assert_allclose(state.moments(), other.moments(), rtol=1e-9)
        np.testing.assert_allclose(evr(state.topics[0]), evr(other.topics[0])[place], rtol=1e-9)
