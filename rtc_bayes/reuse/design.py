"""Plan a hold-out design: which groups' systems are held out of which topics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set

import numpy as np

from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Runs
from rtc_bayes.collection.hold_out import (
    HoldOutDesign,
    groups_by_system,
    groups_of,
)
from rtc_bayes.collection.ids import is_keyed, keyed_by_text, list_of_ids, some, text_of
from rtc_bayes.collection.order import natural_order
from rtc_bayes.errors import InputError, warn
from rtc_bayes.reuse.counts import Remainder, design_counts
from rtc_bayes.reuse.cycles import Members, balanced_cycle
from rtc_bayes.reuse.program import sets_by_program
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import counted


@explains_types
@moved(baseline="write baseline_topics", most_runs="write most_systems")
def hold_out(
    groups: Mapping[str, str] | Iterable[str],
    topics: Iterable[str | int] | int,
    held: int = 2,
    *,
    baseline_topics: int = 0,
    on_remainder: Remainder = "baseline",
    never_together: Collection[Collection[str]] = (),
    most: Mapping[str, int] | None = None,
    most_systems: int | None = None,
    costs: Mapping[str, float] | None = None,
    budget: float | None = None,
    seed: int = 0,
) -> HoldOutDesign:
    """Plan which groups are held out of which topics (Carterette et al. 2010, section 3.1).

    Topics stand in random order, and those of the baseline anywhere among them, so that assessors
    cannot know which are which. Sets of groups go round robin in an order whose every beginning
    is balanced: judging may end anywhere. Use a design for one collection.

    With none of `never_together`, `most`, `most_systems` and `budget` every set of `held` groups
    is held out equally often. With any of them the design is the most even one that meets them, by
    an integer program, among those in which every group is judged for on some topic.

    Parameters
    ----------
    groups : mapping of str to str, or iterable of str
        Group (site) of each system (a Series indexed by system will do), or the groups' names;
        their order does not matter.
    topics : iterable of str or int, or int
        Ids of topics, or how many there are (named 1, 2, ...).
    held : int, 1 to the number of groups less 1
        k, groups held out of each topic that is not of the baseline. Comparisons between groups
        need 2 or more.
    baseline_topics : int, at least 0
        n0, the least number of topics that are judged for all groups.
    on_remainder : {"baseline", "cycle"}
        Topics that fill no whole cycle go to the baseline, or begin one more cycle.
    never_together : collection of pairs of str
        Groups that are not to be held out of one topic.
    most : mapping of str to int, optional
        The most topics that a group may be held out of; 0 for one that always takes part.
    most_systems : int, optional
        The most systems that may be held out of one topic; needs groups of systems.
    costs : mapping of str to float, optional
        Judgments that a group's systems add to a topic, for `budget`.
    budget : float, optional
        The most judgments that the whole design may cost.
    seed : int, at least 0

    Returns
    -------
    HoldOutDesign

    Raises
    ------
    InputError
        Too few topics or groups, a topic that is no id (301.0 is not the topic 301), unknown
        groups, or demands that no design meets.

    Examples
    --------
    >>> design = hold_out([f"S{n}" for n in range(1, 7)], 25, baseline_topics=10)  # Table 1
    >>> design
    HoldOutDesign(25 topics, 6 groups; 10 topics judged for all)
    >>> (~design.contributes).sum(axis=1).tolist()
    [5, 5, 5, 5, 5, 5]
    """
    names, sizes = _groups(groups)
    labels = _topics(topics)
    rng = np.random.default_rng(whole_number("seed", seed))
    pairs = _pairs(never_together)
    most = None if most is None else keyed_by_text(most, "group")
    costs = None if costs is None else keyed_by_text(costs, "group")
    _check_demands(names, held, baseline_topics, pairs, most, most_systems, costs, budget)
    uneven = bool(pairs or most or most_systems is not None or budget is not None)
    counts = design_counts(
        len(names),
        len(labels),
        held=held,
        baseline_topics=baseline_topics,
        on_remainder="cycle" if uneven else on_remainder,
    )
    if uneven:
        sets = sets_by_program(
            names,
            len(labels),
            held=held,
            baseline_topics=baseline_topics,
            on_remainder=on_remainder,
            rng=rng,
            never_together=pairs,
            most=most,
            systems=sizes,
            most_systems=most_systems,
            costs=costs,
            budget=budget,
        )
    else:
        sets = _round_robin(len(names), held, counts.topics - counts.baseline_topics, rng)
    return _placed(names, [labels[n] for n in rng.permutation(len(labels))], sets, rng)


def _check_demands(
    names: Sequence[str],
    held: int,
    baseline_topics: int,
    pairs: Collection[Collection[str]],
    most: Mapping[str, int] | None,
    most_systems: int | None,
    costs: Mapping[str, float] | None,
    budget: float | None,
) -> None:
    """Refuse demands that say nothing, or that name no group, before a design is sought."""
    if costs and budget is None:
        raise InputError("costs without a budget", remedy="say what they may sum to, by budget")
    for group in [*(g for pair in pairs for g in pair), *(most or {}), *(costs or {})]:
        if group not in names:
            raise InputError(
                f"there is no group {group}", remedy=f"give some of {', '.join(names[:8])}"
            )
    if len(names) < 2:
        raise InputError(
            f"there is one group alone, {names[0]}",
            remedy="give two or more: some are judged for where others are held out",
        )
    if most_systems is not None:
        whole_number("most_systems", most_systems, least=1)
    if budget is not None and not costs:
        raise InputError(
            "a budget needs costs",
            remedy="say what each group adds to a topic, as costs= or --costs GROUP=N",
        )
    if budget is not None and not 0 <= budget < np.inf:
        raise InputError(f"budget is {budget:g}", remedy="give a number of at least 0")
    if held == len(names) - 1 and baseline_topics < 2:
        raise InputError(
            f"with {held} of {len(names)} groups held out one alone is judged for on a topic, and "
            "groups cannot be compared",
            remedy="hold out fewer, or judge two topics or more for all (baseline_topics, "
            "--baseline-topics)",
        )


@explains_types
def groups_with_runs(groups: Mapping[str, str], runs: Runs) -> dict[str, str]:
    """Keep the groups of systems that have a run, to plan for these alone.

    Parameters
    ----------
    groups : mapping of str to str
        Group of each system; it may name systems without a run.
    runs : Runs

    Returns
    -------
    dict of str to str
        Group of each system that has a run, in the order of the runs.

    Raises
    ------
    InputError
        A run of a system without a group.

    Warns
    -----
    CollectionWarning
        Groups without a run: it names some.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings(name, {"1": ["d1"]}) for name in ("bm25", "dense")])
    >>> rb.groups_with_runs({"dense": "siteB", "bm25": "siteA", "old": "siteA"}, runs)
    {'bm25': 'siteA', 'dense': 'siteB'}
    """
    groups = groups_by_system(groups)
    kept = dict(zip(runs.systems, groups_of(runs.systems, groups), strict=True))
    every = set(groups.values())
    if without := sorted(every - set(kept.values())):
        warn(
            f"{counted(len(without), 'group')} of {len(every)} without a run, left aside: "
            f"{some(without)}"
        )
    return kept


def _round_robin(groups: int, held: int, topics: int, rng: np.random.Generator) -> list[Members]:
    sets: list[Members] = []
    while len(sets) < topics:
        sets += balanced_cycle(groups, held, rng)
    return sets[:topics]


def _placed(
    groups: tuple[str, ...], topics: list[str], sets: list[Members], rng: np.random.Generator
) -> HoldOutDesign:
    """Give topics the sets in turn, those of the baseline anywhere between."""
    contributes = np.ones((len(groups), len(topics)), dtype=bool)
    places = np.sort(rng.permutation(len(topics))[: len(sets)])
    for place, members in zip(places, sets, strict=True):
        contributes[list(members), place] = False
    return HoldOutDesign(tuple(topics), groups, contributes)


def _groups(groups: Mapping[str, str] | Iterable[str]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the groups' names in natural order, and how many systems each has."""
    if isinstance(groups, str):
        raise InputError("groups is one text", remedy="give a mapping of system to group, or names")
    of_systems = is_keyed(groups)
    every = groups_by_system(groups).values() if of_systems else groups
    listed = [text_of(group, "group") for group in every]
    if not listed:
        raise InputError("no groups", remedy="give the group of each system, or groups' names")
    names = natural_order(listed)
    if not of_systems and len(names) < len(listed):
        raise InputError("a group is named twice", remedy="give each once")
    return names, {name: listed.count(name) for name in names}


def _pairs(never_together: Collection[Collection[str]]) -> list[frozenset[str]]:
    """Return the pairs of groups that are not to be held out together."""
    listed = [never_together] if isinstance(never_together, str) else list(never_together)
    if any(isinstance(pair, str) for pair in listed):
        raise InputError(
            f"never_together is {never_together!r:.80}: names where it takes pairs of names",
            remedy=f"give a list of pairs, as [{tuple(listed[:2])!r:.80}]"
            if len(listed) > 1
            else "give a list of pairs, as [('A', 'B')]",
        )
    pairs = [frozenset(list_of_ids("a pair of never_together", pair)) for pair in listed]
    if odd := [pair for pair in pairs if len(pair) != 2]:
        raise InputError(
            f"never_together has {counted(len(odd[0]), 'name')} where it takes pairs",
            remedy="give two groups, as A,B; three are three pairs",
        )
    return pairs


def _topics(topics: Iterable[str | int] | int) -> tuple[str, ...]:
    remedy = "give a sequence of topics, or their number"
    if isinstance(topics, str | bytes):
        raise InputError("topics is one text", remedy=remedy)
    if isinstance(topics, Set):
        raise InputError("topics is a set, whose order no seed decides", remedy=remedy)
    if isinstance(topics, Iterable) and getattr(topics, "ndim", True):
        return tuple(text_of(topic, "topic") for topic in topics)
    return tuple(str(n + 1) for n in range(whole_number("topics", topics, least=1)))
