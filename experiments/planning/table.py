"""Write the tables of docs/results/planning.md from what `experiments.planning.run` made."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from rtc_bayes.report.tables import to_markdown

ABOUT = {False: "mean over all topics of the runs", True: "topics like these"}
COLUMNS = ("sd", "error", "confident", "right")


def of_question(rows: pd.DataFrame) -> pd.DataFrame:
    """Average a question's repetitions, each plan in a row: foretold, then what happened."""
    # root mean squares of what are deviations, means of shares
    squares = ("foretold_sd", "stated_sd", "foretold_error", "error")
    values = rows.drop(columns=["seed", "population"])
    values[[*squares]] **= 2
    means = values.groupby(["topics", "judgments"], as_index=False).mean()
    means[[*squares]] **= 0.5
    table = means[["topics", "judgments", "cost"]].copy()
    for name in COLUMNS:
        happened = "stated_sd" if name == "sd" else name
        form = "{:.4f}" if name in ("sd", "error") else "{:.3f}"
        table[f"{name}: foretold, happened"] = [
            f"{form.format(a)}, {form.format(b)}"
            for a, b in zip(means[f"foretold_{name}"], means[happened], strict=True)
        ]
    return table


def main() -> None:
    """Print both tables of each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    for path in parser.parse_args().files:
        rows = pd.read_csv(path)
        for population, part in rows.groupby("population"):
            ratio = part.error**2 / part.foretold_error**2
            of_seed = np.sqrt(ratio.groupby(part.seed).mean())
            print(
                f"**{path.stem}, {ABOUT[bool(population)]}, {part.seed.nunique()} repetitions**\n"
            )
            print(to_markdown(of_question(part), {"cost": ".0f"}))
            print(
                f"\nError over what was foretold, root mean square: "
                f"{np.sqrt(ratio.mean()):.2f} (by repetition {of_seed.min():.2f} to "
                f"{of_seed.max():.2f})\n"
            )


if __name__ == "__main__":
    main()
