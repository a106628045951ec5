"""Lists without the documents that nobody judged (Sakai 2007)."""

import pytest
from hypothesis import assume, given, strategies as st

from rtc_bayes import InputError, Qrels, Run, Runs

DOCNOS = st.sampled_from("abcdefgh")
TOPICS = st.sampled_from("123")
RANKED = st.dictionaries(TOPICS, st.lists(DOCNOS, unique=True, max_size=8), max_size=3)
# a negative grade is no judgment; some judged documents nobody retrieved
QRELS = st.dictionaries(
    TOPICS, st.dictionaries(st.sampled_from("abcdefghxyz"), st.integers(-2, 2), max_size=9)
)


@st.composite
def runs_and_qrels(draw):
    """Runs with scores that tie here and there, and judgments of at least one document of them."""
    runs = []
    for name, lists in draw(st.dictionaries(DOCNOS, RANKED, min_size=1, max_size=3)).items():
        scores = {
            topic: draw(st.lists(st.integers(0, 5), min_size=len(docnos), max_size=len(docnos)))
            for topic, docnos in lists.items()
        }
        runs.append(Run.from_rankings(name, lists, scores=scores))
    runs, qrels = Runs(runs), Qrels(draw(QRELS))
    assume(any(judged_of(run, topic, qrels) for run in runs.values() for topic in run.topics))
    return runs, qrels


def judged_of(run, topic, qrels):
    """The judged documents of a list with their scores, in its order."""
    grades = qrels.get(topic, {})
    pairs = zip(run.ranking(topic).tolist(), run.scores(topic).tolist(), strict=True)
    return [(docno, score) for docno, score in pairs if docno in grades and grades[docno] >= 0]


def lists_of(runs):
    return {
        name: {
            t: list(zip(run.ranking(t).tolist(), run.scores(t).tolist(), strict=True))
            for t in run.topics
        }
        for name, run in runs.items()
    }


@given(runs_and_qrels())
def test_what_is_judged_remains_in_its_order_with_its_scores(collection):
    runs, qrels = collection
    assert lists_of(runs.condensed(qrels)) == {
        name: {t: judged for t in run.topics if (judged := judged_of(run, t, qrels))}
        for name, run in runs.items()
    }


@given(runs_and_qrels())
def test_ranks_close_up(collection):
    runs, qrels = collection
    before = runs.to_frame().set_index(["system", "topic", "docno"])["rank"]
    for (system, topic), rows in runs.condensed(qrels).to_frame().groupby(["system", "topic"]):
        assert rows["rank"].tolist() == [*range(1, len(rows) + 1)]
        # each moves up by the documents above it that nobody judged, and by no more
        grades, ranking = qrels[topic], runs[system].ranking(topic).tolist()
        for docno, rank in zip(rows["docno"], rows["rank"], strict=True):
            was = before[system, topic, docno]
            assert was - rank == sum(grades.get(above, -1) < 0 for above in ranking[: was - 1])


@given(runs_and_qrels())
def test_to_condense_twice_is_to_condense_once(collection):
    runs, qrels = collection
    once = runs.condensed(qrels)
    twice = once.condensed(qrels)
    assert lists_of(twice) == lists_of(once)
    assert [run.digest for run in twice.values()] == [run.digest for run in once.values()]


@given(runs_and_qrels())
def test_lists_that_are_judged_throughout_stay_as_they_are(collection):
    runs, _ = collection
    every = Qrels({t: dict.fromkeys("abcdefgh", 0) for t in "123"})
    assert lists_of(runs.condensed(every)) == {
        name: {topic: ranked for topic, ranked in lists.items() if ranked}
        for name, lists in lists_of(runs).items()
    }


@pytest.mark.parametrize("grades", [{}, {"1": {"a": -1}}, {"2": {"a": 1}}])
def test_runs_of_which_nothing_is_judged_are_refused(grades):
    runs = Runs([Run.from_rankings("s", {"1": ["a", "b"]})])
    with pytest.raises(InputError, match="no document of the runs is judged; give the judgments"):
        runs.condensed(Qrels(grades))
