"""Where trials run: in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import joblib

from rtc_bayes.workers.cluster import compute, connect
from rtc_bayes.workers.packed import Packed, call_packed
from rtc_bayes.workers.place import Workers

if TYPE_CHECKING:
    from distributed import Client

type RunTrial = Callable[[int, int], Any]
"""Runs the trial of a number and a seed."""
type Trials = Iterable[tuple[int, int]]
"""Numbers and seeds."""
type Outcomes = Generator[tuple[int, Any]]
"""Numbers, and what the trials returned, as they end."""


@contextlib.contextmanager
def open_workers(workers: Workers) -> Iterator[Callable[[RunTrial, Trials], Outcomes]]:
    """Find workers for trials.

    Parameters
    ----------
    workers : Workers
        Processes on this machine, or a cluster.

    Yields
    ------
    callable
        What runs trials in them. If they are lost it raises ``BrokenExecutor``.

    Raises
    ------
    InputError
        A cluster that cannot be used: see :func:`rtc_bayes.workers.cluster.connect`.

    Examples
    --------
    >>> from rtc_bayes.workers import Workers, open_workers
    >>> with open_workers(Workers(jobs=1)) as run_all:  # trial 0 with seed 5, trial 1 with seed 7
    ...     sorted(run_all(max, [(0, 5), (1, 7)]))
    [(0, 5), (1, 7)]
    """
    if workers.scheduler is None:
        yield partial(_run_here, workers.jobs)
    else:
        with connect(workers.scheduler) as client:
            yield partial(_run_on_cluster, client)


def _numbered(run: RunTrial, trial: int, seed: int) -> tuple[int, Any]:
    return trial, run(trial, seed)


def _numbered_in(folder: str, run: RunTrial, trial: int, seed: int) -> tuple[int, Any]:
    """Run a trial where relative paths mean what they mean to the caller.

    A process that is kept from a study before stands in the folder of then.
    """
    os.chdir(folder)
    return _numbered(run, trial, seed)


def _run_on_cluster(client: Client, run: RunTrial, trials: Trials) -> Outcomes:
    return compute(client, partial(_numbered, run), trials)


def _run_here(jobs: int, run: RunTrial, trials: Trials) -> Outcomes:
    packed = Packed.of(partial(_numbered_in, os.getcwd(), run))
    outcomes = joblib.Parallel(
        n_jobs=jobs,
        backend="loky",
        return_as="generator_unordered",
        # a batch of trials would keep the first from being stored until the last has ended
        batch_size=1,
        initializer=_end_with,
        initargs=(os.getpid(),),
    )(joblib.delayed(call_packed)(*packed, *trial) for trial in trials)
    try:
        for outcome in outcomes:  # noqa: UP028 (`yield from` would close it, with a warning)
            yield outcome
    except BrokenExecutor as error:
        raise BrokenExecutor(
            "a worker process died; if memory ran out, take fewer --jobs"
        ) from error
    finally:
        with warnings.catch_warnings():
            # that trials were begun in vain, if the caller stops here
            warnings.simplefilter("ignore", UserWarning)
            outcomes.close()


def _end_with(parent: int) -> None:
    """End this worker process when its parent is gone: one that was killed could not end it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
