"""Run the studies behind docs/results/map-against-bayes.md.

Usage: python experiments/calibration/run.py -o DIR [--studies NAME ...] [--trials N]
       [--jobs 2 --seed 0]

Needs RTC_BAYES_DATA: a folder with trec8_adhoc/ and robust03/, each with runs/ and qrels.txt.gz.
DIR gets one study a folder, with its report; what was interrupted goes on. Each study has its own
number of trials unless --trials says another. Then:

    python experiments/calibration/page.py DIR --figures docs/figures \
        > docs/results/map-against-bayes.md

The studies:

trec8-plugin, trec8-exact
    One set of judgments (those of rtc:map), evaluated by every model as a point estimate and as a
    posterior, with the printed and with the exact moments: what parameters and what moments do.
trec8-stopping
    The same model judges until its plug-in confidence, or until its posterior confidence, is 95%.
trec8-nuts
    The same judgments again, evaluated by hierarchical's Laplace approximation and by NUTS.
robust03-plugin, robust03-exact
    As on TREC-8.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rtc_bayes import read_qrels, read_runs
from rtc_bayes.report import write_report
from rtc_bayes.robustness import study
from rtc_bayes.store import progress_bar

JUDGE = "rtc:map"
MODELS = (
    "uniform:map",
    "rtc:map",
    "rtc:cut",
    "rtc[cell_weight=.1]:map",
    "rtc[cell_weight=.1]:cut",
    "hierarchical:map",
    "hierarchical:laplace",
)
EVALUATED = tuple(f"{JUDGE}/{model}" for model in MODELS)
STOPPED = ("hierarchical:map", "hierarchical:laplace")
SAMPLED = tuple(f"{JUDGE}/hierarchical:{method}" for method in ("laplace", "nuts"))
STUDIES = {
    "trec8-plugin": ("trec8_adhoc", "plugin", EVALUATED, 200),
    "trec8-exact": ("trec8_adhoc", "exact", EVALUATED, 100),
    "trec8-stopping": ("trec8_adhoc", "plugin", STOPPED, 200),
    "trec8-nuts": ("trec8_adhoc", "plugin", SAMPLED, 20),
    "robust03-plugin": ("robust03", "plugin", EVALUATED, 200),
    "robust03-exact": ("robust03", "exact", EVALUATED, 50),
}
"""Collection, moments, algorithms and number of trials of each study."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--studies", nargs="+", choices=list(STUDIES), default=list(STUDIES))
    parser.add_argument("--trials", type=int, help="of each study; by default its own number")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in options.studies:
        folder, moments, algorithms, trials = STUDIES[name]
        trials = options.trials or trials
        data = Path(os.environ["RTC_BAYES_DATA"]) / folder
        with progress_bar() as progress:
            study(
                read_runs(data / "runs"),
                read_qrels(data / "qrels.txt.gz"),
                algorithms=algorithms,
                trials=trials,
                jobs=options.jobs,
                seed=options.seed,
                moments=moments,
                output=options.output / name,
                command=(
                    "python experiments/calibration/run.py -o DIR "
                    f"--studies {name} --trials {trials} --seed {options.seed}"
                ),
                progress=progress,
            )
        write_report(options.output / name)


if __name__ == "__main__":
    main()
