"""Compiled once per structure: what later graphs reuse, and that they get their own answers."""

from collections import OrderedDict

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from rtc_bayes import FitWarning, InputError
from rtc_bayes.relevance import compiled
from rtc_bayes.relevance.compiled import CompiledGraph, statistics

pytestmark = pytest.mark.usefixtures("interpreted")


def regression(judged, labels, topics=4, spread=1.0):
    """Judged documents and labels captured as arrays, a length by a dim, and one by pm.Data."""
    topic_of = np.repeat(np.arange(topics), 5)
    feature = np.linspace(-1, 1, 5 * topics)
    with pm.Model(coords={"topic": range(topics)}) as model:
        scale = pm.HalfNormal("scale", spread)
        level = pm.Normal("level", 0, scale, dims="topic")
        slope = pm.Normal("slope", pm.Data("centre", np.full(1, 0.5)), [1.0], shape=1)
        eta = level[topic_of] + slope * feature
        pm.Deterministic("p", pm.math.sigmoid(eta))
        pm.Bernoulli("label", logit_p=eta[judged], observed=np.asarray(labels))
    return model


def answers(graph, seed=0):
    """Everything that a graph is asked for, at one random point."""
    compiled = CompiledGraph(graph)
    x = compiled.start + np.random.default_rng(seed).normal(size=compiled.size)
    value, gradient = compiled.derivative(x, jacobian=True)
    assert compiled.log_density(x, jacobian=True) == pytest.approx(value)
    plain = compiled.log_density(x, jacobian=False)
    return x, value, plain, gradient, compiled.hessian(x, jacobian=True), compiled.p(x)


def test_rounds_of_judging_compile_once():
    rng = np.random.default_rng(3)
    counts = []
    for judged in (6, 10, 17):
        documents = rng.permutation(20)[:judged]
        graph = regression(documents, rng.random(judged) < 0.5)
        x, value, plain, gradient, hessian, p = answers(graph)
        counts.append(statistics.compiled)
        # against PyMC's own functions of this very graph
        point = {"scale_log__": x[0], "level": x[1:5], "slope": x[5:]}
        assert graph.compile_logp()(point) == pytest.approx(value, rel=1e-12)
        assert graph.compile_logp(jacobian=False)(point) == pytest.approx(plain, rel=1e-12)
        np.testing.assert_allclose(graph.compile_dlogp()(point), gradient, rtol=1e-9)
        outside = graph.compile_fn(
            graph.replace_rvs_by_values([graph["p"]]),
            inputs=graph.value_vars,
            on_unused_input="ignore",
        )(point)
        np.testing.assert_allclose(outside[0], p, rtol=1e-12)
        step = 1e-5 * np.eye(6)[2]
        compiled = CompiledGraph(graph)
        ahead, behind = (compiled.derivative(x + d, jacobian=True)[1] for d in (step, -step))
        np.testing.assert_allclose(hessian[2], (ahead - behind) / 2e-5, atol=1e-7)
        np.testing.assert_array_equal(hessian, hessian.T)
    assert counts[0] == counts[1] == counts[2]


def test_other_topics_and_data_are_the_same_structure_other_constants_are_not():
    labels, documents = np.array([0, 1, 1, 0, 1, 0]), np.array([0, 3, 7, 9, 12, 13])
    answers(regression(documents, labels))
    compiled_before = statistics.compiled
    other = answers(regression(documents[1:], labels[1:], topics=6))
    assert (len(other[0]), len(other[-1])) == (8, 30)
    graph = regression(documents, labels)
    before = CompiledGraph(graph).log_density(np.zeros(6), jacobian=True)
    with graph:
        pm.set_data({"centre": [2.5]})
    after = CompiledGraph(graph).log_density(np.zeros(6), jacobian=True)
    assert before - after == pytest.approx((2.5**2 - 0.5**2) / 2)
    assert statistics.compiled == compiled_before
    wide = CompiledGraph(regression(documents, labels, spread=3.0))
    assert wide.log_density(np.zeros(6), jacobian=True) != pytest.approx(after)
    assert statistics.compiled > compiled_before


def test_a_graph_that_data_shape_is_compiled_alone_and_says_so():
    """A long shape: as data, whether it broadcasts cannot be known beforehand."""
    with pm.Model() as graph:
        x = pm.Normal("x", shape=2)
        grid = pt.reshape(x, pt.constant([1, 1, 1, 1, 2])) + np.ones((3, 2))
        pm.Deterministic("p", pm.math.sigmoid(grid.sum(axis=-2).flatten()))
    alone_before = statistics.baked
    with pytest.warns(FitWarning, match=r"compiled for itself alone: .*broadcasts a length"):
        p = CompiledGraph(graph).p(np.array([0.0, 1.0]))
    np.testing.assert_allclose(p, 1 / (1 + np.exp([-3.0, -6.0])))
    assert statistics.baked == alone_before + 1


def test_a_discrete_free_variable_is_refused():
    with pm.Model() as model:
        pm.Poisson("count", 2.0)
    with pytest.raises(InputError, match=r"the free variable count is discrete.*sum it out"):
        CompiledGraph(model)


def test_a_structure_that_another_thread_drops_is_used_still(monkeypatch):
    class Busy(OrderedDict):
        def move_to_end(self, key, last=True):
            del self[key]

    monkeypatch.setattr(compiled, "_structures", Busy())
    values = pt.vector("x")
    bound = [compiled._bind([values.sum()], [values]) for _ in range(2)]
    assert [float(each("value", [np.ones(3)])[0]) for each in bound] == [3.0, 3.0]
