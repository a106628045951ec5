"""Judges by weight: the heaviest document next, under p = 0.5 or a model's probabilities."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.collection import Judgments
from rtc_bayes.errors import FitError, FitWarning, InputError
from rtc_bayes.judging.judges.interface import Chooser
from rtc_bayes.judging.kernels import heaviest, next_topic
from rtc_bayes.judging.state import JudgingState
from rtc_bayes.judging.stopping import SignProof
from rtc_bayes.judging.topic_state import TopicState
from rtc_bayes.judging.weights import WEIGHTS, Weight, WeightName, meaning
from rtc_bayes.measures.names import MeasureLike
from rtc_bayes.relevance import (
    ModelSpec,
    Sampling,
    check_takes_labels,
    estimate,
    is_sampler,
)
from rtc_bayes.relevance.options import check_options, require
from rtc_bayes.store import spawn_seeds

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


# As many times the draws are taken, once, where a fit must not be used.
_MORE_DRAWS = 4


@dataclass(frozen=True)
class MTC:
    """Minimal test collections: the heaviest document under p = 0.5 (Carterette et al., 2006).

    Parameters
    ----------
    weight : {"mtc06", "evr", "influence", "reuse"}
        Worth of a document, by its name in :data:`~rtc_bayes.judging.weights.WEIGHTS`.
    floor : int, at least 0
        Judgments that every topic gets first.
    least : float, at least 0
        Judgments a topic, on average, before a confidence may end judging.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> chooser = MTC(weight="evr").start(rb.Judgments.none(pool), seed=0)
    >>> len(chooser.choose(3))
    3
    """

    weight: WeightName = "mtc06"
    floor: int = 0
    least: float = 0.0
    name: ClassVar[str] = "mtc"
    has_confidence: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_options(self)
        _check_counts(self)

    def start(
        self, judgments: Judgments, *, seed: int, measure: MeasureLike = defaults.MEASURE
    ) -> Chooser:
        """Make the chooser of one session; the seed is not used."""
        return WeightedChooser(judgments, self.weight, floor=self.floor, measure=measure)


@dataclass(frozen=True)
class ModelJudge:
    """The heaviest document under a relevance model's probabilities.

    Parameters
    ----------
    model : ModelSpec
        The model, its options and its method.
    weight, floor, least
        As of :class:`MTC`.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.relevance import ModelSpec
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> judge = ModelJudge(ModelSpec.parse("rtc:map"), weight="influence")
    >>> len(judge.start(rb.Judgments.none(pool), seed=0).choose(3))
    3
    """

    model: ModelSpec
    weight: WeightName = "evr"
    floor: int = 0
    least: float = 0.0
    name: ClassVar[str] = "model"
    has_confidence: ClassVar[bool] = True
    takes_labels: ClassVar[bool] = True  # if its model does

    def __post_init__(self) -> None:
        _check_counts(self)

    def start(
        self, judgments: Judgments, *, seed: int, measure: MeasureLike = defaults.MEASURE
    ) -> Chooser:
        """Make the chooser of one session; every fit has its own seed."""
        check_takes_labels(judgments, self.model.build())
        return WeightedChooser(
            judgments,
            self.weight,
            floor=self.floor,
            measure=measure,
            estimate=_estimator(self.model, seed),
            growth=REFIT_GROWTH if is_sampler(self.model.resolved_method) else 0.0,
        )


def _check_counts(judge: MTC | ModelJudge) -> None:
    for name in ("floor", "least"):
        number = getattr(judge, name)
        require(number >= 0, judge, name, "a number of judgments, at least 0")


def enough_to_fit(judgments: Judgments) -> bool:
    """Whether a model is fitted to these: 10 judgments or more, or labels of judges beside them."""
    return judgments.n_judged >= REFIT_EVERY or judgments.judge_labels is not None


class WeightedChooser(Chooser):
    """Chooses the heaviest document, under p = 0.5 or a model's probabilities.

    A model is fitted first at 10 judgments, and again when there are 10 more, or more by a given
    part if that is later; until the first fit p = 0.5. With labels of judges beside the judgments
    it is fitted at once.

    Parameters
    ----------
    judgments : Judgments
        Made before, over a pool of two systems or more.
    weight : str
        Name of the worth of every document of a topic.
    floor : int
        Judgments that each topic must have before weights of different topics compete. Topics
        short of it are served in order, each with its heaviest document; one where no document
        has weight is passed over.
    measure : str or measure of ir_measures
        What systems are told apart by, one with moments.
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
        weight: WeightName,
        *,
        floor: int = 0,
        measure: MeasureLike = defaults.MEASURE,
        estimate: Estimator | None = None,
        growth: float = 0.0,
    ) -> None:
        pool = judgments.pool
        if pool.n_systems < 2:
            raise InputError(
                "a judge by weight chooses documents that tell systems apart",
                remedy="give two runs or more",
            )
        super().__init__(judgments)
        self._growth = growth
        self._weight: Weight = WEIGHTS[weight]
        self._name: WeightName = weight
        self._floor = floor
        # by topic, numbered within it
        self._closed: dict[int, list[int]] = {}
        self._estimate = estimate
        # with fewer judgments than a fit takes, count from none
        enough = enough_to_fit(judgments)
        self._fitted = judgments.n_judged if enough else 0
        p = (
            estimate(judgments)
            if estimate is not None and enough
            else np.full(pool.n_documents, UNINFORMED)
        )
        self.state = JudgingState(judgments, p, measure)
        self._proof = SignProof(self.state)
        self._best = _BestOfTopics(judgments)
        self._weigh_all()

    def confidence(self) -> Floats:
        """Confidence in the sign of every pair's difference, in [0.5, 1]."""
        return self.state.confidence()

    def open_pairs(self, confidence: float) -> Iterator[int]:
        """Give the pairs that have less than a confidence."""
        return self.state.open_pairs(confidence)

    def differences(self) -> Floats:
        """Return the expected difference in the mean score of every pair."""
        return self.state.moments()[0]

    def for_pair(self, systems: Sequence[int]) -> WeightedChooser:
        """Return a chooser of documents by their weight for one pair alone.

        The probabilities stay those estimated from all systems, and mu that of all the pool's
        documents: the weights are those of ``pool.select(pair, keep_documents=True)`` under the
        same probabilities.
        """
        other = copy.copy(self)
        super(WeightedChooser, other).__init__(self.judgments)
        # those closed count as judged
        other._is_judged = self._is_judged.copy()
        other._closed = {topic: list(documents) for topic, documents in self._closed.items()}
        other.state = self.state.of_pair(systems)
        other._proof = SignProof(other.state)
        other._best = _BestOfTopics(self.judgments)
        other._weigh_all()
        return other

    def may_end(self) -> bool:
        """Whether every topic where a document has weight has its floor of judgments."""
        return self._best.floor_met(self._floor)

    def proves(self, pairs: Iterable[int]) -> bool:
        """Whether no judgment to come can change the sign of any of these pairs' differences.

        Never of a measure with gains by grade: a higher grade than all so far may come.
        """
        return not self.state.by_grade and all(self._proof.holds(int(pair)) for pair in pairs)

    @property
    def weight_text(self) -> str:
        """What a weight is, for a person."""
        numerators = any(topic.divides for topic in self.state.topics)
        return meaning(self._name, len(self.state.systems), numerators=numerators)

    def probability(self, document: int) -> float:
        """How probably a document is relevant, by the model that weighs it."""
        topic, local = self._in_topic(document)
        return float(topic.p[local])

    def why(self, document: int, weight: float) -> str:
        """Say where the two systems that the document tells apart most rank it."""
        topic, local = self._in_topic(document)
        # of systems that it moves alike, the first
        effect = topic.effect[:, local].round(12)
        apart = self.state.systems[[np.argmax(effect), np.argmin(effect)]].tolist()
        ranks = self.ranks_of(document)
        differ = "systems differ: " if ranks[apart[0]] != ranks[apart[1]] else ""
        return differ + self._places(ranks, apart)

    def _in_topic(self, document: int) -> tuple[TopicState, int]:
        """Return a document's topic, and its place there."""
        t = int(self.pool.topic_of[document])
        return self.state.topics[t], document - int(self.pool.topic_starts[t])

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
                weights[topic] = self._weights_of(topic)
            weights[topic][best.within[topic]] = 0.0
            best.count(topic)
            best.set(topic, weights[topic])
        return chosen

    def close(self, documents: NDArray[np.int64]) -> None:
        """Offer none of these documents."""
        super().close(documents)
        topics = self.pool.topic_of[documents]
        within = documents - self.pool.topic_starts[topics]
        for topic in np.unique(topics).tolist():
            self._closed.setdefault(topic, []).extend(within[topics == topic].tolist())
            self._weigh(topic)

    def observe(self, document: int, label: float) -> None:
        """Take a label, and fit the model again when that is due."""
        super().observe(document, label)
        grade = self._grades[document]
        topic = self.state.observe(document, label, grade)
        self._best.count(topic)
        # before the fit, so that judging can go on if that fails
        self._weigh(topic)
        due = self.n_judged >= next_fit(self._fitted, self._growth)
        p = self._estimate(self.judgments) if self._estimate is not None and due else None
        changed = p is not None
        if self.state.by_grade and (due or grade > self.state.highest_grade):
            changed |= self.state.learn_grades(self.judgments, p)
        elif p is not None:
            self.state.restart(p)
        if due:
            self._fitted = self.n_judged
        if changed:
            self._weigh_all()

    def _weigh(self, topic: int) -> None:
        self._best.set(topic, self._weights_of(topic))

    def _weights_of(self, topic: int) -> Floats:
        """Return the weights of a topic's documents, 0 of those that nobody can judge."""
        weights = self._weight(self.state.topics[topic])
        weights[self._closed.get(topic, [])] = 0.0
        return weights

    def _weigh_all(self) -> None:
        for topic in range(self.state.pool.n_topics):
            self._weigh(topic)

    def __repr__(self) -> str:
        name = getattr(self._weight, "__name__", "weight")
        return f"WeightedChooser({name}, floor {self._floor}, {self.state!r})"


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
        As of :class:`WeightedChooser`.
    """
    return fitted + max(REFIT_EVERY, growth * fitted)


def _estimator(spec: ModelSpec, seed: int) -> Estimator:
    """Return the fit of a model as a function of the judgments, each fit with its own seed."""
    model = spec.build()

    def probabilities(judgments: Judgments) -> NDArray[np.floating]:
        fits = judgments.n_judged // REFIT_EVERY
        sampling = replace(SAMPLING, seed=spawn_seeds(seed, fits + 1)[fits])
        with warnings.catch_warnings():
            # a remark on a fit that will be made again soon; one that must not be used is an error
            warnings.simplefilter("ignore", FitWarning)
            try:
                return estimate(model, spec.method, judgments, sampling).values
            except FitError:
                if not is_sampler(spec.resolved_method):
                    raise
                # few draws fail now and then by chance, and a session has many fits
                more = replace(sampling, draws=_MORE_DRAWS * sampling.draws)
                return estimate(model, spec.method, judgments, more).values

    return probabilities
