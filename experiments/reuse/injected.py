"""What the model of the loss says of losses that were put in.

    RTC_BAYES_DATA=FOLDER python -m experiments.reuse.injected [--repetitions 40]

takes matrices of true average precision, calls every few columns in turn a group, draws a hold-out
design for each repetition and multiplies what held-out systems score by 1 - loss. Holds the
posterior of the loss in MAP to the loss that was put in: bias, posterior sd beside the sd of the
errors, and how often the central 90% interval covers. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from rtc_bayes import ScoreMatrix, hold_out, loss_posterior
from rtc_bayes.report.tables import to_markdown

MATRICES = {"adhoc5_ap": 6, "adhoc7_ap": 6, "adhoc8_ap": 6, "robust2004_ap": 13}
LOSSES = (0.0, 0.1, 0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=40)
    options = parser.parse_args()
    print(to_markdown(pd.DataFrame(rows(options.repetitions)).round(4)))


def rows(repetitions: int) -> Iterator[dict[str, object]]:
    """Put losses in, and find them."""
    for name, n_groups in MATRICES.items():
        path = Path(os.environ["RTC_BAYES_DATA"], "score_matrices", f"{name}.csv")
        scores = ScoreMatrix.from_csv(path, "AP")
        edges = np.arange(len(scores.systems)) * n_groups // len(scores.systems)
        groups = {s: f"site{n + 1:02d}" for s, n in zip(scores.systems, edges, strict=True)}
        for loss in LOSSES:
            repeated = [one(scores, groups, loss, seed) for seed in range(repetitions)]
            error, sd, covered, true = np.array(repeated).T
            yield {
                "matrix": name,
                "put in": f"{loss:.0%}",
                "in MAP": true.mean(),
                "bias": error.mean(),
                "its se": error.std(ddof=1) / np.sqrt(repetitions),
                "posterior sd": sd.mean(),
                "sd of errors": error.std(ddof=1),
                "covered": covered.mean(),
            }


def one(
    scores: ScoreMatrix, groups: dict[str, str], loss: float, seed: int
) -> tuple[float, float, bool, float]:
    """Return the error of the posterior mean, its sd, whether it covers, and the true loss."""
    design = hold_out(groups, scores.topics, 2, on_remainder="cycle", seed=seed)
    out = ~design.mask(scores.systems, groups, scores.topics)
    lowered = np.where(out, (1.0 - loss) * scores.mean, scores.mean)
    matrix = ScoreMatrix(lowered, scores.variance, scores.systems, scores.topics, "AP")
    posterior = loss_posterior(matrix, groups, design, draws=300, tune=200, chains=2, seed=seed)
    lost = scores.mean - lowered
    true = float(np.mean([lost[s, out[s]].mean() for s in range(len(lost))]))
    low, high = posterior.interval(0.9)
    return posterior.overall.mean() - true, posterior.overall.std(), low <= true <= high, true


if __name__ == "__main__":
    main()
