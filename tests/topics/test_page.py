"""The examples of docs/topics.md give what the page shows."""

import doctest
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "topics.md").read_text()


def test_the_examples_of_the_page():
    text = "\n".join("" if line.startswith("```") else line for line in PAGE.split("\n"))
    test = doctest.DocTestParser().get_doctest(text, {}, "topics.md", None, 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted >= 12
    assert not result.failed
