"""Chapter 4 of Hosseini 2013: do topics chosen by some systems serve for those that come later?

    RTC_BAYES_DATA=FOLDER python -m experiments.topics.chapter4 [--splits 50]

prints Markdown. In each split 40% of sites are new. On TREC-8, documents that only new runs
retrieved leave the judgments before anything is scored; of Robust 2004 there are scores alone, by
complete judgments. The truth is the mean over all topics by complete judgments. Accuracy is of the
runs that took part, generalization of the new ones, both by equal weights over chosen topics.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.common import read_collection
from rtc_bayes import Estimand, Judgments, ScoreMatrix, kendall_tau, read_groups, select_topics
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.measures.pool_moments import moments
from rtc_bayes.report.tables import to_markdown

SIZES = (5, 10, 20, 35, 50)
SOLVERS = ("greedy", "tau", "lasso", "vote")
RANDOM_SETS = 200
#: Runs of each site in Robust 2004's matrix, whose columns are in alphabetical order of run.
ROBUST_SITES = (5, 10, 10, 9, 10, 10, 11, 10, 6, 6, 1, 10, 8, 4)


class Split(NamedTuple):
    """Scores that may be used, which systems are new, and the truth."""

    scores: ScoreMatrix
    new: NDArray[np.bool_]
    truth: NDArray[np.float64]


class Trec8:
    """All runs, and what becomes of scores when some sites bring no documents."""

    def __init__(self) -> None:
        folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
        runs, qrels = read_collection("trec8_adhoc")
        groups = read_groups(folder / "run_groups.txt")
        self.pool = Estimand("AP", depth=100, unseen=False).pool(runs, qrels)
        self.sites = np.array([groups[name] for name in self.pool.systems])
        self.labels = np.nan_to_num(Judgments.from_qrels(self.pool, qrels).labels)
        entries = self.pool.entries
        within = entries.rank <= 100
        self.brought = np.zeros((len(self.sites), self.pool.n_documents), dtype=bool)
        self.brought[entries.system[within], self.pool.ranked[within]] = True
        rows = [line.split(":") for line in (folder / "runs_table.txt").read_text().split()]
        manual = {name for name, _, _, kind, *_ in rows if kind == "manual"}
        self.manual = np.array([name in manual for name in self.pool.systems])
        self.truth = self.scored(np.zeros(len(self.sites), dtype=bool)).mean.mean(axis=1)

    def scored(self, new: NDArray[np.bool_]) -> ScoreMatrix:
        """Score all runs without what only new ones retrieved."""
        alone = self.brought[new].any(axis=0) & ~self.brought[~new].any(axis=0)
        mean = moments(self.pool, np.where(alone, 0.0, self.labels), measure="AP", pairs="none")
        x = mean.expected[0]
        return ScoreMatrix(x, 0.0 * x, self.pool.systems, self.pool.topics, "AP")

    def splits(self, n: int) -> Iterator[Split]:
        for new in held_out(self.sites, n):
            yield Split(self.scored(new), new, self.truth)


def held_out(sites: NDArray[np.str_], n: int) -> Iterator[NDArray[np.bool_]]:
    """Draw 40% of sites, time and again."""
    names, rng = np.unique(sites), np.random.default_rng(0)
    for _ in range(n):
        chosen = rng.choice(names, size=round(0.4 * len(names)), replace=False)
        yield np.isin(sites, chosen)


def robust_splits(n: int) -> Iterator[Split]:
    path = Path(os.environ["RTC_BAYES_DATA"]) / "score_matrices" / "robust2004_ap.csv"
    scores = ScoreMatrix.from_csv(path, "AP")
    sites = np.repeat([f"site{s:02d}" for s in range(len(ROBUST_SITES))], ROBUST_SITES)
    for new in held_out(sites, n):
        yield Split(scores, new, scores.mean.mean(axis=1))


def agreement(split: Split, weights: NDArray[np.float64], of: NDArray[np.bool_]) -> list[float]:
    """Return tau and Pearson's correlation of some systems with their true mean."""
    means, truth = split.scores.mean[of] @ weights, split.truth[of]
    return [kendall_tau(means, truth) or 0.0, float(np.corrcoef(means, truth)[0, 1])]


def outcomes(split: Split, seed: int, sizes: tuple[int, ...]) -> Iterator[dict[str, object]]:
    """Yield a row for each solver and size."""
    part = {name: 1.0 for name, new in zip(split.scores.systems, split.new, strict=True) if not new}
    topics = split.scores.topics
    rng = np.random.default_rng(seed)

    def both(weights: NDArray[np.float64]) -> list[float]:
        return [*agreement(split, weights, ~split.new), *agreement(split, weights, split.new)]

    for size in sizes:
        drawn = [rng.permutation(len(topics)) < size for _ in range(RANDOM_SETS)]
        yield row("random", size, np.mean([both(one.astype(float)) for one in drawn], axis=0))
        for solver in SOLVERS:
            chosen = select_topics(split.scores, size=size, solver=solver, weights=part, seed=seed)
            weight = dict(zip(chosen.topics, chosen.weights, strict=True))
            b = np.array([weight.get(topic, 0.0) for topic in topics])
            yield row(solver, size, both((b != 0.0).astype(float)))
            if solver == "lasso":
                yield row("lasso, weighted by b", size, both(b))


def row(solver: str, size: int, values: object) -> dict[str, object]:
    names = ("accuracy tau", "accuracy rho", "generalization tau", "generalization rho")
    return {"solver": solver, "size": size, **dict(zip(names, np.asarray(values), strict=True))}


def tables(splits: Iterator[Split], sizes: tuple[int, ...]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield a table of each kind of agreement: solvers by sizes, with 1.96 standard errors."""
    rows = [one for n, split in enumerate(splits) for one in outcomes(split, n, sizes)]
    by = pd.DataFrame(rows).groupby(["solver", "size"], sort=False)
    mean, error = by.mean(), NORMAL_95 * by.std() / np.sqrt(by.count())
    for name in mean.columns:
        text = mean[name].map("{:.3f}".format) + " ±" + error[name].map("{:.3f}".format)
        frame = text.rename("value").reset_index()
        wide = frame.pivot_table("value", "solver", "size", aggfunc="first", sort=False)
        yield name, wide.reset_index().rename_axis(columns=None)


def manual_runs(trec8: Trec8) -> pd.DataFrame:
    """QS1 and QS2: the manual runs are new; all automatic runs count, or their best 30 alone."""
    split = Split(trec8.scored(trec8.manual), trec8.manual, trec8.truth)
    mean = split.scores.mean.mean(axis=1)
    names = np.array(split.scores.systems)
    best = names[np.argsort(-np.where(trec8.manual, -1.0, mean))[:30]]
    rows = []
    for solver in ("greedy", "lasso"):
        for name, systems in (("QS1: all automatic", names[~trec8.manual]), ("QS2: best 30", best)):
            taus: dict[str, object] = {"solver": solver, "by": name}
            for size in (5, 10, 20):
                weight = dict.fromkeys(systems.tolist(), 1.0)
                chosen = select_topics(split.scores, size=size, solver=solver, weights=weight)
                weights = np.isin(split.scores.topics, chosen.topics).astype(float)
                tau, rho = agreement(split, weights, split.new)
                taus[f"{size} topics"] = f"{tau:.3f} / {rho:.3f}"
            rows.append(taus)
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=50)
    splits = parser.parse_args().splits
    trec8 = Trec8()
    for collection, drawn, sizes in (
        ("Robust 2004", robust_splits(splits), SIZES),
        ("TREC-8", trec8.splits(splits), SIZES[:-1]),
    ):
        for name, table in tables(drawn, sizes):
            print(f"**{collection}, {name}**\n\n{to_markdown(table)}", flush=True)
    print(f"**TREC-8, manual runs are new: tau / rho**\n\n{to_markdown(manual_runs(trec8))}")


if __name__ == "__main__":
    main()
