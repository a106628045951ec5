"""How far the normal, the corrected and the counted form are from the truth, and what auto does.

    python -m experiments.confidence_forms.measure -o forms.csv

makes small collections of a few kinds (below) with 1 to 50 topics, and compares the forms of
P(< 0) + P(= 0) / 2 with shares of many more outcomes (150,000: standard error at most .0013). It
writes a row per pair of systems, and prints the largest and the mean error per kind, expected
number of relevant documents and topics; the errors by skewness and excess kurtosis; and the shape
of outcomes against the shape to first order.

Kinds of probabilities of relevance:

- rare: a topic's documents all have the same, small one.
- graded: logistic in a quality that the systems rank by, with noise.
- judged: graded, and three in ten documents are judged.
- near: rare, and systems that differ by a few exchanges of neighbours.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd

from rtc_bayes import Pool, Relevance, Run, Runs, compare, sample_scores
from rtc_bayes.confidence.forms import TIE

DEPTH, DOCUMENTS, SYSTEMS = 60, 90, 6
FORMS = ("normal", "corrected", "montecarlo", "auto")
CASES = (
    ("rare", 0.3),
    ("rare", 2.0),
    ("rare", 10.0),
    ("graded", 3.0),
    ("graded", 12.0),
    ("judged", 3.0),
    ("judged", 10.0),
    ("near", 3.0),
)
TOPICS = (1, 2, 3, 5, 10, 50)


def collection(kind: str, mean: float, topics: int, seed: int) -> tuple[Pool, np.ndarray]:
    """Runs over small topics, and a probability of relevance for every document."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(topics, DOCUMENTS))
    skill = rng.uniform(0.5, 2.0, size=SYSTEMS)
    base = [np.argsort(-quality[t]) for t in range(topics)]
    runs = []
    for s in range(SYSTEMS):
        rankings = {}
        for t in range(topics):
            order = np.argsort(-(skill[s] * quality[t] + rng.normal(size=DOCUMENTS)))
            if kind == "near":
                order = base[t].copy()
                for place in rng.integers(0, DEPTH - 1, size=2):
                    order[[place, place + 1]] = order[[place + 1, place]]
            rankings[str(t)] = [f"d{i:02d}" for i in order[:DEPTH]]
        runs.append(Run.from_rankings(f"s{s}", rankings))
    pool = Pool.from_runs(Runs(runs), depth=DEPTH)
    p = np.empty(pool.n_documents)
    for t in range(topics):
        inside = pool.documents(t)
        grades = quality[t, [int(docno[1:]) for docno in pool.docnos[inside]]]
        weight = np.ones(len(grades))
        if kind in ("graded", "judged"):
            weight = 1.0 / (1.0 + np.exp(2.0 - 1.5 * (grades + rng.normal(size=len(grades)))))
        of_topic = np.minimum(weight * mean / weight.sum(), 0.9)
        if kind == "judged":
            judged = rng.random(len(grades)) < 0.3
            of_topic[judged] = rng.random(judged.sum()) < of_topic[judged]
        p[inside] = of_topic
    return pool, p


def rows(case: tuple[str, float], topics: int, seed: int, outcomes: int) -> Iterator[dict]:
    """Every pair of one collection: its shape, and the error of every form."""
    pool, p = collection(*case, topics, seed)
    relevance = Relevance.from_values(pool, p)
    compared = {form: compare(pool, relevance, form=form, seed=seed) for form in FORMS}
    scores = sample_scores(pool, p, outcomes=outcomes, seed=seed + 10_000)
    for n, pair in enumerate(compared["normal"].pairs):
        a, b = pool.systems.index(pair.a), pool.systems.index(pair.b)
        difference = scores[:, a] - scores[:, b]
        truth = float((difference < -TIE).mean() + 0.5 * (np.abs(difference) <= TIE).mean())
        row = {"kind": case[0], "mean": case[1], "topics": topics, "seed": seed, "truth": truth}
        row |= {"tie": float((np.abs(difference) <= TIE).mean()), "chosen": ""}
        row |= {"skewness1": pair.skewness, "kurtosis1": pair.excess_kurtosis}
        counted = compared["montecarlo"].pairs[n]
        row |= {"skewness": counted.skewness, "kurtosis": counted.excess_kurtosis}
        for form in FORMS:
            other = compared[form].pairs[n]
            row[form] = abs(other.p_less + 0.5 * other.p_equal - truth)
        row["chosen"] = compared["auto"].form[n]
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output")
    parser.add_argument("--collections", type=int, default=2, help="per kind and topics")
    parser.add_argument("--outcomes", type=int, default=150_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    table = pd.DataFrame(
        row
        for case in CASES
        for topics in TOPICS
        for repeat in range(arguments.collections)
        for row in rows(case, topics, 100 * arguments.seed + repeat, arguments.outcomes)
    )
    if arguments.output:
        table.to_csv(arguments.output, index=False)
    pd.set_option("display.width", 200)
    pd.set_option("display.max_rows", 500)
    pd.set_option("display.max_columns", 50)

    cells = table.groupby(["kind", "mean", "topics"], sort=False)
    largest = cells[list(FORMS)].max().add_suffix(" max")
    share = pd.crosstab([table["kind"], table["mean"], table["topics"]], table["chosen"])
    print(largest.join(cells[["skewness", "kurtosis"]].agg(lambda x: x.abs().mean())).round(3))
    print(share.div(share.sum(axis=1), axis=0).round(2))

    several = table[(table["topics"] >= 3) & (table["tie"] <= 0.001)]
    shape = {
        "skewness up to": pd.cut(several["skewness"].abs(), [-1, 0.05, 0.1, 0.15, 0.3, 0.5, 1, 99]),
        "kurtosis up to": pd.cut(several["kurtosis"].abs(), [-1, 0.15, 0.3, 0.6, 1, 2, 4, 99]),
    }
    for name, bins in shape.items():
        by = several.groupby(bins.rename(name), observed=True)
        print(f"of {by.size().to_dict()} pairs")
        print(by[["normal", "corrected"]].agg(["max", "mean"]).round(4))
    print("auto, by form chosen")
    by = table.groupby("chosen")
    print(by["auto"].agg(["max", "mean", "size"]).round(4))
    print("forms where auto is not the normal")
    print(table[table["chosen"] != "normal"][list(FORMS)].agg(["max", "mean"]).round(4))
    first = several[["skewness1", "kurtosis1"]].abs().mean()
    measured = several[["skewness", "kurtosis"]].abs().mean()
    print(f"mean size to first order {first.round(3).to_dict()}")
    print(f"mean size on outcomes    {measured.round(3).to_dict()}")


if __name__ == "__main__":
    main()
