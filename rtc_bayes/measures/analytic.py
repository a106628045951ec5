"""From a measure and the lists of a topic to the object that knows their moments and scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.measures.average_precision import AveragePrecision
from rtc_bayes.measures.linear import Linear, LinearRatio, gains
from rtc_bayes.measures.lists import cut
from rtc_bayes.measures.names import Measure
from rtc_bayes.measures.reciprocal_rank import ReciprocalRank
from rtc_bayes.measures.topic import TopicMeasure


def on_topic(
    measure: Measure, ranked: NDArray[np.int32], starts: NDArray[np.int64], documents: int
) -> TopicMeasure:
    """Apply a measure to the lists of one topic.

    Parameters
    ----------
    measure : Measure
        One whose ``kind`` is not None.
    ranked : ndarray of int32
        Document numbers in rank order, list after list.
    starts : ndarray of int64, shape (lists + 1,)
    documents : int
        Number of documents of the topic.

    Returns
    -------
    TopicMeasure
    """
    ranked, starts = cut(ranked, starts, measure.cutoff)
    if measure.kind == "AP":
        return AveragePrecision(ranked, starts)
    if measure.kind == "RR":
        return ReciprocalRank(ranked, starts)
    ranks = np.arange(1.0, documents + 1.0)
    logarithmic: NDArray[np.float64] = 1.0 / np.log2(ranks + 1.0)
    if measure.kind == "P":
        cutoff = measure.cutoff or documents
        return Linear(gains(ranked, starts, documents, np.full(documents, 1.0 / cutoff)))
    if measure.kind == "DCG":
        return Linear(gains(ranked, starts, documents, logarithmic))
    if measure.kind == "RBP":
        discounts = (1.0 - measure.persistence) * measure.persistence ** (ranks - 1.0)
        return Linear(gains(ranked, starts, documents, discounts))
    if measure.kind == "R":
        weights = gains(ranked, starts, documents, np.ones(documents))
        return LinearRatio(weights, np.arange(documents + 1.0))
    if measure.kind == "nDCG":
        within = ranks <= (measure.cutoff or documents)
        ideal = np.concatenate([[0.0], np.cumsum(np.where(within, logarithmic, 0.0))])
        return LinearRatio(gains(ranked, starts, documents, logarithmic), ideal)
    raise ValueError(f"{measure.name} has no moments")
