"""A whole model calibrated by simulation from the prior of its graph."""

import numpy as np
import pytest

from rtc_bayes.calibration.simulation_based import simulation_based_calibration
from rtc_bayes.calibration.whole_model import WholeModel
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.simulate import simulate
from rtc_bayes.errors import InputError
from rtc_bayes.relevance import Sampling, load_model


@pytest.fixture(scope="module")
def judgments():
    simulated = simulate(n_topics=6, n_systems=4, documents=200, depth=30, seed=1)
    pool = Pool.from_runs(simulated.runs, depth=20)
    order = np.random.default_rng(0).choice(pool.n_documents, 80, replace=False)
    return Judgments.from_labels(pool, order, np.zeros(80))


def test_a_composite_has_no_prior(judgments):
    with pytest.raises(InputError, match="rtc is a composite"):
        WholeModel(load_model("rtc"), "cut", judgments, 10, Sampling())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rtc_bayes.errors.FitWarning")
def test_hierarchical_by_laplace(judgments):
    model = load_model("hierarchical")
    simulator = WholeModel(model, "laplace", judgments, 150, Sampling(draws=199, chains=1))
    outcome = simulation_based_calibration(simulator, simulations=150, seed=1)
    assert {"mu", "p[0]", "alpha[2]", "log_s[0]"} <= set(outcome.ranks)
    assert outcome.p_value > 0.005, outcome.p_values()
