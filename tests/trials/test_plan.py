"""A plan takes its algorithms as the command line does."""

import pytest

from rtc_bayes import Estimand, InputError, Plan
from rtc_bayes.judging import parse_algorithm
from rtc_bayes.judging.judges import MTC


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("mtc", ("mtc",)),
        ("ip,mtc", ("ip", "mtc")),
        (
            "ip, rtc[folds=5,intercept=yes]:map,mtc/rtc:map",
            ("ip", "rtc[folds=5,intercept=yes]:map", "mtc/rtc:map"),
        ),
        (["ip", "mtc"], ("ip", "mtc")),
        (parse_algorithm("mtc"), ("mtc",)),
        (MTC(weight="evr"), (repr(MTC(weight="evr")),)),
        (iter(["mtc"]), ("mtc",)),
    ],
)
def test_algorithms_in_one_text_alone_or_in_a_list(given, meant):
    plan = Plan(given, budgets=[5])
    assert tuple(plan.parsed) == meant
    assert isinstance(plan.algorithms, tuple)
    assert plan.to_dict()["algorithms"] == list(meant)
    assert Plan(plan.algorithms, budgets=[5]).to_dict() == plan.to_dict()


@pytest.mark.parametrize("given", ["", " ", (), []])
def test_no_algorithm_is_refused(given):
    with pytest.raises(InputError, match="no algorithm was given; give for example ip,mtc,rtc:map"):
        Plan(given)


def test_an_algorithm_twice_in_a_text_is_refused():
    with pytest.raises(InputError, match="an algorithm is given twice; name each one once"):
        Plan("mtc,ip,mtc")


def test_an_algorithm_that_does_not_exist_is_named():
    with pytest.raises(InputError, match="unknown model 'mtcc'"):
        Plan("ip,mtcc")


def test_an_evaluator_of_another_measure_is_refused_before_a_folder_is_claimed():
    with pytest.raises(InputError, match="bpref estimates average precision, not nDCG@10"):
        Plan(("mtf/bpref",), budgets=(10,), estimand=Estimand("nDCG@10"))
