"""A collection that is taken as completely judged: what trials are drawn from and held to."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments, Pool, Qrels, Runs
from rtc_bayes.confidence.subpool import with_topics
from rtc_bayes.errors import CollectionWarning, InputError
from rtc_bayes.measures import Estimand, evaluate, moments, sample_scores
from rtc_bayes.measures.names import has_moments

type Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Runs with complete judgments, as every trial needs them.

    Attributes
    ----------
    pool : Pool
        Of all the runs.
    qrels : Qrels
        Taken as complete: a document that nobody judged is not relevant.
    estimand : Estimand
        Its topics are all of them, or named.
    truth : ndarray of float, shape (systems,)
        Mean of the measure of each system over the estimand's topics, by its whole list and every
        judgment; in the pool's order.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.trials import Collection
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> collection = Collection.from_runs(made.runs, made.qrels, rb.Estimand("P@5", depth=20))
    >>> collection.truth_of(made.runs.systems[:2]).shape
    (2,)
    """

    pool: Pool
    qrels: Qrels
    estimand: Estimand
    truth: Floats

    @classmethod
    def from_runs(cls, runs: Runs, qrels: Qrels, estimand: Estimand | None = None) -> Collection:
        """Pool the runs to the estimand's depth, and evaluate them."""
        estimand = estimand or Estimand()
        pool = estimand.pool(runs)
        topics = pool.topics
        if estimand.topics == "judged":
            topics = tuple(t for t in topics if any(g >= 0 for g in qrels.get(t, {}).values()))
        elif estimand.topics != "all":
            topics = tuple(estimand.topics)
            absent = [topic for topic in topics if topic not in pool.topics]
            if absent or not topics:
                raise InputError(
                    f"the runs have no topic {', '.join(absent)}", remedy="name others"
                )
        with warnings.catch_warnings():
            # the pool has just named the runs that lack a topic
            warnings.simplefilter("ignore", CollectionWarning)
            table = evaluate(runs, _binary(qrels, estimand), [estimand.measure], topics="all")
        chosen = [table.topics.index(topic) for topic in topics]
        truth = table[estimand.measure][:, chosen].mean(axis=1)
        if estimand.topics != "all":
            estimand = replace(estimand, topics=topics)
        return cls(pool, qrels, estimand, truth)

    def truth_of(self, systems: Sequence[str]) -> Floats:
        """Return the true scores of some systems, in the order given; shape (systems,)."""
        return self.truth[[self.pool.systems.index(system) for system in systems]]

    @cached_property
    def judgments(self) -> Judgments:
        """All judgments, over the pool of all runs and the judged documents that it lacks."""
        with warnings.catch_warnings():
            # whoever read the collection has been told of judged topics without runs
            warnings.simplefilter("ignore", CollectionWarning)
            return self.estimand.judgments(self.pool, self.qrels)

    @cached_property
    def pool_truth(self) -> dict[str, float]:
        """The score of every system, its list as deep as it is scored and not further."""
        scores, _ = scores_by(
            self.judgments.pool, self.judgments.labels, self.estimand, pairs="none"
        )
        return dict(zip(self.pool.systems, scores.tolist(), strict=True))

    def labels(self, pool: Pool) -> Floats:
        """Return 1 for the relevant documents of a pool of these runs, else 0."""
        every = self.judgments
        labels = np.zeros(pool.n_documents)
        for t, topic in enumerate(pool.topics):
            inside = pool.documents(t)
            place = every.pool.locate(topic, pool.docnos[inside])
            labels[inside] = np.where(place < 0, 0.0, np.nan_to_num(every.labels[place]))
        return labels

    def __repr__(self) -> str:
        return f"Collection({self.pool!r}, {self.qrels!r})"


def _binary(qrels: Qrels, estimand: Estimand) -> Qrels:
    """Return 1 for relevant and 0 for nonrelevant, as models have it; negative grades as they are.

    So the truth of nDCG has no gains that a model could not know of.
    """
    level = estimand.relevance_level
    return Qrels(
        {
            topic: {docno: int(g >= level) if g >= 0 else g for docno, g in grades.items()}
            for topic, grades in qrels.items()
        },
        path=qrels.path,
    )


def scores_by(
    pool: Pool, labels: Floats, estimand: Estimand, pairs: Literal["all", "none"] = "all"
) -> tuple[Floats, Floats]:
    """Score the systems of a pool by labels, a document without one being nonrelevant.

    Parameters
    ----------
    pool : Pool
    labels : ndarray of float, shape (documents,)
        1, 0 or NaN.
    estimand : Estimand
        Its measure and topics.
    pairs : {"all", "none"}

    Returns
    -------
    scores : ndarray of float, shape (systems,)
        Means over topics.
    differences : ndarray of float, shape (pairs,)
        The first system less the second.
    """
    labels = np.nan_to_num(labels)
    if estimand.topics != "all":
        pool, (labels,) = with_topics(pool, labels[None], estimand.topics)
    if has_moments(estimand.measure):
        table = moments(pool, labels, measure=estimand.measure, pairs=pairs)
        return table.mean_expected[0], table.difference_expected[0]
    scores = sample_scores(pool, labels, measure=estimand.measure, outcomes=1)[0]
    first, second = np.triu_indices(pool.n_systems if pairs == "all" else 0, 1)
    return scores, scores[first] - scores[second]
