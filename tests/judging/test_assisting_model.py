"""The assisting model of an audit: by brute force, and what it learns of labels."""

import numpy as np
import oracle
import pytest
from pools import random_pool
from scipy.special import expit, logit

from rtc_bayes.judging.assisting_model import AssistingModel
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.measures.sampling import sampling_weights

SCORES = {
    "AP": oracle.average_precision,
    "P@3": lambda ranking, x: oracle.precision(ranking, x, 3),
}
NONE = np.array([], dtype=int)


@pytest.fixture(scope="module")
def small():
    """A pool of two topics, and probabilities of which one is sure."""
    rng = np.random.default_rng(3)
    pool = random_pool(rng, systems=3, topics=2, documents=6, longest=5)
    p = rng.uniform(0.1, 0.9, pool.n_documents)
    p[4] = 1.0
    return pool, p


def rankings_of(pool, topic):
    ranks = pool.ranks(topic)
    return [[int(d) for d in np.argsort(row) if row[d] > 0] for row in ranks]


def expected_score(pool, topic, p, score):
    """Return the expected score of every list of a topic by all outcomes."""
    scores, weights = oracle.distribution(rankings_of(pool, topic), p.tolist(), score)
    return weights @ scores


@pytest.mark.parametrize("measure", list(SCORES))
def test_expectation_and_slopes_are_those_of_all_outcomes(small, measure):
    """The linear functional of an audit, over nodes of the topic's effect."""
    pool, p = small
    seen, labels = np.array([0, 2, 7]), np.array([1, 0, 1])
    model, score = AssistingModel.fit(pool, p, seen, labels), SCORES[measure]
    expected = np.zeros(pool.n_systems)
    slopes = np.zeros((pool.n_systems, pool.n_documents))
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        for node, p in enumerate(model.by_node):
            expected += model.of_topic[node, t] * expected_score(pool, t, p[inside], score)
            for d in range(inside.start, inside.stop):
                with_d, without_d = p.copy(), p.copy()
                with_d[d], without_d[d] = 1.0, 0.0
                slopes[:, d] += model.of_document[node, d] * (
                    expected_score(pool, t, with_d[inside], score)
                    - expected_score(pool, t, without_d[inside], score)
                )
    asked = parse_measure(measure)
    np.testing.assert_allclose(model.expected(pool, asked), expected / pool.n_topics, atol=1e-7)
    np.testing.assert_allclose(model.slopes(pool, asked), slopes / pool.n_topics, atol=1e-7)


def test_nodes_are_weighed_by_the_labels_of_the_topic(small):
    """The regression written out, then Bayes' rule, of a document without its own label."""
    pool, p = small
    label = {0: 1, 2: 0, 7: 1}
    model = AssistingModel.fit(pool, p, np.array(list(label)), np.array(list(label.values())))
    a, b, c, tau = model.coefficients
    unsure = p < 1.0
    odds, ranks = logit(np.where(unsure, p, 0.5)), np.log(sampling_weights(pool, "rank"))
    ranks = (ranks - ranks[unsure].mean()) / ranks[unsure].std()
    middle = odds + a + b * (odds - odds[unsure].mean()) + c * ranks
    effects, prior = np.sqrt(3.0) * np.array([-1.0, 0.0, 1.0]), np.array([1.0, 4.0, 1.0]) / 6.0
    nodes = np.where(unsure, expit(middle + tau * effects[:, None]), 1.0)

    def posterior(topic, without=None):
        weight = prior.copy()
        for d, y in label.items():
            if pool.topic_of[d] == topic and d != without:
                weight *= nodes[:, d] if y else 1.0 - nodes[:, d]
        return weight / weight.sum()

    for d, topic in enumerate(pool.topic_of):
        np.testing.assert_allclose(model.of_topic[:, topic], posterior(topic))
        np.testing.assert_allclose(model.of_document[:, d], posterior(topic, without=d))
        assert model.p[d] == pytest.approx(posterior(topic, without=d) @ nodes[:, d])
        assert model.updated[d] == pytest.approx(label.get(d, posterior(topic) @ nodes[:, d]))


def test_without_labels_the_model_is_as_audited(small):
    pool, p = small
    model = AssistingModel.fit(pool, p, NONE, NONE)
    np.testing.assert_allclose(model.coefficients, [0.0, 0.0, 0.0, 0.7], atol=1e-6)
    np.testing.assert_allclose(model.by_node[1], p)


def test_level_spread_and_ranks_are_learned():
    """Labels are drawn by probabilities that fall with the rank; models know less or too much."""
    rng = np.random.default_rng(5)
    pool = random_pool(rng, systems=4, topics=40, documents=40, longest=20)
    truth = expit(1.0 - 0.35 * pool.best_ranks)
    labels = (rng.random(pool.n_documents) < truth).astype(int)
    seen = rng.choice(pool.n_documents, 400, replace=False)
    for wrong in (np.full_like(truth, 0.5), expit(3.0 * logit(truth)), 0.3 * truth):
        model = AssistingModel.fit(pool, wrong, seen, labels[seen])
        assert np.abs(model.p - truth).mean() < 0.5 * np.abs(wrong - truth).mean()
        assert model.p.sum() == pytest.approx(truth.sum(), rel=0.15)
