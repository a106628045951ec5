"""Simulation-based calibration: passes exact samplers, finds wrong ones, and is uniform itself."""

import numpy as np
import pytest
from scipy.stats import kstest

from rtc_bayes.calibration.simulation_based import simulation_based_calibration
from rtc_bayes.errors import InputError
from rtc_bayes.report.calibration_figures import rank_ecdfs
from rtc_bayes.report.drawing import to_svg


def normal(scale=1.0, shift=0.0, draws=99):
    """A normal mean with a normal prior and one observation, whose posterior is known.

    `scale` and `shift` spoil the draws.
    """

    def simulate(number, seed):
        random = np.random.default_rng(seed)
        mean = random.standard_normal(2)
        data = mean + random.standard_normal(2)
        sd = scale * np.sqrt(0.5)
        return {"mean": mean}, {"mean": random.normal(data / 2 + shift, sd, size=(draws, 2))}

    return simulate


@pytest.fixture(scope="module")
def exact():
    return simulation_based_calibration(normal(), simulations=400, seed=1)


@pytest.fixture(scope="module")
def narrow():
    return simulation_based_calibration(normal(scale=0.7), simulations=400, seed=1)


def test_an_exact_sampler_passes(exact):
    assert list(exact.ranks) == ["mean[0]", "mean[1]"]
    assert exact.p_value > 0.01
    assert (exact.simulations, exact.draws) == (400, 99)
    # another test of uniformity agrees
    assert all(kstest(values, "uniform").pvalue > 0.01 for values in exact.ranks.values())


def test_a_p_value_is_called_one(exact):
    assert repr(exact).endswith(f"p-value of the uniformity of all: {exact.p_value:.2g})")


def test_too_narrow_draws_fail(narrow):
    assert narrow.p_value < 1e-6
    heaped = np.mean([np.abs(values - 0.5) > 0.45 for values in narrow.ranks.values()])
    assert heaped > 0.15


def test_draws_off_their_place_fail():
    outcome = simulation_based_calibration(normal(shift=0.3), simulations=400, seed=1)
    assert outcome.p_value < 1e-6
    assert all(values.mean() < 0.45 for values in outcome.ranks.values())


def test_the_envelope_holds_exact_ranks_and_not_others(exact, narrow):
    for result, inside in ((exact, True), (narrow, False)):
        _, difference, low, high = result.ecdf("mean[0]")
        assert bool(((low <= difference) & (difference <= high)).all()) is inside


def test_ties_are_broken_at_random():
    """Draws of a coin and a true coin: ranks are uniform only if ties are."""

    def simulate(number, seed):
        random = np.random.default_rng(seed)
        return {"coin": random.integers(2) * 1.0}, {"coin": random.integers(2, size=20) * 1.0}

    outcome = simulation_based_calibration(simulate, simulations=1000, seed=4)
    assert kstest(outcome.ranks["coin"], "uniform").pvalue > 0.01


def test_the_same_seed_gives_the_same_ranks(exact):
    again = simulation_based_calibration(normal(), simulations=400, seed=1)
    np.testing.assert_array_equal(again.ranks["mean[1]"], exact.ranks["mean[1]"])


def test_ranks_as_arviz_and_pandas_know_them(exact):
    tree = exact.to_datatree()
    assert tree["prior_sbc"]["mean[0]"].sizes == {"chain": 1, "draw": 400}
    assert len(exact.to_frame()) == 800
    assert to_svg(rank_ecdfs(exact)).startswith("<?xml")


def test_one_simulation_says_nothing():
    with pytest.raises(InputError, match="simulations is 1"):
        simulation_based_calibration(normal(), simulations=1)
