"""Reading a track's runs, with and without the cache of parsed runs, and starting up.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.reading [--before PYTHON]

The 129 runs of TREC-8, gzipped, and the pool of them; each row is a process of its own, and times
are medians of three (of seven for starting up), in processor time of one thread. Memory is the peak
of the process. With --before, the Python of an environment that has another version of the library
reads in the same session, each time beside this one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

READ = """
import resource, time, warnings
import rtc_bayes as rb
rb.Run
warnings.simplefilter("ignore")
start = time.thread_time()
runs = rb.read_runs({folder!r}, depth={depth}, cache={cache!r})
read = time.thread_time()
rb.Pool.from_runs(runs, depth={pooled})
pooled = time.thread_time()
print(read - start, pooled - read, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
print(sum(map(len, runs.values())))
"""
CASES = (
    ("whole lists", None, 1000, False, "4 s, .5 GB"),
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", metavar="PYTHON")
    before = parser.parse_args().before
    print("# Speed of reading and of starting up\n")
    print(" ".join(__doc__.split("\n\n")[2].split()) + "\n")
    print("    RTC_BAYES_DATA=FOLDER python -m experiments.speed.reading [--before PYTHON]\n")
    print("| runs | lines | reading, s | target | pooling, s | peak, GB |")
    print("|---|---|---|---|---|---|")
    folder = str(Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc" / "runs")
    with tempfile.TemporaryDirectory() as cache:
        for name, depth, pooled, kept, target in CASES:
            code = READ.format(
                folder=folder, depth=depth, pooled=pooled, cache=cache if kept else None
            )
            if kept:
                run(code)
            rows: dict[str, list[list[float]]] = {}
            for _ in range(3):
                for python in (
                    (before, sys.executable) if before and not kept else (sys.executable,)
                ):
                    rows.setdefault(python, []).append(run(code, python))
            for python, measured in rows.items():
                columns = zip(*measured, strict=True)
                read, pooling, peak, lines = (statistics.median(column) for column in columns)
                version = ", version before" if python == before else ""
                print(
                    f"| {name}{version} | {lines:,.0f} | {read:.2f} | {'' if version else target} "
                    f"| {pooling:.2f} | {peak:.2f} |",
                    flush=True,
                )
    print("\n| command | s of processor time | target |")
    print("|---|---|---|")
    for name, command, target in STARTS:
        print(
            f"| `{name}` | {statistics.median(started(command) for _ in range(7)):.2f} | {target} |"
        )


def run(code: str, python: str = sys.executable) -> list[float]:
    environment = {name: value for name, value in os.environ.items() if name != "RTC_BAYES_CACHE"}
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return [float(number) for number in done.stdout.split()]


def started(command: list[str]) -> float:
    """Processor time of a command, with that of what it starts."""
    before = os.times()
    subprocess.run(command, capture_output=True, check=True)
    after = os.times()
    return (
        after.children_user
        + after.children_system
        - (before.children_user + before.children_system)
    )


if __name__ == "__main__":
    main()
