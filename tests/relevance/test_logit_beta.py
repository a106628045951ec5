"""LogitBeta against scipy's beta and generalised logistic distributions, and inside models."""

import numpy as np
import pymc as pm
import pytest
from scipy import integrate, stats
from scipy.special import expit, logit

from rtc_bayes.relevance.compiled import CompiledGraph
from rtc_bayes.relevance.fitters.graphs import find_mode
from rtc_bayes.relevance.logit_beta import LogitBeta

pytestmark = pytest.mark.usefixtures("interpreted")

SHAPES = [(1.0, 1.0), (2.5, 0.5), (0.01, 0.01), (0.3, 40.0)]


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_density(a, b):
    x = np.linspace(-6, 6, 13)
    variable = LogitBeta.dist(a, b)
    q = expit(x)
    expected = stats.beta.logpdf(q, a, b) + np.log(q) + np.log1p(-q)
    np.testing.assert_allclose(pm.logp(variable, x).eval(), expected, rtol=1e-10)
    np.testing.assert_allclose(
        pm.logcdf(variable, x).eval(), stats.beta.logcdf(q, a, b), rtol=1e-9, atol=1e-12
    )


def test_it_integrates_to_one_and_has_tails():
    a, b = 0.5, 2.0
    grid = np.linspace(-80.0, 40.0, 24_001)
    density = np.exp(pm.logp(LogitBeta.dist(a, b), grid).eval())
    assert integrate.simpson(density, x=grid) == pytest.approx(1.0, abs=1e-9)
    far = pm.logp(LogitBeta.dist(a, b), np.array([-800.0, 800.0])).eval()
    constant = stats.beta.logpdf(0.5, a, b) - (a + b - 2) * np.log(0.5)
    np.testing.assert_allclose(far, [-400.0 + constant, -1600.0 + constant], rtol=1e-9)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_draws_are_of_the_density(a, b):
    """Kolmogorov and Smirnov; a shape near 0 gives log-odds that no probability holds."""
    draws = pm.draw(LogitBeta.dist(a, b, size=4000), random_seed=5)
    assert np.isfinite(draws).all()

    def below(x):
        # beyond the smallest double, P(q < e^x) = e^(ax) / (a B(a, b)); the mirror above
        log_beta = stats.beta.logpdf(0.5, a, b) - (a + b - 2) * np.log(0.5)
        low, high = np.exp(a * x + log_beta) / a, 1.0 - np.exp(-b * x + log_beta) / b
        with np.errstate(all="ignore"):
            inside = stats.beta.cdf(expit(x), a, b)
        return np.where(x < -30, low, np.where(x > 30, high, inside))

    with np.errstate(over="ignore"):
        assert stats.kstest(draws, below).pvalue > 1e-3


def test_the_mode_is_that_of_the_log_odds():
    """Not that of a beta variable seen through logit: both are the same distribution."""
    a, b = 3.0, 2.0
    with pm.Model() as log_odds:
        LogitBeta("x", a, b)
    with pm.Model() as probability:
        pm.Deterministic("x", pm.math.logit(pm.Beta("q", a, b)))
    result = []
    for graph in (log_odds, probability):
        compiled = CompiledGraph(graph)
        mode, _ = find_mode(compiled, jacobian=False)
        result.append(float(compiled.parameters(mode.at)["x"]))
    np.testing.assert_allclose(result, [np.log(a / b), logit((a - 1) / (a + b - 2))], atol=1e-7)
    assert abs(result[0] - result[1]) > 0.25


def test_in_a_model():
    """Prior and posterior predictive draws, the mode and NUTS, all against exact answers."""
    prior = np.array([[2.0, 1.0], [0.5, 0.5], [1.0, 4.0]])
    relevant, judged = np.array([7, 0, 3]), np.array([9, 2, 4])
    with pm.Model(coords={"system": list("abc")}) as model:
        x = LogitBeta("x", prior[:, 0], prior[:, 1], dims="system")
        pm.Binomial("relevant", n=judged, logit_p=x, observed=relevant)
        before = pm.sample_prior_predictive(2000, random_seed=1)
        tree = pm.sample(
            500, tune=500, chains=2, cores=1, random_seed=2, progressbar=False, quiet=True
        )
        after = pm.sample_posterior_predictive(tree, random_seed=3, progressbar=False)
    compiled = CompiledGraph(model)
    np.testing.assert_allclose(compiled.start, np.log(prior[:, 0] / prior[:, 1]))
    a, b = prior[:, 0] + relevant, prior[:, 1] + judged - relevant
    mode, _ = find_mode(compiled, jacobian=True)
    np.testing.assert_allclose(mode.at, np.log(a / b), atol=1e-7)

    def close(draws, mean, variance, effective):
        axes = tuple(range(draws.ndim - 1))
        error = np.sqrt(variance / effective)
        np.testing.assert_array_less(np.abs(draws.mean(axis=axes) - mean), 4.5 * error)

    shape = prior.sum(axis=1)
    close(
        before["prior_predictive"]["relevant"].values,
        judged * prior[:, 0] / shape,
        stats.betabinom.var(judged, *prior.T),
        2000,
    )
    moments = stats.beta.mean(a, b), stats.beta.var(a, b)
    close(expit(tree["posterior"]["x"].values), *moments, 200)
    close(
        after["posterior_predictive"]["relevant"].values,
        judged * moments[0],
        stats.betabinom.var(judged, a, b),
        200,
    )
