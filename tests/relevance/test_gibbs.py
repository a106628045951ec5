"""The Gibbs sampler against quadrature, its prior and simulation."""

import signal
import time
from dataclasses import replace
from itertools import product
from threading import Timer, main_thread

import arviz as az
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chisquare, multivariate_normal, norm, t as student

from rtc_bayes.errors import FitWarning
from rtc_bayes.relevance import gibbs
from rtc_bayes.relevance.effects import EffectsRegression, sweeps_to_try
from rtc_bayes.relevance.gibbs.chain import Normal, Prior, Rows, Said, State, acceptance
from rtc_bayes.relevance.gibbs.linear import cholesky
from rtc_bayes.relevance.gibbs.many_rows import move_scale_alone, move_topics
from rtc_bayes.relevance.gibbs.polya_gamma import polya_gamma
from rtc_bayes.relevance.interface import Sampling

# beyond this many standard errors is one chance in a hundred thousand
FAR = 4.4


@pytest.mark.parametrize("eta", [1e99, 1e101, -1e250, 1e308])
def test_polya_gamma_of_vast_log_odds_is_its_mean(eta):
    drawn = polya_gamma(np.random.default_rng(7), eta)
    assert drawn == pytest.approx(0.5 / abs(eta), rel=1e-6)


def test_polya_gamma_ends_for_what_is_no_number():
    assert polya_gamma(np.random.default_rng(7), np.inf) == 0.0
    assert np.isnan(polya_gamma(np.random.default_rng(7), np.nan))


@pytest.mark.parametrize("eta", [0.0, 0.3, -1.0, 3.0, -8.0, 25.0, 100.0])
def test_polya_gamma_has_its_mean_and_its_laplace_transform(eta):
    rng, n = np.random.default_rng(7), 10_000
    drawn = np.array([polya_gamma(rng, eta) for _ in range(n)])
    mean = np.tanh(eta / 2) / (2 * eta) if eta else 0.25
    assert abs(drawn.mean() - mean) < FAR * drawn.std() / np.sqrt(n)
    # E exp(-t w) = cosh(eta / 2) / cosh(sqrt(eta^2 / 4 + t / 2))
    t = 1.0 / mean
    transformed = np.exp(-t * drawn)
    root = np.sqrt(eta**2 / 4 + t / 2)
    exact = np.exp(np.logaddexp(eta / 2, -eta / 2) - np.logaddexp(root, -root))
    assert abs(transformed.mean() - exact) < FAR * transformed.std() / np.sqrt(n)


def regression(topics=2, rows=(3, 1), seed=0, df=np.inf, spread=0.0, depth=1, own_spread=0.0):
    """One coefficient, one effect, and `depth` effects of each topic, of a scale of their own."""
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(topics), rows)
    n = len(topic)
    return EffectsRegression(
        columns=rng.normal(size=(n, 2)),
        local=rng.normal(size=(n, depth)),
        topic=topic,
        n_topics=topics,
        labels=(rng.random(n) < 0.6).astype(float),
        mean=np.array([-0.5]),
        sd=np.array([1.2]),
        scale_of=np.array([-1, 1]),
        local_scale_of=np.zeros(depth, dtype=int),
        median=np.array([0.9, 0.7]),
        spread=np.array([own_spread, spread]),
        df=np.array([np.inf, df]),
    )


def grid_moments(data, axes, log_prior):
    """Mean and sd of every parameter by brute force over a grid."""
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    eta = points[:, :2] @ data.columns.T
    for t in range(data.n_topics):
        eta[:, data.topic == t] += points[:, [2 + t]] * data.local[data.topic == t, 0]
    log_density = (data.labels * eta - np.logaddexp(0.0, eta)).sum(axis=1) + log_prior(points)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    mean = weight @ points
    return mean, np.sqrt(weight @ (points - mean) ** 2)


def hold(drawn, mean, sd, efficiency=0.3):
    """Hold draws (draws, parameters) to exact moments; `efficiency` of the draws count."""
    count = efficiency * len(drawn)
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < FAR * sd / np.sqrt(count))
    error = FAR * sd * np.sqrt((np.mean((drawn - mean) ** 4, axis=0) / sd**4 - 1) / count) / 2
    assert np.all(np.abs(drawn.std(axis=0) - sd) < error)


@pytest.fixture(params=[False, True], ids=["few rows", "many rows"])
def many(request, monkeypatch):
    """Whether rows count as many: then chains make the moves of the likelihood itself."""
    monkeypatch.setattr(gibbs, "has_many_rows", lambda rows: request.param)
    return request.param


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("rows", [(1, 1), (4, 3)], ids=["by rows", "by effects"])
def test_normal_effects_have_the_posterior_of_a_grid(rows):
    data = regression(rows=rows)
    axes = [np.linspace(-6, 5, 23)] + [np.linspace(-4.5, 4.5, 21)] * 3
    sds = np.array([1.2, 0.7, 0.9, 0.9])

    def log_prior(points):
        return norm.logpdf(points, [-0.5, 0, 0, 0], sds).sum(axis=1)

    fitted = data.gibbs(Sampling(4000, 1, 100, 1), sweeps=2)
    drawn = np.column_stack([fitted.columns[0], fitted.local[0, :, :, 0]])
    hold(drawn, *grid_moments(data, axes, log_prior))


@pytest.mark.usefixtures("many")
def test_student_effects_and_scales_have_the_posterior_of_a_grid():
    data = regression(topics=1, rows=(5,), df=3.0, spread=0.5)
    axes = [np.linspace(-5, 4, 19), np.linspace(-9, 9, 73), np.linspace(-4, 4, 17)]
    log_scales = np.log(0.7) + np.linspace(-2.0, 2.0, 13)
    points = np.array(list(product(*axes)))
    eta = points[:, :2] @ data.columns.T + points[:, [2]] * data.local[:, 0]
    likelihood = (data.labels * eta - np.logaddexp(0.0, eta)).sum(axis=1)
    moments = []
    for s in log_scales:

        def log_prior(points, s=s):
            log_p = norm.logpdf(points[:, [0, 2]], [-0.5, 0], [1.2, 0.9]).sum(axis=1)
            effect = student.logpdf(points[:, 1], 3.0, scale=np.exp(s))
            return log_p + effect + norm.logpdf(s, np.log(0.7), 0.5)

        density = np.exp(likelihood + log_prior(points))
        moments.append((density.sum(), density @ points[:, 1], density @ np.abs(points[:, 1])))
    mass, effect, size = np.array(moments).T
    fitted = data.gibbs(Sampling(6000, 1, 300, 2), sweeps=3)
    drawn, count = fitted.columns[0, :, 1], 0.3 * 6000
    for values, exact in (
        (drawn, effect.sum()),
        (np.abs(drawn), size.sum()),
        (fitted.log_scale[0, :, 1], mass @ log_scales),
    ):
        gap = abs(values.mean() - exact / mass.sum())
        assert gap < FAR * values.std() / np.sqrt(count) + 0.01  # the grid's own error


@pytest.mark.usefixtures("many")
def test_topics_without_judgments_have_their_prior():
    data = regression(topics=3, rows=(4, 0, 2))
    drawn = data.gibbs(Sampling(3000, 1, 50, 3)).local[0, :, 1, 0]
    hold(drawn[:, None], np.array([0.0]), np.array([0.9]), efficiency=1.0)


def test_labels_between_0_and_1_count_half_each():
    """Rows with label 1/2 twice over are a relevant and a nonrelevant row."""
    data = regression(rows=(2, 2))
    twice = {
        "columns": np.repeat(data.columns, 2, axis=0),
        "local": np.repeat(data.local, 2, axis=0),
        "topic": np.repeat(data.topic, 2),
    }
    rest = {
        name: getattr(data, name)
        for name in data.__dataclass_fields__
        if name not in (*twice, "labels")
    }
    soft = EffectsRegression(**twice, **rest, labels=np.full(8, 0.5))
    hard = EffectsRegression(**twice, **rest, labels=np.tile([0.0, 1.0], 4))
    a, b = (each.gibbs(Sampling(4000, 1, 100, 4), sweeps=2).columns[0] for each in (soft, hard))
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / (0.3 * 4000))
    assert np.all(np.abs(a.mean(axis=0) - b.mean(axis=0)) < FAR * error)


def test_a_move_to_what_is_no_number_is_refused():
    assert acceptance(np.nan) == acceptance(-np.inf) == 0.0
    assert acceptance(np.inf) == acceptance(0.0) == 1.0
    assert acceptance(-1.0) == np.exp(-1.0)
    rows = Rows(np.zeros((2, 1)), np.ones((2, 1)), np.array([0, 2]), np.array([1.0, 0.0]))
    state = State(np.zeros(1), np.full((1, 1), 0.5), np.zeros(1))
    said = Said(np.full((1, 1, 1), np.nan), np.zeros((1, 1)))
    eta = np.full(2, 0.5)
    move_topics(np.random.default_rng(1), rows, np.ones(1), said, False, state, eta)
    assert state.local[0, 0] == eta[0] == 0.5


def test_moves_of_a_topic_alone_have_the_posterior_of_a_grid():
    """One relevant document of five: what the rest say is far from normal."""
    local = np.array([[1.0], [1.0], [0.5], [1.5], [1.0]])
    rows = Rows(np.zeros((5, 1)), local, np.array([0, 5]), np.array([1.0, 0, 0, 0, 0]))
    state = State(np.zeros(1), np.zeros((1, 1)), np.zeros(1))
    said = Said(np.full((1, 1, 1), 1.0), np.zeros((1, 1)))
    rng, eta, draws = np.random.default_rng(8), np.zeros(5), 20_000
    drawn = np.empty((draws, 1))
    for i in range(draws):
        for by_state in (True, False):
            move_topics(rng, rows, np.array([9.0]), said, by_state, state, eta)
        drawn[i] = state.local[0]
    np.testing.assert_allclose(eta, local[:, 0] * state.local[0, 0])
    points = np.linspace(-14, 6, 401)
    etas = points[:, None] * local[:, 0]
    log_p = (rows.labels * etas - np.logaddexp(0, etas)).sum(axis=1) - points**2 / 18
    weight = np.exp(log_p) / np.exp(log_p).sum()
    mean = weight @ points
    hold(drawn, np.array([mean]), np.array([np.sqrt(weight @ (points - mean) ** 2)]))


def test_moves_of_a_scale_alone_have_the_posterior_of_a_grid():
    """Given Polya-Gamma variables, rows of a normal: one coefficient, and effects of one scale."""
    rng = np.random.default_rng(12)
    columns, omega = rng.normal(size=(9, 4)), rng.uniform(0.05, 0.25, size=9)
    half = np.where(rng.random(9) < 0.3, 0.5, -0.5)
    nothing, none = np.empty((0, 0)), np.empty(0)
    parts = {"precision": columns.T * omega @ columns, "pull": half @ columns}
    empty = dict.fromkeys(("omega", "local_variance", "response", "removed_response"), none)
    matrices = dict.fromkeys(("whitened", "scaled", "removed", "by_rows", "by_effects"), nothing)
    prior = Prior(
        mean=np.array([-0.5, 0.0, 0.0, 0.0]),
        sd=np.array([1.2, 0.0, 0.0, 0.0]),
        scale_of=np.array([-1, 0, 0, 0]),
        local_scale_of=np.array([], dtype=np.int64),
        log_median=np.array([0.3]),
        spread=np.array([0.8]),
        df=np.array([np.inf]),
    )

    def variance_at(log_scale):
        return np.array([1.44, *[np.exp(2.0 * log_scale)] * 3])

    state = State(np.zeros(4), np.zeros((0, 0)), np.array([0.3]))
    variance, normal, draws = variance_at(0.3), Normal(**parts, **empty, **matrices), 20_000
    drawn = np.empty((draws, 1))
    for i in range(draws):
        move_scale_alone(rng, 0, prior, normal, 1.5, variance, state)
        drawn[i] = state.log_scale
    np.testing.assert_allclose(variance, variance_at(state.log_scale[0]))
    points = np.linspace(-4.0, 4.0, 301)
    log_p = [
        multivariate_normal.logpdf(
            half / omega,
            columns @ prior.mean,
            np.diag(1.0 / omega) + columns * variance_at(point) @ columns.T,
        )
        + norm.logpdf(point, 0.3, 0.8)
        for point in points
    ]
    weight = np.exp(log_p - np.max(log_p))
    weight /= weight.sum()
    mean = weight @ points
    sd = np.sqrt(weight @ (points - mean) ** 2)
    # no more than five moves to an independent draw
    assert az.ess(drawn[None, :, 0]) > draws / 5
    hold(drawn, np.array([mean]), np.array([sd]), efficiency=0.2)


def test_many_rows_that_are_nearly_all_nonrelevant_mix_by_their_likelihood(monkeypatch):
    """One relevant document of a thousand: Polya-Gamma variables hold its topic's intercept."""
    rng = np.random.default_rng(9)
    topic = np.repeat(np.arange(4), 1000)
    labels = np.zeros(len(topic))
    labels[::1000] = 1.0
    data = EffectsRegression(
        columns=rng.normal(size=(len(topic), 1)),
        local=np.column_stack([np.ones(len(topic)), rng.normal(size=(len(topic), 2))]),
        topic=topic,
        n_topics=4,
        labels=labels,
        mean=np.array([0.0]),
        sd=np.array([1.0]),
        scale_of=np.array([-1]),
        local_scale_of=np.array([0, 1, 1]),
        median=np.array([5.0, 1.0]),
        spread=np.array([0.5, 0.5]),
        df=np.full(2, np.inf),
    )
    assert gibbs.has_many_rows(Rows(data.columns, data.local, np.arange(5) * 1000, labels))
    assert not gibbs.has_many_rows(Rows(data.columns, data.local, np.arange(2000), labels))
    sampling = Sampling(draws=400, chains=2, tune=200, seed=1)
    by_likelihood = data.gibbs(sampling)
    monkeypatch.setattr(gibbs, "has_many_rows", lambda rows: False)
    by_variables = data.gibbs(sampling)
    good, poor = (
        np.mean([az.ess(each.local[:, :, t, 0]) for t in range(4)])
        for each in (by_likelihood, by_variables)
    )
    assert good > 3 * poor


def test_draws_depend_on_the_seed_and_not_on_threads():
    data = regression(spread=0.3)
    first, again, other = (data.gibbs(Sampling(20, 3, 10, seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.columns, again.columns)
    assert not np.array_equal(first.columns, other.columns)
    assert first.columns.shape == (3, 20, 2)
    assert first.local.shape == (3, 20, 2, 1)
    assert "4 rows, 2 topics, 1 coefficients, 1 effects" in repr(data)
    assert "3 chains x 20 draws" in repr(first)


def test_few_draws_take_more_sweeps():
    assert sweeps_to_try(Sampling(100, 2), 0) == (10, 40, 160)
    assert sweeps_to_try(Sampling(100, 2), 5000) == (8, 32, 128)
    assert sweeps_to_try(Sampling(100, 2), 10**6) == (3, 12, 48)
    assert sweeps_to_try(Sampling(10**5, 2), 10**6) == (1, 4, 16)
    assert sweeps_to_try(Sampling(1000, 4), 250) == (5, 20, 80)


@pytest.mark.parametrize("size", [1, 5, 32, 33, 100])
def test_a_factor_by_blocks_is_that_of_lapack(size):
    root = np.random.default_rng(size).normal(size=(size + 3, size))
    matrix = root.T @ root
    factor = np.tril(matrix)
    cholesky(factor)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), atol=1e-9)
    factor[0, 0] = np.nan
    cholesky(factor)
    assert np.isnan(np.diag(factor)).all()


def test_drawing_that_takes_long_is_foretold(monkeypatch):
    every = Sampling(draws=10**9, chains=1)
    with pytest.warns(FitWarning, match=r"about \d+ h with 5,000 judged documents"):
        regression(rows=(3000, 2000)).warn_if_long(every, sweeps=1)
    for minutes, said, remedy in ((3, "3 min", False), (30, "30 min", True), (300, "5 h", True)):
        with monkeypatch.context() as patch:
            patch.setattr(gibbs, "expected_minutes", lambda *_, minutes=minutes: minutes)
            with pytest.warns(FitWarning) as warned:
                regression().warn_if_long(every, sweeps=1)
        (text,) = (str(warning.message) for warning in warned)
        assert f"takes about {said} with" in text
        assert ("the model hierarchical" in text) is remedy
    # neither few rows nor few draws take long
    regression().warn_if_long(every, sweeps=1)
    regression(rows=(3000, 2000)).warn_if_long(Sampling(draws=1, chains=1, tune=0), sweeps=1)
    ticks = iter([0.0, 2.0])
    monkeypatch.setattr(gibbs, "sample", lambda *_: None)
    monkeypatch.setattr(gibbs, "cpu_count", lambda: 2)
    monkeypatch.setattr(gibbs.time, "perf_counter", lambda: next(ticks))
    minutes = gibbs.expected_minutes(regression(rows=(3000, 2000)), Sampling(90, 4, 30), 3)
    # half a second a sweep, chains two at a time
    assert minutes == pytest.approx(0.5 * 2 * 300 / 60)


def ranks_of_truth(replicates, seed, kept=31, shared=False):
    """Simulation-based calibration: the rank of the truth among draws (Talts et al. 2018).

    `shared`: the effect has the scale of topics' effects.
    """
    rng = np.random.default_rng(seed)
    ranks = []
    for _ in range(replicates):
        data = regression(
            topics=4,
            rows=(1, 3, 0, 4),
            seed=int(rng.integers(1e9)),
            df=3.0,
            spread=0.4,
            depth=2,
            own_spread=0.5,
        )
        log_s = np.log([0.9, 0.7]) + [0.5, 0.4] * rng.normal(size=2)
        effect = (
            np.exp(log_s[0]) * rng.normal() if shared else np.exp(log_s[1]) * rng.standard_t(3.0)
        )
        beta = np.array([rng.normal(-0.5, 1.2), effect])
        own = np.exp(log_s[0]) * rng.normal(size=(4, 2))
        eta = data.columns @ beta + (data.local * own[data.topic]).sum(axis=1)
        labels = (rng.random(len(eta)) < expit(eta)).astype(float)
        data = replace(data, labels=labels, scale_of=np.array([-1, 0 if shared else 1]))
        fitted = data.gibbs(Sampling(kept, 1, 60, int(rng.integers(1e9))), sweeps=10)
        drawn = np.column_stack(
            [fitted.columns[0], fitted.local[0, :, 0], fitted.local[0, :, 2], fitted.log_scale[0]]
        )
        truth = np.concatenate([beta, own[0], own[2], log_s])
        ranks.append((drawn < truth).sum(axis=0))
    return np.array(ranks)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    "replicates", [120, pytest.param(600, marks=pytest.mark.slow)], ids=["quick", "slow"]
)
@pytest.mark.parametrize("shared", [False, True], ids=["own scales", "a scale shared"])
def test_ranks_of_the_truth_are_uniform(replicates, shared):
    ranks = ranks_of_truth(replicates, 7, shared=shared)
    for rank in ranks.T:
        counts = np.bincount(rank // 4, minlength=8)
        assert chisquare(counts).pvalue > 1e-4


def test_blocks_of_rows_give_the_draws_of_all_rows_at_once(monkeypatch):
    data = regression(topics=5, rows=(2, 40, 3, 1, 25), spread=0.3, depth=3)
    at_once = data.gibbs(Sampling(20, 2, 5, 1))
    held = []

    def begin(rows, prior, block, many):
        held.append(gibbs.sweeps.begin(rows, prior, block, many))
        return held[-1]

    monkeypatch.setattr(gibbs, "begin", begin)
    monkeypatch.setattr(gibbs, "_BLOCK", 7)
    in_blocks = data.gibbs(Sampling(20, 2, 5, 1))
    assert {chain.normal.whitened.shape for chain in held} == {(7, 2)}
    for one, other in zip(at_once, in_blocks, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.fixture
def interruptible():
    """A process that a shell starts in the background begins with SIGINT ignored."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_chains_soon():
    data = regression(rows=(300, 200))
    data.gibbs(Sampling(1, 1, 1, 1))  # compiles
    began = time.perf_counter()
    Timer(0.3, signal.pthread_kill, [main_thread().ident, signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        data.gibbs(Sampling(400_000, 4, 0, 1))
    # all of them take half a minute at least
    assert time.perf_counter() - began < 10.0
