"""How likely unjudged documents are relevant, by a classifier of their ranks (chapter 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.errors import InputError
from rtc_bayes.measures import moments
from rtc_bayes.relevance import ModelSpec, Sampling, estimate, resolve_method

type Floats = NDArray[np.float64]
type Belief = Callable[[Judgments], Floats]
"""Probabilities of the pool's documents, (documents,) or (draws, documents), from judgments."""

Classifier = Literal["logistic", "svm"]
CLASSIFIERS: tuple[Classifier, ...] = get_args(Classifier)

# Without a relevant and a nonrelevant judgment there is nothing to learn.
_UNINFORMED = 0.5
# A support vector machine far from its data says so with certainty, which no moments survive.
_SURE = 1e-6


def belief(by: str, pool: Pool, seed: int) -> Belief:
    """Return what predicts relevance: a classifier of `pool`, or a relevance model by its name."""
    if by in CLASSIFIERS:
        return _Classified(pool, "svm" if by == "svm" else "logistic", seed)
    try:
        spec = ModelSpec.parse(by)
        model = spec.build()
    except InputError as error:
        remedy = f"give {' or '.join(CLASSIFIERS)}, or a model: {error.remedy}"
        raise InputError(error.message, path=error.path, line=error.line, remedy=remedy) from None

    method = resolve_method(model, spec.method)
    sampling = Sampling.of(method, seed=seed)

    def predicted(judgments: Judgments) -> Floats:
        return np.asarray(estimate(model, method, judgments, sampling).values)

    return predicted


class _Classified:
    """A linear classifier of documents by how systems rank them (Hosseini 2013, section 6.3.2).

    Features: how many systems retrieve a document; the least, mean and largest logarithm of its
    ranks; the least, mean and largest performance so far of the systems that retrieve it; and what
    each system gives it: 1 - log(rank) / log(depth + 1) in place of a score, 0 where it is not
    retrieved, so that lists without comparable scores will do. Features are standardised on all
    documents of the pool, which takes no judgment.
    """

    def __init__(self, pool: Pool, kind: Classifier, seed: int) -> None:
        self._pool, self._kind, self._seed = pool, kind, seed
        self._retrieves = np.concatenate([pool.ranks(t) > 0 for t in range(pool.n_topics)], axis=1)
        fixed = [_of_ranks(pool.ranks(t), pool.score_depth) for t in range(pool.n_topics)]
        self._fixed = _standardised(np.concatenate(fixed))

    def __call__(self, judgments: Judgments) -> Floats:
        labels = judgments.labels
        judged = np.flatnonzero(judgments.judged)
        relevant = labels[judged] > 0.5
        if not relevant.any() or relevant.all():
            return np.where(judgments.judged, np.nan_to_num(labels), _UNINFORMED)
        features = np.hstack([self._fixed, _standardised(self._performance(judgments))])
        p = self._fitted(features[judged], relevant, features)
        p = np.clip(p, _SURE, 1.0 - _SURE)
        return np.where(judgments.judged, np.nan_to_num(labels), p)

    def _performance(self, judgments: Judgments) -> Floats:
        """Least, mean and largest mean score so far of the systems that retrieve a document."""
        topics = np.unique(self._pool.topic_of[judgments.order])
        part = self._pool.select_topics([self._pool.topics[t] for t in topics])
        so_far = np.nan_to_num(judgments.on(part).labels)
        score = moments(part, so_far, pairs="none").mean_expected[0]
        held, of_system = self._retrieves, score[:, None]
        count = np.maximum(held.sum(axis=0), 1)
        least = np.where(held, of_system, np.inf).min(axis=0)
        columns = [
            np.where(np.isfinite(least), least, 0.0),
            (held * of_system).sum(axis=0) / count,
            (held * of_system).max(axis=0),
        ]
        return np.stack(columns, axis=1)

    def _fitted(self, features: Floats, relevant: NDArray[np.bool_], asked: Floats) -> Floats:
        from sklearn.linear_model import LogisticRegression

        if self._kind == "logistic":
            model: Any = LogisticRegression(max_iter=1000).fit(features, relevant)
            return np.asarray(model.predict_proba(asked)[:, 1])
        from sklearn.svm import LinearSVC

        machine = LinearSVC(dual=False, random_state=self._seed).fit(features, relevant)
        a, b = platt(machine.decision_function(features), relevant)
        return np.asarray(1.0 / (1.0 + np.exp(a * machine.decision_function(asked) + b)))


def platt(values: Floats, relevant: NDArray[np.bool_]) -> tuple[float, float]:
    """Fit 1 / (1 + exp(A f + C)) to a classifier's values f, with Platt's smoothed targets.

    Parameters
    ----------
    values : ndarray, shape (documents,)
    relevant : ndarray of bool, shape (documents,)

    Returns
    -------
    a, b : float

    Examples
    --------
    >>> a, b = platt(np.array([-1.0, -1.0, 1.0, 1.0]), np.array([False, False, True, True]))
    >>> (1 / (1 + np.exp(a * np.array([-1.0, 1.0]) + b))).round(2).tolist()
    [0.25, 0.75]
    """
    from scipy.optimize import minimize

    n_relevant, n_other = relevant.sum(), (~relevant).sum()
    targets = np.where(relevant, (n_relevant + 1.0) / (n_relevant + 2.0), 1.0 / (n_other + 2.0))

    def loss(parameters: Floats) -> tuple[float, Floats]:
        z = parameters[0] * values + parameters[1]
        # p = 1 / (1 + exp(z))
        p = np.exp(-np.logaddexp(0.0, z))
        value = float(
            np.sum(targets * np.logaddexp(0.0, z) + (1.0 - targets) * np.logaddexp(0, -z))
        )
        slope = targets - p
        return value, np.array([slope @ values, slope.sum()])

    start = np.array([0.0, np.log((n_other + 1.0) / (n_relevant + 1.0))])
    a, b = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8}).x
    return float(a), float(b)


def _of_ranks(ranks: NDArray[np.integer], depth: int) -> Floats:
    """Return the features of a topic's documents that no judgment changes."""
    held = ranks > 0
    count = held.sum(axis=0)
    log = np.where(held, np.log(np.maximum(ranks, 1)), 0.0)
    bottom = np.log(depth + 1.0)
    least = np.where(held, log, bottom).min(axis=0)
    mean = np.where(count > 0, log.sum(axis=0) / np.maximum(count, 1), bottom)
    scores = np.where(held, 1.0 - log / bottom, 0.0)
    return np.vstack([count, least, mean, log.max(axis=0), scores]).T


def _standardised(features: Floats) -> Floats:
    # the standard deviation of equal features can be above 0, by rounding
    spread = np.where(np.ptp(features, axis=0) > 0.0, features.std(axis=0), 1.0)
    return np.asarray((features - features.mean(axis=0)) / spread)
