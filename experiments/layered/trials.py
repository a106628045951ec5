"""The three layers, joint and one after the other, on the same judgments of four collections.

    RTC_BAYES_DATA=FOLDER python -m experiments.layered.trials -o DIR
        [--collections NAME... --models MODEL... --trials 40 --jobs 2 --seed 500]

runs a robustness study of each collection about whole lists: `mtc` judges two systems, three and a
half judgments a topic, and every model compares ten by them. The priors of `layered` and of
`hierarchical` were chosen on Robust 2003 alone. Then it prints a table for each finished study.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.common import study_row
from experiments.whole_lists.four import COLLECTIONS, read
from rtc_bayes import Estimand, Qrels, Workers
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.robustness import Study, study
from rtc_bayes.store import progress_bar

A_TOPIC = 3.5
MODELS = (
    "uniform:map",
    "rtc:map",
    "rtc:cut",
    "layered:map",
    "layered:laplace",
    "layered:nuts",
    "hierarchical:laplace",
    "robust:gibbs",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--collections", nargs="+", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=500)
    options = parser.parse_args()
    for folder in options.collections:
        judged = COLLECTIONS[folder]
        runs, qrels = read(folder)
        with progress_bar() as progress:
            done = study(
                runs,
                qrels,
                **plan_of(folder, qrels, options.models),
                trials=options.trials,
                seed=options.seed,
                output=options.output / folder,
                workers=Workers(options.jobs, progress=progress),
            )
        print(f"## {judged.name}\n\n{table(done)}\n", flush=True)


def plan_of(folder: str, qrels: Qrels, models: Sequence[str]) -> dict[str, Any]:
    """Return what the trials of a collection are asked to do, their number and seed apart."""
    judged = COLLECTIONS[folder]
    return {
        "algorithms": [f"mtc/{model}" for model in models],
        "budgets": (round(A_TOPIC * len(list(qrels))),),
        "estimand": Estimand(relevance_level=judged.relevance_level, topics="judged"),
        "truth": judged.truth,
        "draws": 150,
        "tune": 300,
        "moments": "plugin",
    }


def table(done: Study) -> str:
    """Return a row for each model, as Markdown."""
    rows = []
    for algorithm, summary in done.summary.items():
        if summary["bins"] is not None:
            row = study_row(algorithm.removeprefix("mtc/").partition(" at ")[0], done, algorithm)
            rows.append({**row, "refused": f"{summary['failed']}"})
    return to_markdown(pd.DataFrame(rows))


if __name__ == "__main__":
    main()
