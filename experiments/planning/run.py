"""Plan by a pilot on real collections, carry the plans out, and set what was foretold beside it.

Each repetition draws ten systems and ten topics of a pilot with eight judgments each, plans for
both questions, and then judges more topics, or more documents a topic, with the track's
judgments. `python -m experiments.planning.run -o DIR` writes a CSV for each collection.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.whole_lists.four import read
from rtc_bayes import (
    CollectionWarning,
    Estimand,
    FitWarning,
    JudgingPlan,
    JudgingSession,
    Judgments,
    Pool,
    Qrels,
    Runs,
    ScoreMatrix,
    build,
    compare,
    fit,
    plan,
)

SYSTEMS, PILOT, FIRST = 10, 10, 8
TOPICS, JUDGMENTS = (20, 40), (4, 16)
LEVELS = {"trec8_adhoc": 1, "robust03": 1, "trec_dl20": 2}


def carried_out(
    pool: Pool, qrels: Qrels, pilot: Judgments, judgments: int, level: int
) -> Judgments:
    """Go on from the pilot until every topic of a pool has so many judgments."""
    begun = pilot.on(pool)
    counts = begun.relevant + begun.nonrelevant
    missing = int(np.maximum(judgments - counts, 0).sum())
    session = JudgingSession(
        begun, "robust:gibbs", confidence=None, budget=missing, floor=judgments
    )
    while (document := session.next()) is not None:
        topic = pool.topics[pool.topic_of[document]]
        grade = qrels[topic].get(pool.docnos[document], 0)
        session.observe(document, float(grade >= level))
    return session.judgments


def outcome(
    made: JudgingPlan,
    pool: Pool,
    judged: Judgments,
    about: Estimand,
    truth: pd.DataFrame,
    judgments: int,
) -> dict[str, Any]:
    """Say what was foretold of a plan, and what happened."""
    topics = judged.judged_topics
    comparison = compare(pool, fit(pool, judged, seed=1), about, form="normal")
    stated, below, above = comparison.sd_difference, comparison.p_less, comparison.p_greater
    if made.population:
        on_others = comparison.with_population()
        stated, below, above = (
            np.asarray(getattr(on_others, name))
            for name in ("sd_population", "p_less_population", "p_greater_population")
        )
    held = [topic for topic in truth.columns if not made.population or topic not in topics]
    mean = truth[held].mean(axis=1)
    true = mean[list(comparison.a)].to_numpy() - mean[list(comparison.b)].to_numpy()
    sure = np.maximum(below, above) >= made.confidence
    error = comparison.expected_difference - true
    right = np.sign(comparison.expected_difference) == np.sign(true)
    # what held-back topics differ by from the population
    apart = made.between / len(held) if made.population else 0.0
    foretold = made.sd(len(topics), judgments)
    foretold_confident, foretold_right = made.shares(len(topics), judgments)
    return {
        "population": made.population,
        "topics": len(topics),
        "judgments": judgments,
        "cost": made.cost(len(topics), judgments),
        "foretold_sd": np.sqrt((foretold**2).mean()),
        "stated_sd": np.sqrt((stated**2).mean()),
        "foretold_error": np.sqrt((foretold**2 + apart).mean()),
        "error": np.sqrt((error**2).mean()),
        "foretold_confident": foretold_confident,
        "confident": sure.mean(),
        "foretold_right": foretold_right,
        "right": right.mean(),
        "right_of_confident": right[sure].mean() if sure.any() else np.nan,
    }


def repetition(runs: Runs, qrels: Qrels, level: int, seed: int) -> list[dict[str, Any]]:
    """Plan once for each question, and carry out the same four plans."""
    rng = np.random.default_rng(seed)
    systems = Runs(runs[name] for name in rng.choice(list(runs), SYSTEMS, replace=False))
    about = Estimand(relevance_level=level)
    pool = about.pool(systems, qrels)
    order = [topic for topic in rng.permutation(pool.topics).tolist() if topic in qrels]
    pool = pool.select_topics([topic for topic in pool.topics if topic in set(order)])
    truth = ScoreMatrix.from_qrels(systems, qrels, "AP", relevance_level=level)
    scores = pd.DataFrame(truth.mean, index=list(truth.systems), columns=list(truth.topics))
    pilot = build(
        pool.select_topics(order[:PILOT]),
        qrels,
        "robust:gibbs",
        about,
        confidence=None,
        budget=FIRST * PILOT,
        floor=FIRST,
    ).judgments
    plans = [
        plan(
            pool,
            pilot,
            FIRST * PILOT,
            about,
            population=population,
            judgments_per_topic=JUDGMENTS,
            seed=seed,
        )
        for population in (False, True)
    ]
    rows = []
    for topics in TOPICS:
        part = pool.select_topics([topic for topic in pool.topics if topic in order[:topics]])
        for judgments in JUDGMENTS:
            judged = carried_out(part, qrels, pilot, judgments, level)
            for made in plans:
                over = part if made.population else pool
                row = outcome(made, over, judged, about, scores[list(pool.topics)], judgments)
                rows.append({"seed": seed, **row})
    return rows


def main() -> None:
    """Run the collections that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--collections", nargs="+", choices=list(LEVELS), default=list(LEVELS))
    parser.add_argument("--repetitions", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1, help="of the first repetition")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.collections:
        runs, qrels = read(name)
        rows: list[dict[str, Any]] = []
        for seed in range(options.seed, options.seed + options.repetitions):
            rows += repetition(runs, qrels, LEVELS[name], seed)
            pd.DataFrame(rows).to_csv(options.output / f"{name}.csv", index=False)


if __name__ == "__main__":
    warnings.simplefilter("ignore", CollectionWarning)
    warnings.simplefilter("ignore", FitWarning)
    main()
