"""The hierarchical model: its fast fits against its graph, its edges, its calibration."""

from dataclasses import replace

import numpy as np
import pytest
from pools import judge, make_pool, pool_of
from scipy.special import expit

from rtc_bayes import InputError, Judgments
from rtc_bayes.relevance import load_model
from rtc_bayes.relevance.compiled import CompiledGraph
from rtc_bayes.relevance.effects import EffectsRegression
from rtc_bayes.relevance.interface import Sampling
from rtc_bayes.relevance.nested_laplace import NestedLaplace
from rtc_bayes_models.hierarchical import Design, Hierarchical

SAMPLING = Sampling(draws=200, chains=2, seed=1)


@pytest.fixture(scope="module")
def pool():
    return make_pool()


@pytest.fixture
def groups(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("system,group\nrun0,x\nrun1,y\nrun2,x\nrun3,y\n")
    return path


def regression(rows=60, topics=6, seed=0, soft=False):
    """Return a small regression with two groups of effects, drawn from its own prior."""
    rng = np.random.default_rng(seed)
    features = np.column_stack([np.ones(rows), rng.normal(size=(rows, 8))])
    prior = {
        "mean": np.array([-1.0, 0.5]),
        "sd": np.array([1.0, 0.5]),
        "median": np.array([1.0, 0.5, 0.7]),
        "spread": np.array([0.3, 0.4, 0.5]),
    }
    group = np.array([1, 1, 1, 2, 2, 2, 2])
    topic = rng.integers(0, topics - 1, rows)
    log_s = rng.normal(np.log(prior["median"]), prior["spread"])
    beta = rng.normal(prior["mean"], prior["sd"])
    effects = np.exp(log_s[group]) * rng.normal(size=7)
    alpha = np.exp(log_s[0]) * rng.normal(size=topics)
    p = expit(features @ np.concatenate([beta, effects]) + alpha[topic])
    labels = p if soft else (rng.random(rows) < p).astype(float)
    truth = np.concatenate([beta, log_s])
    scale_of = np.concatenate([[-1, -1], group])
    local, local_scale_of = np.ones((rows, 1)), np.array([0])
    data = (features, local, topic, topics, labels)
    kinds = {"scale_of": scale_of, "local_scale_of": local_scale_of, "df": np.full(3, np.inf)}
    return EffectsRegression(*data, **prior, **kinds), truth


@pytest.mark.parametrize("soft", [False, True])
def test_the_marginal_gradient_is_that_of_the_marginal(soft):
    data, truth = regression(soft=soft)
    fit = NestedLaplace(data)
    for log_s in (truth[2:], truth[2:] + 0.5):
        step = 1e-4 * np.eye(3)
        ahead = np.array([fit.conditional(log_s + h).log_marginal for h in step])
        behind = np.array([fit.conditional(log_s - h).log_marginal for h in step])
        slope = fit.marginal_gradient(fit.conditional(log_s))
        np.testing.assert_allclose(slope, (ahead - behind) / 2e-4, atol=1e-6)


def test_given_the_scales_a_dense_newton_step_moves_nothing():
    """Value, gradient and Hessian against differences of the log density."""
    data, truth = regression()
    fit = NestedLaplace(data)
    at = fit.conditional(truth[2:])
    x = np.concatenate([at.topics, at.columns])

    def value(points):
        return fit.log_density(at.log_scale, *np.split(points, [data.n_topics]))

    h = 1e-4
    steps = h * np.eye(len(x))
    first = (value(x[:, None] + steps) - value(x[:, None] - steps)) / (2 * h)
    np.testing.assert_allclose(first, 0.0, atol=1e-6)
    hessian = [
        (
            value(x[:, None] + steps + s[:, None])
            - value(x[:, None] - steps + s[:, None])
            - value(x[:, None] + steps - s[:, None])
            + value(x[:, None] - steps - s[:, None])
        )
        / (4 * h * h)
        for s in steps
    ]
    covariance = np.linalg.inv(-np.array(hessian))
    topics, cross, columns = at.precision.covariance()
    t = data.n_topics
    np.testing.assert_allclose(np.diag(covariance)[:t], topics, atol=1e-5)
    np.testing.assert_allclose(covariance[:t, t:], cross, atol=1e-5)
    np.testing.assert_allclose(covariance[t:, t:], columns, atol=1e-5)
    logdet = np.linalg.slogdet(covariance)[1]
    assert at.precision.log_determinant == pytest.approx(-logdet, abs=1e-3)


def test_draws_have_the_precision_of_the_mode_about_the_nearest_mean():
    """With the scales all but known: their log density has no mean slope, unlike at its mode."""
    data, truth = regression()
    data = replace(data, median=np.exp(truth[2:]), spread=np.full(3, 1e-4))
    approximation = NestedLaplace(data)
    fitted = approximation.fit()
    drawn = approximation.draw(fitted, 20_000, seed=3)
    mode = fitted.mode
    topics, _, columns = mode.precision.covariance()
    for drawn_values, variance in ((drawn.topics, topics), (drawn.columns, np.diag(columns))):
        np.testing.assert_allclose(
            drawn_values.var(0) / variance, 1.0, atol=4.5 * np.sqrt(2 / 20_000)
        )
    scale, scales = approximation.scaled(truth[2:])
    p = expit((data.columns * scales) @ drawn.columns.T + scale * drawn.topics.T[data.topic])
    residual = data.labels[:, None] - p
    sums = np.stack([residual[data.topic == t].sum(axis=0) for t in range(data.n_topics)])
    moved = 0
    prior = np.concatenate([data.sd**-2.0, np.ones(7)])
    centre = np.concatenate([data.mean, np.zeros(7)])
    for slope, drawn_values, at in (
        (scale * sums - drawn.topics.T, drawn.topics, mode.topics),
        (
            (data.columns * scales).T @ residual - (prior * (drawn.columns - centre)).T,
            drawn.columns,
            mode.columns,
        ),
    ):
        error = slope.std(axis=1) / np.sqrt(20_000)
        assert (np.abs(slope.mean(axis=1)) < 4.5 * error).all()
        moved += (
            np.abs(drawn_values.mean(0) - at) > 4.5 * drawn_values.std(0) / np.sqrt(20_000)
        ).sum()
    assert moved > 0


def test_draws_of_a_normal_posterior_weigh_the_same():
    """Rows that say nothing leave the prior, of which draws are as they should be."""
    data, _ = regression()
    median = np.append(1e-9, data.median[1:])
    silent = NestedLaplace(replace(data, columns=0.0 * data.columns, median=median))
    drawn = silent.draw(silent.fit(), 500, seed=0)
    within = [
        drawn.log_weight[(drawn.log_scale == scale).all(axis=1)]
        for scale in np.unique(drawn.log_scale, axis=0)
    ]
    assert sum(len(weights) for weights in within) == 500
    assert max(np.ptp(weights) for weights in within) < 1e-6


def test_one_regression_has_the_same_moments_by_laplace_and_by_gibbs():
    data, _ = regression(rows=200, seed=4)
    laplace, diagnostics = data.laplace(Sampling(2000, 2, seed=1))
    gibbs = data.gibbs(Sampling(4000, 1, 300, 2), sweeps=4)
    assert diagnostics.usable
    assert laplace.columns.shape == (2, 2000, 9)
    assert laplace.local.shape == (2, 2000, 6, 1)
    for name in ("columns", "local", "log_scale"):
        near, exact = (getattr(each, name).reshape(4000, -1) for each in (laplace, gibbs))
        sd = exact.std(axis=0)
        gap = (near.mean(axis=0) - exact.mean(axis=0)) / sd
        np.testing.assert_allclose(gap, 0.0, atol=0.15)
        np.testing.assert_allclose(near.std(axis=0) / sd, 1.0, atol=0.12)


@pytest.mark.parametrize(
    "change",
    [
        {"df": np.array([np.inf, 3.0, np.inf])},
        {"spread": np.array([0.3, 0.0, 0.5])},
        {"local": np.full((60, 1), 2.0)},
        {"scale_of": np.array([-1, -1, 0, 0, 0, 1, 1, 2, 2])},
    ],
    ids=["Student-t effects", "a fixed scale", "no intercept", "a scale shared with topics"],
)
def test_laplace_refuses_what_it_does_not_approximate(change):
    data = replace(regression()[0], **change)
    with pytest.raises(ValueError, match="normal effects, free scales"):
        data.map()
    with pytest.raises(ValueError, match="normal effects, free scales"):
        data.laplace(Sampling(10, 1))


@pytest.mark.slow
def test_parameters_drawn_from_the_prior_are_covered():
    """Ranks of the truth among draws are uniform where data come from the model."""
    replicates, draws = 50, 99
    ranks = []
    for seed in range(replicates):
        data, truth = regression(rows=150, seed=100 + seed)
        fit = NestedLaplace(data)
        drawn = fit.draw(fit.fit(), draws, seed)
        below = np.column_stack([drawn.columns[:, :2], drawn.log_scale]) < truth
        ranks.append((below.sum(axis=0) + 0.5) / (draws + 1))
    # of a uniform rank: mean 1/2 with variance 1/12, variance 1/12 with variance 1/180
    ranks = np.array(ranks)
    np.testing.assert_allclose(ranks.mean(0), 0.5, atol=3.5 * np.sqrt(1 / 12 / replicates))
    spread = ((ranks - 0.5) ** 2).mean(0)
    np.testing.assert_allclose(spread, 1 / 12, atol=3.5 * np.sqrt(1 / 180 / replicates))


def test_the_fast_fit_is_that_of_the_graph(groups):
    """Density everywhere; gradient, Hessian and p at the mode given the scales."""
    pool = make_pool(topics=3, depth=8)
    judgments = judge(pool, 25)
    model = Hierarchical(groups=str(groups))
    fitted = model.map(judgments)
    fit = NestedLaplace(Design(model, judgments).regression)
    mode = fit.fit().mode
    graph = CompiledGraph(model.graph(pool, judgments))
    free = np.full(graph.size, True)
    free[3 : 3 + len(mode.log_scale)] = False

    def point(log_s, topics, columns):
        """Line the unknowns up as the graph does: coefficients, scales, topics, effects."""
        return np.concatenate([columns[:3], log_s, topics, columns[3:]])

    at = point(mode.log_scale, mode.topics, mode.columns)
    _, gradient = graph.derivative(at, jacobian=True)
    np.testing.assert_allclose(gradient[free], 0.0, atol=1e-6)
    np.testing.assert_allclose(graph.p(at), fitted.p, atol=1e-9)
    covariance = np.linalg.inv(-graph.hessian(at, jacobian=True)[np.ix_(free, free)])
    topics, cross, columns = mode.precision.covariance()
    is_topic = np.zeros(len(covariance), dtype=bool)
    is_topic[3 : 3 + pool.n_topics] = True
    np.testing.assert_allclose(np.diag(covariance)[is_topic], topics, atol=1e-6)
    np.testing.assert_allclose(covariance[np.ix_(is_topic, ~is_topic)], cross, atol=1e-6)
    np.testing.assert_allclose(covariance[np.ix_(~is_topic, ~is_topic)], columns, atol=1e-6)

    rng = np.random.default_rng(2)
    sizes = [len(part) for part in (mode.log_scale, mode.topics, mode.columns)]
    points = [[rng.normal(size=size) for size in sizes] for _ in range(5)]
    ours = [fit.log_density(s, t[:, None], c[:, None])[0] for s, t, c in points]
    theirs = [graph.log_density(point(*each), jacobian=True) for each in points]
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), atol=1e-6)
    parameters = graph.parameters(at)
    for name in ("mu", "m_b", "alpha", "b", "site_a", "log_s"):
        np.testing.assert_allclose(parameters[name], fitted.parameters[name], atol=1e-9)


def edges():
    pool = make_pool()
    some = judge(pool, 20)
    last = pool.documents(pool.n_topics - 1)
    unseen = np.setdiff1d(np.arange(pool.n_documents), pool.ranked[: pool.list_starts[5]])
    return {
        "none": Judgments.none(pool),
        "one": Judgments.from_labels(pool, [7], [1.0]),
        "all relevant": Judgments.from_labels(pool, some.order, np.ones(20)),
        "all nonrelevant": Judgments.from_labels(pool, some.order, np.zeros(20)),
        "noisy": Judgments.from_labels(pool, some.order, np.linspace(0, 1, 20)),
        "topic without": Judgments.from_labels(pool, range(last.start), np.arange(last.start) % 2),
        "system without": Judgments.from_labels(pool, unseen[:10], [0, 1] * 5),
        "every document": judge(pool, pool.n_documents),
        "one system, one topic": judge(make_pool(systems=1, topics=1), 5),
    }


@pytest.mark.filterwarnings("ignore::rtc_bayes.errors.FitWarning")
@pytest.mark.parametrize("name", edges())
def test_edges(name, check_estimate):
    for method in ("map", "laplace"):
        check_estimate(load_model("hierarchical"), method, edges()[name], SAMPLING)


def test_without_judgments_the_posterior_is_the_prior(pool):
    model = Hierarchical()
    fitted = model.laplace(Judgments.none(pool), Sampling(draws=2000, chains=2, seed=0))
    for name in ("mu", "m_a", "m_b"):
        mean, sd = getattr(model, name)
        assert fitted.parameters[name].mean() == pytest.approx(mean, abs=4 * sd / np.sqrt(4000))
        assert fitted.parameters[name].std() == pytest.approx(sd, rel=4 / np.sqrt(8000))
    (check,) = fitted.diagnostics.checks
    assert not check.note


def test_a_topic_or_system_without_judgments_is_less_known(pool):
    here = [d for t in range(4) for d in range(pool.n_documents)[pool.documents(t)]]
    without = set(pool.ranked[pool.list_starts[3 * pool.n_topics] :].tolist())
    judged = [d for d in here if d not in without]
    judgments = Judgments.from_labels(pool, judged, np.arange(len(judged)) % 3 == 0)
    fitted = Hierarchical().laplace(judgments, Sampling(draws=500, chains=2)).parameters
    for name, worst in (("alpha", 4), ("a", 3)):
        assert fitted[name].std(axis=(0, 1)).argmax() == worst


def test_duplicate_systems_are_alike_and_order_is_nothing():
    pool = make_pool(systems=3)
    lists = {
        name: {
            topic: pool.docnos[pool.ranking(s, t)].tolist() for t, topic in enumerate(pool.topics)
        }
        for name, s in (("a", 0), ("b", 1), ("c", 2), ("a2", 0))
    }

    def fitted(names):
        judgments = judge(pool, 30).on(pool_of({name: lists[name] for name in names}, depth=12))
        result = Hierarchical().map(judgments)
        return result.p, dict(zip(names, result.parameters["b"], strict=True))

    p, b = fitted(["a", "b", "c", "a2"])
    other, b2 = fitted(["c", "a2", "b", "a"])
    assert b["a"] == pytest.approx(b["a2"], abs=1e-9)
    assert b2["b"] == pytest.approx(b["b"], abs=1e-5)
    np.testing.assert_allclose(p, other, atol=1e-5)


def test_draws_are_repeatable_and_differ_by_seed(pool):
    judgments = judge(pool, 30)
    first, same, other = (
        Hierarchical().laplace(judgments, Sampling(draws=50, chains=2, seed=seed)).p
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    assert first.shape == (2, 50, pool.n_documents)
    assert first.dtype == np.float32


def test_sites_share_what_their_systems_have_in_common(pool, groups):
    fitted = Hierarchical(groups=str(groups)).map(judge(pool, 40))
    assert fitted.dims["site_a"] == ("site",)
    assert list(fitted.coords["site"]) == ["x", "y"]
    assert list(fitted.coords["scale"]) == ["alpha", "a", "b", "site_a", "site_b"]
    # under the same prior a site's effect is the sum of its systems' effects, scales apart
    scale = dict(zip(fitted.coords["scale"], np.exp(fitted.parameters["log_s"]), strict=True))
    of_systems = fitted.parameters["b"][[0, 2]].sum() / scale["b"] ** 2
    assert fitted.parameters["site_b"][0] / scale["site_b"] ** 2 == pytest.approx(of_systems)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,group\nrun0,x\n", r"groups.csv: no group for run1"),
        ("system,group\nrun0,x,y\n", "groups.csv:2: 3 fields"),
        ("run0,x\nrun0,y\n", "groups.csv:2: .*run0"),
        (None, "no such file"),
    ],
)
def test_groups_that_cannot_be_read(pool, tmp_path, text, message):
    path = tmp_path / "groups.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=message):
        Hierarchical(groups=str(path)).map(Judgments.none(pool))


@pytest.mark.parametrize(
    ("option", "value"), [("mu", "0:0"), ("s_a", "0:1"), ("m_b", "1:-1"), ("s_alpha", "1:0")]
)
def test_priors_without_spread(option, value):
    with pytest.raises(InputError, match=f"option {option} of model hierarchical"):
        load_model("hierarchical", {option: value})
