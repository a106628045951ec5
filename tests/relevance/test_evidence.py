"""What models share: features of the judged documents, as rows."""

import arviz as az
import numpy as np
import pymc as pm
import pytest
from pools import make_pool
from scipy.stats import norm

from rtc_bayes import Judgments, fit
from rtc_bayes.relevance.evidence import coordinates, document_ranks, judged_rows, observe


def test_rows_of_judged_documents_are_in_the_order_of_judging(judgments):
    pool, asked = judgments.pool, []
    mixed = judgments.order[np.random.default_rng(0).permutation(judgments.n_judged)]
    judged = Judgments.from_labels(pool, mixed, judgments.labels[mixed])

    def features(topic):
        asked.append(topic)
        return pool.ranks(topic).T.astype(float)

    np.testing.assert_array_equal(judged_rows(judged, features), document_ranks(pool)[mixed])
    assert set(asked) == {0, *pool.topic_of[mixed]}
    assert judged_rows(Judgments.none(pool), features).shape == (0, pool.n_systems)


def test_features_of_several_parts_are_an_array_each(judgments):
    def parts(topic):
        ranks = judgments.pool.ranks(topic).T.astype(float)
        return ranks, np.log1p(ranks[:, :1])

    ranks, first = judged_rows(judgments, parts)
    whole = judged_rows(judgments, lambda topic: np.hstack(parts(topic)))
    np.testing.assert_array_equal(np.hstack([ranks, first]), whole)
    assert ranks.base is None
    assert first.base is None


@pytest.mark.parametrize("soft", [False, True])
def test_labels_are_observed_one_by_one(soft):
    """So that leaving one out and predictions work of probabilities, too."""
    pool = make_pool()
    count = min(20, pool.n_documents)
    labels = np.linspace(0, 1, count) if soft else np.arange(count) % 3 == 0
    judged = Judgments.from_labels(pool, np.arange(count), labels.astype(float))
    with pm.Model(coords=coordinates(pool)) as model:
        level = pm.Normal("level", 0, 2, dims="topic")
        observe(judged, lambda rows: level[pool.topic_of[rows]])
    value = np.linspace(-1, 2, pool.n_topics)
    (density,) = model.compile_logp(model["label"], sum=False)({"level": value})
    eta = value[pool.topic_of[:count]]
    np.testing.assert_allclose(density, labels * eta - np.logaddexp(0, eta), rtol=1e-12)
    assert model.named_vars_to_dims["label"] == ("judgment",)
    with model:
        drawn = pm.draw(model["label"], 4000, random_seed=1)
    assert set(np.unique(drawn)) == {0, 1}


def test_a_fit_of_soft_judgments_is_left_out_and_predicted():
    pool = make_pool()
    count = min(40, pool.n_documents)
    judged = Judgments.from_labels(pool, np.arange(count), np.resize([0.9, 0.2, 0.1, 0.0], count))
    fitted = fit(pool, judged, model="hierarchical", draws=100, chains=2)
    with fitted.graph():
        pm.compute_log_likelihood(fitted.posterior, progressbar=False)
        made = pm.sample_posterior_predictive(fitted.posterior, progressbar=False, random_seed=1)
    fitted.posterior["posterior_predictive"] = made["posterior_predictive"]
    assert made["posterior_predictive"]["label"].dims == ("chain", "draw", "judgment")
    assert np.isfinite(az.loo(fitted.posterior).elpd)
    p = fitted.relevance.on(judged.pool)[1][:, judged.order]
    # the graph has the posterior's p, and labels are drawn by it
    share = made["posterior_predictive"]["label"].mean(("chain", "draw")).to_numpy()
    assert share.shape == p.shape[1:]
    assert ((share > 0) & (share < 1)).all()


def test_a_graph_may_have_two_likelihoods():
    pool = make_pool()
    first = Judgments.from_labels(pool, [0, 1, 2], [1, 0, 1])
    second = Judgments.from_labels(pool, [3, 4], [1, 0])
    with pm.Model(coords=coordinates(pool)) as model:
        for name, judged in (("a", first), ("b", second)):
            with pm.Model(name=name):
                level = pm.Normal("level")
                observe(judged, lambda rows, level=level: level + np.zeros(len(rows)))
    density = model.compile_logp()({"a::level": 0.0, "b::level": 0.0})
    assert density == pytest.approx(2 * norm.logpdf(0) + 5 * np.log(0.5))
