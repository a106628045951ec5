"""Scores of whole lists, of the pool alone, and what says otherwise for its part."""

import numpy as np
import pytest
from pools import POOL_ALONE, pool_of, random_rankings

from rtc_bayes import Estimand, Relevance, compare
from rtc_bayes.measures.residual import expected_residual


@pytest.fixture
def pool():
    rankings = random_rankings(np.random.default_rng(1), 3, 4, 14, longest=10)
    return pool_of(rankings, depth=4, score_depth=10)


@pytest.fixture
def relevance(pool):
    return Relevance.from_values(pool, np.random.default_rng(2).random(pool.n_documents))


def test_whole_lists_are_their_parts_spelt_out(pool, relevance):
    residual = expected_residual("AP", pool.n_systems, pool.n_topics)
    parts = Estimand(scope="pool", score_depth=pool.reach, unseen=True, residual=residual)
    spelt, comparison = compare(pool, relevance, parts), compare(pool, relevance)
    for name in ("expected", "sd", "sd_difference", "p_less"):
        np.testing.assert_array_equal(getattr(comparison, name), getattr(spelt, name))
    assert (compare(pool, relevance, POOL_ALONE).sd != comparison.sd).all()


@pytest.mark.parametrize(
    ("said", "value"), [("score_depth", 6), ("unseen", False), ("residual", 0.01)]
)
def test_what_is_said_overrides_the_scope_for_its_part(pool, said, value):
    resolved, _ = Estimand().on(pool)
    result, read = Estimand(**{said: value}).on(pool)
    assert result == Estimand(**{**resolved.__dict__, said: value})
    assert read.score_depth == result.score_depth


def test_the_residual_falls_with_systems_and_is_0_where_recall_does_not_count():
    for measure in ("P@10", "RBP(p=0.8)", "RR", "DCG@10", "ERR@10", "Success@5"):
        assert expected_residual(measure, 2, 50) == 0
    residuals = [expected_residual("AP", systems, 50) for systems in (2, 5, 10, 50)]
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[-1] > 0


def test_an_estimand_says_what_is_not_default():
    assert repr(Estimand()) == "Estimand('AP')"
    assert repr(Estimand(scope="pool", residual=0.01)) == (
        "Estimand('AP', scope='pool', residual=0.01)"
    )
    assert Estimand().text == (
        "AP of whole lists, by all relevant documents, retrieved or not, residual auto"
    )
    assert POOL_ALONE.text == "AP of lists to rank 100, by the pool alone"
