"""A study that is stopped goes on where it stopped, and ends as if it had not been."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys

import psutil
import pytest
from limits import small_files
from model_files import write_model
from pandas.testing import assert_frame_equal
from waiting import wait_until

from rtc_bayes import Estimand, Workers
from rtc_bayes.cli import main
from rtc_bayes.collection.simulate import write
from rtc_bayes.errors import InputError, UnfinishedError
from rtc_bayes.robustness import Robustness, Study, study
from rtc_bayes.trials import running

TRIALS = 24
PATIENCE = 300.0
# a shell's background jobs, and so their children, ignore interrupts unless told otherwise
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from rtc_bayes import Estimand, Workers
from rtc_bayes.cli import main
sys.exit(main(sys.argv[1:]))
"""
QUICK = {
    "algorithms": ["ip", "mtc"],
    "trials": 3,
    "n_systems": 3,
    "estimand": Estimand(depth=20),
    "confidence": 0.7,
    "command": "test",
}
ALONE = Workers(jobs=1)
KEPT = f"{{}} of {TRIALS} trials are stored, and the same command goes on"


@pytest.fixture(scope="module")
def arguments(small, tmp_path_factory):
    """A command line but for its folder and its number of jobs."""
    folder = tmp_path_factory.mktemp("collection")
    write(small, folder)
    return [
        "robustness",
        str(folder / "runs"),
        f"--qrels={folder / 'qrels.txt'}",
        "--algorithms=ip,mtc",
        f"--trials={TRIALS}",
        "--systems=4",
        "--depth=20",
        "--confidence=0.8",
        "--seed=5",
        "--quiet",
    ]


@pytest.fixture(scope="module")
def uninterrupted(arguments, tmp_path_factory):
    """The study, made in one go by one process."""
    folder = tmp_path_factory.mktemp("whole")
    assert main([*arguments, "--jobs=1", f"--output={folder}"]) == 0
    return Study.load(folder)


@contextlib.contextmanager
def started(command, folder, *, stored):
    """Start a command as a process group of its own; yield it once it has stored some trials."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command, f"--output={folder}"],
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: process.poll() is not None or len(finished(folder)) >= stored, PATIENCE)
        assert process.poll() is None, "ended before it could be stopped"
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def finished(folder):
    """The trials that count as finished."""
    return sorted((folder / "trials").glob("[0-9]*.json"))


def half_written(folder):
    return [path for path in folder.rglob(".*") if path.name != ".lock"]


def assert_same(actual, expected):
    tables, summary = without_seconds(actual)
    expected_tables, expected_summary = without_seconds(expected)
    for name, table in expected_tables.items():
        assert_frame_equal(tables[name], table, check_exact=True)
    assert summary == expected_summary
    assert not half_written(actual.directory)


def without_seconds(finished):
    trials = finished.trials.drop(columns=["seconds_judging", "seconds_evaluating"])
    summary = {
        text: {key: value for key, value in scores.items() if key != "seconds_per_trial"}
        for text, scores in finished.summary.items()
    }
    return {
        **{name: getattr(finished, name) for name in Robustness.tables},
        "trials": trials,
    }, summary


def test_a_killed_study_ends_as_one_that_was_not(arguments, uninterrupted, tmp_path):
    with started([*arguments, "--jobs=2"], tmp_path, stored=2) as process:
        # it only: its workers find out by themselves
        process.kill()
        wait_until(lambda: not members(process.pid), PATIENCE)

    before = {path: path.stat().st_mtime_ns for path in finished(tmp_path)}
    assert 2 <= len(before) < TRIALS
    for path in before:
        assert json.loads(path.read_text())["trial"] == int(path.stem)
    with pytest.raises(InputError, match="no finished study"):
        Study.load(tmp_path)
    # what a process killed while it writes leaves behind
    missing = next(n for n in range(TRIALS) if tmp_path / "trials" / f"{n:05d}.json" not in before)
    (tmp_path / "trials" / f".{missing:05d}.0badcafe.json").write_text('{"trial": ')

    assert main([*arguments, "--jobs=1", f"--output={tmp_path}"]) == 0
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())
    assert_same(Study.load(tmp_path), uninterrupted)


def members(group):
    """The processes of a group, other than those that only wait to be buried."""
    result = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                result.append(process)
    return result


def test_ctrl_c_says_what_is_kept_and_no_process_stays(arguments, uninterrupted, tmp_path):
    with started([*arguments, "--jobs=2"], tmp_path, stored=3) as process:
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        stored = len(finished(tmp_path))
        # a worker that is only starting may say so too
        assert said.splitlines()[-1] == f"rtc-bayes: interrupted; {KEPT.format(stored)}"
        wait_until(lambda: not members(process.pid), PATIENCE)
    assert not half_written(tmp_path)
    assert main([*arguments, "--jobs=1", f"--output={tmp_path}"]) == 0
    assert_same(Study.load(tmp_path), uninterrupted)


def test_a_worker_that_is_killed_is_one_line(arguments, tmp_path, capsys):
    """It is killed, as if memory ran out, once 2 trials are stored, while a trap stands."""
    trap, folder = tmp_path / "trap", tmp_path / "study"
    trap.touch()
    model = write_model(
        tmp_path / "deadly.py",
        f"len(list(Path({str(folder)!r}).glob('trials/[0-9]*.json'))) >= 2"
        f" and Path({str(trap)!r}).exists()",
        "os.kill(os.getpid(), signal.SIGKILL)",
    )
    rest = [argument for argument in arguments if not argument.startswith("--algorithms=")]
    command = [*rest, f"--algorithms=mtc/{model}"]
    assert main([*command, "--jobs=2", f"--output={folder}"]) == 1
    stored = len(finished(folder))
    assert 2 <= stored < TRIALS
    assert capsys.readouterr().err == (
        "rtc-bayes: a worker process died; if memory ran out, take fewer --jobs; "
        f"{KEPT.format(stored)}\n"
    )
    trap.unlink()
    for target in (folder, tmp_path / "whole"):
        assert main([*command, "--jobs=1", f"--output={target}"]) == 0
    assert_same(Study.load(folder), Study.load(tmp_path / "whole"))


def test_a_full_disk_keeps_what_is_stored(small, tmp_path):
    result = []

    def fill(stage, done, total):
        if done == 2:
            disk.enter_context(small_files(1000))

    ended = pytest.raises(UnfinishedError, match=r"00002\.json: .*File too large; .*2 of 3 trials")
    with ended, contextlib.ExitStack() as disk:
        study(small.runs, small.qrels, **QUICK, output=tmp_path, workers=Workers(1, progress=fill))
    assert not half_written(tmp_path)
    count = Workers(1, progress=lambda *n: result.append(n[1]))
    study(small.runs, small.qrels, **QUICK, output=tmp_path, workers=count)
    assert result == [2, 3]


def test_memory_that_ran_out_keeps_what_is_stored(small, tmp_path, monkeypatch):
    run_trial = running.run_trial

    def greedy(kind, plan, collection, number, seed):
        if number == 2:
            raise MemoryError
        return run_trial(kind, plan, collection, number, seed)

    monkeypatch.setattr(running, "run_trial", greedy)
    with pytest.raises(UnfinishedError, match=r"memory ran out; .* 2 of 3 trials are stored"):
        study(small.runs, small.qrels, **QUICK, output=tmp_path, workers=ALONE)


def test_it_may_be_stopped_at_any_file(small, tmp_path, monkeypatch):
    """Every file is not written once, for a full disk, and then interrupted once it stands."""
    expected = study(small.runs, small.qrels, **QUICK, output=tmp_path / "whole", workers=ALONE)
    stopped = set()
    replace = os.replace

    def stop_once(source, target):
        full, interrupted = ("full", target.name), ("interrupted", target.name)
        if full not in stopped:
            stopped.add(full)
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)
        if interrupted not in stopped:
            stopped.add(interrupted)
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop_once)
    folder = tmp_path / "stopped"
    attempts = 0
    result = None
    while result is None:
        attempts += 1
        assert attempts < 100
        with contextlib.suppress(UnfinishedError, KeyboardInterrupt):
            result = study(small.runs, small.qrels, **QUICK, output=folder, workers=ALONE)
        assert not half_written(folder)
    assert_same(result, expected)
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    assert attempts - 1 == len(stopped) == 2 * len(files)
