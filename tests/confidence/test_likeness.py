"""What systems share of the residual: as much as their lists are alike."""

import numpy as np
import pytest
from pools import pool_of, random_rankings

from rtc_bayes import Estimand, Relevance, compare
from rtc_bayes.confidence.likeness import likeness, root_of, unlikeness
from rtc_bayes.confidence.setting import Setting

LISTS = {
    "A": {"1": "abcdefghijklmno", "2": "abc"},
    "twin": {"1": "abcdefghijklmno", "2": "abc"},
    "turned": {"1": "onmlkjihgfedcba", "2": "cba"},
    "other": {"1": "ABCDEFGHIJKLMNO", "2": "ABC"},
    "half": {"1": "abcdeABCDE", "2": "abAB"},
    "absent": {"1": "abcdefghijklmno"},
}


def counted(lists, a, b):
    """By hand: overlaps at 10 and at the end, over topics."""
    shares = []
    for topic in ("1", "2"):
        one, two = (lists[system].get(topic, "") for system in (a, b))
        for depth in (10, 100):
            first, second = set(one[:depth]), set(two[:depth])
            shares.append(len(first & second) / max(len(first), len(second), 1))
    return np.mean(shares)


@pytest.mark.filterwarnings("ignore:runs:rtc_bayes.CollectionWarning")
def test_it_is_the_mean_overlap_at_10_and_at_the_depth():
    pool = pool_of(LISTS)
    like = likeness(pool)
    assert like == pytest.approx(
        np.array([[counted(LISTS, a, b) for b in pool.systems] for a in pool.systems])
    )
    at = pool.systems.index
    assert like[at("A"), at("twin")] == 1.0
    assert like[at("A"), at("other")] == 0.0
    assert like[at("absent"), at("absent")] == 0.5
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
    assert np.abs(same).max() < 1e-7
    comparison = compare(
        pool, known, Estimand(residual=0.1, unseen=False), form="montecarlo", outcomes=2000
    )
    assert comparison.pair("A", "twin").p_equal == 1.0
