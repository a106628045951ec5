"""Judge or trust on DL 2020: the gains that `next_actions` foretells, and what comes true of them.

A language model has labelled what some of ten runs rank in their first ten, and people have judged
a few documents. Batches of actions are carried out, a human's judgments or labels of deeper
documents, and the model is fitted anew. What a batch gains is how much lower the mean log score of
all pairs is, against the track's judgments. With `--simulated` small pools are simulated, and the
truth is drawn from the first fit: whether the formula foretells what such a model gains if it is
right. Example::

    python -m experiments.judges.actions -o rows.csv --subsets 8
    python -m experiments.judges.actions -o rows.csv --simulated 300
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import rtc_bayes as rb
from experiments.judges.posterior import (
    DEPTH,
    LABELS,
    LEVEL,
    WITHOUT,
    Collection,
    by_comparison,
    judged,
    read,
    relevant_of,
    sets_of_runs,
)

type Floats = NDArray[np.float64]

FIRST = 10
BATCHES = {"human": (10, 100), "label": (100,)}
SIMULATED = {"human": (5, 30)}
# the track's labels do not reach every document of the pool
SPARE = 3


class Case(NamedTuple):
    """Judgments with labels beside them, what is believed given these, and what more may be had."""

    judgments: rb.Judgments
    comparison: rb.Comparison
    every_label: rb.Labels

    @classmethod
    def of(cls, judgments: rb.Judgments, every_label: rb.Labels, model: str, seed: int) -> Case:
        """Fit the model and compare the systems."""
        fit = rb.fit(judgments.pool, judgments, model=model, draws=100, seed=seed)
        comparison = rb.compare(
            judgments.pool, fit, about(judgments.pool), form="normal", seed=seed
        )
        return cls(judgments, comparison, every_label)

    @classmethod
    def first(
        cls, judgments: rb.Judgments, labels: rb.Labels, rank: int, model: str, seed: int
    ) -> Case:
        """Give labels of what some run ranks so high."""
        pool = judgments.pool
        at = labels.located(pool)
        labels = labels.keep(at >= 0)
        ranks = rb.relevance.document_ranks(pool)[at[at >= 0]]
        shallow = ((ranks > 0) & (ranks <= rank)).any(axis=1)
        return cls.of(judgments.with_judge_labels(labels.keep(shallow)), labels, model, seed)

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
        labelled = np.concatenate([labels.located(pool), documents])
        had = np.isin(self.every_label.located(pool), labelled)
        return self.judgments.with_judge_labels(self.every_label.keep(had))


def entropy(comparison: rb.Comparison) -> float:
    """Mean entropy of the signs of pairs: the log score that is expected by one's own belief."""
    p = np.clip(comparison.p_greater, 1e-12, 1 - 1e-12)
    return float(-(p * np.log(p) + (1 - p) * np.log1p(-p)).mean())


def about(pool: rb.Pool) -> rb.Estimand:
    """Score lists as deep as the pool, by its own documents."""
    return rb.Estimand(relevance_level=LEVEL, depth=pool.depth, scope="pool")


def on_track(
    collection: Collection, systems: list[str], name: str, human: int, model: str, seed: int
) -> tuple[Case, Floats]:
    """Judge a few of the track's documents, and return what is true of all."""
    pool = rb.Pool.from_runs(rb.Runs([collection.runs[s] for s in systems]), depth=DEPTH)
    judgments = judged(pool, collection.qrels, WITHOUT, human)
    truth = relevant_of(pool, collection.qrels)
    return Case.first(judgments, collection.labels[name], FIRST, model, seed), truth


def simulated(model: str, seed: int) -> tuple[Case, Floats]:
    """Simulate a pool, labels that are wrong one time in five, and ten judgments; draw a truth."""
    made = rb.simulate(n_topics=10, n_systems=5, documents=1000, depth=20, seed=seed)
    pool = rb.Pool.from_runs(made.runs, depth=20)
    rng = np.random.default_rng(seed)
    topics = [pool.topics[t] for t in pool.topic_of]
    both = zip(topics, pool.docnos, strict=True)
    relevant = np.array([made.qrels[t].get(d, 0) > 0 for t, d in both])
    said = relevant ^ (rng.random(pool.n_documents) < 0.2)
    labels = rb.Labels.of(topics, pool.docnos, ["llm"] * len(said), said.astype(int))
    judged = rng.choice(pool.n_documents, 10, replace=False)
    judgments = rb.Judgments.none(pool, relevance_level=LEVEL, judged_for=pool.systems)
    judgments = judgments.with_labels(judged, relevant[judged].astype(float))
    case = Case.first(judgments, labels, FIRST, model, seed)
    p = case.comparison.asked_setting.values  # noqa: PD011
    truth = (rng.random(pool.n_documents) < p[rng.integers(len(p))]).astype(float)
    truth[judged] = relevant[judged]
    return case, truth


def rows(
    case: Case, truth: Floats, batches: Mapping[str, tuple[int, ...]], model: str, seed: int
) -> Iterator[dict[str, Any]]:
    """Carry out every batch from one first case."""
    pool, before = case.judgments.pool, entropy(case.comparison)
    scored = rb.compare(pool, rb.Relevance.from_values(pool, truth), about(pool)).expected
    at_first = by_comparison(case.comparison, scored)["log_score"]
    for action, counts in batches.items():
        table = case.actions(action, max(counts))
        for count in counts:
            chosen = table.head(count)
            judged = case.after(action, chosen.document.to_numpy(), truth)
            after = Case.of(judged, case.every_label, model, seed)
            yield {
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
    """Means, and standard errors over subsets of the runs."""
    by = ["action", "count"]
    columns = ["done", "foretold", "entropy", "gained", "entropy_before", "before"]
    each = made.groupby([*by, "subset"], sort=False)[columns].mean().groupby(by, sort=False)
    table = each.mean()
    for name in ("entropy", "gained"):
        table[f"{name}_error"] = each[name].sem()
    return table


def main() -> None:
    """Read the command line, and write a line for each batch as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--systems", type=int, default=10, help="of each subset, at random")
    parser.add_argument("--subsets", type=int, default=8)
    parser.add_argument("--simulated", type=int, default=0, help="so many pools, in place of these")
    parser.add_argument("--human", type=int, nargs="+", default=[0, 50])
    parser.add_argument("--labels", nargs="+", choices=list(LABELS), default=["umbrela", "llama"])
    parser.add_argument("--model", default="hierarchical:laplace")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    made: list[dict[str, Any]] = []

    def add(about_it: dict[str, Any], begun: tuple[Case, Floats], batches: Any, seed: int) -> None:
        made.extend({**about_it, **row} for row in rows(*begun, batches, options.model, seed))
        pd.DataFrame(made).to_csv(options.output, index=False, float_format="%.4g")

    for seed in range(options.seed, options.seed + options.simulated):
        add({"subset": seed}, simulated(options.model, seed), SIMULATED, seed)
    if not options.simulated:
        collection = read()
        drawn = sets_of_runs(collection.runs, options.systems, options.subsets, options.seed)
        for subset, systems in enumerate(drawn):
            seed = options.seed + subset
            for name, human in product(options.labels, options.human):
                begun = on_track(collection, systems, name, human, options.model, seed)
                add({"subset": subset, "labels": name, "human": human}, begun, BATCHES, seed)
    print(table_of(pd.DataFrame(made)).round(4).to_string())


if __name__ == "__main__":
    main()
