import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from pools import POOL_ALONE
from scipy.stats import rankdata

from rtc_bayes import Comparison, Estimand, Relevance, compare, rank_systems
from rtc_bayes.confidence.ranks import count_ranks


def scored(rows):
    """Scores of systems (rows) on outcomes of one draw."""
    return np.array(rows, dtype=float)[:, None]


def enumerated(oracle, pool, p):
    """P(best) and the distribution of ranks, over every outcome of every topic."""
    topics = []
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        lists = [(pool.ranking(s, t) - inside.start).tolist() for s in range(pool.n_systems)]
        topics.append(oracle.distribution(lists, p[inside].tolist(), oracle.SCORES["AP"]))
    best, ranks = np.zeros(pool.n_systems), []
    for parts in itertools.product(*(zip(*topic, strict=True) for topic in topics)):
        weight = math.prod(part[1] for part in parts)
        score = np.round(sum(part[0] for part in parts), 12)
        best += weight * (score == score.max()) / (score == score.max()).sum()
        ranks.append((weight, rankdata(-score)))
    return best, ranks


def quantile(ranks, system, q):
    """The least rank that at least q of the probability does not exceed."""
    below = 0.0
    for rank, weight in sorted((rank[system], weight) for weight, rank in ranks):
        below += weight
        if below >= q:
            return rank
    raise AssertionError


def test_ranks_are_the_enumerated_ones(make_pool, oracle, point):
    rng = np.random.default_rng(41)
    pool = make_pool(rng, 4, 2, 5)
    p = rng.random(pool.n_documents) ** 2
    best, ranks = enumerated(oracle, pool, p)
    result = rank_systems(pool, point(pool, p), POOL_ALONE, outcomes=40_000)
    assert result["expected"].is_monotonic_decreasing
    result = result.set_index("system").loc[list(pool.systems)].reset_index()
    assert list(result) == [
        "system",
        "expected",
        "sd",
        "p_best",
        "rank_low",
        "rank_median",
        "rank_high",
    ]
    assert result["p_best"].sum() == pytest.approx(1.0)
    spread = np.sqrt(best * (1 - best) / 40_000)
    assert (np.abs(result["p_best"] - best) < 4 * spread).all()
    for column, q in (("rank_low", 0.05), ("rank_median", 0.5), ("rank_high", 0.95)):
        # an error of the share, where the distribution has a step near q
        allowed = [{quantile(ranks, s, q + e) for e in (-0.01, 0, 0.01)} for s in range(4)]
        assert all(rank in some for rank, some in zip(result[column], allowed, strict=True))


def test_ties_share_the_rank_and_the_first_place():
    ranks = count_ranks(scored([[0.5, 0.1], [0.5 + 1e-16, 0.3], [0.2, 0.3], [0.1, 0.3]]))
    assert ranks.p_best == pytest.approx([0.25, 0.25 + 1 / 6, 1 / 6, 1 / 6])
    assert ranks.rank_low.tolist() == [1.5, 1.5, 2, 2]
    assert ranks.rank_high.tolist() == [4, 2, 3, 4]


def test_ranks_of_many_scores_are_scipy_s():
    scores = np.random.default_rng(42).integers(0, 5, size=(7, 3, 200)) / 10
    expected = rankdata(-scores.reshape(7, -1), axis=0)
    result = count_ranks(scores)
    for ranks, q in ((result.rank_low, 0.05), (result.rank_median, 0.5), (result.rank_high, 0.95)):
        assert ranks.tolist() == np.quantile(expected, q, axis=1, method="inverted_cdf").tolist()


def test_known_scores_have_known_ranks(make_pool, point):
    pool = make_pool(np.random.default_rng(43), 3, 2, 6)
    judged = point(pool, (np.random.default_rng(44).random(12) < 0.5).astype(float))
    result = rank_systems(pool, judged, POOL_ALONE, outcomes=10)
    order = result.sort_values("expected", ascending=False)
    assert order["p_best"].tolist() == [1, 0, 0]
    for column in ("rank_low", "rank_median", "rank_high"):
        assert order[column].tolist() == [1, 2, 3]


def test_a_comparison_counts_ranks_on_the_outcomes_of_its_pairs(make_pool):
    rng = np.random.default_rng(45)
    pool = make_pool(rng, 2, 3, 8)
    draws = Relevance.from_values(pool, rng.random((20, 1, pool.n_documents)) * 0.5)
    plain, result = (
        ask(compare(pool, draws, form="montecarlo")) for ask in (replace, Comparison.with_ranks)
    )
    assert plain.p_best is None
    assert list(plain.systems_frame()) == ["system", "expected", "sd"]
    pair = result.pair("s0", "s1")
    assert result.p_best[0] == pytest.approx(pair.p_greater + pair.p_equal / 2, abs=1e-4)
    alone = rank_systems(pool, draws)
    assert alone["p_best"].tolist() == result.systems_frame()["p_best"].tolist()
    assert result.to_dict()["systems"][0]["rank_low"] == result.rank_low[0]


def test_a_residual_unsettles_ranks(make_pool, point):
    pool = make_pool(np.random.default_rng(46), 2, 4, 10)
    relevance = point(pool, np.full(40, 0.3))
    result = rank_systems(pool, relevance, Estimand(residual=5.0))
    # standard error of a share near one half: .0035
    assert result["p_best"].tolist() == pytest.approx([0.5, 0.5], abs=0.015)
    # of a standard deviation: 5 / sqrt(2 * 20,000) = .025
    assert result["sd"].tolist() == pytest.approx([5.0, 5.0], abs=0.1)
