"""Scores of whole lists, of the pool alone, and what says otherwise for its part."""

from dataclasses import dataclass

import numpy as np
import pytest
from pools import POOL_ALONE, pool_of, random_rankings

from rtc_bayes import Estimand, InputError, Judgments, Qrels, Relevance, compare, fit
from rtc_bayes.confidence.likeness import likeness, unlikeness
from rtc_bayes.measures.residual import expected_common_error, expected_residual, short_lists_error
from rtc_bayes.relevance import PointEstimate


@dataclass(frozen=True)
class Sure:
    """A model that takes every document for relevant."""

    name = "sure"
    methods, default_method = ("map",), "map"

    def map(self, judgments):
        return PointEstimate(np.ones(judgments.pool.n_documents))


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
    for name in ("expected", "sd_difference", "p_less"):
        np.testing.assert_array_equal(getattr(comparison, name), getattr(spelt, name))
    # a residual that is a number says nothing of what all scores share
    u = comparison.meta["unjudged_relevant"]
    short = short_lists_error("AP", pool.n_systems, pool.cut_at, guessed=0.0)
    common = np.hypot(expected_common_error("AP", pool.n_systems, u), short)
    assert spelt.meta["common_error"] == 0.0 < common == comparison.meta["common_error"]
    np.testing.assert_allclose(comparison.sd**2, spelt.sd**2 + (common * comparison.expected) ** 2)
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


@pytest.mark.parametrize("measure", ["AP", "nDCG", "R@100", "Bpref"])
def test_between_judgments_the_residual_is_larger(measure):
    lasting = expected_residual(measure, 10, 50)
    at = {share: expected_residual(measure, 10, 50, share) for share in (0.0, 0.1, 0.5, 0.9, 1.0)}
    assert at[0.0] == at[1.0] == lasting
    assert at[0.1] == pytest.approx(at[0.9])
    assert lasting < at[0.1] < at[0.5]
    # systems take what nobody pooled off, and not what a model gets wrong
    few = expected_residual(measure, 2, 50, 0.5) ** 2 - expected_residual(measure, 2, 50) ** 2
    assert few == pytest.approx(at[0.5] ** 2 - lasting**2)


@pytest.mark.parametrize("measure", ["AP", "nDCG", "nDCG@10", "R@100", "Bpref"])
def test_what_all_scores_share_goes_with_systems(measure):
    """They tell how many documents are relevant; judgments of what is pooled do not."""
    of = [expected_common_error(measure, systems, 0.8) for systems in (1, 4, 16)]
    assert of == pytest.approx([of[0], of[0] / 2, of[0] / 4])
    none = expected_common_error(measure, 4, 0.0)
    assert none < of[1] if measure == "nDCG@10" else none == of[1] > 0.0
    assert expected_common_error("RBP(p=0.8)", 4, 0.8, by_grade=True) == 0.0
    if measure == "nDCG@10":  # grades are one error more
        half, whole = (
            expected_common_error(measure, 4, share, by_grade=True) ** 2 - none**2
            for share in (0.4, 0.8)
        )
        assert 0.0 < of[1] ** 2 - none**2 < whole
        assert half == pytest.approx(whole / 4)


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "Bpref"])
def test_what_all_scores_share_is_in_intervals_alone(pool, relevance, measure):
    """With moments, and by outcomes alone."""
    auto = compare(pool, relevance, measure, outcomes=500)
    said = Estimand(measure, residual=auto.meta["residual"])
    told = compare(pool, relevance, said, outcomes=500)
    common = auto.meta["common_error"]
    assert told.meta["common_error"] == 0.0 < common
    np.testing.assert_allclose(auto.sd**2, told.sd**2 + (common * auto.expected) ** 2)
    for name in ("expected_difference", "sd_difference", "p_less", "p_equal"):
        np.testing.assert_array_equal(getattr(auto, name), getattr(told, name))
    assert told.sd_shared is None
    np.testing.assert_allclose(auto.sd_shared, common * np.abs(auto.expected_difference))


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10", "RBP(p=0.8)"])
def test_measures_of_the_first_ranks_have_nothing_between(measure):
    assert expected_residual(measure, 10, 50, 0.5) == expected_residual(measure, 10, 50)


def test_a_comparison_counts_what_is_expected_without_a_judgment(pool):
    p = np.random.default_rng(3).random((5, pool.n_documents))
    p[:, ::3], p[:, 1::3] = 1.0, 0.0
    p[0, 0] = 0.5  # judged in no draw but some
    u = p.mean(axis=0)[2::3].sum() + p[:, 0].mean()
    u /= p.mean(axis=0).sum()
    relevance = Relevance.from_values(pool, p[None])
    comparison = compare(pool, relevance)
    lasting = compare(pool, relevance, Estimand(residual=comparison.meta["lasting_residual"]))
    expected = [expected_residual("AP", pool.n_systems, pool.n_topics, share) for share in (u, 0.0)]
    meta = [comparison.meta[name] for name in ("residual", "lasting_residual")]
    np.testing.assert_allclose(meta, expected)
    assert comparison.meta["unjudged_relevant"] == pytest.approx(u)
    more = expected[0] ** 2 - expected[1] ** 2
    common = (comparison.meta["common_error"] * comparison.expected) ** 2
    assert (common > 0.0).all()
    np.testing.assert_allclose(comparison.sd**2 - lasting.sd**2, more + common)
    left = more * unlikeness(likeness(pool))
    np.testing.assert_allclose(comparison.sd_difference**2 - lasting.sd_difference**2, left)


def test_lists_are_said_to_go_as_far_as_they_go():
    pool = pool_of(random_rankings(np.random.default_rng(1), 2, 2, 30, longest=20))
    assert pool.depth == 100
    relevance = Relevance.from_values(pool, np.full(pool.n_documents, 0.3))
    longest = pool.lengths.max()
    about = compare(pool, relevance).meta["about"]
    assert str(about).startswith(f"AP of whole lists (to rank {longest}), by all")
    deep = compare(pool, relevance, Estimand("P@50", scope="pool")).meta["about"]
    assert deep == f"P@50 of lists to rank {longest}"


def test_a_measure_of_high_grades_counts_what_is_relevant_to_it():
    pool = pool_of(random_rankings(np.random.default_rng(5), 3, 4, 14, longest=10), depth=10)
    some = {
        topic: {d: min(n, 2) for n, d in enumerate(pool.docnos[pool.documents(t)][:6])}
        for t, topic in enumerate(pool.topics)
    }
    fitted = fit(pool, Judgments.from_qrels(pool, Qrels(some)), model="rtc:map")
    at = [
        compare(pool, fitted, measure).meta["unjudged_relevant"] for measure in ("AP", "AP(rel=2)")
    ]
    relevance = fitted.relevance
    p = relevance.grades.at_least(pool, relevance.probability.values[0, 0], 2)
    judged = fitted.judgments.judged
    assert at[1] == pytest.approx(p[~judged].sum() / p.sum())
    assert at[1] != pytest.approx(at[0], rel=0.01)


def test_a_document_that_a_model_is_sure_of_has_no_judgment_for_that(pool):
    """Where the fit's judgments are at hand, its probabilities of 1 are told from them."""
    judgments = Judgments.from_labels(pool, [0, 1, 2], [1, 1, 0])
    fitted = fit(pool, judgments, model=Sure())
    meta = compare(pool, fitted).meta
    assert meta["unjudged_relevant"] == pytest.approx(1 - 2 / (pool.n_documents - 1))
    # of probabilities alone nobody can tell
    assert compare(pool, fitted.relevance).meta["unjudged_relevant"] == 0.0


def test_where_all_is_judged_nothing_is_between(pool):
    judged = (np.random.default_rng(4).random(pool.n_documents) < 0.3).astype(float)
    for labels in (judged, np.zeros(pool.n_documents)):
        meta = compare(pool, Relevance.from_values(pool, labels)).meta
        assert meta["unjudged_relevant"] == 0.0
        assert meta["residual"] == meta["lasting_residual"] > 0.0


def test_an_estimand_says_what_is_not_default():
    assert repr(Estimand()) == "Estimand('AP')"
    assert repr(Estimand(scope="pool", residual=0.01)) == (
        "Estimand('AP', scope='pool', residual=0.01)"
    )
    assert Estimand().text == (
        "AP of whole lists, by all relevant documents, retrieved or not, residual auto"
    )
    assert POOL_ALONE.text == "AP of lists to rank 100, by the pool alone"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"unseen": "no"}, "unseen is 'no'; give True, False or None"),
        ({"topics": None}, "topics are None"),
        ({"residual": 1e200}, "residual is 1e.200"),
        ({"residual": True}, "residual is True"),
    ],
)
def test_values_of_another_kind_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        Estimand(**options)


def test_a_residual_of_numpy_is_taken():
    assert Estimand(residual=np.float32(0.25)) == Estimand(residual=0.25)


def test_topics_are_names():
    with pytest.raises(InputError, match='topics are 5; give "all", "judged" or a list of topics'):
        Estimand(topics=5)
    assert Estimand(topics=[501, np.int64(7), "x"]).topics == ("501", "7", "x")
    with pytest.raises(InputError, match=r"topic 5\.0 is not an id; give text or a whole number"):
        Estimand(topics=[5.0])
