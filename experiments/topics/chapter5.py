"""Chapter 5 of Hosseini 2013 on TREC-8: a budget for new systems, spent on some topics or on all.

    RTC_BAYES_DATA=FOLDER python -m experiments.topics.chapter5 [--trials 10]

prints Markdown. The documents of a few sites, to some depth, are judged; of the other sites, those
whose runs have least in common with these judgments are new. A budget is spent on the documents
of new runs, on a subset of topics or on all. Then Kendall's tau of the new runs with their order
by all judgments, and of its significant pairs alone: those that a paired t-test at 0.05 tells apart
by all judgments. p+ counts the pairs that the subset orders as all judgments do, less those that
the uniform allocation does.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.common import read_collection
from rtc_bayes import (
    Qrels,
    Runs,
    ScoreMatrix,
    extend,
    kendall_tau,
    mean_average_reuse,
    read_groups,
)
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.topics.variability import mean_p

#: Sites judged for, new sites and depth: about the shares of Table 5.1, of 41 sites.
SETTINGS = ((3, 24, 10), (3, 18, 30), (9, 18, 10), (15, 9, 10))
SHARES = (0.1, 0.3, 0.5)
#: Of the paired t-test that says which pairs are significant.
LEVEL = 0.05


def judged_to(runs: Runs, qrels: Qrels, depth: int) -> dict[str, dict[str, int]]:
    """Return the grades of what some runs have among their first documents."""
    kept = {}
    for topic in qrels:
        pool = {doc for name in runs for doc in runs[name].ranking(topic)[:depth]}
        kept[topic] = {doc: grade for doc, grade in qrels[topic].items() if doc in pool}
    return kept


def means(
    runs: Runs, qrels: Qrels, topics: set[str] | None = None
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the systems, and the mean average precision of each."""
    scores = ScoreMatrix.from_qrels(runs, qrels)
    used = [n for n, topic in enumerate(scores.topics) if topics is None or topic in topics]
    return scores.systems, scores.mean[:, used].mean(axis=1)


class Truth:
    """The order of some runs by all judgments, and which of its pairs are significant."""

    def __init__(self, complete: ScoreMatrix, names: Iterable[str]) -> None:
        place = [complete.systems.index(name) for name in names]
        scores = complete.mean[place]
        a, b = all_pairs(len(place))
        self.mean = scores.mean(axis=1)
        self.pairs = a, b
        self.signs = np.sign(self.mean[a] - self.mean[b])
        self.significant = mean_p(scores)[a, b] < LEVEL

    def tau(self, means: NDArray[np.float64]) -> float:
        return kendall_tau(means, self.mean) or 0.0

    def right(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return 1 for each pair in the true order, -1 for the reverse, 0 for a tie."""
        a, b = self.pairs
        return np.sign(means[a] - means[b]) * self.signs

    def significant_tau(self, means: NDArray[np.float64]) -> float:
        return float(self.right(means)[self.significant].mean())


def trial(
    runs: Runs, qrels: Qrels, sites: dict[str, str], complete: ScoreMatrix, plan: tuple, seed: int
) -> list[dict[str, object]]:
    """Return the taus of one trial by share of Omega."""
    n_judged, n_new, depth = plan
    names = sorted(set(sites.values()))
    first = set(np.random.default_rng(seed).choice(names, n_judged, replace=False).tolist())
    pooled = runs_of(runs, sites, first)
    grades = judged_to(pooled, qrels, depth)
    initial = Qrels(grades)
    reuse = mean_average_reuse(runs, initial)
    of_site = pd.Series(reuse).groupby(pd.Series(sites)).mean().drop(sorted(first))
    new = runs_of(runs, sites, set(of_site.nsmallest(n_new).index))
    scored = Runs(runs[name] for name in runs if name not in new)
    scores = ScoreMatrix.from_qrels(scored, initial)
    first_names, initially = means(new, initial)
    truth = Truth(complete, first_names)
    rows = []
    omega = extend(new, initial).omega
    for share in SHARES:
        row: dict[str, object] = {"share": share, "omega": omega, "runs": len(new)}
        after = {"initial": initially}
        for how, chosen_by in (("uniform", None), ("sa", scores)):
            spent = extend(new, initial, round(share * omega), chosen_by, strategy=how)
            more = Qrels(
                {
                    topic: grades[topic]
                    | {d: qrels[topic].get(d, 0) for d in spent.documents.get(topic, ())}
                    for topic in qrels
                }
            )
            _, after[how] = means(new, more)
        row |= {name: truth.tau(mean) for name, mean in after.items()}
        row["topics"] = len(spent.documents)
        row["selected topics alone"] = truth.tau(means(new, more, set(spent.documents))[1])
        row |= {f"{name}, sig": truth.significant_tau(mean) for name, mean in after.items()}
        gain = (truth.right(after["sa"]) > 0) * 1 - (truth.right(after["uniform"]) > 0)
        row |= {"p+": gain.sum(), "p+, sig": gain[truth.significant].sum()}
        row["share significant"] = truth.significant.mean()
        rows.append(row)
    return rows


def runs_of(runs: Runs, sites: dict[str, str], chosen: set[str]) -> Runs:
    return Runs(runs[name] for name in runs if sites[name] in chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=10)
    trials = parser.parse_args().trials
    runs, qrels = read_collection("trec8_adhoc")
    sites = read_groups(Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc" / "run_groups.txt")
    complete = ScoreMatrix.from_qrels(runs, qrels)
    rows = []
    for plan in SETTINGS:
        for seed in range(trials):
            for row in trial(runs, qrels, sites, complete, plan, seed):
                rows.append({"sites, new, depth": ", ".join(map(str, plan)), **row})
    table = pd.DataFrame(rows).groupby(["sites, new, depth", "share"], sort=False).mean()
    print(to_markdown(table.round(3).reset_index()))


if __name__ == "__main__":
    main()
