"""Trials about whole lists on four collections, each with priors from the other three.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.trials priors.json -o DIR
        [--collections NAME... --measure AP --beside ALGORITHM... --own]
        [--systems 10 --cut RANK --trials 100 --moments plugin --jobs 2 --seed 3000]

runs a robustness study of each collection: `robust` with the priors of `priors.json`
(experiments.whole_lists.priors) judges two systems, three and a half judgments a topic at least,
and compares ten, or as many as asked, by lists that are cut at a rank if asked; other algorithms do
beside it, on the same trials, and with `--own` the model that knows the collection's own
parameters, from complete judgments. Then it prints a row for each algorithm of each finished study,
as Markdown.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd

from experiments.common import study_row
from experiments.whole_lists.four import COLLECTIONS, condensed, cut, read
from rtc_bayes import Estimand, Workers
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.robustness import Study, study
from rtc_bayes.store import progress_bar


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--collections", nargs="+", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    parser.add_argument("--measure", default="AP")
    parser.add_argument("--beside", nargs="+", default=[], metavar="ALGORITHM")
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--cut", type=int, metavar="RANK")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--moments", choices=["exact", "plugin"], default="plugin")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=3000)
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())
    for folder in options.collections:
        judged = COLLECTIONS[folder]
        runs, qrels = condensed(folder) if options.cut else read(folder)
        if options.cut:
            runs = cut(runs, options.cut)
        of_model = [priors[folder], *([priors["own"][folder]] if options.own else [])]
        with progress_bar() as progress:
            study(
                runs,
                qrels,
                algorithms=[f"robust[{of}]:gibbs" for of in of_model] + options.beside,
                estimand=Estimand(
                    options.measure, relevance_level=judged.relevance_level, topics="judged"
                ),
                truth=judged.truth,
                n_systems=options.systems,
                trials=options.trials,
                seed=options.seed,
                moments=options.moments,
                output=options.output / folder,
                workers=Workers(options.jobs, progress=progress),
            )
    finished = {
        folder: Study.load(options.output / folder)
        for folder in COLLECTIONS
        if (options.output / folder / "summary.json").exists()
    }
    own = priors.get("own", {})
    rows = [
        study_row(
            f"{COLLECTIONS[folder].name}, {named(algorithm, own.get(folder))}", done, algorithm
        )
        for folder, done in finished.items()
        for algorithm in done.summary
    ]
    print(to_markdown(pd.DataFrame(rows)))


def named(algorithm: str, own: str | None) -> str:
    """Name an algorithm without its options."""
    knows = own is not None and f"[{own}]" in algorithm
    return algorithm.partition("[")[0] + (", its own parameters" if knows else "")


if __name__ == "__main__":
    main()
