from __future__ import annotations

import ir_measures
import pytest

from rtc_bayes.errors import InputError
from rtc_bayes.measures import has_moments, parse_measure


@pytest.mark.parametrize(
    ("name", "kind", "cutoff"),
    [
        ("AP", "AP", None),
        ("AP@10", "AP", 10),
        ("P@5", "P", 5),
        ("R@100", "R", 100),
        ("nDCG@20", "nDCG", 20),
        ("nDCG(dcg='exp-log2')@20", "nDCG", 20),
        ("DCG", "DCG", None),
        ("DCG@7", "DCG", 7),
        ("RR", "RR", None),
        ("RBP(p=0.9)", "RBP", None),
        ("RBP(rel=1)", "RBP", None),
        ("MAP", "AP", None),
    ],
)
def test_measures_with_moments(name, kind, cutoff):
    measure = parse_measure(name)
    assert (measure.kind, measure.cutoff) == (kind, cutoff)
    assert has_moments(name)


def test_persistence_is_read():
    assert parse_measure("RBP(p=0.95)").persistence == 0.95
    assert parse_measure("RBP").persistence == 0.8


@pytest.mark.parametrize("name", ["Rprec", "Bpref", "ERR@20", "AP(judged_only=True)"])
def test_other_measures_are_left_to_sampling(name):
    assert not has_moments(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nonsense", "'nonsense' is unknown"),
        ("", "'' is unknown"),
        ("P", "cutoff"),
        ("P@0", "cutoff below 1"),
        ("DCG@0", "cutoff below 1"),
        ("AP(rel=0)", "rel below 1"),
        ("RBP(p=1.5)", "RBP's p"),
        (ir_measures.P(rel=-1) @ 5, "rel below 1"),
        (ir_measures.P, "cutoff"),
        (None, "'None' is unknown"),
        (["AP"], "is unknown"),
        ("x" * 500, "^measure 'x{79} is unknown"),
        ("official", "'official' is unknown"),
        ("gm_map", "'gm_map' is unknown"),
        ("INSQ", "'INSQ' is not computed here; choose one of AP, P"),
        ("INST(T=2.0)", "is not computed here"),
        ("BPM@10", "is not computed here"),
        ("AP,nDCG@10", "'AP,nDCG@10' is several in one name; give each its own: --measure AP"),
        ("AP, RBP(p=0.8,rel=2)", "several in one name"),
        ("RBP(p=0.8,rel=x)", "RBP"),
    ],
)
def test_bad_names_are_explained(name, message):
    with pytest.raises(InputError, match=message):
        parse_measure(name)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("map", "AP"),
        ("map_cut_10", "AP@10"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut", "nDCG@5, nDCG@10, nDCG@15, ..."),
        ("P_10", "P@10"),
        ("P.5,10", "P@5, P@10"),
        ("recip_rank", "RR"),
        ("recall_1000", "R@1000"),
        ("bpref", "Bpref"),
        ("set_P", "SetP"),
        ("success_1", "Success@1"),
    ],
)
def test_names_of_trec_eval_are_answered_with_the_right_one(name, right):
    with pytest.raises(InputError) as error:
        parse_measure(f" {name} ")
    assert str(error.value) == f"{name!r} is a name of trec_eval; write {right}"


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("Map@10", "AP@10"),
        ("ndcg@10", "nDCG@10"),
        ("nDGC@10", "nDCG@10"),
        ("P10", "P@10"),
        ("rbp(p=0.9)", "RBP(p=0.9)"),
        ("dcg@5", "DCG@5"),
    ],
)
def test_names_in_another_case_are_answered_with_the_one_that_is_meant(name, right):
    with pytest.raises(InputError) as error:
        parse_measure(f" {name} ")
    assert str(error.value) == f"measure {name!r} is unknown; write {right}"
    assert parse_measure(right).name == right


@pytest.mark.parametrize(
    ("name", "of_ir_measures"),
    [
        ("AP", ir_measures.AP),
        ("nDCG@10", ir_measures.nDCG @ 10),
        ("RBP(p=0.9)", ir_measures.RBP(p=0.9)),
        ("Bpref", ir_measures.Bpref),
    ],
)
def test_objects_of_ir_measures_are_what_their_names_are(name, of_ir_measures):
    measure = parse_measure(name)
    assert parse_measure(of_ir_measures) == measure
    assert parse_measure(measure) is measure
    assert str(measure) == measure.name == name
