"""The tutorials of a researcher's own model and of the 2007 model: commands do what pages show."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from pools import pool_of

from rtc_bayes import Judgments
from rtc_bayes.cli import main
from rtc_bayes.relevance import estimate, load_model

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
FILE = TUTORIALS / "fusion.py"
PAGE = (TUTORIALS / "own_model.md").read_text()
PAGE_2007 = (TUTORIALS / "the-2007-model.md").read_text()
NUMBER = r"[−+-]?\d[\d.,e+-]*%?"


def test_the_page_includes_a_file_of_at_most_40_lines():
    assert "```{literalinclude} fusion.py" in PAGE
    assert len(FILE.read_text().splitlines()) <= 40


@pytest.mark.filterwarnings("ignore::rtc_bayes.FitWarning")
def test_what_many_rank_high_is_more_probable():
    import pytensor

    lists = {t: [f"d{i}" for i in range(8)] for t in "12"}
    pool = pool_of({"a": lists, "b": lists}, depth=8)
    judgments = Judgments.from_labels(pool, range(8), np.arange(8) < 3)
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        p = estimate(load_model(str(FILE), {"k": "1"}), "map", judgments).p
    assert (np.diff(p[pool.documents(1)]) < 0).all()


def commands(page=PAGE):
    """Commands of a page, each with the lines shown under it that say something."""
    collected = []
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for part in block.replace("\\\n", " ").split("$ rtc-bayes ")[1:]:
            line, *shown = part.splitlines()
            collected.append((shlex.split(line), [text for text in shown if shape(text)]))
    return collected


def shape(line):
    """What a line of output says but for its numbers and how wide it is."""
    line = re.sub(NUMBER, "#", line)
    return " ".join(line.replace("─", "").removesuffix("...").split())


def is_shown(text, said):
    """Whether a line of the page is one that was said, or the beginning of one."""
    if text.endswith("..."):
        return any(line.startswith(shape(text)) for line in said)
    return shape(text) in said


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rtc_bayes.FitWarning")
def test_the_commands_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    shutil.copy(FILE, tmp_path)
    run = commands()
    wanted = ("simulate", "build", "fit", "compare", "next", "robustness", "calibrate", "report")
    assert {line[0] for line, _ in run} == set(wanted)
    assert {line[line.index("--method") + 1] for line, _ in run if "--method" in line} == {
        "map",
        "laplace",
        "nuts",
    }
    for line, shown in run:
        assert main(line) == 0, capsys.readouterr().err
        captured = capsys.readouterr()
        said = {shape(text) for text in (captured.out + captured.err).splitlines()}
        assert [text for text in shown if not is_shown(text, said)] == [], (line, said)
    for path in ("study/report.html", "calibration/report.html"):
        assert "fusion" in (tmp_path / path).read_text()


def numbers(line):
    texts = (text.rstrip("%.,").replace("−", "-") for text in re.findall(NUMBER, line))
    return [float(text.replace(",", "")) for text in texts]


@pytest.mark.slow
def test_the_commands_of_the_page_of_the_2007_model(tmp_path, monkeypatch, capsys):
    """Words and numbers are as shown, but for what compilers and processors may move."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    run = commands(PAGE_2007)
    wanted = ["simulate", "build", "compare", "evaluate", "robustness", "report"]
    assert [line[0] for line, _ in run] == wanted
    said = {}
    for line, shown in run:
        assert main(line) == 0, capsys.readouterr().err
        captured = capsys.readouterr()
        said[line[0]] = (captured.out + captured.err).splitlines()
        for text in shown:
            assert text == "..." or any(
                shape(text) == shape(other)
                and numbers(text) == pytest.approx(numbers(other), rel=0.02, abs=0.001)
                for other in said[line[0]]
            ), text
    expected, true = (
        dict(re.findall(r"^ *(site\w+) +(0\.\d+) ", "\n".join(said[command]), re.MULTILINE))
        for command in ("compare", "evaluate")
    )
    assert len(expected) == 8
    ratios = [float(true[system]) / float(expected[system]) for system in expected]
    assert [min(ratios), max(ratios)] == pytest.approx([1.4, 2.1], abs=0.05)
