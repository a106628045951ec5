"""The three layers as one model: density and graph, the paper's limit, PyMC and ArviZ on a fit."""

import ctypes
import warnings

import numpy as np
import pytest
from pools import judge, make_pool, random_labels

from rtc_bayes import FitWarning, InputError, Judgments
from rtc_bayes.relevance import Sampling, fit, load_model, rank
from rtc_bayes.relevance.compiled import CompiledGraph
from rtc_bayes.relevance.fitters.graphs import find_mode, open_graph
from rtc_bayes.relevance.fitters.nuts import sample_density
from rtc_bayes.relevance.prevalence import prevalence_curves
from rtc_bayes_models.layered import Layered

pytestmark = pytest.mark.usefixtures("interpreted")

MODELS = {
    "log-odds": Layered(),
    "probabilities": Layered(
        link="probability", intercept=True, prior=(2.0, 1.5), temper="depth", meetings=5.0
    ),
}


@pytest.fixture(scope="module")
def judgments():
    return judge(make_pool(), 40, seed=1)


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]


def of_graph(density, graph, x):
    """Return the values of the graph's free variables at a point of the density."""
    named = density.parameters(x)
    return np.concatenate([np.ravel(named[v.name]) for v in graph.graph.free_RVs])


@pytest.mark.parametrize("judges", [(), ("llm",), ("one", "two")])
def test_the_density_is_the_graphs(model, judgments, judges):
    if judges:
        judgments = judgments.with_judge_labels(random_labels(judgments.pool, judges=judges))
    density, graph = model.density(judgments), open_graph(model, judgments)
    rng = np.random.default_rng(0)
    points = density.start + rng.normal(0.0, 0.5, (4, density.size))
    compiled = [density.derivative(x) for x in points]
    written = [graph.derivative(of_graph(density, graph, x), jacobian=True) for x in points]
    values = np.array([value for value, _ in compiled])
    theirs = np.array([value for value, _ in written])
    np.testing.assert_allclose(np.diff(values), np.diff(theirs), rtol=1e-9, atol=1e-9)
    for x, (_, gradient), (_, of_free) in zip(points, compiled, written, strict=True):
        np.testing.assert_allclose(np.sort(gradient), np.sort(of_free), rtol=1e-8, atol=1e-9)
        there = of_graph(density, graph, x)
        np.testing.assert_allclose(density.p(x), graph.p(there), rtol=1e-10)
        for name, value in graph.parameters(there).items():
            np.testing.assert_allclose(density.parameters(x)[name], value, rtol=1e-10, atol=1e-12)
    # second derivatives are differences of the gradient
    hessian = density.hessian(points[0])
    step = 1e-4 * rng.normal(size=density.size)
    above, below = (density.derivative(points[0] + sign * step)[1] for sign in (1.0, -1.0))
    np.testing.assert_allclose(hessian @ step, (above - below) / 2.0, rtol=1e-4, atol=1e-8)


def test_a_topics_curve_is_the_papers(judgments):
    """Whose mean is the prevalence, and whose shape R_t and N_t give."""
    for relevant, nonrelevant in ((0, 0), (3, 1), (0, 9)):
        meetings = relevant + nonrelevant + 2.0
        level = np.log((relevant + 1.0) / (nonrelevant + 1.0))
        curves = prevalence_curves(np.array([level]), np.array([meetings]), depth=20).eval()[0]
        np.testing.assert_allclose(curves[:-1], rank.solve(21, relevant, nonrelevant).q, atol=1e-6)
        assert curves[:-1].mean() == pytest.approx((relevant + 1.0) / meetings, abs=1e-6)
        assert curves[-1] == 0.0


def conditional_mode(graph, fixed):
    """Return the mode of a graph's other variables, given some."""
    import pymc as pm

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = CompiledGraph(pm.do(graph, fixed))
    mode, _ = find_mode(given, jacobian=False)
    assert mode.converged
    return given.parameters(mode.at)


@pytest.mark.parametrize("link", [pytest.param("probability", marks=pytest.mark.slow), "logodds"])
def test_in_the_limit_each_layer_is_the_papers(judgments, link):
    """Without pooling, each layer's mode given the others is that of `rtc`."""
    paper = load_model("rtc", {"smoothing": "beta", "link": link})
    reports, calibrated, aggregated = paper._layers(judgments)
    model = Layered(pooled=False, prior=(1.0, 1.0), link=link)
    graph = model.graph(judgments.pool, judgments)

    # layer 1: given that no system says anything, the topics' prevalences are what was judged
    none = np.zeros(judgments.pool.n_systems)
    levels = conditional_mode(graph, {"A": none, "B": none, "lambda": none})["logit_prevalence"]
    counts = judgments.relevant + 1.0, judgments.nonrelevant + 1.0
    np.testing.assert_allclose(levels, np.log(counts[0] / counts[1]), atol=1e-6)
    meetings = counts[0] + counts[1]
    curves = prevalence_curves(levels, meetings, judgments.pool.depth).eval()[:, :-1]
    np.testing.assert_allclose(curves, reports.curves[reports.curve_of], atol=1e-6)

    # layer 2: a system alone, with weight 1 on log-odds, is calibrated as the paper does
    by_itself = Layered(pooled=False, prior=(1.0, 1.0)).graph(judgments.pool, judgments)
    for system, alone in enumerate(np.eye(judgments.pool.n_systems)):
        mode = conditional_mode(by_itself, {"logit_prevalence": levels, "lambda": alone})
        assert mode["A"][system] == pytest.approx(calibrated.offset[system], abs=1e-6)
        assert mode["B"][system] == pytest.approx(calibrated.slope[system], abs=1e-6)

    # layer 3: given calibrated systems, they weigh what they do in the paper
    fixed = {"logit_prevalence": levels, "A": calibrated.offset, "B": calibrated.slope}
    weights = conditional_mode(graph, fixed)["lambda"]
    np.testing.assert_allclose(weights, aggregated.weights, atol=1e-6)


def test_machine_code_is_the_density(model, judgments):
    density = model.density(judgments)
    kernel, size = density.kernel, density.size
    rng = np.random.default_rng(4)
    for x in density.start + rng.normal(0.0, 0.5, (3, size)):
        gradient, value = np.empty(size), np.empty(1)
        arrays = x, gradient, value
        pointers = [array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in arrays]
        assert kernel.function.ctypes(size, *pointers, kernel.data.ctypes.data) == 0
        expected = density.derivative(x)
        assert value[0] == expected[0]
        np.testing.assert_array_equal(gradient, expected[1])
    x = np.full(size, np.nan)
    pointer = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    assert kernel.function.ctypes(size, pointer, *pointers[1:], kernel.data.ctypes.data) == 1


def scalars(values):
    """Return draws as (chains, draws, scalars)."""
    return np.asarray(values).reshape(*values.shape[:2], -1)


def held_to(exact, normal):
    """Distances of Laplace's means and sds from those of NUTS, in standard errors of both."""
    from arviz_stats.base import array_stats

    posterior, approximate = exact.posterior["posterior"], normal.posterior["posterior"]
    # a draw that importance resampling took several times counts as one
    _, times = np.unique(approximate["logit_m"], return_counts=True)
    worth = times.sum() ** 2 / (times**2).sum()
    means, sds = [], []
    for name in ("logit_m", "log_k", "logit_prevalence", "A", "B", "lambda"):
        drawn, other = scalars(posterior[name].values), scalars(approximate[name].values)
        sd = drawn.std(axis=(0, 1))
        axes = {"chain_axis": 0, "draw_axis": 1}
        effective = array_stats.ess(drawn, method="mean", **axes)
        of_sd = array_stats.ess(drawn, method="sd", **axes)
        apart = (other.mean(axis=(0, 1)) - drawn.mean(axis=(0, 1))) / sd
        means.append(apart / np.sqrt(1.0 / effective + 1.0 / worth))
        wider = other.std(axis=(0, 1)) / sd - 1.0
        sds.append(wider / np.sqrt(0.5 / of_sd + 0.5 / worth))
    return np.abs(np.concatenate(means)), np.abs(np.concatenate(sds))


# priors that leave nearly a normal: what multiplies is nearly known
NEARLY_NORMAL = {
    "m": "40:120",
    "k": "40:.05",
    "offset": "-4.6:.2",
    "slope": "7.5:.5",
    "prior": "50:50",
    "s_offset": ".2:.05",
    "s_slope": "1:.05",
    "s_weight": ".25:.05",
}


def all_methods(judgments, options):
    """Fit by NUTS, Laplace's method and at the mode."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return [
            fit(judgments.pool, judgments, model="layered", options=options, **given)
            for given in (
                {"draws": 1000, "chains": 4, "tune": 1000, "seed": 2},
                {"method": "laplace", "draws": 2000, "chains": 4, "seed": 3},
                {"method": "map"},
            )
        ]


def pareto_k(made):
    (check,) = (check for check in made.diagnostics.checks if check.name == "Pareto k")
    return check


def unjudged(made):
    """Return draws of p of what is not judged, shape (draws, documents)."""
    p = made.relevance.values
    return p.reshape(-1, p.shape[-1])[:, ~made.judgments.judged]


def test_nearly_normal_laplace_and_map_are_nuts():
    """Means and sds within standard errors, p at the mode within a quarter of its sd."""
    judgments = judge(make_pool(), 65, seed=1)
    exact, normal, point = all_methods(judgments, NEARLY_NORMAL)
    assert pareto_k(normal).value < 0.5
    assert not pareto_k(normal).note
    means, sds = held_to(exact, normal)
    # the largest of about thirty standard normals exceeds this in 1 of 500
    assert means.max() < 4.0
    assert sds.max() < 4.0
    posterior, mode = unjudged(exact), unjudged(point)[0]
    sd = posterior.std(axis=0)
    assert np.abs(unjudged(normal).mean(axis=0) - posterior.mean(axis=0)).max() < 0.1 * sd.mean()
    assert (np.abs(mode - posterior.mean(axis=0)) < 0.25 * sd).all()


def test_where_it_is_not_normal_laplace_says_so(judgments):
    """By the priors that are shipped, and it is right: its means are off, as the mode's are."""
    exact, normal, point = all_methods(judgments, {})
    assert pareto_k(normal).value > 0.7
    assert "hold them against nuts" in pareto_k(normal).note
    with pytest.warns(FitWarning, match="Pareto k"):
        fit(judgments.pool, judgments, model="layered", method="laplace", draws=2000, seed=3)
    means, sds = held_to(exact, normal)
    assert means.max() > 10.0
    assert sds.max() > 10.0
    posterior, mode = unjudged(exact), unjudged(point)[0]
    assert (np.abs(mode - posterior.mean(axis=0)) > 0.5 * posterior.std(axis=0)).any()


@pytest.mark.slow
def test_the_compiled_posterior_is_that_of_pymcs_graph(judgments):
    model, sampling = Layered(), Sampling(draws=1000, chains=4, tune=1000, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = sample_density(model.density(judgments), sampling)
        theirs = sample_density(open_graph(model, judgments), sampling)
    import arviz_stats

    for name in ("p", "logit_prevalence", "A", "B", "lambda"):
        arrays = [draws.p if name == "p" else draws.parameters[name] for draws in (ours, theirs)]
        values = [array.reshape(*array.shape[:2], -1) for array in arrays]
        errors = [
            v.std(axis=(0, 1))
            / np.sqrt(arviz_stats.base.array_stats.ess(v, chain_axis=0, draw_axis=1))
            for v in values
        ]
        apart = values[0].mean(axis=(0, 1)) - values[1].mean(axis=(0, 1))
        z = apart / np.maximum(np.hypot(*errors), 1e-9)
        # the largest of n standard normals exceeds this in 1 of 1000
        assert np.abs(z).max() < 5.0, name


@pytest.mark.parametrize("spec", ["layered:laplace", "hierarchical:laplace", "robust:gibbs"])
def test_pymc_and_arviz_take_a_fit(spec):
    import arviz as az
    import pymc as pm

    judgments = judge(make_pool(), 40, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = fit(judgments.pool, judgments, model=spec, draws=300, chains=2, seed=2)
        with made.graph():
            pm.compute_log_likelihood(made.posterior, progressbar=False)
            drawn = pm.sample_posterior_predictive(made.posterior, random_seed=1, progressbar=False)
            before = pm.sample_prior_predictive(50, random_seed=1)
        loo = az.loo(made.posterior)
    labels = drawn["posterior_predictive"]["label"]
    density = np.exp(made.posterior["log_likelihood"]["label"]).mean(("chain", "draw"))
    observed = made.posterior["observed_data"]["label"].values[: density.size]
    # how often a label is drawn is how probable it is: 600 draws each
    shares = np.where(
        observed > 0.5, labels.mean(("chain", "draw")), 1 - labels.mean(("chain", "draw"))
    )
    assert np.abs(shares - density).max() < 5.0 * np.sqrt(0.25 / 600)
    assert np.isfinite(loo.elpd)
    assert before["prior_predictive"]["label"].shape == (1, 50, density.size)


def test_a_model_of_parts_has_no_graph():
    judgments = judge(make_pool(), 40, seed=1)
    with pytest.raises(InputError, match="has no graph"):
        fit(judgments.pool, judgments, model="rtc").graph()


def test_nothing_judged_is_the_prior():
    pool = make_pool()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        made = fit(pool, Judgments.none(pool), model="layered", draws=300, chains=2, tune=300)
    mean = made.posterior["posterior"]["weight"].mean().item()
    prior = Layered().weight
    assert mean == pytest.approx(prior[0], abs=5.0 * prior[1] / np.sqrt(100))


@pytest.mark.parametrize(
    ("option", "text"),
    [("meetings", "0"), ("k", "2:0"), ("m", "0:1"), ("weight", "1:0"), ("s_slope", "-1:1")],
)
def test_options_out_of_range(option, text):
    with pytest.raises(InputError, match=option):
        load_model("layered", {option: text})
