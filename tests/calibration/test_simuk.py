"""simuk, another loop of simulation-based calibration, around the compiled sampler of layer 3."""

import numpy as np
import pytest
from scipy.stats import kstest

from rtc_bayes.calibration.stages import AggregationStage

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore")
def test_simuk_finds_the_aggregation_sampler_exact(monkeypatch):
    """Weights and labels drawn by PyMC; only the posterior's draws are the compiled sampler's."""
    simuk = pytest.importorskip("simuk")
    import pymc as pm
    import xarray as xr

    from rtc_bayes.relevance.logit_beta import LogitBeta

    stage = AggregationStage(intercept=False)
    features = stage.features(np.random.default_rng(3))

    with pm.Model() as model:
        weights = LogitBeta("weights", *stage.prior, shape=stage.systems)
        pm.Bernoulli(
            "label", logit_p=weights @ features, observed=np.zeros(stage.judged, dtype=int)
        )

    def sample(*, random_seed):
        observing = pm.modelcontext(None)
        labels = observing.rvs_to_values[observing["label"]].data.astype(float)
        drawn = stage.sample(features, labels, np.random.default_rng(random_seed))
        dims = ("chain", "draw", "weights_dim_0")
        return xr.DataTree.from_dict(
            {
                "/posterior": xr.Dataset(
                    {"weights": (dims, drawn[None])}, coords={"chain": [0], "draw": range(99)}
                )
            }
        )

    calibration = simuk.SBC(model, num_simulations=300, seed=2)
    calibration.sample_kwargs = {}
    monkeypatch.setattr(pm, "sample", sample)
    calibration.run_simulations()
    ranks = calibration.simulations["prior_sbc"]["weights"].values[0]
    assert ranks.shape == (300, stage.systems)
    shares = (ranks + np.random.default_rng(1).random(ranks.shape)) / 100
    assert all(kstest(each, "uniform").pvalue > 0.01 for each in shares.T)
