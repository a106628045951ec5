"""Tables and the figure of the leaderboard.

    python -m experiments.frontier.page frontier.csv... [--figure docs/figures/frontier.png]

prints Markdown of the rows that `experiments.frontier.run` wrote: means over repetitions, and after
± their standard errors where there are at least ten. Coverage is of models: other intervals are of
another score (of lists cut at the depth, or of topics). The figure shows Kendall's tau and the log
score of the models, and in grey of every judge and evaluator without a model.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from experiments.common import standard_error
from experiments.whole_lists.four import COLLECTIONS
from rtc_bayes.report.tables import to_markdown

TABLES = {
    "tau": "Kendall's tau",
    "significant": "Share of truly different pairs in the right order",
    "log_score": "Log score",
    "surplus": "Accuracy less confidence",
    "coverage": "Coverage of 95% intervals of MAP",
}
ENOUGH = 10
"""Repetitions from which a standard error is given."""
COLORS = {
    "rankvar/robust:gibbs": "#0b5394",
    "mtf/robust:gibbs": "#6fa8dc",
    "rankvar/hierarchical:laplace": "#b45309",
    "mtf/hierarchical:laplace": "#f0a860",
    "hierarchical:map/robust:gibbs": "#6a1b9a",
    "hierarchical:map/hierarchical:laplace": "#2e7d32",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="+", type=Path)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    rows = pd.concat([pd.read_csv(path) for path in options.rows], ignore_index=True)
    rows = rows.drop_duplicates(["collection", "arm", "method", "repetition", "share"], keep="last")
    rows = rows.assign(surplus=rows["accuracy"] - rows["confidence"])
    at_hand = rows[rows["arm"] == "at hand"]
    if options.figure and at_hand.empty:
        parser.error("--figure shows runs judged for, and all rows are of groups left out")
    for (name, arm), of in rows.groupby(["collection", "arm"], sort=False):
        print(f"\n## {COLLECTIONS[str(name)].name}, {HEADS[str(arm)]}\n")
        for column, title in TABLES.items():
            shown = of[of["method"].str.contains(":")] if column == "coverage" else of
            if len(shown):
                print(f"**{title}**\n\n{table(shown, column)}\n")
    if options.figure:
        draw(at_hand, options.figure)


HEADS = {"at hand": "all runs judged for", "left out": "runs of groups left out"}


def table(of: pd.DataFrame, column: str) -> str:
    """Return a row for each method, a column for each number of judgments."""
    judged = of.groupby("share")["judged"].max()
    cells = of.pivot_table(
        index="method", columns="share", values=column, aggfunc=cell, sort=False, dropna=False
    )
    cells = cells[(cells != "–").any(axis=1)].fillna("–")
    cells.columns = [f"{judged[share]:,.0f} ({share:.1%})" for share in cells.columns]
    return to_markdown(cells.reset_index())


def cell(values: pd.Series) -> str:
    """Write a mean, and its standard error where repetitions tell it."""
    some = values.dropna()
    if not len(some):
        return "–"
    mean = f"{some.mean():.3f}"
    return f"{mean} ± {standard_error(some):.3f}" if len(some) >= ENOUGH else mean


def draw(rows: pd.DataFrame, path: Path) -> None:
    """Draw tau and the log score against the number of judgments."""
    import matplotlib.pyplot as plt

    collections = [folder for folder in COLLECTIONS if (rows["collection"] == folder).any()]
    figure, grid = plt.subplots(
        2, len(collections), figsize=(3.1 * len(collections), 5.6), squeeze=False, sharex=True
    )
    for column, folder in enumerate(collections):
        of = rows[rows["collection"] == folder]
        for axes, score in zip(grid[:, column], ("tau", "log_score"), strict=True):
            means = of.pivot_table(index="method", columns="share", values=score)
            rival = [method for method in means.index if ":" not in method]
            for method in rival:
                axes.plot(100 * means.columns, means.loc[method], color="#c4c4c4", lw=1)
            for method, color in COLORS.items():
                if method in means.index:
                    axes.plot(100 * means.columns, means.loc[method], "o-", color=color, lw=2, ms=4)
            axes.set_xscale("log")
            axes.spines[["top", "right"]].set_visible(False)
        grid[0, column].set_title(COLLECTIONS[folder].name, fontsize=11)
        grid[0, column].set_ylim(0.3, 1)
        grid[1, column].set_ylim(0, 0.7)
        ticks = sorted(of["share"].unique() * 100)
        grid[1, column].set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
        grid[1, column].minorticks_off()
        grid[1, column].set_xlabel("% of all judgments")
    grid[0, 0].set_ylabel("Kendall's tau")
    grid[1, 0].set_ylabel("log score (less is better)")
    shown = {method: color for method, color in COLORS.items() if method in set(rows["method"])}
    handles = [plt.Line2D([], [], color=color, marker="o", lw=2, ms=4) for color in shown.values()]
    grey = plt.Line2D([], [], color="#c4c4c4", lw=1)
    figure.legend(
        [*handles, grey],
        [*shown, "judges and evaluators without a model"],
        loc="lower center",
        ncols=4,
        fontsize=9,
        frameon=False,
    )
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(path, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main()
