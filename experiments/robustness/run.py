"""Run the studies behind docs/results/robustness.md: the 2007 experiment on two collections.

Usage: python experiments/robustness/run.py -o DIR [--trials 200 --jobs 2 --seed 0]

Needs RTC_BAYES_DATA: a folder with trec8_adhoc/ and robust03/, each with runs/ and qrels.txt.gz.
DIR gets one study a folder, with its report; what was interrupted goes on. Then:

    python experiments/robustness/page.py DIR > docs/results/robustness.md

The studies:

trec8
    The runs of TREC-8 as they are, with the moments as published.
trec8-exact
    The same with exact moments.
trec8-padded
    As published, every list shorter than 100 documents filled up to 100 with documents that no
    other run has and nobody judges, as the author's released program does. True average precision
    is untouched by nonrelevant documents at the end of a list.
robust03, robust03-exact
    The 17 runs of the Robust track of 2003, 100 topics, where a trial's ten systems are more than
    half of all: trials overlap, so intervals are too narrow.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from rtc_bayes import read_qrels, read_runs
from rtc_bayes.collection import Run, Runs
from rtc_bayes.report import write_report
from rtc_bayes.robustness import study
from rtc_bayes.store import progress_bar

DEPTH = 100
CHOSEN = "rtc[intercept=yes]:map"
"""The smoothing that Robust 2003 chose: see smoothing.py."""

ALGORITHMS = ("ip", "mtc", "mtc[weight=evr]", "rtc:map", CHOSEN)
STUDIES = {
    "trec8": ("trec8_adhoc", "published", False),
    "trec8-exact": ("trec8_adhoc", "exact", False),
    "trec8-padded": ("trec8_adhoc", "published", True),
    "robust03": ("robust03", "published", False),
    "robust03-exact": ("robust03", "exact", False),
}


def pad(runs: Runs, depth: int) -> Runs:
    """Fill every list of every topic up to `depth` with documents of the system's own."""
    padded = []
    for run in runs.values():
        lists = {}
        for topic in runs.topics:
            docnos, scores = run.ranking(topic), run.scores(topic)
            missing = max(0, depth - len(docnos))
            phantoms = np.array([f"phantom-{run.tag}-{n}" for n in range(missing)], dtype=object)
            below = scores.min(initial=0.0) - 1.0 - np.arange(missing)
            lists[topic] = (np.append(docnos, phantoms), np.append(scores, below))
        padded.append(Run(run.tag, lists))
    return Runs(padded)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--studies", nargs="+", choices=list(STUDIES), default=list(STUDIES))
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in options.studies:
        folder, moments, padded = STUDIES[name]
        data = Path(os.environ["RTC_BAYES_DATA"]) / folder
        runs = read_runs(data / "runs")
        with progress_bar() as progress:
            study(
                pad(runs, DEPTH) if padded else runs,
                read_qrels(data / "qrels.txt.gz"),
                algorithms=ALGORITHMS,
                trials=options.trials,
                jobs=options.jobs,
                seed=options.seed,
                moments=moments,
                depth=DEPTH,
                output=options.output / name,
                command=(
                    "python experiments/robustness/run.py -o DIR "
                    f"--studies {name} --trials {options.trials} --seed {options.seed}"
                ),
                progress=progress,
            )
        write_report(options.output / name)


if __name__ == "__main__":
    main()
