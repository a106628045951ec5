"""Compare simulated collections with the real TREC-8 ad hoc one: a figure and a table.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.simulate.compare

Draws docs/figures/simulate.png and rewrites the table in docs/simulate.md (about 3 minutes).
"""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from experiments.simulate.portrait import Portrait, portrait
from rtc_bayes.collection import read_qrels, read_runs
from rtc_bayes.collection.simulate import simulate
from rtc_bayes.store import atomic_path, atomic_write

DOCS = Path(__file__).parents[2] / "docs"
SEEDS = range(5)
SYSTEMS, TOPICS = 129, 50
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
REAL, SIMULATED = "#1a1a1a", "#d1495b"


def real() -> Portrait:
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    lines = (folder / "run_groups.txt").read_text().splitlines()
    groups = dict(line.split() for line in lines)
    return portrait(read_runs(folder / "runs"), read_qrels(folder / "qrels.txt.gz"), groups)


def simulated(seed: int) -> Portrait:
    made = simulate(n_topics=TOPICS, n_systems=SYSTEMS, seed=seed)
    return portrait(made.runs, made.qrels, made.groups)


def table(trec8: Portrait, simulations: list[Portrait]) -> str:
    lines = [
        f"| | TREC-8 | simulated, mean of {len(simulations)} | lowest | highest |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, value in trec8.table.items():
        values = [made.table[name] for made in simulations]
        numbers = (value, np.mean(values), min(values), max(values))
        digits = 0 if value > 5 or name.startswith("runs") else 3
        lines.append(f"| {name} | " + " | ".join(f"{x:.{digits}f}" for x in numbers) + " |")
    return "\n".join(lines)


def figure(trec8: Portrait, simulations: list[Portrait], path: Path) -> None:
    mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    fig, axes = plt.subplots(2, 3, figsize=(10.5, 6), layout="constrained")

    def lines(ax: plt.Axes, of: str, function, x=None) -> None:
        for made, style in [
            *((made, {"color": SIMULATED, "lw": 0.8, "alpha": 0.7}) for made in simulations),
            (trec8, {"color": REAL, "lw": 1.8}),
        ]:
            y = function(getattr(made, of))
            ax.plot(np.arange(1, len(y) + 1) if x is None else x, y, **style)

    lines(axes[0, 0], "ap", lambda ap: np.sort(ap.mean(axis=1))[::-1])
    axes[0, 0].set(title="MAP of each system", xlabel="system, best first", ylim=(0, None))
    lines(axes[0, 1], "ap", lambda ap: np.sort(ap.mean(axis=0))[::-1])
    axes[0, 1].set(title="mean AP of each topic", xlabel="topic, easiest first", ylim=(0, None))
    lines(axes[0, 2], "relevant", lambda relevant: np.sort(relevant)[::-1])
    axes[0, 2].set(title="relevant documents of each topic", xlabel="topic", yscale="log")
    lines(axes[1, 0], "precision", lambda precision: precision)
    axes[1, 0].set(title="share relevant at a rank", xlabel="rank", xscale="log", ylim=(0, None))
    edges = np.linspace(0, 1, 41)
    middle = (edges[1:] + edges[:-1]) / 2

    def density(overlap: np.ndarray) -> np.ndarray:
        return np.histogram(overlap, edges, density=True)[0]

    lines(axes[1, 1], "overlap_other", density, middle)
    lines(axes[1, 1], "overlap_same", lambda overlap: -density(overlap), middle)
    axes[1, 1].axhline(0, color="0.6", lw=0.6)
    axes[1, 1].set(title="overlap of two runs' first 100", xlabel="share in common", yticks=[])
    axes[1, 1].set_ylabel("one group  |  different groups")
    lines(axes[1, 2], "held100", lambda held: np.sort(held)[::-1])
    axes[1, 2].set(
        title="share of first 100 that\nother groups' pool holds", xlabel="system", ylim=(0, 1)
    )
    axes[0, 0].plot([], [], color=REAL, lw=1.8, label="TREC-8 ad hoc")
    axes[0, 0].plot([], [], color=SIMULATED, lw=0.8, label=f"simulated, {len(simulations)} seeds")
    axes[0, 0].legend(frameon=False, loc="upper right")
    path.parent.mkdir(exist_ok=True)
    with atomic_path(path) as temporary:
        fig.savefig(temporary, dpi=130, metadata={"Software": None})


def main() -> None:
    trec8 = real()
    simulations = [simulated(seed) for seed in SEEDS]
    figure(trec8, simulations, DOCS / "figures" / "simulate.png")
    page = (DOCS / "simulate.md").read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    with atomic_write(DOCS / "simulate.md") as file:
        file.write(f"{before}{BEGIN}\n{table(trec8, simulations)}\n{END}{after}")
    print(table(trec8, simulations))


if __name__ == "__main__":
    main()
