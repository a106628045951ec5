"""What commands print of a comparison."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pools import pool_of

from rtc_bayes import (
    Estimand,
    Judgments,
    Pool,
    Qrels,
    Relevance,
    Run,
    Runs,
    compare,
    evaluate,
)
from rtc_bayes.confidence.comparisons import stacked
from rtc_bayes.judging import JudgingPlan
from rtc_bayes.report.command_tables import (
    comparison_tables,
    plan_tables,
    topic_tables,
)
from rtc_bayes.report.tables import cells
from rtc_bayes.report.terminal import write_tables

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
    assert "seed 3\n" in systems.title
    assert list(pairs.frame["better"]) == names[:-1]
    assert list(pairs.frame["worse"]) == names[1:]
    assert "the 10 pairs of neighbours in the ranking, of 55" in pairs.title


@pytest.mark.filterwarnings("ignore:runs:rtc_bayes.errors.CollectionWarning")
@pytest.mark.parametrize("topics", ["all", "judged"])
def test_what_is_judged_is_the_mean_over_topics_that_evaluate_gives(topics):
    """Of lists of unequal length, a missing one and a topic without judgments."""
    lists = {
        "long": {"1": ["a", "b", "c", "d"], "2": ["x"], "3": ["u", "v"]},
        "short": {"1": ["c"], "2": ["y", "x"]},
    }
    runs = Runs([Run.from_rankings(*run) for run in lists.items()])
    qrels = Qrels({"1": {"a": 1, "c": 0}, "2": {"x": 1}})
    pool = Pool.from_runs(runs, depth=3)
    judgments = Judgments.from_qrels(pool, qrels)
    named = pool.topics if topics == "all" else judgments.judged_topics
    flat = Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
    comparison = compare(pool, flat, Estimand(topics=named))
    by_system = comparison_tables(comparison, judgments, seed=0)[0].frame.set_index("system")
    scores = evaluate(runs, qrels, "Judged@3", topics=topics)
    expected = dict(zip(scores.systems, scores.mean["Judged@3"], strict=True))
    assert by_system["judged@3"].to_dict() == pytest.approx(expected)
    # the share of all documents is another number
    assert expected["long"] != pytest.approx(judgments.judged[pool.ranked[:6]].mean())


def test_a_baseline_and_what_is_asked_for(judgments, relevance):
    comparison = compare(
        judgments.pool,
        relevance,
        Estimand(unseen=True, residual=0.02),
        baseline="s4",
    )
    comparison = comparison.with_equivalence(0.01).with_ranks()
    systems, pairs = comparison_tables(comparison, None, baseline="s4", seed=0)
    assert list(systems.frame.columns)[-2:] == ["P(best)", "rank (90% interval)"]
    assert systems.frame.iloc[0, -1] == "1 (1 to 1)"
    assert systems.title.startswith(f"{comparison.meta['about']}\n")
    assert "residual 0.02" in systems.title
    assert pairs.title == (
        "who is better, pairs with the baseline s4; too small to matter: nearer to 0 than 0.01"
    )
    # what draws leave is said if it shows
    for error, said in ((0.016, True), (0.004, False)):
        drawn = replace(comparison, meta=comparison.meta | {"draws_error": error})
        title = comparison_tables(drawn, None, seed=0)[1].title
        moved = "another seed may move a P(better) by 0.03, and by less with more draws of the fit"
        assert title.endswith(f"\n{moved}") is said
    assert len(pairs.frame) == SYSTEMS - 1
    assert pairs.frame.columns[-1] == "P(too small to matter)"
    best = systems.frame.columns.get_loc("P(best)")
    written = [row[best] for row in cells(systems.frame, systems.formats)]
    # shares of outcomes, which neither 0 nor 1 makes certain
    assert (written[0], written[-1]) == ("> 0.999", "< 0.001")


def test_the_topics_most_in_doubt(judgments):
    pool = judgments.pool.select(["s0", "s9"])
    relevance = Relevance.from_values(pool, np.where(judgments.on(pool).judged, 1.0, 0.1))
    comparison = compare(pool, relevance)
    frame = comparison.per_topic()
    (table,) = topic_tables(frame)
    assert table.title == "s0 minus s9: the 10 topics most in doubt, of 12 (all: --format csv)"
    assert len(table.frame) == 10
    assert frame["expected_difference"].mean() == pytest.approx(comparison.expected_difference[0])


def test_stacked_frames_name_the_measure_if_there_are_several(judgments, relevance):
    compared = compare(judgments.pool, relevance, ["AP", "P@5"])
    frames = [result.to_frame() for result in compared.values()]
    assert stacked(["AP"], frames[:1]) is frames[0]
    both = compared.to_frame()
    assert list(both["measure"]) == ["AP"] * 55 + ["P@5"] * 55
    pd.testing.assert_frame_equal(both, stacked([*compared], frames))
    alone = compare(judgments.pool, relevance, ["AP"]).to_frame()
    assert list(alone["measure"]) == ["AP"] * 55


def test_a_plan_says_what_its_columns_are(tmp_path):
    plan = JudgingPlan(
        **{"a": ("A",), "b": ("B",), "measure": "AP", "algorithm": "mtc", "population": True},
        **{"difference": 0.05, "confidence": 0.9, "budget": 60.0, "judgment_cost": 1.0},
        **{"topic_cost": 0.0, "topics_of_runs": 20, "pilot": (8,) * 10},
        **{"judgments_per_topic": (4, 16), "expected": np.array([0.03])},
        **{"between": np.array([0.01]), "unjudged_pilot": np.array([0.006])},
        **{"unjudged": np.array([[0.01], [0.004]]), "unjudged_none": np.array([0.02])},
    )
    answer, table, words = plan_tables(plan)
    assert answer.paragraphs == (plan.sentence,)
    headings = ["separates at least", "P(better) at 0.05", "pairs at 0.9", "pairs in order"]
    for heading in ["topics", "cost", *headings, "topics needed", "cost of these"]:
        assert heading in table.frame
        assert any(text.startswith(f"{heading}: ") for text in words.paragraphs), heading
    assert table.frame["topics"].tolist() == ["10", "25", "7 of 10"]
    frame = plan.to_frame()
    assert table.frame["separates at least"].tolist() == frame["separates"].tolist()
    assert table.frame["new topics"].tolist() == frame["new_topics"].tolist()
    write_tables([table], str(tmp_path / "plan.txt"), {})
    written = (tmp_path / "plan.txt").read_text().splitlines()
    assert max(map(len, written[1:])) <= 101
    assert sum(line.strip().startswith("pilot ") for line in written[1:]) == 1
