"""Tables as text: in about a hundred columns, or by parts in a narrow terminal."""

import re

import pandas as pd
import pytest

from rtc_bayes.report.terminal import Table, write_tables

DOCNO = "clueweb12-0000tw-05-12114-a-name-without-an-end"


def lines(capsys, frame, formats):
    write_tables([Table("title", frame, formats)], None, {})
    unstyled = re.sub("\x1b[^m]*m", "", capsys.readouterr().out)
    return [line.rstrip() for line in unstyled.splitlines()]


def test_headings_break_before_a_table_is_too_wide(capsys):
    names = [f"a long heading {n}" for n in range(8)]
    frame = pd.DataFrame([[0.123] * 8], columns=names)
    title, *table = lines(capsys, frame, dict.fromkeys(names, ".3f"))
    assert title == "title"
    assert max(map(len, table)) <= 100
    assert table[-2].split() == ["0.123"] * 8


def test_no_name_and_no_number_breaks(capsys):
    frame = pd.DataFrame(
        {"docno": [DOCNO], **{f"n{n}": ["0.1234 (0.0123 to 0.2345)"] for n in range(4)}}
    )
    table = lines(capsys, frame, {f"n{n}": "" for n in range(4)})
    assert table[-2].split("   ") == [f" {DOCNO}", *["0.1234 (0.0123 to 0.2345)"] * 4]


@pytest.mark.parametrize("words", [5, 50])
def test_running_text_breaks_at_words(capsys, words):
    text = " ".join(f"word{n}" for n in range(words))
    frame = pd.DataFrame({"topic": ["1"], "why": [text]})
    table = lines(capsys, frame, {})
    assert max(map(len, table)) <= 100
    assert " ".join(" ".join(table[4:]).split()) == f"1 {text}"


@pytest.fixture
def terminal(monkeypatch):
    """Standard output is a terminal, of so many columns."""

    def of(columns):
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", str(columns))

    return of


@pytest.mark.parametrize("columns", [30, 45, 60])
def test_a_narrow_terminal_gets_columns_below_one_another(capsys, terminal, columns):
    numbers = {f"heading {n}": f"0.12{n} (0.010 to 0.2{n}0)" for n in range(5)}
    frame = pd.DataFrame([{"better": "s1", "worse": "s2", **numbers}])
    terminal(columns)
    table = lines(capsys, frame, dict.fromkeys(numbers, ""))
    text = "\n".join(table)
    assert all(number in text for number in numbers.values())
    # each part says whose numbers these are
    parts = text.count("better")
    assert parts == text.count("s1") == text.count("s2") > 1
    narrowest = 1 + 6 + 3 + 5 + 3 + len(numbers["heading 0"])
    assert max(map(len, table)) <= max(columns, narrowest)


def test_a_wide_terminal_gets_one_table(capsys, terminal):
    names = [f"a long heading {n}" for n in range(8)]
    terminal(160)
    table = lines(capsys, pd.DataFrame([[0.123] * 8], columns=names), dict.fromkeys(names, ".3f"))
    assert sum("a long heading 7" in line for line in table) == 1
    assert 100 < max(map(len, table)) <= 175
