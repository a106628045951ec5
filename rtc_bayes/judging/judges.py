"""Who chooses the next document: by rank, or by weight under probabilities of relevance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.judging.kernels import heaviest, next_topic
from rtc_bayes.judging.state import JudgingState
from rtc_bayes.judging.weights import Weight
from rtc_bayes.relevance import Sampling

type Floats = NDArray[np.float64]
type Estimator = Callable[[Judgments], NDArray[np.floating]]

REFIT_EVERY = 10
"""Judgments between two fits of a model (Carterette 2007, section 4.2)."""

REFIT_GROWTH = 0.1
"""For a method that draws: judgments between two fits as a part of those made, if that is more."""

SAMPLING = Sampling(draws=100, chains=2, tune=200)
"""What a method that draws gives to each fit of a judging loop."""

UNINFORMED = 0.5
"""Probability of an unjudged document where nothing is estimated (MTC, section 4.2)."""


class Ledger:
    """Judgments that grow one at a time.

    Parameters
    ----------
    judgments : Judgments
        What is already known.
    """

    def __init__(self, judgments: Judgments) -> None:
        self._judgments = judgments
        self._held = set(judgments.order.tolist())
        self._new: list[tuple[int, float]] = []

    def __len__(self) -> int:
        return len(self._held)

    def holds(self, document: int) -> bool:
        """Whether a document of the pool is judged."""
        return document in self._held

    def add(self, document: int, label: float) -> None:
        """Enter a judgment."""
        self._held.add(document)
        self._new.append((document, label))

    @property
    def judgments(self) -> Judgments:
        """Everything judged so far, in order."""
        if self._new:
            documents, labels = zip(*self._new, strict=True)
            self._judgments = self._judgments.with_labels(documents, labels)
            self._new = []
        return self._judgments

    def __repr__(self) -> str:
        return f"Ledger({len(self)} judged)"


class Judge(Protocol):
    """Chooses documents of a pool and takes their labels."""

    ledger: Ledger

    def choose(self, count: int) -> list[tuple[int, float]]:
        """Return up to `count` documents, the first to judge first, and their weights."""

    def observe(self, document: int, label: float) -> None:
        """Take a label."""


class IncrementalPooling:
    """Presents documents in rank order, whatever the topic (Carterette 2007, section 4.2).

    First the documents that some system ranks first, then those at rank 2 and so on; within a
    rank in topic order, then by docno. The weight of a document is one over its best rank.
    Documents that no system ranks are never presented.

    Parameters
    ----------
    judgments : Judgments
        What is already known.
    """

    def __init__(self, judgments: Judgments) -> None:
        pool = judgments.pool
        self.ledger = Ledger(judgments)
        self._best_rank = pool.best_ranks
        order = np.lexsort((np.arange(pool.n_documents), self._best_rank))
        self._order = order[self._best_rank[order] > 0]
        self._judged = judgments.judged
        self._passed = 0

    def choose(self, count: int) -> list[tuple[int, float]]:
        """Return the first documents not yet judged, and their weights."""
        while self._passed < len(self._order) and self._judged[self._order[self._passed]]:
            self._passed += 1
        chosen: list[tuple[int, float]] = []
        for document in self._order[self._passed :]:
            if len(chosen) == count:
                break
            if not self._judged[document]:
                chosen.append((int(document), 1.0 / float(self._best_rank[document])))
        return chosen

    def observe(self, document: int, label: float) -> None:
        """Take a label: only that there is one matters for the order."""
        self.ledger.add(document, label)
        self._judged[document] = True

    def __repr__(self) -> str:
        left = int((~self._judged[self._order]).sum())
        return f"IncrementalPooling({left} of {len(self._order)} documents left)"


class WeightedJudge:
    """Chooses the heaviest document, under p = .5 or a model's probabilities.

    A model is fitted first at 10 judgments, and again when there are 10 more, or more by a given
    part if that is later; until the first fit p = .5.

    Parameters
    ----------
    judgments : Judgments
        What is already known.
    weight : Weight
        Worth of every document of a topic.
    floor : int
        Judgments that each topic must have before weights of different topics compete. Topics
        short of it are served in order, each with its heaviest document; one where no document
        has weight is passed over.
    estimate : Estimator, optional
        Probabilities (draws, documents) from judgments; one draw for a point estimate.
    growth : float
        The least part by which judgments grow between two fits; with 0 they come every 10.

    Attributes
    ----------
    state : JudgingState
    """

    def __init__(
        self,
        judgments: Judgments,
        weight: Weight,
        *,
        floor: int = 0,
        estimate: Estimator | None = None,
        growth: float = 0.0,
    ) -> None:
        self.ledger = Ledger(judgments)
        self._growth = growth
        self._weight = weight
        self._floor = floor
        self._estimate = estimate
        # with fewer judgments than a fit takes, count from none
        self._fitted = judgments.n_judged if judgments.n_judged >= REFIT_EVERY else 0
        pool = judgments.pool
        p = (
            estimate(judgments)
            if estimate is not None and judgments.n_judged >= REFIT_EVERY
            else np.full(pool.n_documents, UNINFORMED)
        )
        self.state = JudgingState(judgments, p)
        self._best = _BestOfTopics(judgments)
        self._weigh_all()

    @property
    def floor_met(self) -> bool:
        """Whether every topic where a document has weight has its floor of judgments."""
        return self._best.floor_met(self._floor)

    def choose(self, count: int) -> list[tuple[int, float]]:
        """Return the documents of most worth and their weights, as if their labels stay unknown."""
        best = self._best if count == 1 else self._best.copy()
        weights: dict[int, Floats] = {}
        chosen: list[tuple[int, float]] = []
        while (topic := best.topic(self._floor)) is not None:
            chosen.append((best.document(topic), best.weight(topic)))
            if len(chosen) == count:
                break
            if topic not in weights:
                weights[topic] = self._weight(self.state.topics[topic])
            weights[topic][best.within[topic]] = 0.0
            best.count(topic)
            best.set(topic, weights[topic])
        return chosen

    def observe(self, document: int, label: float) -> None:
        """Take a label, and fit the model again when that is due."""
        self.ledger.add(document, label)
        topic = self.state.observe(document, label)
        self._best.count(topic)
        due = len(self.ledger) >= next_fit(self._fitted, self._growth)
        if self._estimate is not None and due:
            self.state.restart(self._estimate(self.ledger.judgments))
            self._fitted = len(self.ledger)
            self._weigh_all()
        else:
            self._weigh(topic)

    def _weigh(self, topic: int) -> None:
        self._best.set(topic, self._weight(self.state.topics[topic]))

    def _weigh_all(self) -> None:
        for topic in range(self.state.pool.n_topics):
            self._weigh(topic)

    def __repr__(self) -> str:
        name = getattr(self._weight, "__name__", "weight")
        return f"WeightedJudge({name}, floor {self._floor}, {self.state!r})"


class _BestOfTopics:
    """The heaviest document of every topic, and how many of the topic's are judged.

    Attributes
    ----------
    within : ndarray of int64, shape (topics,)
        The heaviest document, numbered within its topic.
    """

    def __init__(self, judgments: Judgments) -> None:
        pool = judgments.pool
        self._starts = pool.topic_starts
        self.within = np.zeros(pool.n_topics, dtype=np.int64)
        self._weights = np.zeros(pool.n_topics)
        judged = pool.topic_of[judgments.order]
        self._judged = np.bincount(judged, minlength=pool.n_topics)

    def set(self, topic: int, weights: Floats) -> None:
        """Take the weights of a topic's documents, 0 for those that cannot be chosen."""
        if len(weights):
            best = heaviest(weights)
            self.within[topic] = best
            self._weights[topic] = weights[best]

    def count(self, topic: int) -> None:
        """Count one more document of a topic as judged."""
        self._judged[topic] += 1

    def floor_met(self, floor: int) -> bool:
        """Whether every topic with weight has its floor of judgments."""
        return not ((self._judged < floor) & (self._weights > 0.0)).any()

    def topic(self, floor: int) -> int | None:
        """Return the topic to judge a document of, if one has weight."""
        topic = next_topic(self._weights, self._judged, floor)
        return None if topic < 0 else topic

    def document(self, topic: int) -> int:
        """Return a topic's heaviest document, numbered within the pool."""
        return int(self._starts[topic] + self.within[topic])

    def weight(self, topic: int) -> float:
        """Weight of a topic's heaviest document."""
        return float(self._weights[topic])

    def copy(self) -> _BestOfTopics:
        """Return one of its own to change."""
        other = object.__new__(_BestOfTopics)
        other._starts = self._starts
        other.within = self.within.copy()
        other._weights = self._weights.copy()
        other._judged = self._judged.copy()
        return other


def next_fit(fitted: int, growth: float) -> float:
    """Return the number of judgments at which a model fitted to `fitted` of them is fitted again.

    Parameters
    ----------
    fitted : int
    growth : float
        As of :class:`WeightedJudge`.
    """
    return fitted + max(REFIT_EVERY, growth * fitted)
