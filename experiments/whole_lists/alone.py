"""One run alone, its first documents judged: how many relevant documents it missed.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.alone priors.json
        [--runs 16 --jobs 2 --seed 1900]

draws runs of each collection, judges what one ranks in its first 10 (DL 2020 and CLEF: 5), and
compares it alone by AP about whole lists, `robust` with priors from the other three collections
(experiments.whole_lists.priors). The truth is by all judgments. A row each with the documents that
`unseen` adds, and without; prints Markdown.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

from experiments.whole_lists.four import COLLECTIONS, judged_to, prepared
from experiments.whole_lists.shallow import DEPTHS, maps
from rtc_bayes import Estimand, Judgments, Pool, Runs, compare, fit
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import quietly


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1900)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())
    work = []
    for folder in COLLECTIONS:
        tags = sorted(prepared(folder)[0])
        random = np.random.default_rng(options.seed)
        chosen = random.choice(tags, min(options.runs, len(tags)), replace=False)
        work += [joblib.delayed(held_alone)(folder, str(tag), priors[folder]) for tag in chosen]
    rows = pd.concat(joblib.Parallel(options.jobs)(work))
    by = ["collection", "missed documents"]
    means = rows.groupby(by, sort=False).mean()
    means.insert(0, "runs", rows.groupby(by, sort=False).size())
    print(to_markdown(means.round(3).reset_index()))


def held_alone(folder: str, tag: str, prior: str) -> pd.DataFrame:
    """Hold the expected score of one run to the truth."""
    with quietly():
        every, labels = prepared(folder)
        run = Runs([every[tag]])
        true = float(maps(run, labels)[tag])
        judged = judged_to(run, labels, DEPTHS[folder])
        pool = Pool.from_runs(run).select_topics([t for t in run.topics if t in labels])
        fitted = fit(
            pool,
            Judgments.from_qrels(pool, judged, judged_for=pool.systems),
            model=f"robust[{prior}]:gibbs",
        )
        rows = []
        for unseen in (False, True):
            comparison = compare(pool, fitted, Estimand(unseen=unseen), moments="plugin")
            error = float(comparison.expected[0]) - true
            rows.append(
                {
                    "missed documents": "half of those found" if unseen else "none",
                    "true": true,
                    "bias": error,
                    "error": abs(error),
                    "95% of scores": abs(error) <= NORMAL_95 * float(comparison.sd[0]),
                }
            )
    return pd.DataFrame(rows).assign(collection=COLLECTIONS[folder].name)


if __name__ == "__main__":
    main()
