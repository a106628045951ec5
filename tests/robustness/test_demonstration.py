import numpy as np
import pytest

from rtc_bayes import Workers
from rtc_bayes.collection import read_qrels
from rtc_bayes.robustness.demonstration import demo


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return demo(folder, seed=2, n_topics=4, n_systems=12, trials=1, workers=Workers(jobs=1))


def test_it_compares_ten_by_judgments_for_two(shown):
    assert len(shown.systems) == 10
    assert shown.systems["judged_for"].sum() == 2
    assert len(shown.pairs) == 45
    assert shown.judgments["judged"].sum() == shown.facts["judged"]
    assert len(shown.study.trials) == 4


def test_its_pairs_are_held_against_the_truth(shown):
    true = shown.systems.set_index("system")["true"]
    for pair in shown.pairs.itertuples():
        difference = true[pair.a] - true[pair.b]
        if difference == 0:
            assert np.isnan(pair.correct)
        else:
            assert pair.correct == ((pair.p_greater > pair.p_less) == (difference > 0))


def test_its_judgments_are_a_qrels_file(shown):
    judged, relevant = read_qrels(shown.directory / "judgments.qrels").counts()
    assert (judged, relevant) == (shown.facts["judged"], shown.facts["relevant"])


def test_next_documents_are_not_judged_yet(shown):
    judged = read_qrels(shown.directory / "judgments.qrels")
    for document in shown.next.itertuples():
        assert document.docno not in judged.get(document.topic, {})
    assert (shown.next["weight"] > 0).all()
