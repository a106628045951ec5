"""Choose RTC's smoothing on Robust 2003, so that nothing is tuned on TREC-8.

Usage: python -m experiments.robustness.smoothing -o DIR [--trials 100 --jobs 2 --seed 0]
       > docs/results/smoothing-robust03.md

Needs RTC_BAYES_DATA: a folder with robust03/runs and robust03/qrels.txt.gz. The paper chose its
smoothing on one collection as well (TREC 4). The choice is by the log score, which is proper: W
alone goes on rising as smoothing grows, until the model knows nothing and is never wrong.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pandas as pd

from rtc_bayes import Workers, read_qrels, read_runs
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.robustness import study
from rtc_bayes.store import progress_bar

CELL_WEIGHTS = ("0.1", "0.3", "1", "3", "10")
CANDIDATES = (
    *(f"rtc[cell_weight={w}]:map" for w in CELL_WEIGHTS),
    *(f"rtc[cell_weight={w},intercept=yes]:map" for w in CELL_WEIGHTS),
    "rtc[smoothing=platt]:map",
    "rtc[smoothing=beta]:map",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    data = Path(os.environ["RTC_BAYES_DATA"]) / "robust03"
    command = (
        "python -m experiments.robustness.smoothing -o DIR "
        f"--trials {options.trials} --seed {options.seed}"
    )
    with progress_bar() as progress:
        done = study(
            read_runs(data / "runs"),
            read_qrels(data / "qrels.txt.gz"),
            algorithms=CANDIDATES,
            trials=options.trials,
            seed=options.seed,
            output=options.output,
            command=command,
            workers=Workers(options.jobs, progress=progress),
        )
    frame = pd.DataFrame(
        [
            {"algorithm": text}
            | {
                key: summary[key]
                for key in ("log_score", "W", "accuracy", "mean_confidence", "mean_tau")
            }
            | {"median_judged": summary["median_judged"]}
            for text, summary in done.summary.items()
        ]
    ).sort_values("log_score")
    formats = dict.fromkeys(["log_score", "accuracy", "mean_confidence", "mean_tau"], ".3f")
    print("# Smoothing, chosen on Robust 2003\n")
    print(f"`{command}`\n")
    print("Two initial systems to 95%, ten compared, of 17 runs and 100 topics; plug-in moments.\n")
    print(to_markdown(frame, {**formats, "W": ".2f", "median_judged": ",.0f"}))


if __name__ == "__main__":
    main()
