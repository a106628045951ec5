"""What systems share of the residual: as much as their lists are alike."""

import numpy as np
import pytest
from pools import pool_of, random_rankings

from rtc_bayes import Estimand, Judgments, Pool, Qrels, Relevance, compare, fit
from rtc_bayes.confidence.likeness import likeness, root_of, unlikeness
from rtc_bayes.confidence.setting import Setting
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.report import figures

LISTS = {
    "A": {"1": "abcdefghijklmno", "2": "abc"},
    "twin": {"1": "abcdefghijklmno", "2": "abc"},
    "turned": {"1": "onmlkjihgfedcba", "2": "cba"},
    "other": {"1": "ABCDEFGHIJKLMNO", "2": "ABC"},
    "half": {"1": "abcdeABCDE", "2": "abAB"},
    "absent": {"1": "abcdefghijklmno"},
}


def counted(lists, a, b):
    """By hand: overlaps at 10 and at the end, and whether lists are the same, over topics."""
    shares = []
    for topic in ("1", "2"):
        one, two = (lists[system].get(topic, "") for system in (a, b))
        for depth in (10, 100):
            first, second = set(one[:depth]), set(two[:depth])
            overlap = len(first & second) / max(len(first), len(second), 1)
            shares.append(0.95 * overlap + 0.05 * (one == two != ""))
    return np.mean(shares)


@pytest.mark.filterwarnings("ignore:runs:rtc_bayes.CollectionWarning")
def test_it_goes_by_overlaps_and_by_copies():
    pool = pool_of(LISTS)
    like = likeness(pool)
    assert like == pytest.approx(
        np.array([[counted(LISTS, a, b) for b in pool.systems] for a in pool.systems])
    )
    at = pool.systems.index
    assert like[at("A"), at("twin")] == like[at("A"), at("A")] == pytest.approx(1.0)
    assert like[at("A"), at("turned")] < 0.96
    assert like[at("A"), at("other")] == 0.0
    assert like[at("absent"), at("absent")] == pytest.approx(0.5)
    apart = dict(zip(zip(*np.triu_indices(6, 1), strict=True), unlikeness(like), strict=True))
    assert apart[tuple(sorted((at("A"), at("twin"))))] == 0.0
    assert apart[tuple(sorted((at("A"), at("other"))))] == 2.0


@pytest.mark.parametrize("seed", range(5))
def test_it_is_a_covariance(seed):
    """Of lists of any lengths, which overlap or do not."""
    rng = np.random.default_rng(seed)
    like = likeness(pool_of(random_rankings(rng, 12, 4, 40, longest=30)))
    assert np.linalg.eigvalsh(like).min() > -1e-12
    np.testing.assert_allclose(root_of(like) @ root_of(like), like, atol=1e-12)


def test_what_is_left_of_differences_goes_by_it():
    pool = pool_of(LISTS | {"absent": LISTS["half"]})
    relevance = Relevance.from_values(pool, np.full(pool.n_documents, 0.3))
    without, with_it = (
        compare(pool, relevance, Estimand(residual=residual), form="normal")
        for residual in (0.0, 0.1)
    )
    more = with_it.sd_difference**2 - without.sd_difference**2
    assert more == pytest.approx(0.01 * unlikeness(likeness(pool)))
    twins = with_it.pair("A", "twin")
    assert (twins.sd, twins.p_equal, twins.sd_shared) == (0.0, 1.0, None)
    assert compare(pool, relevance).pair("A", "twin").p_equal == 1.0
    assert with_it.sd**2 == pytest.approx(without.sd**2 + 0.01)


def test_outcomes_share_it_as_lists_do():
    """Their covariance, and a twin's noise, which is the same."""
    pool = pool_of(LISTS | {"absent": LISTS["half"]})
    known = Relevance.from_values(pool, (np.arange(pool.n_documents) % 3 == 0).astype(float))
    setting = Setting.from_pool(pool, known, Estimand(residual=0.1, unseen=False), outcomes=40_000)
    scores = setting.sample_all().reshape(pool.n_systems, -1)
    # standard error of a covariance of variances of .01: at most .01 sqrt(2 / 40,000)
    np.testing.assert_allclose(np.cov(scores), 0.01 * likeness(pool), atol=5 * 0.01 / 141)
    same = scores[pool.systems.index("A")] - scores[pool.systems.index("twin")]
    assert np.abs(same).max() < 1e-12
    comparison = compare(
        pool, known, Estimand(residual=0.1, unseen=False), form="montecarlo", outcomes=2000
    )
    assert comparison.pair("A", "twin").p_equal == 1.0


def test_lists_that_differ_below_the_pool_are_no_copies():
    """Though all that is pooled is the same."""
    rng = np.random.default_rng(3)
    head = [f"d{n}" for n in range(10)]
    lists = {name: {"1": head + [f"{name}{n}" for n in rng.permutation(20)]} for name in ("A", "B")}
    pool = pool_of(lists, depth=10)
    judged = Relevance.from_values(pool, (np.arange(pool.n_documents) % 2).astype(float))
    (pair,) = compare(pool, judged).pairs
    assert pair.sd > 0.0
    assert pair.p_equal < 1.0


def test_copies_under_other_names_are_copies_though_they_are_longer_than_the_pool():
    """Topic by topic: of the half-copy one list in two is the same."""
    rng = np.random.default_rng(3)
    first, second = ([f"d{n}" for n in rng.permutation(30)] for _ in range(2))
    lists = {
        "A": {"1": first, "2": second},
        "copy": {"1": first, "2": second},
        "half": {"1": first, "2": [*second[:29], "x"]},
    }
    pool = pool_of(lists, depth=10)
    # the share of topics with the very same list is a twentieth
    expected = [[1.0, 1.0, 0.975], [1.0, 1.0, 0.975], [0.975, 0.975, 1.0]]
    for same in (pool, Pool.from_xarray(pool.to_xarray())):
        assert likeness(same) == pytest.approx(np.array(expected))
        judged = Relevance.from_values(same, (np.arange(same.n_documents) % 2).astype(float))
        pair = compare(same, judged).pair("A", "copy")
        assert (pair.p_equal, pair.sd) == (1.0, 0.0)
    assert likeness(pool.select(["half", "copy"]))[0, 1] == pytest.approx(0.975)
    older = Pool.from_xarray(pool.to_xarray().drop_vars("tail_same"))
    assert likeness(older)[0, 1] == pytest.approx(0.95)


def test_the_figure_of_a_difference_that_does_not_vary_has_the_interval_of_the_pair():
    pool = pool_of({name: LISTS[name] for name in ("A", "half")})
    known = Relevance.from_values(pool, (np.arange(pool.n_documents) % 3 == 0).astype(float))
    comparison = compare(pool, known, Estimand(unseen=False))
    (pair,) = comparison.pairs
    axes = figures.difference(np.full(100, pair.expected_difference), pair.a, pair.b, shared=0.02)
    (drawn,) = [line for line in axes.lines if line.get_label() == "95% interval"]
    ends = pair.expected_difference + np.array([-1.0, 1.0]) * NORMAL_95 * 0.02
    assert drawn.get_xdata() == pytest.approx(ends)


def test_judgments_of_what_nobody_retrieved_take_the_shared_error_off():
    """What is judged relevant elsewhere is known, and what is only probable is not."""
    rng = np.random.default_rng(4)
    rankings = random_rankings(rng, 8, 6, 80, longest=20)
    grades = {str(t): {f"d{n:04d}": int(rng.random() < 0.4) for n in range(80)} for t in range(6)}
    two = {system: rankings[system] for system in ("s0", "s1")}
    alone, beside = (pool_of(two, qrels=qrels) for qrels in (None, Qrels(grades)))
    common = []
    for pool in (alone, beside):
        judged = Judgments.from_labels(
            pool,
            np.arange(pool.n_documents),
            [grades[topic][docno] for topic, docno in map(pool.pair_of, range(pool.n_documents))],
        )
        common.append(compare(pool, fit(pool, judged, model="rtc:map")).meta["common_error"])
    assert common[1] < 0.3 * common[0]
    kept = pool_of(rankings).select(["s0", "s1"], keep_documents=True)
    probable = Relevance.from_values(kept, np.full(kept.n_documents, 0.2))
    assert compare(kept, probable).meta["common_error"] >= common[0]
