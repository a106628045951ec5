"""Which documents a person should judge next, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from rtc_bayes import defaults
from rtc_bayes.checks import check_type, whole_number
from rtc_bayes.collection import Judgments, Labels, Pool, Qrels
from rtc_bayes.collection.hold_out import HoldOutDesign, check_groups_given
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.confidence.setting import pair_named, two_systems
from rtc_bayes.errors import InputError
from rtc_bayes.judging.algorithm import Algorithm, parse_algorithm
from rtc_bayes.judging.building import judged_about
from rtc_bayes.judging.documents import NextDocument, NextDocuments
from rtc_bayes.judging.judges import Chooser, Judge, confidence_of
from rtc_bayes.judging.judges.interface import answer_of
from rtc_bayes.judging.session import choices, reaches, start_judge
from rtc_bayes.judging.sharing import SubPool, fewest_a_topic, shares, sub_pools
from rtc_bayes.judging.stopping import why_ended, without_choice
from rtc_bayes.relevance import RelevanceModel, warn_of_evidence
from rtc_bayes.relevance.turned_labels import without_turned
from rtc_bayes.signatures import explains_types
from rtc_bayes.store import spawn_seeds

if TYPE_CHECKING:
    from rtc_bayes.measures.estimand import EstimandLike

type PairLike = tuple[str, str] | Literal["least"] | None


@explains_types
def next_documents(
    pool: Pool,
    judgments: Judgments | Qrels,
    estimand: EstimandLike = None,
    *,
    algorithm: Algorithm | Judge | RelevanceModel | str = defaults.ALGORITHM,
    pair: PairLike = None,
    count: int = 10,
    seed: int = 0,
    hold_out: HoldOutDesign | None = None,
    groups: Mapping[str, str] | None = None,
    labels: Labels | None = None,
    aside: Iterable[tuple[str, str]] = (),
) -> NextDocuments:
    """Choose documents for a person to judge, and say which pair of systems is least sure.

    They are chosen in turn, as if the labels of those before stayed unknown; ask again when
    some are judged, for the rest may then weigh differently.

    Parameters
    ----------
    pool : Pool
        Of the systems to tell apart.
    judgments : Judgments or Qrels
        What is judged; documents that the pool lacks are added to it.
    estimand : Estimand, optional
        What the systems are told apart by: see :func:`rtc_bayes.judging.building.judged_about`.
        Its relevance level says which grades of Qrels are relevant.
    algorithm : Algorithm, Judge, RelevanceModel or str
    pair : (str, str), "least" or None
        Weigh documents by what they tell of these two systems alone, or of the pair of least
        confidence (Carterette 2007, section 6). Probabilities of relevance still come from all
        systems of the pool. None: of all pairs.
    count : int, at least 1
    seed : int
        For models that draw.
    hold_out : HoldOutDesign, optional
        Whom each topic is judged for: a system of a group that the design holds out of a topic is
        absent from its pool. Documents come from the sub-pools with the fewest judgments a topic.
    groups : mapping of str to str, optional
        With a design: the group of each system, as :func:`rtc_bayes.read_groups` reads it.
    labels : Labels, optional
        Labels of judges that may err, for an algorithm with a model that takes them: see
        :func:`rtc_bayes.fit`. By default those that `judgments` have.
    aside : iterable of (topic, docno)
        Documents that nobody can judge, as of a broken link, beside those that judgments have
        aside, to which Qrels give a negative grade: none of them is chosen.

    Returns
    -------
    NextDocuments
        A sequence of :class:`NextDocument`, the first to judge first, fewer than `count` when no
        other document has weight; and which pair they are for, how sure it is, and whether judging
        may stop.

    Raises
    ------
    InputError
        Bad arguments; a pair for a judge that weighs no single pair. Judgments made under another
        design, or under a design where none is given, or for a system that the design holds out
        of their topic; with a design no groups, a system without a group, a group or topic that
        it lacks, or a pair that it leaves together on no topic.
    FitError
        A model's fit that must not be used.

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
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> documents = rb.next_documents(pool, rb.Judgments.none(pool), algorithm="ip", count=2)
    >>> [document.weight for document in documents]
    [1.0, 1.0]

    For one pair, a document is weighed by these two systems' lists.

    >>> first, second = pool.systems[:2]
    >>> nothing = rb.Judgments.none(pool)
    >>> document = rb.next_documents(pool, nothing, algorithm="mtc", pair=(first, second))[0]
    >>> round(document.weight, 3), first in document.why and second in document.why
    (1.048, True)

    Without a pair asked for, the result names the one that is least sure.

    >>> chosen = rb.next_documents(pool, nothing, algorithm="mtc")
    >>> least = rb.next_documents(pool, nothing, algorithm="mtc", pair="least")
    >>> chosen.pair == least.pair, chosen.confidence == least.confidence, chosen.may_stop
    (True, True, False)
    """
    count = whole_number("count", count, least=1)
    check_groups_given(hold_out, groups)
    check_type(judgments, Judgments | Qrels, "judgments are", "give Qrels or Judgments")
    about, pool = judged_about(estimand, pool, judgments)
    named = _named(pair, pool)
    if isinstance(judgments, Qrels):
        judgments = about.judgments(pool, judgments)
    judgments = judgments.on(pool).with_aside(aside)
    if labels is not None:
        judgments = judgments.with_judge_labels(labels)
    chosen_by = parse_algorithm(algorithm)
    choose = partial(
        _of_pool,
        algorithm=chosen_by,
        pair=pair,
        named=named,
        measure=about.measure,
    )
    if hold_out is None or groups is None:
        chosen = choose(judgments, count=count, seed=seed)
    else:
        parts = sub_pools(without_turned(judgments), hold_out, groups)
        chosen = _of_design(parts, choose, named, count, seed)
    warn_of_evidence(judgments)
    if chosen:
        return chosen
    reason = without_choice(judgments.n_open, has_confidence=chosen_by.has_confidence)
    return replace(chosen, why_none=why_ended(reason))


def _of_design(
    parts: Sequence[SubPool],
    choose: Callable[..., NextDocuments],
    named: tuple[str, str] | None,
    count: int,
    seed: int,
) -> NextDocuments:
    """Choose documents of the sub-pools of a design that have the pair: see :mod:`sharing`."""
    seeds = spawn_seeds(whole_number("seed", seed), len(parts))
    of_pair = [set(named or ()) <= set(part.judgments.pool.systems) for part in parts]
    if named is not None and not any(of_pair):
        raise InputError(
            f"the design leaves {named[0]} and {named[1]} together on no topic of the runs",
            remedy="name a pair of which no system is held out of some topic",
        )
    topics = [part.topics for part in parts]
    judged = [part.judgments.n_judged for part in parts]
    room = [part.judgments.n_open if has else 0 for part, has in zip(parts, of_pair, strict=True)]
    chosen: dict[int, NextDocuments] = {}
    while True:
        left = shares(count, topics, judged, room)
        for n, share in enumerate(left):
            if share > (len(chosen[n]) if n in chosen else 0):
                chosen[n] = choose(parts[n].judgments, count=share, seed=seeds[n])
        short = [n for n, share in enumerate(left) if share > 0 and len(chosen[n]) < share]
        if not short:
            break
        for n in short:
            room[n] = len(chosen[n])
    documents: list[NextDocument] = []
    queues = {n: iter(chosen[n]) for n, share in enumerate(left) if share}
    while (first := fewest_a_topic(left, topics, judged)) is not None:
        documents.append(next(queues[first]))
        left[first] -= 1
        judged[first] += 1
    sure = [of for of in chosen.values() if of.confidence is not None]
    least = min(sure, key=lambda of: of.confidence or 1.0, default=NextDocuments(()))
    weight_text = next((of.weight_text for of in chosen.values()), "")
    return NextDocuments(tuple(documents), least.pair, least.confidence, weight_text=weight_text)


def _of_pool(
    judgments: Judgments,
    *,
    algorithm: Algorithm,
    pair: PairLike,
    named: tuple[str, str] | None,
    measure: str,
    count: int,
    seed: int,
) -> NextDocuments:
    """Choose documents of a pool, for a pair that is asked for and, but for "least", named."""
    pool, topic_of = judgments.pool, judgments.pool.topic_of
    chooser = start_judge(judgments, algorithm, seed=seed, measure=measure)
    numbers = _least_confident(chooser) if named is None else _numbers_of(named, pool)
    if pair is not None:
        of_pair = None if numbers is None else answer_of(chooser, "for_pair", numbers)
        if of_pair is None:
            raise InputError(
                f"{algorithm.judge.name} does not weigh documents for one pair",
                remedy="use mtc or a relevance model",
            )
        chooser = of_pair
    judged = Counter(topic_of[judgments.order].tolist())
    documents: list[NextDocument] = []
    for document, weight in choices(chooser, count, algorithm):
        t = int(topic_of[document])
        why = answer_of(chooser, "why", document, weight)
        if judged[t] < algorithm.floor:
            has = f"{judged[t]} of {algorithm.floor} judgments" if judged[t] else "no judgment yet"
            why = f"its topic has {has}; {why}"
        judged[t] += 1
        documents.append(
            NextDocument(
                pool.topics[t],
                pool.docnos[document],
                weight,
                why,
                p=answer_of(chooser, "probability", document),
                retrieved_by=int((chooser.ranks_of(document) > 0).sum()),
            )
        )
    chosen = NextDocuments(tuple(documents), weight_text=chooser.weight_text)
    confidence = confidence_of(chooser)
    if numbers is None or confidence is None:
        return chosen
    names = (pool.systems[numbers[0]], pool.systems[numbers[1]])
    for_all = pair is None and bool(documents)
    may_stop = for_all and reaches(chooser, algorithm, defaults.CONFIDENCE)
    return replace(chosen, pair=names, confidence=float(confidence.min()), may_stop=may_stop)


def _named(pair: object, pool: Pool) -> tuple[str, str] | None:
    """Return the names of two systems, in the pool's order; None where none are named."""
    if pair is None or pair == "least":
        return None
    pairs = pair_named(pool, pair, remedy='give two systems, or "least"')
    first, second = sorted(pairs[0].tolist())
    return pool.systems[first], pool.systems[second]


def _numbers_of(pair: tuple[str, str], pool: Pool) -> tuple[int, int]:
    """Return the numbers of two systems, the lower first."""
    first, second = sorted(two_systems(pool, *pair)[0].tolist())
    return first, second


def _least_confident(chooser: Chooser) -> tuple[int, int] | None:
    """Return the numbers of the pair of least confidence, the first such one."""
    confidence = confidence_of(chooser)
    if confidence is None or not len(confidence):
        return None
    pool = chooser.pool
    first, second = all_pairs(pool.n_systems)
    # what no judgment can tell apart is not asked for
    lists = np.arange(pool.n_systems)
    for names in pool.alike:
        lists[[pool.systems.index(name) for name in names]] = pool.systems.index(names[0])
    apart = lists[first] != lists[second]
    least = int(np.argmin(np.where(apart, confidence, np.inf)))
    return int(first[least]), int(second[least])
