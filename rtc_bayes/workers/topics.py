"""Work that is done topic by topic, its results taken in the order of the topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from typing import Any

from joblib import Parallel, delayed

from rtc_bayes.errors import UnfinishedError
from rtc_bayes.workers.cluster import compute_in_order, connect


def each_topic[T](
    work: Callable[..., T],
    calls: Iterable[tuple[Any, ...]],
    *,
    jobs: int,
    scheduler: str | None,
) -> Iterator[T]:
    """Work on every topic.

    Parameters
    ----------
    work : callable
        To be pickled, for a cluster.
    calls : iterable of tuple
        Its arguments, the topic's number first. They are asked for when they are soon to be used,
        so that no more topics are in memory than are worked on, and a few.
    jobs : int
        Topics at a time, in threads, which share what `work` holds; -1 for one on every core.
    scheduler : str or None
        ``dask://HOST:PORT``, of a cluster that takes the place of threads.

    Yields
    ------
    object
        What `work` returned, in order.

    Raises
    ------
    InputError
        A cluster that cannot be used: see :func:`rtc_bayes.workers.cluster.connect`.
    UnfinishedError
        The cluster was lost.
    """
    if scheduler is not None:
        try:
            with connect(scheduler) as client:
                yield from compute_in_order(client, work, calls)
        except BrokenExecutor as error:
            raise UnfinishedError(str(error)) from error
    elif jobs == 1:
        for call in calls:
            yield work(*call)
    else:
        tasks = (delayed(work)(*call) for call in calls)
        yield from Parallel(n_jobs=jobs, require="sharedmem", return_as="generator")(tasks)
