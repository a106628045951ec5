import html

import pandas as pd
import pytest
from markdown_it import MarkdownIt  # which rich brings

from rtc_bayes.report.tables import (
    cells,
    number,
    to_html,
    to_latex,
    to_markdown,
    with_interval,
)

FRAME = pd.DataFrame({"system": ["a_1|x", "b<c>"], "W": [-0.444, None], "share": [0.5, 0.25]})
FORMATS = {"W": ".2f", "share": ".0%"}


def test_cells_write_minus_and_undefined():
    assert cells(FRAME, FORMATS) == [["a_1|x", "−0.44", "50%"], ["b<c>", "–", "25%"]]


def test_numbers_and_their_intervals():
    assert [number(value, ".1f") for value in (-0.5, None, float("nan"), pd.NA)] == [
        "−0.5",
        "–",
        "–",
        "–",
    ]
    assert with_interval(-0.5, (-1.0, 0.25), ".2f") == "−0.50 (−1.00 to 0.25)"
    assert with_interval(0.5, None, ".0%") == "50%"
    assert with_interval(0.5, [float("nan"), float("nan")], ".2f") == "0.50"
    assert with_interval(None, None, ".2f") == "–"


def test_markdown():
    assert to_markdown(FRAME, FORMATS).splitlines() == [
        "| system | W | share |",
        "| --- | ---: | ---: |",
        r"| a_1\|x | −0.44 | 50% |",
        r"| b\<c> | – | 25% |",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "a|b",
        "*star*",
        "a*b*c",
        "`code`",
        "_edge_",
        "__init__",
        "(_x_)",
        "bm25_k1",
        "a__b",
        "~~x~~",
        "<b>x</b>",
        "<http://a.b>",
        "a&lt;b",
        "[x](y)",
        "a\\_b",
        "m[a=1]/rtc_x:map",
        "1 < 2",
    ],
)
def test_markdown_shows_names_as_they_are(name):
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    page = reader.render(to_markdown(pd.DataFrame({"system": [name]})))
    cell = page.split("<td>")[1].split("</td>")[0]
    assert html.unescape(cell) == name
    assert "<" not in cell
    if name in ("bm25_k1", "a__b", "1 < 2"):
        assert to_markdown(pd.DataFrame({"system": [name]})).splitlines()[2] == f"| {name} |"


def test_latex_escapes():
    lines = to_latex(FRAME, FORMATS).splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}"
    assert r"a\_1\textbar{}x & $-$0.44 & 50\% \\" in lines
    assert r"b\textless{}c\textgreater{} & -- & 25\% \\" in lines


def test_latex_has_no_letter_that_needs_a_special_font():
    frame = pd.DataFrame({"mean τ": ["≤ 0.5"], "p": ["≥ 2"]})
    result = to_latex(frame)
    assert result.isascii()
    assert r"mean $\tau$ & p" in result


def test_html_escapes():
    result = to_html(FRAME, FORMATS, caption="A & B")
    assert "<td>b&lt;c&gt;</td>" in result
    assert '<td class="number">−0.44</td>' in result
    assert "A &amp; B</p>" in result


def test_html_breaks_names_and_not_intervals():
    frame = pd.DataFrame({"algorithm": ["m[a=.1,b=yes]:map"], "W": ["−1,234 (−2 to −0.5)"]})
    result = to_html(frame)
    assert "<td>m<wbr>[a=.1,<wbr>b=yes]:map</td>" in result
    assert "−1,234 (−2\u00a0to\u00a0−0.5)" in result


def test_a_function_formats():
    assert cells(FRAME[["share"]], {"share": lambda x: f"<{x}>"})[0] == ["<0.5>"]
