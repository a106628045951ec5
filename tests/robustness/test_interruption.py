"""A study that is killed goes on where it stopped, and ends as if it had not been."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from pandas.testing import assert_frame_equal

from rtc_bayes.cli import main
from rtc_bayes.collection.simulate import write
from rtc_bayes.errors import InputError
from rtc_bayes.robustness import Study
from rtc_bayes.robustness.trial import COLUMNS

TRIALS = 20
PATIENCE = 300.0
PROGRAM = "import sys; from rtc_bayes.cli import main; sys.exit(main(sys.argv[1:]))"


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


def kill_after(command, folder, stored):
    """Start a command as a process group of its own; kill it once it has stored some trials."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, *command], start_new_session=True)
    deadline = time.monotonic() + PATIENCE
    try:
        while len(finished(folder)) < stored:
            assert process.poll() is None, "ended before it could be killed"
            assert time.monotonic() < deadline, "stored nothing"
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL


def finished(folder):
    """The trials that count as finished."""
    return sorted((folder / "trials").glob("[0-9]*.json"))


def without_seconds(found):
    trials = found.trials.drop(columns=["seconds_judging", "seconds_evaluating"])
    summary = {
        text: {key: value for key, value in scores.items() if key != "seconds_per_trial"}
        for text, scores in found.summary.items()
    }
    return {**{name: getattr(found, name) for name in COLUMNS}, "trials": trials}, summary


def test_a_killed_study_ends_as_one_that_was_not(arguments, tmp_path):
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    kill_after([*arguments, "--jobs=2", f"--output={broken}"], broken, stored=2)

    before = {path: path.stat().st_mtime_ns for path in finished(broken)}
    assert 2 <= len(before) < TRIALS
    for path in before:
        assert json.loads(path.read_text())["trial"] == int(path.stem)
    with pytest.raises(InputError, match="no finished study"):
        Study.load(broken)
    # what a process killed while it writes leaves behind
    missing = next(n for n in range(TRIALS) if broken / "trials" / f"{n:05d}.json" not in before)
    (broken / "trials" / f".{missing:05d}.0badcafe.json").write_text('{"trial": ')

    assert main([*arguments, "--jobs=2", f"--output={broken}"]) == 0
    assert main([*arguments, "--jobs=1", f"--output={whole}"]) == 0
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())
    tables, summary = without_seconds(Study.load(broken))
    expected_tables, expected_summary = without_seconds(Study.load(whole))
    for name, expected in expected_tables.items():
        assert_frame_equal(tables[name], expected, check_exact=True)
    assert summary == expected_summary
