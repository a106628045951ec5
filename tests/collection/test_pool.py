"""Pools, judgments and relevance: alignment, extension, ordinary gaps, and the way to disk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rtc_bayes as rb
from rtc_bayes.collection import natural_key
from rtc_bayes.collection.judgments import infer_judged_for
from rtc_bayes.errors import CollectionWarning, InputError


def make_runs(**rankings):
    return rb.Runs(rb.Run.from_rankings(tag, lists) for tag, lists in rankings.items())


@pytest.fixture
def runs():
    return make_runs(
        a={"9": ["x", "y", "z"], "10": ["p", "q"]},
        b={"9": ["z", "w"], "10": ["q"]},
    )


@pytest.fixture
def pool(runs):
    return rb.Pool.from_runs(runs, depth=2)


def test_natural_order():
    assert sorted(["MQ10", "MQ9", "10", "9", "a", "07", "7"], key=natural_key) == [
        "07", "7", "9", "10", "MQ9", "MQ10", "a",
    ]  # fmt: skip


@given(st.lists(st.text(max_size=5), unique=True))
def test_natural_keys_are_total_and_distinct(texts):
    keys = sorted(map(natural_key, texts))
    assert len(set(keys)) == len(texts)


def test_pool_holds_the_first_documents_of_every_run(pool):
    assert pool.topics == ("9", "10")
    assert pool.docnos.tolist() == ["w", "x", "y", "z", "p", "q"]
    assert pool.ranks(0).tolist() == [[0, 1, 2, 0], [2, 0, 0, 1]]
    assert pool.ranks(1).tolist() == [[1, 2], [0, 1]]
    assert [x.tolist() for x in pool.lists(1)] == [[0, 1, 1], [0, 2, 3], [1, 2, 1]]
    assert pool.locate("10", ["q", "x"]).tolist() == [5, -1]
    assert pool.locate("11", ["q"]).tolist() == [-1]
    assert repr(pool) == "Pool(2 systems, 2 topics, depth 2, 6 documents)"


def test_pool_is_never_changed(pool):
    with pytest.raises(ValueError, match="read-only"):
        pool.ranked[0] = 1
    with pytest.raises(AttributeError):
        pool.depth = 3


def test_depth_below_one(runs):
    with pytest.raises(InputError, match="at least 1"):
        rb.Pool.from_runs(runs, depth=0)


def test_a_run_without_a_topic_is_named_once():
    runs = make_runs(a={"1": ["x"], "2": ["y"]}, b={"2": ["y"]})
    with pytest.warns(CollectionWarning, match=r"b \(1\)") as caught:
        pool = rb.Pool.from_runs(runs)
    assert len(caught) == 1
    assert pool.ranking(1, 0).tolist() == []


RANKINGS = st.fixed_dictionaries(
    {
        topic: st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)
        for topic in ("1", "2", "3")
    }
)


@given(st.lists(RANKINGS, min_size=2, max_size=4), st.integers(1, 5), st.data())
def test_select_equals_pooling_the_selected_runs(rankings, depth, data):
    runs = make_runs(**{f"s{i}": lists for i, lists in enumerate(rankings)})
    chosen = data.draw(st.lists(st.sampled_from(runs.systems), unique=True, min_size=1))
    selected = rb.Pool.from_runs(runs, depth=depth).select(chosen)
    direct = rb.Pool.from_runs(runs.select(chosen), depth=depth)
    assert selected.docnos.tolist() == direct.docnos.tolist()
    for name in ("topic_starts", "ranked", "list_starts"):
        assert getattr(selected, name).tolist() == getattr(direct, name).tolist()
    assert selected.digests == direct.digests


@given(
    st.lists(RANKINGS, min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(["1", "2", "3"]), st.lists(st.sampled_from("aceghxyz"))),
)
def test_added_documents_are_unranked_and_nothing_else_changes(rankings, added):
    pool = rb.Pool.from_runs(make_runs(**{f"s{i}": r for i, r in enumerate(rankings)}))
    whole = pool.with_documents(added)
    for t, topic in enumerate(pool.topics):
        inside = whole.docnos[whole.documents(t)].tolist()
        before = pool.docnos[pool.documents(t)].tolist()
        assert inside == sorted({*before, *added.get(topic, [])})
        for s in range(pool.n_systems):
            old = pool.docnos[pool.ranking(s, t)].tolist()
            assert whole.docnos[whole.ranking(s, t)].tolist() == old


def test_overlap(pool):
    # topic 9: z is outside a's first two, so nothing is shared; topic 10: q of (p, q) and (q)
    assert pool.overlap() == pytest.approx(np.array([[1, 0.25], [0.25, 1]]))


def test_pool_and_judgments_round_trip(pool, tmp_path):
    qrels = rb.Qrels({"9": {"z": 1, "unseen": 1, "x": 0}})
    judgments = rb.Judgments.from_qrels(pool, qrels, judged_for=["a"])
    pool.save(tmp_path / "pool.nc")
    judgments.save(tmp_path / "judgments.nc")
    again = rb.Pool.load(tmp_path / "pool.nc")
    assert again.docnos.tolist() == pool.docnos.tolist()
    assert again.ranked.tolist() == pool.ranked.tolist()
    assert again.digests == pool.digests
    read = rb.Judgments.load(tmp_path / "judgments.nc")
    assert read.judged_for == ("a",)
    assert read.order.tolist() == judgments.order.tolist()
    np.testing.assert_array_equal(read.labels, judgments.labels)


def test_a_file_that_is_not_a_pool(tmp_path):
    (tmp_path / "x.nc").write_text("no")
    with pytest.raises(InputError, match="not a netCDF file"):
        rb.Pool.load(tmp_path / "x.nc")
    with pytest.raises(InputError, match="no such file"):
        rb.Pool.load(tmp_path / "y.nc")


def test_judgments_count_relevant_documents_nobody_retrieved(pool):
    qrels = rb.Qrels({"9": {"z": 2, "unseen": 1, "x": 0, "w": -1}})
    judgments = rb.Judgments.from_qrels(pool, qrels)
    assert judgments.n_judged == 3
    assert judgments.relevant.tolist() == [2, 0]
    assert judgments.nonrelevant.tolist() == [1, 0]
    assert judgments.pool.n_documents == pool.n_documents + 1
    assert np.isnan(judgments.labels[judgments.pool.locate("9", ["w"])[0]])
    assert rb.Judgments.from_qrels(pool, qrels, relevance_level=2).relevant.tolist() == [1, 0]
    assert {t: dict(v) for t, v in judgments.to_qrels().items()} == {
        "9": {"z": 1, "unseen": 1, "x": 0}
    }


def test_judged_topics_without_a_run_are_named(pool):
    with pytest.warns(CollectionWarning, match="77"):
        rb.Judgments.from_qrels(pool, rb.Qrels({"9": {"z": 1}, "77": {"z": 1}}))
    with pytest.raises(InputError, match=r"no topic in common: the runs have 9, 10, .* 77"):
        rb.Judgments.from_qrels(pool, rb.Qrels({"77": {"z": 1}}))
    with pytest.raises(InputError, match="relevance level"):
        rb.Judgments.from_qrels(pool, rb.Qrels({"9": {"z": 1}}), relevance_level=0)


def test_judgments_on_another_pool(runs, pool):
    judgments = rb.Judgments.from_labels(pool, pool.locate("9", ["y", "z"]), [1.0, 0.25])
    other = rb.Pool.from_runs(runs.select(["b"]), depth=3)
    moved = judgments.on(other)
    assert moved.pool.docnos[moved.order].tolist() == ["y", "z"]
    assert moved.labels[moved.order].tolist() == [1.0, 0.25]
    assert moved.relevant.tolist() == [1.25, 0]
    with pytest.raises(InputError, match="between 0 and 1"):
        moved.to_qrels()


def test_labels_must_be_probabilities(pool):
    for bad in (-0.1, 1.1, np.nan):
        with pytest.raises(InputError, match="outside"):
            rb.Judgments.from_labels(pool, [0], [bad])
    with pytest.raises(InputError, match="twice"):
        rb.Judgments.from_labels(pool, [0, 0], [1, 1])


def test_infer_the_systems_that_were_judged(pool):
    judged = rb.Judgments.from_labels(pool, pool.locate("9", ["w", "z"]), [1, 0])
    assert infer_judged_for(judged) == ("b",)
    both = rb.Judgments.from_labels(pool, pool.locate("9", ["w", "x", "z"]), [1, 0, 0])
    assert infer_judged_for(both) == ("a", "b")
    assert infer_judged_for(rb.Judgments.none(pool)) == ()


def test_relevance_lines_up_with_a_smaller_pool(runs, pool, tmp_path):
    values = np.linspace(0.1, 0.6, pool.n_documents)
    relevance = rb.Relevance.from_values(pool, values, model="m", method="map")
    small = pool.select(["b"])
    whole, aligned = relevance.on(small)
    assert whole.n_documents == pool.n_documents
    for topic in pool.topics:
        docnos = pool.docnos[pool.documents(pool.topics.index(topic))]
        np.testing.assert_allclose(
            aligned[0, whole.locate(topic, docnos)], values[pool.locate(topic, docnos)]
        )
    deeper = rb.Pool.from_runs(runs, depth=3)
    assert deeper.n_documents == pool.n_documents  # z is in both
    extra = deeper.with_documents({"9": ["new"]})
    with pytest.raises(InputError, match="new of topic 9"):
        relevance.on(extra)
    relevance.save(tmp_path / "r.nc")
    again = rb.Relevance.load(tmp_path / "r.nc")
    assert (again.model, again.method, again.n_draws) == ("m", "map", 1)
    np.testing.assert_array_equal(again.on(pool)[1], values[None])


def test_impossible_documents_are_not_added(pool):
    values = np.full((1, 2, pool.n_documents), 0.5)
    values[..., pool.locate("9", ["x"])] = 0.0
    whole, aligned = rb.Relevance.from_values(pool, values).on(pool.select(["b"]))
    assert "x" not in whole.docnos
    assert aligned.shape == (2, pool.n_documents - 1)


def test_relevance_from_listed_probabilities(pool):
    erels = rb.Probabilities({"9": {"x": 0.25, "far": 0.5}})
    relevance = rb.Relevance.from_erels(
        pool, erels, qrels=rb.Qrels({"9": {"z": 1, "y": -1}}), default_p=0.125
    )
    whole, values = relevance.on(pool)
    table = dict(zip(whole.docnos.tolist(), values[0].tolist(), strict=True))
    assert table == {"x": 0.25, "far": 0.5, "z": 1, "w": 0.125, "y": 0.125, "p": 0.125, "q": 0.125}
    assert relevance.to_probabilities()["9"]["x"] == 0.25
    with pytest.raises(InputError, match="no topic in common"):
        rb.Relevance.from_erels(pool, rb.Probabilities({"77": {"x": 0.5}}))
    with pytest.raises(InputError, match="outside"):
        rb.Relevance.from_erels(pool, erels, default_p=2.0)


def test_relevance_refuses_what_is_not_a_probability(pool):
    with pytest.raises(InputError, match="outside"):
        rb.Relevance.from_values(pool, np.full(pool.n_documents, 1.5))
    with pytest.raises(InputError, match="shape"):
        rb.Relevance.from_values(pool, np.zeros(3))


def test_ranks_below_the_depth_are_kept_for_documents_of_the_pool(pool):
    """z is the third of a on topic 9, and in the pool by b; of the four lists one is longer."""
    assert pool.reach == 3
    assert pool.ranks(0, below=True).tolist() == [[0, 1, 2, 3], [2, 0, 0, 1]]
    assert pool.lengths.tolist() == [[3, 2], [2, 1]]
    assert repr(pool.tails) == "Tails(1 ranks below the depth, to 3)"


def test_lists_are_scored_to_the_score_depth(runs, tmp_path):
    """Of topic 9, b ranks z first and x second, and a has z at rank 3, below the depth."""
    pool = rb.Pool.from_runs(runs, depth=2, score_depth=3)
    names = pool.docnos[pool.documents(0)]
    ranked, starts, ranks = pool.lists(0)
    of_a = slice(starts[0], starts[1])
    assert dict(zip(names[ranked[of_a]], ranks[of_a], strict=True))["z"] == 3
    pool.save(tmp_path / "pool.nc")
    for some in (pool.select(["b", "a"]), rb.Pool.load(tmp_path / "pool.nc")):
        assert some.score_depth == 3
        assert sorted(some.lists(0).ranks.tolist()) == sorted(ranks.tolist())
    for wrong in (1, 4):
        with pytest.raises(InputError, match=f"score depth is {wrong}.*from the depth, 2, to 3"):
            rb.Pool.from_runs(runs, depth=2, reach=3, score_depth=wrong)


def test_the_reach_ends_what_is_known(runs):
    assert rb.Pool.from_runs(runs, depth=2, reach=2).tails is None
    whole = rb.Pool.from_runs(runs, depth=3)
    assert (whole.tails, whole.reach) == (None, 3)
    assert whole.lengths.tolist() == [[3, 2], [2, 1]]


@given(
    lists=st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=4, max_size=4),
    depth=st.integers(1, 4),
    reach=st.integers(1, 8),
)
def test_known_ranks_are_those_of_the_runs(lists, depth, reach):
    """Two systems on two topics: directly, of some systems, with more documents, from disk."""
    runs = make_runs(s={"1": lists[0], "2": lists[1]}, t={"1": lists[2], "2": lists[3]})
    pool = rb.Pool.from_runs(runs, depth=depth, reach=reach)
    more = pool.with_documents({topic: ["aa", "z"] for topic in pool.topics})
    again = rb.Pool.from_xarray(more.to_xarray())
    for some in (pool, more, again, pool.select(["t"])):
        for t, topic in enumerate(some.topics):
            docnos = some.docnos[some.documents(t)]
            for system, ranks in zip(some.systems, some.ranks(t, below=True), strict=True):
                ranked = runs[system].ranking(topic)[: max(depth, reach)].tolist()
                known = {docno: rank for rank, docno in enumerate(ranked, 1)}
                assert ranks.tolist() == [known.get(docno, 0) for docno in docnos]


def test_judged_documents_are_found_in_lists_below_the_depth(runs):
    """What a has at rank 3 of topic 9 and nobody pooled scores as evaluate scores it."""
    runs = make_runs(a={"9": ["x", "y", "v"]}, b={"9": ["x", "w", "u"]})
    qrels = rb.Qrels({"9": {"v": 1, "w": 1, "elsewhere": 1}})
    documents = {**qrels, "11": ["p"]}
    pool = rb.Pool.from_runs(runs, depth=2, score_depth=3, documents=documents)
    assert pool.docnos.tolist() == ["elsewhere", "v", "w", "x", "y"]
    labels = np.nan_to_num(rb.Judgments.from_qrels(pool, qrels).labels)
    found = rb.moments(pool, labels).mean_expected[0]
    assert found == pytest.approx(rb.evaluate(runs, qrels, "AP").mean["AP"], abs=1e-12)
    assert repr(pool) == "Pool(2 systems, 1 topics, depth 2, scored to 3, 5 documents)"
