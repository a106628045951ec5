"""Judging under a hold-out design: a pool for each set of groups held out, one budget for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.hold_out import HoldOutDesign
from rtc_bayes.errors import InputError
from rtc_bayes.judging.algorithm import Algorithm, parse_algorithm
from rtc_bayes.judging.judges import Judge
from rtc_bayes.judging.session import Confidence, JudgingSession, Step, confidence_asked
from rtc_bayes.judging.sharing import fewest_a_topic, shares, sub_pools
from rtc_bayes.judging.stopping import Reason
from rtc_bayes.measures.names import MeasureLike
from rtc_bayes.relevance import RelevanceModel, evidence_said, warn_of_evidence
from rtc_bayes.relevance.turned_labels import without_turned
from rtc_bayes.signatures import moved
from rtc_bayes.store import spawn_seeds
from rtc_bayes.store.shown import counted


@moved(design="write hold_out")
class HoldOutSession:
    """Judging under a hold-out design, one document at a time.

    A system of a group that is held out of a topic is absent from the topic's pool. So there is a
    sub-pool for each set of groups held out, with the topics and the systems that are left, and
    a :class:`~rtc_bayes.judging.JudgingSession` of each. The budget is shared over sub-pools in
    proportion to their topics, judgments made before counted in; what one cannot use goes to the
    others. The next document comes from the sub-pool with the fewest judgments a topic.

    Parameters
    ----------
    judgments : Judgments
        Made before, over the pool of all systems, those held out too. To resume a session, give
        the judgments that it made.
    algorithm : Algorithm, Judge, RelevanceModel or str
    hold_out : HoldOutDesign
    groups : mapping of str to str
        Group of each system, as :func:`rtc_bayes.read_groups` reads it.
    budget : int
        The most judgments to make in this session.
    confidence : float, "auto" or None
        Stop before the budget is spent once every pair has this confidence in every sub-pool at
        the same time, over the sub-pool's own topics; in (0.5, 1]. None and "auto": spend the
        budget.
    floor, seed, measure
        As of :class:`~rtc_bayes.judging.JudgingSession`.

    Attributes
    ----------
    algorithm : Algorithm
    pool : Pool
    target : float or None
        The confidence asked for.
    reason : str or None
        Why the session ended; None while it has not.
    steps : list of Step
        The judgments of this session, in order; a confidence is that of the sub-pool.

    Raises
    ------
    InputError
        No budget; judgments made under another design, or for a system that this one holds out;
        a system without a group, a group or topic that the design lacks, fewer than two systems
        left for a topic; what :class:`~rtc_bayes.judging.JudgingSession` refuses.

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
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=2, n_systems=6, seed=1)
    >>> pool, groups = rb.Pool.from_runs(simulated.runs, depth=10), simulated.groups
    >>> sites = tuple(dict.fromkeys(groups.values()))
    >>> design = HoldOutDesign(pool.topics, sites, [[g > 0 or t == 0 for t in range(2)]
    ...                                             for g in range(len(sites))])
    >>> session = HoldOutSession(rb.Judgments.none(pool), "mtc", design, groups, budget=4)
    >>> while (document := session.next()) is not None:
    ...     session.observe(document, 0.0)
    >>> session
    HoldOutSession(mtc, 2 sub-pools, 4 judged, ended: budget)
    >>> session.judgments.topics_frame()["judged"].tolist()
    [2, 2]
    """

    def __init__(
        self,
        judgments: Judgments,
        algorithm: Algorithm | Judge | RelevanceModel | str,
        hold_out: HoldOutDesign,
        groups: Mapping[str, str],
        *,
        budget: int | None,
        confidence: Confidence = "auto",
        floor: int | None = None,
        seed: int = 0,
        measure: MeasureLike = defaults.MEASURE,
    ) -> None:
        if budget is None:
            raise InputError(
                "a hold-out design is judged by a budget, not until a confidence is reached",
                remedy="give the number of judgments as a budget",
            )
        self.algorithm = parse_algorithm(algorithm)
        self.target = confidence_asked(confidence, budget, self.algorithm)
        self.pool: Pool = judgments.pool
        self.reason: Reason | None = None
        self.steps: list[Step] = []
        self._budget = whole_number("budget", budget)
        self._parts = sub_pools(without_turned(judgments), hold_out, groups)
        self._topics = [part.topics for part in self._parts]
        self._judged = [part.judgments.n_judged for part in self._parts]
        self._room = [part.judgments.n_open for part in self._parts]
        self._share()
        seeds = spawn_seeds(whole_number("seed", seed), len(self._parts))
        asked: dict[str, Any] = {"confidence": None, "floor": floor, "measure": measure}
        with evidence_said():  # of the whole pool, below
            self._sessions = [
                JudgingSession(part.judgments, self.algorithm, budget=room, seed=own, **asked)
                for part, room, own in zip(self._parts, self._room, seeds, strict=True)
            ]
        warn_of_evidence(judgments)
        self._part_of = {
            int(document): (n, own)
            for n, part in enumerate(self._parts)
            for own, document in enumerate(part.documents)
        }
        none = Judgments.none(self.pool, judged_for=hold_out.judged_for(self.pool, groups))
        self._before = replace(
            judgments,
            judged_for=none.judged_for,
            judged_for_by_topic=none.judged_for_by_topic,
            hold_out=hold_out.digest,
        )
        self._made: list[int] = []
        self._offered: int | None = None

    @property
    def judgments(self) -> Judgments:
        """Those made before the session and everything judged in it, in order.

        Over the pool of all systems. They name the design, and for whom each topic was judged.
        """
        labels, grades = ([getattr(s, of) for s in self.steps] for of in ("label", "grade"))
        return self._before.with_labels(self._made, labels, grades)

    @property
    def confidence(self) -> float | None:
        """The least confidence of any pair in any sub-pool now, in [0.5, 1]; None: it has none."""
        return min((s.confidence for s in self._sessions if s.confidence is not None), default=None)

    @property
    def before_fit(self) -> bool:
        """Whether the judge's model is not fitted yet in some sub-pool: every p is .5 there."""
        return any(session.before_fit for session in self._sessions)

    @property
    def differences(self) -> None:
        """None: the sub-pools differ in their systems."""
        return None

    def next(self) -> int | None:
        """Return the index in the pool of the document to judge; None when judging is over."""
        while self._offered is None and self.reason is None:
            if self.target is not None and all(s.reaches(self.target) for s in self._sessions):
                self.reason = "reached"
                break
            n = fewest_a_topic(self._left, self._topics, self._judged)
            if n is None:
                self.reason = self._end()
                break
            own = self._sessions[n].next()
            if own is None:
                self._room[n] = 0
                self._share()
            else:
                self._offered = int(self._parts[n].documents[own])
        return self._offered

    def observe(self, document: int, label: float, grade: int | None = None) -> None:
        """Take the label of a document, the one asked for or any other that is not judged.

        Parameters are those of :meth:`JudgingSession.observe`.

        Raises
        ------
        InputError
            A document that is judged or in no sub-pool; a label or a grade as
            :meth:`JudgingSession.observe` refuses it.
        """
        if document not in self._part_of:
            raise InputError(
                f"no sub-pool of the design holds document {document!r}",
                remedy="give the number that next() returned, or another document that a system "
                "retrieved whose group is not held out of the topic",
            )
        n, own = self._part_of[document]
        session = self._sessions[n]
        before = len(session.steps)
        try:
            session.observe(own, label, grade)
        finally:
            # the judgment is made, also where a model's fit fails after it
            if len(session.steps) > before:
                self._take(n, document)
        if len(session.steps) == before:  # nobody can judge it
            self._before = self._before.with_aside([self.pool.pair_of(document)])
            self._room[n] = max(self._room[n] - 1, 0)
            self._share()
            self._offered = None

    def _take(self, n: int, document: int) -> None:
        """Count a judgment that the session of a sub-pool has made."""
        self.steps.append(self._sessions[n].steps[-1])
        self._made.append(int(document))
        self._judged[n] += 1
        self._room[n] -= 1
        self._left[n] -= 1
        if self._left[n] < 0:  # not asked for: the others have less to come
            self._share()
        self._offered = None

    def _share(self) -> None:
        """Share what is left of the budget."""
        rest = max(self._budget - len(self.steps), 0)
        self._left = shares(rest, self._topics, self._judged, self._room)

    def _end(self) -> Reason:
        """Say why judging is over when no sub-pool has a share left."""
        if any(self._room):
            return "budget"
        reasons = [session.reason for session in self._sessions]
        for reason in ("no document has weight", "nothing offered"):
            if reason in reasons:
                return reason
        return "exhausted"

    def __repr__(self) -> str:
        state = "open" if self.reason is None else f"ended: {self.reason}"
        return (
            f"HoldOutSession({self.algorithm.text}, {counted(len(self._parts), 'sub-pool')}, "
            f"{len(self.steps)} judged, {state})"
        )
