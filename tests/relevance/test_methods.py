"""Laplace and NUTS of a model in one file, from draws to comparison, judging and trials."""

import json
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from pools import POOL_ALONE
from scipy.special import expit, logit
from scipy.stats import poisson

from rtc_bayes import Fit, FitError, FitWarning, InputError, Judgments, compare, fit
from rtc_bayes.cli import main
from rtc_bayes.collection import read_qrels
from rtc_bayes.collection.relevance import spaced
from rtc_bayes.collection.simulate import simulate, write
from rtc_bayes.measures import moments
from rtc_bayes.relevance import (
    Check,
    Diagnostics,
    Draws,
    PointEstimate,
    Sampling,
    estimate,
    load_model,
)
from rtc_bayes.relevance.fitters.checks import mixing_checks, pareto_check, r_hat_limit
from rtc_bayes.relevance.fitters.laplace import resample, smoothed_weights

pytestmark = pytest.mark.filterwarnings("ignore::rtc_bayes.FitWarning")


@pytest.fixture(scope="module")
def small(new_pool, new_judgments):
    return new_judgments(new_pool(systems=3, topics=4, depth=8, documents=20), 40)


@pytest.fixture(scope="module")
def fits(model_text, small, tmp_path_factory):
    """Fit the documentation's model by every method."""
    path = tmp_path_factory.mktemp("model") / "best_rank.py"
    path.write_text(model_text)
    counts = {"laplace": {"draws": 2000, "chains": 2}, "nuts": {"draws": 700, "chains": 2}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return {
            method: fit(
                small.pool, small, model=str(path), method=method, seed=4, **counts.get(method, {})
            )
            for method in ("map", "laplace", "nuts")
        }


def test_laplace_agrees_with_nuts(fits):
    """Means and spreads of log-odds within five standard errors and a tenth of the spread."""
    normal, exact = (fits[method].relevance.values for method in ("laplace", "nuts"))
    judged = fits["nuts"].judgments.judged
    normal, exact = logit(normal[:, ~judged]), logit(exact[:, ~judged])
    error = 5 * exact.std(axis=0) / np.sqrt(200) + 0.1 * exact.std(axis=0)
    np.testing.assert_array_less(np.abs(normal.mean(axis=0) - exact.mean(axis=0)), error)
    np.testing.assert_array_less(np.abs(normal.std(axis=0) - exact.std(axis=0)), error)


@pytest.mark.parametrize("method", ["laplace", "nuts"])
def test_what_a_fit_by_draws_holds(fits, small, method):
    fitted = fits[method]
    p = fitted.relevance.probability
    assert p.dtype == np.float32
    assert p.dims == ("chain", "draw", "document")
    assert p.sizes["chain"] * p.sizes["draw"] <= 1000
    posterior, stats = fitted.posterior["posterior"], fitted.posterior["sample_stats"]
    assert posterior["topic_level"].dims == ("chain", "draw", "topic")
    assert tuple(posterior["topic"].values) == small.pool.topics
    assert stats["lp"].dims == ("chain", "draw")
    assert set(fitted.posterior) == {"posterior", "sample_stats", "observed_data", "constant_data"}
    assert "p" not in posterior
    # p of a draw is that draw's parameters'
    draw = int(p["draw"].values[-1])
    at = posterior.dataset.isel(chain=1, draw=draw)
    best = np.full(small.pool.n_documents, small.pool.depth + 1.0)
    for t in range(small.pool.n_topics):
        ranks = small.pool.ranks(t)
        best[small.pool.documents(t)] = np.where(ranks > 0, ranks, 9).min(axis=0)
    eta = float(at["base"]) + at["topic_level"].values[small.pool.topic_of]
    expected = expit(eta - float(at["slope"]) * np.log(best))
    np.testing.assert_allclose(
        p.values[1, -1], np.where(small.judged, small.labels, expected), rtol=1e-5
    )
    # and its log density is the one that the sampler reports, up to a constant of all draws
    eta = posterior["base"].values[..., None] + (
        posterior["topic_level"].values[..., small.pool.topic_of]
        - posterior["slope"].values[..., None] * np.log(best)
    )
    eta, y = eta[..., small.order], small.labels[small.order]
    density = (y * eta - np.log1p(np.exp(eta))).sum(axis=-1) - 0.5 * (
        (posterior["base"].values / 2) ** 2
        + posterior["slope"].values ** 2
        + (posterior["topic_level"].values ** 2).sum(axis=-1)
    )
    assert np.ptp(density - stats["lp"].values) < 1e-8


@pytest.mark.parametrize("ending", ["nc", "zarr"])
@pytest.mark.parametrize("method", ["map", "laplace", "nuts"])
def test_saved_and_loaded(fits, tmp_path, method, ending):
    fitted, path = fits[method], tmp_path / f"fit.{ending}"
    fitted.save(path)
    fitted.save(path)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    loaded = Fit.load(path)
    for attribute in ("model", "method", "options", "sampling", "digest", "diagnostics"):
        assert getattr(loaded, attribute) == getattr(fitted, attribute)
    assert loaded.build() == fitted.build()
    assert loaded.build().spread == 1.0
    assert loaded.relevance.probability.dtype == fitted.relevance.probability.dtype
    np.testing.assert_array_equal(loaded.relevance.values, fitted.relevance.values)
    np.testing.assert_array_equal(
        loaded.relevance.probability["draw"], fitted.relevance.probability["draw"]
    )
    assert set(loaded.posterior) == set(fitted.posterior)
    for group in set(fitted.posterior) - {"constant_data"}:
        for name, variable in fitted.posterior[group].data_vars.items():
            stored = loaded.posterior[group][name]
            assert (stored.dims, stored.dtype.kind) == (variable.dims, variable.dtype.kind)
            np.testing.assert_array_equal(stored.values, variable.values)
    assert loaded.judgments.pool.systems == fitted.judgments.pool.systems


def test_the_variance_of_a_difference_has_two_parts(fits):
    """The mean of the draws' variances, and the variance of their means."""
    fitted = fits["laplace"]
    pool, p = fitted.judgments.pool, fitted.relevance.values[:100]
    drawn = type(fitted.relevance).from_values(pool, p[None])
    comparison = compare(pool, drawn, POOL_ALONE, form="normal")
    table = moments(pool, p)
    unjudged = table.difference_variance.mean(axis=0)
    parameters = table.difference_expected.var(axis=0)
    np.testing.assert_allclose(comparison.variance_unjudged, unjudged, rtol=1e-12)
    np.testing.assert_allclose(comparison.variance_parameters, parameters, rtol=1e-12)
    np.testing.assert_allclose(comparison.sd_difference**2, unjudged + parameters, rtol=1e-12)
    assert (parameters > 0).all()
    each = [
        compare(pool, type(fitted.relevance).from_values(pool, one), POOL_ALONE, form="normal")
        for one in p[:5]
    ]
    first = type(fitted.relevance).from_values(pool, p[None, :5])
    np.testing.assert_allclose(
        compare(pool, first, POOL_ALONE, form="normal").p_less,
        np.mean([one.p_less for one in each], axis=0),
    )


def test_the_same_seed_gives_the_same_draws(model_file, small):
    draws = [
        estimate(
            load_model(model_file), "laplace", small, Sampling(draws=50, chains=2, seed=seed)
        ).p
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).any()


def test_draws_are_for_methods_that_draw(small):
    for name in ("draws", "chains", "tune"):
        with pytest.raises(InputError, match="are for methods that draw, not for 'map'"):
            fit(small.pool, small, model="rtc", **{name: 10})
    with pytest.raises(InputError, match="draws is 0; give a whole number of at least 1"):
        Sampling(draws=0)


@pytest.mark.parametrize("model", ["hierarchical", "rank_curve"])
def test_too_few_draws_of_laplace_are_said_so(model, small):
    with pytest.raises(FitError, match=r"24 draws of all chains are too few .* at least 25"):
        estimate(load_model(model), "laplace", small, Sampling(draws=12, chains=2))


@pytest.mark.parametrize("name", ["draws", "chains", "tune", "seed"])
@pytest.mark.parametrize("value", [2.5, 4.0, True, "3", None])
def test_sampling_counts_are_whole(name, value):
    with pytest.raises(InputError, match=f"{name} is .*; give a whole number of at least"):
        Sampling(**{name: value})


class Vast:
    """A model whose numbers overflow."""

    name, methods, default_method = "vast", ("gibbs",), "gibbs"

    def gibbs(self, judgments, sampling):
        """Fail as a decomposition does."""
        raise np.linalg.LinAlgError("Matrix is not positive definite.")


def test_a_decomposition_that_fails_is_a_failed_fit(small):
    with pytest.raises(FitError, match=r"vast by gibbs broke down.*give narrower priors"):
        estimate(Vast(), None, small)


@dataclass(frozen=True)
class Given:
    """A model whose answer is given."""

    answer: Draws

    name: ClassVar[str] = "given"
    methods: ClassVar[tuple[str, ...]] = ("cut", "gibbs")
    default_method: ClassVar[str] = "cut"

    def cut(self, judgments: Judgments, sampling: Sampling) -> Draws:
        return self.answer

    gibbs = cut


def with_answer(judgments, *checks):
    p = np.full((1, 3, judgments.pool.n_documents), 0.25, dtype=np.float32)
    return Given(Draws(p, diagnostics=Diagnostics(checks=checks)))


@pytest.mark.parametrize("method", ["cut", "gibbs"])
def test_a_models_own_sampler_is_called(small, method):
    estimated = estimate(with_answer(small), method, small)
    assert isinstance(estimated, Draws)
    assert estimated.values.shape == (3, small.pool.n_documents)
    np.testing.assert_array_equal(estimated.values[:, small.order], [small.labels[small.order]] * 3)
    assert (estimated.values[:, ~small.judged] == 0.25).all()
    assert PointEstimate(estimated.values[0]).values.shape == (1, small.pool.n_documents)


def test_a_failed_check_is_an_error_and_a_remark_a_warning(small):
    bad = Check("r-hat of x", 1.2, 1.01, False, "the chains do not agree")
    with pytest.raises(FitError, match=r"must not be used: .*r-hat of x 1.2 \(FAILED: the chains"):
        estimate(with_answer(small, bad), None, small)
    remark = Check("Pareto k", 0.9, 0.7, True, "not near")
    with pytest.warns(FitWarning, match=r"given:cut: Pareto k 0.9 \(not near\)"):
        estimate(with_answer(small, remark), None, small)


def test_chains_are_judged_by_their_worst_scalar():
    rng = np.random.default_rng(0)
    good = rng.normal(size=(4, 500, 3))
    stuck = good.copy()
    stuck[0, :, 1] += 3.0
    constant = np.ones((4, 500))
    none = np.zeros((4, 500), dtype=bool)
    some, many = none.copy(), none.copy()
    some[0, :2], many[0, :50] = True, True

    def states(parameters, diverging=none):
        checks = mixing_checks(parameters, {"diverging": diverging})
        return [(check.passed, bool(check.note)) for check in checks]

    assert states({"good": good, "constant": constant}) == [(True, False)] * 3
    assert states({"good": good}, some)[2] == (True, True)
    assert states({"good": good}, many)[2] == (False, True)
    bad = mixing_checks({"good": good, "stuck": stuck}, {})
    assert [(check.name, check.passed) for check in bad] == [
        ("r-hat of stuck", False),
        ("bulk ESS of stuck", False),
    ]
    slow = np.cumsum(rng.normal(size=(2, 300)), axis=1)
    assert not mixing_checks({"slow": slow}, {})[1].passed
    # one chain is held against itself, and too few draws are not enough
    assert all(passed for passed, _ in states({"good": good[:1]}))
    assert not mixing_checks({"apart": np.linspace(0.0, 1.0, 300)[None]}, {})[0].passed
    assert not mixing_checks({"good": good[:, :3]}, {})[1].passed


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_parameter_that_is_no_number_says_nothing_of_chains(bad):
    """It was told to ask for more draws."""
    values = np.random.default_rng(0).normal(size=(2, 100))
    values[0, 0] = bad
    (check,) = mixing_checks({"a": values}, {})
    assert not check.passed
    assert str(check).startswith("share of a that is no number 0.005 (FAILED: 1 of 200 values are")


def test_the_limit_of_r_hat_grows_with_the_number_of_scalars():
    """How many r-hats of good chains exceed a limit is Poisson, or less."""
    from arviz_stats.base import array_stats

    good = np.random.default_rng(3).normal(size=(4, 150, 3000))
    r_hat = array_stats.rhat(good, chain_axis=0, draw_axis=1)
    for scalars in (1, 100):
        exceed = (r_hat > r_hat_limit(scalars, 4, 150)).sum()
        mean = 0.01 * 3000 / scalars
        # two forms that always exceeded together would do so half as often
        assert poisson(mean / 2).ppf(1e-4) <= exceed <= poisson(mean).isf(1e-4)
    check = mixing_checks({"good": good[..., :1000]}, {})[0]
    assert (check.limit, check.note) == (r_hat_limit(1000, 4, 150), "")
    assert 1.01 < check.value < check.limit
    assert r_hat_limit(3000, 4, 1000) == 1.01


def test_few_draws_of_many_scalars_are_not_refused_by_chance():
    """Chains whose neighbours correlate by .2: the smallest of 150 effective sizes is too low."""
    rng = np.random.default_rng(4)
    refused = 0
    for _ in range(20):
        noise = rng.standard_normal((2, 100, 150))
        good = noise.copy()
        for n in range(1, 100):
            good[:, n] = 0.2 * good[:, n - 1] + np.sqrt(0.96) * noise[:, n]
        refused += not mixing_checks({"good": good}, {})[1].passed
    assert refused == 0
    # a tenth of the scalars that hardly move is not chance
    slow = np.cumsum(noise[..., :15], axis=1)
    assert not mixing_checks({"mixed": np.concatenate([good, slow], axis=2)}, {})[1].passed


def test_importance_weights_mend_or_are_refused():
    """A normal that is too wide is mended; one that is much too narrow says so."""
    rng = np.random.default_rng(1)
    wide = 1.5 * rng.standard_normal(20_000)
    weights, k = smoothed_weights(-0.5 * wide**2 + 0.5 * (wide / 1.5) ** 2)
    assert k < 0.7
    assert pareto_check(k).note == ""
    mended = wide[resample(weights, rng)]
    assert mended.std() == pytest.approx(1.0, abs=5 / np.sqrt(2 * 5000))
    narrow = 0.4 * rng.standard_normal(20_000)
    _, k = smoothed_weights(-0.5 * narrow**2 + 0.5 * (narrow / 0.4) ** 2)
    assert k > 0.7
    assert "not near the posterior" in pareto_check(k).note
    weights, k = smoothed_weights(np.full(5, 3.0))
    assert k == -np.inf
    np.testing.assert_array_equal(weights, 0.2)


SADDLE = """
    def graph(self, pool, judgments):
        import pymc as pm

        with pm.Model(coords={"document": np.arange(pool.n_documents)}) as model:
            x = pm.Flat("x")
            pm.Potential("no_mode", FORM)
            pm.Deterministic("p", pm.math.sigmoid(x + np.zeros(pool.n_documents)))
        return model
"""


@pytest.mark.parametrize("form", ["x**2 - x", "-(x**4)", "0.0 * x"])
def test_laplace_is_refused_without_a_curved_mode(model_text, small, tmp_path, form):
    head = model_text[: model_text.index("    def graph")]
    (tmp_path / "saddle.py").write_text(head + SADDLE.replace("FORM", form).lstrip("\n"))
    with pytest.raises(FitError, match=r"laplace of best_rank is refused: .*no mode .*use nuts"):
        fit(small.pool, small, model=str(tmp_path / "saddle.py"), method="laplace")


@pytest.mark.parametrize("method", ["map", "laplace"])
def test_a_search_that_starts_on_a_saddle_goes_on(model_text, small, tmp_path, method):
    """Half way between two modes that mirror each other."""
    head = model_text[: model_text.index("    def graph")]
    text = head + SADDLE.replace("FORM", "x**2 - x**4").lstrip("\n")
    (tmp_path / "mirror.py").write_text(text.replace('pm.Flat("x")', 'pm.Normal("x", 0, 100)'))
    with pytest.warns(FitWarning, match="the search began at a saddle"):
        found = fit(small.pool, small, model=str(tmp_path / "mirror.py"), method=method)
    x = np.abs(found.posterior["posterior"]["x"].values).mean()
    assert x == pytest.approx(np.sqrt(0.5), abs=1e-3 if method == "map" else 0.1)


OWN_GRAPH = """
    def graph(self, pool, judgments):
        import pymc as pm

        with pm.Model(coords={"document": np.arange(pool.n_documents)}) as model:
            x = PARAMETER
            p = pm.math.sigmoid(x + np.zeros(pool.n_documents))
            pm.Bernoulli("label", SAID, observed=judgments.labels[judgments.order])
            pm.Deterministic("p", p, dims="document")
        return model
"""


def own_graph(model_text, folder, parameter, said):
    head = model_text[: model_text.index("    def graph")]
    text = OWN_GRAPH.replace("PARAMETER", parameter).replace("SAID", said)
    (folder / "own.py").write_text(head + text.lstrip("\n"))
    return str(folder / "own.py")


@pytest.mark.parametrize("method", ["map", "laplace", "nuts"])
def test_a_density_that_is_zero_where_fits_start_is_refused(model_text, small, tmp_path, method):
    """Every judged document has a probability of 0, and some are relevant."""
    path = own_graph(model_text, tmp_path, 'pm.Normal("x")', "0.0 * p[judgments.order]")
    with pytest.raises(FitError, match=r"density of best_rank is -inf where fits start, by label"):
        fit(small.pool, small, model=path, method=method)


def test_a_graph_without_parameters_is_refused(model_text, small, tmp_path):
    path = own_graph(model_text, tmp_path, "0.5", "p[judgments.order]")
    with pytest.raises(InputError, match="has no parameter; give it one"):
        fit(small.pool, small, model=path)


def test_one_file_goes_through_everything(model_text, tmp_path, monkeypatch, capsys):
    """Fit, compare, build and two trials by command, each naming the file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "best_rank.py").write_text(model_text)
    write(simulate(n_topics=5, n_systems=6, seed=2), "sim")
    runs = "sim/runs"

    def run(line):
        assert main([*line.split(), "--quiet"]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    run(
        f"build {runs} --truth sim/qrels.txt --algorithm best_rank.py:laplace --budget 25 "
        "--depth 20 -o judged.qrels"
    )
    assert sum(map(len, read_qrels("judged.qrels").values())) == 25
    run(
        f"fit {runs} --qrels judged.qrels --model best_rank.py --method laplace --depth 20 "
        "--draws 100 --chains 2 -o fit.zarr"
    )
    stored = Fit.load("fit.zarr")
    assert (stored.method, stored.sampling.draws, stored.relevance.n_draws) == ("laplace", 100, 200)
    shown = json.loads(run(f"compare {runs} --relevance fit.zarr --depth 20 --format json"))
    assert (shown["method"], shown["meta"]["draws"]) == ("laplace", 200)
    for pair in shown["pairs"]:
        parts = pair["variance_unjudged"] + pair["variance_parameters"]
        assert pair["sd"] ** 2 == pytest.approx(parts)
        assert pair["variance_parameters"] > 0
    run(
        f"robustness {runs} --qrels sim/qrels.txt --algorithms best_rank.py:laplace --trials 2 "
        "--systems 4 --confidence .6 --depth 20 --jobs 1 -o study"
    )
    summary = json.loads((tmp_path / "study" / "summary.json").read_text())
    assert summary["best_rank.py:laplace"]["trials"] == 2


# four chains, each about another level
APART = np.arange(4)[:, None] + np.random.default_rng(0).normal(0, 0.1, (4, 50))


@pytest.mark.parametrize(
    ("method", "given", "said"),
    [
        ("map", lambda n: np.full(n, 0.3), "returned a ndarray; return a .*PointEstimate"),
        ("map", lambda n: None, "returned a NoneType; return a"),
        ("map", lambda n: PointEstimate([0.3] * n), r"gave p as a list of shape \(\d+,\)"),
        ("map", lambda n: PointEstimate(np.full((1, n), 0.3)), r"give an ndarray of shape \(doc"),
        (
            "map",
            lambda n: PointEstimate(np.full(n, 0.3), {"a": np.zeros(99)}, {"a": ("topic",)}),
            r"parameter a with shape \(99,\), and dims \(topic\); the pool, .* has \d+ of dim",
        ),
        ("gibbs", lambda n: PointEstimate(np.full(n, 0.3)), "returned a PointEstimate; return a"),
        ("gibbs", lambda n: Draws(np.full((8, n), 0.3)), r"ndarray of shape \(chains, draws, doc"),
        (
            "gibbs",
            lambda n: Draws(np.full((2, 4, n), 0.3), {"a": np.zeros(8)}),
            r"parameters of shapes a: \(8,\); give arrays, all with chains and draws first",
        ),
        ("map", lambda n: PointEstimate(np.full(n, 0.3j)), "p of dtype complex128; give real"),
        ("laplace", lambda n: Draws(np.empty((2, 0, n))), "gave p of no draw"),
        (
            "laplace",
            lambda n: Draws(np.full((4, 51, n), 0.3), {"a": APART}),
            "p of 51 draws a chain, and parameters or sample_stats of 50; give these of every draw",
        ),
        (
            "laplace",
            lambda n: Draws(np.full((4, 50, n), 0.3), {}, {"lp": np.zeros(200)}),
            r"shapes lp: \(200,\); give arrays, .* and sample_stats no other dims",
        ),
        (
            "laplace",
            lambda n: Draws(np.full((4, 50, n), 0.3), {"a": APART}, {"lp": APART[:, :25]}),
            r"shapes a: \(4, 50\), lp: \(4, 25\); give arrays",
        ),
        (
            "map",
            lambda n: PointEstimate(
                np.full(n, 0.3), {"a": np.zeros(3)}, {"a": ("kind",)}, {"kind": "xy"}
            ),
            "coords of 2 labels for dim 'kind' of size 3; give as many",
        ),
        (
            "map",
            lambda n: PointEstimate(np.full(n, 0.3), {"k": np.zeros(3)}, {"k": ("k",)}),
            "gave 'k' as a parameter, which is the name of a dim; name the parameter otherwise",
        ),
        (
            "map",
            lambda n: PointEstimate(np.full(n, 0.3), {"chain": np.zeros(())}),
            "gave 'chain' as a parameter",
        ),
        (
            "map",
            lambda n: PointEstimate(np.full(n, 0.3), {"a": np.zeros(3)}, {"a": ("draw",)}),
            "parameter a the dim 'draw', which every parameter of a fit has; name it otherwise",
        ),
        (
            "gibbs",
            lambda n: Draws(np.full((4, 50, n), 0.3), {"a": APART}),
            r"r-hat of a .*FAILED",
        ),
        (
            "gibbs",
            lambda n: Draws(np.full((4, 50, n), 0.3), {"a": np.full((4, 50), np.nan)}),
            "share of a that is no number 1 .FAILED: 200 of 200 values are NaN or infinite",
        ),
    ],
)
def test_what_a_method_of_its_own_must_not_return(pool, judgments, method, given, said):
    """Draws of a Markov chain that say nothing of their checks are checked."""

    class Own:
        name, default_method, methods = "own", method, (method,)

    setattr(Own, method, lambda self, judged, *_: given(judged.pool.n_documents))
    with pytest.raises(FitError, match=said):
        estimate(Own(), method, judgments)


def test_a_slip_in_a_models_own_method_is_said(tmp_path, pool, judgments):
    (tmp_path / "slip.py").write_text(
        "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Slip:\n"
        "    name = default_method = 'map'\n    methods = ('map',)\n\n"
        "    def map(self, judgments):\n        return 1 / 0\n"
    )
    with pytest.raises(
        InputError, match=r"slip.py:10: map\(\) of Slip fails: ZeroDivisionError: .*; correct it"
    ):
        fit(pool, judgments, model=str(tmp_path / "slip.py"))


@pytest.mark.parametrize(
    ("draws", "kept"),
    [(250, range(250)), (500, range(0, 500, 2)), (499, [n * 499 // 250 for n in range(250)])],
)
def test_p_is_kept_of_draws_of_the_whole_chain(pool, draws, kept):
    """At most 1000 in all: of 499 a chain these were the first 250."""

    @dataclass(frozen=True)
    class Numbered:
        name = "numbered"
        methods, default_method = ("laplace",), "laplace"

        def laplace(self, judgments, sampling):
            number = np.tile(np.arange(sampling.draws), (sampling.chains, 1))
            p = number[:, sampling.kept, None] / np.full(judgments.pool.n_documents, 1000.0)
            return Draws(p, {"number": number})

    fitted = fit(pool, Judgments.none(pool), model=Numbered(), draws=draws)
    probability = fitted.relevance.probability
    assert probability["draw"].values.tolist() == list(kept)
    # a draw has the same number in both
    of_p = fitted.posterior["posterior"]["number"].sel(draw=probability["draw"])
    np.testing.assert_allclose(1000 * probability.values[..., 0], of_p)


@pytest.mark.filterwarnings("ignore:nothing says which systems:rtc_bayes.CollectionWarning")
@pytest.mark.parametrize("model", ["robust", "hierarchical"])
def test_one_draw_says_nothing(pool, judgments, model):
    with pytest.raises(FitError, match=r"one draw says nothing|1 draws of all chains are too few"):
        fit(pool, judgments, model=model, draws=1, chains=1)


@pytest.mark.parametrize(("draws", "count"), [(499, 250), (500, 250), (251, 250), (7, 7), (9, 1)])
def test_draws_that_are_kept_are_spaced_over_the_whole_chain(draws, count):
    numbers = spaced(draws, count)
    assert len(set(numbers.tolist())) == count
    assert numbers[0] == 0
    assert draws - draws / count - 1 <= numbers[-1] < draws
    if count > 1:
        assert np.ptp(np.diff(numbers)) <= 1
