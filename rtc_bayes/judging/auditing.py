"""An audit: whether a random sample of documents bears out what a model says of the systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, logsumexp

from rtc_bayes.collection.grades import is_unseen
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.errors import InputError, explains_types, warn
from rtc_bayes.judging.assisting_model import CERTAIN, AssistingModel
from rtc_bayes.judging.audit_learning import updated
from rtc_bayes.judging.audit_list import audit_order
from rtc_bayes.measures.analytic import gradient_on_pool
from rtc_bayes.measures.names import Measure, parse_measure
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Judgments, Pool
    from rtc_bayes.confidence import Comparison
    from rtc_bayes.confidence.setting import Setting
    from rtc_bayes.measures.sampling import Sample

type Floats = NDArray[np.float64]

COUNT = "relevant documents"
"""What is audited beside the score of every system: how many documents are relevant."""

BETS = ("relevant documents", "scores", "differences", "sharpness")
"""What the evidence is about, each a group of bets of equal weight."""

FEWEST = 30
"""From how many judged documents of an audit on limits are stated."""

FEW_DRAWS = 50
"""Of fewer draws than this, and more than one, an audit warns."""

# what is staked, in standard deviations that the model expects of the whole audit, on either side
_STAKES = np.array([-4.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0])
_AS_WRITTEN = (
    "measure",
    "relevance_level",
    "model",
    "drawn",
    "judged",
    "aside",
    "alpha",
    "evidence",
)
_HIGHEST_PACE = 0.999


@dataclass(frozen=True, eq=False)
class AuditState:
    """The evidence that an audit has gathered up to a look.

    Attributes
    ----------
    end : float
        The time of the look, in [0, 1].
    scale : ndarray of float, shape (bets,)
        The standard deviation of each bet over the whole audit, as the first model expects it.
    wealth : ndarray of float, shape (bets, stakes)
        Logarithm of what each bet has made of a stake of 1.
    looks : tuple of (int, float)
        As of :class:`Audit`.
    seen : mapping of str to float
        The labels of the documents that have counted, by topic and docno with a space between.

    Examples
    --------
    >>> AuditState.start(2).wealth.shape
    (6, 8)
    """

    end: float
    scale: Floats
    wealth: Floats
    looks: tuple[tuple[int, float], ...] = ()
    seen: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def start(cls, systems: int) -> Self:
        """Return the state before the first look, without scale."""
        bets = 2 * (1 + systems)
        return cls(0.0, np.zeros(bets), np.zeros((bets, len(_STAKES))))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON holds them."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild from :meth:`to_dict`."""
        written: dict[str, Any] = {
            k: np.array(v) if isinstance(v, list) else v for k, v in values.items()
        }
        written["looks"] = tuple((int(n), float(e)) for n, e in values["looks"])
        return cls(**written)


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What the judgments of an audit say of a comparison, at any look while judging goes on.

    Made by :func:`audit`.

    Attributes
    ----------
    systems : tuple of str
    measure : str
    relevance_level : int
        The lowest grade of the audit's judgments that counts as relevant.
    model : str
        What is audited.
    drawn, judged : int
        Documents of the audit, and how many of them count: those judged in the order of their
        turn, up to the first without a judgment.
    aside : int
        Documents of the audit that are judged before their turn, and do not count yet.
    next : (str, str) or None
        Topic and docno of the document whose turn it is; None where all are judged.
    time : float
        How far the audit has come, in [0, 1].
    alpha : float
        The probability of a false alarm, over all looks together, if the model is right.
    evidence : mapping of str to float
        E-values against the model, now, by what they are about: the factor by which a bet against
        the model has multiplied its stake. Their mean is :attr:`e_value`.
    looks : tuple of (int, float)
        Documents judged and e-value at each look, this one last.
    expected, sd : ndarray of float, shape (1 + systems,)
        By the model: the number of relevant documents, those that nobody has retrieved aside, then
        the mean score of each system.
    estimate, se, low, high : ndarray of float, shape (1 + systems,)
        By the audit: the model's, adjusted to the labels and corrected by its errors; the standard
        error of that; and a confidence sequence: with probability 1 - alpha, asymptotically, a
        true value is inside its limits at every look. Those of scores are to first order about
        the adjusted model; docs/results/audit.md says how often they held. Estimate and limits are
        from 0 to `highest`. NaN before the first judgment, limits before :data:`FEWEST`.
    highest : ndarray of float, shape (1 + systems,)
        The most that each can be: the number of documents retrieved, then the measure's highest
        value: 1, but of DCG.
    judgments : Judgments or None
        Those of the audit, with those that do not count yet; None where it was read from a log.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, np.full(54, 0.4)))
    >>> prels = rb.audit_documents(pool, 0.5, simulated.qrels, seed=1)
    >>> look = rb.audit(comparison, rb.Sample.from_prels(pool, prels), seed=1)
    >>> look
    Audit(25 of 25 documents judged, e-value 0.889: no alarm)
    >>> look.check_same(measure="P@10")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: the look before had measure AP, this one has P@10; go on as it \
began, or begin anew without it
    """

    systems: tuple[str, ...]
    measure: str
    relevance_level: int
    model: str
    drawn: int
    judged: int
    aside: int
    next: tuple[str, str] | None
    time: float
    alpha: float
    evidence: Mapping[str, float]
    looks: tuple[tuple[int, float], ...]
    expected: Floats
    sd: Floats
    estimate: Floats
    se: Floats
    low: Floats
    high: Floats
    highest: Floats
    state: AuditState
    judgments: Judgments | None = None

    def check_same(self, **now: object) -> None:
        """Refuse to go on from this look with something else.

        Parameters
        ----------
        **now : object
            What the next look is of, by the names of attributes: systems, measure, model or alpha.

        Raises
        ------
        InputError
            Which of them was another.
        """
        for name, value in now.items():
            before = getattr(self, name)
            if before == value:
                continue
            raise InputError(
                "the look before was of other systems"
                if name == "systems"
                else f"the look before had {name} {before or 'unknown'}, this one has {value}",
                remedy="go on as it began, or begin anew without it",
            )

    @property
    def e_value(self) -> float:
        """The evidence against the model now: the mean of that of every group of bets."""
        return float(np.mean(list(self.evidence.values())))

    @property
    def alarm(self) -> bool:
        """Whether at this look, or one before it, the e-value was 1/alpha or more."""
        return any(e >= 1.0 / self.alpha for _, e in self.looks)

    @property
    def verdict(self) -> str:
        """What the audit says, and which document to judge next."""
        return f"{self._finding}{self._turn}"

    @property
    def _finding(self) -> str:
        if not self.judged:
            counted = "counts" if self.aside else "is judged"
            return f"No document of the audit {counted} yet, so it says nothing."
        about = f"{self.judged} of the audit's {self.drawn} documents"
        if self.alarm:
            first = next(n for n, e in self.looks if e >= 1.0 / self.alpha)
            worst = max(self.evidence, key=lambda name: self.evidence[name])
            return (
                f"Alarm: {about} are judged, and do not bear out the model. After {first} the "
                f"e-value against it reached {1.0 / self.alpha:g}; it is {self.e_value:.3g} now. "
                f"What speaks most against it: {worst}."
            )
        return (
            f"No alarm: {about} are judged. The e-value against the model is {self.e_value:.3g}; "
            f"an alarm needs {1.0 / self.alpha:g}, which a model that is right reaches with "
            f"probability {self.alpha:g} at most, however often one looks."
        )

    @property
    def _turn(self) -> str:
        """How many judgments do not count yet, why, and the document whose turn it is."""
        if self.next is None:
            return ""
        topic, docno = self.next
        turn = f"document {docno} of topic {topic}"
        if not self.aside:
            return f" Judge {turn} next."
        said = f"{self.aside} more {'is' if self.aside == 1 else 'are'} judged but left aside"
        return (
            f" {said}: judgments count in the audit's order, up to its first document without one. "
            f"That is {turn}: judge it next."
        )

    def beside(self, judgments: Judgments) -> tuple[Judgments, Judgments]:
        """Tell judgments by which a model was fitted from those of the audit.

        Parameters
        ----------
        judgments : Judgments
            With or without those of the audit.

        Returns
        -------
        tuple of Judgments
            Those without the audit's, then all together.

        Raises
        ------
        InputError
            A document that the two judge differently: see :meth:`Judgments.merge`.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.5, 0.5]))
        >>> judged = rb.Sample(rb.Judgments.from_labels(pool, [0], [1]), [1, 1])
        >>> audit = rb.audit(comparison, judged)
        >>> [each.n_judged for each in audit.beside(rb.Judgments.from_labels(pool, [1], [0]))]
        [1, 2]
        """
        if self.judgments is None:
            return judgments, judgments
        # an audit is made for no system: what the others say of that holds for all
        every = replace(
            judgments.merge(self.judgments),
            judge_labels=judgments.judge_labels,
            judged_for=judgments.judged_for,
            judged_for_by_topic=judgments.judged_for_by_topic,
        )
        of_audit = self.judgments.on(every.pool).judged
        return every.keep(every.order[~of_audit[every.order]]), every

    def to_frame(self) -> pd.DataFrame:
        """Return a row for the number of relevant documents, then one for each system.

        Returns
        -------
        DataFrame
            quantity, expected and sd (by the model), estimate, low and high (by the audit), agrees
            (whether the model's 95% interval and the audit's have a value in common), se (of the
            estimate). Of too few judgments to tell, `agrees` is missing: there are no limits, or
            they are so wide that the model's interval, were it about 0 or about `highest`, would
            meet them, too.
        """
        import pandas as pd

        half = NORMAL_95 * self.sd
        apart = (self.expected - half > self.high) | (self.expected + half < self.low)
        # of limits that are NaN neither holds
        tells = (half < self.low) | (self.highest - half > self.high)
        return pd.DataFrame(
            {
                "quantity": [COUNT, *self.systems],
                "expected": self.expected,
                "sd": self.sd,
                "estimate": self.estimate,
                "low": self.low,
                "high": self.high,
                "agrees": pd.Series(~apart, dtype="boolean").mask(~tells),
                "se": self.se,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds; :func:`audit` goes on from it.

        Examples
        --------
        >>> import json, rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.5, 0.5]))
        >>> judged = rb.Sample(rb.Judgments.from_labels(pool, [0], [1]), [1, 1])
        >>> sorted(json.loads(json.dumps(rb.audit(comparison, judged).to_dict())))[:3]
        ['alarm', 'alpha', 'aside']
        """
        frame = self.to_frame().astype(object)
        rows = frame.where(frame.notna(), None).to_dict("records")
        return {
            "alarm": self.alarm,
            "verdict": self.verdict,
            "e_value": self.e_value,
            "evidence": dict(self.evidence),
            "alpha": self.alpha,
            "relevance_level": self.relevance_level,
            "measure": self.measure,
            "model": self.model,
            "drawn": self.drawn,
            "judged": self.judged,
            "aside": self.aside,
            "next": None if self.next is None else list(self.next),
            "looks": [list(look) for look in self.looks],
            "systems": list(self.systems),
            "quantities": rows,
            "highest": self.highest.tolist(),
            "state": self.state.to_dict(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild from :meth:`to_dict`.

        Raises
        ------
        InputError
            Other content.
        """
        try:
            state = AuditState.from_dict(values["state"])
            columns: dict[str, Any] = {
                name: np.array([row[name] for row in values["quantities"]], dtype=np.float64)
                for name in ("expected", "sd", "estimate", "low", "high", "se")
            }
            same = {name: values[name] for name in _AS_WRITTEN}
            columns["highest"] = np.array(values["highest"], dtype=np.float64)
            systems, turn = tuple(values["systems"]), values["next"]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                "this is no audit of this version",
                remedy="give what an audit wrote, or begin anew without it",
            ) from error
        return cls(
            systems=systems,
            next=None if turn is None else (str(turn[0]), str(turn[1])),
            time=state.end,
            looks=state.looks,
            state=state,
            **same,
            **columns,
        )

    def __repr__(self) -> str:
        said = "ALARM" if self.alarm else "no alarm"
        return (
            f"Audit({self.judged} of {self.drawn} documents judged, "
            f"e-value {self.e_value:.3g}: {said})"
        )


@explains_types
def audit(
    comparison: Comparison,
    sample: Sample,
    *,
    after: Audit | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> Audit:
    """Say whether a random sample of documents bears out what a model says of the systems.

    Documents come in the random order of :func:`audit_order`. Their errors, relevance less a
    model's probability, each weighted by one over its inclusion probability and by how far a score
    moves with the document, tell two things at any look:

    - **Evidence** against the model: bets on the errors, of the form exp(stake times weighted
      relevance) over its expectation by the model, multiplied over documents and averaged over
      stakes, are a test martingale (Waudby-Smith and Ramdas, JRSS B 2024). If labels are as the
      model says, their mean, the e-value, ever reaches 1/alpha with probability alpha at most
      (Ville). The model's probability of a document's relevance takes the labels of all audited
      documents before it into account (:mod:`rtc_bayes.judging.audit_learning`).
    - **Estimates** of the number of relevant documents and of every score. The model is adjusted
      to the labels seen (:class:`~rtc_bayes.judging.assisting_model.AssistingModel`), and its
      expectation corrected, to first order in relevance, by the errors found. The confidence
      sequence is Robbins' mixture with the estimated variance, or the adjusted model's if that is
      larger (Waudby-Smith et al., Annals of Statistics 2024). Both are for the documents that can
      be drawn, and are taken anew at every look, of all labels and the model at hand.

    The model must not have seen the labels of the audit's documents. A later look, by a model
    that has more judgments, goes on from the audit before by `after`: documents that were seen
    then keep what bets on them gained. Without it, all documents are taken by the model at hand,
    and the looks of one and the same model hold together.

    Parameters
    ----------
    comparison : Comparison
        Of a measure with moments, as AP.
    sample : Sample
        The judgments of the audit, with the inclusion probabilities of all documents drawn:
        :meth:`Sample.from_prels` of what :func:`audit_documents` drew, with grades.
    after : Audit, optional
        The look before.
    alpha : float, in (0, 1)
        The probability of a false alarm.
    seed : int, at least 0
        By which the documents were drawn.

    Returns
    -------
    Audit

    Warns
    -----
    CollectionWarning
        The model has 2 to 49 draws, from which too little is learned.

    Raises
    ------
    InputError
        A measure without moments; another relevance level than the comparison's, or the measure's
        ``rel``; a document that the comparison has no probability of; other systems, measure or
        alpha than of the look before, or another label of a document that it saw; or documents
        that the seed does not draw.

    Examples
    --------
    A model that expects four times as many relevant documents as there are:

    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=20, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> prels = rb.audit_documents(pool, 0.3, simulated.qrels, seed=1)
    >>> sample = rb.Sample.from_prels(pool, prels)
    >>> much = rb.compare(pool, rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.9)))
    >>> rb.audit(much, sample, seed=1).alarm
    True
    """
    setting = comparison.asked_setting
    if not setting.has_moments:
        raise InputError(
            f"an audit needs moments, which are not known of {comparison.measure}",
            remedy="audit rb.compare(pool, relevance) of a measure such as AP",
        )
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha is {alpha}", remedy="give a probability between 0 and 1")
    level = parse_measure(setting.measure).rel or setting.estimand.relevance_level
    if level not in (None, of_sample := sample.judgments.relevance_level):
        raise InputError(
            f"the comparison, by {comparison.measure}, takes grades from {level} on for relevant, "
            f"and the sample those from {of_sample} on",
            remedy=f"read the sample with relevance_level={level}; on the command line compare by "
            f"the measure without rel, with --relevance-level {level}",
        )
    if 1 < (draws := len(setting.values)) < FEW_DRAWS:
        warn(
            f"of {draws} draws an audit learns too little: with fewer than {FEW_DRAWS} a right "
            "model raises false alarms more often than is promised"
        )
    turns = _turns(setting.pool, sample, seed)
    return _look(comparison, setting, turns, after, alpha)


def _look(
    comparison: Comparison, setting: Setting, turns: _Turns, after: Audit | None, alpha: float
) -> Audit:
    """Take the documents that are new since the look before, and say what all tell."""
    draws = setting.values  # noqa: PD011
    p = draws.mean(axis=0, dtype=np.float64)
    measure = replace(parse_measure(setting.measure), rel=0)
    retrieved = ~is_unseen(setting.pool)
    count, sd_count = _count(draws[:, retrieved])
    slopes = gradient_on_pool(setting.pool, measure, p)[:, turns.place]
    weights = np.vstack([np.ones(len(turns.place)), slopes]) / turns.probability
    state, before = _begun(after, comparison, alpha, turns), p[turns.place]
    if not state.looks:
        of_bets = _bets(weights, before, before)
        state = replace(state, scale=np.sqrt(of_bets**2 @ (before * (1.0 - before))))
        if len(before) and not state.scale.any():
            raise InputError(
                "the model is sure of every document that the audit drew: no bet is possible",
                remedy="audit probabilities between 0 and 1",
            )
    seen = turns.time < turns.end
    believed, judged = before.copy(), int(seen.sum())
    believed[:judged] = updated(draws[:, turns.place], turns.label[:judged])
    bets = _bets(weights, believed, before)
    gains = _gains(bets, believed, turns.label, state, seen & (turns.time >= state.end))
    wealth = state.wealth + gains
    evidence = _evidence(wealth, len(comparison.systems))
    looks = (*state.looks, (judged, float(np.mean(list(evidence.values())))))
    estimates = _estimates(setting.pool, measure, p, turns, retrieved, alpha)
    highest = np.full(1 + setting.pool.n_systems, measure.highest(setting.pool.score_depth))
    highest[0] = np.count_nonzero(retrieved)
    for name in ("estimate", "low", "high"):
        estimates[name] = np.clip(estimates[name], 0.0, highest)
    return Audit(
        systems=comparison.systems,
        measure=comparison.measure,
        relevance_level=turns.judgments.relevance_level,
        model=_name_of(comparison),
        drawn=len(turns.place),
        judged=judged,
        aside=int(np.count_nonzero(turns.judged & ~seen)),
        next=turns.next,
        time=turns.end,
        alpha=alpha,
        evidence=evidence,
        looks=looks,
        expected=np.append(count, comparison.expected),
        sd=np.append(sd_count, comparison.sd),
        **estimates,
        highest=highest,
        judgments=turns.judgments,
        state=replace(
            state, end=turns.end, wealth=wealth, looks=looks, seen=turns.labels_seen(setting.pool)
        ),
    )


def _name_of(comparison: Comparison) -> str:
    return f"{comparison.model}:{comparison.method}" if comparison.model else ""


def _evidence(wealth: Floats, systems: int) -> dict[str, float]:
    """Return the mean over bets and stakes of what each group has made of a stake of 1."""
    ends = np.cumsum([0, 1, systems, systems, 1])
    return {
        name: float(np.exp(logsumexp(wealth[a:b]) - np.log(wealth[a:b].size)))
        for name, (a, b) in zip(BETS, pairwise(ends), strict=True)
    }


def _count(draws: NDArray[np.floating]) -> tuple[float, float]:
    """Return mean and standard deviation of the number of relevant documents."""
    of_draws = draws.sum(axis=1, dtype=np.float64)
    given_draw = (draws * (1.0 - draws)).sum(axis=1, dtype=np.float64)
    return float(of_draws.mean()), float(np.sqrt(of_draws.var() + given_draw.mean()))


def robbins(variance: Floats, prior: Floats, alpha: float) -> Floats:
    """Return how far a martingale may ever be from 0: Robbins' two-sided normal mixture.

    The bound sqrt((V + r) log((V + r)/(r alpha^2))), with V its variance up to a time and r any
    number above 0 (Howard, Ramdas, McAuliffe and Sekhon, Annals of Statistics 2021, eq. 14).

    Parameters
    ----------
    variance : ndarray of float, at least 0
    prior : ndarray of float, at least 0
        Where it is 0 there is nothing uncertain, and the bound is 0.
    alpha : float, in (0, 1)

    Examples
    --------
    >>> robbins(np.array([100.0]), np.array([12.0]), 0.05).round(1).tolist()
    [30.4]
    """
    r = np.where(prior > 0.0, prior, 1.0)
    bound = np.sqrt((variance + r) * np.log((variance + r) / (r * alpha**2)))
    return np.where(prior > 0.0, bound, 0.0)


@dataclass(frozen=True, eq=False)
class _Turns:
    """The documents of an audit in the order of their turn; label NaN where not judged.

    Up to `end` all are judged; `next` is the first that is not.
    """

    place: NDArray[np.int64]
    time: Floats
    probability: Floats
    label: Floats
    judged: NDArray[np.bool_]
    end: float
    next: tuple[str, str] | None
    judgments: Judgments

    def labels_seen(self, pool: Pool) -> dict[str, float]:
        """Return the labels of the documents up to `end`, by topic and docno."""
        seen = np.flatnonzero(self.time < self.end)
        places, labels = self.place[seen], self.label[seen].tolist()
        names = zip(pool.topic_of[places], pool.docnos[places], labels, strict=True)
        return {f"{pool.topics[topic]} {docno}": label for topic, docno, label in names}


def _turns(to: Pool, sample: Sample, seed: int) -> _Turns:
    """Line the documents drawn up with a pool; those of other topics are left out."""
    order, pool = audit_order(sample, seed=seed), sample.judgments.pool
    place = np.full(pool.n_documents, -1)
    shared = np.zeros(pool.n_documents, dtype=bool)
    for t, topic in enumerate(pool.topics):
        if topic in to.topics:
            inside = pool.documents(t)
            place[inside], shared[inside] = to.locate(topic, pool.docnos[inside]), True
    kept = shared[order.documents]
    documents = order.documents[kept]
    if (place[documents] < 0).any():
        topic, docno = pool.pair_of(documents[place[documents] < 0][0])
        raise InputError(
            f"the comparison has no probability of document {docno} of topic {topic}, which the "
            "audit has drawn",
            remedy="compare the runs for which the audit was drawn, pooled as deeply",
        )
    time, judged = order.time[kept], order.judged[kept]
    end: float = 1.0
    turn: tuple[str, str] | None = None
    if not judged.all():
        first = int(np.argmin(judged))
        waiting = documents[first]
        end = float(time[first])
        turn = pool.pair_of(waiting)
    labels, chances = sample.judgments.labels[documents], sample.probability[documents]
    return _Turns(place[documents], time, chances, labels, judged, end, turn, sample.judgments)


def _begun(after: Audit | None, comparison: Comparison, alpha: float, turns: _Turns) -> AuditState:
    """Return the state that a look goes on from."""
    if after is None:
        return AuditState.start(len(comparison.systems))
    after.check_same(
        systems=comparison.systems,
        measure=comparison.measure,
        model=_name_of(comparison),
        alpha=alpha,
    )
    if after.relevance_level != (level := turns.judgments.relevance_level):
        raise InputError(
            f"the look before took grades from {after.relevance_level} on for relevant, this one "
            f"from {level} on",
            remedy="give the same relevance level, or begin anew without the look before",
        )
    if turns.end < after.state.end:
        raise InputError(
            "the look before had more judgments of the audit",
            remedy="give all judgments of the audit",
        )
    now = turns.labels_seen(comparison.asked_setting.pool)
    changed = [name for name, label in after.state.seen.items() if now.get(name) != label]
    if changed:
        topic, docno = changed[0].split(" ", 1)
        raise InputError(
            f"{counted(len(changed), 'judgment')} of the audit that the look before saw changed "
            f"since, or are gone: for example of document {docno} of topic {topic}",
            remedy="begin anew without the look before (after=, --audit-log)",
        )
    return after.state


def _estimates(
    pool: Pool,
    measure: Measure,
    p: Floats,
    turns: _Turns,
    counted: NDArray[np.bool_],
    alpha: float,
) -> dict[str, Floats]:
    """Estimate the count and every score about the assisting model, with limits.

    A document not yet drawn comes at rate q/(1 - q t), q its inclusion probability. Weighted by
    (1 - q t)/q its error is what one expects all errors not yet seen to add. What is learned at
    time t has the weight 1/(1 - pace t)^2, as what is left to draw shrinks, and all that is learned
    up to t has t/(1 - pace t); pace is the typical inclusion probability.
    """
    names, seen = ("estimate", "se", "low", "high"), turns.time < turns.end
    if not seen.any():
        return {name: np.full(1 + pool.n_systems, np.nan) for name in names}
    place, q, time = turns.place[seen], turns.probability[seen], turns.time[seen]
    model = AssistingModel.fit(pool, p, place, turns.label[seen])
    slopes = np.ones((1 + pool.n_systems, pool.n_documents))
    slopes[1:] = model.slopes(pool, measure)

    drawn = model.p[turns.place]
    by_model = drawn * (1.0 - drawn) / turns.probability**2
    pace = float(by_model @ turns.probability / by_model.sum()) if by_model.any() else 0.0
    pace = min(pace, _HIGHEST_PACE)
    weight = (1.0 - turns.probability * turns.time) / (1.0 - pace * turns.time) ** 2
    total = turns.end / (1.0 - pace * turns.end)
    inverse = slopes[:, place] * (weight[seen] / q)
    error = turns.label[seen] - model.p[place]
    # what the errors seen say of those not seen
    left = (inverse - slopes[:, place] * (time / (1.0 - pace * time))) @ error / total
    expected = np.append(model.updated[counted].sum(), model.expected(pool, measure))
    variance = inverse**2 @ np.stack([error**2, (model.p * (1.0 - model.p))[place]], axis=1)
    largest = variance.max(axis=1)
    by_end = np.maximum(slopes[:, turns.place] ** 2 @ (by_model * weight**2), largest)
    # the bound is then tightest at the end of the audit, nearly
    sharp = 2.0 * np.log(1.0 / alpha)
    radius = robbins(largest, by_end / (sharp + np.log1p(sharp)), alpha) / total
    if len(place) < FEWEST:
        radius[:] = np.nan
    estimate = expected + left
    values = (estimate, np.sqrt(largest) / total, estimate - radius, estimate + radius)
    return dict(zip(names, values, strict=True))


def _bets(weights: Floats, p: Floats, before: Floats) -> Floats:
    """Return how much every bet weighs a document's relevance, shape (bets, documents).

    Nothing here knows the label of the document or of one after it: `before` are probabilities
    that no label of the audit has changed.
    """
    odds, middle = (logit(np.clip(each, CERTAIN, 1.0 - CERTAIN)) for each in (p, before))
    scores = weights[1:]
    differences = scores - scores.mean(axis=0) if len(scores) else scores
    sharpness = odds - middle.mean() if len(odds) else odds
    return np.concatenate([weights[:1], scores, differences, sharpness[None]])


def _gains(
    bets: Floats, p: Floats, label: Floats, state: AuditState, new: NDArray[np.bool_]
) -> Floats:
    """Return the logarithm of what the bets gain by the new documents, (bets, stakes)."""
    sure = np.where(state.scale > 0.0, state.scale, np.inf)
    gains = np.zeros((len(bets), len(_STAKES)))
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log1p(-p)
    for d in np.flatnonzero(new):
        exponent = bets[:, d, None] / sure[:, None] * _STAKES
        gains += exponent * label[d] - np.logaddexp(log_q[d], log_p[d] + exponent)
    return gains
