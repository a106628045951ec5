"""Judge or trust on DL 2020: the gains that `next_actions` foretells, and what comes true of them.

A language model has labelled what some of ten runs rank in their first ten, and people have judged
a few documents. Batches of actions are carried out, a human's judgments or labels of deeper
documents, and the model is fitted anew. What a batch gains is how much lower the mean log score of
all pairs is, against the truth: that of the track, or one drawn from the fit, which tells an error
of the formula from one of the model. Example::

    python -m experiments.judges.actions -o rows.csv --subsets 8
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import rtc_bayes as rb
from experiments.judges.posterior import DEPTH, LABELS, LEVEL, Collection, by_comparison, read
from rtc_bayes.judging.judges import RankVariance

type Floats = NDArray[np.float64]

FIRST = 10
BATCHES = {("track", "human"): (10, 100), ("track", "label"): (100,), ("model", "human"): (10, 100)}
# the track's labels do not reach every document of the pool
SPARE = 3
ESTIMAND = rb.Estimand(relevance_level=LEVEL, depth=DEPTH, scope="pool")


class Case(NamedTuple):
    """Judgments with labels beside them, what is believed given these, and what more may be had."""

    judgments: rb.Judgments
    comparison: rb.Comparison
    every_label: rb.Labels

    @classmethod
    def of(cls, judgments: rb.Judgments, every_label: rb.Labels, model: str, seed: int) -> Case:
        """Fit the model and compare the systems."""
        fit = rb.fit(judgments.pool, judgments, model=model, draws=100, seed=seed)
        comparison = rb.compare(judgments.pool, fit, ESTIMAND, form="normal", seed=seed)
        return cls(judgments, comparison, every_label)

    def actions(self, action: str, count: int) -> pd.DataFrame:
        """Return the best actions of a kind that can be done, with the number of each document."""
        pool = self.judgments.pool
        asked = count * (SPARE if action == "label" else 1)
        table = rb.next_actions(self.comparison, self.judgments, {action: 1}, count=asked)
        at = [pool.locate(t, [d])[0] for t, d in zip(table.topic, table.docno, strict=True)]
        table["document"] = np.array(at, dtype=np.int64)
        if action == "label":
            table = table[table.document.isin(self.every_label.located(pool))]
        return table.head(count)

    def after(self, action: str, documents: NDArray[np.int64], truth: Floats) -> rb.Judgments:
        """Carry out actions."""
        if action == "human":
            return self.judgments.with_labels(documents, truth[documents])
        pool = self.judgments.pool
        labels = self.judgments.judge_labels
        assert labels is not None
        known = np.concatenate([labels.located(pool), documents])
        had = np.isin(self.every_label.located(pool), known)
        return self.judgments.with_judge_labels(self.every_label.keep(had))


def entropy(comparison: rb.Comparison) -> float:
    """Mean entropy of the signs of pairs: the log score that is expected by one's own belief."""
    p = np.clip(comparison.p_greater, 1e-12, 1 - 1e-12)
    return float(-(p * np.log(p) + (1 - p) * np.log1p(-p)).mean())


def first_case(
    collection: Collection, systems: list[str], name: str, human: int, model: str, seed: int
) -> Case:
    """Judge a few documents, and label what some run ranks in its first ten."""
    pool = rb.Pool.from_runs(rb.Runs([collection.runs[s] for s in systems]), depth=DEPTH)
    judgments = rb.Judgments.none(pool, judged_for=pool.systems)
    if human:
        asked = (pool, collection.qrels, RankVariance(), ESTIMAND)
        judgments = rb.build(*asked, confidence=None, budget=human).judgments
    labels = collection.labels[name]
    at = labels.located(pool)
    labels = labels.keep(at >= 0)
    ranks = rb.relevance.document_ranks(pool)[at[at >= 0]]
    shallow = ((ranks > 0) & (ranks <= FIRST)).any(axis=1)
    return Case.of(judgments.with_judge_labels(labels.keep(shallow)), labels, model, seed)


def true_relevance(collection: Collection, case: Case, world: str, seed: int) -> Floats:
    """Relevance of every document: by the track's judgments, or one draw from the fit."""
    pool = case.judgments.pool
    if world == "track":
        topics = np.array(pool.topics, dtype=object)[pool.topic_of]
        both = zip(topics, pool.docnos, strict=True)
        return np.array([float(collection.qrels[t].get(d, 0) >= LEVEL) for t, d in both])
    rng = np.random.default_rng(seed)
    p = case.comparison.asked_setting.values  # noqa: PD011
    drawn = (rng.random(pool.n_documents) < p[rng.integers(len(p))]).astype(float)
    judged = case.judgments.judged
    return np.where(judged, np.nan_to_num(case.judgments.labels), drawn)


def rows(
    collection: Collection, systems: list[str], name: str, human: int, model: str, seed: int
) -> Iterator[dict[str, Any]]:
    """Carry out every batch in every world, from one first case."""
    case = first_case(collection, systems, name, human, model, seed)
    pool, before = case.judgments.pool, entropy(case.comparison)
    tables = {action: case.actions(action, max(n)) for (_, action), n in BATCHES.items()}
    for (world, action), counts in BATCHES.items():
        truth = true_relevance(collection, case, world, seed)
        scored = rb.compare(pool, rb.Relevance.from_values(pool, truth), ESTIMAND).expected
        at_first = by_comparison(case.comparison, scored)["log_score"]
        for count in counts:
            chosen = tables[action].head(count)
            judged = case.after(action, chosen.document.to_numpy(), truth)
            after = Case.of(judged, case.every_label, model, seed)
            yield {
                "world": world,
                "labels": name,
                "human": human,
                "action": action,
                "count": count,
                "done": len(chosen),
                "foretold": chosen.gain.sum(),
                "entropy": before - entropy(after.comparison),
                "gained": at_first - by_comparison(after.comparison, scored)["log_score"],
                "entropy_before": before,
                "before": at_first,
            }


def table_of(made: pd.DataFrame) -> pd.DataFrame:
    """Means, and the standard error of what was gained over subsets of the runs."""
    by = ["world", "action", "count"]
    columns = ["done", "foretold", "entropy", "gained", "entropy_before", "before"]
    each = made.groupby([*by, "subset"], sort=False)[columns].mean().groupby(by, sort=False)
    table = each.mean()
    table["error"] = each["gained"].sem()
    return table


def main() -> None:
    """Read the command line, and write a line for each batch as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--systems", type=int, default=10, help="of each subset, at random")
    parser.add_argument("--subsets", type=int, default=8)
    parser.add_argument("--human", type=int, nargs="+", default=[0, 50])
    parser.add_argument("--labels", nargs="+", choices=list(LABELS), default=["umbrela", "llama"])
    parser.add_argument("--model", default="hierarchical:laplace")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    collection, made = read(), []
    rng = np.random.default_rng(options.seed)
    every = sorted(collection.runs)
    for subset in range(options.subsets):
        drawn = rng.choice(len(every), options.systems, replace=False)
        systems = [every[i] for i in sorted(drawn)]
        for name in options.labels:
            for human in options.human:
                asked = (collection, systems, name, human, options.model, options.seed + subset)
                made += [{"subset": subset, **row} for row in rows(*asked)]
                pd.DataFrame(made).to_csv(options.output, index=False, float_format="%.4g")
    print(table_of(pd.DataFrame(made)).round(4).to_string())


if __name__ == "__main__":
    main()
