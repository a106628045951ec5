"""Scores from a random sample of judgments, from the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.judging.judges import load_judge

ASKED = ["evaluate", "runs", "--prels", "sample.prels"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs, complete judgments, a sample of them, and what `allocate` scores by it."""
    made = tmp_path_factory.mktemp("sampled")
    simulated = rb.simulate(n_topics=4, n_systems=4, seed=2)
    rb.write_runs(simulated.runs, made / "runs")
    rb.write_qrels(simulated.qrels, made / "qrels.txt")
    drawn = ["--budget", "60", "-o", f"{made}/sample.prels", "--write-scores", f"{made}/scores.csv"]
    truth = ["--truth", f"{made}/qrels.txt", "--depth", "20", "--quiet"]
    assert main(["allocate", f"{made}/runs", *truth, *drawn]) == 0
    return made


@pytest.fixture
def estimate(folder, monkeypatch):
    """What Python estimates, in that folder."""
    monkeypatch.chdir(folder)
    sample = rb.Sample.from_prels(rb.read_runs("runs"), rb.read_prels("sample.prels"))
    return rb.stat_ap(sample)


def test_means_are_those_of_python(estimate, capsys):
    assert main([*ASKED, "-o", "means.csv"]) == 0
    means = pd.read_csv("means.csv", comment="#")
    assert means.columns.tolist() == ["system", "statAP", "sd"]
    np.testing.assert_allclose(means["statAP"], estimate.scores.mean.mean(axis=1))
    np.testing.assert_allclose(means["sd"] ** 2, np.diag(estimate.covariance))
    capsys.readouterr()
    assert main([*ASKED, "--format", "json"]) == 0
    written = json.loads(capsys.readouterr().out)["statAP"]
    assert written[means["system"][0]] == {"mean": means["statAP"][0], "sd": means["sd"][0]}
    assert main(ASKED) == 0
    shown = capsys.readouterr().out
    assert "4 topics, a sample of 60 judged, relevance level 1" in shown
    rows = [line.split() for line in shown.splitlines() if "site" in line]
    assert [row[1] for row in rows] == [f"{x:.4f}" for x in sorted(means["statAP"])[::-1]]


def test_scores_by_topic_are_those_of_allocate(estimate, capsys):
    """Both are about whole lists."""
    assert main([*ASKED, "--per-topic", "-o", "topics.csv"]) == 0
    ours, theirs = (rb.ScoreMatrix.from_csv(f) for f in ("topics.csv", "scores.csv"))
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-12)
    np.testing.assert_allclose(ours.variance, theirs.variance, rtol=1e-12)
    assert Path("topics.csv").read_text().startswith("measure,system,topic,score,variance")
    capsys.readouterr()
    assert main([*ASKED, "--per-topic", "--format", "json"]) == 0
    written = json.loads(capsys.readouterr().out)["statAP"]
    one = written[ours.systems[1]][ours.topics[2]]
    assert one == {"score": ours.mean[1, 2], "sd": np.sqrt(ours.variance[1, 2])}
    assert main([*ASKED, "--per-topic"]) == 0
    assert sum("site" in line for line in capsys.readouterr().out.splitlines()) == ours.mean.size


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("evaluate runs", "give --qrels, or a sample by --prels"),
        ("evaluate runs --qrels qrels.txt --prels sample.prels", "give --qrels, or a sample"),
        ("evaluate runs --prels sample.prels --measure AP", "--measure says nothing of a sample"),
        ("evaluate runs --qrels qrels.txt --measure statAP", "evaluate --prels FILE"),
        ("evaluate runs --prels qrels.txt", "qrels.txt:1: 4 fields where a prels"),
    ],
)
def test_what_cannot_be_is_refused(estimate, capsys, line, said):
    assert main(line.split()) == 2
    assert said in capsys.readouterr().err


def test_a_sample_that_build_judges_keeps_its_probabilities(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    judged = ["build", "runs", "--truth", "qrels.txt", "--depth", "20", "--budget", "40"]
    assert main([*judged, "--algorithm", "sample", "--scope", "pool", "-o", "own.prels"]) == 0
    pool = rb.Estimand(scope="pool", depth=20).pool(rb.read_runs("runs"))
    made = rb.build(
        pool,
        rb.read_qrels("qrels.txt"),
        "sample",
        rb.Estimand(scope="pool", depth=20),
        budget=40,
        confidence=None,
    )
    judge = load_judge("sample")
    expected = judge.sample(made.judgments, seed=0)
    read = rb.Sample.from_prels(pool, rb.read_prels("own.prels"))
    np.testing.assert_allclose(
        rb.stat_ap(read).scores.mean, rb.stat_ap(expected).scores.mean, atol=1e-12
    )
    capsys.readouterr()
    assert main([*judged, "--algorithm", "sample", "-o", "own.qrels"]) == 0
    assert "estimates from this sample need -o FILE.prels" in capsys.readouterr().err
    assert main([*judged, "--algorithm", "sample", "--qrels", "own.qrels", "-o", "b.prels"]) == 2
    assert "with no judgments before and no design" in capsys.readouterr().err
    assert main([*judged, "--algorithm", "ip", "-o", "other.prels"]) == 2
    assert "ip draws no sample" in capsys.readouterr().err
