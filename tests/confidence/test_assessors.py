"""What a second assessor would change."""

import itertools

import numpy as np
import pandas as pd
import pytest
from pools import pool_of

import rtc_bayes as rb

SAME = [[1, 0], [0, 1]]


@pytest.fixture
def pool():
    return pool_of(
        {
            "A": {"1": "abcd", "2": "uvw"},
            "B": {"1": "dcba", "2": "vwu"},
            "C": {"1": "badc", "2": "wuv"},
        }
    )


def test_agreement_changes_nothing(pool):
    judgments = rb.Judgments.from_labels(pool, [0, 3, 5], [1.0, 0.0, 1.0])
    relevance = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.3))
    table = rb.second_assessor(pool, relevance, judgments, SAME, draws=3)
    p = np.full(pool.n_documents, 0.3)
    p[judgments.order] = judgments.labels[judgments.order]
    compared = rb.compare(pool, rb.Relevance.from_values(pool, p))
    assert table["p_greater"].tolist() == (compared.p_greater + compared.p_equal / 2).tolist()
    assert (table["mean"] - table["p_greater"]).abs().max() < 1e-12
    assert table[["sd", "p_flip"]].to_numpy().max() < 1e-12


def test_draws_follow_all_second_judgments(pool):
    """The mean and the flips, by brute force over every set of second judgments."""
    confusion = np.array([[0.8, 0.2], [0.35, 0.65]])
    judgments = rb.Judgments.from_labels(pool, [0, 3, 5], [1.0, 0.0, 1.0])
    base = np.random.default_rng(1).uniform(0.2, 0.6, pool.n_documents)
    weights, values = [], []
    for second in itertools.product([0, 1], repeat=3):
        p = base.copy()
        p[judgments.order] = second
        first = judgments.labels[judgments.order].astype(int)
        weights.append(np.prod(confusion[first, second]))
        compared = rb.compare(pool, rb.Relevance.from_values(pool, p))
        values.append(compared.p_greater + compared.p_equal / 2)
    weights, values = np.array(weights), np.array(values)
    n = 100
    table = rb.second_assessor(
        pool, rb.Relevance.from_values(pool, base), judgments, confusion, draws=n, seed=3
    ).sort_values(["a", "b"])
    mean = weights @ values
    sd = np.sqrt(weights @ (values - mean) ** 2)
    now = table["p_greater"].to_numpy()
    flips = weights @ ((values - 0.5) * (now - 0.5) < 0)
    assert (np.abs(table["mean"] - mean) < 4 * sd / np.sqrt(n)).all()
    assert (np.abs(table["p_flip"] - flips) <= 4 * np.sqrt(flips * (1 - flips) / n)).all()
    np.testing.assert_allclose(table["sd"], sd, rtol=0.35)
    assert (table["p_flip"] > 0).any()


def test_a_fit_and_a_part_of_its_systems(pool):
    judgments = rb.Judgments.from_labels(pool, [0, 3, 5], [1.0, 0.0, 1.0])
    fit = rb.fit(pool, judgments, model="uniform")
    table = rb.second_assessor(
        pool.select(["A", "B"], keep_documents=True), fit, judgments, SAME, "P@2", draws=2
    )
    assert table[["a", "b"]].to_numpy().tolist() == [["A", "B"]]


def test_the_confusion_of_documents_judged_by_both():
    first = rb.Qrels({"1": {"a": 3, "b": 2, "c": 0, "e": 1}, "2": {"x": 2}})
    second = rb.Qrels({"1": {"a": 1, "b": 0, "c": 0, "d": 1, "e": 1}, "3": {"x": 1}})
    found = rb.assessor_confusion(first, second, relevance_level=2, second_relevance_level=1)
    np.testing.assert_allclose(found, [[1.5 / 3, 1.5 / 3], [1.5 / 3, 1.5 / 3]])
    with pytest.raises(rb.InputError, match="relevance_level is 0"):
        rb.assessor_confusion(first, second, relevance_level=2, second_relevance_level=0)


def test_a_row_for_each_grade(pool):
    """Who disputes nothing but grade 1 changes only that document."""
    first = rb.Qrels({"1": {"a": 2, "b": 1, "c": 0}})
    second = rb.Qrels({"1": {"a": 1, "b": 0, "c": 0}})
    found = rb.assessor_confusion(first, second, by_grade=True)
    np.testing.assert_allclose(found, [[0.75, 0.25], [0.75, 0.25], [0.25, 0.75]])
    judgments = rb.Judgments.from_qrels(pool, first)
    relevance = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.3))
    rows = [[1, 0], [1, 0], [0, 1]]
    table = rb.second_assessor(pool, relevance, judgments, rows, draws=2)
    p = np.full(pool.n_documents, 0.3)
    p[pool.locate("1", ["a", "b", "c"])] = [1.0, 0.0, 0.0]
    compared = rb.compare(pool, rb.Relevance.from_values(pool, p))
    np.testing.assert_allclose(
        table.sort_values(["a", "b"])["mean"], compared.p_greater + compared.p_equal / 2
    )
    with pytest.raises(rb.InputError, match="a row for each grade"):
        rb.second_assessor(
            pool, relevance, rb.Judgments.from_qrels(pool, rb.Qrels({"1": {"a": 3}})), rows
        )


@pytest.mark.parametrize(
    ("confusion", "judged", "draws", "message"),
    [
        ([[1, 0]], [0], 2, "not two rows of probabilities"),
        ([[0.5, 0.4], [0, 1]], [0], 2, "each row of sum 1"),
        (SAME, [], 2, "nothing is judged"),
        (SAME, [0], 1, "draws"),
    ],
)
def test_what_is_refused(pool, confusion, judged, draws, message):
    judgments = rb.Judgments.from_labels(pool, judged, [1.0] * len(judged))
    relevance = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.3))
    with pytest.raises(rb.InputError, match=message):
        rb.second_assessor(pool, relevance, judgments, confusion, draws=draws)
    with pytest.raises(rb.InputError, match="judged by both"):
        rb.assessor_confusion(rb.Qrels({"1": {"a": 1}}), rb.Qrels({"1": {"b": 1}}))


def test_what_is_no_pool_fit_or_judgments_is_named():
    made = rb.simulate(n_topics=3, n_systems=2, seed=0)
    pool = rb.Pool.from_runs(made.runs, depth=5)
    judgments = rb.Judgments.from_qrels(pool, made.qrels)
    relevance = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
    for asked, said in (
        (("a.run", relevance, judgments), "the pool is a str; give the Pool"),
        ((pool, {}, judgments), "a dict is not a relevance of documents"),
        ((pool, relevance, made.qrels), "judgments are a Qrels; give those of the first"),
    ):
        with pytest.raises(rb.InputError, match=said):
            rb.second_assessor(*asked, [[1, 0], [0, 1]])
    with pytest.raises(rb.InputError, match="judgments are a str; give Qrels"):
        rb.assessor_confusion(made.qrels, "other.qrels")
    with pytest.raises(rb.InputError, match="judgments are a Qrels; give Judgments with labels"):
        rb.shared_errors(made.qrels)


def test_grades_do_not_count_and_that_is_said(pool):
    judgments = rb.Judgments.from_labels(pool, [0, 1], [1, 1], grades=[3, 1])
    fit = rb.fit(pool, judgments, model="uniform")
    with pytest.warns(rb.CollectionWarning, match="a second assessor's judgments are binary: nDCG"):
        rb.second_assessor(pool, fit, judgments, SAME, "nDCG", draws=2)
    with pytest.raises(rb.InputError, match=r"AP\(rel=2\) asks for grades, and a second"):
        rb.second_assessor(pool, fit, judgments, SAME, "AP(rel=2)", draws=2)


@pytest.mark.parametrize(
    ("labels", "grades"), [([1, 0], [0, 0]), ([0.6, 0], [2, 0]), ([0, 1], [3, 1])]
)
def test_a_label_is_that_of_its_grade(pool, labels, grades):
    with pytest.raises(rb.InputError, match=r"has grade .*, and grades from 1 on are relevant"):
        rb.Judgments.from_labels(pool, [0, 1], labels, grades=grades)


def test_it_is_about_judged_topics_and_by_the_level_of_the_judgments(pool):
    first = pool.topics[0]
    qrels = rb.Qrels({first: dict.fromkeys(pool.docnos[pool.documents(0)][:3], 2)})
    judgments = rb.Judgments.from_qrels(pool, qrels, relevance_level=2)
    fit = rb.fit(pool, judgments, model="uniform")
    disputed = [[0.9, 0.1], [0.3, 0.7]]
    tables = [
        rb.second_assessor(pool, fit, judgments, disputed, rb.Estimand(topics=topics), draws=3)
        for topics in ("judged", (first,), "all")
    ]
    pd.testing.assert_frame_equal(tables[0], tables[1])
    assert not tables[0].equals(tables[2])
    with pytest.raises(rb.InputError, match="relevance_level is 1, and the fit's 2"):
        rb.second_assessor(pool, fit, judgments, disputed, rb.Estimand(relevance_level=1))
