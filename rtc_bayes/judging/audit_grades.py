"""The judgments of an audit, and those that the model which is audited may see."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from rtc_bayes.collection import Pool
from rtc_bayes.collection.merging import NAMED, refused
from rtc_bayes.collection.qrels import Prel, Prels, Qrels, left_out
from rtc_bayes.errors import warn
from rtc_bayes.measures.sampling import Sample
from rtc_bayes.signatures import explains_types


class SplitAudit(NamedTuple):
    """What a model may see, and the judgments of the audit that checks it.

    Attributes
    ----------
    seen : Qrels
        The judgments that are not of the audit.
    sample : Sample
        The audit's judgments, with the inclusion probability of every document drawn.

    Examples
    --------
    >>> SplitAudit._fields
    ('seen', 'sample')
    """

    seen: Qrels
    sample: Sample


@explains_types
def split_audit(
    pool: Pool, prels: Prels, qrels: Qrels | None = None, *, relevance_level: int | None = None
) -> SplitAudit:
    """Tell the judgments that a model may see from those of the audit that checks it.

    A document of the audit without a grade takes the one that it has in the qrels. One that the
    qrels grade -1, because nobody can judge it, is left out of the audit, which would wait for its
    judgment: estimates then hold the model's probability of it.

    Parameters
    ----------
    pool : Pool
        Of the systems that are compared.
    prels : Prels
        The audit: what :func:`audit_documents` drew, with the grades it has by now.
    qrels : Qrels, optional
        All judgments there are, with or without the audit's.
    relevance_level : int, optional
        The lowest grade of the audit that counts as relevant; by default the level that the prels
        name, else that of the qrels, else 1.

    Returns
    -------
    SplitAudit
        `seen`, the qrels without the audit's documents: fit the model to these. `sample`, the
        audit's judgments: give it to :func:`audit`, or to :func:`audit_order`, which says what to
        judge next.

    Raises
    ------
    InputError
        Documents that the two judge differently: how many, and some of them. No topic in common.

    Warns
    -----
    CollectionWarning
        Documents that nobody can judge are left out: how many. Topics that no run has.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> drawn = rb.audit_documents(pool, 0.2, seed=1)
    >>> seen, sample = rb.split_audit(pool, drawn, simulated.qrels)
    >>> sample.judgments.n_judged
    10
    >>> seen.n_values + sample.judgments.n_judged == simulated.qrels.n_values
    True
    """
    qrels = Qrels({}) if qrels is None else qrels
    sample = Sample.from_prels(
        pool, with_grades(prels, qrels), relevance_level=relevance_level, unfinished=True
    )
    return SplitAudit(without_audit(qrels, prels), sample)


def with_grades(prels: Prels, qrels: Qrels) -> Prels:
    """Give documents of an audit without a grade the grade that they have in qrels.

    A document that the qrels grade -1, because nobody can judge it, is left out: an audit waits for
    the judgment of every document in it. Estimates then hold the model's probability of it.

    Parameters
    ----------
    prels : Prels
    qrels : Qrels

    Returns
    -------
    Prels
        With the relevance level that they name, else that of the qrels.

    Raises
    ------
    InputError
        Documents that the two judge differently: how many, and some of them. A negative grade is
        no judgment.

    Warns
    -----
    CollectionWarning
        Documents that nobody can judge are left out: how many.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.collection import Prel, Prels
    >>> with_grades(Prels({"1": {"a": Prel(-1, 1, 0.5)}}), rb.Qrels({"1": {"a": 2}}))["1"]["a"]
    Prel(relevance=2, algorithm=1, probability=0.5)
    >>> with_grades(Prels({"1": {"a": Prel(1, 1, 0.5)}}), rb.Qrels({"1": {"a": 2}}))
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: 1 document is judged differently: a of topic 1 (audit: 1, ...
    """
    _check_conflicts(prels, qrels)
    rows: dict[str, dict[str, Prel]] = {}
    aside = 0
    for topic, of_topic in prels.items():
        grades = qrels.get(topic, {})
        for docno, row in of_topic.items():
            if row.relevance < 0 and docno in grades:
                if grades[docno] < 0:
                    aside += 1
                    continue
                row = replace(row, relevance=grades[docno])
            rows.setdefault(topic, {})[docno] = row
    if aside:
        warn(f"{left_out(aside)} of the audit: estimates hold the model's probability")
    return Prels(
        rows,
        path=prels.path,
        digest=prels.digest,
        relevance_level=prels.relevance_level or qrels.relevance_level,
    )


def _check_conflicts(prels: Prels, qrels: Qrels) -> None:
    """Refuse documents that an audit and qrels judge differently, as merging refuses them."""
    of_audit, of_qrels = prels.path or "audit", qrels.path or "qrels"
    conflicts = [
        (docno, topic, {of_audit: row.relevance, of_qrels: grade})
        for topic, rows in prels.items()
        for docno, row in rows.items()
        if row.relevance >= 0
        and (grade := qrels.get(topic, {}).get(docno, -1)) >= 0
        and grade != row.relevance
    ]
    if conflicts:
        remedy = "correct the one that is wrong, or set the grade of the audit to -1: then that of "
        raise refused(len(conflicts), conflicts[:NAMED], f"{remedy}the qrels counts")


def without_audit(qrels: Qrels, prels: Prels) -> Qrels:
    """Leave the documents of an audit out of qrels: a model that is audited must not see them.

    Parameters
    ----------
    qrels : Qrels
    prels : Prels

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.collection import Prel, Prels
    >>> audited = Prels({"1": {"a": Prel(2, 1, 0.5)}})
    >>> dict(without_audit(rb.Qrels({"1": {"a": 2, "b": 0}}), audited)["1"])
    {'b': 0}
    """
    return Qrels(
        {
            topic: {d: grade for d, grade in grades.items() if d not in prels.get(topic, {})}
            for topic, grades in qrels.items()
        },
        path=qrels.path,
        judged_for=qrels.judged_for,
        hold_out=qrels.hold_out,
        relevance_level=qrels.relevance_level,
    )
