"""Hold-out sets for unequal sites, by an integer program."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.errors import InputError
from rtc_bayes.reuse.counts import Remainder
from rtc_bayes.reuse.cycles import Members

type Floats = NDArray[np.float64]

_SETS = 5_000


def sets_by_program(
    groups: Sequence[str],
    topics: int,
    *,
    held: int,
    baseline_topics: int,
    on_remainder: Remainder,
    rng: np.random.Generator,
    never_together: Collection[frozenset[str]] = (),
    most: Mapping[str, int] | None = None,
    systems: Mapping[str, int] | None = None,
    most_systems: int | None = None,
    costs: Mapping[str, float] | None = None,
    budget: float | None = None,
) -> list[Members]:
    """Say which groups are held out of how many topics, as evenly as the demands let.

    No group is held out of every topic: its systems would have nothing to be compared with.
    Groups that may be held out less often than an even share are held out as often as they may.
    Of the others it makes the largest difference between groups least, then that between pairs of
    groups, then that between sets. Among solutions as good, chance decides.

    Parameters
    ----------
    groups : sequence of str
    topics, held, baseline_topics : int
    on_remainder : {"baseline", "cycle"}
        Whether topics may be judged for all where that makes the sets even.
    rng : numpy.random.Generator
    never_together : collection of frozenset of str
        Pairs of groups that are not to be held out of one topic (sites that share a system).
    most : mapping of str to int, optional
        The most topics that a group may be held out of.
    systems : mapping of str to int, optional
        How many systems each group has, for `most_systems`.
    most_systems : int, optional
        The most systems that may be held out of one topic.
    costs : mapping of str to float, optional
        Judgments that a group's systems add to a topic.
    budget : float, optional
        The most judgments, by `costs`.

    Returns
    -------
    list of frozenset of int
        Groups by number, a set for each topic that is not of the baseline, in an order whose
        beginnings are as balanced as the whole.

    Raises
    ------
    InputError
        Demands that no design meets, or more than 5,000 sets to choose from.
    """
    allowed = _allowed_sets(groups, held, never_together, systems, most_systems)
    member = np.array([[n in s for s in allowed] for n in range(len(groups))], dtype=float)
    free = topics - baseline_topics
    # evenness is asked of groups that may be held out freely
    fair = free * held / len(groups)
    capped = np.array([(most or {}).get(name, topics) < fair for name in groups])
    capped |= ~member.any(axis=1)

    program = _Program(_levels(member, capped, held), len(allowed), topics)
    fewest = free if on_remainder == "cycle" else max(1, free - len(allowed) + 1)
    of_total = program.demand(np.ones(len(allowed)), fewest, free)
    for group, limit in (most or {}).items():
        program.demand(member[groups.index(group)], 0.0, limit)
    for of_group in member:  # held out of every topic, a group would have nothing to compare with
        program.demand(of_group, 0.0, topics - 1)
    if budget is not None:
        price = np.array([(costs or {}).get(group, 0.0) for group in groups])
        program.demand(-(price @ member), -np.inf, budget - topics * price.sum())
    uneven = program.unevenness(1e-6 * rng.random(len(allowed)) / max(1, free))
    # groups with a limit come as near to it as they can; then the others are made even
    limited = member[capped].sum(axis=0)
    for least in (fewest, 1.0):  # as many topics as a plain design holds out, or fewer
        program.lower[of_total] = least
        if limited.any() and (nearest := program.solved(-program.of_sets(limited))) is not None:
            program.demand(limited, float(np.rint(limited @ nearest)), np.inf)
        counts = program.solved(uneven)
        if counts is not None or on_remainder == "cycle":
            break
    if counts is None:
        raise InputError(
            "no design meets these demands and has every group judged for on some topic",
            remedy="allow more pairs or topics, a larger budget, or hold out fewer groups",
        )
    return _in_order(allowed, np.rint(counts).astype(int), len(groups), rng)


def _allowed_sets(
    groups: Sequence[str],
    held: int,
    never_together: Collection[frozenset[str]],
    systems: Mapping[str, int] | None,
    most_systems: int | None,
) -> list[Members]:
    """List the sets of groups that may be held out together."""
    if comb(len(groups), held) > _SETS:
        raise InputError(
            f"there are {comb(len(groups), held)} sets of {held} of {len(groups)} groups",
            remedy="hold out fewer groups",
        )
    sets = [frozenset(c) for c in combinations(range(len(groups)), held)]
    allowed = [
        s
        for s in sets
        if _is_allowed({groups[n] for n in s}, never_together, systems, most_systems)
    ]
    if not allowed:
        raise InputError(
            f"no {held} of the groups may be held out together",
            remedy="allow more systems (most_systems) or pairs (never_together), or hold out fewer",
        )
    return allowed


def _levels(member: Floats, capped: NDArray[np.bool_], held: int) -> list[Floats]:
    """Say which sets each group, each pair of groups and each set counts, where evenness is asked.

    Parameters
    ----------
    member : ndarray of float, shape (groups, sets)
        1 where the group is in the set.
    capped : ndarray of bool, shape (groups,)
        Groups of which no evenness is asked, unless it is all of them.
    held : int
        Of one group there are no pairs.

    Returns
    -------
    list of ndarray of float, shape (counts, sets)
        The most important first.
    """
    groups, sets = range(len(member)), np.eye(member.shape[1])
    if not capped.all():
        even, plain = member[~capped], sets[~member[capped].any(axis=0)]
    else:
        even, plain = member, sets
    if held == 1:
        return [part for part in (even, plain) if len(part)]
    together = {(a, b): member[a] * member[b] for a, b in combinations(groups, 2)}
    together = {pair: both for pair, both in together.items() if both.any()}
    of_free = [both for (a, b), both in together.items() if not (capped[a] or capped[b])]
    both = np.array(of_free or list(together.values()))
    return [part for part in (even, both, plain) if len(part)]


class _Program:
    """An integer program: how often each set is held out, then the most and least of each level.

    Parameters
    ----------
    levels : list of ndarray of float, shape (counts, sets)
        As of :func:`_levels`.
    sets, topics : int
        Number of sets, and the most that a variable can be.
    """

    def __init__(self, levels: list[Floats], sets: int, topics: int) -> None:
        self.sets, self.topics, self.n_levels = sets, topics, len(levels)
        self.rows: list[Floats] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        for place, counts in enumerate(levels):
            most = sets + 2 * place
            for of_sets in counts:
                self._between(of_sets, most, -np.inf, 0.0)
                self._between(of_sets, most + 1, 0.0, np.inf)

    def of_sets(self, weights: Floats) -> Floats:
        """Return weights of all variables, given those of sets."""
        return np.concatenate([weights, np.zeros(2 * self.n_levels)])

    def demand(self, of_sets: Floats, low: float, high: float) -> int:
        """Ask that a sum over sets is from `low` to `high`; return the demand's number."""
        return self._add(self.of_sets(of_sets), low, high)

    def unevenness(self, chance: Floats) -> Floats:
        """Return what is to be least: the most less the least of each level, one after another.

        Of designs as even it is the one that holds out more, and then `chance` decides.
        """
        weight = self.of_sets(chance)
        for place in range(self.n_levels):
            step = 100.0 ** (self.n_levels - place)
            most = self.sets + 2 * place
            weight[most], weight[most + 1] = step, -step
        weight[: self.sets] -= 1.0 / (self.topics + 1)
        return weight

    def solved(self, objective: Floats) -> Floats | None:
        """Return how often each set is held out; None where nothing meets the demands."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        solution = milp(
            objective,
            integrality=np.ones(len(objective)),
            bounds=Bounds(0, self.topics),
            constraints=LinearConstraint(np.array(self.rows), self.lower, self.upper),
            options={"time_limit": 30.0, "mip_rel_gap": 0.0},
        )
        return None if solution.x is None else solution.x[: self.sets]

    def _between(self, of_sets: Floats, bound: int, low: float, high: float) -> None:
        """Ask that a sum over sets less one of the bounds is from `low` to `high`."""
        row = self.of_sets(of_sets)
        row[bound] = -1.0
        self._add(row, low, high)

    def _add(self, row: Floats, low: float, high: float) -> int:
        self.rows.append(row)
        self.lower.append(low)
        self.upper.append(high)
        return len(self.rows) - 1


def _is_allowed(
    names: set[str],
    never_together: Collection[frozenset[str]],
    systems: Mapping[str, int] | None,
    most_systems: int | None,
) -> bool:
    if any(pair <= names for pair in never_together):
        return False
    return most_systems is None or sum((systems or {}).get(g, 1) for g in names) <= most_systems


def _in_order(
    sets: list[Members], counts: NDArray[np.int_], groups: int, rng: np.random.Generator
) -> list[Members]:
    """Order sets so that each beginning has its share of every group."""
    left = {n: int(count) for n, count in enumerate(counts) if count}
    shares = np.zeros(groups)
    for n, count in left.items():
        shares[list(sets[n])] += count
    done = np.zeros(groups)
    order: list[Members] = []
    while left:
        ties = rng.random(len(sets))
        best = min(
            left,
            key=lambda n: (
                sum((2 * done[g] + 1) / shares[g] for g in sets[n]),
                -left[n] / counts[n],
                ties[n],
            ),
        )
        order.append(sets[best])
        done[list(sets[best])] += 1
        left[best] -= 1
        if not left[best]:
            del left[best]
    return order
