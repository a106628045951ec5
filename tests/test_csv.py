"""Names of systems are data: every CSV that is written holds them byte for byte."""

import csv
from pathlib import Path

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.collection import write_runs

NAMES = (
    '=HYPERLINK("http://localhost","x")',
    "@SUM(A1:A9)",
    "+1",
    "-1",
    "|a,b;c",
    "'=1",
    "NA",
    "nan",
    "007",
    "1e3",
    "ü",
)


@pytest.fixture(scope="module")
def made():
    """A collection whose systems have such names."""
    made = rb.simulate(n_topics=3, n_systems=len(NAMES), documents=100, depth=20, seed=1)
    runs = [run.renamed(name) for run, name in zip(made.runs.values(), NAMES, strict=True)]
    return rb.Runs(runs), made.qrels


def read(path: Path | str, *columns: str) -> set[str]:
    """Return the names in some columns of a file, as another program reads them."""
    text = Path(path).read_bytes().decode()
    return {row[column] for row in csv.DictReader(text.splitlines()) for column in columns}


def test_scores(made, tmp_path):
    runs, qrels = made
    scores = rb.ScoreMatrix.from_qrels(runs, qrels)
    path = tmp_path / "scores.csv"
    scores.to_csv(path)
    assert read(path, "system") == set(NAMES)
    again = rb.ScoreMatrix.from_csv(path)
    assert again.systems == scores.systems
    np.testing.assert_array_equal(again.mean, scores.mean)


@pytest.mark.parametrize("wide", ["system", "topic"])
def test_tables_of_scores(tmp_path, wide):
    path = tmp_path / "wide.csv"
    columns = NAMES if wide == "topic" else ("1", "2")
    rows = ("1", "2") if wide == "topic" else NAMES
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [[wide, *columns], *([row, *[0.5] * len(columns)] for row in rows)]
        )
    assert rb.ScoreMatrix.from_csv(path).systems == NAMES


def test_comparisons(made, tmp_path):
    runs, qrels = made
    pool = rb.Pool.from_runs(runs, depth=10, qrels=qrels)
    comparison = rb.compare(
        pool, rb.fit(pool, rb.Judgments.from_qrels(pool, qrels), model="uniform")
    )
    comparison.to_csv(tmp_path / "pairs.csv")
    assert read(tmp_path / "pairs.csv", "a", "b") == set(NAMES)


def test_groups(tmp_path):
    names = [name for name in NAMES if "," not in name]
    path = tmp_path / "groups.csv"
    path.write_text("system,group\n" + "".join(f"{name},={name}\n" for name in names))
    assert rb.read_groups(path) == {name: f"={name}" for name in names}


def test_commands(made, tmp_path, monkeypatch):
    runs, qrels = made
    named = {name: runs[name] for name in NAMES if "/" not in name}
    monkeypatch.chdir(tmp_path)
    write_runs(rb.Runs(named.values()), "runs")
    rb.write_qrels(qrels, "qrels.txt")
    inputs = ["runs", "--qrels", "qrels.txt", "--quiet"]
    assert main(["evaluate", *inputs, "-o", "means.csv"]) == 0
    assert main(["evaluate", *inputs, "--per-topic", "-o", "scores.csv"]) == 0
    assert main(["compare", *inputs, "--model", "uniform", "-o", "pairs.csv"]) == 0
    assert main(["compare", *inputs, "--model", "uniform", "--ranks", "-o", "ranks.csv"]) == 0
    assert read("means.csv", "system") == set(named)
    assert read("scores.csv", "system") == set(named)
    assert read("pairs.csv", "a", "b") == set(named)
    assert read("ranks.csv", "system") == set(named)
    assert set(rb.ScoreMatrix.from_csv("scores.csv").systems) == set(named)


def test_studies(made, tmp_path):
    runs, qrels = made
    made_study = rb.study(
        runs,
        qrels,
        algorithms=["mtc"],
        trials=2,
        n_systems=len(NAMES),
        seed=3,
        output=tmp_path,
        workers=rb.Workers(jobs=1),
    )
    assert read(tmp_path / "systems.csv", "system") == set(NAMES)
    assert read(tmp_path / "pairs.csv", "a", "b") == set(NAMES)
    again = rb.Study.load(tmp_path)
    assert set(again.pairs["a"]) | set(again.pairs["b"]) == set(NAMES)
    assert again.pairs.equals(made_study.pairs)
