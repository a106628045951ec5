"""Moments over a pool: sums over topics, differences of systems, draws."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import ir_measures
import numpy as np
import oracle
import pytest
from pools import pool_of

from rtc_bayes.collection import Relevance
from rtc_bayes.collection.lists import Lists
from rtc_bayes.errors import InputError
from rtc_bayes.measures import moments, sample_scores
from rtc_bayes.store import read_dataset, write_dataset
from rtc_bayes.workers import Workers


def topic_distributions(pool, p, score):
    parts = []
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        lists = [pool.ranking(s, t) - inside.start for s in range(pool.n_systems)]
        parts.append(oracle.distribution(lists, p[inside], score))
    return parts


@pytest.mark.parametrize("measure", ["AP", "nDCG@3", "RR", "P@4"])
def test_differences_of_means_match_the_convolution(random_pool, measure):
    rng = np.random.default_rng(21)
    pool = random_pool(rng, systems=3, topics=3, length=6)
    p = rng.random(pool.n_documents)
    p[rng.random(pool.n_documents) < 0.3] = 0.0
    result = moments(pool, p, measure=measure, tolerance=1e-12)
    parts = topic_distributions(pool, p, oracle.SCORES[measure])
    assert result.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    for n, (a, b) in enumerate(result.pairs):
        values, weights = oracle.mean_over_topics([(x[:, a] - x[:, b], w) for x, w in parts])
        mean, variance, _, _ = oracle.cumulants(values, weights)
        assert result.difference_expected[0, n] == pytest.approx(mean, abs=1e-9)
        assert result.difference_variance[0, n] == pytest.approx(variance, abs=1e-9)
        _, tie, _ = oracle.sign_probabilities(values, weights)
        assert np.exp(result.log_tie[0, n]) <= tie + 1e-12
    for s in range(3):
        values, weights = oracle.mean_over_topics([(x[:, s], w) for x, w in parts])
        mean, variance, _, _ = oracle.cumulants(values, weights)
        assert result.mean_expected[0, s] == pytest.approx(mean, abs=1e-9)
        assert result.mean_variance[0, s] == pytest.approx(variance, abs=1e-9)


def test_cumulants_of_a_linear_measure_are_exact(random_pool):
    rng = np.random.default_rng(22)
    pool = random_pool(rng, systems=3, topics=3, length=6)
    p = rng.random(pool.n_documents)
    result = moments(pool, p, measure="DCG")
    parts = topic_distributions(pool, p, oracle.dcg)
    for n, (a, b) in enumerate(result.pairs):
        cumulants = [oracle.cumulants(x[:, a] - x[:, b], w) for x, w in parts]
        third, fourth = (sum(c[k] for c in cumulants) / 3 ** (k + 1) for k in (2, 3))
        assert result.third[0, n] == pytest.approx(third, abs=1e-13)
        assert result.fourth[0, n] == pytest.approx(fourth, abs=1e-13)


@pytest.mark.parametrize("kind", ["exact", "plugin"])
def test_equal_runs_differ_by_exactly_nothing(kind):
    ranking = {str(t): [f"d{i}" for i in range(t, t + 60)] for t in range(4)}
    other = {t: docnos[::-1] for t, docnos in ranking.items()}
    pool = pool_of({"a": ranking, "b": other, "c": ranking}, depth=50)
    p = np.random.default_rng(3).random(pool.n_documents)
    result = moments(pool, p, moments=kind)
    same = result.pairs.tolist().index([0, 2])
    assert result.difference_expected[0, same] == 0.0
    assert result.difference_variance[0, same] == 0.0
    assert result.third[0, same] == result.fourth[0, same] == 0.0
    assert result.log_tie[0, same] == 0.0
    assert (result.difference_variance[0, [n for n in range(3) if n != same]] > 0).all()


@pytest.mark.parametrize("measure", ["AP", "nDCG", "R@100", "RR", "DCG"])
def test_nearly_equal_runs_keep_their_variance(measure):
    """Two runs that swap documents that are hardly ever relevant, at the end of the list."""
    docnos = [f"d{i:03d}" for i in range(100)]
    swapped = [*docnos[:98], "x", docnos[98]]
    pool = pool_of({"a": {"1": docnos}, "b": {"1": swapped}}, depth=100)
    p = np.full(pool.n_documents, 0.2)
    rare = pool.locate("1", ["d098", "d099", "x"])
    p[rare] = 1e-7
    result = moments(pool, p, measure=measure, tolerance=1e-12)
    # to first order in 1e-7 one of the three is relevant or none, and that chance is the variance
    wanted = 0.0
    for i in rare:
        certain = p.copy()
        certain[rare] = 0.0
        certain[i] = 1.0
        conditional = moments(pool, certain, measure=measure, tolerance=1e-12)
        second = conditional.difference_variance[0, 0] + conditional.difference_expected[0, 0] ** 2
        wanted += 1e-7 * second
    assert result.difference_variance[0, 0] == pytest.approx(wanted, rel=1e-5)


def test_swapping_a_pair_changes_signs_only(random_pool):
    rng = np.random.default_rng(23)
    pool = random_pool(rng, systems=4, topics=3, length=8)
    p = rng.random(pool.n_documents)
    for measure, kind in itertools.product(["AP", "RR", "nDCG@5"], ["exact", "plugin"]):
        one = moments(pool, p, measure=measure, moments=kind, pairs=[[0, 1], [2, 3]])
        two = moments(pool, p, measure=measure, moments=kind, pairs=[[1, 0], [3, 2]])
        np.testing.assert_allclose(one.difference_expected, -two.difference_expected, rtol=1e-14)
        np.testing.assert_allclose(one.difference_variance, two.difference_variance, rtol=1e-12)
        np.testing.assert_allclose(one.third, -two.third, rtol=1e-12, atol=1e-18)
        np.testing.assert_allclose(one.fourth, two.fourth, rtol=1e-12, atol=1e-18)


def test_draws_are_independent_of_each_other(random_pool):
    rng = np.random.default_rng(24)
    pool = random_pool(rng, systems=3, topics=2, length=8)
    draws = rng.random((4, pool.n_documents))
    together = moments(pool, draws)
    for d, p in enumerate(draws):
        alone = moments(pool, p)
        for name in ("expected", "variance", "difference_variance", "third", "log_tie"):
            np.testing.assert_array_equal(getattr(together, name)[d], getattr(alone, name)[0])
    scores = together.score_matrix()
    total = together.variance.mean(axis=0) + together.expected.var(axis=0)
    np.testing.assert_allclose(scores.variance, total)
    assert scores.systems == pool.systems


def test_documents_no_run_retrieved_count_as_relevant(random_pool):
    pool = random_pool(np.random.default_rng(25), systems=2, topics=1, length=6)
    more = pool.with_documents({"0": ["unseen"]})
    p = np.full(more.n_documents, 0.5)
    p[more.locate("0", ["unseen"])] = 1.0
    lists = [more.ranking(s, 0) for s in range(2)]
    scores, weights = oracle.distribution(lists, p, oracle.average_precision)
    np.testing.assert_allclose(moments(more, p).expected[0, :, 0], weights @ scores, atol=1e-8)


def test_a_topic_without_any_relevance_scores_nothing(random_pool):
    pool = random_pool(np.random.default_rng(26), systems=2, topics=2, length=6)
    for measure, kind in itertools.product(["AP", "nDCG", "R@5"], ["exact", "plugin"]):
        result = moments(pool, np.zeros(pool.n_documents), measure=measure, moments=kind)
        assert not result.expected.any()
        assert not result.difference_variance.any()
        assert (result.log_tie == 0).all()


def test_bad_input_is_named(random_pool):
    pool = random_pool(np.random.default_rng(27), systems=2, topics=2, length=6)
    p = np.full(pool.n_documents, 0.5)
    with pytest.raises(InputError, match="probabilities for"):
        moments(pool, p[1:])
    with pytest.raises(InputError, match=f"document {pool.docnos[3]} of topic 0 is 1.5"):
        moments(pool, np.where(np.arange(len(p)) == 3, 1.5, p))
    with pytest.raises(InputError, match="nan"):
        moments(pool, np.where(np.arange(len(p)) == 3, np.nan, p))
    with pytest.raises(InputError, match="not known; sample"):
        moments(pool, p, measure="Rprec")
    with pytest.raises(InputError, match="pairs name systems outside 0 to 1"):
        moments(pool, p, pairs=[[0, 2]])
    for pairs in (None, "some", [0, 1], [[0.0, 1.0]], [[0, 1, 1]]):
        with pytest.raises(InputError, match='give "all", "none", or rows of two system numbers'):
            moments(pool, p, pairs=pairs)
    for wrong in ("p", None, 0.5, [[[0.5]]], {"d": 0.5}):
        with pytest.raises(InputError, match=r"probabilities are a .* give a Relevance, a Fit"):
            moments(pool, wrong)
    with pytest.raises(InputError, match="tolerance"):
        moments(pool, p, tolerance=0.0)
    with pytest.raises(InputError, match="exact or plugin"):
        moments(pool, p, moments="published")


def test_moments_cannot_be_changed_and_name_themselves(random_pool):
    pool = random_pool(np.random.default_rng(28), systems=2, topics=2, length=6)
    result = moments(pool, np.full(pool.n_documents, 0.5))
    with pytest.raises(ValueError, match="read-only"):
        result.expected[0] = 1.0
    assert repr(result) == "Moments(AP, exact: 2 systems, 2 topics, 1 pair, 1 draw)"


def test_distinct_lists_are_kept_in_order():
    ranked = np.array([3, 1, 2, 3, 1, 2, 2], dtype=np.int32)
    starts = np.array([0, 2, 3, 5, 5, 6, 7], dtype=np.int64)
    kept, which = Lists.complete(ranked, starts).distinct()
    assert which.tolist() == [0, 1, 0, 2, 1, 1]
    assert kept.ranked.tolist() == [3, 1, 2]
    assert kept.starts.tolist() == [0, 2, 3, 3]


@pytest.mark.parametrize("kind", ["plugin", "exact"])
def test_topics_at_a_time_and_where_probabilities_stand_change_nothing(random_pool, tmp_path, kind):
    rng = np.random.default_rng(27)
    pool = random_pool(rng, systems=5, topics=7, length=9)
    p = rng.random((130, pool.n_documents)).astype(np.float32)
    stored = np.memmap(tmp_path / "p", dtype=np.float32, mode="w+", shape=p.shape)
    stored[:] = p
    seen = []
    at_once = moments(pool, p.astype(np.float64), moments=kind)
    streamed = moments(
        pool, stored, moments=kind, workers=Workers(2, progress=lambda *steps: seen.append(steps))
    )
    for name in ("expected", "variance", "difference_variance", "third", "log_tie"):
        np.testing.assert_array_equal(getattr(streamed, name), getattr(at_once, name))
    assert seen == [("topics", t + 1, 7) for t in range(7)]


def test_a_wrong_probability_of_a_later_topic_is_named(random_pool):
    pool = random_pool(np.random.default_rng(28), systems=2, topics=3, length=5)
    p = np.full((2, pool.n_documents), 0.5)
    p[1, pool.n_documents - 1] = 1.5
    with pytest.raises(InputError, match=f"{pool.docnos[-1]} of topic {pool.topics[-1]} is 1.5"):
        moments(pool, p)


@pytest.mark.parametrize("moments_of", ["plugin", "exact"])
@pytest.mark.parametrize("measure", ["AP", "AP@4", "P@5", "R@5", "nDCG", "RBP", "RR"])
def test_lists_to_the_score_depth_are_those_of_a_deeper_pool(measure, moments_of, deeper_pool):
    """Pool of depth 3 scored to rank 7: what a pool of depth 7 says if none of its own counts."""
    rng = np.random.default_rng(41)
    for _ in range(5):
        pool, deeper, place = deeper_pool(rng, systems=4, topics=3, length=7, depth=3)
        p = rng.random((3, pool.n_documents))
        of_whole = np.zeros((3, deeper.n_documents))
        of_whole[:, place] = p
        result = moments(pool, p, measure=measure, moments=moments_of, tolerance=1e-12)
        wanted = moments(deeper, of_whole, measure=measure, moments=moments_of, tolerance=1e-12)
        for name in ("expected", "variance", "difference_variance", "third", "fourth", "log_tie"):
            np.testing.assert_allclose(
                getattr(result, name), getattr(wanted, name), rtol=1e-7, atol=1e-11, err_msg=name
            )


def test_lists_end_at_the_depth_unless_told(deeper_pool):
    pool, deeper, _ = deeper_pool(np.random.default_rng(5), systems=3, topics=2, length=7, depth=3)
    assert (pool.score_depth, deeper.score_depth) == (7, 7)
    shallow = replace(pool, score_depth=3)
    assert max(shallow.lists(0).ranks) == 3
    assert max(pool.lists(0).ranks) > 3
    assert shallow.lists(0).ranked.tolist() == pool.lists(0).cut(3).ranked.tolist()


@pytest.mark.parametrize("measure", ["AP", "nDCG", "P@3", "RR"])
@pytest.mark.parametrize("kind", ["plugin", "exact"])
def test_scores_of_systems_need_no_pair(random_pool, measure, kind):
    rng = np.random.default_rng(29)
    pool = random_pool(rng, systems=4, topics=3, length=8)
    p = rng.random((3, pool.n_documents))
    every = moments(pool, p, measure=measure, moments=kind)
    none = moments(pool, p, measure=measure, moments=kind, pairs="none")
    np.testing.assert_array_equal(none.expected, every.expected)
    np.testing.assert_array_equal(none.variance, every.variance)
    assert none.pairs.shape == (0, 2)
    assert none.difference_variance.shape == none.third.shape == (3, 0)


def test_a_relevance_and_a_fit_are_taken_as_probabilities(random_pool):
    rng = np.random.default_rng(30)
    pool = random_pool(rng, systems=3, topics=2, length=6)
    more = pool.with_documents({"0": ["unseen"]})
    relevance = Relevance.from_values(more, rng.random(more.n_documents))
    wanted = moments(more, relevance.values, measure="nDCG")
    for source in (relevance, SimpleNamespace(relevance=relevance)):
        result = moments(pool, source, measure=ir_measures.nDCG)
        np.testing.assert_array_equal(result.expected, wanted.expected)
        scores = sample_scores(pool, source, measure=ir_measures.P @ 2, outcomes=5)
        sampled = sample_scores(more, relevance.values, measure="P@2", outcomes=5)
        np.testing.assert_array_equal(scores, sampled)
    with pytest.raises(InputError, match="a SimpleNamespace is not a relevance of documents"):
        moments(pool, SimpleNamespace(relevance=0.5))


def test_a_labelled_data_set_goes_to_disk_and_back(random_pool, tmp_path):
    pool = random_pool(np.random.default_rng(31), systems=3, topics=2, length=6)
    table = moments(pool, np.full((2, pool.n_documents), 0.5))
    write_dataset(table.to_xarray(), tmp_path / "moments.nc")
    data = read_dataset(tmp_path / "moments.nc")
    assert data.attrs == {"measure": "AP", "moments": "exact"}
    one = data.sel(system="s1", topic="1")["expected"]
    np.testing.assert_array_equal(one, table.expected[:, 1, 1])
    n = [(a, b) for a, b in zip(data["a"].values, data["b"].values, strict=True)].index(
        ("s0", "s2")
    )
    np.testing.assert_array_equal(data["third"][:, n], table.third[:, n])
    assert moments(pool, [0.5] * pool.n_documents, pairs="none").to_xarray().sizes["pair"] == 0
