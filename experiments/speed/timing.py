"""What the scripts of this folder share: arguments, times, other versions, Markdown.

Nothing here, and nothing that `compared` measures, may need more than an older version of
rtc_bayes has.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

import rtc_bayes as rb

ROOT = Path(__file__).parents[2]
# rtc_bayes is that of the interpreter, the scripts are those of this folder
_ELSEWHERE = """
import json, sys, rtc_bayes
sys.path.insert(0, {root!r})
from experiments.speed.{module} import {work}
print(json.dumps({work}(*{arguments!r})))
"""

type Medians = dict[str, np.ndarray]
"""What was measured, by version: "this" and, if it was measured too, "before"."""


def arguments(doc: str | None, **defaults: int | str | None) -> argparse.Namespace:
    """Read the command line of a script: options by name, with defaults; None is of a text."""
    parser = argparse.ArgumentParser(description=doc)
    for name, value in defaults.items():
        kind = str if value is None else type(value)
        metavar = "PYTHON" if name == "before" else None
        parser.add_argument(f"--{name}", type=kind, default=value, metavar=metavar)
    return parser.parse_args()


def print_head(title: str, doc: str | None) -> None:
    """Print the head of a page: title, what is measured, and how, from a script's docstring."""
    _, usage, measured, *_ = (" ".join(part.split()) for part in (doc or "").split("\n\n"))
    command = usage.removeprefix("Usage: ").partition(" > ")[0]
    print(f"# {title}\n\n{measured}\n\n    {command}\n")


def print_table(columns: str, rows: Iterable[Iterable[object]]) -> None:
    """Print a table, every row as soon as it is measured; columns as ``"one | another"``."""
    print(f"| {columns} |\n|{'---|' * len(columns.split(' | '))}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def median_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Median processor time of all threads; one call warms up."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return float(np.median(seconds))


def moments_seconds(pool: rb.Pool, p: np.ndarray, kind: str, repeats: int = 5, **how) -> float:
    """Median processor time of the moments of all pairs."""
    return median_seconds(lambda: rb.moments(pool, p, moments=kind, **how), repeats)


def clocked[T](work: Callable[[], T]) -> tuple[T, list[float]]:
    """Return what `work` returns, and its seconds: of the clock, and of all threads together."""
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, [time.perf_counter() - clock, time.process_time() - processor]


def elsewhere(
    work: Callable[..., object], *arguments: object, python: str = sys.executable, **variables: str
) -> list[float]:
    """Call a script's function in a process of its own, with environment variables."""
    code = _ELSEWHERE.format(
        root=str(ROOT),
        module=Path(work.__code__.co_filename).stem,
        work=work.__name__,
        arguments=arguments,
    )
    done = subprocess.run(
        [python, "-P", "-c", code], check=True, stdout=subprocess.PIPE, env=os.environ | variables
    )
    return json.loads(done.stdout)


def compared(
    work: Callable[..., object], *arguments: object, before: str | None, turns: int
) -> Medians:
    """Medians of what `work` measures in processes of their own, the versions taking turns.

    `before` is an interpreter that has another version of rtc_bayes.
    """
    pythons = {"this": sys.executable} | ({"before": before} if before else {})
    results = [
        {name: elsewhere(work, *arguments, python=python) for name, python in pythons.items()}
        for _ in range(turns)
    ]
    return {name: np.median([turn[name] for turn in results], axis=0) for name in pythons}


def version_rows(medians: Medians, *digits: int) -> Iterator[list[str]]:
    """Give a row of each version, its numbers with so many digits, and one of their ratios."""
    for name, values in medians.items():
        yield [name, *(f"{x:.{n}f}" for x, n in zip(values, digits, strict=True))]
    if "before" in medians:
        yield ["before / this", *(f"{x:.2f}" for x in medians["before"] / medians["this"])]


def trec8() -> tuple[rb.Runs, Mapping[str, Mapping[str, int]]]:
    """Read the runs and the judgments of TREC-8 from RTC_BAYES_DATA."""
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rb.read_runs(folder / "runs"), rb.read_qrels(folder / "qrels.txt.gz")


def pooled(runs: rb.Runs, depth: int = 100) -> rb.Pool:
    """Pool runs without a word on their short lists."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rb.Pool.from_runs(runs, depth=depth)


def graded(pool: rb.Pool) -> np.ndarray:
    """Probabilities that fall with the ranks: half the mean over systems of 1 / sqrt(rank)."""
    total = np.zeros(pool.n_documents)
    for s in range(pool.n_systems):
        for t in range(pool.n_topics):
            ranking = pool.ranking(s, t)
            total[ranking] += 1.0 / np.sqrt(np.arange(1, len(ranking) + 1))
    return 0.5 * total / pool.n_systems


def peak() -> float:
    """Largest memory of this process so far, in GB.

    That of getrusage can be the parent's: a process that is started takes it over.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
