"""How many more judgments: what each removes, and when a walk gets there."""

import numpy as np
import pytest
from pools import POOL_ALONE, random_pool

from rtc_bayes import (
    Estimand,
    InputError,
    Qrels,
    Relevance,
    build,
    compare,
    forecast,
)
from rtc_bayes.confidence.removal import judgments_needed, removal
from rtc_bayes.confidence.setting import Setting


def left_after(oracle, rankings, p, judged, score):
    """Expected variance of the difference once these documents are judged, by enumeration."""
    scores, weights = oracle.distribution(rankings, p, oracle.SCORES[score])
    difference = scores[:, 0] - scores[:, 1]
    outcomes = np.array([x for x, _ in oracle.outcomes(p)])[:, judged]
    _, cell = np.unique(outcomes, axis=0, return_inverse=True)
    cell = cell.ravel()
    share = np.bincount(cell, weights)
    mean = np.bincount(cell, weights * difference) / share
    return weights @ (difference - mean[cell]) ** 2


@pytest.mark.parametrize(("measure", "error"), [("DCG", 1e-9), ("AP", 0.1)])
def test_what_judgments_remove_is_the_enumerated_variance(make_pool, oracle, point, measure, error):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        pool = make_pool(rng, 2, 1, 7)
        p = rng.random(7)
        setting = Setting.from_pool(pool, point(pool, p), measure)
        (gone,) = removal(setting)
        rankings = [pool.ranking(s, 0).tolist() for s in range(2)]
        total = left_after(oracle, rankings, p.tolist(), [], measure)
        alone = [left_after(oracle, rankings, p.tolist(), [i], measure) for i in range(7)]
        order = np.argsort(alone, kind="stable")
        left = [
            left_after(oracle, rankings, p.tolist(), order[:n].tolist(), measure) / total
            for n in range(len(gone))
        ]
        assert gone[0] == 0
        assert (np.diff(gone) >= 0).all()
        assert 1 - gone == pytest.approx(left, abs=error)


def test_the_first_judgment_is_that_of_the_greatest_effect_on_any_topic(make_pool, oracle, point):
    rng = np.random.default_rng(61)
    pool = make_pool(rng, 2, 3, 6)
    p = rng.random(pool.n_documents)
    p[pool.documents(1)] = 1.0
    (gone,) = removal(Setting.from_pool(pool, point(pool, p)))
    assert len(gone) <= 1 + 12
    total, best = 0.0, 0.0
    for t in (0, 2):
        inside = pool.documents(t)
        rankings = [(pool.ranking(s, t) - inside.start).tolist() for s in range(2)]
        on_topic = p[inside].tolist()
        own = left_after(oracle, rankings, on_topic, [], "AP")
        total += own
        best = max(
            best, *(own - left_after(oracle, rankings, on_topic, [i], "AP") for i in range(6))
        )
    # what documents say together is left out of the first step only in part
    assert gone[1] == pytest.approx(best / total, abs=0.02)


def test_where_nothing_is_in_doubt_no_judgment_helps(make_pool, point):
    pool = make_pool(np.random.default_rng(62), 2, 2, 5)
    (gone,) = removal(Setting.from_pool(pool, point(pool, np.ones(10)), POOL_ALONE))
    assert gone.tolist() == [0]
    judged = point(pool, (np.arange(10) % 3 == 0).astype(float))
    assert forecast(pool, judged, "s0", "s1", POOL_ALONE) == 0
    assert forecast(pool, point(pool, np.zeros(10)), "s0", "s1", POOL_ALONE) is None


def test_true_probabilities_are_forecast_right():
    """Half of the collections whose relevance falls as p = .5 says need fewer than forecast."""
    rng = np.random.default_rng(63)
    pool = random_pool(rng, 2, 12, 30)
    half = Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
    expected = forecast(pool, half, "s0", "s1", POOL_ALONE, confidence=0.9, moments="plugin")
    actual = []
    for _ in range(80):
        grades = {
            topic: {d: int(rng.random() < 0.5) for d in pool.docnos[pool.documents(t)]}
            for t, topic in enumerate(pool.topics)
        }
        made = build(pool, Qrels(grades), "mtc[weight=evr]", POOL_ALONE, confidence=0.9)
        actual.append(made.judgments.n_judged)
    # standard error of the share: .056
    assert np.mean(np.array(actual) <= expected) == pytest.approx(0.5, abs=0.2)
    assert np.median(actual) == pytest.approx(expected, rel=0.15)


def test_all_judgments_remove_unknown_parameters_and_no_residual(make_pool):
    rng = np.random.default_rng(64)
    pool = make_pool(rng, 2, 3, 14)
    apart = np.concatenate([np.subtract(*pool.ranks(t)) for t in range(3)])
    shift = rng.normal(0, 1, size=(40, 1)) * apart
    draws = Relevance.from_values(pool, (1 / (1 + np.exp(1 - shift)))[:, None])
    pair = compare(pool, draws).with_forecast(0.999).pair("s0", "s1")
    assert pair.variance_parameters > pair.variance_unjudged
    assert 0 < pair.judgments_needed <= pool.n_documents
    assert forecast(pool, draws, "s0", "s1", Estimand(residual=1.0)) is None
    # more draws change nothing
    many = Relevance.from_values(pool, np.tile(draws.probability.values, (15, 1, 1)))
    for seed in range(4):
        assert forecast(pool, many, "s0", "s1", Estimand(residual=50.0), seed=seed) is None


def test_judgments_remove_what_models_get_wrong_between_them():
    rng = np.random.default_rng(66)
    pool = random_pool(rng, 6, 40, 40, longest=12)
    p = rng.random(pool.n_documents) * 0.6
    p[::2] = (rng.random(len(p[::2])) < 0.3).astype(float)
    relevance = Relevance.from_values(pool, p)
    comparison = compare(pool, relevance)
    residual, lasting = (comparison.meta[name] for name in ("residual", "lasting_residual"))
    assert residual > 1.1 * lasting
    with_it, staying = (
        [np.inf if pair.judgments_needed is None else pair.judgments_needed for pair in made.pairs]
        for made in (
            comparison.with_forecast(0.9),
            compare(pool, relevance, Estimand(residual=residual)).with_forecast(0.9),
        )
    )
    assert (np.array(with_it) <= staying).all()
    assert np.sum(with_it) < 0.8 * np.sum(np.minimum(staying, pool.n_documents))


def test_every_pair_of_a_comparison_is_forecast_as_alone(make_pool, point):
    rng = np.random.default_rng(65)
    pool = make_pool(rng, 4, 8, 20)
    relevance = point(pool, rng.random(pool.n_documents) * 0.5)
    comparison = compare(pool, relevance, POOL_ALONE).with_forecast(0.9)
    for pair in comparison.pairs:
        assert pair.judgments_needed == forecast(
            pool, relevance, pair.a, pair.b, POOL_ALONE, confidence=0.9
        )
        assert (pair.judgments_needed == 0) == (pair.confidence >= 0.9)
    assert comparison.to_frame()["judgments_needed"].dtype == "Int64"
    setting = Setting.from_pool(pool, relevance, POOL_ALONE)
    more = judgments_needed(setting, comparison, 0.99)
    assert all(m >= n for n, m in zip(comparison.judgments_needed, more, strict=True))
    assert compare(pool, relevance, POOL_ALONE).pairs[0].judgments_needed is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 0.5}, "above 0.5 and below 1"),
        ({"confidence": 1.0}, "above 0.5 and below 1"),
        ({"estimand": "Bpref"}, "judgments cannot be weighed; forecast by another measure"),
    ],
)
def test_what_cannot_be_forecast_is_said(make_pool, point, options, message):
    pool = make_pool(np.random.default_rng(0), 2, 2, 4)
    with pytest.raises(InputError, match=message):
        forecast(pool, point(pool, np.full(8, 0.5)), "s0", "s1", **options)
    with pytest.raises(InputError, match="no system is named"):
        forecast(pool, point(pool, np.full(8, 0.5)), "s0", "s7")
