"""Calibration studies: the same numbers however run, resumed, and written as one page."""

import shutil
from copy import copy

import numpy as np
import pytest
from model_files import write_model

import rtc_bayes as rb
from rtc_bayes import Estimand, Workers
from rtc_bayes.calibration import Calibration, CalibrationStudy, calibrate
from rtc_bayes.cli import main
from rtc_bayes.errors import InputError
from rtc_bayes.measures import evaluate
from rtc_bayes.report import write_report
from rtc_bayes.report.calibration_page import calibration_page
from rtc_bayes.robustness import study
from rtc_bayes.store import read_json
from rtc_bayes.trials import Collection

SUMMARY = Calibration.summary_file
TABLES = (*Calibration.tables, *Calibration.derived)
ALONE = Workers(jobs=1)

ARGUMENTS = {
    "model": "rtc:map",
    "trials": 3,
    "n_systems": 4,
    "estimand": Estimand(depth=20),
    "confidence": 0.8,
    "seed": 11,
    "command": "test",
}


@pytest.fixture(scope="module")
def done(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("calibration")
    return calibrate(small.runs, small.qrels, **ARGUMENTS, workers=ALONE, output=folder)


def test_confidences_are_those_of_a_robustness_study(small, done, tmp_path):
    """Another way to the same trials: what W is, must not depend on the command."""
    shared = {key: value for key, value in ARGUMENTS.items() if key != "model"}
    other = study(
        small.runs, small.qrels, algorithms=["rtc:map"], **shared, workers=ALONE, output=tmp_path
    )
    columns = ["trial", "a", "b", "confidence", "correct", "initial"]
    assert done.pairs[columns].reset_index(drop=True).equals(other.pairs[columns])
    assert done.summary["confidence"]["W"] == other.summary["rtc:map"]["W"]
    assert done.summary["mean_tau"] == pytest.approx(other.summary["rtc:map"]["mean_tau"])
    scores = done.systems[done.systems["quantity"] == "score"]
    np.testing.assert_array_equal(scores["expected"], other.systems["expected"])
    np.testing.assert_array_equal(scores["whole_list"], other.systems["true"])


def test_it_resumes_to_the_same_numbers(small, done, tmp_path):
    shutil.copytree(done.directory, tmp_path, dirs_exist_ok=True)
    (tmp_path / "trials" / "00001.json").unlink()
    (tmp_path / SUMMARY).unlink()
    again = calibrate(small.runs, small.qrels, **ARGUMENTS, workers=ALONE, output=tmp_path)
    assert again.summary == done.summary
    for name in TABLES:
        written = (tmp_path / f"{name}.csv").read_bytes()
        assert written == (done.directory / f"{name}.csv").read_bytes(), name


def test_it_loads_as_it_was(done):
    loaded = CalibrationStudy.load(done.directory)
    assert loaded.summary == read_json(done.directory / SUMMARY)
    assert loaded.systems["b"].tolist() == done.systems["b"].tolist()
    np.testing.assert_allclose(loaded.reliability, done.reliability)
    assert repr(loaded) == repr(done)
    assert "3 trials" in repr(done)


def test_every_unjudged_document_is_scored_once_a_trial(small, done):
    relevance = done.relevance.set_index(["by", "group"])
    overall = relevance.loc[("all", "all")]
    for by in ("rank", "seen", "topic"):
        parts = relevance.loc[by]
        assert parts["documents"].sum() == overall["documents"]
        assert parts["relevant"].sum() == overall["relevant"]
    assert done.reliability["documents"].sum() == overall["documents"]


def test_truth_of_lists_as_cut(small):
    collection = Collection.from_runs(small.runs, small.qrels, Estimand(scope="pool", depth=20))
    # evaluated as a list of 20 and by all judgments: the same as AP@20 by ir-measures
    table = evaluate(small.runs, small.qrels, ["AP@20"], topics="all")
    result = [collection.pool_truth[name] for name in collection.pool.systems]
    np.testing.assert_allclose(result, table.mean["AP@20"], atol=1e-9)
    labels = collection.labels(collection.pool.select(collection.pool.systems[:2]))
    assert set(labels) == {0.0, 1.0}


def test_the_report_needs_nothing_else(done, tmp_path):
    page = write_report(done.directory, tmp_path / "page.html").read_text()
    assert "Are the numbers right?" in page
    assert page.count("<figure>") == 3
    assert "nan" not in page.split("base64")[0]
    assert 'src="http' not in page
    assert (tmp_path / "tables" / "coverage.tex").exists()


def test_what_it_refuses(small, done, tmp_path):
    with pytest.raises(InputError, match="study with other model"):
        calibrate(
            small.runs, small.qrels, **ARGUMENTS | {"model": "uniform"}, output=done.directory
        )
    with pytest.raises(InputError, match="ip has no confidence"):
        calibrate(small.runs, small.qrels, algorithm="ip", output=tmp_path)
    with pytest.raises(InputError, match="a trial takes 10 systems, of 8"):
        calibrate(small.runs, small.qrels, output=tmp_path)
    with pytest.raises(InputError, match="holds no study; give the folder"):
        CalibrationStudy.load(tmp_path)


REMARK = (
    "from rtc_bayes.relevance.interface import Check, Diagnostics; "
    "return PointEstimate(np.full(judgments.pool.n_documents, 0.2), "
    "diagnostics=Diagnostics(checks=(Check('ESS', 9, 10, True, 'few'),)))"
)


def test_remarks_of_workers_are_counted_and_not_written(tmp_path, capfd):
    model = write_model(tmp_path / "remarking.py", "True", REMARK)
    command = ["calibrate", f"--model={model}", "--trials=2", "--n-systems=3", "--depth=10"]
    assert main([*command, "--jobs=2", "--quiet", f"--output={tmp_path / 'study'}"]) == 0
    assert capfd.readouterr().err == ""
    assert CalibrationStudy.load(tmp_path / "study").trials["remarks"].tolist() == [1, 1]


def test_a_failed_fit_is_recorded_and_left_out(small, done, tmp_path):
    judged = done.trials["judged"]
    assert judged.nunique() == 3
    arguments = {**ARGUMENTS, "workers": ALONE}
    for condition, failed in ((f"judgments.n_judged == {judged.iloc[0]}", 1), ("True", 3)):
        model = write_model(tmp_path / f"f{failed}.py", condition, "raise FitError('no fit')")
        folder = tmp_path / f"study{failed}"
        finished = calibrate(
            small.runs, small.qrels, **arguments | {"model": f"{model}:map"}, output=folder
        )
        assert finished.trials["failure"].notna().sum() == finished.summary["failed"] == failed
        assert set(finished.trials.loc[finished.trials["failure"].notna(), "reason"]) == {
            "failed fit"
        }
        kept = set(range(failed, 3))
        assert set(finished.pairs["trial"]) == set(finished.systems["trial"]) == kept
        assert (finished.summary["relevance"] is None) == (not kept)
        again = CalibrationStudy.load(folder)
        assert again.summary == finished.summary
        assert f"the fits of {failed} of 3 trials failed, the first: " in repr(again)
        page = write_report(folder).read_text(encoding="utf-8")
        assert "Fits that failed" in page
        assert "no fit" in page


DRAWN = (
    "from rtc_bayes.relevance import Draws; "
    "p = np.full((2, 50, judgments.pool.n_documents), 0.3, np.float32); "
    "p[..., judgments.order] = judgments.labels[judgments.order]; "
    "return Draws(p)"
)


def test_checks_of_a_model_that_says_the_labels_are_withheld(small, tmp_path):
    model = write_model(tmp_path / "labelled.py", "True", DRAWN, method="laplace")
    arguments = ARGUMENTS | {"model": model, "workers": ALONE, "output": tmp_path / "study"}
    finished = calibrate(small.runs, small.qrels, **arguments)
    assert finished.checks.empty
    assert finished.summary["checks"] == []
    assert finished.summary["relevance"]["documents"] > 0
    said = "predictive checks of 3 trials are withheld: the model gives judged documents their"
    assert repr(finished).count(said) == 1
    page = write_report(tmp_path / "study").read_text(encoding="utf-8")
    assert page.count(said.capitalize()) == 1


def test_it_says_why_trials_ended_with_no_judgment(done):
    reasons = ["reached", "proved", "budget"]
    ended = copy(done)
    object.__setattr__(ended, "trials", done.trials.assign(judged=[0, 0, 5], reason=reasons))
    said = (
        "2 trials ended with no judgment at all, as the confidence you asked for was reached by "
        "the lists alone, or as no judgment to come can change the order of the systems"
    )
    assert f"  {said}\n" in repr(ended)
    assert f"{said}. Nothing was learned in them." in calibration_page(ended).body
    assert "no judgment at all" not in repr(done)


def test_every_part_of_the_estimand_reaches_it(small, done, tmp_path):
    """Lists of 100 documents pooled to 20, by another measure, after so many judgments."""
    estimand = Estimand("P@30", depth=20, score_depth=100, residual=0.01, topics="judged")
    arguments = {**ARGUMENTS, "estimand": estimand, "trials": 2, "workers": ALONE}
    del arguments["confidence"]  # the budget ends the judging
    finished = calibrate(small.runs, small.qrels, **arguments, budget=30, output=tmp_path)
    assert finished.trials["judged"].tolist() == [30, 30]
    assert set(finished.trials["reason"]) == {"budget"}
    table = evaluate(small.runs, small.qrels, ["P@30"], topics="judged")
    truth = dict(zip(table.systems, table.mean["P@30"], strict=True))
    scores = finished.systems[finished.systems["quantity"] == "score"]
    np.testing.assert_allclose(scores["whole_list"], scores["a"].map(truth))
    assert scores["sd"].min() > 0.01
    # by documents of the pool alone
    assert (scores["at_depth"] <= scores["whole_list"] + 1e-12).all()
    assert "mean P@30" in write_report(tmp_path).read_text(encoding="utf-8")


def test_trials_that_judge_everything_have_no_probabilities_to_score(tmp_path):
    simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    asked = ARGUMENTS | {"model": "uniform", "algorithm": "mtc", "trials": 2}
    del asked["confidence"]
    asked |= {"n_systems": 3, "n_initial": 3, "budget": 10**6}
    asked |= {"estimand": Estimand(depth=5, scope="pool"), "output": tmp_path}
    every = calibrate(simulated.runs, simulated.qrels, **asked, workers=ALONE)
    assert every.summary["relevance"] is None
    assert every.relevance.empty
    assert every.reliability.empty
    assert len(every.coverage) == len(every.bias) * 2 == 8
    write_report(tmp_path)
