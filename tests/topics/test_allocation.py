"""Chapter 5: reuse, the cost of judging all, and two ways to spend less."""

from contextlib import nullcontext

import pytest
from hypothesis import given, strategies as st
from pools import runs_of
from topic_scores import drawn

import rtc_bayes as rb
from rtc_bayes.errors import CollectionWarning
from rtc_bayes.topics.allocation import equal_shares, unjudged_documents

JUDGED = rb.Qrels({"1": {"a": 1, "c": 0, "z": 0}, "2": {"b": 0}})


def scores_of(*topics):
    return rb.ScoreMatrix([[0.5] * len(topics)], [[0.0] * len(topics)], ("s",), topics, "AP")


def test_average_reuse_is_average_precision_with_judged_for_relevant():
    data = rb.simulate(n_topics=4, n_systems=5, seed=2)
    kept = {
        topic: {docno: 0 for n, docno in enumerate(sorted(data.qrels[topic])) if n % 3}
        for topic in data.qrels
    }
    ones = rb.Qrels({topic: dict.fromkeys(docnos, 1) for topic, docnos in kept.items()})
    expected = rb.ScoreMatrix.from_qrels(data.runs, ones, "AP")
    reuse = rb.mean_average_reuse(data.runs, rb.Qrels(kept))
    assert list(reuse) == list(data.runs.systems)
    for name, row in zip(expected.systems, expected.mean, strict=True):
        assert reuse[name] == pytest.approx(row.mean())


def test_average_reuse_by_hand():
    runs = runs_of({"s": {"1": "abc", "2": "xy"}})
    corrected = (1 / 3) * (1 + 2 / 3) / 2  # the mean with 0, of topic 2
    printed = (1 / 3) * (1 + 1 / 2 + 2 / 3) / 2
    assert rb.mean_average_reuse(runs, JUDGED)["s"] == pytest.approx(corrected)
    assert rb.mean_average_reuse(runs, JUDGED, formula="printed")["s"] == pytest.approx(printed)
    with pytest.raises(rb.InputError, match="nothing is judged"):
        rb.mean_average_reuse(runs, rb.Qrels({}))


def test_average_reuse_is_over_a_runs_topics_that_have_judgments():
    runs = runs_of({"s": {"1": "acz"}, "t": {"1": "acz", "9": "xy"}, "u": {"9": "xy"}})
    assert rb.mean_average_reuse(runs, JUDGED) == {"s": 1.0, "t": 1.0, "u": 0.0}


def test_a_negative_grade_is_no_judgment_and_is_not_asked_for():
    runs = runs_of({"s": {"1": "abc", "2": "xy"}})
    marked = rb.Qrels({"1": {"a": -1, "b": -1, "c": 1}, "2": {"x": -1}})
    without = rb.Qrels({"1": {"c": 1}})
    assert rb.mean_average_reuse(runs, marked) == rb.mean_average_reuse(runs, without)
    assert unjudged_documents(runs, marked) == {"1": (), "2": ("y",)}
    assert rb.extend(runs, marked, 5, strategy="uniform").omega == 1
    two = runs_of({name: {"1": "abc", "2": "xy"} for name in "st"})
    spent = rb.allocate(rb.Pool.from_runs(two), marked, 5, strategy="uniform")
    assert sorted(spent.missing) == [("1", "a"), ("1", "b"), ("2", "x"), ("2", "y")]
    assert spent.meta()["missing"] == [list(pair) for pair in spent.missing]


def test_unjudged_documents_stand_in_the_order_of_judging():
    runs = runs_of({"s": {"1": "abdcf"}, "t": {"1": "efg", "2": "b"}})
    assert unjudged_documents(runs, JUDGED, depth=3) == {"1": tuple("ebfdg"), "2": ()}


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.integers(0, 120))
def test_shares_are_equal_and_spend_all(available, budget):
    shares = equal_shares(available, budget)
    assert sum(shares) == min(budget, sum(available))
    assert all(0 <= share <= most for share, most in zip(shares, available, strict=True))
    short = [share for share, most in zip(shares, available, strict=True) if share < most]
    if short:
        assert max(shares) <= min(short) + 1
        assert short == sorted(short, reverse=True)  # what is over goes to the first


@given(st.integers(1, 12), st.lists(st.integers(0, 40), min_size=1, max_size=5))
def test_shares_of_several_stages_are_equal_together(topics, budgets):
    had = [0] * topics
    for budget in budgets:
        shares = equal_shares([500] * topics, budget, had)
        had = [before + share for before, share in zip(had, shares, strict=True)]
    assert sum(had) == sum(budgets)
    assert max(had) - min(had) <= 1


@pytest.fixture(scope="module")
def new_runs():
    data = rb.simulate(n_topics=20, n_systems=4, documents=300, depth=60, seed=4)
    return data.runs


@pytest.fixture(scope="module")
def scores(new_runs):
    matrix = drawn(3, systems=30, topics=20)
    return rb.ScoreMatrix(
        matrix.mean, matrix.variance, matrix.systems, tuple(new_runs.topics), "AP"
    )


def test_the_corrected_constraint_selects_by_the_budget_and_the_printed_one_topic(new_runs, scores):
    nothing = rb.Qrels({topic: {} for topic in new_runs.topics})
    left = {topic: len(docs) for topic, docs in unjudged_documents(new_runs, nothing).items()}
    omega = sum(left.values())
    for share in (0.05, 0.1, 0.3, 0.6, 0.9):
        budget = int(share * omega)
        found = rb.extend(new_runs, nothing, budget, scores)
        assert found.omega == omega
        assert len(found.selection.topics) >= 20 * budget / omega
        assert found.spent == min(budget, sum(left[topic] for topic in found.documents))
        # one topic takes a twentieth
        too_much = pytest.warns(CollectionWarning, match=r"selected, with .* are not spent")
        with too_much if share > 0.05 else nullcontext():
            printed = rb.extend(new_runs, nothing, budget, scores, constraint="printed")
        if share <= 0.3:
            assert len(printed.selection.topics) == 1
    everything = rb.extend(new_runs, nothing, omega, scores)
    assert everything.spent == omega
    assert len(everything.selection.topics) == 20


def test_a_budget_is_spread_equally_over_the_topics_selected(new_runs, scores):
    nothing = rb.Qrels({topic: {} for topic in new_runs.topics})
    subset = rb.extend(new_runs, nothing, 200, scores)
    uniform = rb.extend(new_runs, nothing, 200, strategy="uniform")
    assert subset.spent == uniform.spent == 200
    assert {len(docs) for docs in uniform.documents.values()} == {10}
    assert set(subset.documents) == set(subset.selection.topics)
    sizes = [len(docs) for docs in subset.documents.values()]
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) > 10
    assert len(subset.to_frame().drop_duplicates()) == 200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"budget": 0}, "budget is 0"),
        ({"budget": 5}, r'give scores= or --scores, or strategy="uniform" \(--strategy uniform'),
        ({"budget": 5, "strategy": "all"}, "strategy is 'all'; give sa or uniform"),
        ({"budget": 5, "strategy": "subset"}, "strategy is 'subset'; write 'sa'"),
        ({"budget": 5, "formula": "printed"}, "formula says nothing with a budget; leave it out"),
        ({"strategy": "uniform"}, "strategy says nothing without a budget; give a budget, too"),
        ({"scores": scores_of("1")}, "scores says nothing without a budget"),
        ({"depth": 0}, "depth is 0"),
        ({"formula": "exact"}, "formula is 'exact'; give corrected or printed"),
        (
            {"budget": 5, "scores": scores_of("9")},
            r"topics without scores \(1\): 1; .*--topics all",
        ),
        ({"budget": 5, "scores": scores_of("1", "9")}, r"that the runs lack \(1\): 9; leave them"),
    ],
)
def test_what_cannot_be_done_is_refused(words, message):
    runs = runs_of({"s": {"1": "abc"}})
    with pytest.raises(rb.InputError, match=message):
        rb.extend(runs, JUDGED, **words)
    with pytest.raises(rb.InputError, match="no document is left to judge"):
        rb.extend(runs_of({"s": {"2": "b"}}), JUDGED, 5, strategy="uniform")


def test_without_a_budget_extend_says_what_is_reused(new_runs):
    first = new_runs.topics[0]
    judged = rb.Qrels({first: dict.fromkeys(new_runs[new_runs.systems[0]].ranking(first)[:3], 0)})
    reused = rb.extend(new_runs, judged, depth=4)
    assert reused.reuse == rb.mean_average_reuse(new_runs, judged)
    assert rb.extend(new_runs, judged, formula="printed").reuse == rb.mean_average_reuse(
        new_runs, judged, formula="printed"
    )
    assert reused.unjudged == {
        name: sum(map(len, unjudged_documents(new_runs.select([name]), judged, 4).values()))
        for name in new_runs.systems
    }
    assert reused.omega == sum(map(len, unjudged_documents(new_runs, judged, 4).values()))
    assert (reused.depth, reused.n_judged_topics) == (4, 1)
    frame = reused.to_frame()
    assert frame.columns.tolist() == ["system", "reuse", "unjudged"]
    assert frame["reuse"].is_monotonic_increasing
    assert dict(zip(frame["system"], frame["unjudged"], strict=True)) == reused.unjudged


def test_the_name_of_before_says_that_of_now():
    for package in (rb, rb.topics):
        with pytest.raises(
            rb.InputError, match=r"has no allocate_judgments; use rtc_bayes\.extend"
        ):
            _ = package.allocate_judgments
    with pytest.raises(AttributeError):
        _ = rb.allocate_judgment
    assert not hasattr(rb.topics, "allocate_judgment")
