"""Complete judgments cut to those that a hold-out design would have made."""

from __future__ import annotations

from collections.abc import Mapping

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Qrels, Runs
from rtc_bayes.collection.hold_out import HoldOutDesign, check_design, groups_of
from rtc_bayes.signatures import explains_types, moved


@explains_types
@moved(design="write hold_out")
def judged_under(
    qrels: Qrels,
    runs: Runs,
    groups: Mapping[str, str],
    hold_out: HoldOutDesign,
    depth: int = defaults.DEPTH,
) -> Qrels:
    """Keep the judgments of documents that a contributing system has among its first `depth`.

    Simulates a hold-out experiment on a collection that is judged already (Carterette et al. 2010,
    section 4.3): what only held-out groups retrieved would not have been judged. Judgments of
    documents that no system has so early are dropped as well.

    Parameters
    ----------
    qrels : Qrels
    runs : Runs
    groups : mapping of str to str
        Group of each system.
    hold_out : HoldOutDesign
    depth : int, at least 1
        Of the pool.

    Returns
    -------
    Qrels
        Of the topics that have judgments, runs and a place in the design, and for whom each was
        judged.

    Raises
    ------
    InputError
        A system without a group, a group that the design lacks, or judgments of another design.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=6, n_systems=6, seed=1)
    >>> groups = {name: f"site{n // 2}" for n, name in enumerate(data.runs)}
    >>> design = rb.hold_out(groups, data.runs.topics, held=1)
    >>> kept = rb.judged_under(data.qrels, data.runs, groups, design, depth=10)
    >>> len(kept) == len(data.runs.topics)
    True
    """
    depth = whole_number("depth", depth, least=1)
    check_design(qrels, hold_out)
    of_runs = dict(zip(runs.systems, groups_of(runs.systems, groups), strict=True))
    kept, judged_for = {}, {}
    for topic in hold_out.topics:
        if not qrels.judged(topic) or topic not in runs.topics:
            continue
        judged_for[topic] = took_part = hold_out.contributors(topic, of_runs)
        pool = {doc for name in took_part for doc in runs[name].ranking(topic)[:depth]}
        kept[topic] = {doc: grade for doc, grade in qrels[topic].items() if doc in pool}
    level = qrels.relevance_level
    return Qrels(kept, judged_for=judged_for, hold_out=hold_out.digest, relevance_level=level)
