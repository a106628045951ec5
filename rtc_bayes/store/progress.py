"""Progress as a plain function, so that the code that works need not know who is looking."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

type Progress = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)``; a stage is known by its text."""

# seconds before the first line where there is no terminal, and between lines
_FIRST_LINE, _BETWEEN_LINES = 2.0, 10.0


def silent(stage: str, done: int, total: int) -> None:
    """Show nothing: the default :data:`Progress`.

    Examples
    --------
    >>> silent("trials", 1, 10)
    """


@contextlib.contextmanager
def progress_bar(quiet: bool = False, *, after: float = 0.0) -> Iterator[Progress]:
    """Show one bar per stage on standard error, with the time taken and the time left.

    Where standard error is no terminal, a line now and then: at once where nothing is done yet of
    the first stage, else after 2 seconds, then every 10.

    Parameters
    ----------
    quiet : bool
        Show nothing at all.
    after : float
        Seconds before the first bar appears, so that short work shows none.

    Yields
    ------
    Progress
        The function to call.

    Examples
    --------
    >>> with progress_bar(quiet=True) as progress:
    ...     for done in range(1, 4):
    ...         progress("trials", done, 3)
    """
    if quiet:
        yield silent
        return
    if not sys.stderr.isatty():
        yield _lines(time.monotonic() + max(after, _FIRST_LINE), says_begin=not after)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress as Bars,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    tasks: dict[str, TaskID] = {}
    begin = time.monotonic() + after

    def show(stage: str, done: int, total: int) -> None:
        if not tasks and time.monotonic() < begin:
            return
        if stage not in tasks:
            bars.start()
            tasks[stage] = bars.add_task(stage, total=total)
        bars.update(tasks[stage], completed=done, total=total)

    try:
        yield show
    finally:
        if tasks:
            bars.stop()


def _lines(due: float, *, says_begin: bool) -> Progress:
    """Write a line when one is due, at a time of the monotonic clock, and where one has an end.

    Also, if asked to, where the first stage begins, with nothing done yet.
    """
    begun = ""

    def show(stage: str, done: int, total: int) -> None:
        nonlocal due, begun, says_begin
        begins, says_begin = says_begin and done == 0, False
        ends = stage == begun and done == total
        if begins or ends or time.monotonic() >= due:
            due = time.monotonic() + _BETWEEN_LINES
            begun = "" if done == total else stage
            print(f"{stage}: {done} of {total}", file=sys.stderr, flush=True)

    return show


@contextlib.contextmanager
def announced(stage: str, quiet: bool = False) -> Iterator[None]:
    """Write a line on standard error now and then while something works that reports nothing.

    Parameters
    ----------
    stage : str
        What is being done.
    quiet : bool
        Show nothing at all.

    Examples
    --------
    >>> with announced("fitting", quiet=True):
    ...     total = sum(range(1000))
    """
    done = threading.Event()

    def tell() -> None:
        begin, wait = time.monotonic(), _FIRST_LINE
        while not done.wait(wait):
            passed = time.monotonic() - begin
            print(f"{stage}: {passed:.0f} s so far", file=sys.stderr, flush=True)
            wait = _BETWEEN_LINES

    teller = threading.Thread(target=tell, daemon=True)
    if not quiet:
        teller.start()
    try:
        yield
    finally:
        done.set()
        if not quiet:
            teller.join()
