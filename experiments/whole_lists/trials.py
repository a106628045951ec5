"""Trials about whole lists on four collections, each with priors from the other three.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.trials priors.json -o DIR
        [--collections NAME... --trials 100 --jobs 2 --seed 3000]

runs a robustness study of each collection: `robust` with the priors of `priors.json`
(experiments.whole_lists.priors) judges two systems, three and a half judgments a topic at least,
and compares ten. Then it prints a row for each finished study, as Markdown.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.common import covered, size
from experiments.whole_lists.four import COLLECTIONS, read
from rtc_bayes import Estimand, Workers
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.robustness import Study, study
from rtc_bayes.store import progress_bar
from rtc_bayes.trials.scores import log_score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--collections", nargs="+", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=3000)
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())
    for folder in options.collections:
        judged = COLLECTIONS[folder]
        runs, qrels = read(folder)
        with progress_bar() as progress:
            study(
                runs,
                qrels,
                algorithms=[f"robust[{priors[folder]}]:gibbs"],
                estimand=Estimand(relevance_level=judged.relevance_level, topics="judged"),
                truth=judged.truth,
                trials=options.trials,
                seed=options.seed,
                moments="plugin",
                output=options.output / folder,
                workers=Workers(options.jobs, progress=progress),
            )
    finished = {
        folder: Study.load(options.output / folder)
        for folder in COLLECTIONS
        if (options.output / folder / "summary.json").exists()
    }
    print(to_markdown(pd.DataFrame([row(folder, done) for folder, done in finished.items()])))


def row(folder: str, done: Study) -> dict[str, str]:
    """Score a study of one algorithm, with standard errors over trials."""
    pairs, systems = done.pairs, done.systems
    lost = pairs.assign(lost=log_score(pairs["confidence"], pairs["correct"]))
    of_trials = lost.groupby("trial")["lost"].mean()
    gap = pairs.assign(gap=pairs["correct"] - pairs["confidence"]).groupby("trial")["gap"].mean()
    initial = pairs[pairs["initial"] == 2]
    (summary,) = done.summary.values()
    under = sum(
        entry["accuracy"] + 2 * np.sqrt(entry["low"] * (1 - entry["low"]) / entry["pairs"])
        < entry["low"]
        for entry in summary["bins"]
        if entry["pairs"]
    )
    held = covered(pairs, "expected_difference", "true_difference", 0.95)
    bias = (systems["expected"] - systems["true"]).mean()
    return {
        "": COLLECTIONS[folder].name,
        "trials": f"{len(of_trials)}",
        "judged, median": f"{summary['median_judged']:g}",
        "log score": f"{of_trials.mean():.3f} ± {error(of_trials):.3f}",
        "W": f"{summary['W']:.2f}",
        "tau": f"{summary['mean_tau']:.3f}",
        "confidence": f"{pairs['confidence'].mean():.3f}",
        "accuracy": f"{pairs['correct'].mean():.3f}",
        "accuracy less confidence": f"{gap.mean():+.3f} ± {error(gap):.3f}",
        "bins under their edge": f"{under}",
        "95% of differences": f"{held:.1%}",
        "95% of MAPs": f"{covered(systems, 'expected', 'true', 0.95):.1%}",
        "bias": f"{bias:+.3f}",
        "size": f"{size(pairs):.0%}",
        "pair judged for": f"{initial['correct'].mean():.3f} at {initial['confidence'].mean():.3f}",
    }


def error(values: pd.Series) -> float:
    """Standard error of a mean over trials."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


if __name__ == "__main__":
    main()
