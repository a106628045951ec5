"""Small tables for people: a frame, and how each of its columns is written."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.defaults import NORMAL_95

if TYPE_CHECKING:
    import pandas as pd

type Floats = NDArray[np.float64]
type Format = str | Callable[[Any], str]
"""A format specification (``.3f``, ``.1%``) or a function from a value to its text."""

UNDEFINED = "–"

_NOTHING = re.compile(r"-0(\.0*)?%?")
_WRITTEN_NUMBER = re.compile(r"([≤<>] )?[−+]?[\d,.]+%?( to [−+]?[\d,.]+%?)?( \([^)]*\))?|–")

# What Markdown would take for the end of a cell, an escape, emphasis, code, text that is struck
# out, a tag, an entity or a link. An underscore inside a word is none of these.
_MARKDOWN_SPECIAL = re.compile(
    r"[\\|*`~]|(?<!\w)_+|_++(?!\w)|<(?=[A-Za-z/!?])|&(?=#?\w+;)|\](?=\()"
)
_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "τ": r"$\tau$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def cells(frame: pd.DataFrame, formats: Mapping[str, Format] | None = None) -> list[list[str]]:
    """Write every value of a frame as text.

    Parameters
    ----------
    frame : DataFrame
    formats : mapping of str to Format, optional
        By column; a column without one is written by :func:`str`.

    Returns
    -------
    list of list of str
        Row by row; an undefined value (None, NaN, NA) is an en dash, a minus is a real one.
    """
    chosen = dict(formats or {})
    return [
        [_text(value, chosen.get(column)) for column, value in zip(frame.columns, row, strict=True)]
        for row in frame.itertuples(index=False, name=None)
    ]


def to_markdown(frame: pd.DataFrame, formats: Mapping[str, Format] | None = None) -> str:
    r"""Return a frame as a Markdown pipe table, numbers to the right.

    Parameters
    ----------
    frame : DataFrame
    formats : mapping of str to Format, optional
        By column.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"system": ["bm25|k1"], "AP": [0.25]})
    >>> print(to_markdown(frame, {"AP": ".4f"}), end="")
    | system | AP |
    | --- | ---: |
    | bm25\|k1 | 0.2500 |
    """
    head = [markdown_text(str(column)) for column in frame.columns]
    rule = ["---:" if right else "---" for right in _numeric(frame)]
    body = [map(markdown_text, row) for row in cells(frame, formats)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *body]) + "\n"


def markdown_text(text: str) -> str:
    r"""Escape a text, so that Markdown shows it as it is.

    Examples
    --------
    >>> print(markdown_text("bm25_k1"), markdown_text("*best*"), markdown_text("_old_ <run>"))
    bm25_k1 \*best\* \_old\_ \<run>
    """
    return _MARKDOWN_SPECIAL.sub(lambda match: "".join(f"\\{each}" for each in match[0]), text)


def to_latex(frame: pd.DataFrame, formats: Mapping[str, Format] | None = None) -> str:
    r"""Return a frame as a LaTeX tabular with booktabs rules, numbers to the right.

    Parameters
    ----------
    frame : DataFrame
    formats : mapping of str to Format, optional
        By column.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"system": ["bm25_k1"], "AP": [0.25]})
    >>> print(to_latex(frame, {"AP": ".4f"}).splitlines()[4])
    bm25\_k1 & 0.2500 \\
    """
    columns = "".join("r" if right else "l" for right in _numeric(frame))
    head = " & ".join(_latex(str(column)) for column in frame.columns)
    rows = [" & ".join(map(_latex, row)) + r" \\" for row in cells(frame, formats)]
    # what ends the line above would take a bracket or a star for its own
    body = ["{}" + row if row.startswith(("[", "*")) else row for row in rows]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def to_html(
    frame: pd.DataFrame,
    formats: Mapping[str, Format] | None = None,
    *,
    caption: str | None = None,
    wide: str | None = None,
) -> str:
    """Return a frame as an HTML table in a box that scrolls on a narrow screen.

    Parameters
    ----------
    frame : DataFrame
    formats : mapping of str to Format, optional
        By column.
    caption : str, optional
    wide : str, optional
        A column of running text, which is broken into lines.
    """
    kinds = [
        ' class="number"' if right else ' class="wide"' if column == wide else ""
        for column, right in zip(frame.columns, _numeric(frame), strict=True)
    ]
    head = "".join(
        f'<th scope="col"{kind}>{_html(str(column))}</th>'
        for column, kind in zip(frame.columns, kinds, strict=True)
    )
    rows = "\n".join(
        "<tr>"
        + "".join(f"<td{kind}>{_html(text)}</td>" for text, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in cells(frame, formats)
    )
    # not a <caption>, which would scroll away with the table
    lines = html.escape(caption or "").replace("\n", "<br>\n")
    named = f'<p class="note">{lines}</p>' if caption else ""
    return (
        f'{named}<div class="table"><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def number(value: float | None, form: str) -> str:
    """Write a number with a real minus, but 0 without; an undefined one is an en dash."""
    if _undefined(value):
        return UNDEFINED
    # two ways of computing a number round alike, also half way between two digits
    if isinstance(value, float) and form.endswith(("f", "%")):
        value = round(value, 12)
    text = format(value, form)
    return text.lstrip("-") if _NOTHING.fullmatch(text) else text.replace("-", "−")


def yes_or_no(value: bool) -> str:
    """Write whether something holds."""
    return "yes" if value else "no"


def probability(value: float | None, digits: int = 3) -> str:
    """Write a probability; one that rounds to 0 or 1 without being so is below or above it.

    Examples
    --------
    >>> probability(0.9731), probability(0.99998), probability(1.0), probability(2e-5)
    ('0.973', '> 0.999', '1.000', '< 0.001')
    >>> probability(0.997, 2)
    '> 0.99'
    """
    text, least = number(value, f".{digits}f"), 10.0**-digits
    if value is None or text not in (number(0.0, f".{digits}f"), number(1.0, f".{digits}f")):
        return text
    if 0.0 < value < 0.5:
        return f"< {least:.{digits}f}"
    return f"> {1.0 - least:.{digits}f}" if 0.5 < value < 1.0 else text


def share_of_draws(value: float) -> str:
    """Write a probability that is certain in no case, as one counted over draws.

    Examples
    --------
    >>> share_of_draws(0.0), share_of_draws(0.25), share_of_draws(1.0)
    ('< 0.001', '0.250', '> 0.999')
    """
    return probability(min(max(value, 1e-9), 1.0 - 1e-9))


def with_interval(value: float | None, ends: Sequence[float] | None, form: str) -> str:
    """Write a number, and the ends of its interval in brackets if it has one."""
    if _undefined(value) or ends is None or any(map(_undefined, ends)):
        return number(value, form)
    low, high = ends
    return f"{number(value, form)} ({number(low, form)} to {number(high, form)})"


def normal_interval(
    middle: ArrayLike, sd: ArrayLike, *, least: float = -math.inf
) -> tuple[Floats, Floats]:
    """Return the ends of 95% intervals by a normal, cut at the least value there can be.

    Examples
    --------
    >>> low, high = normal_interval([0.1, 0.5], 0.1, least=0.0)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.304], [0.296, 0.696])
    """
    centre, half = np.asarray(middle, dtype=np.float64), NORMAL_95 * np.asarray(sd)
    return np.maximum(least, centre - half), centre + half


def with_normal_interval(score: float, sd: float, form: str) -> str:
    """Write a score and its 95% interval by a normal, cut at 0."""
    low, high = normal_interval(score, sd, least=0.0)
    return with_interval(score, (float(low), float(high)), form)


def _undefined(value: object) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _text(value: object, form: Format | None) -> str:
    if _undefined(value):
        return UNDEFINED
    if callable(form):
        return form(value)
    if form is None:
        return str(value)
    return format(value, form).replace("-", "−")


def _numeric(frame: pd.DataFrame) -> list[bool]:
    """Which columns hold numbers, or numbers already written, only (undefined ones aside)."""
    return [all(map(_is_number, frame[column].dropna())) for column in frame.columns]


def _is_number(value: object) -> bool:
    return not isinstance(value, str) or _WRITTEN_NUMBER.fullmatch(value) is not None


def _html(text: str) -> str:
    """Escape a text; an algorithm's name may be broken into lines, an interval may not."""
    breakable = re.sub(r"(?=\[)|(?<=,)(?=[^\d\s])", "<wbr>", html.escape(text))
    return re.sub(r"(?<=\d) to (?=[−\d])", "\u00a0to\u00a0", breakable)


def _latex(text: str) -> str:
    # two hyphens of a name side by side would become a dash
    parts = re.split(r"(?<=-)(?=-)", text)
    return "{}".join("".join(_LATEX_SPECIAL.get(each, each) for each in part) for part in parts)
