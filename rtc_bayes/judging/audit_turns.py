"""The documents of an audit in the order of their turn, lined up with a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.ids import some
from rtc_bayes.errors import InputError
from rtc_bayes.judging.audit_list import audit_order
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Pool
    from rtc_bayes.measures.sampling import Sample

type Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Turns:
    """The documents of an audit in the order of their turn; label NaN where not judged.

    Up to `end` all are judged; `next` is the first that is not.
    """

    place: NDArray[np.int64]
    time: Floats
    probability: Floats
    label: Floats
    judged: NDArray[np.bool_]
    end: float
    next: tuple[str, str] | None
    judgments: Judgments

    def labels_seen(self, pool: Pool) -> dict[str, float]:
        """Return the labels of the documents up to `end`, by topic and docno."""
        seen = np.flatnonzero(self.time < self.end)
        places, labels = self.place[seen], self.label[seen].tolist()
        names = zip(pool.topic_of[places], pool.docnos[places], labels, strict=True)
        return {f"{pool.topics[topic]} {docno}": label for topic, docno, label in names}


def turns_of(to: Pool, sample: Sample, seed: int) -> Turns:
    """Line the documents drawn up with a pool; those of other topics are left out.

    Raises
    ------
    InputError
        A topic that the sample's pool lacks, or a drawn document that the pool given lacks.
    """
    order, pool = audit_order(sample, seed=seed), sample.judgments.pool
    if lacking := [topic for topic in to.topics if topic not in pool.topics]:
        raise InputError(
            f"the sample's pool lacks {counted(len(lacking), 'topic')} of the comparison, so that "
            f"what was drawn of them is not known: {some(lacking)}",
            remedy="take the sample of the comparison's pool: rb.split_audit(pool, prels).sample",
        )
    place = np.full(pool.n_documents, -1)
    shared = np.zeros(pool.n_documents, dtype=bool)
    for t, topic in enumerate(pool.topics):
        if topic in to.topics:
            inside = pool.documents(t)
            place[inside], shared[inside] = to.locate(topic, pool.docnos[inside]), True
    kept = shared[order.documents]
    documents = order.documents[kept]
    if (place[documents] < 0).any():
        topic, docno = pool.pair_of(documents[place[documents] < 0][0])
        raise InputError(
            f"the comparison has no probability of document {docno} of topic {topic}, which the "
            "audit has drawn",
            remedy="compare the runs for which the audit was drawn, pooled as deeply",
        )
    time, judged = order.time[kept], order.judged[kept]
    end: float = 1.0
    turn: tuple[str, str] | None = None
    if not judged.all():
        first = int(np.argmin(judged))
        waiting = documents[first]
        end = float(time[first])
        turn = pool.pair_of(waiting)
    labels, chances = sample.judgments.labels[documents], sample.probability[documents]
    return Turns(place[documents], time, chances, labels, judged, end, turn, sample.judgments)
