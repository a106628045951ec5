"""Which systems judgments were made for: as given, by topic, and inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes.collection.ids import (
    keyed_by_text,
    list_of_names,
    shared_topics,
    shown,
    some,
    text_of,
)
from rtc_bayes.errors import InputError, warn

if TYPE_CHECKING:
    from rtc_bayes.collection.judgments import Judgments
    from rtc_bayes.collection.pool import Pool
    from rtc_bayes.collection.qrels import Qrels

type JudgedFor = Sequence[str] | Mapping[str, Sequence[str]] | None
"""Systems, or systems by topic; None: not known."""


def as_json(judged_for: JudgedFor) -> object:
    """Return lists, which JSON holds."""
    if isinstance(judged_for, Mapping):
        return {topic: list(systems) for topic, systems in judged_for.items()}
    return None if judged_for is None else list(judged_for)


def judged_for_text(
    judged_for: JudgedFor,
) -> tuple[str, ...] | Mapping[str, tuple[str, ...]] | None:
    """Return systems as tuples of text, of all topics or of each."""
    if judged_for is None:
        return None
    if isinstance(judged_for, Mapping):
        by_topic = keyed_by_text(judged_for, "topic")
        return MappingProxyType({topic: _systems(of) for topic, of in by_topic.items()})
    return _systems(judged_for)


def _systems(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InputError(f"judged_for is {shown(names)}", remedy="give a list of systems")
    return tuple(text_of(name, "system") for name in names)


def infer_judged_for(judgments: Judgments) -> tuple[str, ...]:
    """Guess for which systems judgments were made: a smallest set that retrieved them all.

    The set is built greedily: at each step the system that retrieved most of the judged
    documents not yet explained, the first given among equals. Documents that no system
    retrieved explain nothing.

    Returns
    -------
    tuple of str
        In the pool's order; empty when no judged document was retrieved.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> lists = {"one": {"1": ["a", "b"]}, "two": {"1": ["c", "b"]}}
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings(*run) for run in lists.items()]))
    >>> infer_judged_for(rb.Judgments.from_labels(pool, pool.locate("1", ["b", "c"]), [1, 0]))
    ('two',)
    """
    pool = judgments.pool
    judged = judgments.judged
    left = np.zeros(pool.n_documents, dtype=bool)
    left[pool.ranked] = True
    left &= judged
    bounds = pool.list_starts[:: max(pool.n_topics, 1)]
    retrieved = [pool.ranked[bounds[s] : bounds[s + 1]] for s in range(pool.n_systems)]
    chosen: list[int] = []
    while left.any():
        best = int(np.argmax([np.count_nonzero(left[documents]) for documents in retrieved]))
        chosen.append(best)
        left[retrieved[best]] = False
    return tuple(pool.systems[s] for s in sorted(chosen))


def systems_judged_for(
    pool: Pool, judged_for: JudgedFor
) -> tuple[tuple[str, ...] | None, dict[str, tuple[str, ...]] | None]:
    """Return the systems judged for on any topic, and by topic if they were given so."""
    if judged_for is None:
        return None, None
    if not isinstance(judged_for, Mapping):
        return tuple(list_of_names("judged_for", judged_for)), None
    lists = {
        topic: list_of_names("judged_for", systems)
        for topic, systems in keyed_by_text(judged_for, "topic").items()
    }
    named = dict.fromkeys(system for systems in lists.values() for system in systems)
    ordered = [s for s in pool.systems if s in named] + [s for s in named if s not in pool.systems]
    return tuple(ordered), {topic: tuple(systems) for topic, systems in lists.items() if systems}


def warn_of_others_named(pool: Pool, qrels: Qrels, judged_for: JudgedFor) -> None:
    """Say that systems given are not those that judgments themselves name, and prevail.

    Warns
    -----
    CollectionWarning
        On a topic of the pool, for which both name systems, they are others.

    Examples
    --------
    >>> import warnings
    >>> import rtc_bayes as rb
    >>> lists = {"one": {"1": ["a"]}, "two": {"1": ["b"]}}
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings(*run) for run in lists.items()]))
    >>> qrels = rb.Qrels({"1": {"a": 1}}, judged_for=["one", "two"])
    >>> with warnings.catch_warnings(action="error"):
    ...     warn_of_others_named(pool, qrels, {"1": ["two", "one"]})
    """
    if judged_for is None or qrels.judged_for is None:
        return
    sides = [systems_judged_for(pool, each) for each in (judged_for, qrels.judged_for)]
    for topic in pool.topics:
        now, before = (
            set(every or () if by_topic is None else by_topic.get(topic, ()))
            for every, by_topic in sides
        )
        if now and before and now != before:
            name = f"{qrels.path} was" if qrels.path else "the judgments were"
            of_topics = any(by_topic is not None for _, by_topic in sides)
            where = f" on topic {topic}" if of_topics else ""
            warn(
                f"the systems judged for{where} are {some(sorted(now))}; when {name} made, they "
                f"were {some(sorted(before))}",
            )
            return


def check_judged_topics(pool: Pool, judged_for: JudgedFor, *, say: bool) -> None:
    """Refuse systems by topic, none of which the pool holds; warn of others if asked to `say` so.

    Unknown topics would have been judged for nobody.
    """
    if isinstance(judged_for, Mapping) and judged_for:
        named = keyed_by_text(judged_for, "topic")
        shared_topics(pool.topics, named, what="systems judged for", say=say)
