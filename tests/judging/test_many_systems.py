"""Judging for more systems than whose pairs are looked at at every step."""

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes import defaults
from rtc_bayes.judging.state import JudgingState

N_SYSTEMS = 23


@pytest.fixture(scope="module")
def track():
    simulated = rb.simulate(n_topics=4, n_systems=N_SYSTEMS - 1, seed=3)
    runs = simulated.runs
    twins = [*(runs[s] for s in runs), runs[runs.systems[0]].renamed("twin")]
    return rb.Pool.from_runs(rb.Runs(twins), depth=15), simulated.qrels


def few(monkeypatch):
    """Look at every pair at every step."""
    monkeypatch.setattr(defaults, "MANY_SYSTEMS", N_SYSTEMS)


def judged(track, algorithm, **stop):
    return rb.build(*track, algorithm, **stop)


@pytest.mark.parametrize("draws", [1, 5])
def test_moments_are_those_of_few_systems(track, monkeypatch, draws):
    pool, _ = track
    rng = np.random.default_rng(1)
    p = rng.random((draws, pool.n_documents))

    def moments():
        state = JudgingState(rb.Judgments.none(pool), p)
        for document in range(0, pool.n_documents, 3):
            state.observe(document, float(document % 2))
        return state.moments()

    at_once = moments()
    few(monkeypatch)
    for here, there in zip(at_once, moments(), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-15)
    assert (at_once[1] == 0.0).any()  # the twins


@pytest.mark.parametrize("algorithm", ["mtc", "rtc[weight=evr]:map"])
def test_a_budget_buys_the_same_judgments(track, monkeypatch, algorithm):
    here = judged(track, algorithm, budget=30, confidence=None)
    few(monkeypatch)
    there = judged(track, algorithm, budget=30, confidence=None)
    assert here.judgments.order.tolist() == there.judgments.order.tolist()
    assert here.confidence == pytest.approx(there.confidence, rel=1e-9)
    assert all(step.confidence is None for step in here.steps)
    assert all(step.confidence is not None for step in there.steps)


@pytest.mark.parametrize("algorithm", ["mtc", "rtc[weight=evr]:map"])
def test_judging_ends_at_the_same_step(track, monkeypatch, algorithm):
    pool, qrels = track
    without_twin = pool.select(pool.systems[:-1]), qrels
    assert without_twin[0].n_systems > defaults.MANY_SYSTEMS
    here = judged(without_twin, algorithm, confidence=0.7)
    few(monkeypatch)
    there = judged(without_twin, algorithm, confidence=0.7)
    assert here.reason == there.reason
    assert here.judgments.order.tolist() == there.judgments.order.tolist()
    assert here.judgments.n_judged > 20


def test_twins_are_never_told_apart(track):
    with pytest.warns(rb.CollectionWarning, match="twin have the same lists to rank 15"):
        result = judged(track, "mtc", confidence=0.7, budget=40)
    assert result.reason == "budget"


def test_a_pair_is_looked_at_alone(track):
    pool, _ = track
    state = JudgingState(rb.Judgments.none(pool), np.full(pool.n_documents, 0.5))
    first = next(state.open_pairs(0.9))
    state.observe(0, 1.0)
    confidence = state.confidence()
    # the pair that was least sure comes first, and is as sure as among all
    assert next(state.open_pairs(0.9)) == first
    assert state._unsure[1].confidence()[0] == pytest.approx(confidence[first], rel=1e-9)
    assert sorted(set(state.open_pairs(0.9))) == np.flatnonzero(confidence < 0.9).tolist()
