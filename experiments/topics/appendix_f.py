"""Appendix F of Hosseini 2013: Table F.2 and Figure F.7, on collections whose runs are public.

    RTC_BAYES_DATA=FOLDER python -m experiments.topics.appendix_f

prints Markdown. Its web collection (TREC 2004) is not public; DL 2020, passages of web pages, is in
its place. Of TREC-8 and DL 2020 average precision is by all judgments, of DL 2020 from grade 2 on.
The first table is Table F.2: the best 75% of systems, ties of the paired t test at .05, and how
many of them a test of variances breaks. The second is Figure F.7: of pairs whose variability
Levene's test (by medians, .05) tells apart on one half of some topics, the share that the other
half orders the other way, and that of pairs told apart on both; 50 random halves, standardised
scores.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.whole_lists.four import COLLECTIONS, read
from rtc_bayes import ScoreMatrix, compare_variability
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.topics.variability import transformed, variance_p

TESTS = {
    "F, as printed": "f-printed",
    "Levene": "levene-median",
    "Pitman and Morgan": "pitman-morgan",
}
TOP = 0.75
HALVES = 50
LEVEL = 0.05
#: Topics of Robust 2004 that the error rate is of: 351 to 450 and 601 to 700.
FIRST = 351


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    robust = ScoreMatrix.from_csv(
        Path(os.environ["RTC_BAYES_DATA"]) / "score_matrices" / "robust2004_ap.csv", "AP"
    )
    matrices = {"Robust 2004": robust}
    for folder in ("trec8_adhoc", "trec_dl20"):
        judged = COLLECTIONS[folder]
        matrices[judged.name] = ScoreMatrix.from_qrels(
            *read(folder), relevance_level=judged.relevance_level
        )
    ties = [row for name, scores in matrices.items() for row in tie_rows(name, scores)]
    print(to_markdown(pd.DataFrame(ties)))
    arrays = {name: scores.mean for name, scores in matrices.items()}
    later = [int(topic) >= FIRST for topic in robust.topics]
    arrays["Robust 2004"] = arrays["Robust 2004"][:, later]
    rates = [row for name, mean in arrays.items() for row in error_rows(name, mean)]
    print(to_markdown(pd.DataFrame(rates)))


def tie_rows(name: str, scores: ScoreMatrix) -> list[dict[str, object]]:
    """Return two rows of Table F.2: of scores as they are, and standardised by topic."""
    rows = []
    for told, transform in (("AP", "none"), ("standardised per topic", "z")):
        row: dict[str, object] = {"collection": name, "scores": told}
        for test, key in TESTS.items():
            counts = compare_variability(
                scores, transform=transform, test=key, level=LEVEL, top=TOP
            ).counts()
            row |= {"pairs": counts["pairs"], "ties": counts["ties"], test: counts["broken"]}
        rows.append(row)
    return rows


def error_rows(name: str, scores: NDArray[np.float64]) -> list[dict[str, object]]:
    """Return the error rate by number of topics in a half."""
    best = np.argsort(-scores.mean(axis=1), kind="stable")[: int(TOP * len(scores))]
    values = transformed(scores[best])
    pairs = all_pairs(len(best))
    rng = np.random.default_rng(0)
    rows = []
    for size in range(10, values.shape[1] // 2 + 1, 10):
        told, told_twice, swapped, swapped_twice = 0, 0, 0, 0
        for _ in range(HALVES):
            order = rng.permutation(values.shape[1])
            halves = values[:, order[:size]], values[:, order[size : 2 * size]]
            apart = [variance_p(half, "levene-median")[pairs] < LEVEL for half in halves]
            sd = [half.std(axis=1, ddof=1) for half in halves]
            one, other = (of_half[pairs[0]] - of_half[pairs[1]] for of_half in sd)
            swap = one * other < 0.0
            told += apart[0].sum()
            swapped += (apart[0] & swap).sum()
            told_twice += (apart[0] & apart[1]).sum()
            swapped_twice += (apart[0] & apart[1] & swap).sum()
        rows.append(
            {
                "collection": name,
                "topics": size,
                "told apart": f"{told / (HALVES * len(pairs[0])):.3f}",
                "error rate": f"{swapped / max(told, 1):.3f}",
                "told apart on both": f"{told_twice / (HALVES * len(pairs[0])):.3f}",
                "their error rate": f"{swapped_twice / max(told_twice, 1):.3f}",
            }
        )
    return rows


if __name__ == "__main__":
    main()
