"""The assisting model of an audit: the model that is audited, adjusted to the labels seen.

An audit estimates scores to first order in relevance about probabilities. The error of that is of
second order in how far these are off, so about a wrong model it may be large. They are therefore
adjusted first, by the logistic regression

    logit p_d + a + b (logit p_d less its mean) + c (log rank prior of d) + u_t,   u_t ~ N(0, tau^2)

with u_t an effect of d's topic; a, b, c and tau are modes of their posterior given the labels.
With a = b = c = 0 it is the model as audited. A logistic regression in this place is the
generalised regression estimator of Lehtonen and Veijanen (Survey Methodology 1998); estimates stay
nearly unbiased whether it is right or not, as errors of a document are taken about what the labels
of the others say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, softmax

from rtc_bayes.collection import Pool
from rtc_bayes.measures import moments
from rtc_bayes.measures.analytic import gradient_on_pool
from rtc_bayes.measures.names import Measure
from rtc_bayes.measures.sampling import sampling_weights

type Floats = NDArray[np.float64]

# prior standard deviations of a, b, c and log tau, and the prior median of tau; all of these were
# chosen on simulated collections
_SPREAD = np.array([2.0, 1.0, 1.0, 0.5])
_TOPICS = 0.7
# Gauss-Hermite quadrature over a topic's effect: more nodes change nothing that could be read
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(3)
# no probability is taken to be surer, where its logit is taken
CERTAIN = 1e-6


@dataclass(frozen=True, eq=False)
class AssistingModel:
    """Probabilities of relevance by node: what they are if a topic's effect is that of the node.

    Attributes
    ----------
    p : ndarray of float, shape (documents,)
        Of a document with a label given the labels of the others, of another one given all.
    updated : ndarray of float, shape (documents,)
        The same given all labels, so that a label is itself.
    by_node : ndarray of float, shape (nodes, documents)
        Where there is a label it stands in place of the probability.
    of_topic : ndarray of float, shape (nodes, topics)
        The probability of every node, given all labels of the topic.
    of_document : ndarray of float, shape (nodes, documents)
        The same, without the document's own label.
    coefficients : ndarray of float, shape (4,)
        a, b, c and tau.

    Examples
    --------
    Without labels the level is the model's, with an uncertain effect of the topic:

    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> none = np.array([], dtype=int)
    >>> AssistingModel.fit(pool, np.array([0.5, 0.5]), none, none).p.round(6).tolist()
    [0.5, 0.5]

    The first is relevant, so the second is likely to be:

    >>> model = AssistingModel.fit(pool, np.array([0.5, 0.5]), np.array([0]), np.array([1]))
    >>> bool(model.p[1] > 0.6)
    True
    """

    p: Floats
    updated: Floats
    by_node: Floats
    of_topic: Floats
    of_document: Floats
    coefficients: Floats

    @classmethod
    def fit(
        cls, pool: Pool, p: Floats, documents: NDArray[np.integer], labels: NDArray[np.generic]
    ) -> Self:
        """Adjust probabilities to labels.

        Parameters
        ----------
        pool : Pool
        p : ndarray of float, shape (documents,)
            By the model that is audited; what it is sure of, 0 or 1, stays.
        documents, labels : ndarray of int, shape (labels,)
            What is labelled, and as 0 or 1.
        """
        unsure = (p > 0.0) & (p < 1.0)
        offset = logit(np.clip(p, CERTAIN, 1.0 - CERTAIN))
        columns = np.stack([offset, _log_rank_prior(pool)], axis=1)
        if unsure.any():
            columns -= columns[unsure].mean(axis=0)
            columns[:, 1] /= columns[unsure, 1].std() or 1.0
        columns = np.column_stack([np.ones(len(p)), columns])
        used = unsure[documents]
        seen, sign = documents[used], 2.0 * labels[used].astype(np.float64) - 1.0
        topic = pool.topic_of[seen]

        def logits(theta: Floats, of: NDArray[np.integer] | slice) -> Floats:
            """Return the logit of every document by node."""
            middle = offset[of] + columns[of] @ theta[:3]
            return middle + _TOPICS * np.exp(theta[3]) * _NODES[:, None]

        def nodes(likelihood: Floats) -> Floats:
            """Return the log weight of every node by topic."""
            total = np.repeat(np.log(_WEIGHTS)[:, None], pool.n_topics, axis=1)
            np.add.at(total.T, topic, likelihood.T)
            return total

        def loss(theta: Floats) -> float:
            by_topic = np.logaddexp.reduce(nodes(log_expit(sign * logits(theta, seen))), axis=0)
            return float(0.5 * ((theta / _SPREAD) ** 2).sum() - by_topic.sum())

        theta = minimize(loss, np.zeros(4), method="BFGS").x
        likelihood = log_expit(sign * logits(theta, seen))
        by_topic = nodes(likelihood)
        by_document = by_topic[:, pool.topic_of]
        by_document[:, seen] -= likelihood
        of_document = softmax(by_document, axis=0)
        adjusted = np.where(unsure, expit(logits(theta, slice(None))), p)
        by_node = adjusted.copy()
        by_node[:, documents] = labels
        of_topic = softmax(by_topic, axis=0)
        return cls(
            p=(of_document * adjusted).sum(axis=0),
            updated=(of_topic[:, pool.topic_of] * by_node).sum(axis=0),
            by_node=by_node,
            of_topic=of_topic,
            of_document=of_document,
            coefficients=np.append(theta[:3], _TOPICS * np.exp(theta[3])),
        )

    def expected(self, pool: Pool, measure: Measure) -> Floats:
        """Return the expected mean score of every system given the labels, shape (systems,)."""
        scores = moments(pool, self.by_node, measure=measure, pairs="none").expected
        of_systems: Floats = np.einsum("kt,kst->s", self.of_topic, scores) / max(pool.n_topics, 1)
        return of_systems

    def slopes(self, pool: Pool, measure: Measure) -> Floats:
        """Return how expected mean scores move with every document, shape (systems, documents)."""
        of_nodes = (
            # a topic without an unsure document would have no slope
            weight * gradient_on_pool(pool, measure, np.clip(values, 1e-9, 1.0 - 1e-9))
            for weight, values in zip(self.of_document, self.by_node, strict=True)
        )
        return np.sum(list(of_nodes), axis=0)


def _log_rank_prior(pool: Pool) -> Floats:
    """Return the logarithm of the weight "rank"; what no system ranks has the lowest there is."""
    weights = sampling_weights(pool, "rank")
    ranked = weights > 0.0
    lowest = weights[ranked].min() if ranked.any() else 1.0
    return np.log(np.where(ranked, weights, lowest))
