from __future__ import annotations

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
        ("AP(rel=2)", "relevance level 2"),
        ("RBP(p=1.5)", "RBP's p"),
    ],
)
def test_bad_names_are_explained(name, message):
    with pytest.raises(InputError, match=message):
        parse_measure(name)
