"""Judgments whose documents no run has are spoken of, wherever they are read."""

import warnings

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes.collection.unretrieved import topics_of_other_names

TOPICS = tuple(str(t) for t in range(6))
ALIKE = "check that runs and judgments name documents alike"


def lists_of(start):
    """Thirty documents of each topic, from a number on."""
    return {topic: [f"D{topic}-{n}" for n in range(start, start + 30)] for topic in TOPICS}


RUNS = rb.Runs([rb.Run.from_rankings(name, lists_of(n)) for n, name in enumerate("ab")])


def judged(upto=12, *, lowered=TOPICS, start=0, **options):
    """Judge the first documents of all topics; lower the case of the names on some."""
    labels = {
        topic: {
            (docno.lower() if topic in lowered else docno): n % 2
            for n, docno in enumerate(docnos[:upto])
        }
        for topic, docnos in lists_of(start).items()
    }
    return rb.Qrels(labels, **options)


def estimands():
    return [
        rb.Estimand(depth=10),
        rb.Estimand(depth=10, scope="pool"),
        rb.Estimand(depth=10, scope="pool", score_depth=20),
    ]


@pytest.mark.parametrize("about", estimands(), ids=lambda about: about.text)
@pytest.mark.parametrize("upto", [2, 12])
def test_no_name_matches(about, upto):
    """Also where the judged documents were added to the pool before."""
    qrels = judged(upto)
    with pytest.warns(rb.CollectionWarning, match=f"no run has any of {6 * upto} judged doc") as w:
        about.judgments(about.pool(RUNS, qrels), qrels)
    assert len(w) == 1
    assert "as d0-0 of topic 0" in str(w[0].message)
    assert ALIKE in str(w[0].message)


def test_pool_with_the_judged_documents():
    """More depth is a remedy only where ranks below the depth are not known."""
    qrels = judged()
    with pytest.warns(rb.CollectionWarning, match=f"among its first 30, as .*{ALIKE}$"):
        rb.Judgments.from_qrels(rb.Pool.from_runs(RUNS, depth=10, qrels=qrels), qrels)
    with pytest.warns(rb.CollectionWarning, match=f"among its first 10, as .*{ALIKE}, or pool"):
        rb.Judgments.from_qrels(rb.Pool.from_runs(RUNS, depth=10), qrels)


def test_no_name_of_most_topics_matches():
    pool = rb.Pool.from_runs(RUNS)
    with pytest.warns(
        rb.CollectionWarning, match="on 4 of 6 judged topics no run .*d1-0 of topic 1"
    ):
        rb.Judgments.from_qrels(pool, judged(lowered=TOPICS[1:5]))


@pytest.mark.filterwarnings("error")
def test_judgments_of_a_whole_track_are_no_reason_to_speak():
    """Most judged documents are in no list of two runs, but some of each topic are."""
    whole = {
        topic: dict.fromkeys([*docnos[:2], *(f"other-{n}" for n in range(40))], 0)
        for topic, docnos in lists_of(0).items()
    }
    for about in estimands():
        qrels = rb.Qrels(whole)
        about.judgments(about.pool(RUNS, qrels), qrels)
    few = {topic: {"other": 0, "another": 0} for topic in TOPICS[1:]} | {"0": {"D0-0": 1}}
    rb.Judgments.from_qrels(rb.Pool.from_runs(RUNS), rb.Qrels(few))


def test_judged_for_these_runs_alone():
    """Documents judged for these runs are in their lists, unless they are of other names."""
    qrels = judged(3, lowered=TOPICS[:5])
    for made_for in (("a",), ("a", "elsewhere")):
        about = rb.Estimand(depth=10)
        pool = about.pool(RUNS, qrels)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            about.judgments(pool, qrels, made_for)
        of_names = [str(each.message) for each in said if ALIKE in str(each.message)]
        assert len(of_names) == (made_for == ("a",))
        assert all("has 15 of 18 judged documents, though they were judged" in t for t in of_names)


def test_describe_says_to_check_names():
    remarks = {remark.kind: remark for remark in rb.describe(RUNS, judged()).remarks}
    assert remarks["unretrieved_judgments"].remedy == (
        f"On 6 topics no judged document is in any list: {ALIKE}."
    )
    assert remarks["unretrieved_judgments"].topics == TOPICS
    some = {remark.kind: remark for remark in rb.describe(RUNS, judged(40, lowered=())).remarks}
    assert "unretrieved_judgments" not in some


def test_lists_condensed_to_nothing():
    """Where topics match, the names of documents do not."""
    with pytest.raises(rb.InputError, match=ALIKE):
        RUNS.condensed(judged())
    with pytest.raises(rb.InputError, match="give the judgments of these runs' topics"):
        RUNS.condensed(rb.Qrels({"another": {"D0-0": 1}}))


def test_truth_of_trials():
    from rtc_bayes.trials import Collection

    with pytest.warns(rb.CollectionWarning, match="no run has any of 72 judged documents"):
        Collection.from_runs(RUNS, judged(), rb.Estimand(depth=10))


def test_few_judgments_say_nothing():
    assert topics_of_other_names(np.array([5, 4]), np.array([0, 0])) == []
    assert topics_of_other_names(np.array([5, 5]), np.array([0, 0])) == [0, 1]
    assert topics_of_other_names(np.array([0]), np.array([0])) == []
