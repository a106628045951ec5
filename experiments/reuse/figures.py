"""Figures of the tutorial on reusability, from what its commands write.

    python -m experiments.reuse.figures FOLDER -o docs/figures

FOLDER is where the commands of docs/tutorials/reusable.md were run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import rtc_bayes as rb
from rtc_bayes.report import reuse_figures as drawn
from rtc_bayes.report.drawing import figure_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder in which the tutorial was followed")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/figures"))
    options = parser.parse_args()
    folder = options.folder
    runs, judged = rb.read_runs(folder / "track/runs"), rb.read_qrels(folder / "judged.qrels")
    groups = rb.read_groups(folder / "track/groups.csv")
    design = rb.read_hold_out(folder / "design.csv")
    result, predicted = (
        rb.reusability(scores, groups, design, judged=judged)
        for scores in (
            rb.ScoreMatrix.from_qrels(runs, judged),
            rb.expected_scores(runs, judged),
        )
    )
    save(drawn.group_losses(result.by_group(), "MAP"), options.output / "reuse-groups.png")
    both = drawn.permuted_losses(
        {
            "unjudged is not relevant": (result.permuted.loss, result.loss),
            "unjudged is predicted": (predicted.permuted.loss, predicted.loss),
        },
        "MAP",
    )
    save(both, options.output / "reuse-loss.png")


def save(figure: Axes | Figure, path: Path) -> None:
    """Write a figure as PNG."""
    figure_of(figure).savefig(path, dpi=150)


if __name__ == "__main__":
    main()
