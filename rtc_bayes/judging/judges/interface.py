"""What a judge is: options that start a chooser, and the chooser that a session asks.

A :class:`Judge` is a frozen dataclass whose fields are its options, as a relevance model is. Its
:meth:`~Judge.start` makes a :class:`Chooser` for one session. A chooser need only choose; what
else a session asks has an answer here that holds for a judge without confidences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from inspect import signature
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import as_numbers, brief_repr
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.judgment_values import as_grades
from rtc_bayes.errors import InputError, own_code
from rtc_bayes.store.shown import counted

type Floats = NDArray[np.float64]

#: What to do about a slip in a judge's own code.
SHOWN = "docs/judging.md shows a judge"
CORRECT = f"correct it; {SHOWN}"

_ROUNDING = 1e-9


class Judge(Protocol):
    """A judge as it is named: its options.

    Two fields mean the same in every judge that has them: ``floor`` (int, judgments that every
    topic gets first) and ``least`` (float, judgments a topic, on average, before a confidence may
    end judging).

    Attributes
    ----------
    name : str
        A class attribute.
    has_confidence : bool
        A class attribute: whether its choosers give confidences. A session of a judge that gives
        none needs a budget.

    Examples
    --------
    >>> from rtc_bayes.judging.judges import load_judge
    >>> judge = load_judge("mtc", {"weight": "evr"})
    >>> judge.name, judge.has_confidence, judge.weight
    ('mtc', True, 'evr')
    """

    name: ClassVar[str]
    has_confidence: ClassVar[bool]

    def start(self, judgments: Judgments, *, seed: int) -> Chooser:
        """Make the chooser of one session, given the judgments made before it.

        One that weighs documents by a measure takes it as a third argument, ``measure``.
        """


def takes_measure(judge: Judge) -> bool:
    """Whether a judge weighs documents by a measure, and so starts with one.

    Examples
    --------
    >>> from rtc_bayes.judging.judges import load_judge
    >>> takes_measure(load_judge("mtc")), takes_measure(load_judge("ip"))
    (True, False)
    """
    return "measure" in signature(judge.start).parameters


class Chooser:
    """Chooses the documents of one session and takes their labels.

    To write one, give it :meth:`choose`; a judge with confidences gives :meth:`confidence` and
    :meth:`differences` too. The pool need not hold every system in every topic: a run that a
    design holds out of a topic is absent from that topic's lists.

    Parameters
    ----------
    judgments : Judgments
        Made before the session, over the pool of the systems to tell apart.

    Attributes
    ----------
    pool : Pool

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> class ByNumber(Chooser):
    ...     def choose(self, count):
    ...         return [(int(document), 1.0) for document in self.unjudged()[:count]]
    >>> chooser = ByNumber(rb.Judgments.none(pool))
    >>> chooser.choose(2)
    [(0, 1.0), (1, 1.0)]
    >>> chooser.observe(0, 1.0)
    >>> chooser.choose(2)
    [(1, 1.0), (2, 1.0)]
    """

    def __init__(self, judgments: Judgments) -> None:
        self.pool: Pool = judgments.pool
        self._judgments = judgments
        self._is_judged = judgments.judged.copy()
        self._n_judged = judgments.n_judged
        self._new: list[tuple[int, float]] = []
        self._grades: dict[int, float] = {}

    def close(self, documents: NDArray[np.int64]) -> None:
        """Offer none of these documents, which nobody can judge: they count as judged, unlabelled.

        A chooser that does not go by :meth:`unjudged` and :meth:`is_judged` overrides it.
        """
        self._is_judged[documents] = True

    def set_aside(self, document: int) -> None:
        """Take it that nobody can judge a document, in the midst of judging."""
        self.close(np.array([document]))
        self._judgments = self.judgments.with_aside([self.pool.pair_of(document)])

    def choose(self, count: int) -> list[tuple[int, float]]:
        """Return up to `count` unjudged documents and their weights, the first to judge first.

        Parameters
        ----------
        count : int, at least 1

        Returns
        -------
        list of (int, float)
            Indices in the pool, and weights above 0. Empty: no document is worth a judgment.
        """
        raise InputError(f"{type(self).__name__} has no choose(count)", remedy=f"write it; {SHOWN}")

    def observe(self, document: int, label: float) -> None:
        """Take the label, in [0, 1], of a document; one that overrides it calls this first."""
        self._is_judged[document] = True
        self._n_judged += 1
        self._new.append((document, label))
        if document not in self._grades:
            level = self._judgments.relevance_level
            self._grades[document] = float(as_grades(np.array(label), level))

    def take_grade(self, document: int, grade: int) -> None:
        """Take the grade that a label is read from, just before the label."""
        self._grades[document] = float(grade)

    def confidence(self) -> Floats | None:
        """Confidence in the sign of every pair's difference, in [0.5, 1]; None: it has none."""
        return None

    def open_pairs(self, confidence: float) -> Iterator[int]:
        """Give the pairs that have less than a confidence; every pair, if it has none.

        One that can say so of a pair without the others does, as judging goes on with the first.
        """
        now = confidence_of(self)
        pairs = self.pool.n_systems * (self.pool.n_systems - 1) // 2
        return iter(range(pairs) if now is None else np.flatnonzero(now < confidence).tolist())

    def differences(self) -> Floats | None:
        """Return the expected difference of every pair, first minus second; None: it has none."""
        return None

    def for_pair(self, systems: Sequence[int]) -> Chooser | None:
        """Return a chooser of documents for one pair alone; None: it weighs no single pair.

        It starts from what is judged and fitted now. `systems` are the two systems' numbers in
        the pool, the lower first.
        """
        return None

    def may_end(self) -> bool:
        """Whether a confidence may end judging now, as far as the judge's floor goes."""
        return True

    def proves(self, pairs: Iterable[int]) -> bool:
        """Whether no judgment to come can change the sign of any of these pairs' differences.

        Pairs are given by their numbers, one after the other: an iterator, as a list of all of many
        systems' may take long.
        """
        return False

    @property
    def weight_text(self) -> str:
        """What a weight is, for a person; by default nothing."""
        return ""

    def probability(self, document: int) -> float | None:
        """How probably a document is relevant; by default None: the judge has no probabilities."""
        return None

    def why(self, document: int, weight: float) -> str:
        """Say why a document is worth a judgment: by default its best rank."""
        ranks = self.ranks_of(document)
        best = int(np.argmin(np.where(ranks > 0, ranks, np.iinfo(ranks.dtype).max)))
        return self._places(ranks, [best])

    def is_judged(self, document: int) -> bool:
        """Whether a document of the pool is judged."""
        return bool(self._is_judged[document])

    def unjudged(self) -> NDArray[np.int64]:
        """Return the indices in the pool of the unjudged documents, in the pool's order."""
        return np.flatnonzero(~self._is_judged)

    @property
    def n_judged(self) -> int:
        """How many documents are judged, those before the session included."""
        return self._n_judged

    @property
    def judgments(self) -> Judgments:
        """Everything judged so far, in order."""
        if self._new:
            documents, labels = zip(*self._new, strict=True)
            grades = [self._grades[document] for document in documents]
            self._judgments = self._judgments.with_labels(documents, labels, grades)
            self._new = []
        return self._judgments

    def ranks_of(self, document: int) -> NDArray[np.integer]:
        """Return a document's rank in every system, 0 where it is not, or below the score depth."""
        t = int(self.pool.topic_of[document])
        ranks = self.pool.ranks(t, below=True)[:, document - int(self.pool.topic_starts[t])]
        return np.where(ranks > self.pool.score_depth, 0, ranks)

    def _places(self, ranks: NDArray[np.integer], systems: Sequence[int]) -> str:
        """Say where some systems rank a document."""
        names = self.pool.systems
        return ", ".join(
            f"rank {ranks[s]} in {names[s]}" if ranks[s] else f"not in {names[s]}"
            for s in dict.fromkeys(systems)
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_judged} judged)"


def gives_confidence(chooser: Chooser) -> bool:
    """Whether a chooser has a confidence of its own, or says which pairs lack one."""
    own = type(chooser)
    return (own.confidence, own.open_pairs) != (Chooser.confidence, Chooser.open_pairs)


def answer_of(chooser: Chooser, member: str, *arguments: object) -> Any:
    """Ask a chooser something, and say where its own code fails.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> answer_of(Chooser(rb.Judgments.none(pool)), "may_end")
    True
    """
    with own_code(chooser, f"{member}()", CORRECT):
        return getattr(chooser, member)(*arguments)


def says(chooser: Chooser, member: str, *arguments: object) -> bool:
    """Ask a chooser whether something is so.

    Raises
    ------
    InputError
        It answers with what is neither True nor False.
    """
    answer = answer_of(chooser, member, *arguments)
    if not isinstance(answer, bool | np.bool_):
        raise InputError(
            f"{member}() of {type(chooser).__name__} returned {brief_repr(answer)}",
            remedy="return True or False",
        )
    return bool(answer)


def differences_of(chooser: Chooser) -> Floats | None:
    """Ask a chooser for the expected differences, and check them.

    Raises
    ------
    InputError
        Another number of them than of pairs, or what is no number.
    """
    said = answer_of(chooser, "differences")
    if said is None:
        return None
    now = as_numbers(said, f"differences() of {type(chooser).__name__} gave", "give numbers")
    pairs = chooser.pool.n_systems * (chooser.pool.n_systems - 1) // 2
    if now.shape not in ((pairs,), (1,)) or not np.isfinite(now).all():
        raise InputError(
            f"differences() of {type(chooser).__name__} gave {brief_repr(said)}",
            remedy=f"give {counted(pairs, 'number')}, one for each pair",
        )
    return now


def confidence_of(chooser: Chooser) -> Floats | None:
    """Ask a chooser for its confidences, and check them.

    Raises
    ------
    InputError
        Another number of them than of pairs, or one outside [0.5, 1].

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> class Sure(Chooser):
    ...     def confidence(self):
    ...         return np.full(6, np.nan)
    >>> confidence_of(Sure(rb.Judgments.none(pool)))
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: confidence() of Sure gave nan; give 6 numbers from 0.5 to 1, one \
for each pair: 0.5 where nothing is known
    """
    said = answer_of(chooser, "confidence")
    if said is None:
        return None
    now = as_numbers(said, f"confidence() of {type(chooser).__name__} gave", "give numbers")
    pairs = chooser.pool.n_systems * (chooser.pool.n_systems - 1) // 2
    inside = (now >= 0.5 - _ROUNDING) & (now <= 1.0 + _ROUNDING)
    # a chooser for one pair alone has one
    counts = now.shape in ((pairs,), (1,))
    if not (counts and inside.all()):
        what = f"{now[~inside][0]:g}" if counts else f"an array of shape {now.shape}"
        raise InputError(
            f"confidence() of {type(chooser).__name__} gave {what}",
            remedy=f"give {counted(pairs, 'number')} from 0.5 to 1, one for each pair: 0.5 where "
            "nothing is known",
        )
    return now
