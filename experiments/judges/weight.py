"""What documents teach of the weight of systems' effects by labels, and what scores ask for.

Labels of prompts of Llama 3.2 and Mistral on DL 2020; no labels of the results page are used. First
every judged document is given, and the weights have wide priors: what documents teach. Then pairs
of systems are compared, beside no or 50 human judgments, by priors of the weight and by shares of
the systems' own effects that remain beside labels: the log score; the slope of expected scores on
true ones; and the mean square of errors of differences in units of their sd, 1 where sds are right.
Example::

    python -m experiments.judges.weight --subsets 3
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rtc_bayes as rb
from experiments.judges.posterior import (
    ABOUT,
    DEPTH,
    LEVEL,
    WITHOUT,
    by_comparison,
    constants,
    judged,
    per_topic,
    read_prompts,
    sets_of_runs,
)
from rtc_bayes.collection.order import all_pairs

PROMPTS = ("llama3.2_p3", "llama3.2_p11", "mistral_p10", "mistral_p31")
MODEL, JUDGED = "hierarchical:laplace", 50
WIDE = (1.0, 1.0)
# human judgments, prior of the weight, share that remains
ASKED = (
    (0, (0.6, 0.01), 0.5),
    (0, (1.0, 0.4), 0.5),
    (0, (1.0, 0.15), 0.25),
    (0, (1.0, 0.15), 0.5),
    (0, (1.0, 0.15), 1.0),
    (JUDGED, (1.0, 0.4), 0.5),
    (JUDGED, (1.0, 0.15), 0.5),
)


def taught(judgments: rb.Judgments, labels: rb.Labels) -> dict[str, float]:
    """Fit all judgments, with a wide prior: the weights of systems' and topics' effects."""
    with constants(SYSTEMS=WIDE):
        fit = rb.fit(judgments.pool, judgments, model="hierarchical:map", labels=labels)
    value = fit.posterior["posterior"]["label_coefficient"]
    weight = value.sel(label_term=["systems", "topics"]).to_numpy().ravel()
    return {"systems": float(weight[0]), "topics": float(weight[1])}


def main() -> None:
    """Print what documents teach, and how well each prior and share does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subsets", type=int, default=3, help="sets of ten runs, at random")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec_dl20"
    runs = rb.read_runs(folder / "runs", depth=DEPTH)
    qrels = rb.read_qrels(folder / "qrels.human.txt.gz")
    panel = read_prompts(PROMPTS)
    weights, made = [], list[dict[str, Any]]()
    for drawn in sets_of_runs(runs, 10, options.subsets, options.seed):
        some = rb.Runs([runs[name] for name in drawn])
        pool = rb.Pool.from_runs(some, depth=DEPTH)
        truth = per_topic(some, qrels, LEVEL).mean(axis=1)
        chosen = {human: judged(pool, qrels, WITHOUT, human) for human in (0, JUDGED)}
        every = rb.Judgments.from_qrels(pool, qrels, relevance_level=LEVEL)
        for name, labels in panel.items():
            weights.append({"judge": name, **taught(every, labels)})
            for human, prior, share in ASKED:
                with constants(SYSTEMS=prior, REMAINING=share):
                    fit = rb.fit(pool, chosen[human], model=MODEL, labels=labels, draws=100)
                comparison = rb.compare(pool, fit, ABOUT, form="normal")
                slope = np.polyfit(truth, comparison.expected, 1)[0]
                a, b = all_pairs(len(truth))
                error = truth[a] - truth[b] - comparison.expected_difference
                about = {"human": human, "prior": prior, "share": share, "slope": slope}
                square = np.mean((error / comparison.sd_difference) ** 2)
                made.append({**about, "square": square, **by_comparison(comparison, truth)})
    print(pd.DataFrame(weights).groupby("judge").mean().round(2).to_string())
    shown = ["log_score", "accuracy", "confidence", "slope", "square"]
    by = ["human", "prior", "share"]
    print(pd.DataFrame(made).groupby(by)[shown].mean().round(3).to_string())


if __name__ == "__main__":
    main()
