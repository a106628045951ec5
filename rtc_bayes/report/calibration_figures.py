"""Figures of a calibration study, each from plain frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes.report.drawing import (
    COLOURS,
    MUTED,
    canvas,
    legend_above,
    literal,
    panels,
    styled,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rtc_bayes.calibration.simulation_based import SimulationRanks

_PROBABILITIES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
_BARS = 30
_HIGHEST_BAR = 0.1
_TRUTH = {"at_depth": "lists as cut", "whole_list": "whole lists"}


@styled
def reliability_curve(curve: pd.DataFrame) -> Axes:
    """Observed share of relevant documents against probability, with its consistency band.

    Both scales are of the root of the probability: most documents have a small one.

    Parameters
    ----------
    curve : DataFrame
        Of :func:`rtc_bayes.calibration.reliability`.
    """
    axes = canvas(4.6)
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle="--", label="reliable")
    axes.fill_between(
        curve["p"],
        curve["low"],
        curve["high"],
        color=MUTED,
        alpha=0.25,
        linewidth=0,
        label="90% of curves, were it reliable",
    )
    single = len(curve) == 1
    axes.plot(
        curve["p"],
        curve["share"],
        color=COLOURS[0],
        linewidth=2,
        marker="o" if single else "",
        label="observed",
    )
    # where the documents are: a small histogram, in heights of the panel
    edges = np.linspace(0.0, 1.0, _BARS + 1)
    held = np.histogram(_root(curve["p"].to_numpy()), edges, weights=curve["documents"])[0]
    axes.bar(
        edges[:-1] ** 2,
        _HIGHEST_BAR * held / held.max(),
        width=np.diff(edges**2),
        align="edge",
        transform=axes.get_xaxis_transform(),
        color=MUTED,
        alpha=0.4,
    )
    axes.set_xscale("function", functions=(_root, np.square))
    axes.set_yscale("function", functions=(_root, np.square))
    axes.set_xticks(_PROBABILITIES, [f"{p:g}" for p in _PROBABILITIES])
    axes.set_yticks(_PROBABILITIES, [f"{p:g}" for p in _PROBABILITIES])
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="probability of relevance", ylabel="share relevant")
    legend_above(axes, axes)
    return axes


@styled
def interval_coverage(systems: pd.DataFrame, *, measure: str = "MAP") -> Figure:
    """Share of truths in central intervals of every level, for scores and for differences.

    Parameters
    ----------
    systems : DataFrame
        Of :func:`rtc_bayes.calibration.against_truth`.
    measure : str
        Name of the scores.
    """
    names = {"score": measure, "difference": f"difference in {measure}"}
    figure, each = panels(2, columns=2, height=2.5, share_y=True)
    level = np.linspace(0.0, 1.0, 201)
    for axes, (quantity, name) in zip(each, names.items(), strict=True):
        mine = systems[systems["quantity"] == quantity]
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle="--", label="exact")
        for number, (truth, what) in enumerate(_TRUTH.items()):
            inside = np.sort(2.0 * np.abs(mine[f"pit_{truth}"].to_numpy() - 0.5))
            axes.plot(
                level,
                np.searchsorted(inside, level, side="right") / max(len(inside), 1),
                color=COLOURS[0],
                linestyle=("-", ":")[number],
                linewidth=1.8,
                label=f"truth: {what}",
            )
        axes.set_title(name, fontsize=10, loc="left")
        _share_axis(axes)
        axes.set_ylim(0, 1.02)
    figure.supxlabel("level of the central interval", fontsize=10)
    figure.supylabel("share of truths inside", fontsize=10)
    legend_above(figure, each[0])
    return figure


@styled
def rank_ecdfs(ranks: SimulationRanks) -> Figure:
    """Draw how far the ranks of simulation-based calibration are from uniform.

    The distribution function of the ranks less that of a uniform distribution, with the band
    that holds all of it in 95% of studies of an exact sampler.

    Parameters
    ----------
    ranks : SimulationRanks
        At most its 12 scalars least like uniform are drawn.
    """
    worst = ranks.p_values().head(12)
    figure, each = panels(len(worst), columns=3, height=1.7, share_y=True)
    for axes, name in zip(each, worst["quantity"], strict=True):
        x, difference, low, high = ranks.ecdf(name)
        axes.fill_between(x, low, high, step="post", color=MUTED, alpha=0.25, linewidth=0)
        axes.axhline(0.0, color=MUTED, linewidth=1, linestyle="--")
        axes.step(x, difference, where="post", color=COLOURS[0], linewidth=1.4)
        axes.set_title(literal(name), fontsize=10, loc="left")
        _share_axis(axes)
    figure.supxlabel("rank of the true value among the draws", fontsize=10)
    figure.supylabel("ECDF less uniform", fontsize=10)
    return figure


def _share_axis(axes: Axes) -> None:
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])


def _root(p: np.ndarray) -> np.ndarray:
    # the ends of an axis may be a little below 0
    return np.sqrt(np.maximum(p, 0.0))
