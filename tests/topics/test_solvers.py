"""The solvers: properties 4 and 5 of the thesis's formulas, each solver against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from topic_scores import drawn, matrices, matrix

import rtc_bayes as rb
from rtc_bayes.topics.objective import Objective
from rtc_bayes.topics.selection import SOLVERS
from rtc_bayes.topics.solvers.box import box
from rtc_bayes.topics.solvers.lasso import lasso_path
from rtc_bayes.topics.solvers.quadratic import minimise, quadratic
from rtc_bayes.topics.solvers.vote import covering_subsets

ONE_BY_ONE = ("greedy", "tau")
SETTLED = (*ONE_BY_ONE, "lasso")  # box is as exact as its solver
FEW = {"oracle": {"samples": 50}}


def rho(scores, topics):
    return np.corrcoef(scores.mean.sum(axis=1), scores.mean[:, topics].sum(axis=1))[0, 1]


def concordance(scores, topics):
    pairs = itertools.combinations(range(len(scores.systems)), 2)
    whole, some = scores.mean.sum(axis=1), scores.mean[:, topics].sum(axis=1)
    return sum(np.sign(whole[a] - whole[b]) * np.sign(some[a] - some[b]) for a, b in pairs)


@pytest.mark.parametrize(("solver", "criterion"), [("greedy", rho), ("tau", concordance)])
def test_each_step_is_the_best_by_brute_force(solver, criterion):
    for seed in range(5):
        scores = drawn(seed, systems=9, topics=8)
        chosen: list[int] = []
        for topic in rb.select_topics(scores, solver=solver).topics:
            left = [t for t in range(8) if t not in chosen]
            values = [criterion(scores, [*chosen, t]) for t in left]
            chosen.append(int(topic) - 1)
            assert values[left.index(chosen[-1])] == pytest.approx(max(values), abs=1e-12)
            assert left[int(np.argmax(np.array(values) >= max(values) - 1e-12))] == chosen[-1]


@pytest.mark.parametrize("solver", SETTLED)
@given(scores=matrices)
@settings(max_examples=25)
def test_duplicated_systems_leave_the_order(solver, scores):
    twice = rb.ScoreMatrix(
        np.tile(scores.mean, (2, 1)),
        np.tile(scores.variance, (2, 1)),
        (*scores.systems, *(f"{name}'" for name in scores.systems)),
        scores.topics,
    )
    size = min(3, len(scores.topics), len(scores.systems) - 1)
    before, after = (rb.select_topics(x, size=size, solver=solver) for x in (scores, twice))
    assert before.topics == after.topics
    assert before.weights == pytest.approx(after.weights, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@given(scores=matrices, seed=st.integers(0, 99))
@settings(max_examples=10)
def test_permuted_topics_and_scaled_scores_leave_the_choice(solver, scores, seed):
    """Random solvers, too: they draw places in the natural order of ids."""
    order = np.random.default_rng(seed).permutation(len(scores.topics))
    moved = rb.ScoreMatrix(
        scores.mean[:, order],
        scores.variance[:, order],
        scores.systems,
        tuple(np.array(scores.topics)[order].tolist()),
        "AP",
    )
    words = {"size": 3, "solver": solver, "seed": seed, **FEW.get(solver, {})}
    chosen = rb.select_topics(scores, **words)
    again = rb.select_topics(moved, **words)
    assert again.topics == chosen.topics
    assert again.weights == chosen.weights
    if solver in ONE_BY_ONE:
        assert rb.select_topics(matrix(8.0 * scores.mean), **words).topics == chosen.topics


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_held_out_systems_score_changes_no_bit(solver):
    scores = drawn(5)
    weights = dict.fromkeys(scores.systems[:8], 1.0)
    noise = scores.mean.copy()
    noise[8:] = np.random.default_rng(1).random((4, len(scores.topics)))
    noise[8, 0] = np.nan
    other = matrix(noise, np.where(np.isnan(noise), np.nan, 0.0))
    words = {"size": 4, "solver": solver, "weights": weights, **FEW.get(solver, {})}
    one, two = rb.select_topics(scores, **words), rb.select_topics(other, **words)
    assert (one.topics, one.weights, one.rhos) == (two.topics, two.weights, two.rhos)


def test_the_lasso_path_is_the_optimum_at_every_bound():
    """By an interior-point solver on b split into its positive and negative part."""
    scores = drawn(6, systems=40, topics=15)
    objectives = [Objective.of(scores)]
    path = lasso_path(objectives)
    curvature, slope = quadratic(objectives)
    split = np.block([[curvature, -curvature], [-curvature, curvature]])
    knots = np.linspace(1, len(path.weights) - 1, 20).astype(int)
    for knot in knots:
        parts = minimise(split, np.concatenate([slope, -slope]), path.norms[knot], most=None)
        assert parts[:15] - parts[15:] == pytest.approx(path.weights[knot], abs=5e-3)
    assert path.weights[-1] == pytest.approx(np.ones(15), abs=1e-6)  # more systems than topics
    assert (np.diff(path.norms) > -1e-9).all()


def test_the_lasso_path_ends_at_the_mean_scores_though_not_at_all_topics():
    scores = drawn(7, systems=10, topics=25)
    objective = Objective.of(scores)
    end = lasso_path([objective]).weights[-1]
    assert np.count_nonzero(end) <= 9
    assert objective.centred @ end == pytest.approx(objective.centred.sum(axis=1), abs=1e-6)
    with pytest.raises(rb.InputError, match=r"at most 9: it takes fewer topics than .* systems"):
        rb.select_topics(scores, size=12, solver="lasso")


def test_a_size_of_the_lasso_path_is_its_last_knot():
    for seed in range(200):
        path = lasso_path([Objective.of(drawn(seed, systems=20, topics=19))])
        sizes = path.sizes.tolist()
        if drops := [n for n in set(sizes) if sizes.count(n) > 1]:
            break
    else:
        pytest.fail("no path drops a topic")
    chosen = rb.select_topics(drawn(seed, systems=20, topics=19), size=drops[0], solver="lasso")
    last = path.weights[len(sizes) - 1 - sizes[::-1].index(drops[0])]
    assert sorted(chosen.weights) == pytest.approx(sorted(last[last != 0]))


def test_a_budget_between_knots_of_the_lasso_path():
    chosen = rb.select_topics(drawn(8), budget=2.5, solver="lasso")
    assert sum(map(abs, chosen.weights)) == pytest.approx(2.5)


def test_box_keeps_its_bounds_and_follows_the_gain():
    scores = drawn(9, systems=30)
    plain = rb.select_topics(scores, budget=4, solver="box")
    assert sum(plain.weights) == pytest.approx(4, abs=1e-4)
    assert all(0 < weight <= 1 for weight in plain.weights)
    gain = {scores.topics[0]: 7.0}
    words = {"budget": 4, "solver": "box", "gain": gain}
    little = rb.select_topics(scores, **words, gain_weight=1e-9)
    assert little.weights == pytest.approx(plain.weights, abs=1e-3)
    weight = dict(zip(plain.topics, plain.weights, strict=True)).get("1", 0.0)
    assert weight < 0.9
    drawn_to = rb.select_topics(scores, **words, gain_weight=10.0)
    gained = dict(zip(drawn_to.topics, drawn_to.weights, strict=True))["1"]
    assert gained == pytest.approx(1, abs=1e-4)
    everything = rb.select_topics(scores, budget=20, solver="box")
    assert everything.weights == pytest.approx(np.ones(20), abs=1e-3)


def test_the_oracle_tries_every_set_or_says_that_it_did_not():
    scores = drawn(10, topics=12)
    best = rb.select_topics(scores, size=4, solver="oracle")
    brute = max(itertools.combinations(range(12), 4), key=lambda some: rho(scores, list(some)))
    assert sorted(int(t) - 1 for t in best.topics) == list(brute)
    assert best.how == "every set of this size tried (495)"
    tau = rb.select_topics(scores, size=4, solver="oracle", criterion="tau")
    most = max(concordance(scores, list(s)) for s in itertools.combinations(range(12), 4))
    assert concordance(scores, [int(t) - 1 for t in tau.topics]) == most
    large = drawn(11, topics=40)
    for criterion in ("rho", "tau"):
        found = rb.select_topics(large, size=8, solver="oracle", criterion=criterion, samples=500)
        assert "maybe not the best" in found.how
    found = rb.select_topics(large, size=8, solver="oracle", samples=500)
    assert found.rho >= rb.select_topics(large, size=8, solver="greedy").rho


@pytest.mark.parametrize(
    ("systems", "said"), [(4, "1 different set of 4 of the 4"), (8, "different sets of 5 of the 8")]
)
def test_a_vote_says_how_many_sets_differ(systems, said):
    data = rb.simulate(n_topics=8, n_systems=systems, seed=1)
    scores = rb.ScoreMatrix.from_qrels(data.runs, data.qrels, "AP")
    chosen = rb.select_topics(scores, size=3)
    assert said in chosen.how
    assert chosen.how in repr(chosen)
    number = int(chosen.how.split("a vote of ")[1].split()[0])
    assert 1 <= number <= 56  # five of eight
    if systems == 4:
        assert chosen.topics == rb.select_topics(scores, size=3, solver="greedy").topics


def test_a_vote_of_all_systems_is_greedy():
    scores = drawn(12)
    one = rb.select_topics(scores, solver="vote", subsets=1, share=1.0)
    assert one.topics == rb.select_topics(scores, solver="greedy").topics


@given(st.integers(2, 40), st.floats(0.1, 1.0), st.integers(0, 99))
def test_subsets_hold_every_system(systems, share, seed):
    parts = covering_subsets(systems, 40, share, seed)
    assert len(parts) == 40
    assert set(np.concatenate(parts)) == set(range(systems))
    assert {len(set(part)) for part in parts} == {min(systems, max(5, round(share * systems)))}


def test_a_topic_without_differences_is_never_weighted_and_never_lost():
    mean = drawn(13, topics=6).mean.copy()
    mean[:, 2] = 0.1 + 0.2
    for solver in ONE_BY_ONE:
        assert sorted(rb.select_topics(matrix(mean), solver=solver).topics) == list("123456")
    chosen = rb.select_topics(matrix(mean), size=5, solver="box")
    assert "3" not in chosen.topics
    assert "3" not in rb.select_topics(matrix(mean), solver="lasso").topics


def test_topics_of_little_weight_go_before_those_of_none(monkeypatch):
    monkeypatch.setattr(
        "rtc_bayes.topics.solvers.box.minimise",
        lambda *arguments: np.array([0.0, 0.0, 0.7, 3e-6, 0.3]),
    )
    x = drawn(3, systems=6, topics=5).mean
    objective = Objective(x - x.mean(axis=0), np.full(6, 1 / 6), np.zeros(5))
    assert box([objective], budget=1).order == (2, 4, 3)
