"""The examples of a page give what it shows."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


PAGES = [
    ("topics.md", 15),
    ("judging.md", 16),
    ("planning.md", 10),
    ("calibration.md", 17),
    ("audit.md", 20),
    ("labels-in-the-posterior.md", 29),
    ("labels.md", 8),
    ("panels.md", 14),
]


@pytest.mark.parametrize(("name", "least"), PAGES)
def test_the_examples_of_the_page(name, least):
    fenced, lines = False, []
    for line in (DOCS / name).read_text().split("\n"):
        if line.startswith("```"):
            fenced = line == "```pycon"
            line = ""
        lines.append(line if fenced else "")
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, name, None, 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted >= least
    assert not result.failed
