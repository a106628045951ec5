"""Damage inputs of every kind, read them, and count what happens.

Usage: python -m experiments.fuzz.run [--inputs 100000] [--jobs 2] [--seed 0] [--only NAME ...]

Each input is either accepted, with as much content as it has, or refused by an InputError that
names its file. Everything else is a failure, which is printed; then the exit status is 1. The same
seed damages the same inputs, whatever the number of jobs.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from experiments.fuzz.targets import TARGETS, Target, quiet
from rtc_bayes.errors import InputError

BATCH = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=[target.name for target in TARGETS])
    options = parser.parse_args()
    chosen = [i for i, t in enumerate(TARGETS) if options.only is None or t.name in options.only]
    every = options.inputs / sum(TARGETS[i].share for i in chosen)
    inputs = {i: math.ceil(every * TARGETS[i].share) for i in chosen}
    batches = [
        (i, options.seed, start, min(BATCH, inputs[i] - start))
        for i in chosen
        for start in range(0, inputs[i], BATCH)
    ]
    start = time.monotonic()
    counts: dict[str, Counter[str]] = {TARGETS[i].name: Counter() for i in chosen}
    failures: list[str] = []
    with ProcessPoolExecutor(options.jobs) as workers:
        for (i, *_), (counted, failed) in zip(batches, workers.map(batch, batches), strict=True):
            counts[TARGETS[i].name] += counted
            failures += failed
    print("| input | accepted | refused | failures |\n|---|---|---|---|")
    for name, of in counts.items():
        print(f"| {name} | {of['accepted']:,} | {of['refused']:,} | {of['failure']:,} |")
    total = sum(of.total() for of in counts.values())
    print(f"\n{total:,} inputs, {len(failures)} failures, {time.monotonic() - start:.0f} s")
    for failure in failures[:20]:
        print(failure, file=sys.stderr)
    sys.exit(bool(failures))


def batch(task: tuple[int, int, int, int]) -> tuple[Counter[str], list[str]]:
    """Try some inputs of one target."""
    i, seed, start, inputs = task
    counted: Counter[str] = Counter()
    failures = []
    # h5netcdf fails again when it closes what it could not open
    sys.unraisablehook = lambda _: None
    with tempfile.TemporaryDirectory() as name:
        TARGETS[i].prepare(Path(name))
        for number in range(start, start + inputs):
            outcome = attempt(TARGETS[i], Path(name), random.Random(f"{seed} {i} {number}"))
            counted[outcome if outcome in ("accepted", "refused") else "failure"] += 1
            if outcome not in ("accepted", "refused"):
                failures.append(f"{TARGETS[i].name} {number}: {outcome}")
    return counted, failures


def attempt(target: Target, folder: Path, generator: random.Random) -> str:
    """Return "accepted", "refused", or what is wrong."""
    read, path = target.work(folder, generator)
    try:
        target.check(folder, quiet(read))
    except InputError as error:
        if path and error.path != path:
            return f"does not name its file: {error}"
        return "refused" if error.remedy and len(str(error)) < 600 else f"unhelpful: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "accepted"


if __name__ == "__main__":
    main()
