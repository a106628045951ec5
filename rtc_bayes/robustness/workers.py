"""Where trials run: on the cores of this machine, or on a Dask cluster.

What a trial needs besides its number and its seed, such as a collection, is megabytes large. It is
packed once, and each worker unpacks it once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from numpy.typing import NDArray

from rtc_bayes.robustness.cluster import compute, connect

if TYPE_CHECKING:
    from distributed import Client

type RunTrial = Callable[[int, int], Any]
"""Runs the trial of a number and a seed."""
type Trials = Iterable[tuple[int, int]]
"""Numbers and seeds."""
type Outcomes = Generator[tuple[int, Any]]
"""Numbers, and what the trials returned, as they end."""

_unpacked: dict[str, RunTrial] = {}


@contextlib.contextmanager
def open_workers(
    jobs: int, scheduler: str | None = None
) -> Iterator[Callable[[RunTrial, Trials], Outcomes]]:
    """Find workers for trials.

    Parameters
    ----------
    jobs : int
        Processes on this machine; -1 for one on every core.
    scheduler : str, optional
        ``dask://HOST:PORT``, of a cluster that takes the place of processes on this machine.

    Yields
    ------
    callable
        What runs trials in them. If they are lost it raises ``BrokenExecutor``.

    Raises
    ------
    InputError
        A cluster that cannot be used: see :func:`rtc_bayes.robustness.cluster.connect`.
    """
    if scheduler is None:
        yield partial(_run_here, jobs)
    else:
        with connect(scheduler) as client:
            yield partial(_run_on_cluster, client)


def _run_here(jobs: int, run: RunTrial, trials: Trials) -> Outcomes:
    packed, digest = _pack(run)
    found = joblib.Parallel(
        n_jobs=jobs,
        backend="loky",
        return_as="generator_unordered",
        # a batch of trials would keep the first from being stored until the last has ended
        batch_size=1,
        initializer=_end_with,
        initargs=(os.getpid(),),
    )(joblib.delayed(_run_packed)(packed, digest, *trial) for trial in trials)
    try:
        for outcome in found:  # noqa: UP028 (`yield from` would close it, with a warning)
            yield outcome
    except BrokenExecutor as error:
        raise BrokenExecutor(
            "a worker process died; if memory ran out, take fewer --jobs"
        ) from error
    finally:
        with warnings.catch_warnings():
            # that trials were begun in vain, if the caller stops here
            warnings.simplefilter("ignore", UserWarning)
            found.close()


def _end_with(parent: int) -> None:
    """End this worker process when its parent is gone: one that was killed could not end it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_on_cluster(client: Client, run: RunTrial, trials: Trials) -> Outcomes:
    packed, digest = _pack(run)
    return compute(client, _run_packed, packed, [(digest, *trial) for trial in trials])


def _pack(run: RunTrial) -> tuple[NDArray[np.uint8], str]:
    """Write what runs a trial as an array, which joblib shares between processes as a file."""
    packed = pickle.dumps(run)
    return np.frombuffer(packed, dtype=np.uint8), hashlib.sha256(packed).hexdigest()


def _run_packed(packed: NDArray[np.uint8], digest: str, trial: int, seed: int) -> tuple[int, Any]:
    """Run a trial in a worker, which keeps what it unpacked last."""
    run = _unpacked.get(digest)
    if run is None:
        run = pickle.loads(packed)
        _unpacked.clear()
        _unpacked[digest] = run
    return trial, run(trial, seed)
