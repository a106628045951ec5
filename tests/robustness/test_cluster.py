"""Trials on a Dask cluster: a scheduler and workers, each a process of its own, on loopback."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from filecmp import cmp

import pytest
from pandas.testing import assert_frame_equal

import rtc_bayes
from rtc_bayes.calibration import calibrate
from rtc_bayes.calibration.studies import TABLES
from rtc_bayes.cli import main
from rtc_bayes.collection.simulate import write
from rtc_bayes.errors import InputError, UnfinishedError
from rtc_bayes.robustness import cluster, study

pytest.importorskip("distributed")

PATIENCE = 120.0
QUICK = {
    "algorithms": ["ip", "mtc"],
    "trials": 8,
    "systems": 4,
    "depth": 20,
    "confidence": 0.8,
    "seed": 7,
    "command": "test",
}
SECONDS = ["seconds_judging", "seconds_evaluating"]


class Cluster:
    """A scheduler, and as many workers as are asked for."""

    def __init__(self, folder, **settings):
        self._folder = folder
        self._environment = {**os.environ, "DASK_TEMPORARY_DIRECTORY": str(folder), **settings}
        said = folder / "scheduler.json"
        self.workers = []
        place = ("--host", "127.0.0.1", "--port", "0")
        self.scheduler = self._start("scheduler", *place, "--scheduler-file", str(said))
        wait_until(lambda: said.exists() and said.read_text().endswith("}"))
        self.address = json.loads(said.read_text())["address"].replace("tcp", "dask")

    def _start(self, *command):
        log = self._folder / "log.txt"
        with log.open("a") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *command, "--no-dashboard"],
                cwd=self._folder,
                env=self._environment,
                stdout=output,
                stderr=output,
            )

    def have_workers(self, count, *, threads=1):
        """Start what is missing of some workers."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        address = self.address.replace("dask:", "tcp:")
        alone = ("--nthreads", str(threads), "--no-nanny", "--memory-limit", "0")
        while len(self.workers) < count:
            self.workers.append(self._start("worker", address, *alone))

    def end(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """Start clusters, with settings as environment variables; all end with the module."""
    with contextlib.ExitStack() as stack:

        def start(**settings):
            found = Cluster(tmp_path_factory.mktemp("cluster"), **settings)
            stack.callback(found.end)
            return found

        yield start


@pytest.fixture(scope="module")
def two(started):
    return started()


@pytest.fixture(scope="module")
def fragile(started):
    """A cluster on which a trial fails for good with the first worker that it kills."""
    return started(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")


@pytest.fixture(scope="module")
def whole(small, tmp_path_factory):
    """The study, made by one process."""
    folder = tmp_path_factory.mktemp("whole")
    return study(small.runs, small.qrels, **QUICK, jobs=1, output=folder)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS", 0.5)


def assert_same(found, expected):
    """Hold the files to each other, byte for byte but for the seconds."""
    for name in ("pairs.csv", "systems.csv", "judgments.csv"):
        assert cmp(found.directory / name, expected.directory / name, shallow=False), name
    assert_frame_equal(
        found.trials.drop(columns=SECONDS), expected.trials.drop(columns=SECONDS), check_exact=True
    )


def test_a_worker_killed_midway_changes_nothing(two, small, whole, tmp_path):
    two.have_workers(2)
    calls = []

    def kill(stage, done, total):
        calls.append((done, total))
        if done == 2:
            two.workers[0].kill()

    found = study(
        small.runs,
        small.qrels,
        **QUICK,
        scheduler=two.address,
        output=tmp_path,
        progress=kill,
    )
    assert two.workers[0].wait() < 0
    assert two.workers[1].poll() is None
    # each trial is stored once
    assert calls == [(done, 8) for done in range(9)]
    assert_same(found, whole)


def test_calibration(two, small, tmp_path):
    two.have_workers(1)
    arguments = {"model": "rtc:map", "trials": 2, "systems": 3, "depth": 20, "command": "test"}
    found = [
        calibrate(small.runs, small.qrels, **arguments, **where, output=tmp_path / name)
        for name, where in {"two": {"scheduler": two.address}, "one": {"jobs": 1}}.items()
    ]
    for name in (*(f"{table}.csv" for table in TABLES), "calibration.json"):
        assert cmp(*(each.directory / name for each in found), shallow=False), name


DEADLY = """
import os
from dataclasses import dataclass
from typing import ClassVar

from rtc_bayes.relevance import PointEstimate

@dataclass(frozen=True)
class Deadly:
    name: ClassVar[str] = "deadly"
    methods: ClassVar[tuple[str, ...]] = ("map",)
    default_method: ClassVar[str] = "map"

    def map(self, judgments):
        os._exit(9)
"""


def test_a_trial_that_its_workers_die_of(fragile, small, tmp_path):
    """It ends the study, which joblib's backend for Dask would wait for."""
    fragile.have_workers(1)
    (tmp_path / "deadly.py").write_text(DEADLY)
    deadly = {**QUICK, "algorithms": [f"mtc/{tmp_path / 'deadly.py'}"]}
    with pytest.raises(UnfinishedError, match=r"workers died of one trial.*0 of 8 trials"):
        study(
            small.runs, small.qrels, **deadly, scheduler=fragile.address, output=tmp_path / "study"
        )
    assert fragile.workers[0].wait(PATIENCE) == 9


def test_a_lost_scheduler_keeps_what_is_stored(fragile, small, whole, tmp_path):
    fragile.have_workers(1)

    def kill(stage, done, total):
        if done == 3:
            fragile.scheduler.kill()

    arguments = (small.runs, small.qrels)
    with pytest.raises(UnfinishedError, match=r"scheduler at .* was lost; 3 of 8 trials"):
        study(*arguments, **QUICK, scheduler=fragile.address, output=tmp_path, progress=kill)
    assert_same(study(*arguments, **QUICK, jobs=1, output=tmp_path), whole)


def test_a_cluster_of_other_numbers_is_refused(two, monkeypatch):
    two.have_workers(1)
    with monkeypatch.context() as patch:
        patch.setattr(rtc_bayes, "__version__", "9.9")
        with pytest.raises(InputError, match=r"has rtc_bayes 0.*; install rtc_bayes 9.9"):
            connect(two.address)
    two.have_workers(2, threads=2)
    with pytest.raises(InputError, match=r"runs 2 trials at a time; .* --nthreads 1"):
        # it takes a moment to arrive
        wait_until(lambda: connect(two.address))


def connect(address):
    with cluster.connect(address):
        return False


@pytest.mark.usefixtures("impatient")
def test_no_workers(started):
    with pytest.raises(InputError, match=r"no workers; start some: dask worker tcp://127.0.0.1"):
        connect(started().address)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("address", ["dask://127.0.0.1:1", "tcp://nowhere.invalid:8786"])
def test_no_answer(address):
    place = address.partition("://")[2]
    with pytest.raises(InputError, match=f"no Dask scheduler answers at tcp://{place}"):
        connect(address)


@pytest.mark.usefixtures("impatient")
def test_a_server_that_is_no_scheduler():
    refused = pytest.raises(InputError, match="no Dask scheduler answers")
    with socket.create_server(("127.0.0.1", 0)) as server, refused:
        connect(f"dask://127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.parametrize("address", ["127.0.0.1:8786", "dask://127.0.0.1", "http://a:1", ""])
def test_other_addresses_are_refused(address):
    with pytest.raises(InputError, match="write dask://HOST:PORT"):
        connect(address)


@pytest.mark.parametrize("command", ["robustness --algorithms mtc", "calibrate"])
def test_both_commands_take_a_scheduler(small, command, tmp_path, capsys):
    write(small, tmp_path)
    inputs = [str(tmp_path / "runs"), f"--qrels={tmp_path / 'qrels.txt'}"]
    options = ["--systems=3", "--scheduler=here", f"--output={tmp_path / 'study'}", "--quiet"]
    assert main([*command.split(), *inputs, *options]) == 2
    assert capsys.readouterr().err == (
        "rtc-bayes: cannot use the scheduler 'here'; write dask://HOST:PORT\n"
    )


def test_a_scheduler_needs_a_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'rtc-bayes\[cluster\]'"):
        connect("dask://127.0.0.1:8786")
