"""Judges that choose a run first: its best-ranked unjudged document is the next."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.judging.judges.in_turn import Floats, InTurn, Ties, tie_order


class ByRun(InTurn):
    """Takes the topics in turn, in each the next document of the run that is worth most.

    Of runs worth the same, the one whose next document has the best rank; of documents of one
    rank, by `ties`; of runs that offer one document at one rank, the first. Judgments made before
    the session are taken in their order, as if this judge had made them.

    Parameters
    ----------
    judgments : Judgments
    ties : {"random", "docno"}
    seed : int
        Decides ties.
    """

    def __init__(self, judgments: Judgments, ties: Ties, seed: int) -> None:
        pool = judgments.pool
        super().__init__(Judgments.none(pool))
        self._lists = [_padded(pool, t) for t in range(pool.n_topics)]
        self._place = np.zeros((pool.n_topics, pool.n_systems), dtype=np.int64)
        self._order = tie_order(judgments, ties, seed)
        self._systems = np.arange(pool.n_systems)
        self._begin()
        # as runs were passed over in the session before
        self._is_judged[judgments.aside_documents] = True
        order = judgments.order
        for document, label in zip(order.tolist(), judgments.labels[order].tolist(), strict=True):
            self.observe(document, label)
        self._judgments, self._new = judgments, []

    @abstractmethod
    def _begin(self) -> None:
        """Make what is known of every run of every topic, nothing being judged."""

    @abstractmethod
    def _worth(self, topic: int) -> Floats:
        """Worth of every run of a topic, shape (systems,)."""

    @abstractmethod
    def _learn(self, topic: int, system: int | None, document: int, label: float) -> None:
        """Take the label of a document that a run offered; None: no run offered it."""

    def _weight(self, topic: int, system: int, rank: int) -> float:
        """Weight, above 0, to state for a document that a run offers."""
        return 1.0 / rank

    def in_order(self, topic: int) -> Iterator[tuple[int, float]]:
        """Yield a topic's unjudged documents, in the order of the runs as they are worth now."""
        closed, place = self._is_judged, self._place[topic]
        while (offer := self._offer(topic, closed, place)) is not None:
            system, document = offer
            yield document, self._weight(topic, system, int(place[system]) + 1)
            if closed is self._is_judged:
                closed, place = closed.copy(), place.copy()
            closed[document] = True

    def observe(self, document: int, label: float) -> None:
        """Take a label, and learn of the run that offered the document."""
        topic = int(self._topic_of[document])
        offer = self._offer(topic, self._is_judged, self._place[topic])
        offered = offer is not None and offer[1] == document
        super().observe(document, label)
        self._learn(topic, offer[0] if offer and offered else None, document, label)

    def _offer(
        self, topic: int, closed: NDArray[np.bool_], place: NDArray[np.int64]
    ) -> tuple[int, int] | None:
        """Return the run worth most and its next document, and move places past closed ones."""
        lists = self._lists[topic]
        while True:
            following = lists[self._systems, place]
            passed = (following >= 0) & closed[following]
            if not passed.any():
                break
            place += passed
        left = np.flatnonzero(following >= 0)
        if not len(left):
            return None
        worth = self._worth(topic)[left]
        best = left[np.lexsort((self._order[following[left]], place[left], -worth))[0]]
        return int(best), int(following[best])


def _padded(pool: Pool, topic: int) -> NDArray[np.int64]:
    """Return the lists of a topic as rows, each ended by -1; shape (systems, longest + 1)."""
    rows = [pool.ranking(s, topic) for s in range(pool.n_systems)]
    lists = np.full((pool.n_systems, 1 + max(map(len, rows), default=0)), -1, dtype=np.int64)
    for row, documents in zip(lists, rows, strict=True):
        row[: len(documents)] = documents
    return lists
