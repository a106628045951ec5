"""Plug-in moments of all pairs of a track over many draws, by this code and by another version.

Usage: RTC_BAYES_DATA=FOLDER python experiments/speed/all_pairs.py [--before PYTHON]
       > docs/results/speed-all-pairs.md

Average precision of the 129 systems of TREC-8 at depth 100 over 600 draws, two topics at a time.
The draws are probabilities that fall with the ranks, with normal noise on their log-odds; 3000
documents are judged. PYTHON is an interpreter that has the version to compare with; the two take
turns, each in a process of its own. Ends in five minutes on two free cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.special import expit, logit
from timing import graded, peak

import rtc_bayes as rb

DRAWS, JUDGED, JOBS, TURNS, TARGET = 600, 3000, 2, 3, 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", metavar="PYTHON")
    parser.add_argument("--once", action="store_true", help="measure here and print JSON")
    options = parser.parse_args()
    if options.once:
        print(json.dumps(measured()))
        return
    print("# Speed of all pairs over draws\n")
    print(" ".join(__doc__.split("\n\n")[2].split()) + "\n")
    print("    RTC_BAYES_DATA=FOLDER python experiments/speed/all_pairs.py --before PYTHON\n")
    print(f"Medians of {TURNS}; the target is {TARGET} s. Processor time is of all threads.\n")
    print("| version | s | processor time, s | peak memory, GB |")
    print("|---|---|---|---|")
    pythons = {"this": sys.executable} | ({"before": options.before} if options.before else {})
    turns = [{name: in_process(python) for name, python in pythons.items()} for _ in range(TURNS)]
    medians = {name: np.median([turn[name] for turn in turns], axis=0) for name in pythons}
    for name, (wall, processor, memory) in medians.items():
        print(f"| {name} | {wall:.1f} | {processor:.1f} | {memory:.2f} |")
    if options.before:
        ratio = medians["before"] / medians["this"]
        print(f"| before / this | {ratio[0]:.2f} | {ratio[1]:.2f} | {ratio[2]:.2f} |")


def in_process(python: str) -> list[float]:
    command = [python, __file__, "--once"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def measured() -> list[float]:
    """Seconds, processor seconds, and the peak of memory in GB."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = rb.read_runs(Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc" / "runs")
        pool = rb.Pool.from_runs(runs, depth=100)
    rng = np.random.default_rng(0)
    draws = rng.normal(logit(graded(pool)), 0.5, (DRAWS, pool.n_documents))
    expit(draws, out=draws)
    judged = rng.choice(pool.n_documents, JUDGED, replace=False)
    draws[:, judged] = rng.random(JUDGED) < 0.3
    rb.moments(pool, draws[:2], moments="plugin")  # compiles
    wall, processor = time.perf_counter(), time.process_time()
    # older versions have another word for it
    at_once = {"workers": rb.Workers(JOBS)} if hasattr(rb, "Workers") else {"jobs": JOBS}
    rb.moments(pool, draws, moments="plugin", **at_once)
    return [time.perf_counter() - wall, time.process_time() - processor, peak()]


if __name__ == "__main__":
    main()
