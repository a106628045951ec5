"""What the scripts that run studies, and those that tell of them, share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rtc_bayes import Qrels, Runs, read_qrels, read_runs
from rtc_bayes.report import write_report
from rtc_bayes.report.figures import confidence_accuracy
from rtc_bayes.robustness import Study, study
from rtc_bayes.robustness.design import MomentsRule
from rtc_bayes.robustness.scores import BINS
from rtc_bayes.store import progress_bar

BIN_NAMES = tuple(f"{low:g} to {high:g}" for low, high in BINS)


@dataclass(frozen=True)
class Plan:
    """A study: of which collection, by what, how often, and what is done to the runs before."""

    collection: str
    algorithms: tuple[str, ...]
    moments: MomentsRule
    trials: int = 200
    prepare: Callable[[Runs], Runs] | None = None


def read_collection(name: str) -> tuple[Runs, Qrels]:
    """Read the runs and the judgments of a folder of RTC_BAYES_DATA."""
    folder = Path(os.environ["RTC_BAYES_DATA"]) / name
    return read_runs(folder / "runs"), read_qrels(folder / "qrels.txt.gz")


def run_studies(
    script: str, description: str | None, plans: Mapping[str, Plan], *, seed: int = 0
) -> None:
    """Run the studies that the command line of `script` names, each a folder with its report."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--studies", nargs="+", choices=list(plans), default=list(plans))
    parser.add_argument("--trials", type=int, help="of each study; by default its own number")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=seed)
    options = parser.parse_args()
    for name in options.studies:
        plan = plans[name]
        trials = options.trials or plan.trials
        runs, qrels = read_collection(plan.collection)
        with progress_bar() as progress:
            study(
                plan.prepare(runs) if plan.prepare else runs,
                qrels,
                algorithms=plan.algorithms,
                trials=trials,
                jobs=options.jobs,
                seed=options.seed,
                moments=plan.moments,
                output=options.output / name,
                command=(
                    f"python experiments/{script} -o DIR "
                    f"--studies {name} --trials {trials} --seed {options.seed}"
                ),
                progress=progress,
            )
        write_report(options.output / name)


def page_options(description: str | None) -> argparse.Namespace:
    """Read the command line of a script that tells of studies: directory and figures."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--figures", type=Path, help="a folder to draw into")
    return parser.parse_args()


def finished(directory: Path, names: Iterable[str]) -> dict[str, Study]:
    """Load the studies that a folder has."""
    return {
        name: Study.load(directory / name)
        for name in names
        if (directory / name / "summary.json").exists()
    }


def draw_confidence(pairs: pd.DataFrame, names: Mapping[str, str], path: Path) -> None:
    """Draw accuracy against confidence of some algorithms, each under a name."""
    shown = pairs[pairs["algorithm"].isin(names)].replace({"algorithm": dict(names)})
    confidence_accuracy(shown).savefig(path, dpi=160, bbox_inches="tight")
