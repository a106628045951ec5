"""The compiled samplers of the layers of rtc, calibrated by simulation."""

import numpy as np
import pytest

from rtc_bayes.calibration.simulation_based import simulation_based_calibration
from rtc_bayes.calibration.stages import STAGES, exact_strengths
from rtc_bayes.relevance.logistic import sigmoid


@pytest.mark.parametrize("stage", STAGES)
def test_a_layer_is_sampled_exactly(stage):
    outcome = simulation_based_calibration(STAGES[stage], simulations=500, seed=7)
    assert outcome.p_value > 0.005, outcome.p_values()


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_a_layer_is_sampled_exactly_in_many_simulations(stage):
    outcome = simulation_based_calibration(STAGES[stage], simulations=2000, seed=8)
    assert outcome.p_value > 0.005, outcome.p_values()


@pytest.mark.parametrize("stage", STAGES)
def test_draws_drawn_together_are_found_out(stage):
    def spoiled(number, seed):
        true, drawn = STAGES[stage](number, seed)
        middle = {name: values.mean(axis=0) for name, values in drawn.items()}
        return true, {n: middle[n] + 0.75 * (values - middle[n]) for n, values in drawn.items()}

    assert simulation_based_calibration(spoiled, simulations=500, seed=7).p_value < 1e-4


def test_exact_strengths_against_integration():
    """Two items, 2 relevant and 1 nonrelevant: E theta over a fine grid of the density."""
    grid = np.linspace(-14, 14, 1401)
    log_share, log_rest = np.log(sigmoid(grid)), np.log(sigmoid(-grid))
    own = 3 * log_share + 2 * log_rest
    density = np.exp(own[:, None] + own[None, :]) * sigmoid(grid[:, None] - grid[None, :])
    density /= density.sum()
    expected = (density.sum(axis=1) @ grid, density.sum(axis=0) @ grid)
    random = np.random.default_rng(2)
    drawn = np.array([exact_strengths(2, 2.0, 1.0, random) for _ in range(4000)])
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - expected) < 4 * error).all()
