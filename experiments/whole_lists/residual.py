"""What a pool of judged documents cannot tell of whole lists: the rule of ``residual="auto"``.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.residual [-o residual.csv]

draws sets of 2 to 40 systems of each collection, gives every document of their pool of depth 100
its label, scores whole lists with the unseen relevant documents that the jackknife expects, and
holds differences on 10, 25 or 50 topics against those by all judgments: the root of their mean
square over the square root of 2. Collections with shallow judgments are condensed to what is
judged. Then the rule n_systems^-power sqrt(lasting^2 + by_topic^2 / n_topics) by mean squares over
all collections, and over the others for each. Prints Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import least_squares

from experiments.whole_lists.four import COLLECTIONS, prepared
from rtc_bayes import Judgments, Pool, evaluate, moments
from rtc_bayes.confidence.unseen import with_unseen
from rtc_bayes.report.tables import to_markdown

type Floats = NDArray[np.float64]

MEASURES = ("AP", "nDCG", "nDCG@10", "R@1000", "P@10")
SETS = {2: 60, 3: 40, 5: 30, 10: 20, 20: 10, 40: 6}
TOPICS, RESAMPLES = (10, 25, 50), 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="a CSV of what is left")
    options = parser.parse_args()
    left = pd.DataFrame([row for folder in COLLECTIONS for row in rows_of(folder)])
    if options.output:
        left.to_csv(options.output, index=False)
    at_most = left[left["topics"] == TOPICS[-1]]
    shape = {"index": ["measure", "collection"], "columns": "systems", "values": "left"}
    print(to_markdown(at_most.pivot_table(**shape).round(4).reset_index()))
    print(to_markdown(pd.DataFrame([*rules(left)])))


def rows_of(folder: str) -> Iterator[dict[str, object]]:
    """Measure what is left, by measure, number of systems and of topics."""
    runs, labels = prepared(folder)
    true = evaluate(runs, labels, MEASURES)
    every = Pool.from_runs(runs).select_topics(true.topics)
    judged = Judgments.from_qrels(every, labels)
    random = np.random.default_rng(1)
    for systems, sets in SETS.items():
        if systems > every.n_systems:
            continue
        errors: dict[str, list[Floats]] = {measure: [] for measure in MEASURES}
        for _ in range(sets):
            some = np.sort(random.choice(every.n_systems, systems, replace=False))
            scores = scores_of(every.select([every.systems[i] for i in some]), judged)
            for measure in MEASURES:
                errors[measure].append(scores[measure] - true[measure][some])
        for measure, of_sets in errors.items():
            for topics in TOPICS:
                left = deviation(np.array(of_sets), topics, random)
                name = COLLECTIONS[folder].name
                yield {
                    "collection": name,
                    "measure": measure,
                    "systems": systems,
                    "topics": topics,
                    "left": left,
                }


def scores_of(pool: Pool, judged: Judgments) -> dict[str, Floats]:
    """Score whole lists with every document labelled: (systems, topics) by measure."""
    place = [
        judged.pool.locate(t, pool.docnos[pool.documents(n)]) for n, t in enumerate(pool.topics)
    ]
    labels = np.nan_to_num(judged.labels[np.concatenate(place)])[None]
    deep = with_unseen(replace(pool, score_depth=pool.reach), labels)
    return {m: moments(*deep, measure=m, pairs="none").expected[0] for m in MEASURES}


def deviation(errors: Floats, topics: int, random: np.random.Generator) -> float:
    """Deviation of a mean error over some topics: of differences, over the square root of 2.

    Errors have shape (sets, systems, topics).
    """
    a, b = np.triu_indices(errors.shape[1], 1)
    apart = errors[:, a] - errors[:, b]
    chosen = (random.choice(errors.shape[2], topics, replace=False) for _ in range(RESAMPLES))
    return float(np.sqrt(np.mean([(apart[..., c].mean(-1) ** 2).mean() for c in chosen]) / 2))


def rules(left: pd.DataFrame) -> Iterator[dict[str, str]]:
    """Fit the rule to all collections and to all but each; say what it expects of that one."""
    for measure, of_measure in left[left["systems"] <= 20].groupby("measure"):
        if not of_measure["left"].max() > 1e-9:
            yield {"measure": str(measure), "without": "", "rule": "0"}
            continue
        for without in ("", *of_measure["collection"].unique()):
            power, lasting, by_topic = fitted(of_measure[of_measure["collection"] != without])
            own = of_measure[(of_measure["collection"] == without) & (of_measure["topics"] == 50)]
            said = (
                f"{s**-power * np.hypot(lasting, by_topic / np.sqrt(50)):.4f} for {x:.4f} ({s})"
                for s, x in zip(own["systems"], own["left"], strict=True)
            )
            yield {
                "measure": str(measure),
                "without": without,
                "rule": f"{power:.2f}, {lasting:.4f}, {by_topic:.3f}",
                "for its own, of so many systems": ", ".join(said),
            }


def fitted(left: pd.DataFrame) -> Floats:
    """Power, lasting and by-topic part of the rule, by mean squares over collections."""
    cells = left.assign(square=left["left"] ** 2).groupby(["systems", "topics"])["square"].mean()
    systems, topics = (cells.index.get_level_values(name) for name in ("systems", "topics"))

    def apart(x: Floats) -> Floats:
        expected = systems ** (-2 * x[0]) * (np.exp(2 * x[1]) + np.exp(2 * x[2]) / topics)
        return np.log(expected) - np.log(cells.to_numpy())

    power, *logs = least_squares(apart, [0.5, np.log(0.02), np.log(0.06)]).x
    return np.array([power, *np.exp(logs)])


if __name__ == "__main__":
    main()
