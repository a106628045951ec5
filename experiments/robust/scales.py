"""The parameters of `robust` under complete judgments, for sets of 2 to 17 systems.

    RTC_BAYES_DATA=FOLDER python experiments/robust/scales.py

prints posterior means under priors several times as wide as the model's, of 16 random topics of
random sets of runs: what the priors in docs/robust.md were read off.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from rtc_bayes import Judgments, Pool, read_qrels, read_runs
from rtc_bayes.relevance import Sampling
from rtc_bayes_models.robust import COEFFICIENTS, SCALES, Robust

WIDE = Robust(
    mu=(-3.0, 2.0),
    m_a=(0.0, 5.0),
    m_b=(0.0, 8.0),
    m_c=(0.0, 1.0),
    m_d=(0.0, 4.0),
    m_x=(0.0, 2.0),
    s_alpha=(1.0, 1.0),
    s_v=(0.5, 1.0),
    s_w=(1.0, 1.0),
    s_a=(0.5, 1.0),
    s_b=(0.5, 1.0),
    s_u=(0.5, 0.0),
    df=4.0,
)
TOPICS = 16


def main() -> None:
    print("| |", " | ".join(["systems", *COEFFICIENTS, *SCALES]), "|")
    for name in ("robust03", "trec8_adhoc"):
        data = Path(os.environ["RTC_BAYES_DATA"]) / name
        pool, qrels = Pool.from_runs(read_runs(data / "runs")), read_qrels(data / "qrels.txt.gz")
        random = np.random.default_rng(0)
        for systems in (2, 5, 10, 17):
            found = []
            for _ in range(3 if systems < 10 else 2):
                chosen = random.choice(pool.n_systems, systems, replace=False)
                some = pool.select([pool.systems[i] for i in sorted(chosen)])
                topics = random.choice(pool.n_topics, TOPICS, replace=False)
                judgments = of_topics(Judgments.from_qrels(some, qrels), topics)
                drawn = WIDE.gibbs(judgments, Sampling(150, 2, 100, 1)).parameters
                scales = np.exp(drawn["log_s"]).mean(axis=(0, 1))
                found.append([*(drawn[n].mean() for n in COEFFICIENTS), *scales])
            means = " | ".join(f"{value:.2f}" for value in np.mean(found, axis=0))
            print(f"| {name} | {systems} | {means} |", flush=True)


def of_topics(judgments: Judgments, topics: np.ndarray) -> Judgments:
    """Keep the judgments of some topics, of documents that a system ranks."""
    pool = judgments.pool
    ranked = np.zeros(pool.n_documents, dtype=bool)
    ranked[pool.ranked] = True
    kept = [d for d in judgments.order if ranked[d] and pool.topic_of[d] in topics]
    return Judgments.from_labels(pool, kept, judgments.labels[kept], judged_for=pool.systems)


if __name__ == "__main__":
    main()
