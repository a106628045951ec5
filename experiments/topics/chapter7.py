"""Chapter 7 of Hosseini 2013 on TREC-8: a few thousand judgments spent in three stages.

    RTC_BAYES_DATA=FOLDER python -m experiments.topics.chapter7 [--trials 10]

prints Markdown. The 116 automatic runs take part: their depth-100 pool is judged in part, half of
the budget first and the rest in two equal stages. The 13 manual runs are new: they are scored by
the same sample, and bring no documents. Kendall's tau and the root mean squared error are of statAP
against average precision by all judgments, of whole lists. Trials are other random numbers.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.common import read_collection
from rtc_bayes import Pool, Runs, Sample, ScoreMatrix, allocate, kendall_tau, stat_ap
from rtc_bayes.report.tables import to_markdown

BUDGETS = (2000, 4000)
DEPTH = 100

#: By the name of a row, how the budget is spent.
WAYS: dict[str, dict[str, object]] = {
    "UN": {"strategy": "uniform"},
    "RA": {"strategy": "ra", "gain_weight": 0.0},
    "SA": {"strategy": "sa"},
    "QDP, lambda 0": {"strategy": "qdp", "gain_weight": 0.0},
    "QDP, lambda 0.1": {"strategy": "qdp"},
    "QDP, lambda 1": {"strategy": "qdp", "gain_weight": 1.0},
    "QDP*, lambda 0": {"strategy": "qdp*", "gain_weight": 0.0},
    "QDP*, lambda 0.1": {"strategy": "qdp*"},
    "QDP*, lambda 1": {"strategy": "qdp*", "gain_weight": 1.0},
}


def manual_runs() -> set[str]:
    """Return the names of manual runs."""
    table = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc" / "runs_table.txt"
    rows = [line.split(":") for line in table.read_text().split()]
    return {name for name, _, _, kind, *_ in rows if kind == "manual"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--sampling", default="rank", help="rank, depth, uniform or pool")
    parser.add_argument("--by", default="svm", help="what says how much is relevant and unjudged")
    parser.add_argument("--ways", default=",".join(map(str, range(len(WAYS)))), help="which rows")
    options = parser.parse_args()
    runs, qrels = read_collection("trec8_adhoc")
    truth = ScoreMatrix.from_qrels(runs, qrels)
    true = dict(zip(truth.systems, truth.mean.mean(axis=1).tolist(), strict=True))
    manual = manual_runs()
    everyone = Pool.from_runs(runs, depth=DEPTH, score_depth=1000)
    automatic = Runs(runs[name] for name in runs if name not in manual)
    pool = Pool.from_runs(automatic, depth=DEPTH, score_depth=1000)
    new = np.array([name in manual for name in everyone.systems])
    target = np.array([true[name] for name in everyone.systems])
    rows = []
    for budget in BUDGETS:
        for name in [list(WAYS)[int(n)] for n in options.ways.split(",")]:
            for seed in range(options.trials):
                how = dict(WAYS[name])
                if how["strategy"] not in ("uniform", "sa"):
                    how["by"] = options.by
                spent = allocate(pool, qrels, budget, sampling=options.sampling, seed=seed, **how)
                sample = Sample.from_prels(everyone, spent.to_prels())
                means = stat_ap(sample).scores.mean.mean(axis=1)
                row: dict[str, object] = {"judged": budget, "by": name}
                for who, held in (("participating", ~new), ("new", new)):
                    row[f"tau, {who}"] = kendall_tau(means[held], target[held])
                    row[f"RMSE, {who}"] = ((means - target)[held] ** 2).mean() ** 0.5
                row["topics in stage 3"] = np.count_nonzero(list(spent.stages[2].judged.values()))
                rows.append(row)
    table = pd.DataFrame(rows).groupby(["judged", "by"], sort=False)
    print(to_markdown(table.mean().round(3).reset_index()))
    print(f"\nStandard deviation over {options.trials} trials:\n")
    print(to_markdown(table.std().round(3).reset_index()))


if __name__ == "__main__":
    main()
