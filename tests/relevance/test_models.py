"""The models that are shipped, where data are few, one-sided or repeated."""

import ast
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pools import pool_of

import rtc_bayes
from rtc_bayes import InputError, Judgments, relevance
from rtc_bayes.relevance import estimate, load_model

HERE = Path(__file__).parents[2]
MODELS, DOCUMENTATION = HERE / "models", HERE / "docs" / "models.md"

OPTIONS = [
    {"smoothing": smoothing, "link": link, "intercept": intercept, "folds": folds}
    for smoothing, link, intercept, folds in itertools.product(
        ["cells", "platt", "beta"], ["probability", "logodds"], [False, True], [0, 5]
    )
]


def check(estimated, judgments):
    assert estimated.diagnostics.converged
    assert np.isfinite(estimated.p).all()
    unjudged = ~judgments.judged
    assert ((estimated.p[unjudged] > 0) & (estimated.p[unjudged] < 1)).all()
    np.testing.assert_array_equal(estimated.p[~unjudged], judgments.labels[~unjudged])
    assert all(np.isfinite(value).all() for value in estimated.parameters.values())


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(map(str, o.values())))
@pytest.mark.parametrize("temper", ["none", "depth"])
def test_every_option_at_every_edge(new_pool, new_judgments, options, temper):
    model = load_model("rtc", {**options, "temper": temper})
    pool = new_pool()
    some = new_judgments(pool, 20)
    unseen = np.setdiff1d(np.arange(pool.n_documents), pool.ranking(0, 0))
    last = pool.documents(pool.n_topics - 1)
    cases = {
        "none": Judgments.none(pool),
        "one": Judgments.from_labels(pool, [7], [1.0]),
        "all relevant": Judgments.from_labels(pool, some.order, np.ones(20)),
        "all nonrelevant": Judgments.from_labels(pool, some.order, np.zeros(20)),
        "noisy": Judgments.from_labels(pool, some.order, np.linspace(0, 1, 20)),
        "topic without": Judgments.from_labels(pool, range(last.start), [1, 0] * (last.start // 2))
        if last.start % 2 == 0
        else Judgments.from_labels(pool, range(last.start), [1, 0] * (last.start // 2) + [1]),
        "list without": Judgments.from_labels(pool, unseen[:10], [0, 1] * 5),
        "every document": new_judgments(pool, pool.n_documents),
    }
    for judgments in cases.values():
        check(estimate(model, None, judgments), judgments)


def test_with_nothing_judged_rtc_says_one_half(pool):
    estimated = estimate(load_model("rtc"), None, Judgments.none(pool))
    np.testing.assert_array_equal(estimated.p, 0.5)


def test_prior_alone_decides_without_judgments(pool):
    """lambda_j = log(a / b) for every system, and every q_ij is one half."""
    model = load_model("rtc", {"prior": (1.0, 3.0)})
    estimated = estimate(model, None, Judgments.none(pool))
    np.testing.assert_allclose(estimated.p, 1 / (1 + 3 ** (pool.n_systems / 2)), rtol=1e-9)


def test_a_system_that_ranked_nothing_judged():
    """It is defined, and takes no part in what the other one says."""
    pool = pool_of(
        {"seen": {"1": ["a", "b", "c"]}, "unseen": {"1": ["z"], "2": ["x", "y"]}}, depth=5
    )
    judgments = Judgments.from_labels(pool, pool.locate("1", ["a", "b"]), [1.0, 0.0])
    for options in OPTIONS:
        check(estimate(load_model("rtc", options), None, judgments), judgments)


@pytest.mark.parametrize("options", OPTIONS[:4] + OPTIONS[8:12])
def test_duplicate_systems_get_equal_weights(options, new_judgments):
    rankings = {"1": ["a", "b", "c", "d"], "2": ["e", "f", "g"]}
    other = {"1": ["d", "q", "a"], "2": ["g", "h"]}
    judgments = new_judgments(
        pool_of({"one": rankings, "twin": rankings, "other": other}, depth=4), 6
    )
    estimated = estimate(load_model("rtc", options), None, judgments)
    check(estimated, judgments)
    weights = estimated.parameters["lambda"]
    assert weights[0] == pytest.approx(weights[1], abs=1e-7)
    assert weights[0] != pytest.approx(weights[2], abs=1e-4)


def test_pool_without_systems_chosen_away(pool, new_judgments):
    one = pool.select([pool.systems[1]])
    judgments = new_judgments(pool, 15).on(one)
    check(estimate(load_model("rtc"), None, judgments), judgments)


def test_order_of_systems_does_not_matter(pool, new_judgments):
    judgments = new_judgments(pool, 20)
    estimated = estimate(load_model("rtc"), None, judgments)
    turned = judgments.on(pool.select(pool.systems[::-1]))
    other = estimate(load_model("rtc"), None, turned)
    np.testing.assert_allclose(other.p, estimated.p, atol=1e-9)
    np.testing.assert_allclose(other.parameters["A"], estimated.parameters["A"][::-1], atol=1e-9)


def test_a_relevant_document_lifts_its_neighbours():
    """What the model is for: documents ranked like relevant ones are likelier relevant."""
    rng = np.random.default_rng(0)
    relevant = {str(t): set(rng.permutation(60)[:15]) for t in range(8)}
    runs = {}
    for s, skill in enumerate([3.0, 0.0]):
        rankings = {}
        for topic, good in relevant.items():
            score = np.array([skill * (d in good) for d in range(60)]) + rng.normal(size=60)
            rankings[topic] = [f"d{d:02d}" for d in np.argsort(-score)[:20]]
        runs[f"skill{s}"] = rankings
    pool = pool_of(runs, depth=20)
    truth = np.array(
        [
            int(docno[1:]) in relevant[pool.topics[t]]
            for t, docno in zip(pool.topic_of, pool.docnos, strict=True)
        ],
        dtype=float,
    )
    judged = rng.permutation(pool.n_documents)[:120]
    judgments = Judgments.from_labels(pool, judged, truth[judged])
    for options in ({}, {"smoothing": "platt", "intercept": True, "link": "logodds"}):
        estimated = estimate(load_model("rtc", options), None, judgments)
        left = ~judgments.judged
        gap = estimated.p[left & (truth == 1)].mean() - estimated.p[left & (truth == 0)].mean()
        assert gap > 0.02
        weights, slope = estimated.parameters["lambda"], estimated.parameters["B"]
        assert slope[0] > slope[1]
        assert weights[0] > weights[1]


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 9), st.integers(0, 10**6), st.data())
def test_any_small_collection(new_pool, new_judgments, systems, topics, depth, seed, data):
    pool = new_pool(systems=systems, topics=topics, depth=depth, documents=12, seed=seed)
    count = data.draw(st.integers(0, pool.n_documents))
    judgments = new_judgments(pool, count, seed=seed)
    options = data.draw(st.sampled_from(OPTIONS))
    check(estimate(load_model("rtc", options), None, judgments), judgments)


def test_uniform(judgments):
    estimated = estimate(load_model("uniform"), None, judgments)
    np.testing.assert_array_equal(estimated.p[~judgments.judged], 0.5)
    np.testing.assert_array_equal(estimated.p[judgments.judged], judgments.labels[judgments.judged])
    assert estimate(load_model("uniform", {"p": ".1"}), None, judgments).p.min() == 0.0
    with pytest.raises(InputError, match=r"option p of model uniform is '1.5'; give a number in"):
        load_model("uniform", {"p": 1.5})


def test_presets_and_what_overrides_them():
    printed = load_model("rtc", {"preset": "printed"})
    assert (printed.smoothing, printed.folds, printed.intercept) == ("platt", 0, False)
    program = load_model("rtc", {"preset": "program", "cell_weight": ".1"})
    assert (program.smoothing, program.folds, program.cell_weight) == ("cells", 5, 0.1)
    default = load_model("rtc")
    assert (default.smoothing, default.cell_weight, default.intercept) == ("cells", 1.0, False)
    assert (default.link, default.folds, default.temper) == ("probability", 0, "none")
    assert default.prior == (1.0, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"prior": "0:1"},
            "prior of model rtc is '0:1'; give the a:b of a beta prior, both positive",
        ),
        ({"prior": "1"}, "prior of model rtc is '1'; give the a:b of a beta prior"),
        ({"cell_weight": "-1"}, "cell_weight of model rtc is '-1'; give a number of at least 0"),
        ({"cell_weight": "nan"}, "cell_weight of model rtc is 'nan'; give a number"),
        ({"folds": "3"}, r"folds of model rtc is '3'; give 0 \| 5"),
        ({"intercept": "maybe"}, r"intercept of model rtc is 'maybe'; give yes \| no"),
        ({"preset": "best"}, "no preset 'best'; its presets are printed, program"),
        (
            {"smooth": "platt"},
            r"no option 'smooth'; write smoothing=cells \(cells \| platt \| beta\); all: prior,",
        ),
    ],
)
def test_options_that_rtc_refuses(options, message):
    with pytest.raises(InputError, match=message):
        load_model("rtc", options)


def test_options_are_checked_without_the_registry():
    model = type(load_model("rtc"))
    with pytest.raises(InputError, match=r"smoothing of model rtc is 'cels'; give cells \|"):
        model(smoothing="cels")


def test_two_pages_at_most():
    """The paper's model stays short enough to be read whole."""
    import rtc_bayes_models.rtc as page

    with open(page.__file__, encoding="utf-8") as file:
        assert len(file.readlines()) <= 150


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.py")), ids=lambda path: path.stem)
def test_a_model_file_imports_public_names_only(path):
    imported = [
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)
    ]
    ours = [node for node in imported if (node.module or "").startswith("rtc_bayes")]
    assert ours or path.stem == "__init__"
    public = {"rtc_bayes": rtc_bayes.__all__, "rtc_bayes.relevance": relevance.__all__}
    for node in ours:
        assert {alias.name for alias in node.names} <= set(public[node.module])


def test_what_model_files_import_is_documented():
    text = DOCUMENTATION.read_text()
    for path in MODELS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "rtc_bayes.relevance":
                for alias in node.names:
                    assert re.search(rf"`{alias.name}\b", text), alias.name
