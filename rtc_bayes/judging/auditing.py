"""An audit: whether a random sample of documents bears out what a model says of the systems."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import real_number
from rtc_bayes.collection.grades import is_unseen
from rtc_bayes.errors import InputError, warn
from rtc_bayes.judging.audit_bets import AuditState, bets_on, evidence_of, gains_of
from rtc_bayes.judging.audit_estimates import count_of, estimates_of
from rtc_bayes.judging.audit_learning import updated
from rtc_bayes.judging.audit_result import Audit
from rtc_bayes.judging.audit_turns import Turns, turns_of
from rtc_bayes.measures.analytic import gradient_on_pool
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.confidence import Comparison
    from rtc_bayes.confidence.setting import Setting
    from rtc_bayes.measures.sampling import Sample

type Floats = NDArray[np.float64]

FEW_DRAWS = 50
"""Of fewer draws than this, and more than one, an audit warns."""


@explains_types
@moved(alpha="write level")
def audit(
    comparison: Comparison,
    sample: Sample,
    *,
    after: Audit | None = None,
    level: float = 0.05,
    seed: int = 0,
) -> Audit:
    """Say whether a random sample of documents bears out what a model says of the systems.

    Documents come in the random order of :func:`audit_order`. Their errors, relevance less a
    model's probability, each weighted by one over its inclusion probability and by how far a score
    moves with the document, tell two things at any look:

    - **Evidence** against the model: bets on the errors, of the form exp(stake times weighted
      relevance) over its expectation by the model, multiplied over documents and averaged over
      stakes, are a test martingale (Waudby-Smith and Ramdas, JRSS B 2024). If labels are as the
      model says, their mean, the e-value, ever reaches 1/level with probability level at most
      (Ville). The model's probability of a document's relevance takes the labels of all audited
      documents before it into account (:mod:`rtc_bayes.judging.audit_learning`).
    - **Estimates** of the number of relevant documents and of every score. The model is adjusted
      to the labels seen (:class:`~rtc_bayes.judging.assisting_model.AssistingModel`), and its
      expectation corrected, to first order in relevance, by the errors found. The confidence
      sequence is Robbins' mixture with the estimated variance, or the adjusted model's if that is
      larger (Waudby-Smith et al., Annals of Statistics 2024). Both are for the documents that can
      be drawn, and are taken anew at every look, of all labels and the model at hand.

    The model must not have seen the labels of the audit's documents: fit it to what
    :func:`split_audit` leaves. One that was fitted to them is refused; of probabilities that come
    without a fit it is not known. A later look, by a model
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
    level : float, in (0, 1)
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
        A model that was fitted to labels of the audit; a measure without moments; another relevance
        level than the comparison's, or the measure's ``rel``; a drawn document that the comparison
        has no probability of, or one of its topics that the sample's pool lacks; other systems,
        measure or level than of the look before, or another label of a document that it saw; or
        documents that the seed does not draw.

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
    real_number("level", level, 0.0, 1.0, "give a probability between 0 and 1", ends="()")
    lowest = parse_measure(setting.measure).rel or setting.estimand.relevance_level
    if lowest not in (None, of_sample := sample.judgments.relevance_level):
        raise InputError(
            f"the comparison, by {comparison.measure}, takes grades from {lowest} on for relevant, "
            f"and the sample those from {of_sample} on",
            remedy=f"read the sample with relevance_level={lowest}; on the command line compare by "
            f"the measure without rel, with --relevance-level {lowest}",
        )
    if 1 < (draws := len(setting.values)) < FEW_DRAWS:
        warn(
            f"of {draws} draws an audit learns too little: with fewer than {FEW_DRAWS} a right "
            "model raises false alarms more often than is promised"
        )
    turns = turns_of(setting.pool, sample, seed)
    _check_unseen(setting, turns)
    return _look(comparison, setting, turns, after, level)


def _check_unseen(setting: Setting, turns: Turns) -> None:
    """Refuse a model that was fitted to labels of the audit, where that is known."""
    if setting.fitted is None:
        return
    pool = setting.fitted.pool
    fitted = setting.pool.locate_pairs(map(pool.pair_of, setting.fitted.order))
    labelled = turns.place[turns.judged]
    if seen := np.count_nonzero(np.isin(labelled, fitted)):
        raise InputError(
            f"the model has seen {seen} of the audit's {counted(len(labelled), 'label')}, so they "
            "cannot check it",
            remedy="fit what rb.split_audit leaves: its seen, the judgments without the audit's",
        )


def _look(
    comparison: Comparison, setting: Setting, turns: Turns, after: Audit | None, level: float
) -> Audit:
    """Take the documents that are new since the look before, and say what all tell."""
    draws = setting.values
    p = draws.mean(axis=0, dtype=np.float64)
    measure = replace(parse_measure(setting.measure), rel=0)
    retrieved = ~is_unseen(setting.pool)
    count, sd_count = count_of(draws[:, retrieved])
    slopes = gradient_on_pool(setting.pool, measure, p)[:, turns.place]
    weights = np.vstack([np.ones(len(turns.place)), slopes]) / turns.probability
    state, before = _begun(after, comparison, level, turns), p[turns.place]
    if not state.looks:
        of_bets = bets_on(weights, before, before)
        state = replace(state, scale=np.sqrt(of_bets**2 @ (before * (1.0 - before))))
        if len(before) and not state.scale.any():
            raise InputError(
                "the model gives every document that the audit drew a probability of 0 or 1, so "
                "that no label can be bet on; this is so where it has seen the audit's labels",
                remedy="fit the model to what rb.split_audit leaves, its seen; or audit "
                "probabilities between 0 and 1",
            )
    seen = turns.time < turns.end
    believed, judged = before.copy(), int(seen.sum())
    believed[:judged] = updated(draws[:, turns.place], turns.label[:judged])
    bets = bets_on(weights, believed, before)
    gains = gains_of(bets, believed, turns.label, state, seen & (turns.time >= state.end))
    wealth = state.wealth + gains
    evidence = evidence_of(wealth, len(comparison.systems))
    looks = (*state.looks, (judged, float(np.mean(list(evidence.values())))))
    estimates = estimates_of(setting.pool, measure, p, turns, retrieved, level)
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
        level=level,
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


def _begun(after: Audit | None, comparison: Comparison, level: float, turns: Turns) -> AuditState:
    """Return the state that a look goes on from."""
    if after is None:
        return AuditState.start(len(comparison.systems))
    after.check_same(
        systems=comparison.systems,
        measure=comparison.measure,
        model=_name_of(comparison),
        level=level,
    )
    if after.relevance_level != (lowest := turns.judgments.relevance_level):
        raise InputError(
            f"the look before took grades from {after.relevance_level} on for relevant, this one "
            f"from {lowest} on",
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


def _name_of(comparison: Comparison) -> str:
    return f"{comparison.model}:{comparison.method}" if comparison.model else ""
