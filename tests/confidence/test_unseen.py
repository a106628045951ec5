"""Relevant documents that every list misses."""

import numpy as np
import pytest
from pools import POOL_ALONE, pool_of, runs_of

from rtc_bayes import (
    Estimand,
    Judgments,
    Qrels,
    Relevance,
    compare,
    rank_systems,
    topic_differences as by_topic,
)
from rtc_bayes.confidence.removal import removal
from rtc_bayes.confidence.setting import Setting
from rtc_bayes.confidence.unseen import relevant_below, with_unseen
from rtc_bayes.measures.residual import short_lists_error

UNSEEN = Estimand(scope="pool", unseen=True)

LISTS = {"s0": ["a", "b"], "s1": ["b", "c"], "s2": ["b", "d"]}


@pytest.fixture
def pool():
    return pool_of({name: {"1": ranked, "2": ["x"]} for name, ranked in LISTS.items()})


def test_one_twin_for_what_one_system_found(pool):
    p = np.array([[0.2, 0.9, 1.0, 0.0, 0.7], [0.5, 0.0, 0.5, 0.3, 0.0]])
    extended, values = with_unseen(pool, p)
    names = ["a", "a (unseen)", "b", "c", "c (unseen)", "d", "d (unseen)", "x"]
    assert extended.docnos.tolist() == names
    share = 2 / 3
    np.testing.assert_allclose(
        values,
        [
            [0.2, 0.2 * share, 0.9, 1.0, share, 0.0, 0.0, 0.7],
            [0.5, 0.5 * share, 0.0, 0.5, 0.5 * share, 0.3, 0.3 * share, 0.0],
        ],
    )
    assert (extended.ranks(0)[:, [1, 4, 6]] == 0).all()


@pytest.mark.parametrize(("others", "left"), [(0, 4 / 3), (1, 1 / 3), (2, 0)])
def test_what_is_known_to_have_been_missed_is_not_missed_twice(pool, others, left):
    """Two documents that one system alone found are relevant: the jackknife expects 4/3 more."""
    labels_of = {"a": 1, "b": 1, "c": 1, "d": 0} | {f"other{i}": 1 for i in range(others)}
    judgments = Judgments.from_qrels(pool, Qrels({"1": labels_of, "2": {"x": 1}}))
    labels = np.nan_to_num(judgments.labels)[None]
    extended, values = with_unseen(judgments.pool, labels)
    twins = np.array([docno.endswith("(unseen)") for docno in extended.docnos])
    assert values[0, twins].sum() == pytest.approx(left)


def test_expected_scores_are_those_of_more_relevant_documents(pool):
    """Average precision with all judged is S / R: of 3 relevant, one is found by one system."""
    labels = np.array([1.0, 1.0, 0.0, 0.0, 1.0])
    relevance = Relevance.from_values(pool, labels)
    plain = compare(pool, relevance, POOL_ALONE, moments="plugin")
    comparison = compare(pool, relevance, moments="plugin", estimand=UNSEEN)
    # 2 relevant in topic 1, and 2/3 unseen; topic 2 has all that there is
    before, after = 2.0 * plain.expected - 1.0, 2.0 * comparison.expected - 1.0
    np.testing.assert_allclose(after, before * 2 / (2 + 2 / 3))
    assert (comparison.meta["unseen"], plain.meta["unseen"]) == (True, False)


def test_the_options_go_everywhere_together(pool):
    relevance = Relevance.from_values(pool, np.array([0.6, 0.5, 0.3, 0.2, 0.5]))
    comparison = compare(pool, relevance, moments="exact", estimand=UNSEEN)
    topics = by_topic(pool, relevance, "s0", "s1", UNSEEN)
    assert topics.expected_difference.mean() == pytest.approx(
        comparison.pair("s0", "s1").expected_difference
    )
    counted = rank_systems(pool, relevance, UNSEEN, outcomes=20_000, seed=1)
    # scores in [0, 1] have standard deviations of at most 1/2
    np.testing.assert_allclose(
        counted.expected, comparison.expected, atol=4 * 0.5 / np.sqrt(20_000)
    )


def test_a_forecast_leaves_the_variance_of_what_is_unseen():
    alone = pool_of({name: {"1": ranked} for name, ranked in LISTS.items()})
    relevance = Relevance.from_values(alone, np.array([0.7, 0.5, 0.3, 0.2]))
    for gone in removal(Setting.from_pool(alone, relevance, UNSEEN)):
        assert 0 < gone[-1] < 1
        assert len(gone) <= 1 + alone.n_documents
    for gone in removal(Setting.from_pool(alone, relevance, POOL_ALONE)):
        assert gone[-1] == pytest.approx(1)


def test_without_a_document_of_one_system_alone_a_forecast_is_of_the_pool():
    shared = pool_of({"s0": {"1": ["a", "b", "c"]}, "s1": {"1": ["c", "b", "a"]}})
    relevance = Relevance.from_values(shared, np.array([0.7, 0.5, 0.2]))
    result, plain = (
        compare(shared, relevance, estimand).with_forecast(0.95)
        for estimand in (Estimand(scope="pool", unseen=True), POOL_ALONE)
    )
    assert result.judgments_needed == plain.judgments_needed != (0,)


def test_a_single_system_missed_half_as_many_as_it_found():
    """As one of two that share nothing; judged documents of others are of those that it missed."""
    pool = pool_of({"s0": {"1": ["a", "b"]}})
    _, values = with_unseen(pool, np.array([[0.5, 0.5]]))
    assert values.sum() == 1.5
    apart = pool_of({"s0": {"1": ["a", "b"]}, "s1": {"1": ["c", "d"]}})
    _, of_two = with_unseen(apart, np.full((1, 4), 0.5))
    assert of_two.sum() - 2.0 == 2 * (values.sum() - 1.0)
    others = pool.with_documents({"1": ["c"]})
    _, beyond = with_unseen(others, np.array([[0.5, 0.5, 0.2]]))
    assert beyond.sum() == pytest.approx(1.5)
    _, nothing = with_unseen(others, np.array([[0.5, 0.5, 1.0]]))
    assert nothing.sum() == pytest.approx(2.0)


def test_bpref_takes_no_unseen_document_for_a_judged_one():
    """Each of a to d, found by one system, has a twin, there with probability 1/2.

    Only x is judged nonrelevant, so that one above all relevant documents leaves nothing of A and
    B's d; that of B alone counts where nothing stands above it.
    """
    pool = pool_of({"A": {"1": "xabc"}, "B": {"1": "dx"}})
    relevance = Relevance.from_values(pool, (pool.docnos != "x").astype(float))
    about = Estimand("Bpref", residual=0.0)
    comparison = compare(pool, relevance, about, outcomes=20_000, seed=1)
    twins = np.arange(5)
    chances = np.array([1, 4, 6, 4, 1]) / 16
    outcomes = 1.0 / (4 + twins)
    expected = chances @ outcomes
    error = np.sqrt(chances @ (outcomes - expected) ** 2 / 20_000)
    assert comparison.expected[0] == 0.0
    assert abs(comparison.expected[1] - expected) < 4 * error


def lists_to(length, systems=2):
    """Build a pool of one topic whose systems share nothing."""
    return pool_of(
        {f"s{s}": {"1": [f"d{s}.{n:03d}" for n in range(length)]} for s in range(systems)}
    )


@pytest.mark.parametrize(
    ("length", "late", "below"),
    [
        # 100 / 20 is 2.32 doublings: with half as many each, 1/2 + 1/4 + .32 / 8
        (20, 0.5, 0.75 + (np.log2(5.0) - 2.0) / 8),
        (50, 0.5, 0.5),
        # as many each: 3.32 doublings
        (10, 1.0, np.log2(10.0)),
        # at most 1.5 times as many
        (50, 7.0, 1.5),
        (50, 0.0, 0.0),
        (9, 1.0, 0.0),
        (100, 1.0, 0.0),
    ],
)
def test_every_doubling_brings_what_the_last_ones_say(length, late, below):
    """Relevant documents first ranked in the lists' second half and in the quarter before it."""
    pool = lists_to(length)
    best = pool.best_ranks
    before = (best > length / 4) & (best <= length / 2)
    last = best > length / 2
    p = 0.1 * before + late * 0.1 * last * before.sum() / last.sum()
    draws = np.stack([p, 0.5 * p])
    assert relevant_below(pool, draws) == pytest.approx([below, below])
    alone = 0.5 * draws.sum(axis=1)
    _, values = with_unseen(pool, draws)
    expected = draws.sum(axis=1) + alone + below * draws[:, last].sum(axis=1)
    assert values.sum(axis=1) == pytest.approx(expected)


def test_nothing_is_guessed_of_a_pool_that_ends_above_the_lists_ends():
    """Nor of lists that end by themselves, at any depth; without a guess there is more error."""
    lists = {f"s{s}": {"1": [f"d{s}.{n}" for n in range(20)]} for s in range(3)}
    errors = []
    for depth in (20, 15):
        pool = Estimand(depth=depth).pool(runs_of(lists))
        relevance = Relevance.from_values(pool, 0.5 / pool.best_ranks)
        errors.append(compare(pool, relevance).meta["short_lists_error"])
        assert (relevant_below(pool, relevance.values) > 0).all() == (depth == 20)
    assert errors == pytest.approx([short_lists_error("AP", 3, 20, of) for of in (1.0, 0.0)])
    uneven = {
        f"s{s}": {str(t): [f"d{s}.{n}" for n in range(20 + t)] for t in range(5)} for s in range(3)
    }
    for depth in (20, 100):
        pool = Estimand(depth=depth).pool(runs_of(uneven))
        meta = compare(pool, Relevance.from_values(pool, 0.5 / pool.best_ranks.clip(1))).meta
        assert "short_lists_error" not in meta


@pytest.mark.parametrize("systems", [1, 2, 10, 30, 129])
@pytest.mark.parametrize("measure", ["AP", "nDCG", "nDCG@10", "R@100"])
def test_shorter_lists_have_no_smaller_error(measure, systems):
    of_lists = [short_lists_error(measure, systems, n, float(n >= 10)) for n in range(1, 110)]
    assert (np.diff(of_lists) <= 0).all()
    assert of_lists[0] > of_lists[50] > of_lists[99] == 0.0


def test_a_draw_is_extended_by_itself():
    pool = lists_to(20)
    draws = np.random.default_rng(8).random((3, pool.n_documents)) / pool.best_ranks
    below = relevant_below(pool, draws)
    assert len(set(below.tolist())) == 3
    alone = [relevant_below(pool, draw[None])[0] for draw in draws]
    assert below == pytest.approx(alone)


@pytest.mark.parametrize(("elsewhere", "left"), [(0, 1.0), (2, 1.0), (3, 0.5), (4, 0.0), (9, 0.0)])
def test_nothing_is_guessed_below_where_somebody_judged_beyond(elsewhere, left):
    """The jackknife expects two more, and the rest is guessed of lists' ends alone."""
    pool = lists_to(20)
    guess = relevant_below(pool, (pool.best_ranks > 18)[None].astype(float))[0]
    beside = pool.with_documents({"1": [f"other{n}" for n in range(elsewhere)]})
    p = (beside.best_ranks > 18) | (beside.best_ranks == 0)
    assert relevant_below(beside, p[None].astype(float)) == pytest.approx([left * guess])


def test_complete_judgments_leave_nothing_to_guess_below_and_nothing_to_say():
    pool = lists_to(20)
    relevant = (pool.best_ranks > 18).astype(float)
    said = compare(pool, Relevance.from_values(pool, relevant))
    assert "lists are cut at rank 20" in said.level_text
    judged = Qrels({"1": dict.fromkeys([*pool.docnos[relevant > 0], *"abcdefghi"], 1)})
    beside = Judgments.from_qrels(pool, judged)
    labels = np.nan_to_num(beside.labels)
    complete = compare(beside.pool, Relevance.from_values(beside.pool, labels))
    assert "short_lists_error" not in complete.meta
    assert (complete.meta["guessed_relevant"], complete.level_text) == (0.0, None)


def test_expected_relevant_documents_of_cut_lists_are_nearly_those_of_long_ones():
    """Where relevance falls as 1 / rank, each doubling has as many: lists of 20 tell of 100."""
    short, long = lists_to(20), lists_to(100)
    p = 1.0 / short.best_ranks
    below = relevant_below(short, p[None])[0] * p[short.best_ranks > 10].sum()
    assert p.sum() + below == pytest.approx((1.0 / long.best_ranks).sum(), rel=0.02)
