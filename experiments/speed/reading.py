"""Reading a track's runs, with and without the cache of parsed runs, and starting up.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.reading [--before PYTHON]
       > docs/results/speed-reading.md

The 129 runs of TREC-8, gzipped, and the pool of them; each row is a process of its own, and times
are medians of three (of seven for starting up), in processor time of one thread. Memory is the peak
of the process. With --before, the Python of an environment that has another version of the library
reads in the same session, each time beside this one.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import rtc_bayes as rb
from experiments.speed import timing

# as every command pools: to depth 100, knowing where whole lists have these documents
# runs, depth that is read, depth of the pool, whether the cache holds them, target
CASES = (
    ("whole lists", None, 1000, False, "4 s, .5 GB"),
    ("whole lists, pool of depth 100", None, 100, False, "pooling 1 s"),
    ("first 100", 100, 100, False, "4 s"),
    ("whole lists, kept before", None, 1000, True, "1 s"),
    ("first 100, kept before", 100, 100, True, "1 s"),
)
STARTS = (
    ("python -c pass", [sys.executable, "-c", "pass"], ""),
    ("import rtc_bayes", [sys.executable, "-c", "import rtc_bayes"], "0.2"),
    ("rtc-bayes --help", [str(Path(sys.executable).with_name("rtc-bayes")), "--help"], "0.5"),
)


def main() -> None:
    options = timing.arguments(__doc__, before=None, turns=3)
    timing.print_head("Speed of reading and of starting up", __doc__)
    columns = "runs | target | version | lines | reading, s | pooling, s | peak, GB"
    timing.print_table(columns, cases(options.before, options.turns))
    print()
    timing.print_table(
        "command | s of processor time | target",
        (
            (f"`{name}`", f"{statistics.median(started(command) for _ in range(7)):.2f}", target)
            for name, command, target in STARTS
        ),
    )


def cases(before: str | None, turns: int) -> Iterator[list[str]]:
    """Read in every way; another version only where nothing was kept, as caches are its own."""
    os.environ.pop("RTC_BAYES_CACHE", None)
    with tempfile.TemporaryDirectory() as folder:
        for name, depth, pool_depth, kept, target in CASES:
            cache = folder if kept else None
            if kept:
                timing.elsewhere(measured, depth, pool_depth, cache)
            medians = timing.compared(
                measured, depth, pool_depth, cache, before=None if kept else before, turns=turns
            )
            for row in timing.version_rows(medians, 0, 2, 2, 2):
                yield [name, target, *row]


def measured(depth: int | None, pool_depth: int, cache: str | None) -> list[float]:
    """Lines, seconds of reading and of pooling, and the peak of memory in GB."""
    warnings.simplefilter("ignore")
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc" / "runs"
    start = time.thread_time()
    runs = rb.read_runs(folder, depth=depth, cache=cache)
    read = time.thread_time()
    rb.Pool.from_runs(runs, depth=pool_depth)
    return [sum(map(len, runs.values())), read - start, time.thread_time() - read, timing.peak()]


def started(command: list[str]) -> float:
    """Processor time of a command, with that of what it starts."""
    before = os.times()
    subprocess.run(command, capture_output=True, check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


if __name__ == "__main__":
    main()
