"""What the scripts that run studies, and those that tell of them, share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from rtc_bayes import Estimand, InputError, Qrels, Runs, Workers, read_qrels, read_runs
from rtc_bayes.confidence.pair import half_width
from rtc_bayes.report import write_report
from rtc_bayes.report.figures import confidence_accuracy
from rtc_bayes.report.tables import UNDEFINED, to_markdown
from rtc_bayes.robustness import Robustness, Study
from rtc_bayes.store import progress_bar
from rtc_bayes.trials import MomentsRule, Plan, run_study
from rtc_bayes.trials.scores import BINS, log_score

LEVELS = (0.5, 0.8, 0.95)
BIN_NAMES = tuple(f"{low:g} to {high:g}" for low, high in BINS)


@dataclass(frozen=True)
class CollectionStudy:
    """A study of a collection by its name."""

    collection: str
    plan: Plan


def collection_study(
    collection: str,
    *algorithms: str,
    moments: MomentsRule,
    trials: int = 200,
    draws: int = 150,
    pad: bool = False,
    **estimand: Any,
) -> CollectionStudy:
    """Plan 200 trials by some algorithms, about the pool alone unless the estimand says more."""
    about = Estimand(**{"scope": "pool", **estimand})
    plan = Plan(algorithms, trials=trials, moments=moments, estimand=about, draws=draws, pad=pad)
    return CollectionStudy(collection, plan)


def read_collection(name: str, depth: int | None = None) -> tuple[Runs, Qrels]:
    """Read the runs, cut at a depth if given, and the judgments of a folder of RTC_BAYES_DATA."""
    folder = Path(os.environ["RTC_BAYES_DATA"]) / name
    return read_runs(folder / "runs", depth=depth), read_qrels(folder / "qrels.txt.gz")


def run_studies(
    script: str, description: str | None, studies: Mapping[str, CollectionStudy], *, seed: int = 0
) -> None:
    """Run the studies that the command line of `script` names, each a folder with its report."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--studies", nargs="+", choices=list(studies), default=list(studies))
    parser.add_argument("--trials", type=int, help="of each study; by default its own number")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=seed)
    options = parser.parse_args()
    for name in options.studies:
        asked = studies[name]
        trials = options.trials or asked.plan.trials
        runs, qrels = read_collection(asked.collection)
        with progress_bar() as progress:
            run_study(
                Robustness(),
                runs,
                qrels,
                replace(asked.plan, trials=trials, seed=options.seed),
                output=options.output / name,
                command=(
                    f"python -m {script} -o DIR "
                    f"--studies {name} --trials {trials} --seed {options.seed}"
                ),
                workers=Workers(options.jobs, progress=progress),
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


def of_algorithm(table: pd.DataFrame, algorithm: str) -> pd.DataFrame:
    """Return the rows of an algorithm."""
    return table[table["algorithm"] == algorithm]


def accuracy_of(_pairs: pd.DataFrame, one: Mapping[str, float]) -> str:
    """Write the accuracy of an algorithm's pairs in one bin."""
    return f"{one['accuracy']:.1%}"


def bins_table(
    study: Study,
    name: Callable[[str], str],
    accuracy: Callable[[pd.DataFrame, Mapping[str, float]], str] = accuracy_of,
) -> str:
    """Return accuracy and share of pairs by confidence: a column for each algorithm that has one.

    `name` shortens an algorithm; `accuracy` writes that of its pairs in a bin.
    """
    frame = pd.DataFrame({"confidence": BIN_NAMES})
    for text, entry in study.summary.items():
        if entry["bins"] is not None:
            pairs = of_algorithm(study.pairs, text)
            frame[name(text)] = [
                f"{accuracy(pairs, one)} ({one['share']:.0%})" if one["share"] else UNDEFINED
                for one in entry["bins"]
            ]
    return to_markdown(frame)


def draw_confidence(
    pairs: pd.DataFrame, names: Mapping[str, str], path: Path, least: int | None = None
) -> None:
    """Draw accuracy against confidence of some algorithms, each under a name.

    Points are of at least so many pairs each if `least` is given, else of the bins.
    """
    shown = pairs[pairs["algorithm"].isin(names)].replace({"algorithm": dict(names)})
    confidence_accuracy(shown, least=least).savefig(path, dpi=160, bbox_inches="tight")


def coverage(
    study: Study, names: Mapping[str, str], truth: Mapping[str, float] | None = None
) -> str:
    """Say in what share central normal intervals hold the truth: a row for each algorithm.

    Parameters
    ----------
    study : Study
    names : mapping of str to str
        Algorithms, and what to call them.
    truth : mapping of str to float, optional
        Mean average precision of every system; by default over whole lists.
    """
    pairs, systems = study.pairs, study.systems
    if truth is not None:
        apart = pairs["a"].map(truth) - pairs["b"].map(truth)
        pairs = pairs.assign(true_difference=apart)[apart != 0.0]
        systems = systems.assign(true=systems["system"].map(truth))
    rows = []
    for text, name in names.items():
        of_pairs = of_algorithm(pairs, text)
        of_systems = of_algorithm(systems, text)
        row = {"": name}
        for level in LEVELS:
            inside = covered(of_pairs, "expected_difference", "true_difference", level)
            row[f"difference, {level:.0%}"] = f"{inside:.1%}"
        row["size of a difference"] = f"{size(of_pairs):.0%}"
        for level in LEVELS:
            inside = covered(of_systems, "expected", "true", level)
            row[f"MAP, {level:.0%}"] = f"{inside:.1%}"
        bias = (of_systems["expected"] - of_systems["true"]).mean()
        row["expected less true MAP"] = f"{bias:.3f}".replace("-", "−")
        rows.append(row)
    over = "whole lists" if truth is None else "lists cut at the pool's depth"
    return (
        "Share of true differences in MAP (of pairs truly unequal), and of true MAPs, inside the\n"
        f"central normal interval, expected ± z sd. **The truth is over {over}**, by every\n"
        "judgment. The size of a difference is the mean expected one over the mean true one, both\n"
        "turned so that the true one is positive.\n\n" + to_markdown(pd.DataFrame(rows))
    )


def covered(table: pd.DataFrame, expected: str, true: str, level: float) -> float:
    """Share of rows whose truth is in the central normal interval of this probability."""
    error = (table[expected] - table[true]).abs()
    return float((error <= norm.ppf((1 + level) / 2) * table["sd"]).mean())


def size(pairs: pd.DataFrame) -> float:
    """Mean expected difference over the mean true one, turned so that the true one is positive."""
    true = pairs["true_difference"]
    return float((pairs["expected_difference"] * np.sign(true)).sum() / true.abs().sum())


def study_row(name: str, study: Study, algorithm: str) -> dict[str, str]:
    """Score an algorithm of a study as a row of a table, with standard errors over trials.

    Intervals are those that the library prints: of differences they are wider than a normal's.
    """
    pairs, systems = of_algorithm(study.pairs, algorithm), of_algorithm(study.systems, algorithm)
    lost = pairs.assign(lost=log_score(pairs["confidence"], pairs["correct"]))
    of_trials = lost.groupby("trial")["lost"].mean()
    gap = pairs.assign(gap=pairs["correct"] - pairs["confidence"]).groupby("trial")["gap"].mean()
    initial = pairs[pairs["initial"] == 2]
    summary = study.summary[algorithm]
    under = sum(
        entry["accuracy"] + 2 * np.sqrt(entry["low"] * (1 - entry["low"]) / entry["pairs"])
        < entry["low"]
        for entry in summary["bins"]
        if entry["pairs"]
    )
    if pairs["sd_shared"].isna().any():
        raise InputError(
            f"the trials of {name} have no sd_shared in pairs.csv", remedy="run them again"
        )
    error = (pairs["expected_difference"] - pairs["true_difference"]).abs()
    held = (error <= half_width(pairs["sd"], pairs["sd_shared"])).mean()
    bias = (systems["expected"] - systems["true"]).mean()
    return {
        "": name,
        "trials": f"{len(of_trials)}",
        "judged, median": f"{summary['median_judged']:g}",
        "log score": f"{of_trials.mean():.3f} ± {standard_error(of_trials):.3f}",
        "W": f"{summary['W']:.2f}",
        "tau": f"{summary['mean_tau']:.3f}",
        "confidence": f"{pairs['confidence'].mean():.3f}",
        "accuracy": f"{pairs['correct'].mean():.3f}",
        "accuracy less confidence": f"{gap.mean():+.3f} ± {standard_error(gap):.3f}",
        "bins under their edge": f"{under}",
        "95% of differences": f"{held:.1%}",
        "95% of MAPs": f"{covered(systems, 'expected', 'true', 0.95):.1%}",
        "bias": f"{bias:+.3f}",
        "size": f"{size(pairs):.0%}",
        "pair judged for": f"{initial['correct'].mean():.3f} at {initial['confidence'].mean():.3f}",
    }


def standard_error(values: pd.Series) -> float:
    """Standard error of a mean over trials."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))
