"""Figures of comparisons and studies, each from plain frames: no file is read or written here.

A figure of one panel is drawn on `axes` if these are given, and its axes are returned; one of
several panels is returned itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes.checks import whole_number
from rtc_bayes.defaults import DIFFERENCE_95, NORMAL_95
from rtc_bayes.report.drawing import (
    BETTER,
    COLOURS,
    INK,
    MARKERS,
    MUTED,
    NONRELEVANT,
    RELEVANT,
    SHADES,
    WIDTH,
    WORSE,
    canvas,
    figure_of,
    fold,
    legend_above,
    literal,
    name_sides,
    panels,
    scale_beside,
    short,
    styled,
)
from rtc_bayes.report.tables import normal_interval, probability
from rtc_bayes.trials.scores import BINS, bin_of, bootstrap_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TOGETHER = 4
# room on either side for half of the largest point
_CONFIDENCES = (0.46, 1.04)
_ACCURACY_TOP = 1.06
_WRITTEN, _WRITTEN_LARGE = 15, 10
_DIFFERENCE_BINS = 40
_FEW_PAIRS = 10
# letters of two names
_ON_ONE_LINE = 50


@styled
def confidence_accuracy(
    pairs: pd.DataFrame,
    *,
    algorithms: Sequence[str] = (),
    least: int | None = None,
    seed: int = 0,
) -> Figure:
    """Accuracy against confidence, by bin: one panel, or of more than four algorithms a panel each.

    Parameters
    ----------
    pairs, algorithms, least, seed
        As of :func:`accuracy_lines`.
    """
    confident, places = pairs.dropna(subset=["confidence"]), _places(pairs, algorithms)
    shown = list(dict.fromkeys(confident["algorithm"]))
    if len(shown) <= _TOGETHER:
        return figure_of(accuracy_lines(pairs, algorithms=algorithms, least=least, seed=seed))
    figure, each = panels(len(shown), columns=2, height=2.5, share_y=True)
    for axes, algorithm in zip(each, shown, strict=True):
        _break_even(axes)
        axes.set_title(fold(algorithm, 30), fontsize=10, loc="left")
        mine = confident[confident["algorithm"] == algorithm]
        _accuracy_line(axes, mine, look=places[algorithm], least=least, seed=seed)
    _name_panels(figure, each)
    return figure


@styled
def accuracy_lines(
    pairs: pd.DataFrame,
    axes: Axes | None = None,
    *,
    algorithms: Sequence[str] = (),
    least: int | None = None,
    seed: int = 0,
) -> Axes:
    """Draw accuracy against confidence, by bin (Carterette 2007, Figure 2).

    Points below the break-even line are overconfident. Bars: 90% bootstrap over trials.

    Parameters
    ----------
    pairs : DataFrame
        Columns trial, algorithm, confidence (NaN: left out), correct.
    axes : Axes, optional
    algorithms : sequence of str
        All of the study, in its order, which gives each its colour. Default: those of `pairs`.
    least : int, at least 1, optional
        Points of at least so many pairs each: an algorithm's pairs, ordered by confidence, in as
        many groups of one size as there can be (the paper's figure: 500); none for fewer pairs.
        By default the bins of :data:`rtc_bayes.trials.scores.BINS`.
    seed : int
        Of the bootstrap.

    Raises
    ------
    InputError
        A `least` that is no whole number of at least 1.
    """
    axes = axes or canvas(4.4)
    confident, places = pairs.dropna(subset=["confidence"]), _places(pairs, algorithms)
    _break_even(axes)
    for algorithm in dict.fromkeys(confident["algorithm"]):
        # bins are shared, so the bars of several algorithms would hide one another
        _accuracy_line(
            axes,
            confident[confident["algorithm"] == algorithm],
            look=places[algorithm],
            shift=0.004 * (places[algorithm] - (len(places) - 1) / 2),
            label=literal(algorithm),
            least=least,
            seed=seed,
        )
    axes.set(xlabel="confidence", ylabel="accuracy", xlim=_CONFIDENCES)
    axes.margins(y=0.08)
    axes.set_ylim(top=_ACCURACY_TOP)
    legend_above(axes, axes)
    return axes


def _places(frame: pd.DataFrame, algorithms: Sequence[str]) -> dict[str, int]:
    """Place of each algorithm in its study, which gives it its colour."""
    return {name: place for place, name in enumerate(algorithms or frame["algorithm"].unique())}


@styled
def confidence_accuracy_by(pairs: pd.DataFrame, group: pd.Series, *, seed: int = 0) -> Figure:
    """Accuracy against confidence in groups of pairs, a panel for each algorithm.

    Bins of fewer than 10 pairs are left out; else as :func:`confidence_accuracy`.

    Parameters
    ----------
    pairs : DataFrame
        Columns trial, algorithm, confidence (NaN: left out), correct.
    group : Series of category
        The group of each pair, on the index of `pairs`; at most four.
    seed : int
        Of the bootstrap.
    """
    confident = pairs.dropna(subset=["confidence"])
    shown = list(dict.fromkeys(confident["algorithm"]))
    names = list(group.cat.categories)
    figure, each = panels(len(shown), columns=2, height=2.7, share_y=True)
    for axes, algorithm in zip(each, shown, strict=True):
        _break_even(axes)
        axes.set_title(fold(algorithm, 30), fontsize=10, loc="left")
        for number, name in enumerate(names):
            _accuracy_line(
                axes,
                confident[(confident["algorithm"] == algorithm) & (group[confident.index] == name)],
                look=number,
                colours=SHADES,
                shift=0.006 * (number - (len(names) - 1) / 2),
                label=literal(str(name)),
                fewest=_FEW_PAIRS,
                seed=seed,
            )
    _name_panels(figure, each)
    legend_above(figure, each[0])
    return figure


def _break_even(axes: Axes) -> None:
    axes.plot([0.5, 1], [0.5, 1], color=MUTED, linewidth=1, linestyle="--", label="break-even")


def _name_panels(figure: Figure, each: Sequence[Axes]) -> None:
    """Name and limit the shared scales, once everything is drawn: a limit ends their growth."""
    each[0].margins(y=0.08)
    each[0].set_xlim(*_CONFIDENCES)
    each[0].set_ylim(top=_ACCURACY_TOP)
    figure.supxlabel("confidence", fontsize=10)
    figure.supylabel("accuracy", fontsize=10)


def _accuracy_line(
    axes: Axes,
    pairs: pd.DataFrame,
    *,
    look: int,
    seed: int,
    colours: Sequence[str] = COLOURS,
    shift: float = 0.0,
    label: str | None = None,
    fewest: int = 1,
    least: int | None = None,
) -> None:
    """Draw accuracy by bin, its interval, and the share of pairs as the size of the point."""
    x, y, low, high, share = _bin_points(pairs, seed, fewest, least).T
    colour = colours[look % len(colours)]
    axes.vlines(x + shift, low, high, color=colour, linewidth=1.2, alpha=0.6)
    axes.plot(x + shift, y, color=colour, linewidth=1.2)
    axes.scatter(
        x + shift,
        y,
        s=25 + 100 * share,
        # with the first colour again comes another marker
        marker=MARKERS[(look + look // len(colours)) % len(MARKERS)],
        color=colour,
        edgecolor="white",
        linewidth=0.6,
        zorder=3,
        label=label,
    )


def _bin_points(pairs: pd.DataFrame, seed: int, fewest: int, least: int | None) -> np.ndarray:
    """Mean confidence, accuracy, its interval and the share of pairs of each bin that has any."""
    if least is None:
        number, bins = bin_of(pairs["confidence"]), len(BINS)
    else:
        bins = len(pairs) // whole_number("least", least, least=1)
        number = np.full(len(pairs), -1)
        order = np.argsort(pairs["confidence"].to_numpy(), kind="stable")
        for b, members in enumerate(np.array_split(order, bins) if bins else []):
            number[members] = b
    points = []
    for b in range(bins):
        inside = pairs[number == b]
        if len(inside) >= fewest:
            low, high = bootstrap_interval(inside["correct"], inside["trial"], seed=seed)
            accuracy = inside["correct"].mean()
            confidence = inside["confidence"].mean()
            points.append((confidence, accuracy, low, high, len(inside) / len(pairs)))
    return np.array(points).reshape(-1, 5)


@styled
def ranking(
    systems: pd.DataFrame,
    axes: Axes | None = None,
    *,
    measure: str = "MAP",
    colour: str = COLOURS[0],
) -> Axes:
    """Draw systems from best to worst by expected measure, with 95% intervals, and the truth.

    No score is below 0, and neither is an interval.

    Parameters
    ----------
    systems : DataFrame
        Columns system, expected, sd (NaN: no interval) and, if known, true and judged_for (bool:
        whether judgments were made for the system; then its name stands in bold).
    axes : Axes, optional
    measure : str
        Name on the axis.
    colour : str
        Of the algorithm.
    """
    ordered = systems.sort_values("expected", kind="stable").reset_index(drop=True)
    axes = axes or canvas(1.1 + 0.3 * len(ordered))
    place = np.arange(len(ordered))
    expected = ordered["expected"]
    low, high = normal_interval(expected, ordered["sd"].fillna(0.0), least=0.0)
    axes.hlines(place, low, high, color=colour, linewidth=2.2, alpha=0.55)
    axes.plot(expected, place, "o", color=colour, label="expected, with 95% interval")
    if "true" in ordered:
        axes.plot(
            ordered["true"],
            place,
            "D",
            markersize=5,
            markerfacecolor="white",
            markeredgecolor=INK,
            markeredgewidth=1.2,
            label="true",
        )
        legend_above(axes, axes)
    axes.set_yticks(place, short(ordered["system"].tolist()))
    axes.set(xlabel=measure, ylim=(-0.6, len(ordered) - 0.4))
    if "judged_for" in ordered:
        for label, judged in zip(axes.get_yticklabels(), ordered["judged_for"], strict=True):
            label.set_fontweight("bold" if judged else "normal")
    return axes


@styled
def confidence_matrix(pairs: pd.DataFrame, order: Sequence[str], axes: Axes | None = None) -> Axes:
    """Probability that the system of the row is better than that of the column.

    Parameters
    ----------
    pairs : DataFrame
        Columns a, b, p_equal, p_greater (of a - b) and, if the truth is known, correct (NaN:
        truly equal); a cell whose predicted sign is wrong is framed.
    order : sequence of str
        Systems from best to worst. Numbers stand in the cells of at most 15.
    axes : Axes, optional
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    place = {system: i for i, system in enumerate(order)}
    cells = np.full((len(order), len(order)), np.nan)
    wrong = np.zeros_like(cells, dtype=bool)
    for pair in pairs.itertuples():
        a, b = place[pair.a], place[pair.b]
        better = pair.p_greater + pair.p_equal / 2
        cells[a, b], cells[b, a] = better, 1.0 - better
        wrong[a, b] = wrong[b, a] = getattr(pair, "correct", 1) == 0

    axes = axes or canvas(WIDTH * 0.86)
    colours = LinearSegmentedColormap.from_list("worse-better", [WORSE, "#ffffff", BETTER])
    image = axes.imshow(cells, cmap=colours, vmin=0, vmax=1)
    written = ~np.isnan(cells) & (len(order) <= _WRITTEN)
    for row, column in zip(*np.nonzero(written), strict=True):
        value = cells[row, column]
        axes.text(
            column,
            row,
            _two_digits(value),
            ha="center",
            va="center",
            fontsize=8 if len(order) <= _WRITTEN_LARGE else 6,
            color="white" if abs(value - 0.5) > 0.36 else INK,
        )
    for row, column in zip(*np.nonzero(wrong), strict=True):
        corner = (column - 0.42, row - 0.42)
        axes.add_patch(Rectangle(corner, 0.84, 0.84, fill=False, edgecolor=INK, linewidth=1.4))
    name_sides(axes, order)
    scale_beside(axes, image, "P(row better than column)")
    return axes


def _two_digits(p: float) -> str:
    """Write .01 to .99 without the leading zero, and 0 and 1 only where they are meant."""
    text = probability(p, 2)
    return text[0] if text in ("0.00", "1.00") else text.replace("0.", ".").replace(" ", "")


@styled
def difference(
    sampled: np.ndarray, a: str, b: str, axes: Axes | None = None, *, shared: float = 0.0
) -> Axes:
    """Posterior of a difference: a histogram of outcomes, by who is better, and its 95% interval.

    The interval is wider than that of the outcomes by as much as a pair's is (`Pair.interval`).

    Parameters
    ----------
    sampled : ndarray, shape (outcomes,)
        Of the score of `a` minus that of `b`.
    a, b : str
    axes : Axes, optional
    shared : float
        Standard deviation of what the interval has beyond the outcomes (`Pair.sd_shared`).
    """
    axes, (a, b) = axes or canvas(2.8), short((a, b))
    # a bin ends at 0, so that each has one colour
    widest = np.abs(sampled).max() or 1.0
    step = max(np.ptp(sampled) / _DIFFERENCE_BINS, widest / 1000)
    edges = step * np.arange(np.floor(sampled.min() / step), np.floor(sampled.max() / step) + 2)
    held = np.histogram(sampled, edges)[0] / len(sampled)
    above = edges[:-1] > -step / 2
    for better, colour, mine in ((a, BETTER, above), (b, WORSE, ~above)):
        axes.bar(
            edges[:-1],
            np.where(mine, held, 0.0),  # also of a side without outcomes the legend has the colour
            width=step,
            align="edge",
            color=colour,
            alpha=0.75,
            label=f"{better} is better",
        )
    middle = sampled.mean()
    wider = DIFFERENCE_95 / NORMAL_95
    ends = wider * (np.quantile(sampled, (0.025, 0.975)) - middle)
    low, high = middle + np.array([-1.0, 1.0]) * np.hypot(ends, NORMAL_95 * shared)
    axes.plot([low, high], [0, 0], color=INK, linewidth=4, label="95% interval", clip_on=False)
    axes.axvline(0.0, color=MUTED, linewidth=1, linestyle="--")
    between = "\n" if len(a) + len(b) > _ON_ONE_LINE else " "
    axes.set(xlabel=f"{a}{between}minus {b}", ylabel="share of outcomes")
    legend_above(axes, axes)
    return axes


@styled
def judgments_per_topic(judgments: pd.DataFrame, axes: Axes | None = None) -> Axes:
    """Stacked bars of relevant and nonrelevant judgments, one for each topic.

    Parameters
    ----------
    judgments : DataFrame
        Columns topic, judged, relevant.
    axes : Axes, optional
    """
    from matplotlib.ticker import MaxNLocator

    axes = axes or canvas(2.6)
    place = np.arange(len(judgments))
    relevant = judgments["relevant"].to_numpy(dtype=np.float64)
    nonrelevant = judgments["judged"].to_numpy(dtype=np.float64) - relevant
    axes.bar(place, relevant, color=RELEVANT, width=0.85, label="relevant")
    axes.bar(
        place, nonrelevant, bottom=relevant, color=NONRELEVANT, width=0.85, label="nonrelevant"
    )
    topics = judgments["topic"].astype(str)
    # about a dozen short topic ids fit, and fewer long ones
    fitting = max(2, 48 // max(4, topics.str.len().max() + 1)) if len(topics) else 1
    step = max(1, -(-len(place) // fitting))
    axes.set_xticks(place[::step], short(topics.iloc[::step].tolist()))
    axes.set(xlabel="topic", ylabel="judgments", xlim=(-0.7, len(place) - 0.3))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="x", visible=False)
    legend_above(axes, axes)
    return axes


@styled
def judging_cost(trials: pd.DataFrame, *, algorithms: Sequence[str] = ()) -> Axes:
    """Share of trials that ended within a number of judgments, by algorithm.

    Parameters
    ----------
    trials : DataFrame
        Columns algorithm, judged.
    algorithms : sequence of str
        All of the study, in its order, which gives each its colour. Default: those of `trials`.
    """
    axes, places = canvas(3.2), _places(trials, algorithms)
    for algorithm, rows in trials.groupby("algorithm", sort=False):
        number = places[str(algorithm)]
        judged = np.sort(rows["judged"].to_numpy(dtype=np.float64))
        axes.step(
            judged,
            np.arange(1, len(judged) + 1) / len(judged),
            where="post",
            color=COLOURS[number % len(COLOURS)],
            linestyle=("-", "--", ":", "-.")[(number + number // len(COLOURS)) % 4],
            linewidth=1.8,
            label=literal(str(algorithm)),
        )
    # a logarithm has no place for trials that needed no judgment
    if trials["judged"].min() > 0:
        axes.set_xscale("log")
    else:
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(left=0)
    axes.xaxis.set_minor_formatter("")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set(xlabel="judgments", ylabel="share of trials", ylim=(0, 1.02))
    legend_above(axes, axes)
    return axes


@styled
def expected_against_true(
    systems: pd.DataFrame, *, measure: str = "MAP", algorithms: Sequence[str] = ()
) -> Figure:
    """Draw expected against true measure of every system and trial, one panel an algorithm.

    Each panel has its own scale: algorithms differ in the scale of what they expect.

    Parameters
    ----------
    systems : DataFrame
        Columns algorithm, expected, true.
    measure : str
        Name on the axes.
    algorithms : sequence of str
        All of the study, in its order, which gives each its colour. Default: those of `systems`.
    """
    shown, places = list(dict.fromkeys(systems["algorithm"])), _places(systems, algorithms)
    figure, each = panels(len(shown), columns=3, height=2.1, share_y=False)
    for axes, algorithm in zip(each, shown, strict=True):
        mine = systems[systems["algorithm"] == algorithm]
        axes.scatter(
            mine["true"],
            mine["expected"],
            s=12,
            alpha=0.6,
            color=COLOURS[places[algorithm] % len(COLOURS)],
            linewidth=0,
            # thousands of points are smaller as an image
            rasterized=True,
        )
        axes.set_title(fold(algorithm, 20), fontsize=10, loc="left")
        # from 0, with room for half a point
        axes.update_datalim([(0.0, 0.0)])
        axes.margins(0.05)
    figure.supxlabel(f"true {measure}", fontsize=10)
    figure.supylabel(f"expected {measure}", fontsize=10)
    return figure
