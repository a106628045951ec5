"""How far statAP is off, and how often its intervals hold the truth.

    RTC_BAYES_DATA=FOLDER python -m experiments.topics.stat_ap [--repetitions 30 --seed 0]

Of each collection ten runs at random, pooled to depth 100 and scored so far; samples of several
sizes, by `rtc_bayes.inclusion_probabilities`, drawn again and again. Held to average precision by
all judgments of the same pool: the bias, the standard deviation over samples for the one that is
stated, and the share of 95% intervals that hold the truth, each the mean over runs; and the mean
number of topics with fewer than two relevant documents drawn. Prints Markdown.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from experiments.whole_lists.four import judged_to, prepared
from rtc_bayes import Pool, Sample, ScoreMatrix, inclusion_probabilities, stat_ap
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.report.tables import to_markdown

COLLECTIONS = {"trec8_adhoc": "TREC-8", "robust03": "Robust 2003"}
SIZES = (30, 60, 150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for folder, name in COLLECTIONS.items():
        every, labels = prepared(folder)
        rng = np.random.default_rng(options.seed)
        runs = every.select(sorted(rng.choice(every.systems, 10, replace=False).tolist()))
        pool = Pool.from_runs(runs).select_topics([t for t in runs.topics if t in labels])
        judged = judged_to(runs, labels, pool.depth)
        complete = Sample.draw(pool, judged, np.ones(pool.n_documents))
        truth = ScoreMatrix.from_judgments(complete.judgments).mean.mean(axis=1)
        for size in SIZES:
            probability = inclusion_probabilities(pool, size)
            made = [
                stat_ap(Sample.draw(pool, judged, probability, seed=seed))
                for seed in range(options.repetitions)
            ]
            scores = np.array([each.scores.mean.mean(axis=1) for each in made])
            stated = np.array([np.sqrt(np.diag(each.covariance)) for each in made])
            held = np.abs(scores - truth) <= NORMAL_95 * stated
            rows.append(
                {
                    "collection": name,
                    "documents a topic": size,
                    "bias": f"{(scores - truth).mean():+.3f}",
                    "sd for stated sd": round((scores.std(axis=0) / stated.mean(axis=0)).mean(), 2),
                    "95% intervals": f"{held.mean():.0%}",
                    "topics with few": np.mean([each.few for each in made]).round(1),
                }
            )
    print(to_markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
