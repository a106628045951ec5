"""The sub-pools of a hold-out design, and how a budget is shared over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.collection.hold_out import HoldOutDesign, check_contributed, check_design
from rtc_bayes.errors import InputError


@dataclass(frozen=True)
class SubPool:
    """A sub-pool that is judged by itself.

    Attributes
    ----------
    judgments : Judgments
        Over the sub-pool, made for its systems.
    documents : ndarray of int, shape (documents of the sub-pool,)
        Their indices in the pool of all systems.
    """

    judgments: Judgments
    documents: NDArray[np.int64]

    @property
    def topics(self) -> int:
        """How many topics it has."""
        return self.judgments.pool.n_topics


def sub_pools(
    judgments: Judgments, hold_out: HoldOutDesign, groups: Mapping[str, str]
) -> list[SubPool]:
    """Cut judgments into those of each sub-pool of a design.

    Parameters
    ----------
    judgments : Judgments
        Over the pool of all systems.
    hold_out : HoldOutDesign
    groups : mapping of str to str
        Group of each system.

    Returns
    -------
    list of SubPool
        In the order of :meth:`HoldOutDesign.pools`, whose pools they have, with every document of
        their topics that is judged.

    Raises
    ------
    InputError
        Judgments made under another design, for a system that this one holds out of their topic,
        or of what such systems alone retrieved; what :meth:`HoldOutDesign.pools` refuses.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=2, n_systems=6, seed=1)
    >>> pool, groups = rb.Pool.from_runs(simulated.runs, depth=5), simulated.groups
    >>> sites = tuple(dict.fromkeys(groups.values()))
    >>> contributes = [[site != sites[0] or topic == "501" for topic in pool.topics]
    ...                for site in sites]
    >>> design = HoldOutDesign(pool.topics, sites, contributes)
    >>> parts = sub_pools(rb.Judgments.none(pool), design, groups)
    >>> [(part.topics, part.judgments.pool.n_systems) for part in parts]
    [(1, 6), (1, 2)]
    """
    pool = judgments.pool
    check_design(judgments, hold_out)
    for topic, systems in hold_out.judged_for(pool, groups).items():
        made_for = judgments.judged_for_topic(topic) if topic in judgments.judged_topics else None
        wrong = [s for s in made_for or () if s in pool.systems and s not in systems]
        if wrong:
            raise InputError(
                f"topic {topic} was judged for {wrong[0]}, which the design holds out of it",
                remedy="start from judgments made under the design, or from none",
            )
    check_contributed(judgments, hold_out, groups)
    parts = []
    for part in hold_out.pools(pool, groups):
        own = replace(
            judgments.on(part), hold_out=None, judged_for=part.systems, judged_for_by_topic=None
        )
        docnos, inside = own.pool.docnos, map(own.pool.documents, range(own.pool.n_topics))
        located = [
            pool.locate(topic, docnos[of])
            for topic, of in zip(own.pool.topics, inside, strict=True)
        ]
        parts.append(SubPool(own, np.concatenate(located)))
    return parts


def shares(
    count: int, topics: Sequence[int], judged: Sequence[int], room: Sequence[int]
) -> list[int]:
    """Share judgments over sub-pools so that every topic counts equally.

    All judgments, those made before and those to come, are shared in proportion to topics by the
    method of largest remainders, the first sub-pool first among equals. A sub-pool that has more
    than its share gets none, one that has too few documents gets all of them, and the others
    share the rest likewise.

    Parameters
    ----------
    count : int, at least 0
        How many judgments are to come.
    topics : sequence of int
        Topics of each sub-pool, at least 1.
    judged : sequence of int
        Judgments of each sub-pool before.
    room : sequence of int
        The most that each can still take.

    Returns
    -------
    list of int
        One for each sub-pool; they sum to `count`, or to all the room where that is less.

    Examples
    --------
    >>> shares(8, topics=[10, 3, 3], judged=[0, 0, 0], room=[99, 99, 99])
    [5, 2, 1]
    >>> shares(8, topics=[1, 1, 1], judged=[9, 1, 0], room=[99, 2, 99])
    [0, 2, 6]
    """
    counts = [0] * len(topics)
    active = [n for n, most in enumerate(room) if most > 0]
    while count and active:
        sharing = _below_their_share(count, topics, judged, active)
        total, size = count + sum(judged[n] for n in sharing), sum(topics[n] for n in sharing)
        full = [n for n in sharing if total * topics[n] > (judged[n] + room[n]) * size]
        if full:
            for n in full:
                counts[n] = room[n]
                count -= room[n]
            active = [n for n in active if n not in full]
            continue
        remainders = {}
        for n in sharing:
            quota, remainders[n] = divmod(total * topics[n], size)
            counts[n] = quota - judged[n]
            count -= counts[n]
        for n in sorted(sharing, key=lambda n: -remainders[n])[:count]:
            counts[n] += 1
        break
    return counts


def _below_their_share(
    count: int, topics: Sequence[int], judged: Sequence[int], active: list[int]
) -> list[int]:
    """Return the sub-pools that have no more than their share of all judgments among them."""
    while True:
        total, size = count + sum(judged[n] for n in active), sum(topics[n] for n in active)
        below = [n for n in active if total * topics[n] >= judged[n] * size]
        if below == active:
            return below
        active = below


def fewest_a_topic(left: Sequence[int], topics: Sequence[int], judged: Sequence[int]) -> int | None:
    """Return the sub-pool with the fewest judgments a topic among those with some left to make.

    The first such one; None where none has any left.

    Examples
    --------
    >>> fewest_a_topic([1, 1, 0], topics=[2, 1, 1], judged=[3, 1, 0])
    1
    """
    some = [n for n, more in enumerate(left) if more > 0]
    return min(some, key=lambda n: judged[n] / topics[n], default=None)
