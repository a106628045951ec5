"""The columnar reader against one that goes line by line: the same files, the same numbers."""

from __future__ import annotations

import gzip
import math
from contextlib import nullcontext

import pytest
from hypothesis import given, strategies as st

import rtc_bayes as rb
from rtc_bayes.collection.order import natural_key
from rtc_bayes.errors import InputError


def line_by_line(data: bytes) -> dict[str, list[tuple[float, str]]] | None:
    """Read a run as its definition says; None where it must be refused."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        if "\0" in data.decode() or "\ufeff" in data.decode():
            return None
    except UnicodeDecodeError:
        return None
    lists: dict[str, dict[str, float]] = {}
    tags = set()
    for line in data.split(b"\n"):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 6 or b"_" in fields[4]:
            return None
        try:
            score = float(fields[4])
        except ValueError:
            return None
        ranked = lists.setdefault(fields[0].decode(), {})
        if math.isnan(score) or fields[2].decode() in ranked:
            return None
        ranked[fields[2].decode()] = score
        tags.add(fields[5])
    if len(tags) != 1:
        return None
    return {
        topic: sorted(((score, docno) for docno, score in ranked.items()), reverse=True)
        for topic, ranked in lists.items()
    }


SPACE = st.sampled_from([" ", " ", " ", "\t", "  ", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u00a0"])
END = st.sampled_from(["\n", "\n", "\r\n", "\n\n", " \n", "\n \t", "\r", ""])
SCORE = st.one_of(
    st.floats().map(repr),
    st.decimals().map(str),
    st.sampled_from(
        [
            "1",
            "1.0",
            "1_000",
            "+1",
            "0x1p3",
            "inf",
            "-Infinity",
            "nan",
            "nan(1)",
            "1e400",
            "5e-324",
            "1e-400",
            ".5",
            "5.",
            "1e5",
            "1E+5",
            "--1",
            "1,5",
            "٣",
            "-0.0",
            "1d",
            "0.1234567890123456789012345678901234567890",
            "2.2250738585072011e-308",
        ]
    ),
)
TOKEN = st.sampled_from(["1", "2", "a", "b", "é", '"', "'", "\\", "#", "\ufeff", "\x1f", "NA", ""])


@st.composite
def files(draw):
    fields = [TOKEN, st.just("Q0"), TOKEN, st.just("1"), SCORE, st.just("s")]
    lines = draw(st.lists(st.tuples(*fields, END), min_size=1, max_size=4))
    text = draw(st.sampled_from(["", "\ufeff", " ", "\n", "\ufeff\ufeff"]))
    for *line, end in lines:
        text += "".join(field + draw(SPACE) for field in line[:-1]) + line[-1] + end
    return text.encode(errors="ignore")


@given(files())
def test_both_readers_take_the_same_files_for_the_same(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("lines") / "run"
    path.write_bytes(data)
    expected = line_by_line(data)
    if expected is None:
        with pytest.raises(InputError) as caught:
            rb.read_runs(path)
        assert caught.value.path == str(path)
        assert caught.value.remedy
        return
    with pytest.warns() if _tied(expected) else nullcontext():
        (run,) = rb.read_runs(path).values()
    assert set(run.topics) == set(expected)
    for topic, ranked in expected.items():
        assert run.ranking(topic).tolist() == [docno for _, docno in ranked]
        assert run.scores(topic).tolist() == [score for score, _ in ranked]


def _tied(lists):
    long = [ranked for ranked in lists.values() if len(ranked) > 1]
    return bool(long) and all(len({score for score, _ in ranked}) == 1 for ranked in long)


@pytest.mark.parametrize("score", ["1_000", "0x10", "nan", "1__0"])
def test_forms_of_numbers_that_only_python_or_c_know_are_refused(tmp_path, score):
    path = tmp_path / "run"
    path.write_text(f"1 Q0 a 1 2 s\n\n1 Q0 b 2 {score} s\n")
    with pytest.raises(InputError, match=r"run:3: score .* is not a number"):
        rb.read_runs(path)


def test_whole_numbers_have_no_underscores_and_64_bits(tmp_path):
    path = tmp_path / "qrels"
    for grade in ("1_000", str(2**63), "9" * 5000):
        path.write_text(f"1 0 a 1\n1 0 b {grade}\n")
        with pytest.raises(InputError, match=r"qrels:2: relevance .* is not a whole number") as e:
            rb.read_qrels(path)
        assert len(str(e.value)) < 500


def test_a_byte_order_mark_inside_the_text_is_refused(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("\ufeff1 0 a 1\n\ufeff2 0 a 1\n")
    with pytest.raises(InputError, match=r"qrels:2: .*byte order mark"):
        rb.read_qrels(path)


def test_a_topic_may_have_any_number_of_digits(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("".join(f"{topic} 0 a 1\n" for topic in ("9" * 4301, "10", "9", "010")))
    assert rb.read_qrels(path).topics == ("9", "010", "10", "9" * 4301)


@given(st.integers(0, 10**30), st.integers(0, 10**30))
def test_natural_order_is_that_of_the_numbers(a, b):
    if a != b:
        assert (natural_key(f"q{a}") < natural_key(f"q{b}")) == (a < b)


def test_a_gzip_that_expands_as_no_text_does_is_refused_before_it_fills_memory(tmp_path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"\n" * 2**27))
    with pytest.raises(InputError, match=r"bomb.gz: expands .*gunzip"):
        rb.read_qrels(path)
    path.write_bytes(gzip.compress(b"1 0 a 1\n") + gzip.compress(b"1 0 b 0\n") + b"\0\0")
    assert dict(rb.read_qrels(path)["1"]) == {"a": 1, "b": 0}


def test_topics_may_stand_apart(tmp_path):
    path = tmp_path / "run"
    path.write_text("1 Q0 a 1 1 s\n2 Q0 a 1 1 s\n1 Q0 b 2 3 s\n")
    run = rb.read_runs(path)["s"]
    assert run.ranking("1").tolist() == ["b", "a"]
    assert run.ranking("2").tolist() == ["a"]
