"""What is said of judgments that mislead: relevant documents alone, or one of them a topic."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from pools import pool_of, random_rankings

from rtc_bayes import (
    Estimand,
    Judgments,
    Pool,
    Qrels,
    build,
    compare,
    fit,
    next_documents,
    simulate,
)
from rtc_bayes.cli import main
from rtc_bayes.confidence.caution import caution
from rtc_bayes.errors import RelevantAloneWarning
from rtc_bayes.report.comparison_page import trust

TOPICS = 12
SAID = "judged documents are relevant, so nothing tells how rare relevant documents are"


@pytest.fixture(scope="module")
def pool():
    return pool_of(random_rankings(np.random.default_rng(1), 3, TOPICS, 40, longest=30))


def judged(pool, relevant, nonrelevant):
    documents = np.random.default_rng(2).permutation(pool.n_documents)[: relevant + nonrelevant]
    return Judgments.from_labels(
        pool, documents, [1] * relevant + [0] * nonrelevant, judged_for=pool.systems
    )


@pytest.mark.parametrize(
    ("relevant", "nonrelevant", "said"),
    [
        (1, 0, False),
        (21, 0, False),
        (22, 0, True),
        (50, 4, False),
        (52, 2, True),
        (120, 12, False),
        (0, 50, False),
    ],
)
def test_relevant_documents_alone_are_warned_of_unless_chance_may_be_the_reason(
    pool, relevant, nonrelevant, said
):
    judgments = judged(pool, relevant, nonrelevant)
    warned = pytest.warns(RelevantAloneWarning, match="how rare") if said else nullcontext()
    with warned:
        fitted = fit(pool, judgments, model="uniform")
    assert ("how rare" in caution(judgments, pool.topics)) is said
    comparison = compare(pool, fitted)
    pages = ("".join(trust(comparison, of)) for of in (None, judgments))
    for words in (comparison.judged_text, *pages):
        assert ("how rare" in words) is said


def test_whoever_judges_on_is_warned_once(pool):
    qrels = judged(pool, 40, 0).to_qrels()
    truth = Qrels({topic: dict.fromkeys(pool.docnos.tolist(), 0) for topic in pool.topics})
    begun = Judgments.from_qrels(pool, qrels, judged_for=pool.systems)
    for judge_on in (
        lambda: next_documents(pool, begun, algorithm="mtc"),
        lambda: build(pool, truth, "mtc", budget=3, judgments=begun),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            judge_on()
        assert [SAID in str(each.message) for each in caught] == [True]
    with pytest.warns(RelevantAloneWarning):
        page = compare(pool, fit(pool, begun, model="uniform")).to_html(judgments=begun)
    assert page.count(SAID) == 1


def test_the_command_says_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        lines = [f"{t} Q0 {name}{n} {n} {9 - n} {name}" for t in range(30) for n in range(1, 4)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels").write_text("".join(f"{t} 0 a1 1\n" for t in range(30)))
    asked = ["compare", "a", "b", "--qrels", "qrels", "--model", "uniform"]
    assert main(asked) == 0
    title, note = (" ".join(shown.split()) for shown in capsys.readouterr())
    assert note.count(f"all 30 {SAID}") == 1
    assert "or score with evaluate, which takes all other documents for nonrelevant" in note
    assert " all 30 judged documents are relevant; " in title
    assert "how rare" not in title


def found(pool, depth, relevant=1):
    """All that systems rank so far judged; of each topic, the first documents relevant."""
    entries = pool.entries
    documents = np.unique(pool.ranked[entries.rank <= depth])
    topic = pool.topic_of[documents]
    place = np.arange(len(documents)) - np.searchsorted(topic, topic)
    labels = (place < relevant).astype(float)
    return Judgments.from_labels(pool, documents, labels, judged_for=pool.systems)


def test_about_one_relevant_document_a_topic_makes_scores_too_low(pool):
    said = "more relevant documents are expected than there are"
    one = found(pool, 5)
    assert said in caution(one, pool.topics, "AP", 0.5)
    assert said in caution(one, pool.topics, "nDCG@10", 0.5)
    for words in (
        caution(one, pool.topics, "RR@10", 0.5),
        caution(one, pool.topics, "P@10", 0.5),
        caution(one, pool.topics, "AP", 0.1),  # the model expects few more
        caution(one, pool.topics[:9], "AP", 0.5),
        caution(found(pool, 5, relevant=2), pool.topics, "AP", 0.5),
        caution(found(pool, 1), pool.topics, "AP", 0.5),  # nobody has looked for others
    ):
        assert said not in words
    comparison = compare(pool, fit(pool, one, model="uniform"), Estimand())
    assert said in comparison.judged_text
    assert said in "".join(trust(comparison, one))


def test_early_judging_of_an_ordinary_collection_is_not_taken_for_that():
    made = simulate(n_topics=12, n_systems=8, documents=600, depth=100, seed=3)
    pool = Pool.from_runs(made.runs, depth=50)
    for each in (1, 2, 3.5, 5):
        judgments = build(pool, made.qrels, "mtc", budget=round(each * pool.n_topics)).judgments
        assert "than there are" not in caution(judgments, pool.topics, "AP", 0.9)


def test_judgments_a_topic_are_rounded_down(pool):
    """41 on 12 topics are 3.42 each, 35 on 10 are 3.5, and 3.49 are not said to be 3.5."""
    judgments = judged(pool, 10, 31)
    assert "with 3.4 judgments a topic, fewer than the 3.5" in caution(judgments, pool.topics)
    many = pool_of(random_rankings(np.random.default_rng(1), 2, 53, 20), depth=10)
    judgments = judged(many, 40, 143)
    assert "with 3.4 judgments a topic, fewer than the 3.5" in caution(judgments, many.topics)
