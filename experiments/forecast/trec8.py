"""Forecasts of the judgments that a pair still needs, against what `build` then needed.

    RTC_BAYES_DATA=... python -m experiments.forecast.trec8

Random pairs of TREC-8 runs are judged until 95% confidence. After so many judgments, the model of
the algorithm forecasts how many more there will be. Printed per algorithm: of the pairs still open
the median of both, the median and the quartiles of forecast / actual, and Spearman's correlation.
The algorithm "drawn" judges relevance that is drawn at random as its model has it: .2 for every
document.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from rtc_bayes import FitWarning, Pool, Qrels, Runs, fit, forecast, read_qrels, read_runs
from rtc_bayes.judging import build

# how judgments are chosen, and the model that forecasts
ALGORITHMS = {
    "drawn": ("uniform[p=.2,least=0]:map", "uniform", "map", {"p": "0.2"}),
    "mtc[weight=evr]": ("mtc[weight=evr]", "uniform", "map", {}),
    "rtc:map": ("rtc:map", "rtc", "map", {}),
    "rtc[weight=evr]:map": ("rtc[weight=evr]:map", "rtc", "map", {}),
    "hierarchical:laplace": ("hierarchical[least=0]:laplace", "hierarchical", "laplace", {}),
}
JUDGED = (20, 50, 100, 200, 500)


def drawn(pool: Pool, rng: np.random.Generator) -> Qrels:
    """Judge every document relevant with probability .2."""
    return Qrels(
        {
            topic: {d: int(rng.random() < 0.2) for d in pool.docnos[pool.documents(t)]}
            for t, topic in enumerate(pool.topics)
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("algorithms", nargs="*", default=list(ALGORITHMS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    runs, qrels = read_runs(folder / "runs"), read_qrels(folder / "qrels.txt.gz")
    rng = np.random.default_rng(arguments.seed)
    pairs = [rng.choice(runs.systems, 2, replace=False) for _ in range(arguments.pairs)]
    print("algorithm             judged  open  actual  forecast  ratio  quartiles     rank")
    for name in arguments.algorithms:
        algorithm, model, method, options = ALGORITHMS[name]
        forecasts: dict[int, list[tuple[float, float]]] = {judged: [] for judged in JUDGED}
        for a, b in pairs:
            pool = Pool.from_runs(Runs([runs[a], runs[b]]), depth=100)
            truth = drawn(pool, rng) if name == "drawn" else qrels
            made = build(pool, truth, algorithm, confidence=0.95)
            for judged in (n for n in JUDGED if n < len(made.steps)):
                first = made.judgments.keep(made.judgments.order[:judged])
                relevance = fit(pool, first, model=model, method=method, options=options).relevance
                more = forecast(pool, relevance, a, b, moments="plugin")
                assert more is not None  # all judgments tell
                forecasts[judged].append((more, len(made.steps) - judged))
        for judged, rows in forecasts.items():
            if len(rows) < 5:
                continue
            told, actual = np.array(rows).T
            low, middle, high = np.quantile(told / actual, [0.25, 0.5, 0.75])
            print(
                f"{name:21} {judged:6d}  {len(rows):4d}  {np.median(actual):6.0f}  "
                f"{np.median(told):8.0f}  {middle:5.2f}  "
                f"{low:5.2f} {high:7.2f}  {spearmanr(told, actual)[0]:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
