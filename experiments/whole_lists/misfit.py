"""What `robust` gets wrong between judgments: the part of ``residual="auto"`` that goes by them.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.misfit priors.json
        [--sets 3 --systems 10 --measures AP nDCG R@1000 --jobs 2 -o misfit.csv]

draws sets of ten systems of each collection (--systems: of as many, or all), judges all that they
rank in the first 3, 5, 10 and 20, fits `robust` with priors from the other three collections
(experiments.whole_lists.priors), and holds differences on 10, 25 and all topics against those by
whole lists and all judgments. With u the share of what is relevant that is expected without a
judgment, the rule says that errors have variance
sd^2 + l u (1 - u) (wrong^2 + wrong_by_topic^2 / n_topics), where l is 2 where two systems share
nothing, and 0 where their lists are alike, and sd counts the residual that no judgment takes off
and the error that all scores share. Found are the two parts under which they are likeliest, if
normal, each collection weighing the same: by all collections, and by all but each. The first table
has u and the mean square of errors over sd. The last column has how many times the rule's parts for
ten systems make the signs of true differences on all topics likeliest: P(better) needs these alone,
and a factor of all differences, which makes errors large where systems are far apart, moves no
sign. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_ndtr

from experiments.whole_lists.four import COLLECTIONS, fitted_to, prepared
from rtc_bayes import Estimand, Fit, Qrels, Runs, compare, evaluate
from rtc_bayes.confidence.likeness import likeness, unlikeness
from rtc_bayes.measures.residual import residual_parts
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import quietly

type Floats = NDArray[np.float64]

MEASURES = ("AP", "nDCG", "R@1000")
SYSTEMS, DEPTHS = 10, (3, 5, 10, 20)
SOME, RESAMPLES = (10, 25), 3
UNIT = 1e-4  # of squares of the parts
LEAST = 1e-9  # of variances: of lists that are alike little is left
TOLD = ("residual", "lasting_residual", "unjudged_relevant")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--systems", type=int, default=SYSTEMS)
    parser.add_argument("--measures", nargs="+", choices=MEASURES, default=MEASURES)
    parser.add_argument("--seed", type=int, default=700)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, help="a CSV of errors")
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())
    asked = product(range(options.sets), DEPTHS, COLLECTIONS)
    work = (
        joblib.delayed(of_set)(
            folder, depth, options.seed + n, priors[folder], options.systems, options.measures
        )
        for n, (_, depth, folder) in enumerate(asked)
    )
    errors = pd.concat(joblib.Parallel(options.jobs)(work))
    if options.output:
        errors.to_csv(options.output, index=False)
    errors["square"] = (errors["error"] / errors["sd"]) ** 2
    values = ["unjudged", "square"]
    shape = {"index": ["measure", "collection"], "columns": "depth", "values": values}
    means = errors.pivot_table(**shape).round(2)
    means.columns = [f"{value}, depth {depth}" for value, depth in means.columns]
    print(to_markdown(means.reset_index()))
    print(to_markdown(pd.DataFrame([*rules(errors)])))


def of_set(
    folder: str, depth: int, seed: int, prior: str, systems: int, measures: Sequence[str]
) -> pd.DataFrame:
    """Errors of differences of one set of systems, with the deviations that the model expects."""
    with quietly():
        runs, labels = drawn(folder, seed, systems)
        fitted = fitted_to(runs, labels, depth, prior)
        random = np.random.default_rng(seed)
        rows = pd.concat([*errors_of(fitted, runs, labels, measures, random)])
    return rows.assign(collection=COLLECTIONS[folder].name, depth=depth, seed=seed)


def drawn(folder: str, seed: int, systems: int = SYSTEMS) -> tuple[Runs, Qrels]:
    """Runs of some systems, and labels of all that is judged."""
    runs, labels = prepared(folder)
    size = min(systems, len(runs.systems))
    some = np.random.default_rng(seed).choice(runs.systems, size, replace=False)
    return runs.select(some.tolist()), labels


def errors_of(
    fitted: Fit, runs: Runs, labels: Qrels, measures: Sequence[str], random: np.random.Generator
) -> Iterator[pd.DataFrame]:
    """Errors by measure, on some topics and on all."""
    pool = fitted.judgments.pool
    true = evaluate(runs, labels, measures)
    sizes = [n for n in SOME if n < pool.n_topics for _ in range(RESAMPLES)] + [pool.n_topics]
    for n, measure in product(sizes, measures):
        some = random.choice(pool.topics, n, replace=False).tolist()
        place = [true.topics.index(topic) for topic in some]
        about = Estimand(measure, topics=some)
        comparison = compare(pool, fitted, about, moments="plugin", form="normal")
        truth = pd.Series(true[measure][:, place].mean(axis=1), true.systems)
        apart = truth[[*comparison.a]].to_numpy() - truth[[*comparison.b]].to_numpy()
        residual, lasting, unjudged = (float(str(comparison.meta[name])) for name in TOLD)
        unlike = unlikeness(likeness(comparison.asked_setting.pool))
        own = comparison.sd_difference**2 - unlike * (residual**2 - lasting**2)
        assert comparison.sd_shared is not None
        yield pd.DataFrame(
            {
                "measure": measure,
                "topics": n,
                "unjudged": unjudged,
                "expected": comparison.expected_difference,
                "error": comparison.expected_difference - apart,
                "unlike": unlike,
                "own_sd": np.sqrt(np.maximum(own, LEAST)),
                "sd": np.sqrt(np.maximum(own + comparison.sd_shared**2, LEAST)),
            }
        )


def rules(errors: pd.DataFrame) -> Iterator[dict[str, str]]:
    """Find the parts, and the share that signs need, of all collections, and of all but each."""
    for measure, of_measure in errors.groupby("measure"):
        for without in ("", *of_measure["collection"].unique()):
            others = of_measure[of_measure["collection"] != without]
            wrong, by_topic = likeliest(others)
            share = likeliest_share(others[others["topics"] > max(SOME)], str(measure))
            yield {
                "measure": str(measure),
                "without": without,
                "wrong": f"{wrong:.4f}",
                "wrong_by_topic": f"{by_topic:.4f}",
                "by signs": f"{share:.2f}",
            }


def likeliest(errors: pd.DataFrame) -> Floats:
    """The parts under which errors are likeliest, collections weighing the same."""
    of_collection, of_parts = sizes_of(errors), between(errors)
    topics, square = errors["topics"].to_numpy(), errors["error"].to_numpy() ** 2
    variance = errors["sd"].to_numpy() ** 2

    def surprise(x: Floats) -> float:
        of_error = variance + of_parts * UNIT * (x[0] + x[1] / topics)
        return float(((np.log(of_error) + square / of_error) / of_collection).sum())

    best = minimize(surprise, [1.0, 25.0], method="Nelder-Mead", bounds=[(0.0, None)] * 2)
    squares: Floats = best.x
    return np.sqrt(UNIT * squares)


def likeliest_share(errors: pd.DataFrame, measure: str) -> float:
    """The share of the rule's parts under which signs are likeliest, collections alike."""
    lasting, between_all = (residual_parts(measure, SYSTEMS, u) for u in (0.0, 0.5))
    wrong, by_topic = np.subtract(between_all, lasting) / 0.25  # u (1 - u) of a half
    parts = between(errors) * (wrong + by_topic / errors["topics"].to_numpy())
    of_collection, own = sizes_of(errors), errors["own_sd"].to_numpy() ** 2
    expected = errors["expected"].to_numpy()
    true = expected - errors["error"].to_numpy()

    def surprise(share: float) -> float:
        of_sign = log_ndtr(np.sign(true) * expected / np.sqrt(own + share**2 * parts))
        return -float((of_sign / of_collection)[true != 0.0].sum())

    return float(minimize_scalar(surprise, bounds=(0.0, 4.0), method="bounded").x)


def between(errors: pd.DataFrame) -> Floats:
    """How far there is something between judgments, and two lists are unlike: l u (1 - u)."""
    unjudged = errors["unjudged"]
    return np.asarray(errors["unlike"] * unjudged * (1.0 - unjudged))


def sizes_of(errors: pd.DataFrame) -> Floats:
    """How many errors there are of each error's collection."""
    return np.asarray(errors.groupby("collection")["error"].transform("size"))


if __name__ == "__main__":
    main()
