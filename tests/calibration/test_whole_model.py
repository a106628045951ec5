"""A whole model calibrated by simulation from the prior of its graph."""

import numpy as np
import pytest

from rtc_bayes.calibration.simulation_based import simulation_based_calibration
from rtc_bayes.calibration.whole_model import WholeModel
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.simulate import simulate
from rtc_bayes.errors import InputError
from rtc_bayes.relevance import ModelSpec, Sampling, load_model


@pytest.fixture(scope="module")
def judgments():
    simulated = simulate(n_topics=6, n_systems=4, documents=200, depth=30, seed=1)
    pool = Pool.from_runs(simulated.runs, depth=20)
    order = np.random.default_rng(0).choice(pool.n_documents, 80, replace=False)
    return Judgments.from_labels(pool, order, np.zeros(80))


def test_a_composite_has_no_prior(judgments):
    with pytest.raises(InputError, match="rtc is a composite"):
        WholeModel(load_model("rtc"), "cut", judgments, 10, Sampling())


@pytest.mark.filterwarnings("ignore::rtc_bayes.errors.FitWarning")
@pytest.mark.parametrize("model", ["rank_curve", ModelSpec.parse("rank_curve:laplace")])
def test_a_name_serves_as_an_object_does(judgments, model):
    rest = "laplace", judgments, 2, Sampling(draws=25, chains=1)
    true, drawn = WholeModel(model, *rest)(0, 0)
    of_object = WholeModel(load_model("rank_curve"), *rest)(0, 0)
    assert true.keys() == of_object[0].keys()
    np.testing.assert_array_equal(drawn["p"], of_object[1]["p"])


def test_a_model_or_method_that_is_none(judgments):
    rest = judgments, 2, Sampling(draws=25, chains=1)
    with pytest.raises(InputError, match="unknown model 'rank_curv'"):
        WholeModel("rank_curv", "laplace", *rest)
    with pytest.raises(InputError, match="rank_curve has no method 'gibbs'"):
        WholeModel("rank_curve", "gibbs", *rest)
    with pytest.raises(InputError, match="no model"):
        WholeModel(3, "laplace", *rest)


def test_there_are_as_many_simulations_as_the_model_has(judgments, monkeypatch):
    model = WholeModel("rank_curve", "laplace", judgments, 3, Sampling(draws=10, chains=1))
    with pytest.raises(InputError, match=r"simulations is 4, and WholeModel has 3; leave it out"):
        simulation_based_calibration(model, simulations=4)
    monkeypatch.setattr(
        WholeModel, "__call__", lambda *_: ({"x": np.float64(0)}, {"x": np.zeros(9)})
    )
    assert simulation_based_calibration(model).simulations == 3
    assert simulation_based_calibration(model, simulations=2).simulations == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rtc_bayes.errors.FitWarning")
def test_hierarchical_by_laplace(judgments):
    model = load_model("hierarchical")
    simulator = WholeModel(model, "laplace", judgments, 150, Sampling(draws=199, chains=1))
    outcome = simulation_based_calibration(simulator, simulations=150, seed=1)
    assert {"mu", "p[0]", "alpha[2]", "log_s[0]"} <= set(outcome.ranks)
    assert outcome.p_value > 0.005, outcome.p_values()
