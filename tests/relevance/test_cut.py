"""The modular posterior, against exact identities, quadrature, Polya-Gamma Gibbs and NUTS."""

import numpy as np
import pytest
from arviz_stats.base import array_stats
from pools import pool_of
from relevance.polya_gamma import gibbs, moments
from scipy.optimize import approx_fprime
from scipy.special import expit, log_expit, logsumexp

from rtc_bayes import FitError, InputError, Judgments
from rtc_bayes.relevance import Sampling, estimate, load_model
from rtc_bayes.relevance.cut import hmc, normal, posterior, ranks, targets
from rtc_bayes.relevance.rank import self_report
from rtc_bayes.relevance.system_calibration import calibrate


def draws(judgments, sampling=None, **options):
    sampling = sampling or Sampling(draws=250)
    return load_model("rtc", options).cut(judgments, sampling)


def standard_errors(actual, expected):
    """How many Monte Carlo standard errors two sets of chains lie apart, in mean and in sd."""
    apart = []
    for statistic in (lambda x, m: x, lambda x, m: (x - m) ** 2):
        centre = expected.mean(axis=(0, 1))
        values = [statistic(x, centre) for x in (actual, expected)]
        variance = 0.0
        for x in values:
            ess = array_stats.ess(x, method="mean", chain_axis=0, draw_axis=1)
            variance = variance + x.var(axis=(0, 1)) / np.minimum(ess, x[..., 0].size)
        apart.append(np.abs(np.subtract(*[x.mean(axis=(0, 1)) for x in values])) / variance**0.5)
    return np.array(apart)


# The compiled densities


@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_density_of_layer_1(weight):
    items, wins, meetings = 40, 2.5, 7.0
    theta = np.random.default_rng(0).normal(0, 3, items)

    def literal(theta):
        pairs = sum(log_expit(theta[r] - theta[r + 1 :]).sum() for r in range(items))
        own = wins * log_expit(theta) + (meetings - wins) * log_expit(-theta)
        return weight * pairs + own.sum()

    gradient, work = np.empty(items), np.empty((3, items))
    target = targets.RankTarget(weight, wins, meetings)
    value = targets.rank_density(target, theta, work, gradient, True)
    assert value == pytest.approx(literal(theta), rel=1e-12)
    np.testing.assert_allclose(gradient, approx_fprime(theta, literal), atol=1e-3)
    again = np.empty(items)
    assert targets.rank_density(target, theta, work, again, False) == 0.0
    np.testing.assert_allclose(again, gradient, rtol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 3.0, 300.0])
def test_density_of_layers_2_and_3(scale):
    random = np.random.default_rng(1)
    features, x = random.random((4, 30)), random.normal(0, scale, 4)
    weight = random.random(30)
    relevant = weight * random.random(30)
    target = targets.LogisticTarget(features, relevant, weight, 0.5, 2.0)

    def literal(x):
        eta = x @ features
        data = relevant @ log_expit(eta) + (weight - relevant) @ log_expit(-eta)
        return data + 0.5 * log_expit(x).sum() + 2.0 * log_expit(-x).sum()

    gradient, work = np.empty(4), np.empty((3, 30))
    value = targets.logistic_density(target, x, work, gradient, True)
    assert value == pytest.approx(literal(x), rel=1e-12)
    p = expit(x @ features)
    exact = features @ (relevant - weight * p) + 0.5 - 2.5 * expit(x)
    np.testing.assert_allclose(gradient, exact, atol=1e-11)


def test_root_of_a_precision():
    random = np.random.default_rng(2)
    half = random.normal(size=(6, 9))
    precision, spread = half @ half.T, np.empty((6, 6))
    inverse = np.linalg.inv(precision)
    normal.inverse_root(precision, spread)
    np.testing.assert_allclose(spread @ spread.T, inverse, rtol=1e-9, atol=1e-12)
    assert (np.tril(spread, -1) == 0).all()


# The samplers against oracles


def one_draw_each(features, relevant, weight, prior, count, seed):
    """Draw as layers 2 and 3 do, each draw a short chain of its own."""
    n, rows = features.shape
    target = targets.LogisticTarget(features, relevant, weight, *prior)
    centre, precision, spread = np.zeros(n), np.eye(n), np.empty((n, n))
    work, out, stats = np.empty((4, rows)), np.empty((count, n)), np.zeros(2)
    random = np.random.default_rng(seed)
    for m in range(count):
        normal.approximate(target, centre, precision, spread, work)
        hmc.chain(
            target,
            centre,
            spread,
            work,
            random.standard_normal((posterior.TRANSITIONS + 1, n)),
            random.random((posterior.TRANSITIONS, 2)),
            *hmc.leapfrog(n),
            posterior.TRANSITIONS,
            out[m : m + 1],
            stats,
        )
    return out, stats[0] / count


@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.5, 3.0), (0.01, 0.01)])
@pytest.mark.parametrize("count", [0, 1, 8])
def test_two_coefficients_against_quadrature(count, prior):
    """Few judgments and weak priors, where the posterior is far from normal."""
    random = np.random.default_rng(3)
    features = np.vstack([np.ones(count), random.random(count)])
    labels = np.tile([0.3, 0.6], 4)[:count]
    result, accepted = one_draw_each(features, labels, np.ones(count), prior, 4000, 4)
    assert accepted > 0.5

    # tails fall at least as exp(-min(prior) |x|)
    ends = 25.0 / min(prior) ** 0.9
    axis = np.sinh(np.linspace(-1, 1, 1201) * np.arcsinh(ends))
    step = np.log(np.gradient(axis))
    a, b = axis[:, None], axis[None, :]
    log_p = step[:, None] + step[None, :]
    for x in (a, b):
        log_p = log_p + prior[0] * log_expit(x) + prior[1] * log_expit(-x)
    for q, label in zip(features[1], labels, strict=True):
        log_p = log_p + label * log_expit(a + b * q) + (1 - label) * log_expit(-a - b * q)
    log_p -= logsumexp(log_p)
    cumulative = np.cumsum(np.exp(log_p).sum(axis=1)), np.cumsum(np.exp(log_p).sum(axis=0))
    for values, below in zip(result.T, cumulative, strict=True):
        for share in (0.025, 0.25, 0.5, 0.75, 0.975):
            point = np.interp(share, below, axis)
            error = np.sqrt(share * (1 - share) / len(values))
            # what is left of the start after the transitions is under two points in a hundred
            assert abs((values < point).mean() - share) < 4 * error + 0.02


def test_moments_of_the_oracles_variables():
    weight, eta = np.array([1.0, 2.0]), np.array([0.01, 3.0])
    k = np.arange(200_000) + 0.5
    scale = 1 / (2 * np.pi**2 * (k**2 + (eta[:, None] / (2 * np.pi)) ** 2))
    mean, variance = moments(weight, eta)
    np.testing.assert_allclose(mean, weight * scale.sum(axis=1), rtol=1e-4)
    np.testing.assert_allclose(variance, weight * (scale**2).sum(axis=1), rtol=1e-4)


def test_aggregation_against_polya_gamma(new_pool, new_judgments):
    judgments = new_judgments(new_pool(systems=4, topics=4, depth=8, documents=20), 30)
    model = load_model("rtc", {"smoothing": "platt", "propagate": "aggregation"})
    reports = self_report(judgments)
    calibration = calibrate(reports, smoothing="platt")
    entries, unranked = calibration.log_odds(reports)
    features = reports.judged(expit(entries), expit(unranked))
    fitted = model.cut(judgments, Sampling(draws=1000)).parameters["lambda"]
    oracle = np.stack(
        [gibbs(features, reports.labels, np.ones(30), (1.0, 1.0), 1500, seed) for seed in (5, 6)]
    )
    assert standard_errors(fitted, oracle).max() < 4


@pytest.mark.parametrize("temper", ["none", "depth"])
@pytest.mark.parametrize(("relevant", "nonrelevant"), [(0.0, 0.0), (3.0, 1.0), (0.4, 12.0)])
def test_layer_1_meets_its_exact_identities(relevant, nonrelevant, temper):
    """Integration by parts: E gradient = 0, E theta_r gradient_r = -1, so E mean q* is known."""
    items, work = 13, np.empty((3, 13))
    result = ranks.sample(items, relevant, nonrelevant, temper, 4, 1500, 7)
    assert result.acceptance > 0.6
    weight = 1.0 if temper == "none" else 1 / items
    target = targets.RankTarget(weight, relevant + 1, relevant + nonrelevant + 2)
    theta = result.theta.astype(float)
    gradient = np.empty_like(theta)
    for c in range(4):
        for m in range(1500):
            targets.rank_density(target, theta[c, m], work, gradient[c, m], False)
    q = expit(theta).mean(axis=2, keepdims=True) - (relevant + 1) / (relevant + nonrelevant + 2)
    for zero in (gradient, theta * gradient + 1, q):
        ess = array_stats.ess(zero, method="mean", chain_axis=0, draw_axis=1)
        error = zero.std(axis=(0, 1)) / np.sqrt(np.minimum(ess, 6000))
        assert (np.abs(zero.mean(axis=(0, 1))) < 4 * error).all()
    ess = array_stats.ess(theta, method="bulk", chain_axis=0, draw_axis=1)
    assert ess.min() > 0.4 * 6000


# The modular posterior


@pytest.mark.parametrize(
    "options", [{}, {"intercept": True, "link": "logodds"}, {"smoothing": "platt"}], ids=str
)
def test_nothing_carried_is_the_map(judgments, options):
    result = draws(judgments, Sampling(draws=3, chains=2), propagate="none", **options)
    expected = load_model("rtc", options).map(judgments)
    np.testing.assert_allclose(
        result.values, np.tile(expected.p.astype(np.float32), (6, 1)), rtol=2e-7
    )
    for name, values in expected.parameters.items():
        same = result.parameters[name]
        np.testing.assert_array_equal(same, np.broadcast_to(values, same.shape).astype(same.dtype))
    assert not result.sample_stats
    assert not result.diagnostics.checks


@pytest.mark.parametrize("options", [{}, {"intercept": True, "link": "logodds"}], ids=str)
def test_probabilities_are_those_of_the_parameters(judgments, options):
    result = draws(judgments, Sampling(draws=60, chains=2), **options)
    pool = judgments.pool
    assert result.p.shape == (2, 60, pool.n_documents)
    assert result.p.dtype == np.float32
    for c, m in ((0, 3), (1, 57)):
        one = {name: values[c, m] for name, values in result.parameters.items()}
        q = np.zeros((pool.n_documents, pool.n_systems))
        for s in range(pool.n_systems):
            for t in range(pool.n_topics):
                ranking = pool.ranking(s, t)
                q[ranking, s] = expit(one["theta"][t, : len(ranking)])
        eta = one["A"] + one["B"] * q
        features = eta if options else expit(eta)
        p = expit(features @ one["lambda"] + one["lambda_0"])
        np.testing.assert_allclose(result.p[c, m], p, atol=1e-5)


def test_a_layer_that_is_not_carried_stays_at_its_mode(judgments):
    mode = load_model("rtc").map(judgments).parameters
    for layer, own in {
        "rank": ("theta",),
        "calibration": ("A", "B"),
        "aggregation": ("lambda",),
    }.items():
        result = draws(judgments, Sampling(draws=20, chains=1), propagate=layer).parameters
        for name in ("theta", "A", "B", "lambda"):
            moved = np.ptp(result[name], axis=1).max() > 1e-3
            assert moved == (name in own)
            if not moved:
                np.testing.assert_allclose(result[name][0, 0], mode[name], rtol=1e-6)


def test_topics_that_share_a_curve_are_independent(new_pool):
    judgments = Judgments.none(new_pool(topics=6))
    theta = draws(judgments, propagate="rank").parameters["theta"].reshape(-1, 6, 13)
    correlation = np.corrcoef(theta[:, :, 0].T)[np.triu_indices(6, 1)]
    assert np.abs(correlation).max() < 4 / np.sqrt(1000)
    np.testing.assert_allclose(np.sort(theta[:250, 0], axis=0), np.sort(theta[:250, 5], axis=0))


def test_same_seed_same_draws(judgments):
    sampling = Sampling(draws=30, chains=2, seed=3)
    first = draws(judgments, sampling)
    ranks.sample.cache_clear()
    np.testing.assert_array_equal(first.p, draws(judgments, sampling).p)
    other = draws(judgments, Sampling(draws=30, chains=2, seed=4))
    assert np.abs(first.p - other.p).max() > 0.01


def test_cells_leave_layer_2_almost_certain(new_pool, new_judgments):
    """Thousands of pseudo-judgments: the posterior of A_j and B_j is almost a point."""
    judgments = new_judgments(new_pool(systems=3, topics=40, depth=50, documents=120), 80)
    cells = draws(judgments).parameters
    platt = draws(judgments, smoothing="platt").parameters
    assert cells["A"].std(axis=(0, 1)).max() < 0.1
    assert cells["B"].std(axis=(0, 1)).max() < 0.2
    assert platt["A"].std(axis=(0, 1)).min() > 0.2


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("smoothing", ["cells", "beta", "platt"])
def test_hardly_any_judgment(pool, new_judgments, count, smoothing):
    result = draws(new_judgments(pool, count), smoothing=smoothing)
    assert np.isfinite(result.p).all()
    assert result.diagnostics.usable
    if count == 0:
        weights = result.parameters["lambda"]
        # the prior: a logistic distribution, of standard deviation pi / sqrt(3)
        error = np.pi / np.sqrt(3) * np.sqrt((4.2 - 1) / 4 / weights.shape[1] / 4)
        np.testing.assert_allclose(weights.std(axis=(0, 1)), np.pi / np.sqrt(3), atol=4 * error)


def test_twin_systems_and_one_without_judged_documents():
    lists = {"a": "x1 x2 x3 x4", "b": "x1 x2 x3 x4", "c": "x5 x6 x7"}
    pool = pool_of({name: {"1": text.split()} for name, text in lists.items()}, depth=4)
    judgments = Judgments.from_labels(pool, range(4), [1.0, 0.0, 1.0, 0.0])
    for link in ("probability", "logodds"):
        result = draws(judgments, Sampling(draws=1000), smoothing="beta", link=link)
        assert result.diagnostics.usable
        a, b = (result.parameters["lambda"][..., s][..., None] for s in (0, 1))
        assert standard_errors(a, b).max() < 4


def test_checks_are_stated(judgments):
    result = draws(judgments, Sampling(draws=500))
    names = [check.name for check in result.diagnostics.checks]
    assert [name.rpartition(" ")[2] for name in names[:3]] == ["rank", "calibration", "aggregation"]
    assert all(check.value > 0.6 for check in result.diagnostics.checks[:3])
    assert any(name.startswith("bulk ESS") for name in names)
    assert result.sample_stats["diverging"].shape == (4, 500)


def test_draws_of_which_hardly_any_is_accepted_are_refused(judgments, monkeypatch):
    monkeypatch.setattr(posterior, "leapfrog", lambda dimension: (2, 6.0))
    with pytest.raises(FitError, match=r"must not be used.*layer aggregation \S+ \(FAILED: below"):
        estimate(load_model("rtc"), "cut", judgments, Sampling(draws=50))


def test_options():
    with pytest.raises(InputError, match="folds of model rtc is '5'; give 0: an average of five"):
        draws(Judgments.none(pool_of({"a": {"1": ["x"]}})), folds=5)
    assert load_model("rtc", {"propagate": "rank:aggregation"}).propagate == (
        "rank",
        "aggregation",
    )
    assert load_model("rtc", {"propagate": "none"}).propagate == ()
    for wrong in ("rank:rank", "ranks"):
        with pytest.raises(InputError, match="propagate of model rtc"):
            load_model("rtc", {"propagate": wrong})


# NUTS


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", ["cells", "beta"])
def test_every_layer_against_nuts_of_its_graph(new_pool, new_judgments, smoothing):
    import pymc as pm

    judgments = new_judgments(new_pool(systems=4, topics=5, depth=8, documents=20), 30)
    names = {"rank": ["theta"], "calibration": ["A", "B"], "aggregation": ["lambda"]}
    graphs = load_model("rtc", {"smoothing": smoothing}).stages(judgments)
    _, first = np.unique(
        np.column_stack([judgments.relevant, judgments.nonrelevant]), axis=0, return_index=True
    )
    for (layer, parameters), graph in zip(names.items(), graphs.values(), strict=True):
        with graph:
            nuts = pm.sample(
                1500, tune=1000, chains=2, cores=1, random_seed=8, progressbar=False
            ).posterior
        result = draws(judgments, Sampling(draws=1500), smoothing=smoothing, propagate=layer)
        for name in parameters:
            ours, theirs = result.parameters[name].astype(float), nuts[name].values
            if name == "theta":
                ours = ours[:, :, first]
            flat = [x.reshape(*x.shape[:2], -1) for x in (ours, theirs)]
            assert standard_errors(*flat).max() < 4, name
