"""Priors of `robust` for a collection, from complete judgments of others.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.priors -o priors.json [--jobs 2]

finds, for random sets of 5, 10 and 17 systems of each collection, the parameters of highest
marginal likelihood given complete judgments of all topics (experiments.robust.scales), and averages
them over sets and then over sizes. The prior from some collections is normal about their mean (of
logarithms, for scales), with the standard deviation of the next collection, sqrt(1 + 1 / n) times
theirs, and at least that of the priors before. Prints the parameters as Markdown; writes, as JSON,
the options of `robust` from all collections and, under the folder of each, from the others; and
under `own`, from each collection itself, nearly fixed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

from experiments.robust.scales import FITTED, WIDE, Rows, fitted, rows
from experiments.whole_lists.four import COLLECTIONS, prepared
from rtc_bayes import Judgments, Pool
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.workers import one_thread
from rtc_bayes_models.robust import COEFFICIENTS, Design

SETS = {5: 5, 10: 6, 17: 3}
# m_d is only told by lists of other lengths, and stays as it is
LEAST = {
    "mu": 0.7,
    "m_a": 0.6,
    "m_b": 1.5,
    "m_c": 0.25,
    "m_e": 4.0,
    "s_alpha": 0.3,
    "s_q": 0.25,
    "s_w": 0.2,
    "s_a": 0.4,
    "s_b": 0.4,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    work = (joblib.delayed(parameters)(folder) for folder in COLLECTIONS)
    table = pd.DataFrame(dict(zip(COLLECTIONS, joblib.Parallel(options.jobs)(work), strict=True))).T
    print(to_markdown(table.round(2).reset_index(names="")))
    priors = {folder: prior(table.drop(index=folder)) for folder in COLLECTIONS}
    own = {folder: fixed(table.loc[folder]) for folder in COLLECTIONS}
    every = priors | {"all": prior(table), "own": own}
    options.output.write_text(json.dumps(every, indent=1) + "\n")


def parameters(folder: str) -> pd.Series:
    """Return the coefficients and scales of a collection, scales as logarithms averaged."""
    return by_size(folder, SETS, seed=100).mean()[list(LEAST)]


def by_size(folder: str, sets: Mapping[int, int], *, seed: int) -> pd.DataFrame:
    """Coefficients and logarithms of scales by number of systems, means over random sets."""
    likeliest = []
    with one_thread():
        for design, of_topics in random_sets(folder, sets, seed=seed):
            systems = design.pool.n_systems
            coefficients, scales, _ = fitted(of_topics, WIDE, systems)
            likeliest.append([systems, *coefficients, *np.log(scales)])
    frame = pd.DataFrame(likeliest, columns=["systems", *COEFFICIENTS, *FITTED])
    return frame.groupby("systems").mean().rename_axis(None)


def random_sets(
    folder: str, sets: Mapping[int, int], *, seed: int
) -> Iterator[tuple[Design, list[Rows]]]:
    """Draw sets of systems, and give what the model asks of each, by complete judgments.

    Sizes that the collection does not have become one set, of all its systems.
    """
    runs, labels = prepared(folder)
    every = Pool.from_runs(runs)
    every = every.select_topics([topic for topic in every.topics if topic in labels])
    for wanted, number in sets.items():
        systems = min(wanted, every.n_systems)
        random = np.random.default_rng(seed + systems)
        for _ in range(number if systems < every.n_systems else 1):
            some = sorted(random.choice(every.n_systems, systems, replace=False))
            pool = every.select([every.systems[i] for i in some])
            design = Design(WIDE, Judgments.none(pool, judged_for=pool.systems))
            judged = Judgments.from_qrels(pool, labels)
            yield design, [rows(design, judged, t) for t in range(pool.n_topics)]


def prior(table: pd.DataFrame) -> str:
    """Write the options of `robust` from some collections."""
    spread = table.std(ddof=1) * np.sqrt(1 + 1 / len(table))
    return written(table.mean(), spread.clip(lower=pd.Series(LEAST)))


def fixed(parameters: pd.Series) -> str:
    """Write the options of `robust` that knows a collection's parameters almost exactly."""
    return written(parameters, pd.Series({name: 0.1 if name in FITTED else 0.2 for name in LEAST}))


def written(mean: pd.Series, spread: pd.Series) -> str:
    """Write options, of scales by their logarithms."""
    centre = mean.where(~mean.index.isin(FITTED), np.exp(mean))
    return ",".join(f"{name}={centre[name]:.2f}:{spread[name]:.2f}" for name in LEAST)


if __name__ == "__main__":
    main()
