"""A whole model calibrated by simulation from the prior of its graph."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from rtc_bayes.calibration.simulation_based import simulation_based_calibration
from rtc_bayes.calibration.whole_model import WholeModel, prior_draws
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.simulate import simulate
from rtc_bayes.errors import CollectionWarning, InputError
from rtc_bayes.relevance import ModelSpec, Sampling, coordinates, load_model, observe


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


def test_a_graph_that_observes_other_data_is_refused(judgments):
    """Clicks are not simulated: ranks of an exact sampler had a p-value of 1e-15."""
    import pymc as pm

    @dataclass(frozen=True)
    class Clicks:
        clicks: bool
        name: ClassVar[str] = "clicks"
        methods: ClassVar[tuple[str, ...]] = ("laplace",)
        default_method: ClassVar[str] = "laplace"

        def graph(self, pool, judgments):
            with pm.Model(coords=coordinates(pool)) as model:
                slope = pm.Normal("slope", 0, 1)
                observe(judgments, lambda rows: slope * pool.mean_reciprocal_ranks[rows])
                if self.clicks:
                    pm.Normal("clicks", slope, 1, observed=np.array([0.3, 0.1]))
            return model

    rest = "laplace", judgments, 3, Sampling(draws=10, chains=1)
    with pytest.raises(InputError, match="observes clicks, which is not made of the judgments"):
        WholeModel(Clicks(clicks=True), *rest)(0, seed=0)
    assert WholeModel(Clicks(clicks=False), *rest).prior["slope"].shape == (3,)


def test_a_prior_of_labels_in_data_and_of_what_is_discrete(judgments):
    """Drawing from a prior needs no compiled density, which takes neither."""
    import pymc as pm

    class Mixed:
        name = default_method = "mixed"
        methods = ("mixed",)

        def graph(self, pool, judgments):
            with pm.Model(coords=coordinates(pool)) as model:
                high = pm.Bernoulli("high", 0.5, dims="topic")
                p = pm.Deterministic("p", 0.2 + 0.5 * high[pool.topic_of], dims="document")
                labels = pm.Data("labels", judgments.labels[judgments.order])
                pm.Bernoulli("label", p[judgments.order], observed=labels)
            return model

    drawn = prior_draws(Mixed(), judgments, 3, seed=0)
    assert drawn["high"].shape == (3, judgments.pool.n_topics)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rtc_bayes.errors.FitWarning")
def test_hierarchical_by_laplace(judgments):
    model = load_model("hierarchical")
    simulator = WholeModel(model, "laplace", judgments, 150, Sampling(draws=199, chains=1))
    outcome = simulation_based_calibration(simulator, simulations=150, seed=1)
    assert {"mu", "p[0]", "alpha[2]", "log_s[0]"} <= set(outcome.ranks)
    assert outcome.p_value > 0.005, outcome.p_values()


def test_what_is_said_of_the_judged_documents_is_said_once(judgments):
    """It was said in each of a thousand simulations."""
    simulation = WholeModel("robust", "gibbs", judgments, 2, Sampling(draws=25, chains=1, tune=50))
    with pytest.warns(CollectionWarning, match="nothing says which systems"):
        simulation(0, seed=1)
    simulation(1, seed=2)
