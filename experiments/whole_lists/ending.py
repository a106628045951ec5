"""The confidence that ends judging by nDCG@10, against what `compare` then says.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.ending priors.json
        [--collections NAME... --systems 4 --trials 15 --seed 7000]

On collections whose judgments have grades, random systems are judged by `robust`, with the priors
of the other three, until every pair has 95%; once by sessions that are told grades, once by
sessions that are told relevance alone. `compare` has a fit of its own, all grades, and like the
session neither unseen documents nor a residual. Prints, as Markdown, the least confidence of a pair
by each, their mean absolute difference, and its largest.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.whole_lists.four import COLLECTIONS, Judged, read
from rtc_bayes import Estimand, Judgments, Pool, Qrels, Runs, compare, fit
from rtc_bayes.judging import JudgingSession
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import quietly

GRADED = ("robust03", "trec_dl20", "clef_ehealth_2015")
MEASURE = "nDCG@10"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("--collections", nargs="+", choices=GRADED, default=[*GRADED])
    parser.add_argument("--systems", type=int, default=4)
    parser.add_argument("--trials", type=int, default=15)
    parser.add_argument("--seed", type=int, default=7000)
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())
    rows = []
    for folder in options.collections:
        judged = COLLECTIONS[folder]
        runs, qrels = read(folder)
        runs = runs.condensed(qrels) if judged.truth == "judged" else runs
        model = f"robust[{priors[folder]}]:gibbs"
        for told in ("relevance", "grades"):
            ends = []
            for trial in range(options.trials):
                drawn = np.random.default_rng([options.seed, trial])
                part = runs.select(sorted(drawn.choice(runs.systems, options.systems, False)))
                with quietly():
                    ends.append(ending(part, qrels, judged, model, trial, told == "grades"))
            frame = pd.DataFrame(ends)
            apart = (frame["by the session"] - frame["by compare"]).abs()
            rows.append(
                {
                    "": judged.name,
                    "told": told,
                    "trials": len(frame),
                    "judged, median": frame["judged"].median(),
                    **frame[["by the session", "by compare"]].mean().round(3),
                    "apart": f"{apart.mean():.3f}",
                    "apart at most": f"{apart.max():.3f}",
                }
            )
            print(to_markdown(pd.DataFrame(rows)), flush=True)


def ending(
    runs: Runs, qrels: Qrels, judged: Judged, model: str, seed: int, graded: bool
) -> dict[str, float]:
    """Judge until sure, and compare: the least confidence of a pair by both."""
    pool, level = Pool.from_runs(runs), judged.relevance_level
    pool = pool.select_topics([topic for topic in pool.topics if topic in qrels])
    none = Judgments.none(pool, relevance_level=level, judged_for=pool.systems)
    session = JudgingSession(none, model, measure=MEASURE, seed=seed)
    grades = []
    while (document := session.next()) is not None:
        of_topic = qrels.get(pool.topics[pool.topic_of[document]], {})
        grades.append(max(of_topic.get(pool.docnos[document], 0), 0))
        session.observe(document, float(grades[-1] >= level), grades[-1] if graded else None)
    made = session.judgments
    made = made.relabelled(made.labels[made.order], grades)
    about = Estimand(MEASURE, relevance_level=level, unseen=False, residual=0.0)
    compared = compare(pool, fit(pool, made, model=model, seed=seed), about, seed=seed)
    return {
        "judged": made.n_judged,
        "by the session": session.confidence or np.nan,
        "by compare": float(compared.to_frame()["confidence"].min()),
    }


if __name__ == "__main__":
    main()
