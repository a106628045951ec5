"""Every argument that counts something takes whole numbers alone, in whatever function."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import rtc_bayes as rb
from rtc_bayes import calibration, relevance, robustness
from rtc_bayes.checks import brief_repr
from rtc_bayes.errors import InputError
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials.scores import score_pairs
from tests.pools import judge, pool_of, random_rankings, runs_of

REFUSED = [2.5, 2.0, np.float64(2.0), True, np.True_, "3", math.nan, [3], -7, -(10**5000), 10**5000]

RANKINGS = random_rankings(np.random.default_rng(1))
RUNS = runs_of(RANKINGS)
POOL = pool_of(RANKINGS)
JUDGMENTS = judge(POOL, 8)
QRELS = rb.Qrels({topic: {"d0000": 1, "d0001": 0} for topic in POOL.topics})
FIT = rb.fit(POOL, JUDGMENTS, model="uniform")
A, B = POOL.systems
TABLE = pd.DataFrame({"trial": [0, 1]})


def study(**words):
    return rb.study(RUNS, QRELS, output="unused", **{"algorithms": ["mtc"], **words})


def study_of_a_budget(*, budgets):
    return study(budgets=[100, budgets])


def fit_rtc(**words):
    return rb.fit(POOL, JUDGMENTS, model="rtc", method="cut", **words)


def predictions(**words):
    labels = np.arange(POOL.n_documents) % 2
    values = np.where(labels, 0.8, 0.3)[None]
    return calibration.Predictions.from_judgments(JUDGMENTS, values, labels, **words)


def simulated(number, seed):
    return {"x": 0.5}, {"x": np.linspace(0, 1, 9)}


CALLS = {
    rb.Estimand: (lambda **w: rb.Estimand(**w), ["relevance_level", "depth", "score_depth"]),
    rb.JudgingSession: (
        lambda **w: rb.JudgingSession(JUDGMENTS, "mtc", **w),
        ["budget", "floor", "seed"],
    ),
    rb.build: (lambda **w: rb.build(POOL, QRELS, "mtc", **w), ["budget", "floor", "seed"]),
    rb.next_documents: (lambda **w: rb.next_documents(POOL, JUDGMENTS, **w), ["count", "seed"]),
    rb.Judgments.from_qrels: (
        lambda **w: rb.Judgments.from_qrels(POOL, QRELS, **w),
        ["relevance_level"],
    ),
    rb.Judgments.from_labels: (
        lambda **w: rb.Judgments.from_labels(POOL, [0], [1], **w),
        ["relevance_level"],
    ),
    rb.Pool.from_runs: (
        lambda **w: rb.Pool.from_runs(RUNS, **w),
        ["depth", "reach", "score_depth"],
    ),
    rb.Plan: (
        lambda **w: rb.Plan(**{"algorithms": ("mtc",), **w}),
        ["trials", "n_systems", "n_initial", "draws", "chains", "tune", "seed"],
    ),
    rb.Qrels.counts: (lambda **w: QRELS.counts(**w), ["relevance_level"]),
    rb.ScoreMatrix.from_qrels: (
        lambda **w: rb.ScoreMatrix.from_qrels(RUNS, QRELS, **w),
        ["relevance_level"],
    ),
    rb.Workers: (lambda **w: rb.Workers(**w), ["jobs"]),
    rb.bootstrap_interval: (lambda **w: rb.bootstrap_interval([1.0, 2.0], [0, 1], **w), ["seed"]),
    rb.calibrate: (
        lambda **w: rb.calibrate(RUNS, QRELS, output="unused", **w),
        ["trials", "n_systems", "n_initial", "budget", "draws", "chains", "tune", "seed"],
    ),
    rb.compare: (lambda **w: rb.compare(POOL, FIT, **w), ["outcomes", "seed"]),
    rb.demo: (lambda **w: rb.demo("unused", **w), ["n_topics", "n_systems", "trials", "seed"]),
    rb.evaluate: (lambda **w: rb.evaluate(RUNS, QRELS, **w), ["relevance_level", "judged_depth"]),
    rb.fit: (fit_rtc, ["draws", "chains", "tune", "seed"]),
    rb.forecast: (lambda **w: rb.forecast(POOL, FIT, A, B, **w), ["seed"]),
    rb.incomplete: (lambda **w: rb.incomplete(RUNS, QRELS, **w), ["depth", "relevance_level"]),
    rb.rank_systems: (lambda **w: rb.rank_systems(POOL, FIT, **w), ["outcomes", "seed"]),
    rb.topic_differences: (
        lambda **w: rb.topic_differences(POOL, FIT, A, B, **w),
        ["outcomes", "seed"],
    ),
    rb.read_runs: (lambda **w: rb.read_runs(RUNS.to_frame(), **w), ["depth"]),
    rb.sample_scores: (
        lambda **w: rb.sample_scores(POOL, np.full(POOL.n_documents, 0.5), **w),
        ["outcomes", "seed"],
    ),
    rb.simulate: (
        lambda **w: rb.simulate(**w),
        ["n_topics", "n_systems", "documents", "depth", "seed"],
    ),
    rb.simulation_based_calibration: (
        lambda **w: rb.simulation_based_calibration(simulated, **w),
        ["simulations", "seed"],
    ),
    rb.study: (
        study,
        ["trials", "n_systems", "n_initial", "draws", "chains", "tune", "seed"],
    ),
    study_of_a_budget: (study_of_a_budget, ["budgets"]),
    relevance.Sampling: (
        lambda **w: relevance.Sampling(**w),
        ["draws", "chains", "tune", "seed"],
    ),
    robustness.summarise: (lambda **w: robustness.summarise(TABLE, TABLE, **w), ["seed"]),
    robustness.break_down: (
        lambda **w: robustness.break_down(TABLE, TABLE["trial"], **w),
        ["seed"],
    ),
    calibration.Predictions.from_judgments: (predictions, ["seed", "replicates"]),
    calibration.reliability: (
        lambda **w: calibration.reliability(predictions(), **w),
        ["points"],
    ),
    calibration.bias: (lambda **w: calibration.bias(TABLE, **w), ["seed"]),
    calibration.coverage: (lambda **w: calibration.coverage(TABLE, **w), ["seed"]),
    calibration.check_predictions: (
        lambda **w: calibration.check_predictions(JUDGMENTS, None, **w),
        ["sets", "seed"],
    ),
    rb.plot_accuracy: (lambda **w: rb.plot_accuracy(TABLE, **w), ["seed"]),
    score_pairs: (lambda **w: score_pairs(TABLE, **w), ["seed"]),
    rb.Relevance.from_erels: (
        lambda **w: rb.Relevance.from_erels(
            POOL, rb.Probabilities({"0": {"d0000": 0.5}}), default_p=0.5, **w
        ),
        ["relevance_level"],
    ),
    spawn_seeds: (lambda **w: spawn_seeds(**{"seed": 0, "n": 1, **w}), ["seed", "n"]),
}
COUNTS = [
    pytest.param(call, name, id=f"{function.__qualname__}({name})")
    for function, (call, names) in CALLS.items()
    for name in names
]


@pytest.mark.parametrize("value", REFUSED, ids=brief_repr)
@pytest.mark.parametrize(("call", "name"), COUNTS)
def test_what_is_no_whole_number_is_refused_by_name(call, name, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        call(**{name: value})
    assert caught.value.message.startswith(f"{name} is ")
    assert caught.value.remedy
    assert len(str(caught.value)) < 200
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("call", "name", "value"),
    [
        (call, name, value)
        for function, name, value in (
            (rb.Estimand, "depth", 5),
            (rb.JudgingSession, "budget", 5),
            (rb.next_documents, "count", 2),
            (rb.Judgments.from_qrels, "relevance_level", 1),
            (rb.Pool.from_runs, "depth", 3),
            (rb.Plan, "n_systems", 4),
            (rb.Plan, "trials", 4),
            (rb.Plan, "seed", 4),
            (rb.Workers, "jobs", 1),
            (rb.compare, "outcomes", 100),
            (rb.incomplete, "depth", 4),
            (rb.read_runs, "depth", 3),
            (rb.sample_scores, "outcomes", 10),
            (rb.simulate, "n_topics", 2),
            (rb.simulation_based_calibration, "simulations", 4),
            (relevance.Sampling, "draws", 100),
            (spawn_seeds, "n", 2),
        )
        for call, _ in (CALLS[function],)
    ],
)
def test_integers_of_numpy_give_the_same(call, name, value):
    made = [call(**{name: kind(value)}) for kind in (int, np.int64, np.uint8)]
    assert len({repr(of) for of in made}) == 1


def test_integers_of_numpy_are_options():
    for kind in (int, np.int64):
        model = relevance.load_model("rtc", {"folds": kind(5)})
        assert (model.folds, type(model.folds)) == (5, int)
        same = type(model)(folds=kind(5))
        assert (same, type(same.folds)) == (model, int)


@pytest.mark.parametrize("budgets", [50, "50", None])
def test_budgets_are_a_list(budgets):
    with pytest.raises(InputError, match=r"budgets is .*; give a list, as \["):
        study(budgets=budgets)
