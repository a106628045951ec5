"""True measures: NIST's numbers, pytrec_eval's ties, and literal sums."""

from __future__ import annotations

import json
import math

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings, strategies as st
from pools import runs_of

from rtc_bayes.collection import Qrels, Run, Runs, read_qrels, read_runs
from rtc_bayes.errors import CollectionWarning, InputError
from rtc_bayes.measures.names import ir_measure
from rtc_bayes.measures.truth import ScoreTable, evaluate


def _official(trec8):
    lines = (trec8 / "official_map.txt").read_text().split("\n")
    return dict(line.split() for line in lines if line)


def _assert_official(runs, trec8):
    table = evaluate(runs, read_qrels(trec8 / "qrels.txt.gz"), "AP")
    assert len(table.topics) == 50
    official = _official(trec8)
    ours = {system: f"{value:.4f}" for system, value in table.to_dict()["AP"].items()}
    assert ours == {system: official[system] for system in runs}


def test_a_table_copies_what_it_is_given_and_checks_its_shape():
    values, shares = np.array([[0.5, 0.25]]), np.ones((1, 2))
    table = ScoreTable(("one",), ("1", "2"), {"AP": values}, judged={"Judged@2": shares})
    values[0, 0] = shares[0, 0] = 0.0
    assert (table["AP"][0, 0], table.judged["Judged@2"][0, 0]) == (0.5, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        table["AP"][0, 0] = 1.0
    for wrong in ({"AP": values.T}, {"AP": [0.5, 0.25]}):
        with pytest.raises(InputError, match=r"AP has shape .*, not \(systems, topics\) \(1, 2\)"):
            ScoreTable(("one",), ("1", "2"), wrong)


def test_a_measure_is_had_however_it_is_written():
    runs, qrels = runs_of({"one": {"1": "ab"}}), Qrels({"1": {"a": 1}})
    table = evaluate(runs, qrels, ["RBP(p=0.8)", "AP"])
    assert table["RBP"] is table["RBP(p=0.8)"]
    assert table["AP(rel=1)"] is table[ir_measures.AP] is table["AP"]
    with pytest.raises(InputError, match=r"'P@5' was not evaluated; evaluated: RBP\(p=0.8\), AP"):
        table["P@5"]


def test_map_of_twelve_trec8_runs_is_nists(trec8):
    names = sorted(path.name for path in (trec8 / "runs").glob("*.gz"))[::12]
    names += ["READWARE2.gz", "uwmt8a0.gz"]
    runs = read_runs(*(trec8 / "runs" / name for name in dict.fromkeys(names)))
    assert len(runs) >= 12
    _assert_official(runs, trec8)


@pytest.mark.slow
def test_map_of_all_trec8_runs_is_nists(trec8):
    runs = read_runs(trec8 / "runs")
    assert len(runs) == 129
    _assert_official(runs, trec8)


DOCNOS = [f"{source}-{number}" for source in ("FT", "LA", "fbis", "éA") for number in (1, 2, 10)]


@st.composite
def tied_run(draw):
    docnos = draw(st.permutations(DOCNOS))[: draw(st.integers(1, len(DOCNOS)))]
    # few distinct scores, so that many tie
    score = st.sampled_from([-1.5, 0.0, 0.1, 2.0, 1e5, 1e30])
    scores = draw(st.lists(score, min_size=len(docnos), max_size=len(docnos)))
    grades = draw(
        st.dictionaries(st.sampled_from(DOCNOS), st.integers(0, 2), min_size=1, max_size=12)
    )
    return docnos, scores, grades


@pytest.mark.filterwarnings("ignore:relevance level 2 is above:rtc_bayes.CollectionWarning")
@pytest.mark.filterwarnings("ignore:no judged document is relevant:rtc_bayes.CollectionWarning")
@pytest.mark.filterwarnings("ignore:no document of the runs is judged:rtc_bayes.CollectionWarning")
@given(tied_run(), st.sampled_from([1, 2]))
@settings(max_examples=300, deadline=None)
def test_ties_break_as_pytrec_eval_breaks_them(case, level):
    docnos, scores, grades = case
    run = Run.from_rankings("s", {"7": docnos}, scores={"7": scores})
    names = {"AP": "map", "RR": "recip_rank", "P@3": "P_3", "nDCG@5": "ndcg_cut_5"}
    table = evaluate(Runs([run]), Qrels({"7": grades}), list(names), relevance_level=level)
    raw = dict(zip(docnos, map(float, scores), strict=True))
    theirs = pytrec_eval.RelevanceEvaluator(
        {"7": grades}, set(names.values()), relevance_level=level
    ).evaluate({"7": raw})["7"]
    for ours, name in names.items():
        assert table[ours][0, 0] == pytest.approx(theirs[name], abs=1e-12), ours


RUNS = runs_of({"one": {"9": "abcd", "10": "xy"}, "two": {"9": "dc", "10": "zx"}})
QRELS = Qrels({"10": {"y": 1, "x": 0}, "9": {"a": 2, "c": 1, "b": 0, "d": -1, "gone": 1}})


def test_measures_against_their_sums():
    table = evaluate(RUNS, QRELS, ["AP", "P@2", "R@2", "RR", "RBP(p=0.5)", "nDCG@10", "AP@2"])
    assert table.topics == ("9", "10")
    assert table["AP"] == pytest.approx(np.array([[(1 + 2 / 3) / 3, 1 / 2], [1 / 6, 0]]))
    assert table["P@2"] == pytest.approx(np.array([[0.5, 0.5], [0.5, 0]]))
    assert table["R@2"] == pytest.approx(np.array([[1 / 3, 1], [1 / 3, 0]]))
    assert table["RR"] == pytest.approx(np.array([[1, 0.5], [0.5, 0]]))
    assert table["RBP(p=0.5)"] == pytest.approx(np.array([[0.5 + 0.125, 0.25], [0.25, 0]]))
    assert table["AP@2"] == pytest.approx(np.array([[1 / 3, 0.5], [1 / 6, 0]]))
    ideal = 2 + 1 / math.log2(3) + 1 / math.log2(4)
    assert table["nDCG@10"][0, 0] == pytest.approx((2 + 1 / math.log2(4)) / ideal)
    assert table.mean["AP"] == pytest.approx(table["AP"].mean(axis=1))


def test_relevance_level_applies_where_the_name_is_silent():
    table = evaluate(RUNS, QRELS, ["AP", "AP(rel=1)", "RBP(p=0.5)", "P@1"], relevance_level=2)
    plain = evaluate(RUNS, QRELS, ["AP", "AP(rel=2)"])
    assert table["AP"] == pytest.approx(plain["AP(rel=2)"])
    assert table["AP(rel=1)"] == pytest.approx(plain["AP"])
    assert table["RBP(p=0.5)"][:, 0] == pytest.approx([0.5, 0])
    assert table["P@1"][:, 0] == pytest.approx([1, 0])


@pytest.mark.parametrize("cutoff", [None, 2])
def test_dcg_is_ndcg_by_the_best_list(cutoff):
    name = "DCG" if cutoff is None else f"DCG@{cutoff}"
    table = evaluate(RUNS, QRELS, [name, f"n{name}"])
    for t, topic in enumerate(table.topics):
        grades = sorted((max(grade, 0) for grade in QRELS[topic].values()), reverse=True)[:cutoff]
        best = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
        assert table[name][:, t] == pytest.approx(best * table[f"n{name}"][:, t])
    assert table[name].any()


def test_infap_of_no_sample_is_said_to_be_ap():
    judged = Qrels({t: {d: g for d, g in QRELS[t].items() if g >= 0} for t in QRELS})
    with pytest.warns(CollectionWarning, match="infAP is AP here, as no grade is negative"):
        table = evaluate(RUNS, judged, ["infAP", "AP"])
    assert table["infAP"] == pytest.approx(table["AP"], abs=1e-4)


def test_rbp_stops_at_its_cutoff():
    table = evaluate(RUNS, QRELS, "RBP(p=0.5)@2")
    assert table["RBP(p=0.5)@2"][0].tolist() == [0.5, 0.25]


def test_a_missing_topic_scores_zero_and_is_named_once():
    runs = Runs([RUNS["one"], Run.from_rankings("half", {"9": ["a"]})])
    with pytest.warns(CollectionWarning, match=r"half \(10\)") as caught:
        table = evaluate(runs, QRELS, ["AP", "P@1"])
    assert len(caught) == 1
    assert table["AP"][1].tolist() == pytest.approx([1 / 3, 0])
    assert table.mean["AP"][1] == pytest.approx(1 / 6)


def test_judged_topics_and_all_topics():
    qrels = Qrels({"9": {"a": 1}, "10": {"x": -1}, "11": {"x": 1}})
    with pytest.warns(CollectionWarning, match="no run has 1 of 2 topics.* aside: 11"):
        judged = evaluate(RUNS, qrels, "AP")
    assert judged.topics == ("9",)
    assert judged.mean["AP"].tolist() == [1, 0]
    everything = evaluate(RUNS, qrels, "AP", topics="all")
    assert everything.topics == ("9", "10")
    assert everything["AP"].tolist() == [[1, 0], [0, 0]]


def test_rel_above_every_grade_is_refused():
    with pytest.raises(
        InputError, match=r"AP\(rel=3\) asks for grades above the highest judged, 2"
    ):
        evaluate(RUNS, QRELS, ["P@1", "AP(rel=3)"])


def test_negative_grades_are_unjudged():
    without = Qrels({"10": QRELS["10"], "9": {"a": 2, "c": 1, "b": 0, "gone": 1}})
    names = ["AP", "nDCG", "Bpref", "AP(judged_only=True)", "Judged@4"]
    with_, plain = evaluate(RUNS, QRELS, names), evaluate(RUNS, without, names)
    for name in names:
        assert with_[name] == pytest.approx(plain[name]), name
    assert with_["Judged@4"][0, 0] == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    "name",
    [
        *("foo", "AP(", "P", "P@0", "P@-3", "AP(foo=1)", "P@5 R@5", "", "alpha_nDCG@10"),
        "INSQ(max_rel=3)",
    ],
)
def test_an_unknown_measure_is_an_input_error_with_a_remedy(name):
    with pytest.raises(InputError) as error:
        evaluate(RUNS, QRELS, ["AP", name])
    assert "write P@10" in str(error.value) if name == "P" else "nDCG@10" in error.value.remedy


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        ("ERR@4", 5.1e-6),
        ("nDCG(dcg='exp-log2')@4", 5.1e-6),
        ("Accuracy", 1e-12),
        ("Accuracy@4", 1e-12),
    ],
)
def test_measures_of_our_own_are_those_of_ir_measures(name, tolerance):
    """Of gdeval, which prints five digits, ERR and the other nDCG."""
    rng = np.random.default_rng(8)
    docnos = [f"d{i}" for i in range(12)]
    grades = {
        str(t): {
            d: int(g) for d, g in zip(docnos, np.maximum(rng.integers(-4, 5, 12), 0), strict=True)
        }
        for t in range(1, 6)
    }
    lists = {str(t): rng.permutation(docnos)[:9].tolist() for t in range(1, 6)}
    run = {t: {d: float(9 - i) for i, d in enumerate(of)} for t, of in lists.items()}
    measure = ir_measure(name)
    theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure], grades, run)}
    ours = evaluate(runs_of({"one": lists}), Qrels(grades), name)
    for t, topic in enumerate(ours.topics):
        assert ours[name][0, t] == pytest.approx(theirs.get(topic, 0.0), abs=tolerance)


def test_measures_of_whole_lists_need_no_cutoff_and_have_a_value_of_perfect_lists():
    runs = runs_of({"one": {"1": "ab"}})
    exponential = "nDCG(dcg='exp-log2')"
    names = ["ERR", exponential, "Accuracy"]
    scores = evaluate(runs, Qrels({"1": {"a": 2, "b": 1}}), names)
    stop = 3 / 16
    assert scores["ERR"][0, 0] == pytest.approx(stop + (1 - stop) / 16 / 2)
    assert (scores[exponential][0, 0], scores["Accuracy"][0, 0]) == (1.0, 1.0)
    assert not any(evaluate(runs, Qrels({"1": {"a": 0, "c": 1}}), names)[n].any() for n in names)


def test_a_run_without_a_topic_has_0_there_and_grades_above_4_are_said():
    runs = runs_of({"one": {"1": "ab"}, "two": {"2": "c"}})
    qrels = Qrels({"1": {"a": 5, "b": 1}, "2": {"c": 1}})
    names = ["ERR", "ERR@1", "nDCG(dcg='exp-log2')", "Accuracy", "Accuracy@1"]
    with (
        pytest.warns(CollectionWarning, match="these go to 5: every reader stops"),
        pytest.warns(CollectionWarning, match="score 0 there"),
    ):
        scores = evaluate(runs, qrels, names)
    for name in names:
        assert (scores[name][0, 1], scores[name][1, 0]) == (0.0, 0.0), name
    assert scores["ERR"][0, 0] == 1.0


def test_bad_arguments():
    with pytest.raises(InputError, match="these are runs: give them first, then the judgments"):
        evaluate(QRELS, RUNS)
    with pytest.raises(InputError, match=r"no topic in common: .* the judgments 77; give"):
        evaluate(RUNS, Qrels({"77": {"a": 1}}))
    with pytest.raises(InputError, match="no document is judged: every grade is negative; give"):
        evaluate(RUNS, Qrels({"9": {"a": -1}}))
    with pytest.raises(InputError, match="no judgment; give"):
        evaluate(RUNS, Qrels({}))
    with pytest.raises(InputError, match="no measure"):
        evaluate(RUNS, QRELS, [])
    for topics in ("some", np.array(["9", "10"])):
        with pytest.raises(InputError, match=r"topics is .*; give judged or all"):
            evaluate(RUNS, QRELS, topics=topics)
    with pytest.raises(InputError, match="was not evaluated"):
        evaluate(RUNS, QRELS, "AP")["P@10"]


def test_table_as_dict_frame_and_text():
    table = evaluate(RUNS, QRELS, ["AP", "P@1", "AP"])
    assert table.measures == ("AP", "P@1")
    means = json.loads(json.dumps(table.to_dict()))
    assert means["P@1"] == {"one": 0.5, "two": 0.0}
    by_topic = table.to_dict(per_topic=True)
    assert by_topic["P@1"] == {"one": {"9": 1.0, "10": 0.0}, "two": {"9": 0.0, "10": 0.0}}
    frame = table.to_frame()
    assert list(frame.columns) == ["measure", "system", "topic", "value"]
    one = frame[(frame.measure == "AP") & (frame.system == "one") & (frame.topic == "10")]
    assert one["value"].tolist() == [0.5]
    assert len(frame) == 8
    assert "2 systems, 2 topics" in repr(table)
    with pytest.raises(ValueError, match="read-only"):
        table["AP"][0, 0] = 1


def test_measures_are_named_by_text_or_object():
    named = evaluate(RUNS, QRELS, ["AP", "P@1"])
    objects = evaluate(RUNS, QRELS, (ir_measures.AP, ir_measures.P @ 1))
    assert objects.measures == named.measures == ("AP", "P@1")
    np.testing.assert_array_equal(objects[ir_measures.P @ 1], named["P@1"])
    for several in (np.array, pd.Index, pd.Series):
        assert evaluate(RUNS, QRELS, several(["AP", "P@1"])).measures == named.measures
    alone = evaluate(RUNS, QRELS, ir_measures.AP)
    np.testing.assert_array_equal(alone["AP"], named[ir_measures.AP])
    with pytest.raises(InputError, match="'map' is a name of trec_eval; write AP"):
        evaluate(RUNS, QRELS, ["AP", "map"])


def test_topics_have_any_name():
    """A provider of ir_measures takes numbers alone."""
    runs = runs_of({"one": {"q.9": "abcd", "x": "xy"}})
    qrels = Qrels({"q.9": {"a": 2, "c": 1}, "x": {"y": 1}})
    numbered = Qrels({"1": qrels["q.9"], "2": qrels["x"]})
    same = evaluate(runs_of({"one": {"1": "abcd", "2": "xy"}}), numbered, "ERR@20")
    assert evaluate(runs, qrels, "ERR@20").mean["ERR@20"] == same.mean["ERR@20"] > 0.0


def test_documents_that_are_retrieved_are_not_those_that_are_relevant():
    table = evaluate(RUNS, QRELS, ["NumRet", "NumRelRet", "IPrec@0.5"], relevance_level=2)
    assert table["NumRet"].tolist() == [[4, 2], [2, 2]]
    assert table["NumRelRet"].tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("measure", "said"),
    [("AP(rel=0)", "a rel below 1"), ("P(rel=-1)@10", "a rel below 1"), ("RBP(p=1.5)", "p is 1.5")],
)
def test_parameters_out_of_range(measure, said):
    with pytest.raises(InputError, match=said):
        evaluate(RUNS, QRELS, measure)


def test_qrels_without_a_relevant_document_are_said():
    with pytest.warns(CollectionWarning, match="no judged document is relevant: every grade is 0"):
        assert not evaluate(RUNS, Qrels({"9": {"a": 0}}), "AP")["AP"].any()


def test_the_share_judged_stands_beside_the_measures():
    table = evaluate(RUNS, QRELS, ["AP"], judged_depth=2)
    share = evaluate(RUNS, QRELS, "Judged@2", judged_depth=None)
    np.testing.assert_array_equal(table.judged["Judged@2"], share["Judged@2"])
    assert table.measures == ("AP",)
    means = table.mean_frame()
    assert means.columns.tolist() == ["system", "AP", "Judged@2"]
    assert means["Judged@2"].tolist() == share.mean["Judged@2"].tolist()
    assert set(table.to_frame()["measure"]) == set(table.to_dict()) == {"AP"}
    assert share.judged == {}
    assert share.mean_frame().columns.tolist() == ["system", "Judged@2"]
    asked = evaluate(RUNS, QRELS, ["Judged@100", "AP"])
    assert asked.mean_frame().columns.tolist() == ["system", "Judged@100", "AP"]


def test_runs_of_other_names_of_documents_are_told():
    runs = Runs([Run.from_rankings("a", {"1": ["d1"]}), Run.from_rankings("b", {"1": ["d2"]})])
    with pytest.warns(CollectionWarning, match="no document of the runs is judged: check that"):
        evaluate(runs, Qrels({"1": {"D1": 1}}), judged_depth=None)
    evaluate(runs, Qrels({"1": {"D1": 1, "d2": 0}}))


def test_topics_of_other_names_of_documents_are_told():
    lists = {str(topic): [f"d{topic}.{i}" for i in range(12)] for topic in range(3)}
    runs = Runs([Run.from_rankings("a", lists)])
    named = {topic: dict.fromkeys(docnos, 1) for topic, docnos in lists.items()}
    renamed = {topic: {f"{d}.xml": 1 for d in lists[topic]} for topic in ("1", "2")}
    with pytest.warns(
        CollectionWarning, match="on 2 of 3 judged topics no .* judged, as on topic 1: "
    ):
        evaluate(runs, Qrels(named | renamed))
    # less than half of the judgments: these lists may lack them
    evaluate(runs, Qrels(named | {"1": renamed["1"]}))
