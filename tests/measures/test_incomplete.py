"""Four measures of incomplete judgments, against literal sums."""

from __future__ import annotations

import pytest
from pools import runs_of

from rtc_bayes.collection import Qrels
from rtc_bayes.errors import InputError
from rtc_bayes.measures.incomplete import INCOMPLETE_MEASURES, incomplete
from rtc_bayes.measures.truth import evaluate

RUNS = runs_of(
    {"one": {"1": ["u1", "r1", "n1", "u2", "r2"]}, "two": {"1": ["n1", "n2", "r1", "u3"]}}
)
QRELS = Qrels({"1": {"r1": 1, "r2": 1, "n1": 0, "n2": 0}})
EPSILON = 0.00001  # trec_eval's smoothing in infAP


def _inferred_precision(rank, relevant, nonrelevant, pooled):
    """Yilmaz and Aslam 2006, section 3: precision at a relevant document's rank, expected."""
    share = (relevant + EPSILON) / (relevant + nonrelevant + 2 * EPSILON)
    return 1 / rank + (rank - 1) / rank * (pooled / (rank - 1)) * share


def test_four_measures_against_their_sums():
    table = incomplete(RUNS, QRELS)
    assert table.measures == tuple(INCOMPLETE_MEASURES)
    assert table["AP"][:, 0] == pytest.approx([(1 / 2 + 2 / 5) / 2, 1 / 3 / 2])
    assert table["condensed AP"][:, 0] == pytest.approx([(1 + 2 / 3) / 2, 1 / 3 / 2])
    # one nonrelevant of min(R, N) = 2 above r2 in the first run; two above r1 in the second
    assert table["bpref"][:, 0] == pytest.approx([(1 + 1 / 2) / 2, 0])
    first = _inferred_precision(2, 0, 0, 1) + _inferred_precision(5, 1, 1, 4)
    second = _inferred_precision(3, 0, 2, 2)
    assert table["infAP"][:, 0] == pytest.approx([first / 2, second / 2])


def test_documents_below_the_pool_are_not_relevant_to_infap():
    deep, shallow = incomplete(RUNS, QRELS, depth=5), incomplete(RUNS, QRELS, depth=1)
    assert deep["infAP"][0, 0] > shallow["infAP"][0, 0]
    for name in ("AP", "condensed AP", "bpref"):
        assert deep[name].tolist() == shallow[name].tolist()


def test_with_complete_judgments_three_are_ap():
    grades = {"r1": 1, "r2": 1, "n1": 0, "n2": 0, "u1": 0, "u2": 1, "u3": 0}
    table = incomplete(RUNS, Qrels({"1": grades}))
    true = evaluate(RUNS, Qrels({"1": grades}), "AP")["AP"]
    assert table["AP"].tolist() == true.tolist()
    assert table["condensed AP"] == pytest.approx(true)
    assert table["infAP"] == pytest.approx(true, abs=1e-4)


@pytest.mark.filterwarnings("ignore:no judged document is relevant:rtc_bayes.CollectionWarning")
@pytest.mark.filterwarnings("ignore:no document of the runs is judged:rtc_bayes.CollectionWarning")
def test_the_relevance_level_and_odd_judgments():
    graded = Qrels({"1": {"r1": 2, "r2": 1, "n1": 0, "n2": -1}})
    strict = incomplete(RUNS, graded, relevance_level=2)
    assert strict["AP"][:, 0] == pytest.approx([1 / 2, 1 / 3])
    for grades in ({"n1": 0}, {"r1": 1}, {"r1": 1, "r2": 1}, {"elsewhere": 1}):
        table = incomplete(RUNS, Qrels({"1": grades}))
        for name in table.measures:
            assert ((table[name] >= 0) & (table[name] <= 1)).all(), (grades, name)


def test_a_depth_below_one_is_an_error():
    with pytest.raises(InputError, match="depth is 0"):
        incomplete(RUNS, QRELS, depth=0)
