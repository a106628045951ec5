"""Calling a function many times on the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

import rtc_bayes
from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

_ADDRESS = re.compile(r"(dask|tcp|tls)(://[^\s/]+:\d+)/?")
_PACKAGE = rtc_bayes.__name__
_SECONDS = 10.0


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


def compute[T](
    client: Client,
    function: Callable[..., T],
    shared: NDArray[np.uint8],
    calls: Iterable[tuple[Any, ...]],
) -> Generator[T]:
    """Call a function on the workers; yield what it returns as the calls end.

    A call whose worker dies is made again on another. This is not joblib's backend for Dask,
    which waits forever once a call has failed for good.

    Parameters
    ----------
    client : Client
    function : callable
    shared : ndarray of uint8
        First argument of every call; sent to each worker once.
    calls : iterable of tuple
        Further arguments.

    Raises
    ------
    BrokenExecutor
        The scheduler was lost, or a call that its worker dies of.
    """
    from dask import config
    from distributed import CancelledError, KilledWorker, as_completed
    from distributed.comm import CommClosedError

    with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        # a task, since what is scattered is lost with the workers that hold it
        everywhere = client.submit(np.array, shared, pure=False)
    futures = as_completed(
        [client.submit(function, everywhere, *call, pure=False) for call in calls],
        loop=client.loop,
    )
    try:
        for future in futures:
            yield future.result()
            # or it would be computed again if its worker died
            future.release()
    except KilledWorker as error:
        raise BrokenExecutor(
            "several workers died of one trial; if memory ran out, give each worker more"
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise BrokenExecutor(f"the scheduler at {client.scheduler.address} was lost") from error


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
    for worker, threads in client.nthreads().items():
        if threads != 1:
            # they would share the limit that a trial sets on threads of linear algebra
            raise InputError(
                f"the worker at {worker} runs {threads} trials at a time",
                remedy=f"start more workers, each of them by {how}",
            )
    versions = cast("dict[str, Any]", client.get_versions(packages=[_PACKAGE]))
    for worker, found in versions["workers"].items():
        version = found["packages"][_PACKAGE]
        if version != rtc_bayes.__version__:
            raise InputError(
                f"the worker at {worker} has {_PACKAGE} {version or 'not at all'}",
                remedy=f"install {_PACKAGE} {rtc_bayes.__version__} there, as here",
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
