"""select_topics: what it says of its choice, several measures, files, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from topic_scores import drawn, matrix

import rtc_bayes as rb


def test_a_selection_says_how_well_it_follows_all_topics():
    scores = drawn(1)
    chosen = rb.select_topics(scores, size=4)
    places = [int(topic) - 1 for topic in chosen.topics]
    for k in range(1, 5):
        means = scores.mean.mean(axis=1), scores.mean[:, places[:k]].mean(axis=1)
        assert chosen.rhos[k - 1] == pytest.approx(np.corrcoef(*means)[0, 1], abs=1e-12)
    assert chosen.tau == pytest.approx(kendalltau(*means).statistic)
    assert chosen.rho == chosen.rhos[-1]
    assert chosen.weighted_rho == pytest.approx(chosen.rho)
    spread = scores.mean.sum(axis=1).std(ddof=1)
    assert chosen.gamma == pytest.approx(chosen.rho * spread)
    full = rb.select_topics(scores)
    assert full.rho == pytest.approx(1.0)
    assert full.tau == pytest.approx(1.0)
    assert sorted(full.topics) == sorted(scores.topics)
    assert full.topics[:4] == chosen.topics


def test_weighted_rho_is_of_the_weights():
    scores = drawn(2, systems=30)
    chosen = rb.select_topics(scores, size=5, solver="lasso")
    places = [int(topic) - 1 for topic in chosen.topics]
    means = scores.mean.mean(axis=1), scores.mean[:, places] @ np.array(chosen.weights)
    assert chosen.weighted_rho == pytest.approx(np.corrcoef(*means)[0, 1], abs=1e-12)
    assert chosen.weighted_rho != chosen.rho


def test_systems_that_score_alike_tie():
    mean = drawn(3, systems=8).mean
    twice = np.vstack([mean, mean[:3]])
    chosen = rb.select_topics(matrix(twice), size=1, solver="random")
    place = int(chosen.topics[0]) - 1
    expected = kendalltau(np.round(twice.sum(axis=1), 9), np.round(twice[:, place], 9)).statistic
    assert chosen.tau == pytest.approx(expected)


def test_several_measures_count_equally_whatever_their_units():
    one, two = drawn(4), drawn(5)
    both = rb.select_topics([one, two], size=5)
    scaled = rb.select_topics([one, matrix(100.0 * two.mean)], size=5)
    assert both.topics == scaled.topics
    assert both.measures == ("AP", "AP")
    alone = [rb.select_topics(x, size=5) for x in (one, two)]
    assert both.topics not in [x.topics for x in alone]
    places = [int(topic) - 1 for topic in both.topics]
    rhos = [
        np.corrcoef(x.mean.sum(axis=1), x.mean[:, places].sum(axis=1))[0, 1] for x in (one, two)
    ]
    assert both.rho == pytest.approx(np.mean(rhos))
    for solver in ("greedy", "tau", "lasso", "box", "vote"):
        twice = rb.select_topics([one, one], size=5, solver=solver)
        assert twice.topics == rb.select_topics(one, size=5, solver=solver).topics


def test_noise_keeps_a_topic_back():
    scores = drawn(6)
    first = rb.select_topics(scores, size=1).topics[0]
    variance = np.zeros(scores.mean.shape)
    variance[:, int(first) - 1] = 0.5
    assert rb.select_topics(matrix(scores.mean, variance), size=1).topics != (first,)


@pytest.mark.parametrize("solver", ["random", "oracle", "greedy", "vote"])
def test_topics_that_cancel_have_no_correlation(solver):
    """The second topic undoes the first, but for rounding, which rho was then made of: -0.56."""
    rng = np.random.default_rng(3)
    x, y = rng.random(6), rng.random(6)
    for factor in (0.1, 1 / 3, 0.7):
        scores = matrix(np.column_stack([factor * x, factor * (1.0 - x), 1e-3 * y]))
        chosen = rb.select_topics(scores, solver=solver, size=2)
        both = rb.TopicSelection.of_topics(scores, ("1", "2"))
        assert (both.rho, both.gamma, both.weighted_rho) == (0.0, 0.0, 0.0)
        assert max(map(abs, chosen.rhos)) <= 1.0 + 1e-9
        assert chosen.topics != ("1", "2") or solver == "random"


def test_a_selection_goes_to_a_file(tmp_path):
    chosen = rb.select_topics(drawn(7), size=3)
    chosen.to_csv(tmp_path / "topics.csv")
    frame = pd.read_csv(tmp_path / "topics.csv", dtype={"topic": str})
    assert list(frame.columns) == ["position", "topic", "weight", "rho"]
    assert tuple(frame["topic"]) == chosen.topics
    assert tuple(frame["rho"]) == chosen.rhos
    assert (tmp_path / "topics.csv.meta.json").exists()
    assert f"rho {chosen.rho:.3f}" in repr(chosen)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"size": 0}, "size is 0"),
        ({"size": 21}, "size is 21, of 20 topics"),
        ({"solver": "best"}, "solver is 'best'; give random, greedy, tau"),
        ({"budget": 3}, "solver vote takes no budget"),
        ({"budget": 3, "size": 3, "solver": "lasso"}, "both size and budget"),
        ({"solver": "box"}, "solver box needs a budget"),
        ({"solver": "box", "budget": -1}, "budget is -1"),
        (
            {"solver": "box", "size": 3, "gain": {"99": 1}, "gain_weight": 1},
            "a gain is for topic 99",
        ),
        ({"solver": "box", "size": 3, "gain": {"1": -1}, "gain_weight": 1}, "a gain is below 0"),
        ({"solver": "box", "size": 3, "gain": {"1": 1}}, "a gain without gain_weight above 0"),
        ({"solver": "box", "size": 3, "gain_weight": 1}, "gain_weight without gain; give both"),
        ({"solver": "box", "budget": 3, "gain_weight": -1}, "gain_weight is -1"),
        ({"solver": "box", "budget": 3, "gain_weight": "high"}, "gain_weight is 'high'; give 0"),
        ({"gain": {"1": 1}}, "solver vote takes no gain"),
        ({"gain_weight": 1}, "solver vote takes no gain_weight"),
        (
            {"solver": "greedy", "share": 0.3},
            r'no share; leave it out, .* solver="vote" \(--solver',
        ),
        ({"solver": "oracle", "subsets": 9}, "solver oracle takes no subsets"),
        ({"criterion": "tau"}, "solver vote takes no criterion"),
        ({"solver": "random", "samples": 9}, "solver random takes no samples"),
        (
            {"solver": "random", "budget": 3},
            r'give solver="lasso" or "box" \(--solver lasso or box\)',
        ),
        ({"solver": "vote", "share": 0}, "share is 0"),
        ({"solver": "vote", "subsets": 2}, "2 subsets of 5 systems cannot hold all 12"),
        ({"solver": "oracle", "size": 2, "criterion": "ap"}, "criterion is 'ap'"),
        ({"weights": {"s0": 1}}, "1 system to select topics by"),
    ],
)
def test_what_cannot_be_done_is_refused(words, message):
    with pytest.raises(rb.InputError, match=message):
        rb.select_topics(drawn(8), **words)


def test_a_gain_may_be_for_topics_that_are_numbers():
    words = {"solver": "box", "budget": 3, "gain_weight": 1.0}
    chosen = [rb.select_topics(drawn(8), gain=gain, **words) for gain in ({"1": 1}, {1: 1})]
    assert chosen[0].weights == chosen[1].weights


def test_measures_of_other_systems_are_refused():
    with pytest.raises(rb.InputError, match="AP has other systems or topics than AP"):
        rb.select_topics([drawn(1), drawn(1, systems=5)])
    with pytest.raises(rb.InputError, match="no scores"):
        rb.select_topics([])


def test_several_scores_may_come_one_by_one():
    data = rb.simulate(n_topics=8, n_systems=6, seed=1)
    both = [rb.ScoreMatrix.from_qrels(data.runs, data.qrels, each) for each in ("AP", "P@10")]
    assert rb.select_topics(iter(both), size=3).topics == rb.select_topics(both, size=3).topics


def test_scores_are_a_matrix_with_names():
    with pytest.raises(rb.InputError, match=r"scores are .*; give a ScoreMatrix, or several"):
        rb.select_topics(np.ones((3, 4)), size=2)
    with pytest.raises(rb.InputError, match=r"mean is .*; give numbers"):
        rb.ScoreMatrix([["a"]], [[0]], ("a",), ("1",))
