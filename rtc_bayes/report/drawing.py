"""How figures look: colours, style, canvas, legend, and their text as SVG.

Colours are those of Okabe and Ito, and one of Tol's, which people with any colour vision can
tell apart; where colour carries meaning, shape or text carries it too. Figures are drawn off
screen, and the same data give the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#882255",
    "#000000",
)
"""Of algorithms, by their place in the study: on every figure of a page the same."""

WORSE, BETTER = "#762a83", "#1b7837"
"""Ends of the scale of who is better: no algorithm has them."""

RELEVANT, NONRELEVANT = "#4d4d4d", "#c4c4c4"

SHADES = ("#0d0887", "#9a169f", "#dd5e66", "#fca636")
"""Of groups that have an order (plasma, from dark to light)."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")

INK, MUTED, GRID = "#1b1b1b", "#5f5f5f", "#e3e3e3"
WIDTH = 5.6
_LARGE = 15
NAMED = 40
"""More names than these cannot be read beside a matrix."""

_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "svg.hashsalt": "rtc-bayes",
}
_LEGEND_LETTERS = 64
_LONGEST, _LONGEST_BESIDE_MATRIX = 32, 20
_DOTS_PER_INCH = 200


def colour_of(algorithm: str, algorithms: Iterable[str]) -> str:
    """Return the colour of an algorithm among those of its study.

    Examples
    --------
    >>> colour_of("rtc:map", ["ip", "rtc:map"]) == COLOURS[1]
    True
    """
    return COLOURS[list(algorithms).index(algorithm) % len(COLOURS)]


def styled[**P, Drawn](draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
    """Draw in the style of this module, leaving the user's settings alone."""

    @wraps(draw)
    def draw_in_style(*args: P.args, **kwargs: P.kwargs) -> Drawn:
        import matplotlib as mpl

        with mpl.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return draw_in_style


def to_svg(figure: Figure) -> str:
    """Return a figure as SVG text with its letters as outlines, so that it needs no font.

    What is drawn as rasterized, such as thousands of points, has 200 dots per inch.
    """
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(buffer, format="svg", dpi=_DOTS_PER_INCH, metadata={"Date": None})
    return buffer.getvalue()


def canvas(height: float, width: float = WIDTH) -> Axes:
    """Return the axes of a new figure; the default width is that of the page."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


def figure_of(drawn: Axes | Figure) -> Figure:
    """Return the figure that holds these axes, or is given itself."""
    figure = drawn.get_figure(root=True)
    assert figure is not None
    return figure


def panels(
    number: int, *, columns: int, height: float, share_y: bool, share_x: bool = True
) -> tuple[Figure, list[Axes]]:
    """Return a figure of small multiples, by default with one horizontal scale, and its axes."""
    from matplotlib.figure import Figure

    columns = min(number, columns)
    rows = -(-number // columns)
    figure = Figure(figsize=(WIDTH, 0.5 + height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=share_x, sharey=share_y, squeeze=False).ravel()
    for unused in axes[number:]:
        unused.set_visible(False)
    for last in axes[max(0, number - columns) : number]:
        last.tick_params(labelbottom=True)
    return figure, list(axes[:number])


def legend_above(owner: Axes | Figure, axes: Axes) -> None:
    """Name what is drawn on `axes`, above `owner`, in as many columns as fit.

    On axes of a user's figure that makes no room above them, names stand where there is most room
    inside. Markers get one size: in a figure their size may carry the number of pairs.
    """
    handles, labels = axes.get_legend_handles_labels()
    figure = figure_of(axes)
    alone = owner is not axes or len(figure.axes) == 1
    wide = figure.get_figwidth() * (1.0 if alone else axes.get_position().width)
    # the key beside a name takes about as much room as five letters
    fitting = int(_LEGEND_LETTERS * wide / WIDTH) // (max(map(len, labels), default=0) + 5)
    columns = max(1, min(4, fitting))
    if owner is not axes:
        legend = owner.legend(handles, labels, ncols=columns, loc="outside upper left")
    elif figure.get_layout_engine() is None:
        legend = axes.legend(handles, labels, loc="best", fontsize="small")
    else:
        legend = axes.legend(
            handles, labels, ncols=columns, loc="lower left", bbox_to_anchor=(0, 1)
        )
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([40])


def name_sides(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows and columns of a matrix, which has no frame; of too many, none."""
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    if len(names) > NAMED:
        axes.set(xticks=[], yticks=[])
        return
    size, place = 10 if len(names) <= _LARGE else 7, range(len(names))
    names = short(names, _LONGEST_BESIDE_MATRIX)
    axes.set_xticks(place, names, rotation=45, ha="right", rotation_mode="anchor", fontsize=size)
    axes.set_yticks(place, names, fontsize=size)


def scale_beside(axes: Axes, image: AxesImage, label: str) -> Colorbar:
    """Show the scale, from 0 to 1, of a matrix that stands on axes."""
    bar = figure_of(axes).colorbar(image, ax=axes, shrink=0.7, ticks=[0, 0.25, 0.5, 0.75, 1])
    bar.outline.set_visible(False)
    bar.set_label(label)
    return bar


def literal(name: str) -> str:
    r"""Return a name for Matplotlib, which else reads what stands between dollars as a formula.

    Examples
    --------
    >>> print(literal("$model_$fold"))
    \$model_\$fold
    """
    return name.replace("$", r"\$")


def short(names: Sequence[str], longest: int = _LONGEST) -> list[str]:
    """Return names for a figure, :func:`literal`, long ones without their middle.

    They stay whole where two would be the same without it.

    Examples
    --------
    >>> short(["bm25", "university-2024-bm25-rm3-monot5-3b-rerank"])
    ['bm25', 'university-2024-…onot5-3b-rerank']
    """
    head = longest // 2
    cut = [name if len(name) <= longest else f"{name[:head]}…{name[1 - head :]}" for name in names]
    return [literal(name) for name in (cut if len(set(cut)) == len(set(names)) else names)]


def fold(name: str, width: int) -> str:
    """Break an algorithm's name into lines, before its bracket and after its commas."""
    lines = [""]
    for part in re.split(r"(?<=,)|(?=\[)", name):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return literal("\n".join(lines))
