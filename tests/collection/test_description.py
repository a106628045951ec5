"""What a collection holds, by brute force; what is suspicious; the command and the page."""

import gzip
import json
import shlex
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from pools import random_rankings, runs_of

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.collection.grades import counted_grades
from rtc_bayes.collection.simulate import simulate, write
from rtc_bayes.report.description_tables import systems_described, systems_in_short
from rtc_bayes.report.notebook import html_of

KS = (5, 10, 20, 100)


def random_collection(seed, systems=4, topics=5, documents=30, shortest=1):
    """Runs, some without topics, and qrels that judge some documents, some of no run."""
    rng = np.random.default_rng(seed)
    rankings = random_rankings(
        rng, systems, topics, documents, shortest=shortest, longest=documents - 5
    )
    for lists in rankings.values():
        for topic in list(lists)[1:]:
            if rng.random() < 0.2:
                del lists[topic]
    table = {
        str(t): {f"d{d:04d}": int(rng.integers(-1, 3)) for d in rng.permutation(documents)[:12]}
        for t in range(topics)
        if rng.random() < 0.8 or t == 0
    }
    return rankings, rb.Qrels(table)


def overlap_by_hand(one, two, depth):
    shares = []
    for topic in one.keys() | two.keys():
        a, b = set(one.get(topic, [])[:depth]), set(two.get(topic, [])[:depth])
        if a or b:
            shares.append(len(a & b) / max(len(a), len(b)))
    return np.mean(shares)


def judged_by_hand(lists, qrels, k):
    judged = {t: {d for d, grade in of.items() if grade >= 0} for t, of in qrels.items()}
    shares = [
        np.mean([docno in judged[topic] for docno in ranking[:k]])
        for topic, ranking in lists.items()
        if judged.get(topic)
    ]
    return np.mean(shares) if shares else np.nan


@pytest.mark.parametrize("seed", range(6))
def test_numbers_are_those_counted_by_hand(seed):
    rankings, qrels = random_collection(seed)
    description = rb.describe(runs_of(rankings), qrels, depth=7, relevance_level=2)
    systems = description.systems.set_index("system")
    for one, two in product(rankings, repeat=2):
        expected = overlap_by_hand(rankings[one], rankings[two], 7)
        assert description.overlap.sel(system=one, other=two) == pytest.approx(expected)
    for name, lists in rankings.items():
        lengths = [len(ranking) for ranking in lists.values()]
        row = systems.loc[name]
        assert (row["topics"], row["documents"]) == (len(lists), sum(lengths))
        assert (row["shortest"], row["longest"]) == (min(lengths), max(lengths))
        assert row["median"] == np.median(lengths)
        others = {
            other: float(description.overlap.sel(system=name, other=other)) for other in rankings
        }
        del others[name]
        assert row["overlap"] == pytest.approx(np.mean(list(others.values())))
        assert row["nearest"] == max(others, key=others.get)
        for k in KS:
            by_hand = judged_by_hand(lists, qrels, k)
            assert row[f"judged@{k}"] == pytest.approx(by_hand, nan_ok=True)

    topics = description.topics.set_index("topic")
    run_topics = {topic for lists in rankings.values() for topic in lists}
    assert set(topics.index) == run_topics | set(qrels)
    for topic, row in topics.iterrows():
        grades = {d: g for d, g in qrels.get(topic, {}).items() if g >= 0}
        lists = [of[topic] for of in rankings.values() if topic in of]
        assert row["systems"] == len(lists)
        assert row["pooled"] == len({d for ranking in lists for d in ranking[:7]})
        assert row["judged"] == len(grades)
        assert row["relevant"] == sum(grade >= 2 for grade in grades.values())
        retrieved = {d for ranking in lists for d in ranking}
        assert row["unretrieved"] == len(set(grades) - retrieved)
    summary = description.summary
    assert (summary["judged"], summary["relevant"]) == qrels.counts(2)
    every = [{(t, d) for t, docs in lists.items() for d in docs} for lists in rankings.values()]
    assert summary["retrieved"] == len(set.union(*every))
    pairs = [float(description.overlap[i, j]) for i, j in combinations(range(len(rankings)), 2)]
    assert summary["overlap"] == pytest.approx(np.mean(pairs))


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_overlap_is_symmetric_and_shares_are_shares(seed, depth):
    rankings, qrels = random_collection(seed, systems=3, topics=3, documents=15)
    description = rb.describe(runs_of(rankings), qrels, depth=depth)
    overlap = description.overlap.to_numpy()
    assert (overlap == overlap.T).all()
    assert np.diag(overlap) == pytest.approx(1.0)
    assert ((overlap >= 0) & (overlap <= 1 + 1e-12)).all()
    shares = description.systems[["tied", *(f"judged@{k}" for k in KS)]].to_numpy()
    assert ((shares >= 0) & (shares <= 1) | np.isnan(shares)).all()


def test_judged_at_k_is_that_of_evaluate():
    rankings, _ = random_collection(3, shortest=12)
    first = {name: dict(list(lists.items())[:1]) for name, lists in rankings.items()}
    qrels = rb.Qrels({"0": {f"d{d:04d}": d % 2 for d in range(0, 30, 3)}})
    runs = runs_of(first)
    description = rb.describe(runs, qrels)
    scores = rb.evaluate(runs, qrels, [f"Judged@{k}" for k in KS])
    for k in KS:
        shares = description.systems[f"judged@{k}"].to_numpy()
        assert shares == pytest.approx(scores.mean[f"Judged@{k}"])


def kinds(description):
    return {remark.kind: remark for remark in description.remarks}


def test_an_orderly_collection_has_no_remark():
    lists = {t: [f"d{i}" for i in range(10)] for t in ("1", "2")}
    other = {t: docs[::-1] for t, docs in lists.items()}
    qrels = rb.Qrels({t: {d: i % 2 for i, d in enumerate(docs)} for t, docs in lists.items()})
    description = rb.describe(runs_of({"a": lists, "b": other}), qrels)
    assert description.remarks == ()
    assert "Nothing: no check found anything." in description.to_html()


def test_every_fault_of_topics_and_judgments_is_named():
    ten = [f"d{i}" for i in range(10)]
    runs = runs_of(
        {
            "whole": dict.fromkeys(("1", "2", "3", "4"), ten),
            "part": dict.fromkeys(("1", "2"), ten[::-1]),
            "odd": {t: [f"x{i}" for i in range(10)] for t in ("1", "2", "3", "4")},
        }
    )
    every = {d: i % 2 for i, d in enumerate(ten)}
    qrels = rb.Qrels(
        {
            "1": every | {"nowhere": 1, "unjudged": -1},
            "2": dict.fromkeys(ten, 0),
            "3": dict.fromkeys(ten, 1),
            "9": {"d0": 1},
        }
    )
    found = kinds(rb.describe(runs, qrels))
    assert set(found) == {
        "negative_grades",
        "topics_without_judgments",
        "topics_without_runs",
        "none_relevant",
        "all_relevant",
        "unretrieved_judgments",
        "low_judged",
        "missing_topics",
    }
    assert found["topics_without_judgments"].topics == ("4",)
    assert found["topics_without_runs"].topics == ("9",)
    assert found["none_relevant"].topics == ("2",)
    assert found["all_relevant"].topics == ("3", "9")
    assert found["missing_topics"].systems == ("part",)
    assert found["missing_topics"].topics == ("3", "4")
    assert "judged@k) are of the lists that it has" in found["missing_topics"].text
    assert found["low_judged"].systems == ("odd",)
    assert "odd (0.0%)" in found["low_judged"].text
    # "nowhere" of topic 1, and d0 of topic 9
    assert "2, of which 1 relevant" in found["unretrieved_judgments"].text


def test_copies_and_near_copies_are_named():
    rng = np.random.default_rng(0)
    lists = random_rankings(rng, systems=2, topics=4, documents=30)
    near = {t: docs if t < "2" else docs[::-1] for t, docs in lists["s0"].items()}
    far = {t: docs if t < "1" else docs[::-1] for t, docs in lists["s1"].items()}
    rankings = lists | {"copy": lists["s0"], "near": near, "far": far, "again": lists["s0"]}
    found = kinds(rb.describe(runs_of(rankings)))
    assert found["identical_runs"].systems == ("s0", "copy", "again")
    assert "s0 = copy = again" in found["identical_runs"].text
    assert set(found["similar_runs"].systems) == {"s0", "copy", "again", "near"}
    assert "s0 and near (2 of 4 topics)" in found["similar_runs"].text


def test_short_lists_and_ties_are_named():
    docs = [f"d{i:02d}" for i in range(20)]
    scores = {"1": [5.0] * 4 + [float(-i) for i in range(16)]}
    tied = rb.Run.from_rankings("tied", {"1": docs}, scores=scores)
    run = rb.Run.from_rankings
    runs = rb.Runs([tied, run("fine", {"1": docs}), run("short", {"1": docs[:4]})])
    description = rb.describe(runs)
    assert description.systems["tied"].tolist() == [0.2, 0.0, 0.0]
    found = kinds(description)
    assert (found["ties"].systems, found["short_lists"].systems) == (("tied",), ("short",))


def write_run(path, tag, rows):
    path.write_text("".join(f"{t} Q0 {d} {rank} {score} {tag}\n" for t, d, rank, score in rows))


@pytest.fixture
def files(tmp_path):
    """Runs whose rank column follows scores, contradicts them, breaks ties, and is no number."""
    straight = [("1", "a", 1, 3.0), ("1", "b", 2, 2.0), ("1", "c", 3, 1.0), ("2", "a", 1, 1.0)]
    write_run(tmp_path / "straight", "same", straight)
    turned = [("1", "c", 1, 1.0), ("1", "b", 2, 2.0), ("1", "a", 3, 3.0), ("2", "b", 1, 1.0)]
    write_run(tmp_path / "turned", "same", turned)
    # trec_eval has c before b
    tied = [("1", "b", 1, 2.0), ("1", "c", 2, 2.0), ("1", "a", 3, 1.0), ("2", "a", 7, 1.0)]
    write_run(tmp_path / "tied", "other", tied)
    write_run(tmp_path / "words", "third", [("1", "b", "first", 2.0), ("2", "a", "second", 1.0)])
    return tmp_path


def test_files_are_compared_with_what_was_read(files):
    runs = rb.read_runs(files, name_by="file")
    description = rb.describe(runs)
    conflicts = description.systems.set_index("system")["rank_conflicts"]
    assert conflicts.drop("words").to_dict() == {"straight": 0, "tied": 0, "turned": 1}
    assert pd.isna(conflicts["words"])
    found = kinds(description)
    assert found["rank_conflicts"].systems == ("turned",)
    assert found["rank_column_ties"].systems == ("tied",)
    assert found["rank_column_unusable"].systems == ("words",)
    assert found["repeated_tags"].systems == ("straight", "turned")
    # the files are read again only if asked
    assert "rank_conflicts" not in kinds(rb.describe(runs, files=False))


def test_a_run_read_by_its_ranks_shows_conflicts_without_its_file(files):
    runs = rb.read_runs(files / "turned", order="rank")
    (files / "turned").unlink()
    assert kinds(rb.describe(runs))["rank_conflicts"].systems == ("same",)


def test_a_file_that_changed_says_nothing(files):
    runs = rb.read_runs(files / "turned")
    write_run(files / "turned", "same", [("1", "a", 1, 1.0)])
    assert pd.isna(rb.describe(runs).systems["rank_conflicts"][0])


def test_lines_of_several_tags_are_named(files):
    text = (files / "straight").read_text() + (files / "words").read_text().replace("1 ", "3 ", 1)
    (files / "mixed").write_text(
        text.replace("first", "1").replace("second", "2").replace("2 Q0 a 2", "4 Q0 a 2")
    )
    runs = rb.read_runs(files / "mixed", name_by="file")
    assert kinds(rb.describe(runs))["mixed_tags"].systems == ("mixed",)


def test_that_grades_go_above_1_is_said_in_the_words_of_evaluate():
    runs = runs_of({"a": {"1": ["x", "y", "z"]}})
    qrels = rb.Qrels({"1": {"x": 3, "y": 1, "z": 0}})
    remark = kinds(rb.describe(runs, qrels))["grades_above_1"]
    assert remark.text[1:] == f"{counted_grades(3, 1)}."[1:]
    assert "--relevance-level" in remark.remedy
    # who said which grades count knows it
    for level in (1, 2):
        assert "grades_above_1" not in kinds(rb.describe(runs, qrels, relevance_level=level))
    at_2 = rb.Qrels(qrels, relevance_level=2)
    assert "grades_above_1" not in kinds(rb.describe(runs, at_2))
    assert "grades_above_1" not in kinds(rb.describe(runs))


def test_judgments_are_described_as_their_qrels():
    simulated = rb.simulate(n_topics=4, n_systems=4, seed=1)
    pool = rb.Pool.from_runs(simulated.runs, depth=10)
    by_qrels = rb.describe(simulated.runs, simulated.qrels)
    by_judgments = rb.describe(simulated.runs, rb.Judgments.from_qrels(pool, simulated.qrels))
    pd.testing.assert_frame_equal(by_qrels.systems, by_judgments.systems)
    pd.testing.assert_frame_equal(by_qrels.topics, by_judgments.topics)
    assert by_qrels.remarks == by_judgments.remarks


def test_runs_alone_and_one_run_alone():
    runs = rb.simulate(n_topics=3, n_systems=3, seed=1).runs
    alone = rb.describe(runs)
    assert not alone.has_judgments
    assert "judged" not in alone.topics
    assert "judged@10" not in alone.systems
    assert "How far judgments reach" not in alone.to_html()
    one = rb.describe(runs.select(runs.systems[:1]))
    assert np.isnan(one.summary["overlap"])
    assert one.to_dict()["systems"][0]["nearest"] is None
    assert "1 system on 3 topics" in one.to_html()


@pytest.mark.filterwarnings("error")
def test_systems_without_documents_have_no_overlap():
    run = rb.Run.from_rankings
    runs = rb.Runs([run("none", {}), run("b", {"1": ["x"], "2": []}), run("c", {"1": ["y"]})])
    description = rb.describe(runs, rb.Qrels({"1": {"x": 1}}))
    assert np.isnan(description.overlap.sel(system="none", other="none"))
    assert description.overlap.sel(system="b", other="b") == 1.0
    assert description.systems["nearest"].isna().all()
    assert kinds(description)["missing_topics"].systems == ("none", "b", "c")
    json.loads(description.to_json())
    assert "What is in this collection?" in description.to_html()


def test_probabilities_of_assessors_are_described():
    runs = runs_of({"a": {"1": ["x", "y"]}})
    pool = rb.Pool.from_runs(runs)
    description = rb.describe(runs, rb.Judgments.from_labels(pool, [0, 1], [0.75, 0.5]))
    assert (description.summary["judged"], description.summary["relevant"]) == (2, 1)


def test_nothing_judged_is_said():
    runs = runs_of({"a": {"1": ["x"]}})
    assert set(kinds(rb.describe(runs, rb.Qrels({"1": {"x": -1}})))) == {
        "negative_grades",
        "no_judgments",
    }


def test_what_cannot_be_described_is_refused():
    runs = runs_of({"a": {"1": ["x"]}})
    with pytest.raises(rb.InputError, match=r"no topic in common.*judgments of these runs"):
        rb.describe(runs, rb.Qrels({"2": {"x": 1}}))
    with pytest.raises(rb.InputError, match="give what read_qrels returns"):
        rb.describe(runs, "qrels.txt")
    with pytest.raises(rb.InputError, match="depth is 0"):
        rb.describe(runs, depth=0)
    with pytest.raises(rb.InputError, match="relevance_level is 0"):
        rb.describe(runs, rb.Qrels({"1": {"x": 1}}), relevance_level=0)
    with pytest.raises(rb.InputError, match="says nothing without judgments"):
        rb.describe(runs, relevance_level=1)
    with pytest.raises(rb.InputError, match="hold no topic"):
        rb.describe(rb.Runs([rb.Run.from_rankings("a", {})]))


@pytest.fixture
def here(tmp_path, monkeypatch):
    write(simulate(n_topics=4, n_systems=5, documents=200, depth=60, seed=3), tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line):
    assert main(shlex.split(line)) == 0


def test_the_command_writes_what_python_returns(here, capsys):
    expected = rb.describe(rb.read_runs("runs"), rb.read_qrels("qrels.txt"), depth=20)
    command = "describe runs --qrels qrels.txt --depth 20"
    run(f"{command} -o x.json")
    written = json.loads((here / "x.json").read_text())
    assert set(written["meta"]["inputs"]) == {"qrels.txt", *map(str, Path("runs").iterdir())}
    assert {k: v for k, v in written.items() if k != "meta"} == {
        k: v for k, v in json.loads(expected.to_json()).items() if k != "meta"
    }
    run(f"{command} -o x.csv")
    pd.testing.assert_frame_equal(
        pd.read_csv("x.csv"), expected.to_frame(), check_dtype=False, atol=1e-12
    )
    run(f"{command} --per-topic -o topics.csv")
    topics = pd.read_csv("topics.csv", dtype={"topic": str})
    pd.testing.assert_frame_equal(topics, expected.topics, check_dtype=False)
    run(f"{command} -o x.html")
    assert (here / "x.html").read_text().count("<img") == 3
    assert (here / "x.html.meta.json").exists()
    capsys.readouterr()
    run(f"{command} --per-topic")
    printed = capsys.readouterr().out
    assert f"{expected.summary['judged']:,}" in printed
    assert "5 systems (all that is known: --format csv); overlap is of the first 20" in printed
    assert "4 topics; pooled" in printed
    for remark in expected.remarks:
        assert f"{remark.text}\n   Remedy: {remark.remedy}" in printed


def test_the_command_without_judgments_and_with_bad_input(here, capsys):
    run("describe runs")
    assert "judged" not in capsys.readouterr().out
    (here / "other.txt").write_text("999 0 d1 1\n")
    assert main(["describe", "runs", "--qrels", "other.txt"]) == 2
    assert "no topic in common" in capsys.readouterr().err
    assert main(["describe", "runs", "--depth", "0"]) == 2
    assert main(["describe", "runs", "-o", "x.pdf"]) == 2


def test_many_systems_are_not_all_printed():
    rankings = {f"s{i:02d}": {"1": [f"d{i}", "e"]} for i in range(41)}
    qrels = rb.Qrels({"1": {"d7": 1, "e": 0}})
    description = rb.describe(runs_of(rankings), qrels)
    shown = systems_in_short(description)
    assert len(shown.frame) == 30
    assert "s07" not in set(shown.frame["system"])
    assert "The 30 least judged of 41 systems (all that is known: --format csv)" in shown.title
    assert len(systems_described(description).frame) == 41
    assert "too many to name" in description.to_html()


def test_a_notebook_shows_it():
    simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    description = rb.describe(simulated.runs, simulated.qrels)
    shown = description._repr_html_()
    assert shown == html_of(description)
    assert shown.count("<table>") == 2
    assert len(repr(description).splitlines()) == 1


# Table 1 of Carterette (2007), ad-hoc 99
TABLE_1 = {"topics": 50, "systems": 129, "judged": 86_830, "relevant": 4_728}


def test_trec8_is_that_of_table_1(trec8):
    description = rb.describe(
        rb.read_runs(trec8 / "runs"), rb.read_qrels(trec8 / "qrels.txt.gz"), files=False
    )
    assert {key: description.summary[key] for key in TABLE_1} == TABLE_1
    found = kinds(description)
    assert found["short_lists"].systems == ("READWARE", "READWARE2")
    assert found["identical_runs"].systems == ("Mer8Adtd1", "Mer8Adtd2", "isa25t", "isa50t")
    assert "unretrieved_judgments" not in found


def test_robust03_has_judgments_of_runs_that_are_not_there(data):
    folder = data / "robust03"
    if not folder.is_dir():
        pytest.skip("RTC_BAYES_DATA holds no folder robust03")
    qrels = rb.read_qrels(folder / "qrels.txt.gz")
    description = rb.describe(rb.read_runs(folder / "runs"), qrels)
    assert (description.summary["topics"], description.summary["systems"]) == (100, 17)
    with gzip.open(folder / "qrels.txt.gz", "rt") as lines:
        grades = [int(line.split()[3]) for line in lines]
    judged = (sum(g >= 0 for g in grades), sum(g >= 1 for g in grades))
    assert (description.summary["judged"], description.summary["relevant"]) == judged
    assert "34,708, of which 890 relevant" in kinds(description)["unretrieved_judgments"].text
