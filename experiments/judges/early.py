"""Which documents people should judge first beside labels of DL 2020, and what each choice gains.

Labels of the pool by prompts of Llama 3.2 and Mistral, or by the judges of the results page. Each
row is a set of runs, a prompt and a rule that chooses as many documents as there are topics, or so
many times that as its name says: these documents' mean probability of relevance by labels alone,
the share of them that is relevant, and the log score, accuracy, confidence and tau of pairs once
they are judged. `gain` is how much lower the log score is than without judgments, with the standard
error over sets of runs, which share topics and judgments: all of them may have the same luck.
Example::

    python -m experiments.judges.early -o rows.csv --systems 10 --subsets 8
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import rtc_bayes as rb
from experiments.judges.posterior import (
    ABOUT,
    DEPTH,
    LABELS,
    LEVEL,
    Collection,
    by_comparison,
    constants,
    judged,
    per_topic,
    read,
    read_prompts,
    relevant_of,
    sets_of_runs,
)

GIVEN_LABELS = "hierarchical:map"
PROMPTS = ("llama3.2_p12", "llama3.2_p14", "mistral_p3", "mistral_p24")
NOTHING, MOST = "nothing", 4

type Documents = NDArray[np.int64]
type Probability = NDArray[np.floating]


def in_turn(judge: str, collection: Collection, pool: rb.Pool, seed: int) -> Documents:
    """Documents that a judge chooses: the first of each topic, the second of each, and so on."""
    budget, asked = MOST * pool.n_topics, (pool, collection.qrels, judge, ABOUT)
    order = rb.build(*asked, confidence=None, budget=budget, seed=seed).judgments.order
    return order.reshape(MOST, pool.n_topics)


def rules(
    by_variance: Documents, at_random: Documents, with_labels: Probability, without: Probability
) -> dict[str, Documents]:
    """Documents by each rule, given probabilities of relevance with the labels and without."""
    each = np.arange(by_variance.shape[1])
    unsure = np.abs(with_labels - 0.5)[by_variance].argmin(axis=0)
    moved = np.abs(with_labels - without)[by_variance].argmax(axis=0)
    return {
        "rankvar, first": by_variance[0],
        "rankvar, second": by_variance[1],
        "rankvar, second to fourth (3)": by_variance[1:],
        "rankvar, first to fourth (4)": by_variance,
        "of rankvar's four, least sure": by_variance[unsure, each],
        "of rankvar's four, most changed by labels": by_variance[moved, each],
        "sample": at_random[0],
        "sample (4)": at_random,
    }


def rows(
    collection: Collection,
    systems: list[str],
    panel: dict[str, rb.Labels],
    fit: Callable[..., rb.Fit],
    seed: int,
) -> Iterator[dict[str, Any]]:
    """Judge by each rule beside each prompt's labels."""
    runs = rb.Runs([collection.runs[name] for name in systems])
    pool = rb.Pool.from_runs(runs, depth=DEPTH)
    truth = per_topic(runs, collection.qrels, LEVEL).mean(axis=1)
    none = rb.Judgments.none(pool, relevance_level=LEVEL, judged_for=pool.systems)
    relevant = relevant_of(pool, collection.qrels)
    by_variance = in_turn("rankvar", collection, pool, seed)
    at_random = in_turn("sample", collection, pool, seed)
    without = fit(pool, none).relevance.on(pool)[1].mean(axis=0)
    for name, labels in panel.items():
        first = fit(pool, none, labels=labels)
        with_labels = first.relevance.on(pool)[1].mean(axis=0)
        documents: dict[str, Documents | None] = {NOTHING: None}
        documents |= rules(by_variance, at_random, with_labels, without)
        budget = MOST * pool.n_topics
        order = judged(pool, collection.qrels, GIVEN_LABELS, budget, labels=labels).order
        documents[f"{GIVEN_LABELS} given the labels"] = order[: pool.n_topics]
        documents[f"{GIVEN_LABELS} given the labels ({MOST})"] = order
        for rule, at in documents.items():
            row, fitted = {"judge": name, "rule": rule, "n": 0}, first
            if at is not None:
                judgments = none.with_labels(at.ravel(), relevant[at.ravel()])
                fitted = fit(pool, judgments, labels=labels)
                row |= {"n": at.size, "p": with_labels[at].mean(), "relevant": relevant[at].mean()}
            comparison = rb.compare(pool, fitted, ABOUT, form="normal")
            yield row | by_comparison(comparison, truth)


def table_of(made: pd.DataFrame) -> pd.DataFrame:
    """Means over prompts and sets of runs, and what each rule gains over no judgments."""
    columns = ["n", "p", "relevant", "log_score", "accuracy", "confidence", "tau"]
    table = made.groupby("rule", sort=False)[columns].mean()
    each = made.pivot_table("log_score", "subset", "rule")
    gain = each.rsub(each[NOTHING], axis=0)
    return table.assign(gain=gain.mean(), error=gain.sem())


def main() -> None:
    """Read the command line, and write a line for each fit as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--systems", type=int, default=0, help="at random; 0: all")
    parser.add_argument("--subsets", type=int, default=1)
    parser.add_argument("--prompts", nargs="+", default=PROMPTS)
    parser.add_argument(
        "--reported", nargs="+", choices=list(LABELS), default=[], help="in place of prompts"
    )
    parser.add_argument("--df", type=float, help="of the systems' own effects; else ours")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    collection, made = read(), list[dict[str, Any]]()
    reported = {name: collection.labels[name] for name in options.reported}
    panel = reported or read_prompts(options.prompts)

    def fit(pool: rb.Pool, judgments: rb.Judgments, **labels: Any) -> rb.Fit:
        asked = {"draws": options.draws, "chains": 2, "seed": options.seed}
        with constants(OWN_DF=options.df):
            return rb.fit(pool, judgments, model="robust", **asked, **labels)

    drawn = sets_of_runs(collection.runs, options.systems, options.subsets, options.seed)
    for subset, systems in enumerate(drawn):
        for row in rows(collection, systems, panel, fit, options.seed + subset):
            made.append({"subset": subset, **row})
            pd.DataFrame(made).to_csv(options.output, index=False, float_format="%.4g")
    print(table_of(pd.DataFrame(made)).round(3).to_string())


if __name__ == "__main__":
    main()
