"""Figures 4.1 and 6.5 of Hosseini 2013 on TREC-8: how much depends on which topics are drawn.

    RTC_BAYES_DATA=FOLDER python -m experiments.topics.figures

writes docs/figures/topics-first.png (6.5: orders that begin with each topic) and
docs/figures/topics-best-worst.png (4.1), and prints how many topics reach a correlation of 0.95:
Pearson's, of the mean average precision over a set of topics with that over all. Random sets are
1000 of each size: the best, the median and the worst. "Found" sets grow by the topic that raises
the correlation most, or lowers it most.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.common import read_collection
from experiments.topics.chapter6 import taus_by_first
from rtc_bayes import ScoreMatrix

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
RANDOM_SETS = 1000
ENOUGH = 0.95


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    runs, qrels = read_collection("trec8_adhoc")
    truth = ScoreMatrix.from_qrels(runs, qrels)
    curves = best_and_worst(truth)
    for name, curve in curves.items():
        print(f"{name}: {ENOUGH} reached at {1 + int(np.argmax(curve >= ENOUGH))} topics")
    figures = {
        "topics-best-worst": best_worst_figure(curves),
        "topics-first": first_topics_figure(*taus_by_first(truth)),
    }
    for name, figure in figures.items():
        figure.savefig(FIGURES / f"{name}.png", dpi=130, metadata={"Software": None})


def best_and_worst(truth: ScoreMatrix) -> dict[str, NDArray[np.float64]]:
    """Return the correlation by number of topics, of sets of five kinds."""
    scores, n = truth.mean, len(truth.topics)
    overall = scores.mean(axis=1)
    rng = np.random.default_rng(0)
    orders = rng.permuted(np.tile(np.arange(n), (RANDOM_SETS, 1)), axis=1)
    random = np.empty((RANDOM_SETS, n))
    for k, order in enumerate(orders):
        means = scores[:, order].cumsum(axis=1) / np.arange(1, n + 1)
        random[k] = correlations(means, overall)
    return {
        "best found": step_by_step(scores, overall, 1.0),
        "best of random": random.max(axis=0),
        "median of random": np.median(random, axis=0),
        "worst of random": random.min(axis=0),
        "worst found": step_by_step(scores, overall, -1.0),
    }


def step_by_step(
    scores: NDArray[np.float64], overall: NDArray[np.float64], sign: float
) -> NDArray[np.float64]:
    """Add the topic that raises (or lowers) the correlation most, until all are in."""
    left, total, curve = list(range(scores.shape[1])), np.zeros(len(scores)), []
    while left:
        correlated = correlations(total[:, None] + scores[:, left], overall)
        place = int(np.argmax(sign * correlated))
        curve.append(correlated[place])
        total = total + scores[:, left.pop(place)]
    return np.array(curve)


def correlations(means: NDArray[np.float64], overall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Pearson's correlation of every column with a vector."""
    apart, target = means - means.mean(axis=0), overall - overall.mean()
    return target @ apart / np.sqrt((apart**2).sum(axis=0) * (target**2).sum())


def best_worst_figure(curves: dict[str, NDArray[np.float64]]) -> Figure:
    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.add_subplot()
    styles = {
        "best found": ("tab:blue", "-"),
        "best of random": ("tab:blue", ":"),
        "median of random": ("black", "-"),
        "worst of random": ("tab:red", ":"),
        "worst found": ("tab:red", "-"),
    }
    for name, curve in curves.items():
        color, line = styles[name]
        axes.plot(np.arange(1, len(curve) + 1), curve, color=color, linestyle=line, label=name)
    axes.axhline(ENOUGH, color="0.7", linewidth=0.8, zorder=0)
    axes.text(50, ENOUGH - 0.01, f"{ENOUGH}", color="0.4", ha="right", va="top")
    axes.set(xlabel="topics in the set", ylabel="Pearson's correlation with all 50 topics")
    axes.set(xlim=(1, 50), ylim=(0, 1.01), xticks=[1, 10, 20, 30, 40, 50])
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def first_topics_figure(adaptive: NDArray[np.float64], random: NDArray[np.float64]) -> Figure:
    """Draw tau by number of topics: a line for each first topic, and the mean of random ones."""
    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.add_subplot()
    sizes = np.arange(1, adaptive.shape[1] + 1)
    lines = axes.plot(sizes, adaptive.T, color="tab:blue", linewidth=0.5, alpha=0.5)
    lines[0].set_label("adaptive, by first topic")
    axes.plot(sizes, random.mean(axis=0), color="black", label="random topics, mean")
    axes.set(xlabel="topics", ylabel="Kendall's tau with all 50 topics")
    axes.set(xlim=(1, 50), ylim=(0, 1.01), xticks=[1, 10, 20, 30, 40, 50])
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    main()
