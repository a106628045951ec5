"""The layers of the paper's model as PyMC graphs, against their fast solvers."""

import numpy as np
import pytest
from scipy.special import expit

from rtc_bayes import InputError
from rtc_bayes.relevance import estimate, load_model
from rtc_bayes.relevance.compiled import CompiledGraph
from rtc_bayes.relevance.fitters import resolve_method
from rtc_bayes.relevance.fitters.graphs import find_mode

pytestmark = pytest.mark.usefixtures("interpreted")

# every option of every layer at least once, in few structures to compile
OPTIONS = [
    {},
    {"temper": "depth", "link": "logodds", "cell_weight": 0.1},
    {"smoothing": "platt", "prior": (2.0, 1.0), "intercept": True},
    {"smoothing": "beta", "prior": (2.0, 1.0), "intercept": True, "link": "logodds"},
]


@pytest.fixture(scope="module")
def small(new_pool, new_judgments):
    return new_judgments(new_pool(systems=3, topics=4, depth=7, documents=20), 25)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_fast_mode_is_its_graphs(small, options):
    model = load_model("rtc", options)
    fast = model.map(small)
    stages = model.stages(small)
    assert list(stages) == [stage.name for stage in fast.diagnostics.stages]
    result = {}
    for name, graph in stages.items():
        compiled = CompiledGraph(graph)
        mode, _ = find_mode(compiled, jacobian=False)
        assert mode.converged, name
        result.update(compiled.parameters(mode.at))
        if name == "aggregation":
            np.testing.assert_allclose(compiled.p(mode.at), fast.p, atol=1e-6)
    for name in ("A", "B", "lambda"):
        np.testing.assert_allclose(result[name], fast.parameters[name], atol=1e-6)
    if model.intercept:
        assert result["lambda_0"] == pytest.approx(float(fast.parameters["lambda_0"]), abs=1e-6)
    # one curve per distinct (R_t, N_t), not per topic
    counts = np.column_stack([small.relevant, small.nonrelevant])
    distinct, curve_of = np.unique(counts, axis=0, return_inverse=True)
    assert result["theta"].shape == (len(distinct), small.pool.depth + 1)
    np.testing.assert_allclose(result["theta"][curve_of], fast.parameters["theta"], atol=1e-6)
    mean = expit(result["theta"]).mean(axis=1)
    np.testing.assert_allclose(mean, (distinct[:, 0] + 1) / (distinct.sum(axis=1) + 2), atol=1e-9)


def test_noisy_labels_are_in_the_graphs(small, new_judgments):
    """A graph's likelihood takes probabilities, as the fast path does."""
    noisy = type(small).from_labels(small.pool, small.order, np.linspace(0, 1, small.n_judged))
    model = load_model("rtc")
    compiled = CompiledGraph(model.stages(noisy)["aggregation"])
    mode, _ = find_mode(compiled, jacobian=False)
    np.testing.assert_allclose(compiled.p(mode.at), model.map(noisy).p, atol=1e-6)


def test_no_joint_density_of_the_layers(small):
    model = load_model("rtc")
    for method in ("nuts", "laplace"):
        with pytest.raises(InputError, match=f"rtc is fitted part by part.* {method!r}; available"):
            resolve_method(model, method)
    with pytest.raises(InputError, match="folds of model rtc is '5'; give 0: an average"):
        load_model("rtc", {"folds": 5}).stages(small)
    assert estimate(model, None, small).diagnostics.usable
