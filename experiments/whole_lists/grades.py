"""The grade of an unjudged document: by its topic alone, and by how high systems rank it, too.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.grades priors.json
        [--collections NAME... --trials 4 --seed 5000 --concentrations 1 2 4 8]

prints, for collections whose judgments have grades, the share of relevant documents that have the
highest grade, by their best rank in any run. Then trials as `experiments.whole_lists.trials` has,
with two to four judgments a topic: the slope of the grades; the log loss of the grades of unjudged
documents given whether they are relevant; expected nDCG@10 less the true one, and the share of
scores that 95% intervals hold; each by topic alone (slope 0) and with the slope, and these log
losses by other concentrations. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.whole_lists.four import COLLECTIONS, read
from rtc_bayes import Estimand, Pool, Qrels, Relevance, Runs, compare
from rtc_bayes.collection.grades import CONCENTRATION, GradeDistribution
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import Collection, Outcome, Plan, outcomes, quietly

#: Judgments of a trial: the medians of `experiments.whole_lists.trials`.
JUDGED = {"robust03": 350, "trec_dl20": 189, "clef_ehealth_2015": 231}
RANKS = (1, 3, 10, 30, 100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("--collections", nargs="+", choices=[*JUDGED], default=[*JUDGED])
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--seed", type=int, default=5000)
    parser.add_argument("--concentrations", type=float, nargs="+", default=[1.0, 2.0, 4.0, 8.0])
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())
    shares, trials = [], []
    for folder in options.collections:
        judged = COLLECTIONS[folder]
        runs, qrels = read(folder)
        runs = runs.condensed(qrels) if judged.truth == "judged" else runs
        shares.append({"": judged.name, **by_best_rank(runs, qrels, judged.relevance_level)})
        plan = Plan(
            (f"robust[{priors[folder]}]:gibbs",),
            moments="plugin",
            budgets=(JUDGED[folder],),
            estimand=Estimand("nDCG@10", relevance_level=judged.relevance_level, topics="judged"),
        )
        collection = Collection.from_runs(runs, qrels, plan.estimand)
        rows = []
        for trial in range(options.trials):
            with quietly():
                (outcome,) = outcomes(collection, plan, options.seed + trial, trial=trial)
                rows += [*scores(outcome, qrels, collection.estimand, options.concentrations)]
        by = ["grades by", "concentration"]
        means = pd.DataFrame(rows).groupby(by, sort=False).mean().round(3).reset_index()
        trials.append(means.assign(collection=judged.name))
    print(to_markdown(pd.DataFrame(shares)))
    print(to_markdown(pd.concat(trials)))


def by_best_rank(runs: Runs, qrels: Qrels, level: int) -> dict[str, str]:
    """Share of the highest grade among relevant documents, by their best rank in any run."""
    pool = Pool.from_runs(runs)
    rows = []
    for t, topic in enumerate(pool.topics):
        ranks = pool.ranks(t)
        best = np.where(ranks > 0, ranks, np.inf).min(axis=0)
        grades = [qrels.get(topic, {}).get(d, -1) for d in pool.docnos[pool.documents(t)]]
        rows.append(np.column_stack([best, grades]))
    best, grade = np.vstack(rows).T
    place = np.searchsorted(RANKS, best[grade >= level])
    highest = grade[grade >= level] == grade.max()
    return {
        f"best rank to {rank}": f"{highest[place == i].mean():.2f} of {(place == i).sum()}"
        for i, rank in enumerate(RANKS)
    }


def scores(
    outcome: Outcome, qrels: Qrels, estimand: Estimand, concentrations: list[float]
) -> Iterator[dict[str, object]]:
    """Score grades by topic alone, and with the slope; the losses by other concentrations."""
    assert outcome.relevance is not None
    assert outcome.judgments is not None
    pool, shipped = outcome.judgments.pool, outcome.relevance.grades
    assert shipped is not None
    level = estimand.relevance_level or 1
    topics = [pool.topics[t] for t in pool.topic_of]
    grade = np.array(
        [qrels.get(t, {}).get(d, -1) for t, d in zip(topics, pool.docnos, strict=True)]
    )
    rows = ~outcome.judgments.judged & (grade >= 0)
    relevant = (grade[rows] >= level).astype(int)

    def distribution(heights: bool, concentration: float) -> GradeDistribution:
        made = GradeDistribution.from_qrels(
            shipped.judged,
            relevance_level=level,
            heights=shipped.heights if heights else None,
            concentration=concentration,
        )
        assert made is not None
        return made

    for heights, concentration in product((False, True), {CONCENTRATION, *concentrations}):
        grades = distribution(heights, concentration)
        chances = grades.chances(pool)
        # a grade above the highest judged is impossible by either
        possible = grade[rows] <= grades.highest
        lost = -np.log(
            chances[relevant[possible], np.flatnonzero(rows)[possible], grade[rows][possible]]
        )
        row = {
            "grades by": "topic and height" if heights else "topic",
            "concentration": concentration,
            "slope": grades.slope,
            "log loss, relevant": lost[relevant[possible] == 1].mean(),
            "log loss, nonrelevant": lost[relevant[possible] == 0].mean(),
        }
        if concentration == CONCENTRATION:
            relevance = Relevance(outcome.relevance.probability, grades=grades)
            comparison = compare(outcome.pool, relevance, estimand, seed=1)
            error = comparison.expected - outcome.truth
            row |= {
                "bias of nDCG@10": error.mean(),
                "mean sd": comparison.sd.mean(),
                "95% of scores": (np.abs(error) < NORMAL_95 * comparison.sd).mean(),
            }
        yield row


if __name__ == "__main__":
    main()
