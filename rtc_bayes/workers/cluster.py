"""Calling a function many times on the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

import rtc_bayes
from rtc_bayes.errors import InputError
from rtc_bayes.workers.packed import Packed, call_packed

if TYPE_CHECKING:
    from distributed import Client, Future

_ADDRESS = re.compile(r"(dask|tcp|tls)(://[^\s/]+:\d+)/?")
_PACKAGE = rtc_bayes.__name__
_SECONDS = 10.0
# calls for each worker that are handed over before the first of them has ended
_AHEAD = 3


@contextlib.contextmanager
def connect(scheduler: str) -> Iterator[Client]:
    """Connect to a cluster whose workers give the same numbers as this process.

    Parameters
    ----------
    scheduler : str
        ``dask://HOST:PORT``, which is ``tcp://HOST:PORT``, or ``tls://HOST:PORT``.

    Raises
    ------
    InputError
        Another form of address, no answer, no workers, or workers that run several tasks in one
        process or have another version of this package. Or `distributed` is not installed.
    """
    match = _ADDRESS.fullmatch(scheduler)
    if match is None:
        raise InputError(f"cannot use the scheduler {scheduler!r}", remedy="write dask://HOST:PORT")
    protocol, place = match.groups()
    address = ("tcp" if protocol == "dask" else protocol) + place
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            "a scheduler needs the package distributed",
            remedy="pip install 'rtc-bayes[cluster]'",
        ) from error

    try:
        # `Client` waits forever for a server of another kind, which may answer anything
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _greet(address)).result()
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except Exception as error:
        raise InputError(
            f"no Dask scheduler answers at {address}", remedy="start one: dask scheduler"
        ) from error
    with _without_log("distributed.client"), client:
        _check_workers(client, address)
        yield client


def compute(
    client: Client, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> Generator[Any]:
    """Call a function on the workers; yield what it returned as the calls end.

    A call whose worker dies is made again on another. This is not joblib's backend for Dask,
    which waits forever once a call has failed for good.

    Parameters
    ----------
    client : Client
    function : callable
        Sent to each worker once.
    calls : iterable of tuple
        Its arguments.

    Raises
    ------
    BrokenExecutor
        The scheduler was lost, a call that its worker dies of, or a worker that came later and
        would not give the same numbers.
    """
    from distributed import as_completed

    submit = _submitter(client, function)
    with _losses(client):
        futures = as_completed([submit(call) for call in calls], loop=client.loop)
        for future in futures:
            yield future.result()
            # or it would be computed again if its worker died
            future.release()


def compute_in_order(
    client: Client, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> Generator[Any]:
    """Call a function on the workers; yield what it returned in the order of the calls.

    Calls are taken a few ahead for every worker, also for those that come later.

    Parameters
    ----------
    client, function, calls
        As in :func:`compute`, which says more.

    Raises
    ------
    BrokenExecutor
        As in :func:`compute`.
    """
    submit = _submitter(client, function)
    with _losses(client):
        yield from in_order(submit, calls, lambda: _AHEAD * len(client.nthreads()))


def in_order(
    submit: Callable[[tuple[Any, ...]], Any],
    calls: Iterable[tuple[Any, ...]],
    ahead: Callable[[], int],
) -> Generator[Any]:
    """Hand over calls, some ahead of the first that is not done; yield results in their order.

    Parameters
    ----------
    submit : callable
        Takes a call; returns its future.
    calls : iterable of tuple
    ahead : callable
        Returns how many, now.
    """
    waiting: deque[Any] = deque()
    for call in calls:
        waiting.append(submit(call))
        if len(waiting) > ahead():
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _submitter(client: Client, function: Callable[..., Any]) -> Callable[[tuple[Any, ...]], Future]:
    """Return what hands a call to the cluster."""
    from dask import config

    packed = Packed.of(function)
    # arguments are as large as they are
    quiet = {"distributed.admin.large-graph-warning-threshold": "1TB"}
    with config.set(quiet):
        # a task, since what is scattered is lost with the workers that hold it
        everywhere = client.submit(np.array, packed.array, pure=False)

    def submit(call: tuple[Any, ...]) -> Future:
        with config.set(quiet):
            return client.submit(
                _call, rtc_bayes.__version__, everywhere, packed.digest, *call, pure=False
            )

    return submit


def _call(version: str, packed: NDArray[np.uint8], *arguments: Any) -> Any:
    """Call a packed function, unless this worker would not give the caller's numbers."""
    from distributed import get_worker

    worker = get_worker()
    try:
        _check_worker(worker.address, worker.state.nthreads, rtc_bayes.__version__, version)
    except InputError as error:
        raise _UnlikeWorkerError(str(error)) from error
    return call_packed(packed, *arguments)


class _UnlikeWorkerError(RuntimeError):
    """A worker that came later and would not give the same numbers."""


@contextlib.contextmanager
def _losses(client: Client) -> Iterator[None]:
    """Say what was lost."""
    from distributed import CancelledError, KilledWorker
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    # a client that gave up on its scheduler has none any more
    address = client.scheduler.address
    try:
        yield
    except _UnlikeWorkerError as error:
        raise BrokenExecutor(str(error)) from error
    except KilledWorker as error:
        raise BrokenExecutor(
            "several workers died of one task; if memory ran out, give each worker more"
        ) from error
    except (CancelledError, ClosedClientError, OSError) as error:
        # a call's own error of the system reaches a client that runs; CommClosedError is one too
        if (
            isinstance(error, OSError)
            and not isinstance(error, CommClosedError)
            and client.status == "running"
        ):
            raise
        raise BrokenExecutor(f"the scheduler at {address} was lost") from error


async def _greet(address: str) -> None:
    """See that a scheduler answers."""
    from distributed import rpc

    async with asyncio.timeout(_SECONDS), rpc(address, timeout=_SECONDS) as scheduler:
        await scheduler.identity()


def _check_workers(client: Client, address: str) -> None:
    """Refuse a cluster without workers, or with one that would not give the same numbers."""
    how = f"dask worker {address} --nthreads 1"
    try:
        client.wait_for_workers(1, timeout=_SECONDS)
    except TimeoutError as error:
        raise InputError(
            f"the scheduler at {address} has no workers", remedy=f"start some: {how}"
        ) from error
    versions = cast("dict[str, Any]", client.get_versions(packages=[_PACKAGE]))["workers"]
    threads = client.nthreads()
    # one that came in between is met by its first call
    for worker in threads.keys() & versions.keys():
        there = versions[worker]["packages"][_PACKAGE]
        _check_worker(worker, threads[worker], there, rtc_bayes.__version__)


def _check_worker(worker: str, threads: int, there: str | None, here: str) -> None:
    if threads != 1:
        # they would share the limit that a trial sets on threads of linear algebra
        raise InputError(
            f"the worker at {worker} runs {threads} tasks at a time",
            remedy="start more workers, each of them with --nthreads 1",
        )
    if there != here:
        raise InputError(
            f"the worker at {worker} has {_PACKAGE} {there or 'not at all'}",
            remedy=f"install {_PACKAGE} {here} there, as here",
        )


@contextlib.contextmanager
def _without_log(name: str) -> Iterator[None]:
    """Keep off standard error what a package logs of losses, which it also raises or makes good."""
    log = logging.getLogger(name)
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
