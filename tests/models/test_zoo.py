"""What every model beside the paper's and `hierarchical` must do, on pools small enough to see."""

import numpy as np
import pytest
from pools import pool_of
from scipy.special import expit
from scipy.stats import t as student

from rtc_bayes import InputError, Judgments
from rtc_bayes.relevance import Sampling, available_models, estimate, load_model
from rtc_bayes.relevance.compiled import CompiledGraph
from rtc_bayes.relevance.nested_laplace import NestedLaplace

NAMES = ("heavy_tails", "logodds_pooling", "rank_curve", "text_evidence", "topic_calibration")
SAMPLING = Sampling(draws=40, chains=2, seed=1)
SYSTEMS, TOPICS, DEPTH = 3, 4, 6

pytestmark = [
    pytest.mark.filterwarnings("ignore::rtc_bayes.FitWarning"),
    pytest.mark.usefixtures("interpreted"),
]


def make_runs():
    """Documents d0, d1, ... in this order with noise; the last system lacks the last topic."""
    rng = np.random.default_rng(0)
    runs = {}
    for s in range(SYSTEMS):
        topics = range(TOPICS - (s == SYSTEMS - 1))
        order = {str(t): np.argsort(np.arange(12) + rng.normal(0, 3, 12)) for t in topics}
        runs[f"run{s}"] = {t: [f"d{i}" for i in ranked[:DEPTH]] for t, ranked in order.items()}
    return runs


def make_pool(runs):
    return pool_of(runs, depth=DEPTH).with_documents({"0": ["outside"]})


@pytest.fixture(scope="module")
def pool():
    return make_pool(make_runs())


@pytest.fixture(scope="module", params=NAMES)
def model(request, tmp_path_factory):
    """Every model; of the text a score for all but two documents of topic 0, none for topic 1."""
    if request.param != "text_evidence":
        return load_model(request.param)
    path = tmp_path_factory.mktemp("scores") / "scores.txt"
    lines = [f"{t} d{i} {-i}" for t in (0, 2, 3, 77) for i in range(12) if t or i > 1]
    path.write_text("\n".join(lines))
    return load_model(request.param, {"scores": str(path)})


def judge(pool, labels=None, count=14):
    chosen = np.random.default_rng(1).permutation(pool.n_documents)[:count]
    if labels is None:
        labels = [float(pool.docnos[d] in {"d0", "d1", "d2"}) for d in chosen]
    return Judgments.from_labels(pool, chosen, np.broadcast_to(labels, count))


EDGES = {
    "none": lambda pool: Judgments.none(pool),
    "one": lambda pool: judge(pool, count=1),
    "all relevant": lambda pool: judge(pool, 1.0),
    "noisy": lambda pool: judge(pool, np.linspace(0, 1, 14)),
    "one topic": lambda pool: Judgments.from_labels(pool, range(5), [1, 0, 1, 0, 0]),
    "every document": lambda pool: judge(pool, count=pool.n_documents),
}


def test_all_are_here():
    available = {info.name: info for info in available_models()}
    assert set(available) == {*NAMES, "hierarchical", "layered", "robust", "rtc", "uniform"}
    for name in NAMES:
        assert available[name].methods == ("laplace", "map", "nuts")
        assert available[name].summary.endswith(".")


@pytest.mark.parametrize("edge", EDGES)
def test_edges(model, pool, edge, check_estimate):
    for method in ("map", "laplace"):
        check_estimate(model, method, EDGES[edge](pool), SAMPLING)


def test_order_and_doubles_of_systems(model, pool):
    """The order of systems is nothing; a system given twice is one that counts twice."""
    runs = make_runs()
    judgments = judge(pool)
    there = estimate(model, "map", judgments).p
    turned = judgments.on(make_pool(dict(reversed(runs.items()))))
    np.testing.assert_allclose(estimate(model, "map", turned).p, there, atol=1e-6)

    doubled = judgments.on(make_pool(runs | {"again": runs["run0"]}))
    estimated = estimate(model, "map", doubled)
    assert ((estimated.p >= 0) & (estimated.p <= 1)).all()
    for name, dims in estimated.dims.items():
        if dims == ("system",):
            assert estimated.parameters[name][0] == pytest.approx(
                estimated.parameters[name][3], abs=1e-6
            )


def test_what_all_rank_higher_is_not_less_probable(model):
    lists = {t: [f"d{i}" for i in range(DEPTH)] for t in "0123"}
    pool = make_pool({f"run{s}": lists for s in range(SYSTEMS)})
    judged = [d for t in range(3) for d in range(pool.n_documents)[pool.documents(t)]]
    labels = [float(pool.docnos[d] in {"d0", "d1"}) for d in judged]
    judgments = Judgments.from_labels(pool, judged, labels)
    last = pool.locate("3", lists["3"])
    assert (np.diff(estimate(model, "map", judgments).p[last]) <= 0).all()
    drawn = estimate(model, "laplace", judgments, Sampling(draws=200, chains=2))
    assert (np.diff(drawn.values.mean(axis=0)[last]) <= 0).all()


def test_judgments_move_their_topic(model, pool):
    """Where all judged are relevant, more is on average; where none is, less."""
    here = range(pool.n_documents)[pool.documents(2)]
    rest = list(here)[4:]
    before = estimate(model, "map", Judgments.none(pool)).p[rest]
    for label, sign in ((1.0, 1), (0.0, -1)):
        judgments = Judgments.from_labels(pool, list(here)[:4], [label] * 4)
        moved = estimate(model, "map", judgments).p[rest] - before
        assert sign * moved.mean() > 0


def test_options(model):
    needed = {"scores": model.scores} if model.name == "text_evidence" else {}
    for option, value in (("mu", (0.0, 0.0)), ("s_alpha", -1.0), ("s_alpha", (-1.0, 1.0))):
        with pytest.raises(InputError, match=f"option {option} of model {model.name} is"):
            load_model(model.name, needed | {option: value})
    with pytest.raises(InputError, match=f"model {model.name} has no option 'spread'"):
        load_model(model.name, needed | {"spread": 1})


def test_the_fast_fit_is_that_of_the_graph(pool):
    """Of topic_calibration: gradient and covariance given the scales, p, and the density."""
    judgments, model = judge(pool), load_model("topic_calibration")
    fitted = model.map(judgments)
    approximation = NestedLaplace(model._regression(judgments))
    mode = approximation.fit().mode
    graph = CompiledGraph(model.graph(pool, judgments))

    def point(log_s, topics, columns):
        """Line the unknowns up as the graph does: mu, m, then scale and effects twice."""
        return np.concatenate([columns[:2], log_s[:1], topics, log_s[1:], columns[2:]])

    at = point(mode.log_scale, mode.topics, mode.columns)
    free = ~np.isin(np.arange(graph.size), (2, 3 + TOPICS))
    np.testing.assert_allclose(graph.derivative(at, jacobian=True)[1][free], 0.0, atol=1e-6)
    np.testing.assert_allclose(graph.p(at), fitted.p, atol=1e-9)
    parameters = graph.parameters(at)
    for name, value in fitted.parameters.items():
        np.testing.assert_allclose(parameters[name], value, atol=1e-9)
    rng = np.random.default_rng(2)
    sizes = [len(part) for part in (mode.log_scale, mode.topics, mode.columns)]
    points = [[rng.normal(size=size) for size in sizes] for _ in range(4)]
    ours = [approximation.log_density(s, t[:, None], c[:, None])[0] for s, t, c in points]
    theirs = [graph.log_density(point(*each), jacobian=True) for each in points]
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), atol=1e-8)


def test_effects_of_heavy_tails_are_students(pool):
    """Quantiles of the prior's draws against Student-t's, in uniform probability."""
    import pymc as pm

    model = load_model("heavy_tails", {"df": 2.5, "s_b": 0.7})
    with model.graph(pool, Judgments.none(pool)):
        drawn = pm.draw(pm.modelcontext(None)["b"], draws=700, random_seed=3).ravel()
    uniform = np.sort(student.cdf(drawn / 0.7, df=2.5))
    assert np.abs(uniform - (np.arange(2100) + 0.5) / 2100).max() < 1.95 / np.sqrt(2100)


def test_the_curve_of_ranks_falls_by_its_drops(pool):
    """Pieces of equal length in ln(rank), and one more drop to documents that are not ranked."""
    model = load_model("rank_curve", {"pieces": 2})
    estimated = estimate(model, "map", judge(pool), labelled=False)
    mu, alpha, drop = (estimated.parameters[name] for name in ("mu", "alpha", "drop"))
    knots = [0.0, 0.5 * np.log(DEPTH + 1), np.log(DEPTH + 1)]
    fallen = np.array([drop[0] + drop[1] + drop[2], drop[0] + drop[1], drop[0]])
    for t in range(TOPICS):
        ranks = pool.ranks(t)
        curve = np.interp(np.log(np.maximum(ranks, 1)), knots, fallen)
        eta = mu + alpha[t] + np.where(ranks > 0, curve, 0.0).mean(axis=0)
        np.testing.assert_allclose(estimated.p[pool.documents(t)], expit(eta), atol=1e-9)


def test_scores_of_the_text(pool, tmp_path):
    """Standardised by topic; what has none is told apart; a topic without is left to the ranks."""
    path = tmp_path / "scores.txt"
    # three times 0.1 is not 0.3: equal scores have a standard deviation above 0
    assert np.std([0.1] * 3) > 0.0
    path.write_text("0 d0 3\n0 d1 5\n2 d0 .1\n2 d1 .1\n2 d2 .1\n0 unknown 9\n")
    model = load_model("text_evidence", {"scores": str(path), "v": "1:.5", "n": "-2:.5"})
    estimated = estimate(model, "map", Judgments.none(pool), labelled=False)
    plain = load_model("logodds_pooling")
    ranks = estimate(plain, "map", Judgments.none(pool)).p
    odds = np.log(estimated.p / (1 - estimated.p)) - np.log(ranks / (1 - ranks))
    expected = np.zeros(pool.n_documents)
    expected[pool.documents(0)] = -2.0
    expected[pool.documents(2)] = -2.0
    expected[pool.locate("0", ["d0", "d1"])] = [-1.0, 1.0]
    expected[pool.locate("2", ["d0", "d1", "d2"])] = 0.0
    np.testing.assert_allclose(odds, expected, atol=1e-6)

    for text, message in {
        "0 d0 3\n0 d1 high\n": r"scores.txt:2: score 'high' is not a finite number",
        "77 d0 3\n77 d1 4\n": r"no two documents of the pool have different scores.*; give scores",
    }.items():
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            estimate(model, "map", Judgments.none(pool))
    with pytest.raises(InputError, match="no such file"):
        estimate(load_model("text_evidence", {"scores": "none.txt"}), None, Judgments.none(pool))
    with pytest.raises(InputError, match="model text_evidence needs the option 'scores'"):
        load_model("text_evidence")


@pytest.mark.slow
def test_laplace_of_heavy_tails_agrees_with_nuts(pool):
    model, judgments = load_model("heavy_tails"), judge(pool)
    normal = estimate(model, "laplace", judgments, Sampling(draws=1000, chains=2, seed=1)).values
    exact = estimate(model, "nuts", judgments, Sampling(draws=800, chains=2, tune=600)).values
    difference = np.abs(normal.mean(axis=0) - exact.mean(axis=0))
    assert (difference < 5 * exact.std(axis=0) / np.sqrt(200) + 0.01).all()
