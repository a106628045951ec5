"""The example of the guide to a confidence gives the numbers that the guide shows and speaks of."""

import doctest
import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "reading-a-confidence.md").read_text()
NUMBER = r"[+-]?\d+(?:\.\d+)?"


@pytest.fixture(scope="module")
def played():
    """What the example's lines left, and per line what it printed and what the page shows."""
    names, printed = {}, []
    for block in re.findall(r"```pycon\n(.*?)```", PAGE, re.DOTALL):
        for example in doctest.DocTestParser().get_examples(block):
            with redirect_stdout(io.StringIO()) as said:
                exec(compile(example.source, "guide", "single"), names)
            if example.want:
                printed.append((said.getvalue(), example.want))
    return names, printed


def test_the_example_prints_what_the_page_shows(played):
    """Words as they are; numbers within what compilers and processors may move draws by."""
    assert len(played[1]) == 5
    for said, shown in played[1]:
        assert re.sub(NUMBER, "#", said).split() == re.sub(NUMBER, "#", shown).split()
        numbers = [[float(n) for n in re.findall(NUMBER, text)] for text in (said, shown)]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.01)


def test_what_the_page_says_of_the_truth(played):
    comparison, truth = played[0]["comparison"], played[0]["truth"].set_index("system")["AP"]
    pairs = comparison.to_frame()
    truly = truth[pairs["a"]].to_numpy() - truth[pairs["b"]].to_numpy()
    wrong = pairs[truly * pairs["expected_difference"] < 0]
    assert (len(pairs), len(wrong)) == (45, 7)
    assert wrong["confidence"].max() == pytest.approx(0.69, abs=0.01)
    assert truth["site02a"] - truth["site03a"] == pytest.approx(0.066, abs=5e-4)
    assert pairs["confidence"].mean() == pytest.approx(0.89, abs=0.01)
    systems = comparison.systems_frame().set_index("system")
    assert (abs(systems["expected"] - truth[systems.index]) < 1.96 * systems["sd"]).all()


def test_the_table_of_the_page_is_that_of_the_results():
    """Mean confidence, accuracy and coverage, as docs/results/whole-lists.md gives them."""
    results = (Path(__file__).parents[1] / "docs" / "results" / "whole-lists.md").read_text()

    def rows(text):
        cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
        # of rows that begin alike the first
        return {row[0]: row[1:] for row in reversed(cells) if len(row) > 3}

    guide, full = rows(PAGE), rows(results)
    named = ["TREC-8", "Robust 2003", "DL 2020", "CLEF eHealth 2015"]
    header = full[""]
    columns = [header.index(name) for name in ("confidence", "accuracy", "95% of differences")]
    assert [guide[name] for name in named] == [[full[name][c] for c in columns] for name in named]
