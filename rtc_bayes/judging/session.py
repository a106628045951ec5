"""A judging session: which document next, and when to stop."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.errors import FitError, FitWarning, InputError
from rtc_bayes.judging.algorithm import Algorithm, parse_algorithm
from rtc_bayes.judging.judges import (
    REFIT_EVERY,
    REFIT_GROWTH,
    SAMPLING,
    Estimator,
    IncrementalPooling,
    Judge,
    WeightedJudge,
)
from rtc_bayes.judging.stopping import Reason, SignProof
from rtc_bayes.judging.weights import WEIGHTS
from rtc_bayes.relevance import ModelSpec, estimate, is_sampler
from rtc_bayes.store import spawn_seeds

# As many times the draws are taken, once, where a fit must not be used.
_MORE_DRAWS = 4
# A proof costs the square of a topic's documents: it is tried once in so many judgments.
_PROVE_EVERY = 20


@dataclass(frozen=True)
class Step:
    """One judgment of a session.

    Attributes
    ----------
    topic, docno : str
    label : float
        In [0, 1].
    weight : float
        Worth of the document when it was chosen; 0 for one that was not asked for.
    confidence : float or None
        The least confidence of any pair before the judgment, in [0.5, 1]; None where the
        algorithm has none.
    """

    topic: str
    docno: str
    label: float
    weight: float
    confidence: float | None


class JudgingSession:
    """Judging, one document at a time.

    Ask :meth:`next` for a document and give its label to :meth:`observe`; None from
    :meth:`next` ends the session, and :attr:`reason` says why. Moments are the printed ones
    ("plug-in"), as published.

    Parameters
    ----------
    judgments : Judgments
        What is already known, over a pool of the systems to tell apart.
    algorithm : Algorithm or str
    confidence : float or None
        Judge until every pair of systems has this confidence, whichever its sign, or until no
        sign can change, but not before every topic has its floor and all have the least that the
        algorithm asks for; in (0.5, 1]. None: however sure.
    budget : int or None
        The most judgments to make in this session.
    floor : int or None
        Judgments that every topic gets first; the algorithm's own if None.
    seed : int
        For models that draw.

    Attributes
    ----------
    algorithm : Algorithm
    pool : Pool
    reason : str or None
        Why the session ended; None while it has not.
    steps : list of Step
        The judgments of this session, in order.

    Raises
    ------
    InputError
        Incremental pooling without a budget or with a floor; fewer than two systems where
        systems are compared; a confidence, budget or floor out of range.
    """

    def __init__(
        self,
        judgments: Judgments,
        algorithm: Algorithm | str,
        *,
        confidence: float | None = 0.95,
        budget: int | None = None,
        floor: int | None = None,
        seed: int = 0,
    ) -> None:
        self.algorithm = parse_algorithm(algorithm) if isinstance(algorithm, str) else algorithm
        if self.algorithm.judge == "ip" and budget is None:
            raise InputError(
                "ip has no confidence to reach", remedy="give the number of judgments as a budget"
            )
        if confidence is not None and not 0.5 < confidence <= 1.0:
            raise InputError(
                f"confidence is {confidence}", remedy="give one above 0.5 and at most 1"
            )
        if budget is not None and budget < 0:
            raise InputError(f"budget is {budget}", remedy="give a budget of at least 0")
        self.pool: Pool = judgments.pool
        self.reason: Reason | None = None
        self.steps: list[Step] = []
        self._topic_of = self.pool.topic_of
        self._target = confidence
        self._least = self.algorithm.least * self.pool.n_topics
        self._budget = budget
        self._offered: tuple[int, float] | None = None
        self._judge = make_judge(judgments, self.algorithm, floor=floor, seed=seed)
        if isinstance(self._judge, WeightedJudge):
            self._proof = SignProof(self._judge.state)

    @property
    def judgments(self) -> Judgments:
        """What was known before the session and everything judged in it, in order."""
        return self._judge.ledger.judgments

    @property
    def confidence(self) -> float | None:
        """The least confidence of any pair now, in [0.5, 1]; None for incremental pooling."""
        if not isinstance(self._judge, WeightedJudge):
            return None
        return float(self._judge.state.confidence().min())

    @property
    def differences(self) -> tuple[float, ...] | None:
        """Expected difference in mean average precision of every pair now, first minus second.

        None for incremental pooling.
        """
        if not isinstance(self._judge, WeightedJudge):
            return None
        return tuple(self._judge.state.moments()[0].tolist())

    def next(self) -> int | None:
        """Return the index in the pool of the document to judge; None when judging is over."""
        if self._offered is None and self.reason is None:
            choice = self._judge.choose(1)
            self.reason = self._end(nothing_left=not choice)
            self._offered = choice[0] if self.reason is None else None
        return None if self._offered is None else self._offered[0]

    def observe(self, document: int, label: float) -> None:
        """Take the label of a document, the one asked for or any other that is not judged.

        Raises
        ------
        InputError
            A label outside [0, 1], or a document that is judged or not in the pool.
        """
        if not 0.0 <= label <= 1.0:
            raise InputError(f"label {label} is outside [0, 1]")
        if not 0 <= document < self.pool.n_documents:
            raise InputError(f"the pool holds no document {document}")
        topic, docno = self.pool.topics[self._topic_of[document]], self.pool.docnos[document]
        if self._judge.ledger.holds(document):
            raise InputError(f"document {docno} of topic {topic} is judged already")
        asked, weight = self._offered or (document, 0.0)
        self.steps.append(
            Step(topic, docno, label, weight if asked == document else 0.0, self.confidence)
        )
        self._judge.observe(document, label)
        self._offered = None

    def _end(self, *, nothing_left: bool) -> Reason | None:
        """Say why judging is over, if it is."""
        enough = nothing_left or len(self._judge.ledger) >= self._least
        if (
            enough
            and self._target
            and isinstance(self._judge, WeightedJudge)
            and self._judge.floor_met
        ):
            open_pairs = (self._judge.state.confidence() < self._target).nonzero()[0]
            if not len(open_pairs):
                return "reached"
            due = nothing_left or len(self.steps) % _PROVE_EVERY == 0
            if due and all(self._proof.holds(int(pair)) for pair in open_pairs):
                return "proved"
        if nothing_left:
            weightless = isinstance(self._judge, WeightedJudge)
            some_open = len(self._judge.ledger) < self.pool.n_documents
            return "no document has weight" if weightless and some_open else "exhausted"
        if self._budget is not None and len(self.steps) >= self._budget:
            return "budget"
        return None

    def __repr__(self) -> str:
        state = "open" if self.reason is None else f"ended: {self.reason}"
        sure = "" if self.confidence is None else f", confidence {self.confidence:.3f}"
        return f"JudgingSession({self.algorithm.text}, {len(self.steps)} judged{sure}, {state})"


def make_judge(
    judgments: Judgments, algorithm: Algorithm, *, floor: int | None = None, seed: int = 0
) -> Judge:
    """Make the judge that an algorithm names.

    Parameters
    ----------
    judgments : Judgments
    algorithm : Algorithm
    floor : int or None
        The algorithm's own if None.
    seed : int

    Raises
    ------
    InputError
        Incremental pooling with a floor; fewer than two systems where systems are compared.
    """
    if floor is not None and floor < 0:
        raise InputError(f"floor is {floor}", remedy="give a floor of at least 0")
    if algorithm.weight is None:
        if floor:
            raise InputError("ip has no floor: it presents documents by rank")
        return IncrementalPooling(judgments)
    if judgments.pool.n_systems < 2:
        raise InputError(
            f"{algorithm.text} chooses documents that tell systems apart",
            remedy="give two runs or more",
        )
    return WeightedJudge(
        judgments,
        WEIGHTS[algorithm.weight],
        floor=algorithm.floor if floor is None else floor,
        estimate=None if algorithm.model is None else _estimator(algorithm.model, seed),
        growth=REFIT_GROWTH if _draws(algorithm) else 0.0,
    )


def _draws(algorithm: Algorithm) -> bool:
    """Whether the judge's model is fitted by a method that draws."""
    return algorithm.model is not None and is_sampler(algorithm.model.resolved_method)


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
