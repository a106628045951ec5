import json
import shutil

import numpy as np
import pandas as pd
import pytest
from model_files import write_model
from pandas.testing import assert_frame_equal

from rtc_bayes import Estimand, Workers
from rtc_bayes.collection import Pool
from rtc_bayes.errors import InputError
from rtc_bayes.judging import build
from rtc_bayes.measures import evaluate, moments
from rtc_bayes.relevance import ModelSpec
from rtc_bayes.report import write_report
from rtc_bayes.robustness import Robustness, Study, study
from rtc_bayes.trials import Plan, draw_systems

TABLES = tuple(Robustness.tables)
ALONE = Workers(jobs=1)


def numbers(finished):
    """Everything of a study that must not differ between runs: all but the seconds."""
    tables = {name: getattr(finished, name) for name in TABLES}
    tables["trials"] = tables["trials"].drop(columns=["seconds_judging", "seconds_evaluating"])
    summary = {
        text: {key: value for key, value in scores.items() if not key.startswith("seconds")}
        for text, scores in finished.summary.items()
    }
    return tables, summary


def assert_same(actual, expected):
    tables, summary = numbers(actual)
    expected_tables, expected_summary = numbers(expected)
    for name in TABLES:
        assert_frame_equal(tables[name], expected_tables[name], check_exact=True)
    assert summary == expected_summary


def test_two_jobs_give_the_numbers_of_one(small, arguments, done, tmp_path):
    again = study(
        small.runs, small.qrels, **arguments, workers=Workers(jobs=2), output=tmp_path / "two"
    )
    assert_same(again, done)


def test_a_study_reads_back(done):
    assert_same(Study.load(done.directory), done)


def test_files_and_columns(done):
    for name, columns in Robustness.tables.items():
        assert list(pd.read_csv(done.directory / f"{name}.csv").columns) == list(columns)
        meta = json.loads((done.directory / f"{name}.csv.meta.json").read_text())
        assert meta["seed"] == 11
    summary = json.loads((done.directory / "summary.json").read_text())
    assert list(summary) == ["ip", "mtc", "rtc:map"]
    assert (done.directory / "meta.json").exists()


def test_what_is_missing_is_run_again_and_nothing_else(small, arguments, done, tmp_path):
    folder = tmp_path / "resumed"
    shutil.copytree(done.directory, folder)
    (folder / "trials" / "00001.json").unlink()
    (folder / "summary.json").unlink()
    kept = (folder / "trials" / "00000.json").stat().st_mtime_ns
    calls = []
    again = study(
        small.runs,
        small.qrels,
        **arguments,
        output=folder,
        workers=Workers(jobs=1, progress=lambda *call: calls.append(call)),
    )
    assert calls == [("trials", 2, 3), ("trials", 3, 3)]
    assert (folder / "trials" / "00000.json").stat().st_mtime_ns == kept
    assert_same(again, done)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 12}, "seed"),
        ({"algorithms": ["ip", "mtc"]}, "algorithms"),
        ({"estimand": Estimand(depth=10)}, "depth"),
        ({"moments": "exact"}, "moments"),
    ],
)
def test_other_arguments_are_refused(small, arguments, done, change, named):
    with pytest.raises(InputError, match=f"other {named}"):
        study(small.runs, small.qrels, **{**arguments, **change}, output=done.directory)


def test_other_runs_are_refused(small, arguments, done):
    fewer = small.runs.select(small.runs.systems[:-1])
    with pytest.raises(InputError, match="other runs"):
        study(fewer, small.qrels, **arguments, output=done.directory)


def test_too_few_runs(small, arguments, tmp_path):
    with pytest.raises(InputError, match="9 systems, of 8"):
        study(small.runs, small.qrels, **{**arguments, "n_systems": 9}, output=tmp_path)


def test_ip_takes_the_count_of_mtc(done):
    judged = done.trials.pivot_table(index="trial", columns="algorithm", values="judged")
    assert (judged["ip"] == judged["mtc"]).all()


def test_ip_takes_the_count_of_mtc_that_is_not_in_the_study(small, arguments, done, tmp_path):
    alone = study(
        small.runs,
        small.qrels,
        **{**arguments, "algorithms": ["ip"]},
        workers=ALONE,
        output=tmp_path,
    )
    expected = done.trials.query("algorithm == 'ip'")["judged"].tolist()
    assert alone.trials["judged"].tolist() == expected
    assert set(alone.trials["algorithm"]) == {"ip"}


def test_ip_has_no_confidence_but_an_accuracy(done):
    summary = done.summary["ip"]
    assert [summary[key] for key in ("W", "bins", "log_score")] == [None] * 3
    assert 0 <= summary["accuracy"] <= 1


def test_a_trial_compares_its_systems_with_the_truth(small, done):
    truth = evaluate(small.runs, small.qrels, "AP", topics="all").mean["AP"]
    true = dict(zip(small.runs.systems, truth, strict=True))
    systems = done.systems
    assert len(systems) == 3 * 3 * 4
    np.testing.assert_allclose(systems["true"], systems["system"].map(true))
    # every algorithm of a trial sees the same systems, and other trials see others
    seen = systems.groupby(["trial", "algorithm"])["system"].agg(tuple)
    for trial in range(3):
        assert seen[trial, "ip"] == seen[trial, "mtc"] == seen[trial, "rtc:map"]
    assert seen[0, "ip"] != seen[1, "ip"]


def test_pairs_follow_from_the_systems(done):
    expected = done.systems.set_index(["trial", "algorithm", "system"])
    for pair in done.pairs.itertuples():
        a = expected.loc[(pair.trial, pair.algorithm, pair.a)]
        b = expected.loc[(pair.trial, pair.algorithm, pair.b)]
        right = np.sign(a["expected"] - b["expected"]) == np.sign(a["true"] - b["true"])
        assert pair.correct == int(right)
        for name, column in (("expected_difference", "expected"), ("true_difference", "true")):
            assert getattr(pair, name) == pytest.approx(a[column] - b[column], abs=1e-12)
    sd = done.pairs.groupby("algorithm")["sd"]
    assert sd.min().drop("ip").gt(0).all()
    assert sd.count()["ip"] == 0
    confidence = done.pairs["confidence"].dropna()
    assert confidence.between(0.5, 1).all()
    assert (done.pairs.groupby(["trial", "algorithm"])["initial"].max() == 2).all()
    assert ((done.pairs["initial"] == 2).groupby([done.pairs["trial"]]).sum() == 3).all()


def test_judgments_are_those_of_build(small, arguments, done):
    plan = Plan(("mtc",), trials=3, n_systems=4, confidence=0.8, seed=arguments["seed"])
    seed = json.loads((done.directory / "trials" / "00002.json").read_text())["seed"]
    pool = Pool.from_runs(small.runs, depth=20)
    draw = draw_systems(pool.systems, plan, seed)
    built = build(pool.select(draw.initial), small.qrels, "mtc", confidence=0.8)
    rows = done.judgments.query("trial == 2 and algorithm == 'mtc'")
    assert rows["judged"].sum() == built.judgments.n_judged
    assert rows["relevant"].tolist() == built.judgments.relevant.tolist()
    assert rows["topic"].tolist() == list(pool.topics)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithms": ()}, "no algorithm"),
        ({"algorithms": ("ip", "ip")}, "twice"),
        ({"algorithms": ("nonsense[",)}, "nonsense"),
        ({"trials": 0}, "trials"),
        ({"n_initial": 1}, "n_initial"),
        ({"n_initial": 5, "n_systems": 4}, "n_initial"),
        ({"moments": "other"}, "moments"),
        ({"confidence": 0.5}, "confidence"),
        ({"budgets": (10, 0)}, "budgets is 0"),
        ({"estimand": Estimand(score_depth=50)}, "score_depth is 50; .* at least 100"),
    ],
)
def test_a_plan_refuses(change, message):
    with pytest.raises(InputError, match=message):
        Plan(**{"algorithms": ("ip",), **change})


@pytest.mark.parametrize("text", ["uniform", "rtc", "rtc[cell_weight=.1]:map"])
def test_published_moments(text):
    evaluator = ModelSpec.parse(text)
    assert Plan(("ip",)).moments_of(evaluator) == "plugin"
    assert Plan(("ip",), moments="exact").moments_of(evaluator) == "exact"


def test_moments_are_recorded_where_there_is_a_confidence(done):
    assert done.meta["moments"] == {"mtc": "plugin", "rtc:map": "plugin"}


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """Write a model whose fit fails under a condition; return its name."""
    monkeypatch.chdir(tmp_path)

    def write(condition):
        name = write_model(
            tmp_path / "failing.py", condition, "raise FitError('it did not converge')"
        ).name
        return f"{name}:map"

    return write


def test_a_failed_fit_is_recorded_and_left_out(small, arguments, done, failing, tmp_path):
    """The evaluating fit fails wherever the first trial's number of judgments was made."""
    judged = done.trials.query("algorithm == 'mtc'")["judged"]
    assert judged.nunique() == 3
    text = f"mtc/{failing(f'judgments.n_judged == {judged.iloc[0]}')}"
    mixed = {**arguments, "algorithms": ["mtc", text]}
    finished = study(small.runs, small.qrels, **mixed, workers=ALONE, output=tmp_path / "study")
    assert_same(Study.load(finished.directory), finished)
    mine = finished.trials[finished.trials["algorithm"] == text]
    assert mine["failure"].isna().tolist() == [False, True, True]
    failed = mine.iloc[0]
    assert (failed["judged"], failed["reason"]) == (judged.iloc[0], "failed fit")
    assert "it did not converge" in failed["failure"]
    assert failed[["confidence", "tau", "seconds_evaluating", "remarks"]].isna().all()
    for table in ("pairs", "systems"):
        rows = getattr(finished, table)
        assert set(rows.loc[rows["algorithm"] == text, "trial"]) == {1, 2}
    kept = finished.judgments.query("trial == 0")
    assert kept.groupby("algorithm")["judged"].sum().tolist() == [judged.iloc[0]] * 2
    # the other algorithm is as ever, and this one's scores are those of the rest
    seconds = {"seconds_per_trial": finished.summary["mtc"]["seconds_per_trial"]}
    assert finished.summary["mtc"] == done.summary["mtc"] | seconds
    summary = finished.summary[text]
    assert (summary["trials"], summary["failed"]) == (3, 1)
    assert summary["mean_judged"] == judged.iloc[1:].mean()
    assert summary["mean_tau"] == mine["tau"].mean()
    assert summary["seconds_per_trial"] > 0
    assert finished.tests()["trials"].tolist() == [2]
    assert "1 of 3 trials failed" in repr(finished)
    page = write_report(finished.directory).read_text(encoding="utf-8")
    assert "Fits failed" in page
    assert "in 1 of 3 trials" in page


@pytest.mark.parametrize("algorithms", [["{}"], ["mtc", "{}"], ["mtc", "mtc/{}"]])
def test_a_study_of_failures_only_has_no_scores(small, arguments, failing, tmp_path, algorithms):
    texts = [text.format(failing("True")) for text in algorithms]
    finished = study(
        small.runs,
        small.qrels,
        **{**arguments, "algorithms": texts, "trials": 2},
        workers=ALONE,
        output=tmp_path / "study",
    )
    summary = finished.summary[texts[-1]]
    assert (summary["trials"], summary["failed"], summary["pairs"]) == (2, 2, 0)
    scores = ("W", "accuracy", "mean_tau", "median_judged", "mean_judged", "seconds_per_trial")
    assert [summary[key] for key in scores] == [None] * 6
    assert "2 of 2 trials failed" in repr(finished)
    assert "it did not converge" in write_report(finished.directory).read_text(encoding="utf-8")


def test_a_study_of_an_earlier_version_is_read(done, tmp_path):
    folder = tmp_path / "earlier"
    shutil.copytree(done.directory, folder)
    meta = json.loads((folder / "meta.json").read_text())
    del meta["kind"], meta["code"]
    (folder / "meta.json").write_text(json.dumps(meta))
    pairs = pd.read_csv(folder / "pairs.csv").iloc[:, :8]
    pairs.to_csv(folder / "pairs.csv", index=False)
    trials = pd.read_csv(folder / "trials.csv").drop(columns="failure")
    trials.to_csv(folder / "trials.csv", index=False)
    (folder / "digests.json").unlink()
    result = Study.load(folder)
    assert len(result.succeeded) == len(done.trials)
    assert result.pairs["sd"].isna().all()
    assert write_report(folder).exists()


@pytest.mark.parametrize(
    ("name", "says", "instead"),
    [
        ("pairs.csv", "0.", "1."),
        ("summary.json", '"W": ', '"W": 1'),
        ("meta.json", '"seed": ', '"seed": 1'),
        ("digests.json", '.csv": "', '.csv": "0'),
    ],
)
def test_a_finished_study_with_other_content_is_refused(done, tmp_path, name, says, instead):
    folder = tmp_path / "changed"
    shutil.copytree(done.directory, folder)
    text = (folder / name).read_text()
    assert says in text
    (folder / name).write_text(text.replace(says, instead))
    with pytest.raises(InputError) as caught:
        Study.load(folder)
    assert caught.value.path == str(folder / name)


def test_confidences_about_whole_lists(small, tmp_path):
    """Lists of 100 documents pooled to 20: what is asked for reaches judging and comparing."""
    options = {
        "algorithms": ["rtc:map"],
        "trials": 2,
        "n_systems": 4,
        "workers": ALONE,
        "seed": 4,
    }
    asked = {"score_depth": 100, "unseen": True, "residual": 0.01}
    plain, about_lists = (
        study(small.runs, small.qrels, estimand=estimand, output=tmp_path / name, **options)
        for name, estimand in {
            "cut": Estimand(scope="pool", depth=20),
            "whole": Estimand(scope="pool", depth=20, **asked),
        }.items()
    )
    assert {name: about_lists.meta["study"][name] for name in asked} == asked
    # a score below the depth can only add, and so does the square of the residual
    pool = Pool.from_runs(small.runs, depth=20)
    deep = Pool.from_runs(small.runs, depth=20, score_depth=100)
    p = np.full(pool.n_documents, 0.3)
    assert (moments(deep, p).mean_expected > moments(pool, p).mean_expected).all()
    assert not np.allclose(about_lists.systems["expected"], plain.systems["expected"])
    assert about_lists.systems["sd"].min() > 0.01


def test_judges_that_differ_in_the_least_judge_apart(small, tmp_path):
    texts = ["uniform[least=0]:map", "uniform[least=2]:map"]
    options = {"trials": 1, "n_systems": 4, "confidence": 0.6, "workers": ALONE, "seed": 3}
    options["estimand"] = Estimand(depth=20)
    done = study(small.runs, small.qrels, algorithms=texts, output=tmp_path / "study", **options)
    few, more = done.trials.set_index("algorithm")["judged"][texts]
    assert few < more == 16
