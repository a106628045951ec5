"""How far the rho that `suggest_topics` states is from the true one, and its scores from the truth.

    RTC_BAYES_DATA=FOLDER python -m experiments.topics.stated_rho [--systems 12] [--starts 8]

On TREC-8 and Robust 2003, random systems and random topics that are judged in full: the ten topics
that are suggested first, by rho as it is stated and as all judgments have it; and of the topics
without judgments how many true scores lie in the interval of the expected score ± 1.96 standard
deviations, with the root mean square error and standard deviation. Prints Markdown.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

from experiments.whole_lists.four import read
from rtc_bayes import (
    Judgments,
    Pool,
    Qrels,
    Runs,
    TopicSelection,
    select_adaptively,
    suggest_topics,
)
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.report.tables import to_markdown

COLLECTIONS = {"trec8_adhoc": "TREC-8", "robust03": "Robust 2003"}
BELIEFS = ("logistic", "hierarchical:map", "hierarchical:laplace")
JUDGED = (3, 6, 12)
FIRST = 10


def start(runs: Runs, qrels: Qrels, by: str, n: int, systems: int, seed: int) -> dict[str, float]:
    """Judge n random topics, and hold what is said of the others to the truth."""
    rng = np.random.default_rng([n, seed])
    part = runs.select(sorted(rng.choice(runs.systems, systems, replace=False)))
    pool = Pool.from_runs(part)
    topics = [topic for topic in pool.topics if topic in qrels]
    pool = pool.select_topics(topics)
    chosen = sorted(rng.choice(topics, n, replace=False).tolist())
    judged = Judgments.from_qrels(pool, Qrels({topic: qrels[topic] for topic in chosen}))
    ranked = suggest_topics(pool, judged, by=by).head(FIRST)
    # lists as deep as the pool, which topics are chosen by
    complete = select_adaptively(pool, qrels, len(topics), first=topics).scores
    true = [TopicSelection.of_topics(complete, [*chosen, t]).rho for t in ranked["topic"]]
    partly = select_adaptively(pool, qrels, n, first=chosen, by=by).scores
    others = ~np.isin(pool.topics, chosen)
    error = (partly.mean - complete.mean)[:, others]
    sd = np.sqrt(partly.variance[:, others])
    return {
        "stated rho": ranked["rho"].mean(),
        "true rho": float(np.mean(true)),
        "intervals hold": (np.abs(error) <= NORMAL_95 * sd).mean(),
        "error": float(np.sqrt((error**2).mean())),
        "sd": float(np.sqrt((sd**2).mean())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=12)
    parser.add_argument("--starts", type=int, default=8)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for folder, name in COLLECTIONS.items():
        runs, qrels = read(folder)
        for by in BELIEFS:
            for n in JUDGED:
                made = [
                    start(runs, qrels, by, n, options.systems, seed)
                    for seed in range(options.starts)
                ]
                means = pd.DataFrame(made).mean().round(3).to_dict()
                rows.append({"": name, "belief": by, "topics judged": n, **means})
                print(to_markdown(pd.DataFrame(rows)), flush=True)


if __name__ == "__main__":
    main()
