"""From a measure and the lists of a topic to the object that knows their moments and scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.lists import Lists
from rtc_bayes.collection.pool import Pool
from rtc_bayes.measures.average_precision import AveragePrecision
from rtc_bayes.measures.linear import Linear, LinearRatio, gains
from rtc_bayes.measures.names import Measure
from rtc_bayes.measures.reciprocal_rank import ReciprocalRank
from rtc_bayes.measures.topic import TopicMeasure


def on_topic(measure: Measure, lists: Lists, documents: int) -> TopicMeasure:
    """Apply a measure to the lists of one topic.

    Parameters
    ----------
    measure : Measure
        One with moments.
    lists : Lists
    documents : int
        Number of documents of the topic.

    Returns
    -------
    TopicMeasure
    """
    lists = lists.cut(measure.cutoff)
    if measure.kind == "AP":
        return AveragePrecision(lists)
    if measure.kind == "RR":
        return ReciprocalRank(lists)
    ranks = np.arange(1.0, np.max(lists.ranks, initial=documents) + 1.0)
    logarithmic = 1.0 / np.log2(ranks + 1.0)
    if measure.kind == "P":
        cutoff = measure.cutoff or documents
        return Linear(gains(lists, documents, np.full(len(ranks), 1.0 / cutoff)))
    if measure.kind == "DCG":
        return Linear(gains(lists, documents, logarithmic))
    if measure.kind == "RBP":
        discounts = (1.0 - measure.persistence) * measure.persistence ** (ranks - 1.0)
        return Linear(gains(lists, documents, discounts))
    if measure.kind == "R":
        weights = gains(lists, documents, np.ones(len(ranks)))
        return LinearRatio(weights, np.arange(documents + 1.0))
    if measure.kind == "nDCG":
        within = ranks <= (measure.cutoff or documents)
        ideal = np.concatenate([[0.0], np.cumsum((logarithmic * within)[:documents])])
        return LinearRatio(gains(lists, documents, logarithmic), ideal)
    raise ValueError(f"{measure.name} has no moments")


def gradient_on_pool(pool: Pool, measure: Measure, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how the mean over topics of each list's expected score moves with each document.

    Parameters
    ----------
    pool : Pool
    measure : Measure
        One with moments.
    p : ndarray of float, shape (documents,)
        Probabilities of relevance, independent.

    Returns
    -------
    ndarray of float, shape (systems, documents)
        Expected mean score if the document is relevant, less that if it is not.
    """
    gradient = np.zeros((pool.n_systems, pool.n_documents))
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        lists, which = pool.lists(t).cut(measure.cutoff).distinct()
        topic = on_topic(measure, lists, inside.stop - inside.start)
        if isinstance(topic, AveragePrecision):
            rows = topic.gradient(p[inside])
        else:
            rows = topic.moments(p[inside], exact=True, tolerance=1e-8).gradient
        gradient[:, inside] = rows[which]
    return gradient / pool.n_topics
