"""What commands print of a comparison."""

import numpy as np
import pytest
from pools import pool_of

from rtc_bayes import Estimand, Judgments, Relevance, compare
from rtc_bayes.report.command_tables import comparison_tables, stacked, topic_tables

SYSTEMS = 11


@pytest.fixture(scope="module")
def judgments():
    """Eleven systems, each of which ranks the relevant document of 12 topics one place lower."""
    topics = [f"{t}" for t in range(12)]
    rankings = {}
    for s in range(SYSTEMS):
        ranking = [f"n{d}" for d in range(SYSTEMS)]
        ranking.insert(s, "r")
        rankings[f"s{s}"] = dict.fromkeys(topics, ranking)
    pool = pool_of(rankings)
    return Judgments.from_labels(pool, np.flatnonzero(np.array(pool.docnos) == "r"), np.ones(12))


@pytest.fixture(scope="module")
def relevance(judgments):
    return Relevance.from_values(judgments.pool, np.where(judgments.judged, 1.0, 0.1))


def test_of_many_pairs_the_neighbours_are_shown(judgments, relevance):
    comparison = compare(judgments.pool, relevance)
    systems, pairs = comparison_tables(comparison, judgments, seed=3)
    names = [f"s{s}" for s in range(SYSTEMS)]
    assert list(systems.frame["system"]) == names
    assert systems.frame.columns[-1] == "judged@100"
    assert systems.title.endswith("seed 3")
    assert list(pairs.frame["better"]) == names[:-1]
    assert list(pairs.frame["worse"]) == names[1:]
    assert "the 10 pairs of neighbours in the ranking, of 55" in pairs.title


def test_a_baseline_and_what_is_asked_for(judgments, relevance):
    comparison = compare(
        judgments.pool,
        relevance,
        Estimand(unseen=True, residual=0.02),
        baseline="s4",
    )
    comparison = comparison.with_equivalence(0.01).with_ranks()
    systems, pairs = comparison_tables(comparison, None, baseline="s4", seed=0)
    assert list(systems.frame.columns)[-4:] == ["p_best", "rank_low", "rank_median", "rank_high"]
    assert systems.title.startswith(f"{comparison.meta['about']}; ")
    assert "residual 0.02" in systems.title
    assert pairs.title == (
        "who is better, pairs with the baseline s4; too small to matter: nearer to 0 than 0.01"
    )
    assert len(pairs.frame) == SYSTEMS - 1
    assert pairs.frame.columns[-1] == "P(too small to matter)"


def test_the_topics_most_in_doubt(judgments):
    pool = judgments.pool.select(["s0", "s9"])
    relevance = Relevance.from_values(pool, np.where(judgments.on(pool).judged, 1.0, 0.1))
    comparison = compare(pool, relevance)
    frame = comparison.per_topic()
    (table,) = topic_tables(frame)
    assert table.title == "s0 less s9: the 10 topics most in doubt, of 12 (all: --format csv)"
    assert len(table.frame) == 10
    assert frame["expected_difference"].mean() == pytest.approx(comparison.expected_difference[0])


def test_stacked_frames_name_the_measure_if_there_are_several(judgments, relevance):
    compared = [compare(judgments.pool, relevance, name) for name in ("AP", "P@5")]
    frames = [result.to_frame() for result in compared]
    assert stacked(compared[:1], frames[:1]) is frames[0]
    both = stacked(compared, frames)
    assert list(both["measure"]) == ["AP"] * 55 + ["P@5"] * 55
