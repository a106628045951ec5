"""One text where several names are meant is refused, not split into its letters."""

import pytest
from pools import pool_of, runs_of

from rtc_bayes import Estimand, InputError, Judgments, Qrels
from rtc_bayes.trials import Collection

# every letter of the text names something, so that splitting it would give another answer
RANKINGS = {name: {"1": ["a", "b"], "2": ["b", "a"]} for name in ("x", "y", "xy")}
QRELS = Qrels({"1": {"a": 1, "b": 0}, "2": {"a": 0}})


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: runs_of(RANKINGS).select("xy"), "systems: 'xy'"),
        (lambda: pool_of(RANKINGS).select("xy"), "systems: 'xy'"),
        (lambda: pool_of(RANKINGS).select_topics("12"), "topics: '12'"),
        (lambda: pool_of(RANKINGS).locate("1", "ab"), "docnos: 'ab'"),
        (lambda: pool_of(RANKINGS).with_documents({"1": "ab"}), "documents: 'ab'"),
        (lambda: pool_of(RANKINGS, documents={"1": "ab"}), "documents: 'ab'"),
        (
            lambda: Judgments.from_qrels(pool_of(RANKINGS), QRELS, judged_for="xy"),
            "judged_for: 'xy'",
        ),
        (
            lambda: Collection.from_runs(runs_of(RANKINGS), QRELS, Estimand()).truth_of("xy"),
            "systems: 'xy'",
        ),
    ],
)
def test_a_text_is_no_list_of_names(ask, said):
    with pytest.raises(InputError) as caught:
        ask()
    text = said.partition(": ")[2]
    assert str(caught.value) == f"{said} is not a list of names; give a list, as [{text}]"


def test_topics_of_an_estimand_are_a_list():
    with pytest.raises(InputError, match=r"topics are '12'; give \"all\", \"judged\" or a list"):
        Estimand(topics="12")


def test_the_truth_of_a_system_that_is_not_there():
    collection = Collection.from_runs(runs_of(RANKINGS), QRELS, Estimand())
    with pytest.raises(InputError, match="no system is named 'z'; name one of x, y, xy"):
        collection.truth_of(["x", "z"])
