"""How far expected scores are off together: the factor that all systems' scores share.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.common_error priors.json
        [--sets 3 --jobs 2 --seed 800 --grades -o errors.csv]

draws sets of one, two, four and ten systems of each collection, judges all that they rank in the
first 3 and 10, fits `robust` with priors from the other three collections
(experiments.whole_lists.priors), and holds expected scores about whole lists against the truth by
all judgments. Sets of fewer systems are as many more. Errors of scores have variance
sd^2 + (c u / sqrt(systems) * expected)^2, where u is the share of what is relevant that is
expected without a judgment, and sd has of the common error what is left where all is judged
(experiments.whole_lists.residual). Found is the c under which errors are
likeliest, if normal, each collection and number of systems weighing the same: by all collections,
and by all but each. The last table has the share of true scores in 95% intervals without that part,
and with the c of the other three. With --grades gains are by grade, where collections have some.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar

from experiments.whole_lists.four import COLLECTIONS, condensed, fitted_to, prepared
from rtc_bayes import Estimand, compare, evaluate
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.measures.residual import expected_common_error
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import quietly

MEASURES = ("AP", "nDCG", "nDCG@10", "R@1000")
GRADED = [folder for folder in COLLECTIONS if folder != "trec8_adhoc"]
DEPTHS = (3, 10)
MORE = {1: 6, 2: 3, 4: 2, 10: 1}
"""Sets of so many systems, as a multiple of those asked for."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--seed", type=int, default=800)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--grades", action="store_true", help="gains by grade, of nDCG alone")
    parser.add_argument("-o", "--output", type=Path, help="a CSV of errors")
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())
    work = [
        joblib.delayed(of_set)(
            folder, systems, depth, options.seed + n, priors[folder], graded=options.grades
        )
        for folder, systems in product(GRADED if options.grades else COLLECTIONS, MORE)
        for n, depth in product(range(options.sets * MORE[systems]), DEPTHS)
    ]
    errors = pd.concat(joblib.Parallel(options.jobs)(work))
    if options.output:
        errors.to_csv(options.output, index=False)
    of_measures, held = tables(errors)
    print(to_markdown(of_measures))
    print(to_markdown(held))


def of_set(
    folder: str, systems: int, depth: int, seed: int, prior: str, *, graded: bool
) -> pd.DataFrame:
    """Errors of the scores of one set of systems, with the deviations that the model expects."""
    rows = []
    level = COLLECTIONS[folder].relevance_level if graded else 1
    measures = [measure for measure in MEASURES if measure.startswith("nDCG") or not graded]
    with quietly():
        every, labels = condensed(folder) if graded else prepared(folder)
        some = np.random.default_rng([seed, systems]).choice(every.systems, systems, replace=False)
        runs = every.select(some.tolist())
        fitted = fitted_to(runs, labels, depth, prior, level)
        true = evaluate(runs, labels, measures, relevance_level=level)
        for measure in measures:
            about = Estimand(measure, relevance_level=level)
            made = compare(fitted.judgments.pool, fitted, about, moments="plugin")
            place = [true.topics.index(topic) for topic in made.topics]
            truth = pd.Series(true[measure][:, place].mean(axis=1), true.systems)[[*made.systems]]
            common = float(str(made.meta.get("common_error", 0.0)))
            kept = expected_common_error(measure, systems)
            added = (common**2 - kept**2) * made.expected**2
            rows.append(
                pd.DataFrame(
                    {
                        "measure": measure,
                        "unjudged": float(str(made.meta["unjudged_relevant"])),
                        "expected": made.expected,
                        "error": truth.to_numpy() - made.expected,
                        "sd": np.sqrt(np.maximum(made.sd**2 - added, 0.0)),
                    }
                )
            )
    return pd.concat(rows).assign(
        collection=COLLECTIONS[folder].name, systems=systems, depth=depth, seed=seed
    )


def tables(errors: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The c of each measure, of all collections and of all but each; and what intervals hold."""
    errors = errors.assign(
        part=errors["unjudged"] / np.sqrt(errors["systems"]) * errors["expected"].abs()
    )
    of_measures, held = [], []
    for measure, of_measure in errors.groupby("measure", sort=False):
        row: dict[str, str] = {"measure": str(measure), "all": f"{likeliest(of_measure):.3f}"}
        for name in COLLECTIONS.values():
            own = of_measure["collection"] == name.name
            if not own.any():
                continue
            other = likeliest(of_measure[~own])
            row |= {f"without {name.name}": f"{other:.3f}"}
            for (systems, depth), rows in of_measure[own].groupby(["systems", "depth"]):
                size = rows["error"].abs()
                beside = np.sqrt(rows["sd"] ** 2 + (other * rows["part"]) ** 2)
                held.append(
                    {
                        "measure": measure,
                        "collection": name.name,
                        "systems": systems,
                        "depth": depth,
                        "u": rows["unjudged"].mean().round(2),
                        "error, of the score": (rows["error"] / rows["expected"]).mean().round(3),
                        "without": f"{(size <= NORMAL_95 * rows['sd']).mean():.1%}",
                        "with": f"{(size <= NORMAL_95 * beside).mean():.1%}",
                    }
                )
        of_measures.append(row)
    return pd.DataFrame(of_measures), pd.DataFrame(held)


def likeliest(errors: pd.DataFrame) -> float:
    """The c under which errors are likeliest, collections and numbers of systems alike."""
    sizes = errors.groupby(["collection", "systems"])["error"].transform("size")
    weight, error = 1.0 / sizes.to_numpy(), errors["error"].to_numpy()
    own, part = errors["sd"].to_numpy() ** 2, errors["part"].to_numpy()

    def loss(c: float) -> float:
        variance = np.maximum(own + (c * part) ** 2, 1e-12)
        return float(weight @ (np.log(variance) + error**2 / variance))

    return float(minimize_scalar(loss, bounds=(0.0, 2.0), method="bounded").x)


if __name__ == "__main__":
    main()
