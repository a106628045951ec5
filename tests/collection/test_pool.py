"""Pools, judgments and relevance: alignment, extension, ordinary gaps, and the way to disk."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pools import POOL_ALONE, pool_of, runs_of

import rtc_bayes as rb
from rtc_bayes.collection import natural_key
from rtc_bayes.collection.judged_for import infer_judged_for
from rtc_bayes.errors import CollectionWarning, InputError


@pytest.fixture
def runs():
    return runs_of(
        {"a": {"9": ["x", "y", "z"], "10": ["p", "q"]}, "b": {"9": ["z", "w"], "10": ["q"]}}
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
    for wrong in ("pq", [1]):
        with pytest.raises(InputError, match="not a list of names"):
            pool.locate("10", wrong)
        with pytest.raises(InputError, match="not a list of names"):
            pool.with_documents({"10": wrong})
    assert repr(pool) == "Pool(2 systems, 2 topics, depth 2, 6 documents)"


def test_entries_and_best_ranks(runs):
    pool = rb.Pool.from_runs(runs, depth=2).with_documents({"9": ["v"]})
    system, topic, rank = pool.entries
    listed = list(zip(system, topic, rank, pool.ranked, strict=True))
    for t in range(pool.n_topics):
        ranks = np.zeros_like(pool.ranks(t))
        for s, of, r, document in listed:
            if of == t:
                ranks[s, document - pool.topic_starts[t]] = r
        assert ranks.tolist() == pool.ranks(t).tolist()
    assert dict(zip(pool.docnos, pool.best_ranks.tolist(), strict=True)) == {
        "v": 0, "w": 2, "x": 1, "y": 2, "z": 1, "p": 1, "q": 1,
    }  # fmt: skip


@pytest.mark.parametrize("topic", [9, np.int32(9)])
def test_a_topic_may_be_given_as_a_whole_number(pool, topic):
    assert pool.select_topics([topic]).topics == ("9",)
    assert pool.locate(topic, ["w", "typo"]).tolist() == pool.locate("9", ["w", "typo"]).tolist()
    assert pool.locate(topic, ["w"])[0] >= 0
    qrels = rb.Qrels({"9": {"w": 1}})
    assert topic in qrels
    assert dict(qrels[topic]) == {"w": 1}
    assert (qrels.judged(topic), qrels.get(10), None in qrels) == ({"w": 1}, None, False)


@pytest.mark.parametrize("topic", [9, np.int32(9)])
def test_a_table_by_whole_numbers_is_one_by_topic(runs, pool, topic):
    assert runs["a"].ranking(topic).tolist() == ["x", "y", "z"]
    assert runs["a"].scores(topic).tolist() == [3.0, 2.0, 1.0]
    assert rb.Pool.from_runs(runs, documents={topic: ["new"]}).locate("9", ["new"])[0] >= 0
    assert pool.with_documents({topic: ["new"]}).locate("9", ["new"])[0] >= 0
    judgments = rb.Judgments.none(pool, judged_for={topic: ["a"]})
    assert judgments.judged_for_topic(topic) == judgments.judged_for_topic("9") == ("a",)


def test_a_number_of_no_topic_is_refused(pool):
    assert pool.documents(np.int64(1)) == pool.documents(1)
    for wrong in (-1, 2, "9", 1.0):
        for ask in (pool.documents, pool.ranks):
            with pytest.raises(InputError, match=r"the number .*; give one from 0 to 1"):
                ask(wrong)


def test_a_number_of_no_system_or_document_is_refused(pool):
    assert pool.pair_of(np.int64(0)) == ("9", "w")
    for wrong in (*pool.locate("9", ["typo"]), pool.n_documents, 0.0):
        with pytest.raises(InputError, match=r"no document of the number .*; give one from 0 to 5"):
            pool.pair_of(wrong)
    for wrong in (-1, 2, "a"):
        with pytest.raises(InputError, match=r"no system of the number .*; give one from 0 to 1"):
            pool.ranking(wrong, 0)
        with pytest.raises(InputError, match=r"no topic of the number .*; give one from 0 to 1"):
            pool.ranking(0, wrong)


@pytest.mark.parametrize("wrong", [0, -1, 2.5])
def test_overlap_is_of_a_depth_of_at_least_one(pool, wrong):
    with pytest.raises(InputError, match=r"depth is .*give a whole number of at least 1"):
        pool.overlap(wrong)
    assert pool.overlap(9).tolist() == pool.overlap().tolist()


def test_pool_is_never_changed(pool):
    with pytest.raises(ValueError, match="read-only"):
        pool.ranked[0] = 1
    with pytest.raises(AttributeError):
        pool.depth = 3


@pytest.mark.parametrize("wrong", [0, -3, 2.5, 2.0, "2", True, np.nan])
@pytest.mark.parametrize("name", ["depth", "reach", "score_depth"])
def test_depths_are_whole_numbers(runs, name, wrong):
    with pytest.raises(InputError, match=f"{name} is .*give"):
        rb.Pool.from_runs(runs, **{name: wrong})
    pool = rb.Pool.from_runs(runs, **{"depth": 2, name: np.int64(3)})
    assert pool.reach == 3
    assert type(pool.depth) is type(pool.score_depth) is int


def test_a_run_without_a_topic_is_named_once():
    runs = runs_of({"a": {"1": ["x"], "2": ["y"]}, "b": {"2": ["y"]}})
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
    runs = runs_of({f"s{i}": lists for i, lists in enumerate(rankings)})
    chosen = data.draw(st.lists(st.sampled_from(runs.systems), unique=True, min_size=1))
    selected = rb.Pool.from_runs(runs, depth=depth).select(chosen)
    direct = rb.Pool.from_runs(runs.select(chosen), depth=depth)
    assert selected.docnos.tolist() == direct.docnos.tolist()
    for name in ("topic_starts", "ranked", "list_starts"):
        assert getattr(selected, name).tolist() == getattr(direct, name).tolist()
    assert selected.digests == direct.digests


@given(st.lists(RANKINGS, min_size=1, max_size=3), st.integers(1, 5), st.data())
def test_select_topics_equals_pooling_the_selected_topics(rankings, depth, data):
    rankings = {f"s{i}": lists for i, lists in enumerate(rankings)}
    chosen = data.draw(st.lists(st.sampled_from("123"), unique=True, min_size=1))
    some = {s: {t: lists[t] for t in chosen} for s, lists in rankings.items()}
    direct = pool_of(some, depth=depth, score_depth=5)
    selected = pool_of(rankings, depth=depth, score_depth=5).select_topics(chosen)
    assert (selected.systems, selected.topics) == (direct.systems, direct.topics)
    assert selected.docnos.tolist() == direct.docnos.tolist()
    for t in range(direct.n_topics):
        assert selected.ranks(t, below=True).tolist() == direct.ranks(t, below=True).tolist()
        for one, other in zip(selected.lists(t), direct.lists(t), strict=True):
            assert one.tolist() == other.tolist()


def test_parts_of_a_pool_must_be_named(pool):
    assert pool.select(["b"], keep_documents=True).docnos.tolist() == pool.docnos.tolist()
    for part, what, name in ((pool.select, "system", "c"), (pool.select_topics, "topic", "11")):
        with pytest.raises(InputError, match=f"holds no {what} '{name}'"):
            part([name])
        with pytest.raises(InputError, match=f"no {what} is named"):
            part([])
        with pytest.raises(InputError, match="not a list of names; give a list"):
            part(name)
    with pytest.raises(InputError, match="twice"):
        pool.select_topics(["9", "9"])


@given(
    st.lists(RANKINGS, min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(["1", "2", "3"]), st.lists(st.sampled_from("aceghxyz"))),
)
def test_added_documents_are_unranked_and_nothing_else_changes(rankings, added):
    pool = pool_of({f"s{i}": lists for i, lists in enumerate(rankings)})
    extended = pool.with_documents(added)
    for t, topic in enumerate(pool.topics):
        inside = extended.docnos[extended.documents(t)].tolist()
        before = pool.docnos[pool.documents(t)].tolist()
        assert inside == sorted({*before, *added.get(topic, [])})
        for s in range(pool.n_systems):
            old = pool.docnos[pool.ranking(s, t)].tolist()
            assert extended.docnos[extended.ranking(s, t)].tolist() == old


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
        "9": {"z": 2, "unseen": 1, "x": 0, "w": -1}
    }


def test_judged_topics_without_a_run_are_named(pool):
    with pytest.warns(CollectionWarning, match="77"):
        rb.Judgments.from_qrels(pool, rb.Qrels({"9": {"z": 1}, "77": {"z": 1}}))
    with pytest.raises(InputError, match=r"no topic in common: the runs have 9, 10, .* 77"):
        rb.Judgments.from_qrels(pool, rb.Qrels({"77": {"z": 1}}))
    with pytest.raises(InputError, match="relevance_level is"):
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


NAN = np.nan


@pytest.mark.parametrize(
    ("labels", "order", "said"),
    [
        ([1.0, 0.0, NAN, NAN], [0], "order lacks document b of topic 1, which has a label"),
        ([1.0, 0.0, NAN, NAN], [2, 0, 1], "order lists document c of topic 1, which has no label"),
        ([1.0, 0.0, NAN, NAN], [0, 1, 0], "order lists a document twice"),
        (["yes", "no", "", ""], [0, 1], "labels are"),
        ([1.0, 0.0, NAN, NAN], [0, 4], "the pool holds no document 4"),
        ([1.0, 0.0, NAN, NAN], [[0, 1]], "documents are an array of int64 with 2 dimensions"),
        ([5.0, 0.0, NAN, NAN], [0, 1], r"label 5\.0 is outside \[0, 1\]"),
        ([-0.1, 0.0, NAN, NAN], [0, 1], r"label -0\.1 is outside \[0, 1\]"),
        (
            [1.0, 0.0, NAN],
            [0, 1],
            r"labels have shape \(3,\), and the pool 4 documents; give one for",
        ),
    ],
)
def test_arrays_that_are_no_judgments_are_refused(labels, order, said):
    pool = pool_of({"one": {"1": "abcd"}}, depth=4)
    with pytest.raises(InputError, match=said):
        rb.Judgments(pool, np.array(labels), np.array(order))


def test_grades_of_other_documents_are_refused():
    pool = pool_of({"one": {"1": "ab"}}, depth=2)
    with pytest.raises(InputError, match=r"grades have shape \(1,\), and the pool 2 documents"):
        rb.Judgments(pool, np.array([1.0, NAN]), np.array([0]), grades=np.array([2.0]))


def test_arrays_that_were_given_stay_writable(pool):
    labels, order = np.full(pool.n_documents, np.nan), np.array([1])
    labels[1] = 1.0
    judgments = rb.Judgments(pool, labels, order)
    labels[1], order[0] = 0.0, 0
    assert (judgments.labels[1], judgments.order[0], judgments.grades[1]) == (1.0, 1, 1.0)
    for array in (judgments.labels, judgments.order, judgments.grades):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_labels_must_be_probabilities(pool):
    for bad in (-0.1, 1.1, np.nan):
        with pytest.raises(InputError, match="outside"):
            rb.Judgments.from_labels(pool, [0, 1], [0.5, bad])
    for bad in ([[0.5]], 0.5, ["no"], [None]):
        with pytest.raises(InputError, match=r"outside|not a list of numbers"):
            rb.Judgments.from_labels(pool, [0], bad)
    with pytest.raises(InputError, match="1 document but 2 labels"):
        rb.Judgments.from_labels(pool, [0], [1, 1])
    with pytest.raises(InputError, match="twice"):
        rb.Judgments.from_labels(pool, [0, 0], [1, 1])


@pytest.mark.parametrize("documents", [[-1], [6], [0, 99]])
def test_documents_that_the_pool_does_not_hold_cannot_be_judged(pool, documents):
    with pytest.raises(InputError, match=f"holds no document {documents[-1]}.*Pool.locate"):
        rb.Judgments.from_labels(pool, documents, [1.0] * len(documents))
    with pytest.raises(InputError, match="holds no document -1"):
        rb.Judgments.from_labels(pool, pool.locate("9", ["typo"]), [1.0])


@pytest.mark.parametrize("documents", [[1.7], [True, False, True], [[0]], 0, ["x"], [None]])
def test_documents_are_given_by_their_indices(pool, documents):
    with pytest.raises(InputError, match="give a list of indices"):
        rb.Judgments.from_labels(pool, documents, np.ones(np.shape(documents)))


def test_more_and_fewer_judgments(pool):
    first = rb.Judgments.from_labels(pool, [3, 1], [1.0, 0.0], judged_for={"9": ["a"]})
    more = first.with_labels([5, 0], [0.25, 1.0])
    assert (first.n_judged, more.order.tolist()) == (2, [3, 1, 5, 0])
    assert more.labels[more.order].tolist() == [1.0, 0.0, 0.25, 1.0]
    assert more.judged_for_by_topic == {"9": ("a",)}
    kept = more.keep([0, 3])
    assert (kept.order.tolist(), kept.labels[[0, 3]].tolist()) == ([0, 3], [1.0, 1.0])
    assert np.isnan(kept.labels[[1, 2, 4, 5]]).all()
    other = more.relabelled([0, 0, 1, 1])
    assert (other.order.tolist(), other.judged_for) == (more.order.tolist(), ("a",))
    assert other.labels[other.order].tolist() == [0, 0, 1, 1]
    with pytest.raises(InputError, match="twice"):
        more.with_labels([3], [1.0])
    with pytest.raises(InputError, match="document 2 is not judged"):
        more.keep([2])


def test_another_label_leaves_the_grades_of_the_others(pool):
    graded = rb.Judgments.from_labels(
        pool, [3, 1, 5, 0], [1, 0, 0, 1], grades=[3, 1, 0, 2], relevance_level=2
    )
    corrected = graded.relabelled([1, 0, 1, 1])
    assert corrected.grades[corrected.order].tolist() == [3, 1, 2, 2]
    again = graded.relabelled([0, 0, 0.5, 1])
    np.testing.assert_array_equal(again.grades[again.order], [0, 1, np.nan, 2])
    assert graded.relabelled([0, 1, 0, 1], [0, 3, 1, 2]).grades[1] == 3
    with pytest.raises(InputError, match="4 documents but 3 labels"):
        graded.relabelled([1, 0, 1])


def test_systems_judged_for_by_topic(runs, pool, tmp_path):
    by_topic = {"9": ["new", "b"], "10": ["a"]}
    judgments = rb.Judgments.from_labels(pool, [3, 1, 5], [1, 0, 1], judged_for=by_topic)
    assert judgments.judged_for == ("a", "b", "new")
    judgments.save(tmp_path / "judgments.nc")
    again = rb.Judgments.load(tmp_path / "judgments.nc")
    fit = rb.fit(pool, judgments, model="rtc")
    fit.save(tmp_path / "fit.nc")
    moved = judgments.on(rb.Pool.from_runs(runs.select(["b"])))
    loaded = rb.Fit.load(tmp_path / "fit.nc").judgments
    for some in (judgments, again, moved, loaded, judgments.keep([5])):
        assert some.judged_for == ("a", "b", "new")
        assert some.judged_for_topic("9") == ("new", "b")
        assert some.judged_for_topic("10") == ("a",)
    with pytest.raises(InputError, match="no topic '11'"):
        judgments.judged_for_topic("11")
    everywhere = rb.Judgments.none(pool, judged_for=["b", "a"])
    assert everywhere.judged_for == everywhere.judged_for_topic("9") == ("b", "a")
    assert rb.Judgments.none(pool).judged_for_topic("9") is None


@pytest.mark.parametrize("bad", ["AB", b"AB", 3, [1], {"9": "AB"}])
def test_systems_judged_for_are_a_list(pool, bad):
    with pytest.raises(InputError, match=r"judged_for.* is not a list of names"):
        rb.Judgments.none(pool, judged_for=bad)


def test_qrels_say_for_whom_they_were_made(pool):
    qrels = rb.Qrels({"9": {"z": 1}}, judged_for={"9": ["b"]})
    assert rb.Judgments.from_qrels(pool, qrels).judged_for_topic("9") == ("b",)
    said = "the systems judged for on topic 9 are a; when the judgments were made, they were b$"
    with pytest.warns(CollectionWarning, match=said):
        assert rb.Judgments.from_qrels(pool, qrels, judged_for=["a"]).judged_for == ("a",)
    # the same systems are said to be the same
    of_both = rb.Qrels({"9": {"z": 1}}, judged_for=["a", "b"])
    with warnings.catch_warnings(action="error"):
        rb.Judgments.from_qrels(pool, of_both, judged_for={"9": ["b", "a"]})
        # nor is a topic compared for which one of them names nobody
        rb.Judgments.from_qrels(pool, of_both, judged_for={"10": ["a", "b"]})


def test_systems_judged_for_that_are_not_here_are_named(pool):
    with pytest.warns(CollectionWarning, match="no run, A: check"):
        judged = rb.Judgments.from_qrels(pool, rb.Qrels({"9": {"z": 1}}), judged_for=["A"])
    assert judged.judged_for == ("A",)


def test_topics_judged_for_that_are_not_here_are_named(pool):
    qrels = rb.Qrels({"9": {"z": 1}})
    with pytest.warns(
        CollectionWarning, match="no run has 1 of 2 topics of the systems judged for"
    ):
        judged = rb.Judgments.from_qrels(pool, qrels, judged_for={"9": ["a"], "09": ["b"]})
    assert judged.judged_for_topic("9") == ("a",)
    for made in (
        rb.Judgments.none,
        lambda *_, **options: judged.from_qrels(pool, qrels, **options),
    ):
        with pytest.raises(InputError, match=r"no topic in common: .* the systems judged for 09"):
            made(pool, judged_for={"09": ["a"]})
    # qrels may be of more topics than are compared
    of_more = rb.Qrels({"9": {"z": 1}}, judged_for={"8": ["a"]})
    assert rb.Judgments.from_qrels(pool, of_more).judged_for_topic("9") == ()


def test_what_is_not_known_is_inferred_and_said_so(pool):
    judged = rb.Judgments.from_labels(pool, pool.locate("9", ["w", "z"]), [1, 0])
    with pytest.warns(CollectionWarning, match="what is judged: b .*judged_for"):
        assert judged.with_judged_for().judged_for == ("b",)
    told = rb.Judgments.from_labels(pool, [0], [1.0], judged_for=["a"])
    nothing = rb.Judgments.none(pool)
    assert told.with_judged_for() is told
    assert nothing.with_judged_for().judged_for == pool.systems


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
    extended, aligned = relevance.on(small)
    assert extended.n_documents == pool.n_documents
    for topic in pool.topics:
        docnos = pool.docnos[pool.documents(pool.topics.index(topic))]
        np.testing.assert_allclose(
            aligned[0, extended.locate(topic, docnos)], values[pool.locate(topic, docnos)]
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


def test_documents_without_a_listed_probability_are_said(pool):
    """Few are taken as 0.5; without more than a tenth nothing is taken for granted."""
    far = {f"far{i:02}": 0.5 for i in range(100)}  # of no list: they hide nothing
    n = pool.n_documents
    with pytest.raises(InputError, match=rf"for {n - 1} of {n} documents .*default_p= .*labels="):
        rb.Relevance.from_erels(pool, rb.Probabilities({"9": {"x": 0.25, **far}}))
    letters = "abcdefghijklmnopqrst"
    large = pool_of({"one": {"9": letters}})
    erels = rb.Probabilities({"9": dict.fromkeys(letters[2:], 0.25) | far})
    with pytest.warns(CollectionWarning, match=r"^no listed .* 2 of 20 documents .* 0\.5"):
        relevance = rb.Relevance.from_erels(large, erels)
    same = rb.Relevance.from_erels(large, erels, default_p=0.5)
    np.testing.assert_array_equal(relevance.values, same.values)


def test_impossible_documents_are_not_added(pool):
    values = np.full((1, 2, pool.n_documents), 0.5)
    values[..., pool.locate("9", ["x"])] = 0.0
    extended, aligned = rb.Relevance.from_values(pool, values).on(pool.select(["b"]))
    assert "x" not in extended.docnos
    assert aligned.shape == (2, pool.n_documents - 1)


def test_relevance_from_listed_probabilities(pool):
    erels = rb.Probabilities({"9": {"x": 0.25, "far": 0.5}})
    relevance = rb.Relevance.from_erels(
        pool, erels, qrels=rb.Qrels({"9": {"z": 1, "y": -1}}), default_p=0.125
    )
    extended, values = relevance.on(pool)
    table = dict(zip(extended.docnos.tolist(), values[0].tolist(), strict=True))
    assert table == {"x": 0.25, "far": 0.5, "z": 1, "w": 0.125, "y": 0.125, "p": 0.125, "q": 0.125}
    assert relevance.to_probabilities()["9"]["x"] == 0.25
    with pytest.raises(InputError, match="no topic in common"):
        rb.Relevance.from_erels(pool, rb.Probabilities({"77": {"x": 0.5}}))
    with pytest.raises(InputError, match="outside"):
        rb.Relevance.from_erels(pool, erels, default_p=2.0)


def test_relevance_is_never_changed(pool, tmp_path):
    values = np.full((1, 2, pool.n_documents), 0.5)
    relevance = rb.Relevance.from_values(pool, values)
    values[:] = 0.0
    assert (relevance.values == 0.5).all()
    relevance.save(tmp_path / "r.nc")
    for some in (relevance, rb.Relevance.load(tmp_path / "r.nc")):
        for array in (some.values, some.probability.values):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0.25
        with pytest.raises(AttributeError):
            some.model = "other"
    stored = np.memmap(tmp_path / "p", dtype=np.float32, mode="w+", shape=values.shape)
    kept = rb.Relevance.from_values(pool, stored)
    assert np.may_share_memory(kept.probability.values, stored)


@pytest.mark.parametrize("model", ["rtc:map", "rtc:cut", "hierarchical:map", "robust:gibbs"])
def test_lists_without_documents(model):
    """Nothing is retrieved: what is judged outside is kept, and all systems are tied."""
    pool = pool_of({name: {"1": [], "2": []} for name in "ab"})
    with pytest.raises(InputError, match="holds no document"):
        rb.fit(pool, rb.Judgments.none(pool), model=model)
    (pair,) = rb.compare(pool, rb.Relevance.from_values(pool, []), POOL_ALONE).pairs
    assert (pair.expected_difference, pair.p_equal) == (0.0, 1.0)
    qrels = rb.Qrels({"1": {"x": 1, "y": 0}})
    judgments = rb.Judgments.from_qrels(pool, qrels, judged_for=["a"])
    options = {} if model.endswith("map") else {"draws": 40, "chains": 2}
    fit = rb.fit(pool, judgments, model=model, **options)
    assert (fit.relevance.values == [1.0, 0.0]).all()
    (pair,) = rb.compare(pool, fit.relevance, POOL_ALONE).pairs
    assert (pair.expected_difference, pair.p_equal) == (0.0, 1.0)


def test_runs_without_a_topic():
    with pytest.raises(InputError, match="no topic"):
        pool_of({"a": {}, "b": {}})


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
        with pytest.raises(InputError, match=f"score_depth is {wrong}.*from the depth, 2, to 3"):
            rb.Pool.from_runs(runs, depth=2, reach=3, score_depth=wrong)


def test_the_reach_ends_what_is_known(runs):
    assert rb.Pool.from_runs(runs, depth=2, reach=2).tails is None
    untruncated = rb.Pool.from_runs(runs, depth=3)
    assert (untruncated.tails, untruncated.reach) == (None, 3)
    assert untruncated.lengths.tolist() == [[3, 2], [2, 1]]


@given(
    lists=st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=4, max_size=4),
    depth=st.integers(1, 4),
    reach=st.integers(1, 8),
)
def test_known_ranks_are_those_of_the_runs(lists, depth, reach):
    """Two systems on two topics: directly, of some systems, with more documents, from disk."""
    runs = runs_of({"s": {"1": lists[0], "2": lists[1]}, "t": {"1": lists[2], "2": lists[3]}})
    pool = rb.Pool.from_runs(runs, depth=depth, reach=reach)
    more = pool.with_documents({topic: ["aa", "z"] for topic in pool.topics})
    again = rb.Pool.from_xarray(more.to_xarray())
    for some in (pool, more, again, pool.select(["t"])):
        for t, topic in enumerate(some.topics):
            docnos = some.docnos[some.documents(t)]
            for system, ranks in zip(some.systems, some.ranks(t, below=True), strict=True):
                ranked = runs[system].ranking(topic)[: max(depth, reach)].tolist()
                rank_of = {docno: rank for rank, docno in enumerate(ranked, 1)}
                assert ranks.tolist() == [rank_of.get(docno, 0) for docno in docnos]


def test_judged_documents_are_found_in_lists_below_the_depth():
    """What a has at rank 3 of topic 9 and nobody pooled scores as evaluate scores it."""
    runs = runs_of({"a": {"9": ["x", "y", "v"]}, "b": {"9": ["x", "w", "u"]}})
    qrels = rb.Qrels({"9": {"v": 1, "w": 1, "elsewhere": 1, "u": -1}, "11": {"p": 0}})
    pool = rb.Pool.from_runs(runs, depth=2, score_depth=3, qrels=qrels)
    assert pool.docnos.tolist() == ["elsewhere", "v", "w", "x", "y"]
    documents = {"9": ["v", "w", "elsewhere"], "11": ["p"]}
    other = rb.Pool.from_runs(runs, depth=2, score_depth=3, documents=documents)
    assert other.docnos.tolist() == pool.docnos.tolist()
    assert rb.Pool.from_runs(runs, depth=2, qrels=qrels).docnos.tolist() == pool.docnos.tolist()
    bare = rb.Pool.from_runs(runs, depth=2)
    assert bare.docnos.tolist() == ["w", "x", "y"]
    qrels = rb.Qrels({"9": qrels["9"]})
    labels = np.nan_to_num(rb.Judgments.from_qrels(pool, qrels).labels)
    result = rb.moments(pool, labels).mean_expected[0]
    assert result == pytest.approx(rb.evaluate(runs, qrels, "AP").mean["AP"], abs=1e-12)
    assert repr(pool) == "Pool(2 systems, 1 topic, depth 2, scored to 3, 5 documents)"
    # documents added later have no ranks below the depth: whole lists would lose v
    judgments = rb.Judgments.from_qrels(bare, qrels)
    assert bare.placed
    assert not judgments.pool.placed
    assert not rb.Pool.from_xarray(judgments.pool.to_xarray()).placed
    certain = rb.fit(bare, judgments, model="uniform")
    for asked in (bare, judgments.pool):
        with pytest.warns(rb.CollectionWarning, match="2 judged relevant documents in no list's"):
            rb.compare(asked, certain)
    rb.compare(bare, certain, rb.Estimand(scope="pool"))
    rb.compare(bare, certain, "P@2")  # which no rank below the depth changes
    rb.compare(pool, rb.fit(pool, rb.Judgments.from_qrels(pool, qrels), model="uniform"))


def test_padding_fills_every_list_with_documents_of_its_own():
    lists = {"a": {"1": ["x", "y", "z", "w"], "2": ["x"]}, "b": {"1": ["y"]}}
    padded = rb.Pool.from_runs(runs_of(lists), depth=3, pad=True)
    written_out = pool_of(
        {
            "a": {"1": ["x", "y", "z", "w"], "2": ["x", "phantom-a-1", "phantom-a-2"]},
            "b": {
                "1": ["y", "phantom-b-1", "phantom-b-2"],
                "2": ["phantom-b-1", "phantom-b-2", "phantom-b-3"],
            },
        },
        depth=3,
    )
    assert padded.docnos.tolist() == written_out.docnos.tolist()
    assert padded.lengths.tolist() == written_out.lengths.tolist()
    for topic in range(2):
        assert padded.ranks(topic, below=True).tolist() == written_out.ranks(topic).tolist()
    assert pool_of(lists, depth=3).lengths.tolist() == [[4, 1], [1, 0]]


def test_phantoms_raise_what_is_expected_of_a_short_list_as_enumeration_says():
    """Lists x y z and z, with p = .5: the mean of AP over all 2^n labels."""
    for pad in (False, True):
        pool = pool_of({"a": {"1": "xyz"}, "b": {"1": "z"}}, depth=3, pad=pad)
        scores = np.zeros(2)
        for number in range(2**pool.n_documents):
            labels = number >> np.arange(pool.n_documents) & 1
            for s in range(2):
                hits = labels[pool.ranking(s, 0)]
                precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
                scores[s] += (hits * precision).sum() / max(1, labels.sum())
        expected = scores / 2**pool.n_documents
        half = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
        assert rb.compare(pool, half, POOL_ALONE).expected == pytest.approx(expected)
        if pad:
            assert expected[0] == pytest.approx(expected[1])
        else:
            assert expected[0] > expected[1] + 0.1


def test_padding_changes_the_digests_of_the_runs_that_it_fills():
    rankings = {"short": {"1": "ab", "2": "abc"}, "long": {"1": "abc", "2": "cba"}}
    plain, padded = (pool_of(rankings, depth=3, pad=pad) for pad in (False, True))
    assert [a == b for a, b in zip(plain.digests, padded.digests, strict=True)] == [False, True]
    # to the depth where no list is short nothing is padded
    assert pool_of(rankings, depth=2, pad=True).digests == plain.digests


def test_values_of_judgments_are_of_their_own_pool(pool):
    """Where qrels hold documents that the pool lacks: who goes on with it is told what to take."""
    qrels = rb.Qrels({pool.topics[0]: {"never retrieved": 1}})
    judgments = rb.Judgments.from_qrels(pool, qrels)
    values = np.nan_to_num(judgments.labels)
    says = "every document of the pool; of judgments that added .* judgments.pool"
    for take in (
        lambda: rb.Relevance.from_values(pool, values),
        lambda: rb.moments(pool, values),
        lambda: rb.measures.sample_scores(pool, values, outcomes=2),
        lambda: rb.Sample(judgments, np.ones(pool.n_documents)),
        lambda: rb.measures.poisson_sample(pool, values),
    ):
        with pytest.raises(InputError, match=says):
            take()
    assert rb.moments(judgments.pool, values).systems == pool.systems


def test_a_file_of_something_else_is_no_pool(pool, tmp_path):
    relevance = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
    rb.compare(pool, relevance).save(tmp_path / "cmp.nc")
    with pytest.raises(InputError, match=r"cmp\.nc: this data set is no pool"):
        rb.Pool.load(tmp_path / "cmp.nc")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (rb.Judgments, "this data set is no judgments"),
        (rb.Relevance, "this data set is no relevance"),
        (rb.ScoreMatrix, "this data set is no scores"),
        (rb.Comparison, "this data set is no comparison"),
        (rb.Comparisons, "these are no comparisons by several measures"),
    ],
)
def test_a_saved_pool_is_nothing_else(pool, tmp_path, kind, says):
    pool.save(tmp_path / "pool.nc")
    with pytest.raises(InputError, match=rf"pool\.nc: {says}"):
        kind.load(tmp_path / "pool.nc")


@pytest.mark.parametrize(
    ("lengths", "cut"),
    [
        ([[20, 20, 20], [20, 20, 7]], 20),  # a topic of which little is found
        ([[20, 20, 20], [10, 10, 10]], 20),  # systems that are cut elsewhere
        ([[20, 20, 0], [20, 0, 20]], 20),  # topics without a list
        ([[20, 20, 20], [20, 20, 90]], 20),  # a topic whose list is whole
        ([[20, 20, 20], [20, 11, 7]], 0),  # lists that end by themselves
        ([[0, 0, 0], [0, 0, 0]], 0),
    ],
)
def test_lists_that_are_cut_are_told_from_those_that_end(lengths, cut):
    runs = rb.Runs(
        [
            rb.Run.from_rankings(
                f"s{s}", {str(t): [f"d{t}.{i}" for i in range(n)] for t, n in enumerate(of)}
            )
            for s, of in enumerate(lengths)
        ]
    )
    assert rb.Pool.from_runs(runs, depth=5).cut_at == cut
    assert rb.Pool.from_runs(runs).cut_at == cut


def test_a_run_of_other_topics_is_refused():
    """As one whose columns topic and docno are exchanged."""
    runs = rb.read_runs(
        {"a": {"1": {"x": 2.0}}, "b": {"1": {"x": 1.0}, "2": {"y": 1.0}}, "c": {"x": {"1": 3.0}}}
    )
    with pytest.raises(InputError, match="no topic in common between c and a, b; give runs of"):
        rb.Pool.from_runs(runs)
    alone = rb.Pool.from_runs(rb.Runs([runs["c"]]))
    assert alone.topics == ("x",)


def test_runs_of_two_collections_are_refused():
    """Topics in common go on from run to run: a and c share none, and are not apart."""
    topics = {"a": "12", "b": "23", "c": "3", "d": "45", "e": "5"}
    runs = rb.Runs(
        rb.Run.from_rankings(tag, {topic: ["x"] for topic in of}) for tag, of in topics.items()
    )
    with pytest.raises(InputError, match="no topic in common between d, e and a, b, c; give runs"):
        rb.Pool.from_runs(runs)
    with pytest.warns(rb.CollectionWarning, match="without some of 3 topics"):
        assert rb.Pool.from_runs(runs.select(["a", "b", "c"])).n_topics == 3
