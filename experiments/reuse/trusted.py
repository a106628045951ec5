"""Whether the tests of reusability can be trusted, and what they find.

    RTC_BAYES_DATA=FOLDER python -m experiments.reuse.trusted [--repetitions 200] [--seed 1000]
        [-o trusted.csv]

takes matrices of true average precision (TREC ad hoc 5 to 8, Robust 2004), calls every few columns
in turn a group, draws a hold-out design for each repetition, and multiplies what held-out systems
score: by 1 (nothing is lost), or by 1 - loss, for all groups alike or for every other group. Counts
how often each test rejects at .05: the loss and the chi-squares of agreement by permuted topics,
and the chi-squares as printed, by 3 degrees of freedom. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from rtc_bayes import ScoreMatrix, hold_out
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.reuse.agreement import chi_square_p
from rtc_bayes.reuse.held import COMPARISONS, HeldScores
from rtc_bayes.reuse.permutation import permutation_p, permuted_statistics, statistics

#: Groups and groups held out, by matrix.
MATRICES = {
    "adhoc5_ap": (6, 2),
    "adhoc6_ap": (6, 2),
    "adhoc7_ap": (6, 2),
    "adhoc8_ap": (6, 2),
    "robust2004_ap": (13, 2),
}
LOSSES = (0.05, 0.1, 0.2, 0.3)
PERMUTATIONS = 199
LEVEL = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--power", type=int, default=50, help="repetitions with a loss")
    parser.add_argument("--seed", type=int, default=1000, help="of the first repetition")
    parser.add_argument("-o", "--output", type=Path, help="a CSV of the counts")
    options = parser.parse_args()
    rows = pd.DataFrame(rejections(options.repetitions, options.power, options.seed))
    if options.output:
        rows.to_csv(options.output, index=False)
    print(to_markdown(rows))


def rejections(repetitions: int, power: int, seed: int) -> Iterator[dict[str, object]]:
    """Count rejections, condition by condition."""
    for name in MATRICES:
        yield rejected(name, 0.0, "none", repetitions, seed)
    for name in ("adhoc8_ap", "robust2004_ap"):
        for kind in ("all groups", "half of them"):
            for loss in LOSSES:
                yield rejected(name, loss, kind, power, seed)


def rejected(name: str, loss: float, kind: str, repetitions: int, seed: int) -> dict[str, object]:
    """Return how often each test rejects."""
    path = Path(os.environ["RTC_BAYES_DATA"], "score_matrices", f"{name}.csv")
    scores = ScoreMatrix.from_csv(path, "AP")
    n_groups, held = MATRICES[name]
    edges = np.arange(len(scores.systems)) * n_groups // len(scores.systems)
    groups = {system: f"site{n + 1:02d}" for system, n in zip(scores.systems, edges, strict=True)}
    rejections = [
        one(scores, groups, held, loss, kind, seed=seed + number) for number in range(repetitions)
    ]
    shares = pd.DataFrame(rejections).le(LEVEL).mean()
    return {"matrix": name, "lose": kind, "loss": loss, "repetitions": repetitions, **shares}


def one(
    scores: ScoreMatrix, groups: dict[str, str], held: int, loss: float, kind: str, seed: int
) -> dict[str, float]:
    """Return the p-values of one repetition."""
    design = hold_out(groups, scores.topics, held, on_remainder="cycle", seed=seed)
    out = ~design.mask(scores.systems, groups, scores.topics)
    if kind == "half of them":
        names = sorted(set(groups.values()))
        chosen = np.random.default_rng(seed).permutation(names)[: len(names) // 2]
        out &= np.isin([groups[system] for system in scores.systems], chosen)[:, None]
    lowered = ScoreMatrix(
        np.where(out, (1.0 - loss) * scores.mean, scores.mean),
        scores.variance,
        scores.systems,
        scores.topics,
        scores.measure,
    )
    both = HeldScores.under(lowered, groups, design)
    true, permuted = statistics(both), permuted_statistics(both, PERMUTATIONS, seed)
    p = {"loss, permuted": permutation_p(true.loss, permuted.loss)}
    for n, comparison in enumerate(COMPARISONS):
        square = float(true.chi_square[n])
        p[f"{comparison}, permuted"] = permutation_p(square, permuted.chi_square[:, n])
        p[f"{comparison}, printed"] = chi_square_p(square)
    return p


if __name__ == "__main__":
    main()
