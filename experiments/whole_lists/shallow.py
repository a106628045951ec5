"""Shallow pools, judged completely, held to deep truth: what most qrels files are.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.shallow priors.json misfit.csv
        [--collections NAME... --trials N --jobs 2 --seed 800]

draws sets of ten systems of each collection, judges all that they rank in the first 10 (DL 2020 and
CLEF, whose judgments are shallow: 5), and compares whole lists by AP. The truth is by whole lists
and all judgments. A row each by: unjudged documents taken as nonrelevant; `hierarchical:laplace`;
`robust`, with priors from the other three collections (experiments.whole_lists.priors), without
what models get wrong between judgments, with that by the rule of the other three collections
(from the errors that experiments.whole_lists.misfit writes), and by the rule as it is. Prints
Markdown.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

from experiments.whole_lists.four import COLLECTIONS, judged_to
from experiments.whole_lists.held import held
from experiments.whole_lists.misfit import TOLD, Floats, drawn, likeliest
from rtc_bayes import (
    Comparison,
    Estimand,
    Judgments,
    Pool,
    Qrels,
    Runs,
    compare,
    evaluate,
    fit,
)
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import quietly
from rtc_bayes.trials.scores import kendall_tau

TRIALS = {"trec8_adhoc": 24, "robust03": 12, "trec_dl20": 24, "clef_ehealth_2015": 20}
DEPTHS = {"trec8_adhoc": 10, "robust03": 10, "trec_dl20": 5, "clef_ehealth_2015": 5}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("misfit", type=Path)
    parser.add_argument("--collections", nargs="+", choices=[*DEPTHS], default=[*DEPTHS])
    parser.add_argument("--trials", type=int, help="of each collection; by default 24, 12, 24, 20")
    parser.add_argument("--seed", type=int, default=800)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())
    errors = pd.read_csv(options.misfit)
    errors = errors[errors["measure"] == "AP"]
    work = []
    for folder in options.collections:
        others = likeliest(errors[errors["collection"] != COLLECTIONS[folder].name])
        seeds = range(options.seed, options.seed + (options.trials or TRIALS[folder]))
        work += [joblib.delayed(trial)(folder, priors[folder], others, seed) for seed in seeds]
    rows = pd.concat(joblib.Parallel(options.jobs)(work))
    by = ["collection", "by"]
    means = rows.groupby(by, sort=False).mean()
    means.insert(0, "trials", rows.groupby(by, sort=False).size())
    print(to_markdown(means.round(3).reset_index()))


def trial(folder: str, prior: str, others: Floats, seed: int) -> pd.DataFrame:
    """Hold all to the truth on one set of systems."""
    with quietly():
        runs, labels = drawn(folder, seed)
        shallow = judged_to(runs, labels, DEPTHS[folder])
        truth, by_pool = maps(runs, labels), maps(runs, shallow)
        pool = Pool.from_runs(runs).select_topics([t for t in runs.topics if t in labels])
        rows: list[dict[str, object]] = [
            {
                "by": "unjudged nonrelevant",
                "bias": (by_pool - truth).mean(),
                "tau": kendall_tau(by_pool, truth),
            }
        ]
        judgments = Judgments.from_qrels(pool, shallow)
        for name, comparison in comparisons(judgments, prior, others):
            unjudged = comparison.meta["unjudged_relevant"]
            rows.append({"by": name, **held(comparison, truth), "unjudged": unjudged})
    return pd.DataFrame(rows).assign(collection=COLLECTIONS[folder].name)


def comparisons(
    judgments: Judgments, prior: str, others: Floats
) -> Iterator[tuple[str, Comparison]]:
    """Compare by each model and residual."""
    pool = judgments.pool
    by_means = fit(pool, judgments, model="hierarchical:laplace")
    yield "hierarchical:laplace", compare(pool, by_means, moments="plugin")
    fitted = fit(pool, judgments, model=f"robust[{prior}]:gibbs")
    shipped = compare(pool, fitted, moments="plugin")
    lasting, u = (float(str(shipped.meta[name])) for name in TOLD[1:])
    wrong, by_topic = others
    between = u * (1.0 - u) * (wrong**2 + by_topic**2 / pool.n_topics)
    for name, residual in (
        ("robust, nothing wrong between judgments", lasting),
        ("robust, by the other three", np.sqrt(lasting**2 + between)),
    ):
        yield name, compare(pool, fitted, Estimand(residual=float(residual)), moments="plugin")
    yield "robust", shipped


def maps(runs: Runs, qrels: Qrels) -> pd.Series:
    """Mean average precision of every system."""
    return evaluate(runs, qrels).mean_frame().set_index("system")["AP"]


if __name__ == "__main__":
    main()
