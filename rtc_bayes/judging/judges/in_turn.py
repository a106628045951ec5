"""Judges that take the topics in turn, as TREC and the pooling literature do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.judging.judges.interface import Chooser

type Floats = NDArray[np.float64]


class InTurn(Chooser):
    """Chooses a document of the topic with the fewest judgments, of several the first.

    A topic whose ranked documents are all judged is passed over. Documents that no system ranks
    are never chosen.

    Parameters
    ----------
    judgments : Judgments
        Made before; their order counts where what was seen decides what comes next.
    """

    def __init__(self, judgments: Judgments) -> None:
        super().__init__(judgments)
        pool = self.pool
        ranked = np.zeros(pool.n_documents, dtype=bool)
        ranked[pool.ranked] = True
        self._topic_of = pool.topic_of
        open_ranked = ranked & ~self._is_judged
        self._open = np.bincount(self._topic_of[open_ranked], minlength=pool.n_topics)
        self._judged = np.bincount(self._topic_of[judgments.order], minlength=pool.n_topics)
        self._ranked = ranked

    @abstractmethod
    def in_order(self, topic: int) -> Iterator[tuple[int, float]]:
        """Yield a topic's unjudged documents and weights, as if their labels stay unknown."""

    def choose(self, count: int) -> list[tuple[int, float]]:
        """Return the next documents of the topics, in turn, and their weights."""
        judged, left = self._judged.copy(), self._open.copy()
        orders: dict[int, Iterator[tuple[int, float]]] = {}
        chosen: list[tuple[int, float]] = []
        most = np.iinfo(judged.dtype).max
        while len(chosen) < count and left.any():
            topic = int(np.argmin(np.where(left > 0, judged, most)))
            following = next(orders.setdefault(topic, self.in_order(topic)), None)
            if following is None:  # what is left of the topic has no weight
                left[topic] = 0
                continue
            chosen.append(following)
            judged[topic] += 1
            left[topic] -= 1
        return chosen

    def observe(self, document: int, label: float) -> None:
        """Take a label, and count it for its topic."""
        super().observe(document, label)
        topic = self._topic_of[document]
        self._judged[topic] += 1
        self._open[topic] -= self._ranked[document]


class InFixedOrder(InTurn):
    """Takes the topics in turn, and each topic's documents by weight, ties by docno.

    Parameters
    ----------
    judgments : Judgments
    weights : ndarray of float, shape (documents,)
        At least 0; a document of weight 0 is never chosen.
    """

    def __init__(self, judgments: Judgments, weights: Floats) -> None:
        super().__init__(judgments)
        self._weights = weights
        self._orders = []
        for t in range(self.pool.n_topics):
            inside = self.pool.documents(t)
            order = inside.start + np.argsort(-weights[inside], kind="stable")
            self._orders.append(order[weights[order] > 0.0])

    def in_order(self, topic: int) -> Iterator[tuple[int, float]]:
        """Yield a topic's unjudged documents, the heaviest first."""
        order = self._orders[topic]
        for document in order[~self._is_judged[order]]:
            yield int(document), float(self._weights[document])
