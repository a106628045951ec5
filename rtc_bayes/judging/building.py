"""Building a test collection: judge with known answers until the systems are told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rtc_bayes import defaults
from rtc_bayes.collection import Judgments, Labels, Pool, Qrels
from rtc_bayes.collection.hold_out import HoldOutDesign, check_groups_given
from rtc_bayes.collection.ids import shared_topics
from rtc_bayes.collection.qrels import level_of
from rtc_bayes.confidence.likeness import residual_covariance, unlikeness
from rtc_bayes.errors import InputError, warn
from rtc_bayes.judging.algorithm import Algorithm
from rtc_bayes.judging.held_out import HoldOutSession
from rtc_bayes.judging.judges import Judge
from rtc_bayes.judging.judges.weighted import REFIT_EVERY
from rtc_bayes.judging.session import Confidence, JudgingSession, Step
from rtc_bayes.judging.stopping import Reason, stopped
from rtc_bayes.measures import Estimand
from rtc_bayes.relevance import RelevanceModel
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import Shown

if TYPE_CHECKING:
    from rtc_bayes.measures.estimand import EstimandLike


@dataclass(frozen=True, repr=False)
class JudgingResult(Shown):
    """The judgments that a session made, and why it ended.

    Attributes
    ----------
    algorithm : str
        As typed.
    measure : str
        By which systems were to be told apart.
    judgments : Judgments
        In the order made, with ``judged_for`` the pool's systems; under a hold-out design those
        that contribute, by topic, and with the design's digest. Where judging went on from
        judgments made before, these come first, and ``judged_for`` is as it was.
    reason : str
        One of "reached", "proved", "no document has weight", "nothing offered", "exhausted" and
        "budget".
    target : float or None
        The confidence asked for; None where the whole budget was to be spent.
    confidence : float or None
        The least confidence of any pair at the end, in [0.5, 1], with the session's moments;
        None where the algorithm has none. Under a hold-out design the least in any sub-pool.
    compared : float or None
        The same with the estimand's residual, an error in every score for what the pool leaves
        out, shared as far as lists are alike: about what a comparison will say. Judging does not
        wait for it, as no judgment takes a residual off. None under a hold-out design.
    differences : tuple of float or None
        Expected difference in the mean score of every pair at the end, first minus second, pairs
        in the pool's order; None where the algorithm has none, and under a hold-out design.
    missing : tuple of (str, str)
        Topic and docno of every chosen document that the truth does not judge: counted
        nonrelevant.
    steps : tuple of Step
        What was judged and how sure one was before, in order.
    before_fit : bool
        Whether the confidence is of a judge whose model is not fitted yet, as there are fewer than
        10 judgments: every unjudged document has p = 0.5.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> result = rb.build(pool, simulated.qrels, "ip", budget=3)
    >>> result.judgments.n_judged, result.reason, result.confidence
    (3, 'budget', None)
    """

    algorithm: str
    measure: str
    judgments: Judgments
    reason: Reason
    target: float | None
    confidence: float | None
    compared: float | None
    differences: tuple[float, ...] | None
    missing: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    before_fit: bool = False

    def meta(self) -> dict[str, Any]:
        """Return what to keep beside the judgments, ready for JSON.

        Returns
        -------
        dict
            What :meth:`Qrels.about` says of the judgments, ``algorithm``, ``measure``, ``reason``,
            ``confidence``, ``compared``, ``before_fit``, ``judged``, ``relevant``, ``topics``
            (per topic its ``judged`` and ``relevant``) and ``missing`` (topic and docno).
        """
        relevant, nonrelevant = self.judgments.relevant, self.judgments.nonrelevant
        per_topic = zip(self.judgments.pool.topics, relevant, nonrelevant, strict=True)
        return {
            **self.judgments.to_qrels().about(),
            "algorithm": self.algorithm,
            "measure": self.measure,
            "reason": self.reason,
            "confidence": self.confidence,
            "compared": self.compared,
            "before_fit": self.before_fit,
            "judged": self.judgments.n_judged,
            "relevant": round(float(relevant.sum())),
            "topics": {
                topic: {"judged": round(float(r + n)), "relevant": round(float(r))}
                for topic, r, n in per_topic
            },
            "missing": [list(pair) for pair in self.missing],
        }

    @property
    def _of_grades(self) -> str:
        """Say which grades counted as relevant, where some are above 1, as a sentence more."""
        if self.judgments.highest_grade <= 1.0:
            return ""
        return f". Grades from {self.judgments.relevance_level} on counted as relevant"

    @property
    def _of_none(self) -> str:
        """Say, as a sentence more, that a judge was sure before any judgment."""
        if self.judgments.n_judged or self.reason not in ("reached", "proved"):
            return ""
        if self.judgments.judge_labels is not None:
            return ". No judgment was made: the lists and labels alone are so sure"
        return (
            ". No judgment was made: with p = 0.5 for every document the run that ranks more of "
            "the pool is surely better. Ask for some judgments by a floor (floor=, --floor)"
        )

    @property
    def _of_few(self) -> str:
        """Say, as a sentence more, that a model's judge has not fitted it yet."""
        if not self.before_fit or not self.judgments.n_judged:
            return ""
        return (
            f". The model is first fitted at {REFIT_EVERY} judgments: this confidence takes p = "
            "0.5 for every unjudged document, and a comparison does not"
        )

    def __repr__(self) -> str:
        before = self.judgments.n_judged - len(self.steps)
        made = f", {before} of them before" if before else ""
        missing = f"; {len(self.missing)} missing from the truth" if self.missing else ""
        return (
            f"JudgingResult({self.algorithm}: {self.judgments.n_judged} judged{made}{missing}. "
            f"{stopped(self.reason, self.target, self.confidence, self.compared)}"
            f"{self._of_grades}{self._of_none}{self._of_few})"
        )


@explains_types
@moved(relevance_level="give estimand=Estimand(relevance_level=...)")
def build(
    pool: Pool,
    qrels: Qrels,
    algorithm: Algorithm | Judge | RelevanceModel | str = defaults.ALGORITHM,
    estimand: EstimandLike = None,
    *,
    confidence: Confidence = "auto",
    budget: int | None = None,
    floor: int | None = None,
    seed: int = 0,
    hold_out: HoldOutDesign | None = None,
    groups: Mapping[str, str] | None = None,
    labels: Labels | None = None,
    judgments: Judgments | Qrels | None = None,
) -> JudgingResult:
    """Judge the pool of some systems by a truth file until they are told apart.

    Parameters
    ----------
    pool : Pool
        Of the systems to tell apart.
    qrels : Qrels
        The truth. A chosen document that it does not judge counts as nonrelevant.
    algorithm : Algorithm, Judge, RelevanceModel or str
        For example ``mtc``, ``rtc:map``, ``my_judge.py`` or an instance of a judge.
    confidence : float, "auto" or None
        Judge until every pair of systems has this confidence; in (0.5, 1]. None: spend the
        whole budget. "auto": 0.95 without a budget, and with one the budget alone.
    budget : int or None
        The most judgments to make, beside those made before. A judge without confidences
        (``ip``) needs one, as does a hold-out design.
    floor : int or None
        Judgments that every topic gets first; the algorithm's own if None.
    estimand : Estimand, optional
        What the systems are told apart by: see :func:`judged_about`.
    seed : int
        For models that draw.
    hold_out : HoldOutDesign, optional
        Whom each topic is judged for: a system of a group that the design holds out of a topic is
        absent from its pool. The budget is shared as
        :class:`~rtc_bayes.judging.held_out.HoldOutSession` says, by topics, and judging stops
        before it is spent only where every sub-pool has the confidence.
    groups : mapping of str to str, optional
        With a design: the group of each system, as :func:`rtc_bayes.read_groups` reads it.
    labels : Labels, optional
        Labels of judges that may err, for an algorithm with a model that takes them: see
        :func:`rtc_bayes.fit`. Documents are then chosen for what the labels leave open.
    judgments : Judgments or Qrels, optional
        Made before, to go on from; the result has them, too. Documents to which Qrels give a
        negative grade cannot be judged: they are not chosen, and are among the result's ``aside``.

    Returns
    -------
    JudgingResult

    Raises
    ------
    InputError
        Bad arguments, a truth with no topic of the pool, or labels for an algorithm that takes
        none; judgments made before by another relevance level than the truth's. With a design:
        judgments made before, no budget or no groups, a system without a group, a group or topic
        that the design lacks.
    FitError
        A model's fit that must not be used.

    Warns
    -----
    CollectionWarning
        Systems have the same lists, so that a confidence in every pair cannot be reached.
    RelevantAloneWarning
        Judgments made before are all, or nearly all, of relevant documents.
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
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> rb.build(pool, simulated.qrels, "ip", budget=5)
    JudgingResult(ip: 5 judged. Stopped: the budget is spent)

    Under a design that holds the first site out of the last topic:

    >>> groups = dict(zip(pool.systems, ["siteA", "siteA", "siteB", "siteB"]))
    >>> design = rb.HoldOutDesign(pool.topics, ("siteA", "siteB"), [[1, 1, 0], [1, 1, 1]])
    >>> result = rb.build(pool, simulated.qrels, "ip", budget=6, hold_out=design, groups=groups)
    >>> result.judgments.judged_for_topic("503") == pool.systems[2:]
    True
    """
    about, pool = judged_about(estimand, pool, judgments)
    asked = about.relevance_level
    if asked is None and qrels.relevance_level is None and judgments is not None:
        asked = judgments.relevance_level
    level = level_of(qrels, asked)
    if pool.n_topics:
        shared_topics(pool.topics, qrels.topics, qrels.path, say=False)
    check_groups_given(hold_out, groups)
    stop: dict[str, Any] = {
        "confidence": confidence,
        "budget": budget,
        "floor": floor,
        "seed": seed,
        "measure": about.measure,
    }
    session: JudgingSession | HoldOutSession
    if hold_out is None or groups is None:
        begun = _begun(judgments, pool, level)
        if labels is not None:
            begun = begun.with_judge_labels(labels)
        # judged documents that the runs do not have are in its pool, too
        pool = begun.pool
        session = JudgingSession(begun, algorithm, **stop)
    elif judgments is not None:
        raise InputError(
            "under a hold-out design judging does not go on from judgments made before",
            remedy="leave them out (judgments=, --qrels), or the design",
        )
    else:
        none = Judgments.none(pool, relevance_level=level).with_judge_labels(labels)
        session = HoldOutSession(none, algorithm, hold_out, groups, **stop)
    if session.target is not None:
        _warn_of_alike(pool)
    missing = _judge_all(session, pool, qrels, level)
    assert session.reason is not None
    assert isinstance(about.residual, float)
    compared = None
    if isinstance(session, JudgingSession):
        compared = session.compared(unlikeness(residual_covariance(pool, about.residual)))
    return JudgingResult(
        algorithm=session.algorithm.text,
        measure=about.measure,
        judgments=session.judgments,
        reason=session.reason,
        target=session.target,
        confidence=session.confidence,
        compared=compared,
        differences=session.differences,
        missing=missing,
        steps=tuple(session.steps),
        before_fit=session.before_fit,
    )


def _judge_all(
    session: JudgingSession | HoldOutSession, pool: Pool, qrels: Qrels, level: int
) -> tuple[tuple[str, str], ...]:
    """Judge by the truth until the session ends; return what the truth lacks."""
    missing = []
    while (document := session.next()) is not None:
        topic, docno = pool.pair_of(document)
        grade = qrels[topic].get(docno, -1) if topic in qrels else -1
        if grade < 0:
            missing.append((topic, docno))
        session.observe(document, float(grade >= level), max(grade, 0))
    return tuple(missing)


def _begun(judgments: Judgments | Qrels | None, pool: Pool, level: int) -> Judgments:
    """Take the judgments made before, none without any, by the relevance level of the truth."""
    if judgments is None:
        return Judgments.none(pool, relevance_level=level, judged_for=pool.systems)
    if isinstance(judgments, Qrels):
        return Judgments.from_qrels(pool, judgments, relevance_level=level)
    if judgments.relevance_level != level:
        raise InputError(
            f"judgments made before count grades from {judgments.relevance_level} on as relevant, "
            f"and the truth those from {level} on",
            remedy="name one level: Estimand(relevance_level=) for the truth, relevance_level= of "
            "the judgments",
        )
    return judgments.on(pool)


def _warn_of_alike(pool: Pool) -> None:
    """Warn of systems that no judgment can tell apart, so that judging for a confidence goes on."""
    for names in pool.alike:
        warn(
            f"{' and '.join(names[:2])}{' and others' if len(names) > 2 else ''} have the same "
            f"lists to rank {pool.depth}: no judgment tells them apart, and all pairs never have "
            "the confidence; leave one out, or judge for a budget alone",
        )


def judged_about(
    estimand: EstimandLike, pool: Pool, judgments: Judgments | Qrels | None = None
) -> tuple[Estimand, Pool]:
    """Say what documents are chosen for, and over which part of a pool.

    Documents are chosen for the measure, over the topics of the estimand, of lists down to its
    score depth. What the pool leaves out (unseen documents, a residual) does not count while
    they are chosen: no judgment can change it.

    Parameters
    ----------
    estimand : Estimand or None
        None: as deep as the pool says.
    pool : Pool
    judgments : Judgments or Qrels, optional
        Made before: they say which topics are judged, if the estimand is about these alone.

    Raises
    ------
    InputError
        An estimand that is not of this pool, or no judged topic where it is about
        judged ones.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=4, seed=1).runs, depth=10)
    >>> _, part = judged_about(rb.Estimand(topics=("501", "503")), pool)
    >>> part.topics
    ('501', '503')
    """
    about = Estimand.from_value(estimand)
    if about.topics == "judged":
        about = replace(about, topics=_judged_topics(pool, judgments))
    about, pool = about.on(pool)
    if about.topics != pool.topics:
        pool = pool.select_topics(about.topics)
    return about, pool


def _judged_topics(pool: Pool, judgments: Judgments | Qrels | None) -> tuple[str, ...]:
    """Return the topics of a pool that have a judgment."""
    if isinstance(judgments, Qrels):
        judged = {topic for topic in judgments if judgments.judged(topic)}
    else:
        judged = set() if judgments is None else set(judgments.judged_topics)
    topics = tuple(topic for topic in pool.topics if topic in judged)
    if not topics:
        raise InputError(
            'topics are the "judged" ones (--topics judged), and none is judged yet',
            remedy='take all, topics="all" (--topics all), or begin with judgments of some',
        )
    return topics
