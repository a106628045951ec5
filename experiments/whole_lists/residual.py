"""What a pool of judged documents cannot tell of whole lists: the rule of ``residual="auto"``.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.residual [-o PREFIX]

draws sets of 1 to 40 systems of each collection, gives every document of their pool of depth 100
its label, scores whole lists with the unseen relevant documents that the jackknife expects, and
holds scores on 10, 25 and all topics against those by all judgments. Collections with shallow
judgments are condensed to what is judged. Then it finds the rule under which these errors are
likeliest, if normal: that of a difference D between two of n systems on T topics has the variance
n^(-2 power) (lasting^2 + by_topic^2 / T) u + kept^2 D^2 / n, where u goes from 0 where their lists
are alike to 2 where they share nothing. The mean error of all systems has as much of the first part
as their lists are alike in the mean, and the last part of their mean score.
Every collection and every number of systems weighs the same, and so do differences and means. The
rule is found from all collections, and for each from the other three; then what 95% intervals of
differences on all topics hold, and log scores of their signs, by numbers of systems and, over all
collections, by how alike lists are. Prints Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import norm

from experiments.whole_lists.four import COLLECTIONS, prepared
from rtc_bayes import Judgments, Pool, evaluate, moments
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.confidence.likeness import likeness, unlikeness
from rtc_bayes.confidence.pair import half_width
from rtc_bayes.confidence.unseen import with_unseen
from rtc_bayes.report.tables import to_markdown

type Floats = NDArray[np.float64]

MEASURES = ("AP", "nDCG", "nDCG@10", "R@1000", "P@10")
SETS = {1: 40, 2: 60, 3: 40, 5: 30, 10: 20, 20: 10, 40: 6}
TOPICS = (10, 25)
PARTS = ("power", "lasting", "by_topic", "kept")
"""Of the rule, in the order in which they are found."""
SYSTEMS = ["2", "3 to 5", "10", "20 and 40"]
LIKENESS = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
_LEAST = 1e-9  # of variances: no error is smaller


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", help="start of the names of two CSV files of errors")
    options = parser.parse_args()
    tables = [tables_of(folder) for folder in COLLECTIONS]
    differences, levels = (pd.concat(parts) for parts in zip(*tables, strict=True))
    if options.output:
        differences.to_csv(f"{options.output}differences.csv", index=False)
        levels.to_csv(f"{options.output}levels.csv", index=False)
    every = [*rules(differences, levels)]
    print(to_markdown(pd.DataFrame([rule for rule, _ in every])))
    own = pd.concat([said for _, said in every if said is not None])
    print(to_markdown(held(own, ["measure", "collection", "among"])))
    print(to_markdown(held(own, ["measure", "likeness"])))


def tables_of(folder: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return errors of differences, and of all systems' mean scores."""
    runs, labels = prepared(folder)
    true = evaluate(runs, labels, MEASURES)
    every = Pool.from_runs(runs).select_topics(true.topics)
    judged = Judgments.from_qrels(every, labels)
    random = np.random.default_rng(1)
    differences, levels = [], []
    for systems, sets in SETS.items():
        for _ in range(sets if systems <= every.n_systems else 0):
            some = np.sort(random.choice(every.n_systems, systems, replace=False))
            pool = every.select([every.systems[i] for i in some])
            expected, like = scores_of(pool, judged), likeness(pool)
            a, b = all_pairs(systems)
            for topics in (*TOPICS, pool.n_topics):
                chosen = random.choice(pool.n_topics, topics, replace=False)
                for measure in MEASURES:
                    score = expected[measure][:, chosen].mean(axis=1)
                    error = score - true[measure][some][:, chosen].mean(axis=1)
                    of = {
                        "collection": COLLECTIONS[folder].name,
                        "measure": measure,
                        "systems": systems,
                        "topics": topics,
                        "all": topics == pool.n_topics,
                    }
                    mean = {"size": score.mean(), "error": error.mean(), "share": like.mean()}
                    levels.append(of | mean)
                    pairs = {
                        "share": unlikeness(like),
                        "size": score[a] - score[b],
                        "error": error[a] - error[b],
                    }
                    differences.append(pd.DataFrame(of | pairs))
    return pd.concat(differences), pd.DataFrame(levels)


def scores_of(pool: Pool, judged: Judgments) -> dict[str, Floats]:
    """Score whole lists with every document labelled: (systems, topics) by measure."""
    place = [
        judged.pool.locate(t, pool.docnos[pool.documents(n)]) for n, t in enumerate(pool.topics)
    ]
    labels = np.nan_to_num(judged.labels[np.concatenate(place)])[None]
    deep = with_unseen(replace(pool, score_depth=pool.reach), labels)
    return {m: moments(*deep, measure=m, pairs="none").expected[0] for m in MEASURES}


def rules(
    differences: pd.DataFrame, levels: pd.DataFrame
) -> Iterator[tuple[dict[str, object], pd.DataFrame | None]]:
    """Fit the rule to all collections and to all but each, and see what it says of that one."""
    for measure in MEASURES:
        pairs = differences[differences["measure"] == measure]
        means = levels[levels["measure"] == measure]
        if not pairs["error"].abs().max() > _LEAST:
            yield {"measure": measure, "without": "", "power": 0}, None
            continue
        for without in ("", *pairs["collection"].unique()):
            rule = fitted(*(of[of["collection"] != without] for of in (pairs, means)))
            row: dict[str, object] = {"measure": measure, "without": without}
            row |= {name: round(value, 4) for name, value in rule.items()}
            own = pairs[(pairs["collection"] == without) & pairs["all"]]
            yield row, judged_by(own, rule) if without else None


def fitted(pairs: pd.DataFrame, means: pd.DataFrame) -> dict[str, float]:
    """The rule under which errors are likeliest."""

    def surprise(logs: Floats) -> float:
        rule = dict(zip(PARTS, np.exp(logs), strict=True))
        left, shared = parts(pairs, rule)
        return cost(pairs, left + shared) + cost(means, sum(parts(means, rule)))

    start = np.log([0.55, 0.01, 0.09, 0.2])
    logs = minimize(surprise, start, method="Nelder-Mead", options={"maxiter": 4000}).x
    return dict(zip(PARTS, np.exp(logs).tolist(), strict=True))


def parts(errors: pd.DataFrame, rule: dict[str, float]) -> tuple[Floats, Floats]:
    """Variance of what is left, and of what all scores share."""
    systems = errors["systems"].to_numpy(dtype=float)
    shared = (rule["kept"] * errors["size"].to_numpy()) ** 2 / systems
    of_topics = rule["lasting"] ** 2 + rule["by_topic"] ** 2 / errors["topics"].to_numpy()
    return systems ** (-2.0 * rule["power"]) * of_topics * errors["share"].to_numpy(), shared


def cost(errors: pd.DataFrame, variance: Floats) -> float:
    """Mean negative log density, collections and numbers of systems weighing the same."""
    cells = errors.groupby(["collection", "systems", "topics"])["error"].transform("size")
    weight = 1.0 / cells.to_numpy()
    variance = variance + _LEAST
    each = np.log(variance) + errors["error"].to_numpy() ** 2 / variance
    return float(weight @ each / weight.sum())


def judged_by(pairs: pd.DataFrame, rule: dict[str, float]) -> pd.DataFrame:
    """Say of every difference whether its interval holds it, and how good its sign is."""
    left, shared = parts(pairs, rule)
    error, sd = pairs["error"].to_numpy(), np.sqrt(left + _LEAST)
    true = pairs["size"].to_numpy() - error
    half = half_width(sd, np.sqrt(shared))
    right = norm.cdf(pairs["size"].to_numpy() / sd * np.sign(true))
    return pairs.assign(
        among=pd.cut(pairs["systems"], [0, 2, 5, 10, 40], labels=SYSTEMS),
        likeness=pd.cut(1.0 - pairs["share"] / 2.0, LIKENESS, include_lowest=True),
        held=np.abs(error) <= half,
        square=error**2 / (sd**2 + shared),
        score=np.where(true == 0.0, np.nan, -np.log(np.maximum(right, 1e-9))),
        confidence=norm.cdf(np.abs(pairs["size"]) / sd),
        correct=np.where(true == 0.0, np.nan, pairs["size"] * true > 0.0),
    )


def held(pairs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Means over pairs, of which those whose true scores are equal have no sign."""
    rows = pairs.groupby(by, observed=True, sort=False)
    return pd.DataFrame(
        {
            "pairs": rows.size(),
            "accuracy": rows["correct"].mean().round(3),
            "confidence": rows["confidence"].mean().round(3),
            "log score": rows["score"].mean().round(3),
            "95% intervals hold": rows["held"].mean().map("{:.0%}".format),
            "errors, rms": np.sqrt(rows["square"].mean()).round(2),
        }
    ).reset_index()


if __name__ == "__main__":
    main()
