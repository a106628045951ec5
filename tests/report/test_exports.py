"""Tables for papers: what stands in the files."""

import json

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from rtc_bayes.report import write_report

NAMES = [
    "bins",
    "imbalance",
    "initial-imbalance",
    "judged",
    "original",
    "original-bins",
    "overlap",
    "overlap-bins",
    "reasons",
    "summary",
    "tests",
]


@pytest.fixture(scope="module")
def folder(shown, tmp_path_factory):
    page = write_report(shown.study.directory, tmp_path_factory.mktemp("paper") / "page.html")
    return page.parent / "tables"


def test_each_table_in_each_form(folder):
    result = sorted(path.name for path in folder.iterdir())
    endings = ("csv", "csv.meta.json", "md", "tex")
    assert result == sorted(f"{name}.{ending}" for name in NAMES for ending in endings)


def test_csv_is_not_rounded(folder, shown):
    study = shown.study
    summary = pd.read_csv(folder / "summary.csv").set_index("algorithm")
    for text, scores in study.summary.items():
        assert summary.loc[text, "accuracy"] == scores["accuracy"]
        if scores["W"] is not None:
            assert summary.loc[text, "W"] == scores["W"]
            assert [summary.loc[text, "W_low"], summary.loc[text, "W_high"]] == scores["W_interval"]
    bins = pd.read_csv(folder / "bins.csv")
    assert bins["accuracy"].dropna().tolist() == [
        entry["accuracy"]
        for scores in study.summary.values()
        for entry in scores["bins"] or []
        if entry["accuracy"] is not None
    ]
    for name, frame in (
        ("original", study.by_original()),
        ("overlap", study.by_overlap()),
        ("judged", study.by_judged()),
        ("imbalance", study.by_imbalance()),
        ("initial-imbalance", study.by_initial_imbalance()),
        ("tests", study.tests()),
    ):
        assert_frame_equal(pd.read_csv(folder / f"{name}.csv"), frame, check_exact=True)


def test_bins_of_a_group_are_those_of_its_scores(folder, shown):
    scores = shown.study.by_original().set_index(["algorithm", "group"])
    bins = pd.read_csv(folder / "original-bins.csv")
    assert set(bins["algorithm"]) == {"mtc", "rtc:map", "rtc:map/robust:gibbs"}
    for row in bins.dropna().itertuples():
        assert row.accuracy == scores.loc[(row.algorithm, row.group), f"accuracy_{row.low:g}"]
    shares = bins.groupby(["algorithm", "group"])["share"].sum()
    assert shares.tolist() == pytest.approx([1] * len(shares))


def test_provenance_is_the_study_s(folder, shown):
    meta = shown.study.meta
    for name in NAMES:
        assert json.loads((folder / f"{name}.csv.meta.json").read_text())["runs"] == meta["runs"]
        for ending in ("md", "tex"):
            first = (folder / f"{name}.{ending}").read_text(encoding="utf-8").splitlines()[0]
            assert f"seed {meta['seed']}" in first


def test_latex_is_a_tabular_of_even_rows(folder):
    for name in NAMES:
        lines = (folder / f"{name}.tex").read_text(encoding="utf-8").splitlines()
        body = [line for line in lines if not line.startswith("%")]
        assert "\n".join(body).isascii()
        columns = body[0].removeprefix(r"\begin{tabular}{").removesuffix("}")
        assert set(columns) <= {"l", "r"}
        rows = [line for line in body if line.endswith(r"\\")]
        assert all(row.count(" & ") == len(columns) - 1 for row in rows)


def test_markdown_rows_are_those_of_the_page(folder, shown):
    text = (folder / "summary.md").read_text(encoding="utf-8")
    accuracy = [f"{scores['accuracy']:.1%}" for scores in shown.study.summary.values()]
    assert f"| accuracy | {' | '.join(accuracy)} |" in text


def test_writing_again_gives_the_same_bytes(folder, shown):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    write_report(shown.study.directory, folder.parent / "page.html")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
