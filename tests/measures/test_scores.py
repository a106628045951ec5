from __future__ import annotations

import subprocess
import sys

import ir_measures
import numpy as np
import pytest
from pools import pool_of

import rtc_bayes as rb
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.errors import CollectionWarning, InputError
from rtc_bayes.measures import ScoreMatrix, evaluate


def matrix():
    rng = np.random.default_rng(0)
    return ScoreMatrix(
        rng.random((2, 3)), rng.random((2, 3)), ("run a", "b"), ("401", "402", "403"), "AP"
    )


def test_to_and_from_disk(tmp_path):
    scores = matrix()
    scores.save(tmp_path / "scores.nc")
    back = ScoreMatrix.load(tmp_path / "scores.nc")
    np.testing.assert_array_equal(back.mean, scores.mean)
    np.testing.assert_array_equal(back.variance, scores.variance)
    assert (back.systems, back.topics, back.measure) == (scores.systems, scores.topics, "AP")


def test_frame_has_a_row_per_system_and_topic():
    scores = matrix()
    frame = scores.to_frame()
    assert frame.columns.tolist() == ["system", "topic", "mean", "variance"]
    row = frame[(frame["system"] == "b") & (frame["topic"] == "402")]
    assert row["mean"].item() == scores.mean[1, 1]
    assert row["variance"].item() == scores.variance[1, 1]


def test_shapes_are_checked():
    with pytest.raises(InputError, match="shape"):
        ScoreMatrix(np.zeros((2, 2)), np.zeros((2, 3)), ("a", "b"), ("1", "2", "3"), "AP")


def test_repr_and_immutability():
    scores = matrix()
    assert repr(scores) == "ScoreMatrix(AP, 2 systems, 3 topics)"
    with pytest.raises(ValueError, match="read-only"):
        scores.mean[0, 0] = 0.0


def test_importing_measures_loads_no_compiler():
    code = "import sys, rtc_bayes.measures; rtc_bayes.measures.ScoreMatrix; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numba", "pandas", "scipy"} & set(loaded)


def written(path, text):
    path.write_text(text)
    return path


def test_csv_there_and_back(tmp_path):
    scores = matrix()
    mean, variance = scores.mean.copy(), scores.variance.copy()
    mean[1, 2] = variance[1, 2] = np.nan
    scores = ScoreMatrix(mean, variance, ("=run, a", "b"), scores.topics, "nDCG@10")
    scores.to_csv(tmp_path / "scores.csv")
    back = ScoreMatrix.from_csv(tmp_path / "scores.csv")
    np.testing.assert_array_equal(back.mean, scores.mean)
    np.testing.assert_array_equal(back.variance, scores.variance)
    np.testing.assert_array_equal(back.evaluated, [[True, True, True], [True, True, False]])
    assert (back.systems, back.topics, back.measure) == (scores.systems, scores.topics, "nDCG@10")


@pytest.mark.parametrize(
    "text",
    [
        "system,topic,score\na,1,0.5\na,2,\nb,1,1e-04\nb,2,0\n",
        "qid,tag,value,variance\n1,a,0.5,0\n2,b,0,0\n\n1,b,0.0001,0\n",
        "system,1,2\na,0.5,NA\nb,0.0001,0\n",
        '"topic","a","b"\n1,0.5,0.0001\n2,,0\n',
        "\ufeffa,b\n0.5,0.0001\nnan,0\n",
    ],
)
def test_layouts_of_csv(tmp_path, text):
    scores = ScoreMatrix.from_csv(written(tmp_path / "s.csv", text), "AP")
    assert (scores.systems, scores.topics, scores.measure) == (("a", "b"), ("1", "2"), "AP")
    np.testing.assert_array_equal(scores.mean, [[0.5, np.nan], [0.0001, 0.0]])
    np.testing.assert_array_equal(scores.variance, [[0.0, np.nan], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.csv: holds no scores"),
        ("system,topic,score\n", "s.csv: holds no scores"),
        ("system\none\n", "s.csv: no score; give columns system, topic, score"),
        ("system,topic,score\na,1,0.5\na,1,0.5\n", "s.csv:3: system a has two .* on line 2"),
        ("system,topic,score\na,1,x\n", "s.csv:2: 'x' is not a number"),
        ("system,topic,score\na,1,1_0\n", "s.csv:2: '1_0' is not a number"),
        ("system,topic,score\na,1,inf\n", "s.csv:2: 'inf' is not a number"),
        ("system,topic,score\na,1\n", "s.csv:2: 2 fields under a header of 3"),
        ("system,topic,score\n,1,0.5\n", "s.csv:2: a system or topic has no name"),
        ("system,topic,score,variance\na,1,0.5,-1\n", "s.csv:2: a variance is below 0"),
        ("system,topic,score,variance\na,1,0.5,\n", "a mean or a variance alone"),
        ("topic\ta\n1\t0.5\n", "s.csv:1: tabs stand between fields.*; write commas, and give"),
        ("topic;a\n1;0.5\n", "s.csv:1: semicolons stand between fields"),
        # trec_eval -q
        ("map \t1\t0.5\nmap \tall\t0.5\n", "s.csv:1: tabs .* columns system, topic, score"),
        (",a,b\n1,0.5,0.5\n", "s.csv:1: the first column has no name; call it topic or system"),
        ("topic,a,a\n1,0.5,0.5\n", "s.csv:2: system a has two scores on topic 1"),
        ("measure,system,topic,score\nAP,a,1,0\nRR,a,1,1\n", "several measures; .* AP, RR"),
    ],
)
def test_bad_csv_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        ScoreMatrix.from_csv(written(tmp_path / "s.csv", text))


def test_one_of_several_measures_of_a_csv(tmp_path):
    text = "measure,system,qid,value\nAP,a,1,0.25\nRR,a,1,1\n"
    scores = ScoreMatrix.from_csv(written(tmp_path / "s.csv", text), "RR")
    assert (scores.mean.tolist(), scores.measure) == ([[1.0]], "RR")
    with pytest.raises(InputError, match="holds no nDCG; ask for one of AP, RR"):
        ScoreMatrix.from_csv(tmp_path / "s.csv", "nDCG")
    with pytest.raises(InputError, match="no such file"):
        ScoreMatrix.from_csv(tmp_path / "absent.csv")


@pytest.mark.parametrize(
    ("name", "shape"), [("adhoc8_ap", (129, 50)), ("robust2004_ap", (110, 249))]
)
def test_real_tables(data, name, shape):
    scores = ScoreMatrix.from_csv(data / "score_matrices" / f"{name}.csv", "AP")
    assert scores.mean.shape == shape
    assert scores.evaluated.all()
    assert 0.15 < scores.mean.mean() < 0.35


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("position,topic,weight,rho\n1,401,1,0.5\n", "topics that were selected, no scores"),
        ("system,AP,Judged@100\nbm25,0.5,1\n", "its columns are measures, AP, Judged@100"),
        ("system,DCG@10,AP,P@5\nbm25,2,0.5,1\n", "its columns are measures, DCG@10, AP, P@5"),
        ("system,statAP,sd\nbm25,0.5,0.1\n", "its columns are measures, statAP, sd"),
    ],
)
def test_other_tables_are_no_scores(tmp_path, text, said):
    path = tmp_path / "other.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        ScoreMatrix.from_csv(path)


def test_true_scores_are_those_of_evaluate(small):
    scores = ScoreMatrix.from_qrels(small.runs, small.qrels, ir_measures.nDCG @ 10)
    table = evaluate(small.runs, small.qrels, "nDCG@10")
    np.testing.assert_array_equal(scores.mean, table["nDCG@10"])
    assert (scores.systems, scores.topics) == (table.systems, table.topics)
    assert not scores.variance.any()


def test_scores_of_judgments_are_those_of_the_pool(small):
    judgments = Judgments.from_qrels(Pool.from_runs(small.runs, depth=100), small.qrels)
    scores = ScoreMatrix.from_judgments(judgments)
    table = evaluate(small.runs, small.qrels, "AP@100")
    np.testing.assert_allclose(scores.mean, table["AP@100"], rtol=1e-6)
    assert not scores.variance.any()


def test_scores_of_judgments_read_the_grades_that_a_measure_asks_for():
    pool = pool_of({"one": {"1": "abc"}, "two": {"1": "bca"}}, depth=3)
    judgments = Judgments.from_qrels(pool, rb.Qrels({"1": {"a": 3, "b": 0, "c": 1}}))
    scores = ScoreMatrix.from_judgments(judgments, "AP(rel=2)")
    np.testing.assert_allclose(scores.mean, [[1.0], [1 / 3]])
    assert scores.measure == "AP(rel=2)"
    with pytest.raises(InputError, match=r"nDCG has gains by grade, .*ScoreMatrix.from_qrels"):
        ScoreMatrix.from_judgments(judgments, "nDCG")


def test_scores_hold_their_own_copies_and_are_checked():
    mean, variance = np.array([[0.5, np.nan]]), np.array([[0.0, np.nan]])
    scores = ScoreMatrix(mean, variance, ("a",), ("1", "2"))
    mean[0, 0] = 0.0
    assert scores.mean[0, 0] == 0.5
    for wrong, message in (
        (([[0.5, 0.5]], variance), "1 cells have a mean or a variance alone"),
        (([[np.inf, np.nan]], variance), "a mean is infinite"),
        ((mean, [[-0.1, np.nan]]), "a variance is below 0"),
    ):
        with pytest.raises(InputError, match=message):
            ScoreMatrix(*wrong, ("a",), ("1", "2"))
    with pytest.raises(InputError, match="named twice"):
        ScoreMatrix(mean, variance, ("a",), ("1", "1"))


def test_the_mean_that_trec_eval_adds_is_no_topic(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(
        "system,topic,score\nA,401,.5\nA,402,.7\nA,all,.6\nB,401,.1\nB,402,.3\nB,all,.2\n"
    )
    with pytest.warns(CollectionWarning, match="'all' is taken for the mean over topics"):
        scores = ScoreMatrix.from_csv(path)
    assert scores.topics == ("401", "402")
    with pytest.raises(InputError, match="netCDF and zarr are written"):
        scores.save(tmp_path / "scores.csv")


@pytest.mark.parametrize("estimator", ["stat_ap", "model_assisted"])
def test_systems_that_tie_but_for_rounding_have_no_sign(estimator):
    """One relevant document a topic, at the same ranks in another order of topics."""
    others = [f"n{i}" for i in range(9)]
    at = {"A": (1, 3, 7, 10), "B": (3, 7, 1, 10)}
    lists = {
        name: {str(t): [*others[: r - 1], "R", *others[r - 1 :]] for t, r in enumerate(ranks)}
        for name, ranks in at.items()
    }
    pool = pool_of(lists)
    qrels = rb.Qrels({str(t): {"R": 1} for t in range(4)})
    sample = rb.Sample.draw(pool, qrels, np.ones(pool.n_documents))
    made = (
        rb.stat_ap(sample)
        if estimator == "stat_ap"
        else rb.model_assisted(np.full(pool.n_documents, 0.5), sample, measure="AP")
    )
    means = made.scores.mean.mean(axis=1)
    assert means[0] != means[1]
    assert made.pairs().confidence.tolist() == [0.5]
