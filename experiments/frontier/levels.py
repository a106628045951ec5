"""Where the relevant documents are that a model expects too many of: the level of MAPs.

    RTC_BAYES_DATA=FOLDER python -m experiments.frontier.levels priors.json
        [--collection trec8_adhoc --judge rankvar --judgments 434 --by-runs --brief]

judges for all runs and fits `robust` as `experiments.frontier.run` does; with `--by-runs`, with a
prior of mu for as many runs: lower by 0.3 for e times as many, from ten on. Prints tau and the log
score (natural logarithms), the bias of expected MAPs, and the share of them that 95% intervals
hold. Then, unless `--brief`, how many relevant documents the model expects and how many there are:
among documents that the collection judged, among the others of the pool, and of those that nobody
retrieved; by how many runs retrieve a document; and by its best rank. Then the mean expected AP
where parts of this are replaced by the truth, all by mean probabilities and with plug-in moments
(over draws of the posterior, as in the first line, it is higher). Prints Markdown.
"""

from __future__ import annotations

import argparse
import itertools
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.frontier.run import read
from experiments.whole_lists.four import COLLECTIONS
from rtc_bayes import Pool, log_score, moments
from rtc_bayes.confidence.unseen import with_unseen
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import Collection, Outcome, Plan, outcomes

type Floats = NDArray[np.float64]

FALL = 0.3
RUNS = (0, 1, 2, 4, 8, 16, 32, 1000)
RANKS = (0, 1, 2, 5, 10, 20, 50, 100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("--collection", choices=[*COLLECTIONS], default="trec8_adhoc")
    parser.add_argument("--judge", default="rankvar")
    parser.add_argument("--judgments", type=int, default=434)
    parser.add_argument("--by-runs", action="store_true")
    parser.add_argument("--brief", action="store_true")
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())[options.collection]
    collection, _ = read(options.collection, left_out=False)
    systems = collection.pool.n_systems
    if options.by_runs:
        priors = for_runs(priors, systems)
    plan = Plan(
        (f"{options.judge}/robust[{priors}]:gibbs",),
        n_systems=systems,
        n_initial=systems,
        estimand=collection.estimand,
        budgets=(options.judgments,),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (outcome,) = outcomes(collection, plan, seed=0, trial=0)
    print(first_line(outcome))
    if not options.brief:
        report(outcome, collection)


def for_runs(priors: str, systems: int) -> str:
    """Lower the prior of mu for as many systems, where these are more than ten."""
    options = dict(option.split("=") for option in priors.split(","))
    centre, spread = options["mu"].split(":")
    fall = FALL * np.log(max(systems / 10, 1.0))
    options["mu"] = f"{float(centre) - fall:.2f}:{spread}"
    return ",".join(f"{name}={value}" for name, value in options.items())


def first_line(outcome: Outcome) -> str:
    """Say how well an outcome orders its runs, and how its expected scores lie."""
    systems, pairs = outcome.systems_frame(), outcome.pairs_frame().dropna(subset="correct")
    error, sd = systems["expected"] - systems["true"], systems["sd"]
    score = log_score(pairs["confidence"].to_numpy(), pairs["correct"].to_numpy()).mean()
    held = (error.abs() <= NORMAL_95 * sd).mean()
    return (
        f"tau {outcome.tau:.3f}, log score {score:.3f}, bias {error.mean():+.3f}, "
        f"sd {sd.mean():.3f}, held {held:.1%}\n"
    )


def report(outcome: Outcome, collection: Collection) -> None:
    """Print the tables of an outcome."""
    assert outcome.judgments is not None
    assert outcome.relevance is not None
    pool, judged = outcome.judgments.pool, outcome.judgments.judged
    p = outcome.relevance.probability.mean(("chain", "draw")).to_numpy().astype(np.float64)
    true = collection.labels(pool)
    every = [pool.ranks(t) for t in range(pool.n_topics)]
    retrieved = np.concatenate([(ranks > 0).sum(axis=0) for ranks in every])
    best = np.concatenate([np.where(r > 0, r, RANKS[-1] + 1).min(axis=0) for r in every])
    official = np.concatenate(
        [
            np.isin(pool.docnos[pool.documents(t)], list(collection.qrels.get(topic, {})))
            for t, topic in enumerate(pool.topics)
        ]
    )
    extended, values = with_unseen(pool, p[None])
    frame = pd.DataFrame({"documents": 1, "expected": p, "relevant": true})
    parts = {
        "judged by the model's judge": judged,
        "of the others, judged by the collection": ~judged & official,
        "not judged by the collection": ~judged & ~official,
    }
    rows = [{"": name, **frame[part].sum()} for name, part in parts.items()]
    nobody = {"documents": extended.n_documents - pool.n_documents, "relevant": 0.0}
    rows.append({"": "retrieved by nobody", **nobody, "expected": values.sum() - p.sum()})
    print(to_markdown(pd.DataFrame(rows).round(0)))
    for name, number, edges in (("runs", retrieved, RUNS), ("best rank", best, RANKS)):
        groups = pd.cut(number[~judged], edges).rename_categories([*between(edges)])
        table = frame[~judged].groupby(groups, observed=True).sum().round(0)
        print(to_markdown(table.rename_axis(f"unjudged, by {name}").reset_index()))
    alone = retrieved == 1
    print(
        to_markdown(
            pd.DataFrame(
                [
                    {"mean over runs of": name, "AP": round(score, 4)}
                    for name, score in {
                        "true": float(outcome.truth.mean()),
                        "expected": mean_score(pool, p),
                        "expected, nobody missed any": mean_score(pool, p, unseen=False),
                        "the truth of documents of one run": mean_score(
                            pool, np.where(alone, true, p)
                        ),
                        "the truth of documents of two runs or more": mean_score(
                            pool, np.where(alone, p, true)
                        ),
                        "the truth of all": mean_score(pool, true),
                    }.items()
                ]
            )
        )
    )


def between(edges: tuple[int, ...]) -> Iterator[str]:
    """Name the groups of whole numbers between edges."""
    for low, high in itertools.pairwise(edges):
        yield f"{low + 1}" if high == low + 1 else f"{low + 1} to {high}"


def mean_score(pool: Pool, p: Floats, *, unseen: bool = True) -> float:
    """Mean over systems and topics of expected AP of whole lists."""
    deep, values = replace(pool, score_depth=pool.reach), p[None]
    if unseen:
        deep, values = with_unseen(deep, values)
    table = moments(deep, values, measure="AP", moments="plugin", pairs="none")
    return float(table.mean_expected.mean())


if __name__ == "__main__":
    main()
