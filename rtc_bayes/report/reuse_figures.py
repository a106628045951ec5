"""Figures of a hold-out experiment: scores, pairs, what was expected, and losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.report.drawing import (
    COLOURS,
    INK,
    MARKERS,
    MUTED,
    NAMED,
    NONRELEVANT,
    canvas,
    legend_above,
    literal,
    panels,
    short,
    styled,
)
from rtc_bayes.reuse.agreement import CELLS
from rtc_bayes.reuse.power import power_of_t

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_BINS = 40
_SHORT = ("both", "base\nonly", "reuse\nonly", "neither")


@styled
def scores_held_out(systems: pd.DataFrame, measure: str) -> Axes:
    """Each system's mean score on topics it contributed to, and on those it was held out of.

    Parameters
    ----------
    systems : DataFrame
        As of :meth:`rtc_bayes.Reusability.by_system`.
    measure : str
        As people name its mean.
    """
    axes = canvas(4.2, 4.6)
    groups = list(dict.fromkeys(systems["group"]))
    for n, group in enumerate(groups):
        here = systems[systems["group"] == group]
        style = {"color": COLOURS[0]}
        if len(groups) <= len(COLOURS):
            style = {"color": COLOURS[n], "marker": MARKERS[n], "label": literal(str(group))}
        axes.scatter(here["contributed"], here["held_out"], s=22, **style)
    most = float(np.nanmax(systems[["contributed", "held_out"]].to_numpy())) * 1.05
    axes.plot([0, most], [0, most], color=MUTED, linewidth=1, zorder=0)
    axes.set(
        xlabel=f"{measure}, topics it contributed to",
        ylabel=f"{measure}, topics it was held out of",
        xlim=(0, most),
        ylim=(0, most),
        aspect="equal",
    )
    if len(groups) <= len(COLOURS):
        legend_above(axes, axes)
    return axes


@styled
def pair_differences(pairs: dict[str, pd.DataFrame], level: float) -> Figure:
    """Differences of pairs on baseline and on reuse topics, a panel for each comparison.

    Parameters
    ----------
    pairs : dict of str to DataFrame
        As of :meth:`rtc_bayes.Reusability.pairs`, by comparison.
    level : float
        Of the t-tests.
    """
    figure, axes = panels(len(pairs), columns=3, height=2.3, share_y=True)
    for place, (name, frame) in zip(axes, pairs.items(), strict=True):
        tested = frame.dropna(subset=["baseline_p", "reuse_p"])
        there, here = tested["baseline_p"] < level, tested["reuse_p"] < level
        for n, which in enumerate((there & here, there & ~here, ~there & here, ~there & ~here)):
            colour = NONRELEVANT if CELLS[n] == "neither" else COLOURS[n]
            place.scatter(
                tested.loc[which, "baseline_difference"],
                tested.loc[which, "reuse_difference"],
                s=5,
                color=colour,
                label=CELLS[n],
                rasterized=True,
            )
        place.axline((0, 0), slope=1, color=MUTED, linewidth=1, zorder=0)
        place.set_title(name, fontsize=10, loc="left")
        place.set_xlabel("baseline topics")
    axes[0].set_ylabel("reuse topics")
    legend_above(figure, axes[0])
    return figure


@styled
def cells_expected(comparisons: pd.DataFrame) -> Figure:
    """Observed numbers of pairs in the four cells beside expected ones.

    Parameters
    ----------
    comparisons : DataFrame
        As of :meth:`rtc_bayes.Reusability.comparisons`.
    """
    figure, axes = panels(len(comparisons), columns=3, height=2.0, share_y=False)
    at = np.arange(len(CELLS))
    for place, (_, row) in zip(axes, comparisons.iterrows(), strict=True):
        names = [cell.replace(" ", "_") for cell in CELLS]
        observed = [row[f"observed_{cell}"] for cell in names]
        expected = [row[f"expected_{cell}"] for cell in names]
        place.bar(at, observed, width=0.7, color=COLOURS[0], label="observed")
        place.scatter(at, expected, marker="D", s=28, color=COLOURS[1], label="expected", zorder=3)
        place.set_title(row["comparison"], fontsize=10, loc="left")
        place.set_xticks(at, _SHORT, fontsize=8)
        place.grid(visible=False, axis="x")
    axes[0].set_ylabel("pairs")
    legend_above(figure, axes[0])
    return figure


@styled
def permuted_losses(
    losses: Mapping[str, tuple[NDArray[np.float64], float]], measure: str
) -> Figure:
    """Draw the loss with topics in other orders and as observed, a panel for each analysis.

    Parameters
    ----------
    losses : mapping of str to (ndarray, float)
        By the panel's title: the losses of other orders, and the one observed.
    measure : str
        As people name its mean.
    """
    figure, axes = panels(len(losses), columns=2, height=2.2, share_y=True)
    for place, (title, (permuted, observed)) in zip(axes, losses.items(), strict=True):
        place.hist(permuted, bins=_BINS, color=NONRELEVANT, label="topics in other orders")
        place.axvline(observed, color=COLOURS[1], linewidth=2, label="observed")
        place.set_title(title, fontsize=10, loc="left")
        place.set_xlabel(f"loss of {measure} where held out")
    axes[0].set_ylabel("orders")
    legend_above(figure, axes[0])
    return figure


def _by_loss(groups: pd.DataFrame) -> pd.DataFrame:
    """Return the groups that a figure names, the largest loss last and so on top."""
    return groups.dropna(subset=["loss"]).sort_values("loss").tail(NAMED)


@styled
def group_losses(groups: pd.DataFrame, measure: str) -> Axes:
    """Draw the loss of each group, with what topics alone would give in 95% of orders.

    Parameters
    ----------
    groups : DataFrame
        As of :meth:`rtc_bayes.Reusability.by_group`.
    measure : str
        As people name its mean.
    """
    shown = _by_loss(groups)
    axes = canvas(0.9 + 0.24 * len(shown))
    at = np.arange(len(shown))
    axes.barh(
        at,
        2 * NORMAL_95 * shown["sd"],
        left=-NORMAL_95 * shown["sd"],
        height=0.6,
        color=NONRELEVANT,
        label="95% of other orders of topics",
    )
    axes.scatter(shown["loss"], at, color=COLOURS[1], s=28, zorder=3, label="observed")
    axes.axvline(0, color=INK, linewidth=1)
    axes.set_yticks(at, short(shown["group"].astype(str).tolist()))
    axes.grid(visible=False, axis="y")
    axes.set(xlabel=f"loss of {measure} where held out")
    axes.use_sticky_edges = False
    axes.margins(x=0.05)
    legend_above(axes, axes)
    return axes


@styled
def loss_intervals(summary: pd.DataFrame, groups: pd.DataFrame, measure: str) -> Axes:
    """Draw the posterior of the loss, for all systems and for each group.

    Parameters
    ----------
    summary : DataFrame
        As of :meth:`rtc_bayes.LossPosterior.summary`.
    groups : DataFrame
        As of :meth:`rtc_bayes.Reusability.by_group`, which :func:`group_losses` draws in the same
        order.
    measure : str
        As people name its mean.
    """
    by_name = summary.dropna(subset=["loss"]).set_index("group")
    names = [name for name in (*_by_loss(groups)["group"], "all") if name in by_name.index]
    shown = by_name.loc[names].reset_index()
    axes = canvas(0.9 + 0.24 * len(shown))
    at = np.arange(len(shown))
    colours = [COLOURS[1] if group == "all" else COLOURS[0] for group in shown["group"]]
    axes.hlines(at, shown["low"], shown["high"], color=colours, linewidth=3)
    axes.scatter(shown["loss"], at, color=colours, s=32, zorder=3)
    axes.axvline(0, color=INK, linewidth=1)
    axes.set_yticks(at, short(shown["group"].astype(str).tolist()))
    axes.grid(visible=False, axis="y")
    axes.set(xlabel=f"loss of {measure} where held out")
    return axes


@styled
def power_curves(
    loss_sd: float, mean: float, topics: Mapping[str, float], level: float, measure: str
) -> Figure:
    """Draw what the experiment would find: losses, and differences between two systems.

    Parameters
    ----------
    loss_sd : float
        Sd of the loss with topics in other orders.
    mean : float
        Mean score, of which losses are shares.
    topics : mapping of str to float
        Reuse topics of a pair, by comparison.
    level : float
        Of the tests.
    measure : str
        As people name its mean.
    """
    from scipy.stats import norm

    figure, (left, right) = panels(2, columns=2, height=2.4, share_y=True, share_x=False)
    loss = np.linspace(0, 0.3, 121)
    edge = norm.isf(level / 2)
    # without a spread any loss would be found
    shift = loss * mean / max(loss_sd, 1e-12)
    left.plot(loss, norm.sf(edge - shift) + norm.sf(edge + shift), color=COLOURS[0])
    left.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    left.set(xlabel=f"share of {measure} lost", ylabel="power", ylim=(0, 1.02))
    left.set_title("all systems together", fontsize=10, loc="left")
    effect = np.linspace(0, 1, 101)
    for n, (name, count) in enumerate(topics.items()):
        right.plot(
            effect,
            power_of_t(effect, round(count), level),
            color=COLOURS[n],
            label=f"{name} ({count:.0f})",
        )
    right.set_title("a pair, by reuse topics", fontsize=10, loc="left")
    right.set(xlabel="difference in sd of a topic's")
    right.legend(fontsize=8, loc="upper left")
    return figure


@styled
def before_and_after(
    names: Sequence[str], before: Sequence[float], after: Sequence[float], measure: str
) -> Axes:
    """Dumbbells: a score by all judgments, and without those that its group alone brought."""
    axes = canvas(0.9 + 0.24 * len(names))
    at = np.arange(len(names))
    axes.hlines(at, after, before, color=MUTED, linewidth=2)
    axes.scatter(before, at, color=COLOURS[0], s=30, zorder=3, label="all judgments")
    axes.scatter(
        after, at, color=COLOURS[1], s=30, marker="D", zorder=3, label="its group left out"
    )
    axes.set_yticks(at, short(names))
    axes.set(xlabel=measure)
    axes.grid(visible=False, axis="y")
    legend_above(axes, axes)
    return axes
