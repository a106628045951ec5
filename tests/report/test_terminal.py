"""Tables as text: a pipe or a file gets them whole, in about a hundred columns."""

import pandas as pd
import pytest

from rtc_bayes.report.terminal import Table, write_tables

DOCNO = "clueweb12-0000tw-05-12114-a-name-without-an-end"


def lines(capsys, frame, formats):
    write_tables([Table("title", frame, formats)], None, {})
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


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
