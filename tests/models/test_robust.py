"""The model robust: its features, its two paths, and what it says of systems it has not seen."""

from itertools import combinations

import numpy as np
import pytest
from pools import pool_of
from scipy.special import expit
from threadpoolctl import threadpool_info, threadpool_limits

import rtc_bayes as rb
from rtc_bayes import CollectionWarning, InputError, Judgments, Pool
from rtc_bayes.relevance import Sampling, estimate, load_model
from rtc_bayes.relevance.compiled import CompiledGraph
from rtc_bayes_models.robust import COEFFICIENTS, Design, Robust

DEPTH = 4
RUNS = {
    "first": {"1": ["a", "b", "c", "d", "x", "g"], "2": ["a", "b"]},
    "second": {"1": ["b", "e", "a", "f"], "2": ["c", "a", "d"]},
    "third": {"1": ["g", "a"], "2": ["e", "f", "g", "c"]},
}


def make_pool(names=("first", "second", "third")):
    return pool_of({name: RUNS[name] for name in names}, depth=DEPTH)


def judge(pool, labels, judged_for=("first", "second")):
    documents = [int(pool.locate(topic, [docno])[0]) for topic, docno in labels]
    return Judgments.from_labels(pool, documents, list(labels.values()), judged_for=judged_for)


LABELS = {("1", "a"): 1.0, ("1", "b"): 0.0, ("2", "a"): 1.0, ("2", "c"): 0.0, ("1", "e"): 0.0}


@pytest.fixture
def judgments():
    return judge(make_pool(), LABELS)


def shared(lists):
    """Mean share in common of the lists of two systems, none of which has more than ten."""
    return np.mean(
        [
            len({*one} & {*other}) / np.sqrt(len(one) * len(other))
            for one, other in combinations(lists, 2)
        ]
    )


def literal_log_odds(pool, judged_for, parameters, topic, docno):
    """The formula of the docstring, term by term."""
    systems, t, reach = pool.n_systems, pool.topics.index(topic), 6
    eta = parameters["mu"] + parameters["m_d"] * np.log(reach / 100) + parameters["alpha"][t]
    lists = [RUNS[name][topic] for name in pool.systems]
    both_topics = np.mean(
        [shared([RUNS[name][q][:DEPTH] for name in pool.systems]) for q in pool.topics]
    )
    r = np.array([docno in ranked for ranked in lists], dtype=float)
    f = np.array(
        [
            1 - np.log(ranked.index(docno) + 1) / np.log(reach + 1) if docno in ranked else 0.0
            for ranked in lists
        ]
    )
    eta += (
        parameters["m_e"]
        * (shared([ranked[:DEPTH] for ranked in lists]) - both_topics)
        * (f.mean() - 0.35)
    )
    new = not any(docno in RUNS[name][topic][:DEPTH] for name in judged_for)
    for j, ranked in enumerate(lists):
        selective = parameters["m_c"] * np.log(reach / len(ranked))
        eta += (parameters["m_a"] / systems + parameters["a"][j] + selective) * r[j]
        eta += (parameters["m_b"] / systems + parameters["b"][j] + parameters["u"][j] * new) * f[j]
        eta += parameters["q"][t, j] * (r[j] - 0.6 * r.mean()) / systems ** (1 / 3)
        turned = (f[j] - 0.35) - 0.6 * (f.mean() - 0.35)
        eta += parameters["w"][t, j] * turned / systems ** (1 / 3)
    return eta


@pytest.mark.parametrize("held_out", [{}, {"1": "second"}, {"1": "first", "2": "second"}])
def test_probabilities_are_the_formula_s(held_out):
    made_for = {
        topic: [name for name in ("first", "second") if name != held_out.get(topic)]
        for topic in ("1", "2")
    }
    judgments = judge(make_pool(), LABELS, judged_for=made_for)
    drawn = Robust().gibbs(judgments, Sampling(30, 2, 20, 1))
    pool = judgments.pool
    for chain, draw in ((0, 0), (1, 29)):
        result = {name: value[chain, draw] for name, value in drawn.parameters.items()}
        for topic in pool.topics:
            inside = pool.documents(pool.topics.index(topic))
            for i in range(inside.start, inside.stop):
                eta = literal_log_odds(pool, made_for[topic], result, topic, pool.docnos[i])
                assert drawn.p[chain, draw, i] == pytest.approx(expit(eta), abs=1e-5)


@pytest.mark.parametrize("centred", [False, True])
def test_the_graph_has_the_same_probabilities(judgments, centred):
    """At a point of the graph, its p is that of the sampler's features."""
    import pytensor

    model, design = Robust(centred=centred), Design(Robust(), judgments)
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        graph = CompiledGraph(model.graph(judgments.pool, judgments))
        point = np.random.default_rng(3).normal(size=graph.size)
        result, p = graph.parameters(point), graph.p(point)
    columns = np.concatenate([[result[n] for n in COEFFICIENTS], *(result[n] for n in "abu")])
    local = np.column_stack([result["alpha"], result["q"], result["w"]])
    assert p == pytest.approx(
        design.predict(columns[None, None], local[None, None])[0, 0], abs=1e-5
    )


def test_ranks_below_the_depth_are_evidence_that_novelty_leaves_out(judgments):
    """The document g of topic 1 is the sixth of first, judged for, whose list is cut at four."""
    pool = judgments.pool
    columns, _ = Design(Robust(), judgments).features(0)
    row = columns[pool.locate("1", ["g"])[0]]
    r, f, novel = np.split(row[len(COEFFICIENTS) :], 3)
    assert r.tolist() == [1.0, 0.0, 1.0]
    assert f == pytest.approx([1 - np.log(6) / np.log(7), 0.0, 1.0])
    assert novel.tolist() == f.tolist()


def test_it_predicts_by_one_thread_of_the_linear_algebra(judgments, monkeypatch):
    """Threads that wait for each other took ten times as long beside other work."""
    threads = set()

    def counted(x):
        libraries = (each for each in threadpool_info() if each["user_api"] == "blas")
        threads.update(each["num_threads"] for each in libraries)
        return expit(x)

    monkeypatch.setattr("rtc_bayes_models.robust.sigmoid", counted)
    with threadpool_limits(2):
        estimate(Robust(), "gibbs", judgments, Sampling(draws=20, chains=2))
    assert threads == {1}


def test_who_was_judged_for_is_known_or_inferred():
    pool = make_pool()
    told, asked = judge(pool, LABELS), judge(pool, LABELS, judged_for=None)
    # second retrieved a, b, e and a, c: all that was judged
    assert Design(Robust(), told).judged_for[:, 0].tolist() == [True, True, False]
    with pytest.warns(CollectionWarning, match=r"inferred, as a smallest set .*: second"):
        assert Design(Robust(), asked).judged_for[:, 0].tolist() == [False, True, False]


def test_it_is_what_is_fitted_where_nothing_is_named(judgments):
    fitted = rb.fit(judgments.pool, judgments, draws=50, chains=2, tune=20, seed=1)
    assert (fitted.model, fitted.method) == ("robust", "gibbs")
    assert fitted.posterior["posterior"]["w"].dims == ("chain", "draw", "topic", "system")
    posterior = fitted.posterior["posterior"]
    # s_u is fixed: a constant has no r-hat
    assert list(posterior["scale"].values) == ["s_alpha", "s_q", "s_w", "s_a", "s_b"]
    assert (posterior["log_s"].std(["chain", "draw"]) > 0).all()
    for model in (Robust(), Robust(centred=True)):
        graph = model.graph(judgments.pool, judgments)
        assert graph.coords["scale"] == tuple(posterior["scale"].values)
        assert graph["log_s"].eval().shape == (5,)
    fewer = fitted.predict(make_pool(("first", "third")))
    assert fewer.judgments.pool.systems == ("first", "third")


def test_drawing_that_takes_long_is_foretold(judgments, monkeypatch):
    monkeypatch.setattr("rtc_bayes.relevance.gibbs.expected_minutes", lambda *_: 7.0)
    sampling = Sampling(draws=10, chains=4, tune=10)
    with pytest.warns(rb.FitWarning, match="about 7 min with 5 judged documents"):
        estimate(load_model("robust"), "gibbs", judgments, sampling)


def test_nothing_judged_gives_the_prior():
    pool = make_pool()
    drawn = Robust().gibbs(Judgments.none(pool), Sampling(2000, 2, 10, 4))
    mu = drawn.parameters["mu"].ravel()
    assert abs(mu.mean() + 3.26) < 4.4 * 0.85 / np.sqrt(len(mu))
    b = np.abs(drawn.parameters["b"]).ravel()
    # the median of |t(3)| is 0.765, times a scale whose median is 1.11
    assert np.median(b) == pytest.approx(1.11 * 0.765, rel=0.06)


@pytest.mark.parametrize(("systems", "share"), [(3, 1.0), (10, 1.0), (80, 0.5)])
def test_of_many_systems_each_has_smaller_effects(systems, share):
    pool = pool_of({f"s{i}": {"1": ["a", f"d{i}"]} for i in range(systems)}, depth=2)
    drawn = Robust().gibbs(Judgments.none(pool, judged_for=pool.systems), Sampling(500, 2, 10, 4))
    medians = {"a": 0.31, "b": 1.13}
    for number, (name, scale) in enumerate(medians.items(), start=3):
        log_s = drawn.parameters["log_s"][..., number]
        # independent draws: nothing is judged
        error = 0.4 / np.sqrt(log_s.size)
        assert abs(log_s.mean() - np.log(share * scale)) < 4.4 * error
        # the median of |t(3)| is 0.765; that of n of them errs by 1.27 / sqrt(n) of itself
        effects = np.abs(drawn.parameters[name]) / (0.765 * share * scale)
        tolerance = 4.4 * (error + 1.27 / np.sqrt(effects.size))
        assert abs(np.log(np.median(effects))) < tolerance
    # effects on a topic are divided by their number in the features
    log_s = drawn.parameters["log_s"][..., 2]
    assert abs(log_s.mean() - np.log(4.73)) < 4.4 * 0.2 / np.sqrt(log_s.size)


@pytest.mark.parametrize("preset", [None, "trec", "robust03", "wide"])
def test_presets_draw(judgments, preset):
    model = load_model("robust", {"preset": preset} if preset else {})
    drawn = estimate(model, "gibbs", judgments, Sampling(100, 2, 50, 1))
    assert drawn.p.shape == (2, 100, judgments.pool.n_documents)
    assert np.all(drawn.p[..., judgments.order] == judgments.labels[judgments.order])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mu": "0:0"}, "the mean:sd of a normal prior, the sd positive"),
        ({"s_w": "0:.2"}, "median:spread"),
        ({"s_w": "1:-1"}, "median:spread"),
        ({"s_u": "0.6:100"}, "from 0 to 10: numbers farther out overflow"),
        ({"s_q": "1e200:0"}, "from 1e-06 to 1e"),
        ({"s_q": "nan:0"}, "."),
        ({"df": "0"}, "a positive number"),
        ({"shared": "1.5"}, "a number from 0 to 1"),
        ({"pivot": "-.1"}, "a number from 0 to 1"),
    ],
)
def test_bad_options_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        load_model("robust", options)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rtc_bayes.FitWarning")
def test_gibbs_draws_what_nuts_draws():
    """On a simulated collection: means of p of all documents, within their Monte Carlo error."""
    from arviz_stats.base import array_stats

    from rtc_bayes.collection.simulate import simulate

    made = simulate(n_topics=6, n_systems=4, seed=3)
    pool = Pool.from_runs(made.runs, depth=20)
    every = Judgments.from_qrels(pool, made.qrels)
    rng = np.random.default_rng(0)
    retrieved = every.order[np.isin(every.order, every.pool.ranked)]
    some = rng.permutation(retrieved)[:60]
    judgments = Judgments.from_labels(
        every.pool, some, every.labels[some], judged_for=pool.systems[:2]
    )
    model = Robust(df=4.0)
    gibbs = estimate(model, "gibbs", judgments, Sampling(1000, 4, 500, 1), labelled=False)
    nuts = estimate(model, "nuts", judgments, Sampling(1000, 4, 1000, 2), labelled=False)
    variance, mean = 0.0, []
    for result in (gibbs, nuts):
        p = result.p.astype(np.float64)
        ess = array_stats.ess(p, method="mean", chain_axis=0, draw_axis=1)
        variance = variance + p.var(axis=(0, 1)) / ess
        mean.append(p.mean(axis=(0, 1)))
    z = (mean[0] - mean[1]) / np.sqrt(variance)
    assert np.abs(z).max() < 5.0
    assert np.mean(z**2) < 3.0  # documents are dependent: a share of them moves together


@pytest.mark.parametrize("method", ["gibbs", "nuts"])
def test_documents_that_no_system_retrieved_are_no_evidence(method):
    pool = make_pool()
    more = pool.with_documents({"1": ["x", "y"], "2": ["z"]})
    labels = LABELS | {("1", "x"): 0.0, ("2", "z"): 1.0}
    if method == "nuts":
        graph = Robust().graph(more, judge(more, labels))
        assert len(graph["label"].owner.inputs[-1].eval()) == len(LABELS)
        return
    sampling = Sampling(20, 2, tune=20, seed=5)
    some = estimate(Robust(), method, judge(pool, LABELS), sampling)
    every = estimate(Robust(), method, judge(more, labels), sampling)
    for n, document in enumerate(more.docnos):
        topic = more.topics[more.topic_of[n]]
        place = pool.locate(topic, [document])[0]
        if place < 0:
            label = labels.get((topic, document))
            assert label is None or (every.values[:, n] == label).all()
        else:
            # products of matrices of other shapes may round the last bit of a log-odds otherwise
            np.testing.assert_allclose(every.values[:, n], some.values[:, place], rtol=1e-5)


@pytest.mark.parametrize("scale", ["0.6:100", "1e7:0", "0:1"])
def test_scales_that_no_sampler_can_follow_are_refused(scale):
    """With 0.6:100 a chain never ended, and could not be interrupted."""
    with pytest.raises(InputError, match="median:spread"):
        load_model("robust", {"s_u": scale})
