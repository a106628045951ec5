"""Suggestions for a person to judge."""

import pytest
from pools import pool_of

from rtc_bayes import Estimand, InputError, Judgments, next_documents
from rtc_bayes.judging import JudgingSession
from rtc_bayes.judging.weights import WEIGHTS


@pytest.fixture
def pool():
    return pool_of(
        {
            "A": {"1": ["a", "b", "c"], "2": ["x", "y"]},
            "B": {"1": ["d", "b", "e"], "2": ["y", "z"]},
            "C": {"1": ["a", "d", "b"], "2": ["x", "z"]},
        }
    )


@pytest.mark.parametrize("algorithm", ["ip", "mtc", "mtc[weight=evr]", "rtc:map", "uniform"])
def test_the_first_is_what_a_session_would_ask(pool, algorithm):
    judgments = Judgments.from_labels(pool, [0, 3], [1.0, 0.0])
    suggested = next_documents(pool, judgments, algorithm=algorithm, count=3)
    session = JudgingSession(judgments, algorithm, confidence=None, budget=1)
    document = session.next()
    assert pool.docnos[document] == suggested[0].docno
    assert len(suggested) == len({(d.topic, d.docno) for d in suggested}) == 3
    assert all(d.weight > 0 for d in suggested)
    judged = {("1", pool.docnos[0]), ("1", pool.docnos[3])}
    assert not judged & {(d.topic, d.docno) for d in suggested}


def test_why_says_ranks_probability_and_weight(pool):
    result = next_documents(pool, Judgments.none(pool), algorithm="mtc", count=1)[0]
    assert (result.topic, result.docno) == ("1", "a")
    assert result.why == (
        "rank 1 in A, not in B, retrieved by 2 of 3; p 0.50; its judgment can move the "
        f"numerator of the difference by {result.weight:.3g}"
    )
    by_rank = next_documents(pool, Judgments.none(pool), algorithm="ip", count=2)
    assert [d.why for d in by_rank] == [
        "rank 1 in A, retrieved by 2 of 3",
        "rank 1 in B, retrieved by 2 of 3",
    ]


@pytest.mark.parametrize("weight", WEIGHTS)
def test_every_weight_says_why(pool, weight):
    algorithm = f"mtc[weight={weight}]"
    result = next_documents(pool, Judgments.none(pool), algorithm=algorithm, count=1)[0]
    assert f"{result.weight:.3g}" in result.why.split("; ")[-1]


def test_weights_fall_unless_a_floor_is_served_first(pool):
    weights = [
        d.weight for d in next_documents(pool, Judgments.none(pool), algorithm="mtc", count=6)
    ]
    assert weights == sorted(weights, reverse=True)
    served = next_documents(pool, Judgments.none(pool), algorithm="mtc[floor=2]", count=5)
    assert [d.topic for d in served[:4]] == ["1", "1", "2", "2"]
    assert [d.why.split(";")[0] for d in served[:4]] == [
        "its topic has 0 of 2 judgments",
        "its topic has 1 of 2 judgments",
    ] * 2
    assert "of 2 judgments" not in served[4].why


def test_fewer_when_nothing_else_has_weight(pool):
    everything = next_documents(pool, Judgments.none(pool), algorithm="mtc", count=1000)
    assert 0 < len(everything) <= pool.n_documents
    judged = Judgments.from_labels(pool, range(pool.n_documents), [1.0] * pool.n_documents)
    assert next_documents(pool, judged, algorithm="mtc") == []
    assert next_documents(pool, judged, algorithm="ip") == []


def test_judgments_of_other_systems_count(pool):
    elsewhere = pool.with_documents({"1": ["zz"]})
    judged = Judgments.from_labels(elsewhere, elsewhere.locate("1", ["zz", "a"]), [1.0, 1.0])
    suggested = next_documents(pool.select(["A", "B"]), judged, algorithm="mtc", count=10)
    assert {d.docno for d in suggested}.isdisjoint({"zz", "a"})


def test_asking_for_none(pool):
    with pytest.raises(InputError, match="at least 1"):
        next_documents(pool, Judgments.none(pool), algorithm="mtc", count=0)


def test_ranks_below_the_score_depth_are_not_told():
    rankings = {"s0": {"1": ["a", "b", "c", "d"]}, "s1": {"1": ["d", "c", "b", "a"]}}
    for score_depth, told in ((1, "rank 1 in s0, not in s1"), (4, "rank 1 in s0, rank 4 in s1")):
        pool = pool_of(rankings, depth=1)
        estimand = Estimand(scope="pool", score_depth=score_depth)
        (first, *_) = next_documents(pool, Judgments.none(pool), estimand, algorithm="mtc", count=1)
        assert (first.docno, told in first.why) == ("a", True)
