"""Work that is done topic by topic, its results taken in the order of the topics."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from typing import Any

from joblib import effective_n_jobs, parallel_config

from rtc_bayes.errors import UnfinishedError
from rtc_bayes.workers.cluster import compute_in_order, connect, in_order
from rtc_bayes.workers.linear_algebra import one_thread
from rtc_bayes.workers.place import Workers


def each_topic[T](
    work: Callable[..., T],
    calls: Iterable[tuple[Any, ...]],
    workers: Workers,
) -> Generator[T]:
    """Work on every topic.

    Parameters
    ----------
    work : callable
        To be pickled, for a cluster.
    calls : iterable of tuple
        Its arguments. They are asked for when they are soon to be used, so that no more topics are
        in memory than are worked on, and a few.
    workers : Workers
        On this machine threads, which share what `work` holds.

    Yields
    ------
    object
        What `work` returned, in order.

    Raises
    ------
    InputError
        A cluster that cannot be used: see :func:`rtc_bayes.workers.cluster.connect`.
    UnfinishedError
        The cluster was lost, or a worker that came later would not give the same numbers.

    Examples
    --------
    >>> list(each_topic(pow, [(2, 3), (3, 2)], Workers(jobs=2)))
    [8, 9]
    """
    if workers.scheduler is not None:
        try:
            with connect(workers.scheduler) as client:
                yield from compute_in_order(client, work, calls)
        except BrokenExecutor as error:
            raise UnfinishedError(str(error)) from error
    elif workers.jobs == 1:
        for call in calls:
            yield work(*call)
    else:
        # not joblib's, which goes on ahead of a caller however slow that is
        with parallel_config(backend="threading"):  # its processes may not begin others
            threads = effective_n_jobs(workers.jobs)
        # beside these, threads of linear algebra on small matrices wait for each other
        with one_thread(), ThreadPoolExecutor(threads) as pool:
            try:
                yield from in_order(lambda call: pool.submit(work, *call), calls, lambda: threads)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
