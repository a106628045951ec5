"""What each layer's uncertainty adds to the variance of a difference in MAP, as Markdown.

    RTC_BAYES_DATA=FOLDER python -m experiments.layered.shares [--trials 5]

Ten systems of each collection at random, judgments of `mtc` for two of them, and a fit of `layered`
by NUTS. Then the expected difference of every pair is computed over the draws with one layer's
parameters drawn and the others at their posterior mean. The share is the variance of that over the
variance with all drawn; shares need not add up to 1, as layers multiply.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.whole_lists.four import COLLECTIONS, prepared
from rtc_bayes import Judgments, Pool, build, fit, moments
from rtc_bayes.errors import FitWarning
from rtc_bayes.relevance import Fit, load_model
from rtc_bayes.report.tables import to_markdown

A_TOPIC = 3.5
LAYERS = {
    "1: prevalence and curve of topics": ("logit_m", "log_k", "z_prevalence"),
    "2: calibration of systems": (
        "offset", "slope", "log_s_offset", "log_s_slope", "x_A", "x_B",
    ),
    "3: weights of systems": ("weight", "log_s_weight", "x_lambda"),
}  # fmt: skip
ORDER = (
    "logit_m", "log_k", "offset", "slope", "weight", "log_s_offset", "log_s_slope",
    "log_s_weight", "z_prevalence", "x_A", "x_B", "x_lambda",
)  # fmt: skip
_DRAWS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    rows = []
    for folder, judged in COLLECTIONS.items():
        runs, qrels = prepared(folder)
        shares = []
        for trial in range(options.trials):
            chosen = np.random.default_rng(trial).choice(runs.systems, 10, replace=False).tolist()
            pool = Pool.from_runs(runs.select(chosen), depth=100)
            two = Pool.from_runs(runs.select(chosen[:2]), depth=100)
            budget = round(A_TOPIC * pool.n_topics)
            judgments = build(two, qrels, algorithm="mtc", budget=budget).judgments.on(pool)
            made = fit(pool, judgments, model="layered", draws=400, tune=500, seed=trial)
            shares.append(shares_of(made, judgments))
        rows.append({"": judged.name, **pd.DataFrame(shares).mean().to_dict()})
    print(to_markdown(pd.DataFrame(rows), dict.fromkeys(LAYERS, ".0%")))


def shares_of(made: Fit, judgments: Judgments) -> dict[str, float]:
    """Return the share of every layer, the median over pairs."""
    posterior = made.posterior["posterior"]
    count = posterior.sizes["chain"] * posterior.sizes["draw"]
    draws = np.hstack([posterior[name].to_numpy().reshape(count, -1) for name in ORDER])
    draws = draws[:: max(1, len(draws) // _DRAWS)]
    widths = [posterior[name].to_numpy()[0, 0].size for name in ORDER]
    layer_of = np.repeat(
        [next(layer for layer, names in LAYERS.items() if n in names) for n in ORDER], widths
    )
    everything = between(judgments, draws)
    return {
        layer: float(
            np.median(
                between(judgments, np.where(layer_of == layer, draws, draws.mean(axis=0)))
                / everything
            )
        )
        for layer in LAYERS
    }


def between(judgments: Judgments, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance over points of every pair's expected difference."""
    density = load_model("layered").density(judgments)  # type: ignore[attr-defined]
    p = np.array([density.p(x) for x in points])
    p[:, judgments.order] = judgments.labels[judgments.order]
    table = moments(judgments.pool, p, moments="plugin")
    spread: NDArray[np.float64] = table.difference_expected.var(axis=0)
    return spread


if __name__ == "__main__":
    main()
