"""Trials on a Dask cluster: a scheduler and workers, each a process of its own, on loopback."""

from filecmp import cmp

import pytest
from model_files import write_model
from pandas.testing import assert_frame_equal
from waiting import PATIENCE

from rtc_bayes import Estimand, Workers
from rtc_bayes.calibration import Calibration, calibrate
from rtc_bayes.cli import main
from rtc_bayes.collection.simulate import write
from rtc_bayes.errors import UnfinishedError
from rtc_bayes.robustness import study

pytest.importorskip("distributed")

QUICK = {
    "algorithms": ["ip", "mtc"],
    "trials": 8,
    "n_systems": 4,
    "estimand": Estimand(depth=20),
    "confidence": 0.8,
    "seed": 7,
    "command": "test",
}
SECONDS = ["seconds_judging", "seconds_evaluating"]


@pytest.fixture(scope="module")
def two(started):
    return started()


@pytest.fixture(scope="module")
def fragile(started):
    """A cluster on which a trial fails for good with the first worker that it kills."""
    return started(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")


@pytest.fixture(scope="module")
def uninterrupted(small, tmp_path_factory):
    """The study, made by one process."""
    folder = tmp_path_factory.mktemp("whole")
    return study(small.runs, small.qrels, **QUICK, workers=Workers(jobs=1), output=folder)


def assert_same(actual, expected):
    """Hold the files to each other, byte for byte but for the seconds."""
    for name in ("pairs.csv", "systems.csv", "judgments.csv"):
        assert cmp(actual.directory / name, expected.directory / name, shallow=False), name
    assert_frame_equal(
        actual.trials.drop(columns=SECONDS), expected.trials.drop(columns=SECONDS), check_exact=True
    )


def test_a_worker_killed_midway_changes_nothing(two, small, uninterrupted, tmp_path):
    two.have_workers(2)
    calls = []

    def kill(stage, done, total):
        calls.append((done, total))
        if done == 2:
            two.workers[0].kill()

    finished = study(
        small.runs,
        small.qrels,
        **QUICK,
        output=tmp_path,
        workers=Workers(scheduler=two.address, progress=kill),
    )
    assert two.workers[0].wait() < 0
    assert two.workers[1].poll() is None
    # each trial is stored once
    assert calls == [(done, 8) for done in range(9)]
    assert_same(finished, uninterrupted)


def test_calibration(two, small, tmp_path):
    two.have_workers(1)
    arguments = {"model": "rtc:map", "trials": 2, "n_systems": 3, "command": "test"}
    arguments["estimand"] = Estimand(depth=20)
    result = [
        calibrate(small.runs, small.qrels, **arguments, workers=where, output=tmp_path / name)
        for name, where in {"two": Workers(scheduler=two.address), "one": Workers(1)}.items()
    ]
    tables = {**Calibration.tables, **Calibration.derived}
    for name in (*(f"{table}.csv" for table in tables), "calibration.json"):
        assert cmp(*(each.directory / name for each in result), shallow=False), name


def test_a_trial_that_its_workers_die_of(fragile, small, tmp_path):
    """It ends the study, which joblib's backend for Dask would wait for."""
    fragile.have_workers(1)
    model = write_model(tmp_path / "deadly.py", "True", "os._exit(9)")
    deadly = {**QUICK, "algorithms": [f"mtc/{model}"]}
    with pytest.raises(UnfinishedError, match=r"workers died of one task.*0 of 8 trials"):
        study(
            small.runs,
            small.qrels,
            **deadly,
            workers=Workers(scheduler=fragile.address),
            output=tmp_path / "study",
        )
    assert fragile.workers[0].wait(PATIENCE) == 9


def test_a_lost_scheduler_keeps_what_is_stored(fragile, small, uninterrupted, tmp_path):
    fragile.have_workers(1)

    def kill(stage, done, total):
        if done == 3:
            fragile.scheduler.kill()

    arguments, workers = (
        (small.runs, small.qrels),
        Workers(scheduler=fragile.address, progress=kill),
    )
    with pytest.raises(UnfinishedError, match=r"scheduler at .* was lost; 3 of 8 trials"):
        study(*arguments, **QUICK, workers=workers, output=tmp_path)
    assert_same(study(*arguments, **QUICK, workers=Workers(jobs=1), output=tmp_path), uninterrupted)


@pytest.mark.parametrize(
    "command",
    ["robustness --algorithms mtc --systems 3", "calibrate --systems 3", "compare --model rtc:map"],
)
def test_commands_take_a_scheduler(small, command, tmp_path, capsys):
    write(small, tmp_path)
    inputs = [str(tmp_path / "runs"), f"--qrels={tmp_path / 'qrels.txt'}"]
    options = ["--scheduler=here", f"--output={tmp_path / 'out'}", "--quiet"]
    assert main([*command.split(), *inputs, *options]) == 2
    assert capsys.readouterr().err == (
        "rtc-bayes: cannot use the scheduler 'here'; write dask://HOST:PORT\n"
    )
