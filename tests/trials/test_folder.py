"""What stands in a study's folder is checked: other trials, damaged ones, and other studies."""

import json
import os
import re
import shutil
import signal

import pytest

import rtc_bayes.calibration
import rtc_bayes.robustness
from rtc_bayes import CollectionWarning, Estimand, InputError, UnfinishedError, Workers, simulate
from rtc_bayes.calibration import CalibrationStudy, calibrate
from rtc_bayes.report import write_report
from rtc_bayes.robustness import Study, demo, study
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials import Plan, draw_systems, folder as study_folder

ARGUMENTS = {
    "algorithms": ["mtc"],
    "trials": 2,
    "n_systems": 3,
    "estimand": Estimand(depth=10),
    "seed": 5,
    "workers": Workers(jobs=1),
}
DAMAGED = ("", "[]", "null", "{}", "3", '{"trial": ', '"text"', "[" * 100_000, "9" * 5000)


@pytest.fixture(scope="module")
def made():
    return simulate(n_topics=3, n_systems=4, seed=1)


@pytest.fixture(scope="module")
def finished(made, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return study(made.runs, made.qrels, output=folder, **ARGUMENTS)


@pytest.fixture
def unfinished(finished, tmp_path):
    """A study that lacks its summary, and so is looked at again."""
    folder = tmp_path / "study"
    shutil.copytree(finished.directory, folder)
    (folder / "summary.json").unlink()
    return folder


def again(made, folder, **changed):
    return study(made.runs, made.qrels, output=folder, **ARGUMENTS | changed)


def test_a_folder_of_other_files_is_left_alone(made, tmp_path):
    (tmp_path / "report.html").write_text("mine")
    for begin in (again, lambda _, folder: demo(folder, trials=1, workers=Workers(jobs=1))):
        with pytest.raises(InputError, match=r"holds files, as report\.html, and no study"):
            begin(made, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_study_goes_on_with_more_trials(made, finished, tmp_path):
    """As if they had been asked for at first; and back to fewer."""
    folder = tmp_path / "more"
    shutil.copytree(finished.directory, folder)
    stored = (folder / "trials" / "00001.json").stat().st_mtime_ns
    more = again(made, folder, trials=3)
    assert (folder / "trials" / "00001.json").stat().st_mtime_ns == stored
    afresh = again(made, tmp_path / "afresh", trials=3)
    columns = [name for name in more.trials if "seconds" not in name]
    assert more.trials[columns].equals(afresh.trials[columns])
    assert more.pairs.equals(afresh.pairs)
    assert len(Study.load(folder).trials) == 3
    with pytest.warns(
        CollectionWarning, match="holds 3 trials, and its tables are now of the first 2"
    ):
        fewer = again(made, folder)
    assert fewer.pairs.equals(finished.pairs)
    assert repr(Study.load(folder)).startswith("Study(2 trials")


def test_a_folder_with_trials_of_no_study_is_refused(made, unfinished):
    (unfinished / "meta.json").unlink()
    with pytest.raises(InputError, match=r"holds trials, but no meta\.json"):
        again(made, unfinished, seed=6)


def test_trials_of_another_seed_are_refused(made, finished, tmp_path):
    """Those of a finished study under the meta.json of another."""
    with pytest.raises(KeyboardInterrupt):
        again(made, tmp_path, seed=6, workers=Workers(1, progress=interrupt))
    shutil.copytree(finished.directory / "trials", tmp_path / "trials", dirs_exist_ok=True)
    with pytest.raises(InputError, match=r"00000\.json: is of another seed.*; delete it and run"):
        again(made, tmp_path, seed=6)


def interrupt(*call):
    raise KeyboardInterrupt


def test_a_trial_copied_over_another_is_refused(made, unfinished):
    trials = unfinished / "trials"
    shutil.copy(trials / "00000.json", trials / "00001.json")
    with pytest.raises(InputError, match=r"00001\.json: is of another trial: 0 there, 1 here"):
        again(made, unfinished)


def test_the_same_trial_of_another_plan_is_refused(made, unfinished, tmp_path):
    other = again(made, tmp_path / "other", estimand=Estimand("P@5", depth=10))
    shutil.copy(other.directory / "trials" / "00001.json", unfinished / "trials" / "00001.json")
    with pytest.raises(InputError, match=r"00001\.json: is of another study"):
        again(made, unfinished)


def delete_keys(content):
    del content["tables"]["pairs"]["a"]


def change_number(content):
    content["tables"]["pairs"]["confidence"][0] = 0.5


def put_text(content):
    content["tables"]["trials"]["judged"][0] = "many"


def put_nan(content):
    content["tables"]["trials"]["judged"][0] = float("nan")


@pytest.mark.parametrize("damage", [delete_keys, change_number, put_text, put_nan])
def test_a_changed_trial_is_refused(made, unfinished, damage):
    path = unfinished / "trials" / "00001.json"
    content = json.loads(path.read_text())
    damage(content)
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"00001\.json: is damaged.*; delete it and run again"):
        again(made, unfinished)
    path.unlink()
    again(made, unfinished)


@pytest.mark.parametrize("text", DAMAGED, ids=lambda text: text[:10])
def test_a_damaged_file_is_named(made, unfinished, text):
    for name in ("trials/00001.json", "meta.json"):
        path = unfinished / name
        sound = path.read_text()
        path.write_text(text)
        with pytest.raises(InputError, match=rf"{path.name}.*; delete .* and run again"):
            again(made, unfinished)
        path.write_text(sound)
    again(made, unfinished)
    for name in ("summary.json", "meta.json", "pairs.csv"):
        path = unfinished / name
        sound = path.read_text()
        path.write_text(text)
        with pytest.raises(InputError, match=rf"{path.name}.*; delete it and run again"):
            Study.load(unfinished)
        path.write_text(sound)


@pytest.mark.parametrize("number", ["x", "9" * 400])
def test_what_is_no_number_in_a_table_is_named(finished, tmp_path, number):
    shutil.copytree(finished.directory, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "trials.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1].replace("0,mtc", f"{number},mtc"), *lines[2:]]))
    with pytest.raises(InputError, match=r"trials\.csv: is no table of a study"):
        Study.load(tmp_path)


def test_a_damaged_array_is_named(made, tmp_path):
    options = {name: value for name, value in ARGUMENTS.items() if name != "algorithms"}
    arguments = {**options, "model": "rtc:map", "output": tmp_path}
    calibrate(made.runs, made.qrels, **arguments)
    (tmp_path / "calibration.json").unlink()
    array = tmp_path / "trials" / "00001.npz"
    array.write_bytes(array.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"00001\.npz: is damaged or missing; delete 00001\.json"):
        calibrate(made.runs, made.qrels, **arguments)
    (tmp_path / "trials" / "00001.json").unlink()
    assert calibrate(made.runs, made.qrels, **arguments).summary["trials"] == 2


def test_other_code_may_not_finish_a_study(made, unfinished, monkeypatch):
    monkeypatch.setattr("rtc_bayes.trials.running.digest_code", lambda: "other")
    with pytest.raises(InputError, match="holds a study with other code"):
        again(made, unfinished)


def test_other_versions_of_packages_may_not_go_on_with_a_study(made, unfinished, monkeypatch):
    before = json.loads((unfinished / "meta.json").read_text())
    numpy = before["packages"]["numpy"]
    other = before | {"packages": before["packages"] | {"numpy": "9.9"}}
    monkeypatch.setattr("rtc_bayes.trials.running.provenance", lambda *_: other)
    said = rf"other version of numpy: {re.escape(numpy)} there, 9\.9 here; resume with the same, or"
    with pytest.raises(InputError, match=said):
        again(made, unfinished, trials=3)
    assert json.loads((unfinished / "meta.json").read_text()) == before


def test_a_study_that_names_no_packages_is_read(finished, tmp_path):
    shutil.copytree(finished.directory, tmp_path, dirs_exist_ok=True)
    meta = json.loads((tmp_path / "meta.json").read_text())
    del meta["packages"]
    (tmp_path / "meta.json").write_text(json.dumps(meta))
    assert Study.load(tmp_path).pairs.equals(finished.pairs)


def test_the_digest_of_the_code_is_of_what_decides_numbers(tmp_path, monkeypatch):
    digest = study_folder.digest_code.__wrapped__
    before = digest()
    package = tmp_path / "rtc_bayes"
    shutil.copytree(study_folder.package_folder(), package)
    monkeypatch.setattr(study_folder, "package_folder", lambda: package)
    assert digest() == before
    (package / "report" / "html.py").write_text("# shows numbers\n")
    assert digest() == before
    (package / "trials" / "plan.py").write_text("# decides them\n")
    assert digest() != before


def test_kinds_are_told_apart(finished):
    with pytest.raises(InputError, match=r"holds a robustness study; read it by Study\.load"):
        CalibrationStudy.load(finished.directory)


def test_an_unknown_kind(finished, tmp_path):
    shutil.copytree(finished.directory, tmp_path, dirs_exist_ok=True)
    meta = json.loads((tmp_path / "meta.json").read_text())
    (tmp_path / "meta.json").write_text(json.dumps(meta | {"kind": "mine"}))
    with pytest.raises(InputError, match=r"meta\.json: no kind of study is named 'mine'; read"):
        write_report(tmp_path)


def test_the_signal_to_terminate_says_what_is_kept(made, tmp_path):
    def terminate(stage, done, total):
        if done == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt, match="1 of 2 trials are stored"):
        again(made, tmp_path, workers=Workers(1, progress=terminate))
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert again(made, tmp_path).summary["mtc"]["trials"] == 2


def test_workers_that_are_lost(made, tmp_path, monkeypatch):
    def lose(*arguments):
        raise MemoryError

    monkeypatch.setattr("rtc_bayes.trials.folder.StudyFolder.store", lose)
    with pytest.raises(UnfinishedError, match=r"memory ran out; .*; 0 of 2 trials are stored"):
        again(made, tmp_path)


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("depth", "Estimand(depth="),
        ("unseen", "Estimand(unseen="),
        ("jobs", "Workers(jobs="),
        ("progress", "Workers(progress="),
    ],
)
@pytest.mark.parametrize("function", [study, calibrate, demo])
def test_words_of_before_are_answered(function, word, remedy):
    with pytest.raises(InputError) as error:
        function(**{word: 1})
    assert remedy in str(error.value)


@pytest.mark.parametrize(
    ("module", "name", "now"),
    [
        (rtc_bayes.robustness, "Design", "rtc_bayes.trials.Plan"),
        (rtc_bayes.robustness, "scores", "rtc_bayes.trials.scores"),
        (rtc_bayes.calibration, "is_calibration", "rtc_bayes.trials.load_study"),
        (rtc_bayes.calibration, "Scores", "rtc_bayes.calibration.ReliabilityScores"),
    ],
)
def test_names_of_before_are_answered(module, name, now):
    with pytest.raises(InputError, match=f"has no {name}; use {now}"):
        getattr(module, name)
    with pytest.raises(AttributeError):
        getattr(module, name + "_")


def test_counts_are_stored_under_the_keys_of_earlier_studies(finished):
    stored = finished.meta["study"]
    assert (stored["systems"], stored["initial"]) == (3, 2)
    assert not {"n_systems", "n_initial"} & set(stored)


def test_a_study_does_not_go_on_with_other_files_of_its_models(made, tmp_path):
    scores = tmp_path / "scores.txt"
    lines = [f"{topic} {docno}" for topic in made.qrels for docno in made.qrels[topic]]
    algorithms = (f"mtc/text_evidence[scores={scores}]:map",)
    scores.write_text("".join(f"{line} {n % 7}\n" for n, line in enumerate(lines)))
    again(made, tmp_path / "study", algorithms=algorithms)
    (tmp_path / "study" / "summary.json").unlink()
    again(made, tmp_path / "study", algorithms=algorithms)
    (tmp_path / "study" / "summary.json").unlink()
    scores.write_text("".join(f"{line} {n % 5}\n" for n, line in enumerate(lines)))
    said = r"study: \S*scores\.txt has changed since the study began; resume with the same, or name"
    with pytest.raises(InputError, match=said):
        again(made, tmp_path / "study", algorithms=algorithms)


def test_chains_and_checks_draw_by_different_seeds(made):
    drawn = draw_systems(made.runs.systems, Plan(("mtc",), n_systems=3), seed=1)
    assert not {*spawn_seeds(drawn.evaluating_seed, 8)} & {*spawn_seeds(drawn.checking_seed, 8)}
