"""A judging session: which document next, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from itertools import chain
from numbers import Integral, Real
from operator import index
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.checks import check_type, real_number, whole_number, with_article
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.grades import check_grade
from rtc_bayes.collection.hold_out import check_design
from rtc_bayes.collection.judgment_values import as_grades
from rtc_bayes.errors import InputError, own_code
from rtc_bayes.judging.algorithm import Algorithm, parse_algorithm
from rtc_bayes.judging.judges import Chooser, Judge, confidence_of, takes_measure
from rtc_bayes.judging.judges.interface import (
    CORRECT,
    answer_of,
    differences_of,
    gives_confidence,
    says,
)
from rtc_bayes.judging.judges.weighted import enough_to_fit
from rtc_bayes.judging.stopping import Reason, with_residual, without_choice
from rtc_bayes.judging.weights import weighed_by
from rtc_bayes.measures.names import MeasureLike
from rtc_bayes.relevance import RelevanceModel, check_takes_labels, warn_of_evidence
from rtc_bayes.signatures import explains_types

type Floats = NDArray[np.float64]
type Confidence = float | Literal["auto"] | None

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
        algorithm has none, and with more than 20 systems, of which nobody looks at every pair at
        every step.
    grade : float
        What the label was read from, or says of it; NaN for a label between 0 and 1 without one.

    Examples
    --------
    >>> Step("401", "d1", label=1.0, weight=0.5, confidence=None).docno
    'd1'
    """

    topic: str
    docno: str
    label: float
    weight: float
    confidence: float | None
    grade: float = math.nan


class JudgingSession:
    """Judging, one document at a time.

    Ask :meth:`next` for a document and give its label to :meth:`observe`; None from
    :meth:`next` ends the session, and :attr:`reason` says why. Moments are the printed ones
    ("plug-in") of average precision, as published; those of other measures, AP@k among them, are
    exact, and of nDCG by grades the number of documents of each grade counts to first order.

    Parameters
    ----------
    judgments : Judgments
        Made before, over a pool of the systems to tell apart. If there are none, and they do not
        say for whom, they will be made for all systems of the pool. To resume a session, give the
        judgments that it made; a model is then fitted anew, so that it may go on with other
        documents.
    algorithm : Algorithm, Judge, RelevanceModel or str
    confidence : float, "auto" or None
        Judge until every pair of systems has this confidence, whichever its sign, or until no
        sign can change, but not before every topic has its floor and all have the least that the
        algorithm asks for; in (0.5, 1]. None: however sure. "auto": 0.95 without a budget, and
        with one the budget alone.
    budget : int or None
        The most judgments to make in this session.
    floor : int or None
        Judgments that every topic gets first; the algorithm's own if None.
    seed : int
        For models that draw.
    measure : str or measure of ir_measures
        What systems are told apart by, for a judge that weighs documents by a measure: AP, P, R,
        DCG, nDCG, RBP or RR. By DCG and nDCG gains go by the grades given to :meth:`observe`.
    aside : iterable of (topic, docno)
        Documents that nobody can judge, beside those that the judgments have aside: none of them
        is chosen.

    Attributes
    ----------
    algorithm : Algorithm
    pool : Pool
    target : float or None
        The confidence asked for.
    reason : str or None
        Why the session ended; None while it has not.
    steps : list of Step
        The judgments of this session, in order.

    Raises
    ------
    InputError
        A judge without confidences and no budget, or with a confidence, also where it says that it
        has some and its chooser has no ``confidence()``; a floor for a judge that
        has none; fewer than two systems where systems are compared; a confidence, budget, floor or
        seed out of range; a measure by which documents cannot be weighed; judgments made under a
        hold-out design, which :class:`~rtc_bayes.judging.held_out.HoldOutSession` continues.

    Warns
    -----
    RelevantAloneWarning
        Judged documents are all, or nearly all, relevant.
    TurnedLabelsWarning
        Judges whose labels go against the judgments, and so count for nothing.
    ByLotWarning
        Judges whose labels hardly go with the systems' ranks, and so count less.
    SharedErrorsWarning
        Systems may be made from the labels: see :func:`rtc_bayes.shared_errors`.
    UnlabelledWarning
        Many documents have no label: what they are taken for.

    Examples
    --------
    A person judges; here a rule stands for the person.

    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> session = JudgingSession(rb.Judgments.none(pool), "mtc", budget=3)
    >>> while (document := session.next()) is not None:
    ...     topic, docno = pool.pair_of(document)
    ...     session.observe(document, float(simulated.qrels[topic].get(docno, 0) > 0))
    >>> session.reason, session.judgments.n_judged
    ('budget', 3)

    Another day, go on from the judgments made.

    >>> resumed = JudgingSession(session.judgments, "mtc", budget=2)
    >>> resumed.next() in session.judgments.order
    False
    """

    @explains_types
    def __init__(
        self,
        judgments: Judgments,
        algorithm: Algorithm | Judge | RelevanceModel | str,
        *,
        confidence: Confidence = "auto",
        budget: int | None = None,
        floor: int | None = None,
        seed: int = 0,
        measure: MeasureLike = defaults.MEASURE,
        aside: Iterable[tuple[str, str]] = (),
    ) -> None:
        if not judgments.n_judged:
            judgments = judgments.with_judged_for()
        self.algorithm = parse_algorithm(algorithm)
        judgments = judgments.with_aside(aside)
        self.target = confidence_asked(confidence, budget, self.algorithm)
        if budget is not None:
            budget = whole_number("budget", budget)
        self.pool: Pool = judgments.pool
        self.reason: Reason | None = None
        self.steps: list[Step] = []
        self._level = judgments.relevance_level
        self._least = self.algorithm.least * self.pool.n_topics
        self._budget = budget
        self._offered: tuple[int, float] | None = None
        self._aside = frozenset(judgments.aside_documents.tolist())
        self._chooser = start_judge(
            judgments, self.algorithm, floor=floor, seed=seed, measure=measure
        )
        if self.target and self.algorithm.has_confidence and not gives_confidence(self._chooser):
            raise InputError(
                f"confidence() of {type(self._chooser).__name__} returns None, and judging would "
                "go on until a confidence is reached",
                remedy="give a budget alone, write confidence(), or say has_confidence = False in "
                f"the judge {self.algorithm.judge.name}",
            )
        warn_of_evidence(judgments)

    @property
    def judgments(self) -> Judgments:
        """Those made before the session and everything judged in it, in order."""
        return self._chooser.judgments

    @property
    def confidence(self) -> float | None:
        """The least confidence of any pair now, in [0.5, 1]; None where the judge has none."""
        confidence = confidence_of(self._chooser)
        return None if confidence is None else float(confidence.min())

    @property
    def before_fit(self) -> bool:
        """Whether the judge's model is not fitted yet, so that p = 0.5 of every unjudged document.

        False where the judge has no model, or no confidence.
        """
        waits = self.algorithm.chooses_by is not None and self.algorithm.has_confidence
        return waits and not enough_to_fit(self.judgments)

    def compared(self, left: Floats) -> float | None:
        """Return the least confidence now where every difference has an error beside.

        Parameters
        ----------
        left : ndarray, shape (pairs,)
            Variance of the error: what the pool leaves out, which a comparison counts, and which
            no judgment takes off.
        """
        confidence, differences = confidence_of(self._chooser), differences_of(self._chooser)
        if confidence is None or differences is None:
            return None
        return float(with_residual(confidence, differences, left).min())

    @property
    def differences(self) -> tuple[float, ...] | None:
        """Expected difference in the mean score of every pair now, first minus second.

        None where the judge has none.
        """
        differences = differences_of(self._chooser)
        return None if differences is None else tuple(differences.tolist())

    def next(self) -> int | None:
        """Return the index in the pool of the document to judge; None when judging is over."""
        if self._offered is None and self.reason is None:
            choice = choices(self._chooser, 1, self.algorithm)
            self.reason = self._end(nothing_left=not choice)
            self._offered = choice[0] if self.reason is None else None
        return None if self._offered is None else self._offered[0]

    def observe(self, document: int, label: float, grade: int | None = None) -> None:
        """Take the label of a document, the one asked for or any other that is not judged.

        Parameters
        ----------
        document : int
        label : float
            In [0, 1].
        grade : int, optional
            What the label was read from; by default the relevance level for 1 and 0 for 0. -1: you
            cannot judge the document, and the label is 0. It is then among the judgments'
            ``aside``, and :meth:`next` does not return it again.

        Raises
        ------
        InputError
            A label outside [0, 1], or a document that is judged, aside or not in the pool; a grade
            that is no whole number from -1 to 127, or does not have the label at the relevance
            level; a judge that does not enter the label.
        """
        aside = grade is not None and grade == -1
        if aside and label != 0.0:
            raise InputError(
                f"label {label!r} of grade -1, by which nobody can judge the document",
                remedy="give 0 with it, or the grade that was given",
            )
        if not isinstance(label, Real) or math.isnan(label) or not 0.0 <= label <= 1.0:
            raise InputError(
                f"label {label!r} is outside [0, 1]",
                remedy="give 1 for relevant, 0 for nonrelevant, or a probability; with grade=-1 "
                "you say that nobody can judge it",
            )
        if not _is_count(document) or document >= self.pool.n_documents:
            raise InputError(
                f"the pool holds no document {document!r}",
                remedy="give the number that next() returned, or one of pool.locate(topic, docnos)",
            )
        topic, docno = self.pool.pair_of(document)
        if document in self._aside:
            raise InputError(
                f"document {docno} of topic {topic} is one that nobody can judge",
                remedy="judge another; to judge it all the same, start from judgments that do not "
                "have it aside",
            )
        if self._chooser.is_judged(document):
            raise InputError(
                f"document {docno} of topic {topic} is judged already",
                remedy="judge another; to change a label start a session from other judgments",
            )
        if aside:
            self._chooser.set_aside(int(document))
            self._aside |= {int(document)}
            self._offered = None
            return
        if grade is not None:
            level = self._level
            grade = whole_number("grade", grade)
            check_grade(grade)
            if label != float(grade >= level):
                raise InputError(
                    f"label {label:g} of grade {grade}, where grades from {level} on are relevant",
                    remedy="give the label of the grade, and begin with judgments of your level: "
                    "Judgments.none(pool, relevance_level=...)",
                )
            answer_of(self._chooser, "take_grade", document, grade)
        asked, weight = self._offered or (document, 0.0)
        sure = self.confidence if self.pool.n_systems <= defaults.MANY_SYSTEMS else None
        weight = weight if asked == document else 0.0
        read_from = float(as_grades(np.array(label), self._level)) if grade is None else grade
        self.steps.append(Step(topic, docno, label, weight, sure, float(read_from)))
        self._offered = None
        _enter(self._chooser, document, label, self.algorithm)

    def reaches(self, confidence: float) -> bool:
        """Whether every pair has this confidence now, and every topic its judgments.

        Parameters
        ----------
        confidence : float
            In (0.5, 1].
        """
        return reaches(self._chooser, self.algorithm, confidence)

    def _end(self, *, nothing_left: bool) -> Reason | None:
        """Say why judging is over, if it is."""
        chooser = self._chooser
        enough = nothing_left or chooser.n_judged >= self._least
        sure_ends = enough and self.algorithm.has_confidence
        if sure_ends and self.target and says(chooser, "may_end"):
            open_pairs = chooser.open_pairs(self.target)
            if (first := next(open_pairs, None)) is None:
                return "reached"
            due = nothing_left or len(self.steps) % _PROVE_EVERY == 0
            if due and says(chooser, "proves", chain([first], open_pairs)):
                return "proved"
        if nothing_left:
            has_confidence = self.algorithm.has_confidence
            return without_choice(self.judgments.n_open, has_confidence=has_confidence)
        if self._budget is not None and len(self.steps) >= self._budget:
            return "budget"
        return None

    def __repr__(self) -> str:
        state = "open" if self.reason is None else f"ended: {self.reason}"
        sure = "" if self.confidence is None else f", confidence {self.confidence:.3f}"
        made, n_judged = len(self.steps), self.judgments.n_judged
        judged = f"{n_judged} judged" + (f", {made} in this session" if n_judged > made else "")
        return f"JudgingSession({self.algorithm.text}, {judged}{sure}, {state})"


def reaches(chooser: Chooser, algorithm: Algorithm, confidence: float) -> bool:
    """Whether every pair has this confidence, and every topic its judgments."""
    enough = chooser.n_judged >= algorithm.least * chooser.pool.n_topics
    return (
        enough and says(chooser, "may_end") and next(chooser.open_pairs(confidence), None) is None
    )


def choices(chooser: Chooser, count: int, algorithm: Algorithm) -> list[tuple[int, float]]:
    """Ask a chooser for documents and their weights, and check what it returned.

    Raises
    ------
    InputError
        What is no list of documents and weights; a document that the pool lacks or that is judged,
        one twice, more than were asked for, or a weight that is not a number.
    """
    with own_code(chooser, f"choose({count})", CORRECT):
        returned = chooser.choose(count)
    asked = f"choose({count}) of the judge {algorithm.judge.name} returned"
    remedy = f"return at most {count} (document, weight), unjudged documents by their numbers"
    try:
        made = [(index(document), float(weight)) for document, weight in returned]
    except (TypeError, ValueError):
        raise InputError(f"{asked} {returned!r:.60}", remedy=remedy) from None
    documents = [document for document, _ in made]
    size = chooser.pool.n_documents
    for document, weight in made:
        if not 0 <= document < size:
            said = f"document {document}, and the pool has 0 to {size - 1}"
        elif chooser.is_judged(document):
            said = f"document {document}, which is judged"
        elif math.isnan(weight):
            said = f"the weight NaN, of document {document}"
        else:
            continue
        raise InputError(f"{asked} {said}", remedy=remedy)
    if len(set(documents)) < len(documents) or len(documents) > count:
        what = f"{len(documents)} documents" if len(documents) > count else "a document twice"
        raise InputError(f"{asked} {what}", remedy=remedy)
    return made


def _enter(chooser: Chooser, document: int, label: float, algorithm: Algorithm) -> None:
    """Give a chooser a label, and check that it has entered it.

    Raises
    ------
    InputError
        The label is not among the chooser's.
    """
    before, what = chooser.n_judged, f"observe({document}, {label:g})"
    with own_code(chooser, what, CORRECT):
        chooser.observe(document, label)
    if chooser.n_judged == before:
        raise InputError(
            f"{what} of the judge {algorithm.judge.name} did not enter the label",
            remedy="call super().observe(document, label) first in it",
        )


def confidence_asked(
    confidence: Confidence, budget: int | None, algorithm: Algorithm
) -> float | None:
    """Return the confidence to judge until; None where the whole budget is to be spent.

    Parameters
    ----------
    confidence, budget
        As of :class:`JudgingSession`.
    algorithm : Algorithm

    Raises
    ------
    InputError
        A confidence that is not in (0.5, 1], or for a judge that has none; such a judge without a
        budget.

    Examples
    --------
    >>> confidence_asked("auto", None, parse_algorithm("mtc"))
    0.95
    >>> confidence_asked("auto", 100, parse_algorithm("mtc")) is None
    True
    """
    name = algorithm.judge.name
    if not algorithm.has_confidence and budget is None:
        raise InputError(
            f"{name} has no confidence to reach", remedy="give the number of judgments as a budget"
        )
    if confidence == "auto":
        return defaults.CONFIDENCE if budget is None else None
    if confidence is None:
        return None
    remedy = "give one above 0.5 and at most 1, or leave it out"
    asked = real_number("confidence", confidence, 0.5, 1.0, remedy, ends="(]")
    if not algorithm.has_confidence:
        raise InputError(
            f"confidence (--confidence) says nothing to {name}, which has none",
            remedy="give a budget alone",
        )
    return asked


def start_judge(
    judgments: Judgments,
    algorithm: Algorithm,
    *,
    floor: int | None = None,
    seed: int = 0,
    measure: MeasureLike = defaults.MEASURE,
) -> Chooser:
    """Start the judge of an algorithm.

    Parameters
    ----------
    judgments : Judgments
    algorithm : Algorithm
    floor : int or None
        The judge's own if None.
    seed : int, at least 0
    measure : str or measure of ir_measures
        What systems are told apart by, for a judge that weighs documents by a measure.

    Raises
    ------
    InputError
        A floor for a judge that has none, a seed that is no whole number, judgments made under a
        hold-out design, labels for a judge that takes none, a measure by which documents cannot
        be weighed, what the judge refuses, or a judge that fails or returns no chooser.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.judging import parse_algorithm
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> judgments = rb.Judgments.none(rb.Pool.from_runs(simulated.runs, depth=10))
    >>> [weight for _, weight in start_judge(judgments, parse_algorithm("ip")).choose(2)]
    [1.0, 1.0]
    """
    seed = whole_number("seed", seed)
    check_design(judgments, None)
    judge = algorithm.judge
    check_takes_labels(judgments, judge)
    if floor is not None:
        floor = whole_number("floor", floor)
        if any(field.name == "floor" for field in fields(judge)):  # type: ignore[arg-type]
            judge = replace(judge, floor=floor)  # type: ignore[type-var]
        elif floor:
            raise InputError(f"{judge.name} has no floor", remedy="leave the floor out")
    of_judge = f"of the judge {judge.name}"
    whole_number(f"floor {of_judge}", getattr(judge, "floor", 0) or 0)
    least = getattr(judge, "least", 0.0)
    real_number(f"least {of_judge}", least, 0.0, math.inf, "give a number of at least 0")
    about = {"measure": weighed_by(measure)} if takes_measure(judge) else {}
    with own_code(judge, "start(judgments, seed=...)", CORRECT):
        chooser = judge.start(judgments, seed=seed, **about)
    returned = f"start() of the judge {judge.name} returned"
    check_type(chooser, Chooser, returned, "return a subclass of rtc_bayes.judging.Chooser")
    if not hasattr(chooser, "n_judged"):
        raise InputError(
            f"{returned} {with_article(type(chooser).__name__)} without what a Chooser begins with",
            remedy="call super().__init__(judgments) first in its __init__",
        )
    chooser.close(judgments.aside_documents)
    return chooser


def _is_count(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool) and int(number) >= 0
