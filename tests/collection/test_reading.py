"""Readers: what is ordinary passes, what is bad names file, line and remedy."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import rtc_bayes as rb
from rtc_bayes.errors import InputError

RUN = "401 Q0 d1 1 3.0 sys\n401 Q0 d2 2 2.0 sys\n402 Q0 d1 1 1.0 sys\n"
QRELS = "401 0 d1 1\n401 0 d3 0\n402 0 d1 2\n402 0 d9 -1\n"


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_run_is_read_in_order(tmp_path):
    run = rb.read_runs(write(tmp_path / "a", RUN))["sys"]
    assert run.topics == ("401", "402")
    assert run.ranking("401").tolist() == ["d1", "d2"]
    assert run.scores("401").tolist() == [3.0, 2.0]
    assert run.ranking("403").tolist() == []


def test_order_is_by_score_then_docno_descending_and_not_by_rank(tmp_path):
    content = "1 Q0 a 1 1.0 s\n1 Q0 b 2 2.00000000001 s\n1 Q0 c 3 2.0 s\n1 Q0 e 9 2.0 s\n"
    path = write(tmp_path / "run", content)
    # b and c differ in double precision only
    assert rb.read_runs(path)["s"].ranking("1").tolist() == ["b", "e", "c", "a"]
    assert rb.read_runs(path, order="rank")["s"].ranking("1").tolist() == ["a", "b", "c", "e"]
    assert rb.read_runs(path, depth=2)["s"].ranking("1").tolist() == ["b", "e"]


def test_folders_globs_and_gzip(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / ".hidden").write_text("x")
    write(folder / "b", RUN.replace("sys", "two"))
    write(folder / "a.gz", gzip.compress(RUN.replace("sys", "one").encode()))
    assert rb.read_runs(folder).systems == ("one", "two")
    assert rb.read_runs(str(folder / "*.gz")).systems == ("one",)
    assert rb.read_runs(folder, name_by="file").systems == ("a", "b")
    assert rb.read_runs(folder / "b", folder / "a.gz").systems == ("two", "one")


def test_qrels_keep_grades_and_order(tmp_path):
    qrels = rb.read_qrels(write(tmp_path / "q", QRELS))
    assert dict(qrels["402"]) == {"d1": 2, "d9": -1}
    assert list(qrels["401"]) == ["d1", "d3"]
    assert qrels.counts() == (3, 2)
    assert qrels.counts(2) == (3, 1)


def test_blank_lines_and_windows_line_ends_hold_nothing(tmp_path):
    path = write(tmp_path / "q", "\r\n401 0 d1 1\r\n\r\n401 0 d2 0\r\n\n")
    assert dict(rb.read_qrels(path)["401"]) == {"d1": 1, "d2": 0}


def test_byte_order_mark_is_not_part_of_the_topic(tmp_path):
    assert rb.read_qrels(write(tmp_path / "q", b"\xef\xbb\xbf" + QRELS.encode())).topics[0] == "401"


def test_a_file_of_no_judgments_is_read_where_something_says_so(tmp_path):
    path = write(tmp_path / "q", "")
    with pytest.raises(InputError, match="the file is empty"):
        rb.read_qrels(path)
    write(tmp_path / "q.meta.json", '{"judged_for": ["A"], "relevance_level": 2}')
    qrels = rb.read_qrels(path)
    assert (len(qrels), qrels.judged_for, qrels.relevance_level) == (0, ("A",), 2)


def test_qrels_that_look_like_labels_of_a_judge_are_said(tmp_path):
    path = write(tmp_path / "q", "401 gpt-4 d1 1\n401 gpt-4 d2 0\n")
    with pytest.warns(rb.CollectionWarning, match="second column is 'gpt-4', no number of an iter"):
        assert rb.read_qrels(path)["401"]["d1"] == 1


READERS = (rb.read_runs, rb.read_qrels, rb.read_erels, rb.read_prels, rb.read_scores)


def test_scores(tmp_path):
    scores = rb.read_scores(write(tmp_path / "s", "401 d1 -2.5\n402 d1 1e3\n401 d2 0\n"))
    assert dict(scores["401"]) == {"d1": -2.5, "d2": 0.0}
    assert repr(scores) == "Scores(2 topics, 3 documents)"
    for text, message in {
        "401 d1 1\n401 d2 -inf\n": r"s:2: score '-inf' is not a finite number; correct the field",
        "401 d1 1\n\n401 Q0 d2 1\n": r"s:3: 4 fields where a scores \(topic docno score\) has 3",
        "401 d1 1\n401 d1 2\n": r"s:2: document d1 stands twice in topic 401",
    }.items():
        with pytest.raises(InputError, match=message):
            rb.read_scores(write(tmp_path / "s", text))
    with pytest.raises(InputError, match="score nan of d in topic 1 is not finite"):
        rb.Scores({"1": {"d": float("nan")}})


def test_erels_and_prels(tmp_path):
    erels = rb.read_erels(write(tmp_path / "e", "401 Q0 d1 0.25\n401 Q0 d2 1\n"))
    assert erels["401"]["d1"] == 0.25
    prels = rb.read_prels(write(tmp_path / "p", "401 d1 1 2 0.5\n401 d2 -1 1 1.0\n"))
    assert prels["401"]["d1"].probability == 0.5
    with pytest.raises(rb.InputError, match=r"bad:2: .*probability above 0, at most 1"):
        rb.read_prels(write(tmp_path / "bad", "401 d1 1 2 0.5\n401 d2 0 1 0\n"))
    assert prels.qrels()["401"] == {"d1": 1, "d2": -1}


RUN_ERRORS = {
    "fields": ("401 Q0 d1 1 3.0 s\n401 Q0 d2 2 2.0\n", 2, "5 fields where a run"),
    "score": ("401 Q0 d1 1 3.0 s\n\n401 Q0 d2 2 two s\n", 3, "score 'two' is not a number"),
    "nan": ("401 Q0 d1 1 nan s\n", 1, "score 'nan' is not a number"),
    "duplicate": ("401 Q0 d1 1 3 s\n401 Q0 d2 2 2 s\n401 Q0 d1 3 1 s\n", 3, "first in line 1"),
    "tags": ("401 Q0 d1 1 3 s\n401 Q0 d2 2 2 other\n", 2, "--name-by file"),
    "swapped": (
        "401 d1 Q0 1 3 s\n401 d2 Q0 2 2 s\n",
        2,
        "if Q0 and docno changed places, write topic Q0 docno rank score tag",
    ),
    "qrels": (QRELS, 1, "looks like|if this is a file of qrels .*--qrels"),
    "encoding": (b"401 Q0 d1 1 3 s\n401 Q0 d\xe9 2 2 s\n", 2, "0xe9 is not UTF-8"),
    "utf-16": (RUN.encode("utf-16"), 1, "is not UTF-8"),
    "binary": (b"401 Q0 d1 1 3 s\n\0\n", 2, "0x00"),
}


@pytest.mark.parametrize("name", RUN_ERRORS)
def test_bad_runs_name_file_line_and_remedy(tmp_path, name):
    content, line, message = RUN_ERRORS[name]
    path = write(tmp_path / "bad", content)
    with pytest.raises(InputError, match=message) as caught:
        rb.read_runs(path)
    assert caught.value.path == str(path)
    assert caught.value.line == line
    assert caught.value.remedy


QRELS_ERRORS = {
    "run": (RUN, 1, "6 fields where a qrels .* if this is a file of run"),
    "grade": ("401 0 d1 1\n401 0 d2 yes\n", 2, "relevance 'yes' is not a whole number"),
    "fraction": ("401 0 d1 0.5\n", 1, "if this is a file of erels"),
    "duplicate": ("401 0 d1 1\n401 0 d1 0\n", 2, "stands twice.*; keep one of the two lines"),
    "swapped": (
        "401 d1 0 1\n401 d2 0 0\n",
        2,
        "if iteration and docno changed places, write topic",
    ),
    "grades for docnos": (
        "401 0 1 d1\n401 0 1 d2\n",
        1,
        "'d1' is not a whole number; if docno and relevance changed places, write topic iteration",
    ),
    "grades for docnos that are numbers": (
        "401 0 1 11\n401 0 1 2\n",
        2,
        "document 1 stands twice.*; if docno and relevance changed places, write topic iteration",
    ),
    "small docnos": ("401 0 1 1\n401 0 1 0\n", 2, "keep one of the two lines"),
}


@pytest.mark.parametrize("name", QRELS_ERRORS)
def test_bad_qrels_name_file_line_and_remedy(tmp_path, name):
    content, line, message = QRELS_ERRORS[name]
    path = write(tmp_path / "bad", content)
    with pytest.raises(InputError, match=message) as caught:
        rb.read_qrels(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)


@pytest.mark.parametrize("p", ["1.5", "-0.1", "nan", "x"])
def test_probabilities_outside_the_unit_interval(tmp_path, p):
    path = write(tmp_path / "e", f"401 Q0 d1 0.5\n401 Q0 d2 {p}\n")
    with pytest.raises(InputError, match=r"e:2: probability .* in \[0, 1\]"):
        rb.read_erels(path)


def test_what_a_file_looks_like_is_said_in_plain_words(tmp_path):
    said = r"q:1: 1 field where a qrels .*; correct the line"
    with pytest.raises(InputError, match=said):
        rb.read_qrels(write(tmp_path / "q", "401\n"))
    with pytest.raises(InputError, match=r"6 fields .* if this is a file of runs \(topic Q0 docno"):
        rb.read_qrels(write(tmp_path / "q", "401 Q0 d1 1 3.0 s\n"))


def test_judgments_are_not_read_as_probabilities(tmp_path):
    with pytest.raises(
        InputError, match=r"as the grades of judgments are; .* with --qrels \(read_q"
    ):
        rb.read_erels(write(tmp_path / "q", "401 0 d1 1\n401 0 d2 0\n"))
    # certainties that were written as probabilities are read
    rb.write_erels(rb.Probabilities({"401": {"d1": 1, "d2": 0}}), tmp_path / "e")
    assert dict(rb.read_erels(tmp_path / "e")["401"]) == {"d1": 1.0, "d2": 0.0}


def test_files_that_are_empty_absent_or_broken(tmp_path):
    with pytest.raises(InputError, match="empty"):
        rb.read_runs(write(tmp_path / "empty", ""))
    with pytest.raises(InputError, match="the file is empty; a groups file has lines"):
        rb.read_groups(write(tmp_path / "commas", " , \n,"))
    with pytest.raises(InputError, match="no such file"):
        rb.read_qrels(tmp_path / "absent")
    with pytest.raises(InputError, match="no file matches"):
        rb.read_runs(str(tmp_path / "*.nothing"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="holds no files"):
        rb.read_runs(tmp_path / "folder")
    with pytest.raises(InputError, match="cannot be read"):
        rb.read_runs(write(tmp_path / "cut.gz", gzip.compress(RUN.encode())[:-9]))
    with pytest.raises(InputError, match="no runs"):
        rb.read_runs()
    with pytest.raises(InputError, match="depth"):
        rb.read_runs(write(tmp_path / "run", RUN), depth=0)


def test_two_files_of_one_tag(tmp_path):
    first, second = write(tmp_path / "a", RUN), write(tmp_path / "b", RUN)
    with pytest.raises(InputError, match="--name-by file"):
        rb.read_runs(first, second)
    assert rb.read_runs(first, second, name_by="file").systems == ("a", "b")
    rest = write(tmp_path / "c", "403 Q0 d1 1 1.0 sys\n")
    with pytest.raises(InputError, match="; write parts of one run to one file; of two runs, name"):
        rb.read_runs(first, rest)


FRAMES = {
    "PyTerrier": {"qid": ["1", "1"], "docno": ["a", "b"], "rank": [0, 1], "score": [2.0, 3.0]},
    "ir_measures": {"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [2.0, 3.0]},
    "ranx": {"q_id": ["1", "1"], "doc_id": ["a", "b"], "score": [2.0, 3.0]},
}


@pytest.mark.parametrize("style", FRAMES)
def test_data_frames_of_three_styles(style):
    runs = rb.read_runs(pd.DataFrame(FRAMES[style]))
    assert runs["run"].ranking("1").tolist() == ["b", "a"]
    named = pd.DataFrame(FRAMES[style]).assign(system=["x", "y"])
    assert rb.read_runs(named).systems == ("x", "y")


@pytest.mark.parametrize("index", ["qid", "docno", ["qid", "docno"], ["name", "qid"]])
def test_levels_of_the_index_are_columns(index):
    # as PyTerrier's, whose query and docid are not the ids
    frame = pd.DataFrame(FRAMES["PyTerrier"]).assign(
        name="x", query="what is it", docid=[3, 4], label=[0, 1]
    )
    assert rb.read_runs(frame.set_index(index))["x"].ranking("1").tolist() == ["b", "a"]
    assert dict(rb.read_qrels(frame.set_index(index))["1"]) == {"a": 0, "b": 1}
    assert rb.read_runs(frame.set_index(index, drop=False))["x"].topics == ("1",)


def test_a_column_counts_before_a_level_of_its_meaning():
    frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, 2.0], "run": "x"})
    for level in ("name", "topic"):
        runs = rb.read_runs(frame.rename_axis(index=level))
        assert runs["x"].ranking("1").tolist() == ["b", "a"]


def test_a_run_within_a_run_is_taken_by_the_outer_name():
    assert rb.read_runs({"s": {"t": {"1": {"a": 1.0}}}}).systems == ("s",)


def test_errors_of_runs_in_memory_say_what_is_missing():
    with pytest.raises(InputError, match="no column score or rank among qid, docno, label"):
        rb.read_runs(pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": [1]}))
    for lists in (["a", "b"], [("a", 2.0)], {"a": ["b"]}):
        with pytest.raises(InputError, match=r"system 's': not every topic holds \{docno"):
            rb.read_runs({"s": {"1": lists}})


@pytest.mark.parametrize("column", ["label", "grade", "relevance", "score"])
def test_qrels_from_data_frames(column):
    frame = pd.DataFrame({"qid": [1, 1], "docno": ["a", "b"], column: [0, 1]})
    assert dict(rb.read_qrels(frame)["1"]) == {"a": 0, "b": 1}


def test_the_frame_of_a_run_is_no_qrels():
    frame = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [2.0], "rank": [0]})
    with pytest.raises(InputError, match="columns score and rank, as a run has"):
        rb.read_qrels(frame)
    assert dict(rb.read_qrels(frame.assign(label=1))["1"]) == {"a": 1}


def test_bad_frames_name_the_row():
    frame = pd.DataFrame(
        {"qid": ["1", "1"], "docno": ["a", "a"], "score": [1.0, 2.0]}, index=[7, 8]
    )
    with pytest.raises(InputError, match="row 8: document a stands twice"):
        rb.read_runs(frame)
    with pytest.raises(InputError, match="row 8: score nan"):
        rb.read_runs(frame.assign(docno=["a", "b"], score=[1.0, np.nan]))
    with pytest.raises(InputError, match="no column topic or qid"):
        rb.read_runs(frame.drop(columns="qid"))
    with pytest.raises(InputError, match=r"row 7: label 0.5 is not a whole number"):
        rb.read_qrels(frame.assign(docno=["a", "b"], label=[0.5, 1]))


@given(st.binary(max_size=300))
def test_readers_meet_any_bytes_with_an_answer_or_a_named_error(tmp_path_factory, content):
    path = write(tmp_path_factory.mktemp("fuzz") / "file", content)
    for read in READERS:
        try:
            result = read(path)
        except InputError as error:
            named = error.path
        else:
            assert len(result) > 0
            named = str(path)
        assert named == str(path)


# fields that look right or nearly so reach further into the readers than plain bytes do
FIELD = st.sampled_from(
    ["401", "Q0", "d1", "d2", "1", "0", "-1", "0.5", "2", "nan", "inf", "1e400", "x"]
)
LINES = st.lists(st.lists(FIELD, min_size=3, max_size=7), max_size=6)


@given(LINES)
def test_readers_lose_no_line(tmp_path_factory, lines):
    path = write(tmp_path_factory.mktemp("fuzz") / "file", "\n".join(map(" ".join, lines)))
    for read in READERS:
        try:
            result = read(path)
        except InputError:
            continue
        held = sum(map(len, result.values()))
        assert held == len(lines)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
RANKINGS = st.dictionaries(NAMES, st.lists(NAMES, unique=True, min_size=1, max_size=6), min_size=1)


@given(RANKINGS, st.booleans())
def test_runs_round_trip(tmp_path_factory, rankings, compress):
    folder = tmp_path_factory.mktemp("runs")
    run = rb.Run.from_rankings("tag", rankings)
    rb.write_runs(rb.Runs([run]), folder, compress=compress)
    again = rb.read_runs(folder)["tag"]
    assert again.topics == run.topics
    for topic in run.topics:
        assert again.ranking(topic).tolist() == run.ranking(topic).tolist()
        assert again.scores(topic).tolist() == run.scores(topic).tolist()


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(-2, 4), min_size=1), min_size=1))
def test_qrels_round_trip(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("qrels") / "q.gz"
    rb.write_qrels(rb.Qrels(table), path)
    assert {t: dict(v) for t, v in rb.read_qrels(path).items()} == table


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, st.floats(0, 1), min_size=1), min_size=1))
def test_erels_round_trip(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("erels") / "e"
    rb.write_erels(rb.Probabilities(table), path)
    assert {t: dict(v) for t, v in rb.read_erels(path).items()} == table


def test_prels_round_trip(tmp_path):
    path = write(tmp_path / "p", "401 d1 1 2 0.125\n402 d2 -1 1 1.0\n")
    rb.collection.write_prels(rb.read_prels(path), tmp_path / "again")
    assert (tmp_path / "again").read_text() == path.read_text()


def test_objects_describe_themselves(tmp_path):
    runs = rb.read_runs(write(tmp_path / "run", RUN))
    assert repr(runs) == "Runs(1 system, 2 topics: sys)"
    assert repr(runs["sys"]) == "Run('sys': 2 topics, 3 documents ranked)"
    assert "3 judged, 2 relevant" in repr(rb.read_qrels(write(tmp_path / "q", QRELS)))
    assert runs.to_frame()["rank"].tolist() == [1, 2, 1]


def test_distances_for_scores_are_noticed(tmp_path):
    """The last rank has the highest score; a file whose lines stand the other way round has not."""
    lines = [f"{t} Q0 d{n} {n} {n / 10} sys\n" for t in (401, 402) for n in range(1, 15)]
    rising = write(tmp_path / "far", "".join(lines))
    for _ in range(2):  # what was remarked of a file is not read from the cache without a word
        with pytest.warns(rb.CollectionWarning, match="far: scores rise where ranks do"):
            rb.read_runs(rising, cache=tmp_path / "cache")
    rb.read_runs(rising, order="rank")
    swapped = [f"401 Q0 d{n} {30 - n / 10} {n} sys\n" for n in range(1, 25)]
    with pytest.warns(rb.CollectionWarning, match="swapped: scores rise where ranks do"):
        rb.read_runs(write(tmp_path / "swapped", "".join(swapped)))
    backwards = [f"401 Q0 d{n} {n} {100 - n} sys\n" for n in range(24, 0, -1)]
    run = rb.read_runs(write(tmp_path / "back", "".join(backwards)))["sys"]
    assert run.ranking("401")[0] == "d1"


def test_probabilities_that_are_none_are_refused():
    pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    two = rb.Relevance.from_values(pool, [[0.25, 0.5], [0.75, 0.5]])
    assert two.n_draws == 2
    once = two.probability
    for wrong, said in {
        "twice": (once.isel(document=[0, 0]), "document a of topic 1 has 2 probabilities"),
        "bare": (once.drop_vars("docno"), "no coordinate docno of its documents"),
    }.values():
        with pytest.raises(InputError, match=said):
            rb.Relevance(wrong)
    for values in (np.ma.masked_array([0.1, 0.2], [True, False]), ["high", "low"]):
        with pytest.raises(InputError, match="probabilities are"):
            rb.Relevance.from_values(pool, values)


def test_documents_that_only_a_list_of_probabilities_has_hide_none_that_lack_one():
    """The share that is asked for is that of the pool's documents."""
    pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": list("abcdefgh")})]))
    listed = rb.Probabilities({"1": dict.fromkeys([*"abcdef", *(f"x{i}" for i in range(90))], 0.5)})
    with pytest.raises(InputError, match="no listed probability for 2 of 8 documents of the pool"):
        rb.Relevance.from_erels(pool, listed)


@pytest.mark.parametrize("table", [None, [1], 5])
def test_what_is_no_table_is_no_qrels(table):
    with pytest.raises(InputError, match=r"a \w+ is no table by topic; give {topic: ...}"):
        rb.Qrels(table)
