"""Figures that describe a collection: how lists overlap, and how far judgments reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.report.drawing import (
    SHADES,
    WIDTH,
    canvas,
    legend_above,
    name_sides,
    scale_beside,
    styled,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes


@styled
def overlap_matrix(overlap: xr.DataArray) -> Axes:
    """Share of documents that two systems have in common, similar systems beside each other.

    Parameters
    ----------
    overlap : DataArray, dims system and other
        As of :class:`rtc_bayes.Description`. Of very many systems none is named.
    """
    values = np.nan_to_num(overlap.to_numpy())
    order = _similar_together(values)
    axes = canvas(WIDTH * 0.86)
    image = axes.imshow(values[np.ix_(order, order)], cmap="Blues", vmin=0, vmax=1)
    names = overlap["system"].to_numpy()[order].tolist()
    name_sides(axes, names)
    bar = scale_beside(axes, image, "share in common")
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    return axes


@styled
def judged_shares(systems: pd.DataFrame, ranks: Sequence[int]) -> Axes:
    """Share of judged documents at each rank, systems from the least judged to the most.

    Parameters
    ----------
    systems : DataFrame
        Columns ``judged@k`` for every k of `ranks`.
    ranks : sequence of int
    """
    axes = canvas(3.2)
    for k, colour in zip(ranks, SHADES, strict=False):
        shares = np.sort(systems[f"judged@{k}"].dropna().to_numpy())
        place = np.arange(1, len(shares) + 1)
        axes.plot(place, shares, "o-", markersize=3, color=colour, label=f"first {k}")
    axes.set(xlabel="systems, the least judged first", ylabel="share judged", ylim=(-0.03, 1.03))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.xaxis.get_major_locator().set_params(integer=True)
    legend_above(axes, axes)
    return axes


def _similar_together(overlap: NDArray[np.float64]) -> NDArray[np.intp]:
    """Order systems so that those with similar lists stand beside each other."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(overlap) < 3:
        return np.arange(len(overlap))
    distance = 1.0 - np.clip(overlap, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    order: NDArray[np.intp] = leaves_list(tree)
    return order
