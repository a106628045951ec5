"""The leaderboard: every judge and evaluator at the same numbers of judgments.

    RTC_BAYES_DATA=FOLDER python -m experiments.frontier.run priors.json -o frontier.csv
        [--collections trec8_adhoc ...] [--methods mtf/nonrelevant ...] [--left-out]
        [--repetitions 20] [--repetitions-of-models 1]

adds a row to the CSV for each collection, method, repetition and number of judgments, and goes on
where it stopped; `experiments.frontier.page` makes tables and figures of it. To add a method, add
a line to METHODS.

All runs of a collection are judged for and compared, about whole lists, of pools of depth 100 (of
shallow pools condensed to what is judged, as `experiments.whole_lists` has them); the truth is
average precision of whole lists by all judgments. With `--left-out` each repetition leaves the
runs of one group out of judging, and what is measured is of pairs that hold one of them. `robust`
has the priors of `experiments.whole_lists.priors`, from the other three collections.

tau is Kendall's with the true order (of left-out groups: of the pairs that hold one of theirs). Of
pairs that a paired t test over topics calls different by all judgments at .05, the share whose
order is right is given. Log score and accuracy less confidence are over pairs that have a
confidence. Coverage is that of 95% intervals of systems' scores. Repetitions differ in how judges
break ties, in samples and in the draws of models.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.reuse.left_out_groups import groups_of
from experiments.whole_lists.four import COLLECTIONS, prepared
from rtc_bayes import Estimand, log_score
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.measures import paired_t
from rtc_bayes.trials import Collection, Plan, outcomes
from rtc_bayes.trials.complete import topic_scores_by
from rtc_bayes.trials.trial import Outcome

METHODS = (
    "pool/nonrelevant",
    "mtf/nonrelevant",
    "mtf/condensed",
    "mtf/bpref",
    "mtf/bootstrap",
    "maxmean/nonrelevant",
    "mmns/nonrelevant",
    "active/nonrelevant",
    "rankvar/nonrelevant",
    "rankvar/condensed",
    "sample/infap",
    "sample/statap",
    "rankvar/rtc:map",
    "rankvar/hierarchical:laplace",
    "mtf/hierarchical:laplace",
    "rankvar/robust:gibbs",
    "mtf/robust:gibbs",
    "hierarchical:map/hierarchical:laplace",
    "hierarchical:map/robust:gibbs",
)
#: Judgments, as a share of those that the collection has.
SHARES = (0.002, 0.005, 0.01, 0.03, 0.05, 0.1)
ARMS = ("at hand", "left out")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--collections", nargs="+", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--repetitions-of-models", type=int, default=1)
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES)
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())
    done = set()
    if options.output.exists():
        of = pd.read_csv(options.output).groupby(["collection", "arm", "method", "repetition"])
        done = {key for key, rows in of if set(options.shares) <= set(rows["share"])}
    arm = ARMS[options.left_out]
    for folder in options.collections:
        collection, total = read(folder, options.left_out)
        budgets = tuple(round(share * total) for share in options.shares)
        for method in options.methods:
            model = ":" in method
            for repetition in range(
                options.repetitions_of_models if model else options.repetitions
            ):
                if (folder, arm, method, repetition) in done:
                    continue
                named = {"collection": folder, "arm": arm, "method": method}
                algorithm = method.replace("/robust", f"/robust[{priors[folder]}]")
                rows = measured(collection, algorithm, budgets, repetition)
                for share, row in zip(options.shares, rows, strict=True):
                    row = {**named, "repetition": repetition, "share": share, **row}
                    pd.DataFrame([row]).reindex(columns=COLUMNS).to_csv(
                        options.output, mode="a", header=not options.output.exists(), index=False
                    )
                print(*named.values(), repetition, file=sys.stderr, flush=True)


COLUMNS = [
    *("collection", "arm", "method", "repetition", "share", "judged", "left_out", "failure"),
    *("tau", "significant", "log_score", "accuracy", "confidence", "coverage", "seconds"),
]


def read(folder: str, left_out: bool) -> tuple[Collection, int]:
    """Read a collection and count its judgments."""
    runs, qrels = prepared(folder)
    groups = groups_of(folder, runs.systems) if left_out else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collection = Collection.from_runs(runs, qrels, Estimand(depth=100), groups=groups)
    return collection, sum(grade >= 0 for graded in qrels.values() for grade in graded.values())


def measured(
    collection: Collection, algorithm: str, budgets: tuple[int, ...], repetition: int
) -> Iterator[Mapping[str, object]]:
    """Measure one algorithm at each number of judgments."""
    systems = collection.pool.n_systems
    leave_out = None if collection.groups is None else "groups"
    largest = 0
    if collection.groups is not None:
        largest = int(pd.Series(list(collection.groups.values())).value_counts().max())
    plan = Plan(
        (algorithm,),
        n_systems=systems,
        n_initial=systems - largest,
        estimand=collection.estimand,
        budgets=budgets,
        leave_out=leave_out,
    )
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for outcome in outcomes(collection, plan, seed=repetition, trial=repetition):
            seconds = time.perf_counter() - started
            yield {
                "judged": outcome.judged,
                "left_out": outcome.draw.left_out,
                "seconds": seconds,
                **scored(outcome, collection),
            }
            started = time.perf_counter()


@cache
def truly_different(collection: Collection) -> NDArray[np.bool_]:
    """Say of every two systems whether all judgments tell them apart; shape (systems, systems)."""
    truly = paired_t(topic_scores_by(collection.judgments, collection.estimand))
    different = np.zeros((collection.pool.n_systems,) * 2, dtype=bool)
    different[all_pairs(len(different))] = truly.confidence >= 0.975
    return different | different.T


def scored(outcome: Outcome, collection: Collection) -> dict[str, object]:
    """Return how well an outcome orders its runs, and how truthfully it says so."""
    if outcome.failure is not None:
        return {"failure": outcome.failure}
    pairs, systems = outcome.pairs_frame(), outcome.systems_frame()
    place = pd.Series(range(collection.pool.n_systems), collection.pool.systems)
    different = truly_different(collection)[place[pairs["a"]], place[pairs["b"]]]
    tau = outcome.tau
    if outcome.draw.left_out is not None:
        new = (pairs["initial"] < 2).to_numpy()
        pairs, different = pairs[new], different[new]
        systems = systems[~systems["judged_for"]]
        tau = 2 * pairs["correct"].mean() - 1
    told = pairs.dropna(subset=["correct", "confidence"])
    correct, confidence = told["correct"].to_numpy(), told["confidence"].to_numpy()
    sd = systems["sd"].to_numpy()
    within = np.abs(systems["expected"] - systems["true"]) <= NORMAL_95 * sd
    return {
        "tau": tau,
        "significant": pairs["correct"][different].mean(),
        "log_score": log_score(confidence, correct).mean() if len(told) else np.nan,
        "accuracy": correct.mean() if len(told) else np.nan,
        "confidence": confidence.mean() if len(told) else np.nan,
        "coverage": within.mean() if np.isfinite(sd).all() else np.nan,
    }


if __name__ == "__main__":
    main()
