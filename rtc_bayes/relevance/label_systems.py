"""What labels of judges say of systems and topics: a rank model fitted to the labels alone.

With x_i the log likelihood ratio of document i's labels, r and f as in the model ``hierarchical``
(whether, and how high, a system ranks the document), over the documents that have labels::

    logit p_i = mu + alpha_t + sum_j [(m_a / J + a_j) r_ij + (m_b / J + b_j) f_ij]
    likelihood  prod_i (1 - p_i + p_i exp(x_i))

that is, the relevance of each document summed out. The mode is found by L-BFGS under normal
priors with that model's medians as scales.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from rtc_bayes.collection import Pool
from rtc_bayes.relevance.evidence import rank_curve
from rtc_bayes.relevance.newton import Floats

# of mu, m_a and m_b: mean and sd; of alpha, a and b: sd
_MEANS, _SDS = np.array([-3.7, 1.0, 4.7]), np.array([0.8, 1.5, 1.5])
_ALPHA = 1.0
SPREAD = (0.45, 0.7)
"""Sds of a and b."""
_STEPS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class LabelledSystems:
    """Effects of systems and topics on log-odds of relevance, as labels have them.

    Attributes
    ----------
    pool : Pool
    without : ndarray of bool, shape (systems,)
        Whose ranks are no evidence.
    ranked, curve : ndarray of float, shape (systems,)
        a and b.
    topics : ndarray of float, shape (topics,)
        alpha; 0 for a topic without labels.
    """

    pool: Pool
    without: NDArray[np.bool_]
    ranked: Floats
    curve: Floats
    topics: Floats

    @classmethod
    def fit(
        cls,
        pool: Pool,
        score: Floats,
        labelled: NDArray[np.bool_],
        *,
        without: NDArray[np.bool_] | None = None,
    ) -> LabelledSystems:
        """Find the mode.

        Parameters
        ----------
        pool : Pool
        score : ndarray of float, shape (documents,)
            x.
        labelled : ndarray of bool, shape (documents,)
            Which documents have a label.
        without : ndarray of bool, shape (systems,), optional
            Whose ranks are no evidence, as they share the judge's errors; by default nobody's.

        Examples
        --------
        The judge's labels say that the first system ranks better than the second:

        >>> import rtc_bayes as rb
        >>> lists = {"good": {"1": ["a", "b"]}, "bad": {"1": ["c", "b"]}}
        >>> run = rb.Run.from_rankings
        >>> pool = rb.Pool.from_runs(rb.Runs([run(*each) for each in lists.items()]))
        >>> x, every = np.array([2.0, 0.0, -2.0]), np.ones(3, dtype=bool)
        >>> curve = LabelledSystems.fit(pool, x, every).curve
        >>> bool(curve[0] > 0 > curve[1])
        True
        """
        if without is None:
            without = np.zeros(pool.n_systems, dtype=bool)
        (of_a, of_b), rows = SPREAD, np.flatnonzero(labelled)
        of_row = pool.topic_of[rows]
        features = [
            _ranks(pool, t, without)[labelled[pool.documents(t)]] for t in range(pool.n_topics)
        ]
        r, f = np.hsplit(np.vstack(features), 2)
        common = np.column_stack([np.ones(len(rows)), r.mean(axis=1), f.mean(axis=1)])
        x, s, n = score[rows], pool.n_systems, pool.n_topics
        design = np.hstack([common * _SDS, r * of_a, f * of_b])
        offset = common @ _MEANS

        def objective(z: Floats) -> tuple[float, Floats]:
            eta = offset + design @ z[n:] + _ALPHA * z[:n][of_row]
            likelihood = np.logaddexp(log_expit(-eta), log_expit(eta) + x)
            slope = expit(eta + x) - expit(eta)
            by_topic = _ALPHA * np.bincount(of_row, weights=slope, minlength=n)
            gradient = np.concatenate([by_topic, design.T @ slope])
            return float(z @ z / 2.0 - likelihood.sum()), z - gradient

        start = np.zeros(n + design.shape[1])
        options = {"maxiter": _STEPS}
        mode = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
        effects = mode[n + 3 :]
        return cls(pool, without, of_a * effects[:s], of_b * effects[s:], _ALPHA * mode[:n])

    def of_documents(self, topic: int) -> Floats:
        """Return the sum over systems of a r + b f for a topic's documents."""
        return _ranks(self.pool, topic, self.without) @ np.concatenate([self.ranked, self.curve])

    def __repr__(self) -> str:
        return f"LabelledSystems({self.pool.n_systems} systems, {self.pool.n_topics} topics)"


def _ranks(pool: Pool, topic: int, without: NDArray[np.bool_]) -> Floats:
    """Return r and f of a topic's documents, side by side; those of some systems are 0."""
    ranks = np.where(without, 0, pool.ranks(topic).T)
    return np.hstack([ranks > 0, rank_curve(ranks, pool.depth)])
