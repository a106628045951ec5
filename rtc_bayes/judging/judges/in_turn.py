"""Judges that take the topics in turn, as TREC and the pooling literature do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.judging.judges.interface import Chooser

type Floats = NDArray[np.float64]

Ties = Literal["random", "docno"]
"""What decides among documents that a judge holds equal: a draw by the seed, or docno."""


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


def tie_order(judgments: Judgments, ties: Ties, seed: int) -> NDArray[np.int64]:
    """Give every document of a pool its place among equals, shape (documents,)."""
    n = judgments.pool.n_documents
    return np.random.default_rng(seed).permutation(n) if ties == "random" else np.arange(n)


class InFixedOrder(InTurn):
    """Takes the topics in turn, and each topic's documents by weight.

    Parameters
    ----------
    judgments : Judgments
    weights : ndarray of float, shape (documents,)
        At least 0; a document of weight 0 is never chosen.
    order : ndarray of int, shape (documents,)
        Of documents of one weight that with the lowest number here comes first.
    """

    def __init__(self, judgments: Judgments, weights: Floats, order: NDArray[np.int64]) -> None:
        super().__init__(judgments)
        self._weights = weights
        self._orders = []
        for t in range(self.pool.n_topics):
            inside = self.pool.documents(t)
            within = inside.start + np.lexsort((order[inside], -weights[inside]))
            self._orders.append(within[weights[within] > 0.0])

    def in_order(self, topic: int) -> Iterator[tuple[int, float]]:
        """Yield a topic's unjudged documents, the heaviest first."""
        order = self._orders[topic]
        for document in order[~self._is_judged[order]]:
            yield int(document), float(self._weights[document])
