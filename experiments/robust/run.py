"""Run the studies behind docs/results/robust.md.

Usage: python experiments/robust/run.py -o DIR [--studies NAME... --trials 200 --jobs 2]

Needs RTC_BAYES_DATA: a folder with trec8_adhoc/ and robust03/, each with runs/ and qrels.txt.gz.
DIR gets one study a folder, with its report; what was interrupted goes on. Then:

    python experiments/robust/page.py DIR --figures docs/figures > docs/results/robust.md

The studies:

trec8
    The frozen protocol: 200 trials of seed 2007, never drawn before, of the judging algorithms
    and of other models and priors on the judgments of `robust`.
robust03
    The same on Robust 2003, where the priors were chosen: not evidence, but a second collection.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rtc_bayes import read_qrels, read_runs
from rtc_bayes.report import write_report
from rtc_bayes.robustness import study
from rtc_bayes.store import progress_bar

SEED = 2007
JUDGE = "robust:gibbs"
POSTERIOR_MEAN = str(Path(__file__).with_name("posterior_mean.py"))
ALGORITHMS = (
    "ip",
    "mtc",
    "rtc:map",
    "rtc:map/rtc:cut",
    JUDGE,
    f"{JUDGE}/robust[preset=robust03]:gibbs",
    f"{JUDGE}/robust[preset=wide]:gibbs",
    f"{JUDGE}/{POSTERIOR_MEAN}:map",
    f"{JUDGE}/hierarchical:laplace",
)
STUDIES = {"trec8": "trec8_adhoc", "robust03": "robust03"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--studies", nargs="+", choices=list(STUDIES), default=list(STUDIES))
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for name in options.studies:
        data = Path(os.environ["RTC_BAYES_DATA"]) / STUDIES[name]
        with progress_bar() as progress:
            study(
                read_runs(data / "runs"),
                read_qrels(data / "qrels.txt.gz"),
                algorithms=ALGORITHMS,
                trials=options.trials,
                jobs=options.jobs,
                seed=SEED,
                moments="plugin",
                output=options.output / name,
                command=(
                    f"python experiments/robust/run.py -o DIR --studies {name} "
                    f"--trials {options.trials}"
                ),
                progress=progress,
            )
        write_report(options.output / name)


if __name__ == "__main__":
    main()
