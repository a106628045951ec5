"""What readers take besides files, and that nothing is lost, merged or changed on the way."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import pytest

import rtc_bayes as rb
from rtc_bayes.collection import read_groups
from rtc_bayes.errors import CollectionWarning, InputError

RUN = {"1": {"a": 2.0, "b": 3.0}, "2": {"a": 1.0}}
LINES = "1 Q0 a 1 2 s\n1 Q0 b 2 3 s\n2 Q0 a 1 1 s\n"


class Scored(NamedTuple):
    query_id: str
    doc_id: str
    score: float


def frame(table=None):
    rows = [(t, d, s) for t, of in (table or RUN).items() for d, s in of.items()]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"])


def rankings(runs):
    return {s: {t: run.ranking(t).tolist() for t in run.topics} for s, run in runs.items()}


LISTS = {"1": ["b", "a"], "2": ["a"]}
SOURCES = {
    "frame": frame,
    "ranx run": lambda: RUN,
    "tuples": lambda: [Scored(t, d, s) for t, of in RUN.items() for d, s in of.items()],
    "ir_measures": lambda: (
        ir_measures.ScoredDoc(t, d, s) for t, of in RUN.items() for d, s in of.items()
    ),
    "list of frames": lambda: [frame()],
}


@pytest.mark.parametrize("name", SOURCES)
def test_one_run_in_memory(name):
    assert rankings(rb.read_runs(SOURCES[name]())) == {"run": LISTS}
    named = rb.read_runs({"x": SOURCES[name](), "y": SOURCES[name]()})
    assert rankings(named) == {"x": LISTS, "y": LISTS}


def test_sources_may_be_mixed_and_nested(tmp_path):
    (tmp_path / "s").write_text(LINES)
    runs = rb.read_runs([tmp_path / "s", {"x": frame()}], ({"y": RUN},), {"z": tmp_path / "s"})
    assert rankings(runs) == dict.fromkeys("sxyz", LISTS)


@pytest.mark.parametrize("topic", ["topic", "qid", "query_id", "q_id", "query"])
@pytest.mark.parametrize("docno", ["docno", "docid", "doc_id"])
def test_names_of_columns(topic, docno):
    renamed = frame().rename(columns={"qid": topic, "docno": docno})
    assert rankings(rb.read_runs(renamed)) == {"run": LISTS}
    assert rb.read_qrels(renamed).n_values == 3


@pytest.mark.parametrize("source", [None, b"x", 3, 2.5, [None], [3], {"a": 3}, {"a": [4]}, [[1]]])
def test_other_sources_are_answered_with_what_to_give(source):
    readers = (rb.read_runs, rb.read_qrels, read_groups)
    # {system: group} may name a group by a number
    for read in readers[:2] if isinstance(source, dict) else readers:
        with pytest.raises(InputError) as caught:
            read(source)
        assert caught.value.remedy


@pytest.mark.parametrize("empty", [pd.DataFrame(), frame().head(0)])
def test_empty_frames(empty):
    for read in (rb.read_runs, rb.read_qrels):
        with pytest.raises(InputError, match=r"no rows|no column"):
            read(empty)


CELLS = {
    "qid": [None, float("nan"), 301.0, pd.NA, ("1",), True, ""],
    "docno": [None, float("nan"), 1.5, b"a", "\ud800"],
    "system": [None, float("nan"), 2.0],
    "score": [None, float("nan"), "x", "1_000", 10**400, pd.NA, "nan"],
}


@pytest.mark.parametrize(("column", "value"), [(c, v) for c, of in CELLS.items() for v in of])
def test_cells_that_say_nothing_are_refused_by_row(column, value):
    table = frame().assign(system="s").astype(object)
    table.iloc[1, list(table.columns).index(column)] = value
    with pytest.raises(InputError, match=f"row 1: {column}") as caught:
        rb.read_runs(table)
    assert caught.value.remedy
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("grade", [float("inf"), 10**400, 0.5, None, float("nan"), "x", 2**63])
def test_grades_are_whole_numbers(grade):
    table = pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": pd.Series([grade], dtype=object)})
    for source in (table, {"1": {"a": grade}}):
        with pytest.raises(InputError, match="not a whole number"):
            rb.read_qrels(source)


def test_duplicates_are_seen_after_ids_are_text():
    table = pd.DataFrame({"qid": [1, "1"], "docno": [5, "5"], "score": [1, 2]}, dtype=object)
    for read in (rb.read_runs, rb.read_qrels):
        with pytest.raises(InputError, match="row 1: document 5 stands twice in topic 1"):
            read(table)
    for qrels in ({1: {"a": 1}, "1": {"b": 0}}, {"1": {2: 1, "2": 0}}):
        with pytest.raises(InputError, match="stands twice, as text and as a number"):
            rb.Qrels(qrels)
    with pytest.raises(InputError, match="topic '1' stands twice"):
        rb.Run.from_rankings("s", {1: ["a"], "1": ["b"]})
    doubled = frame().rename(columns={"score": "docno"})
    with pytest.raises(InputError, match="column docno stands twice"):
        rb.read_runs(doubled)


def test_arguments_of_read_runs(tmp_path):
    (tmp_path / "s").write_text(LINES)
    for wrong in ({"order": "zzz"}, {"name_by": "zzz"}, {"depth": 1.5}, {"depth": 0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            rb.read_runs(tmp_path / "s", **wrong)
    for read in (rb.read_runs, rb.read_qrels):
        with pytest.raises(InputError, match="the path is empty"):
            read("")


def test_runs_whose_scores_are_all_tied_are_named(tmp_path):
    (tmp_path / "s").write_text(LINES.replace(" 2 s", " 3 s"))
    with pytest.warns(CollectionWarning, match=r"all tied.*: s; .*--order rank"):
        rb.read_runs(tmp_path / "s")
    rb.read_runs(tmp_path / "s", order="rank")
    # lists of one document say nothing
    rb.read_runs({"1": {"a": 1.0}})


def test_runs_whose_ranks_are_all_equal_are_named(tmp_path):
    (tmp_path / "s").write_text("1 Q0 a 1 3 s\n1 Q0 b 1 2 s\n2 Q0 a 1 2 s\n")
    for _ in range(2):  # the cache does not silence it
        with pytest.warns(CollectionWarning, match=r"ranks are all equal.*: s; .*--order score"):
            rb.read_runs(tmp_path / "s", order="rank", cache=tmp_path / "cache")
    rb.read_runs(tmp_path / "s")
    frame = pd.DataFrame({"topic": "1", "docno": ["a", "b"], "rank": 0})
    for order in ("score", "rank"):  # without scores, ranks order
        with pytest.warns(CollectionWarning, match="all equal.*: x; no scores tell") as caught:
            rb.read_runs({"x": frame}, order=order)
        assert len(caught) == 1


def test_qrels_of_several_sources(tmp_path):
    (tmp_path / "a").write_text("1 0 a 1\n")
    (tmp_path / "b").write_text("1 0 b 0\n2 0 a 1\n")
    expected = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
    tuples = [ir_measures.Qrel(t, d, g) for t, of in expected.items() for d, g in of.items()]
    for source in (tmp_path, str(tmp_path / "*"), [tmp_path / "a", tmp_path / "b"], iter(tuples)):
        assert {t: dict(of) for t, of in rb.read_qrels(source).items()} == expected
    with pytest.raises(InputError, match="document 'a' of topic 1 is judged in another"):
        rb.read_qrels([tmp_path / "a", {"1": {"a": 1}}])


@pytest.mark.parametrize("judged_for", [None, ("x", "y"), {"1": ("x",), "2": ()}])
def test_systems_judged_for_stand_beside_the_file(tmp_path, judged_for):
    path = tmp_path / "q"
    qrels = rb.Qrels({"1": {"a": 1}}, judged_for=judged_for)
    rb.write_qrels(rb.Qrels({"1": {"a": 1}}, judged_for=["other"]), path)
    rb.write_qrels(qrels, path)
    assert rb.read_qrels(path).judged_for == judged_for
    assert pickle.loads(pickle.dumps(qrels)).judged_for == judged_for


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", "3", "é", '{"judged_for": "AB"}', '{"judged_for": {"1": [2]}}'),
        *(f'{{"relevance_level": {level}}}' for level in ("0", "true", '"2"', "1.5")),
    ],
)
def test_a_damaged_file_beside_is_named(tmp_path, text):
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "q.meta.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        rb.read_qrels(tmp_path / "q")
    assert caught.value.path == str(tmp_path / "q.meta.json")


def test_judgments_made_of_others_keep_what_is_known_of_them():
    about = {"judged_for": ["bm25"], "hold_out": "ab12", "relevance_level": 2}
    made = rb.Qrels(rb.Qrels({"1": {"a": 2}}, path="few.txt", **about))
    kept = (made.path, made.judged_for, made.hold_out, made.relevance_level)
    assert kept == ("few.txt", ("bm25",), "ab12", 2)
    assert rb.Qrels(made, relevance_level=1).relevance_level == 1
    of_file = rb.collection.Prels({"1": {"a": rb.collection.Prel(2, 1, 0.5)}}, relevance_level=2)
    assert rb.collection.Prels(of_file).relevance_level == 2


def test_the_relevance_level_stands_beside_the_file(tmp_path):
    path = tmp_path / "q"
    qrels = rb.Qrels({"1": {"a": 2, "b": 1}}, relevance_level=2)
    rb.write_qrels(qrels, path)
    read = rb.read_qrels(path)
    assert [each.relevance_level for each in (read, pickle.loads(pickle.dumps(read)))] == [2, 2]
    assert repr(read) == "Qrels(1 topic, 2 judged, 1 relevant at level 2)"
    assert qrels.counts(1) == (2, 2)
    rb.write_qrels(rb.Qrels(dict(qrels)), path)
    assert rb.read_qrels(path).relevance_level is None
    with pytest.raises(InputError, match="relevance_level is 0"):
        rb.Qrels({}, relevance_level=0)


def test_judgments_are_read_at_their_own_level_unless_another_is_asked_for(tmp_path):
    runs = rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})])
    pool = rb.Pool.from_runs(runs)
    made = rb.Qrels({"1": {"a": 2, "b": 1}}, relevance_level=2)
    rb.write_qrels(made, tmp_path / "q")
    qrels = rb.read_qrels(tmp_path / "q")

    def p_at_2(qrels, **level):
        return rb.evaluate(runs, qrels, "P@2", **level)["P@2"].item()

    def relevant(qrels, **level):
        return rb.Judgments.from_qrels(pool, qrels, **level).relevant.item()

    said = f"grades from 2 on count as relevant, as the .meta.json beside {qrels.path} says"
    with pytest.warns(rb.CollectionWarning, match=said):
        assert p_at_2(qrels) == 0.5
    with pytest.warns(rb.CollectionWarning, match=said):
        assert relevant(qrels) == 1
    # as asked for, or as the qrels at hand say: nothing to tell
    assert (p_at_2(qrels, relevance_level=2), relevant(made)) == (0.5, 1)
    other = "grades from 1 on count as relevant; when .* made, it was those from 2 on"
    with pytest.warns(rb.CollectionWarning, match=other):
        assert p_at_2(made, relevance_level=1) == 1
    with pytest.warns(rb.CollectionWarning, match=other):
        assert relevant(qrels, relevance_level=1) == 2


def test_labels_without_grades_are_relevant_at_the_level_of_the_judgments():
    pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})]))
    judgments = rb.Judgments.from_labels(pool, [0, 1], [1, 0], relevance_level=2)
    judgments = judgments.with_labels([2], [1], [3])
    qrels = judgments.to_qrels()
    assert (dict(qrels["1"]), qrels.relevance_level) == ({"a": 2, "b": 0, "c": 3}, 2)
    assert rb.Judgments.from_qrels(pool, qrels).labels.tolist() == judgments.labels.tolist()


def test_judged_for_is_a_list_of_systems():
    with pytest.raises(InputError, match="judged_for is 'AB'; give a list"):
        rb.Qrels({"1": {"a": 1}}, judged_for="AB")


GROUPS = {"a": "x", "b": "x", "c": "y"}


def test_groups(tmp_path):
    path = tmp_path / "groups"
    for text in (
        "system,group\na,x\nb, x\nc,y\n",
        "a x\nb\tx\r\n\nc y",
        "system group\na x\nb x\nc y",
        "System,Group\na,x\nb,x\nc,y",
        "run,site\na,x\nb,x\nc,y",
    ):
        path.write_text(text)
        assert read_groups(path) == GROUPS
    assert read_groups(pd.DataFrame({"system": list("abc"), "group": list("xxy")})) == GROUPS
    assert read_groups(GROUPS) == GROUPS
    for text, message in {
        "a,x\n\na,y\n": "groups:3: system 'a' stands twice, first in line 1",
        "a,x\nb\n": "groups:2: 1 field where a groups file.* write system,group; names hold no",
        "a;x\nb;y\n": "groups:1: 1 field where a groups file.* write system,group; names hold",
        "a,U of X\n": "groups:1: 4 fields where a groups file.* names hold no white space",
        "": "empty",
    }.items():
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_groups(path)
    with pytest.raises(InputError, match="row 1: system a stands twice"):
        read_groups(pd.DataFrame({"system": ["a", "a"], "group": ["x", "y"]}))


def test_groups_of_a_simulation(tmp_path):
    simulation = rb.simulate(n_topics=1, n_systems=4, documents=100, depth=5)
    rb.collection.simulate.write(simulation, tmp_path)
    assert tuple(read_groups(tmp_path / "groups.csv")) == simulation.runs.systems


@pytest.mark.parametrize(
    "made",
    [
        rb.Run.from_rankings("s", {"1": ["a"]}),
        rb.Runs([rb.Run.from_rankings("s", {"1": ["a"]})]),
        rb.Qrels({"1": {"a": 1}}),
        rb.Probabilities({"1": {"a": 0.5}}),
        rb.Scores({"1": {"a": 0.5}}),
    ],
    ids=lambda made: type(made).__name__,
)
def test_what_is_read_does_not_change(made):
    for name in ("path", "topics", "new"):
        with pytest.raises(AttributeError):
            setattr(made, name, "x")
    with pytest.raises(AttributeError):
        del made.digest
    if not isinstance(made, rb.Run):
        with pytest.raises(TypeError):
            made["1"] = {}
        again = pickle.loads(pickle.dumps(made))
        assert list(again) == list(made)
    if hasattr(made, "n_values"):
        with pytest.raises(TypeError):
            made["1"]["a"] = 0


def test_a_run_keeps_arrays_of_its_own():
    docnos, scores = np.array(["a", "b"], dtype=object), np.array([2.0, 1.0])
    run = rb.Run("s", {"1": (docnos, scores)})
    docnos[0], scores[0] = "z", 0.0
    for copy in (run, pickle.loads(pickle.dumps(run))):
        assert copy.ranking("1").tolist() == ["a", "b"]
        assert copy.scores("1").tolist() == [2.0, 1.0]
        assert copy.digest == run.digest
        for array in (copy.ranking("1"), copy.scores("1")):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]
    table = {"1": {"a": 1}}
    qrels = rb.Qrels(table)
    table["1"]["a"] = 5
    assert qrels["1"]["a"] == 1


@pytest.mark.parametrize(
    ("docnos", "scores", "said"),
    [
        (["a", "b"], [1], "run 's', topic 1: 2 documents but 1 score; give one"),
        (["a", "b", "a"], [3, 2, 1], "topic 1: a document stands twice"),
        (["1", 1], [2, 1], "topic 1: a document stands twice"),
        (["a", "b"], [2, np.nan], "topic 1: a score is not a number"),
        (["a", None], [2, 1], "docno None is not an id"),
        ("ab", [2, 1], "topic 1: 'ab' is no list; give a list of docnos"),
        (b"ab", [2, 1], "topic 1: b'ab' is no list"),
        (["a", "b"], None, "topic 1: scores are no list; give one score a document"),
        (["a"], ["x"], "topic 1: scores are no numbers"),
        (["a", "b"], [[1.0], [1.0, 2.0]], "topic 1: scores are no numbers"),
        (["a"], {"a": 1.0}, "topic 1: scores are no numbers"),
        ({"a": 2.0, "b": 1.0}, [2, 1], "topic 1: a ranking is a mapping"),
    ],
)
def test_a_run_s_lists_are_checked(docnos, scores, said):
    with pytest.raises(InputError, match=said):
        rb.Run("s", {"1": (docnos, scores)})
    with pytest.raises(InputError, match=said):
        rb.Run.from_rankings("s", {"1": docnos}, scores={"1": scores})


def test_a_run_s_lists_are_pairs_of_plain_texts_and_scores():
    with pytest.raises(InputError, match="topic 1: no pair of docnos and scores; give"):
        rb.Run("s", {"1": ["x", "y", "z"]})
    (docno, _) = rb.Run("s", {"1": (np.array(["a", "b"]), [2, 1])}).ranking("1")
    assert type(docno) is str


def test_a_topic_without_scores_is_named():
    with pytest.raises(InputError, match="topic 2: no scores; give scores of every topic, or none"):
        rb.Run.from_rankings("s", {"1": ["a"], "2": ["b"]}, scores={"1": [1.0]})


def test_folders_and_globs_skip_how_a_file_was_made(tmp_path):
    (tmp_path / "s").write_text(LINES)
    (tmp_path / "s.meta.json").write_text("{}")
    for source in (tmp_path, f"{tmp_path}/*"):
        assert rankings(rb.read_runs(source)) == {"s": LISTS}
    with pytest.raises(InputError, match="no file matches"):
        rb.read_runs(f"{tmp_path}/*.json")


@pytest.mark.parametrize("tag", ["../../../ESCAPED", "/tmp/ESCAPED", "a/b", "..", ".hidden"])
def test_writers_stay_in_their_folder(tmp_path, tag):
    with pytest.raises(InputError, match="cannot name a file"):
        rb.write_runs(rb.Runs([rb.Run.from_rankings(tag, {"1": ["a"]})]), tmp_path / "in")
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize("text", ["x 1\n1 0 z", "a b", "a\n", "\ta", "a\0", "\ufeffa", "a\r"])
def test_writers_forge_no_lines(tmp_path, text):
    path = tmp_path / "out"
    run = rb.Run.from_rankings
    for write, value in (
        (rb.write_qrels, rb.Qrels({"1": {text: 1}})),
        (rb.write_qrels, rb.Qrels({text: {"a": 1}})),
        (rb.write_erels, rb.Probabilities({"1": {text: 0.5}})),
        (rb.write_run, run("s", {"1": [text]})),
        (rb.write_run, run(text, {"1": ["a"]})),
    ):
        with pytest.raises(InputError, match="cannot be a line of"):
            write(value, path)
        assert not path.exists()


ROOT = Path(__file__).parents[2]


def test_a_small_fuzz_finds_nothing():
    done = subprocess.run(
        [sys.executable, "-m", "experiments.fuzz.run", "--inputs", "1300", "--jobs", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "inputs, 0 failures" in done.stdout
    assert "| study | " in done.stdout
    assert "| fit in fit.nc | " in done.stdout


@pytest.mark.parametrize("read", [rb.read_runs, rb.read_qrels, rb.read_groups, rb.read_scores])
@pytest.mark.parametrize("path", ["a\0b", "\ud800", "9" * 5000])
def test_what_cannot_be_a_path_is_refused(read, path):
    with pytest.raises(rb.InputError, match=r"cannot be opened: .*; check the path") as caught:
        read(path)
    assert len(str(caught.value)) < 300


def test_an_open_file_is_no_list_of_paths(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("401 0 d1 1\n")
    with path.open() as file, pytest.raises(InputError, match="cannot read qrels from"):
        rb.read_qrels(file)
    with path.open() as file, pytest.raises(InputError, match="cannot read runs from"):
        rb.read_runs(file)


def test_of_several_frames_the_system_is_named():
    right = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [2.0]})
    wrong = right.assign(score=[float("nan")])
    with pytest.raises(InputError, match=r"^system 'bad': data frame, row .: score nan is not"):
        rb.read_runs({"good": right, "bad": wrong})
    twice = pd.concat([right, right])  # both rows have the label 0
    with pytest.raises(InputError, match="document a stands twice in topic 1, first in row 0"):
        rb.read_runs(twice)


def test_a_readme_beside_runs_is_left_aside(tmp_path):
    (tmp_path / "one.run").write_text("1 Q0 a 1 2.0 one\n")
    for name in ("README", "readme.md"):
        (tmp_path / name).write_text("These are runs.\n")
    assert list(rb.read_runs(tmp_path)) == ["one"]
