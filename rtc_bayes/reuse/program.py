"""Hold-out sets for unequal sites, by an integer program."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.errors import InputError
from rtc_bayes.reuse.counts import Remainder
from rtc_bayes.reuse.cycles import Members

_SETS = 5_000


def sets_by_program(
    groups: Sequence[str],
    topics: int,
    *,
    held: int,
    baseline: int,
    on_remainder: Remainder,
    rng: np.random.Generator,
    never_together: Collection[frozenset[str]] = (),
    most: Mapping[str, int] | None = None,
    runs: Mapping[str, int] | None = None,
    most_runs: int | None = None,
    costs: Mapping[str, float] | None = None,
    budget: float | None = None,
) -> list[Members]:
    """Say which groups are held out of how many topics, as evenly as the demands let.

    Groups that may be held out less often than an even share are held out as often as they may.
    Of the others it makes the largest difference between groups least, then that between pairs of
    groups, then that between sets. Among solutions as good, chance decides.

    Parameters
    ----------
    groups : sequence of str
    topics, held, baseline : int
    on_remainder : {"baseline", "cycle"}
        Whether topics may be judged for all where that makes the sets even.
    rng : numpy.random.Generator
    never_together : collection of frozenset of str
        Pairs of groups that are not to be held out of one topic (sites that share a system).
    most : mapping of str to int, optional
        The most topics that a group may be held out of.
    runs : mapping of str to int, optional
        How many runs each group has, for `most_runs`.
    most_runs : int, optional
        The most runs that may be held out of one topic.
    costs : mapping of str to float, optional
        Judgments that a group's runs add to a topic.
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
    from math import comb

    from scipy.optimize import Bounds, LinearConstraint, milp

    if comb(len(groups), held) > _SETS:
        raise InputError(
            f"there are {comb(len(groups), held)} sets of {held} of {len(groups)} groups",
            remedy="hold out fewer groups",
        )
    sets = [frozenset(c) for c in combinations(range(len(groups)), held)]
    allowed = [
        s for s in sets if _is_allowed({groups[n] for n in s}, never_together, runs, most_runs)
    ]
    if not allowed:
        raise InputError(
            f"no {held} of the groups may be held out together",
            remedy="allow more systems (most_runs) or pairs (never_together), or hold out fewer",
        )
    member = np.array([[n in s for s in allowed] for n in range(len(groups))], dtype=float)
    pairs = list(combinations(range(len(groups)), 2))
    both = np.array([member[a] * member[b] for a, b in pairs])
    both = both[both.any(axis=1)]
    # evenness is asked of groups that may be held out freely
    fair = (topics - baseline) * held / len(groups)
    capped = np.array([(most or {}).get(name, topics) < fair for name in groups])
    capped |= ~member.any(axis=1)
    even = member[~capped] if not capped.all() else member
    touched = [bool(capped[a] or capped[b]) for a, b in pairs if (member[a] * member[b]).any()]
    both = both[~np.array(touched, dtype=bool)] if not all(touched) else both
    size, free = len(allowed), topics - baseline
    # After the sets' counts: the most and least of groups, of pairs, and of sets.
    plain = np.eye(size)[~member[capped].any(axis=0)] if not capped.all() else np.eye(size)
    levels = [part for part in ((even, both, plain) if held > 1 else (even, plain)) if len(part)]
    rows, lower, upper = [], [], []

    def demand(left: NDArray[np.float64], low: float, high: float) -> None:
        rows.append(left)
        lower.append(low)
        upper.append(high)

    n_variables = size + 2 * len(levels)
    for place, counts in enumerate(levels):
        for row in counts:
            for side, (low, high) in enumerate([(-np.inf, 0.0), (0.0, np.inf)]):
                bound = np.zeros(n_variables)
                bound[:size] = row
                bound[size + 2 * place + side] = -1.0
                demand(bound, low, high)
    total = np.zeros(n_variables)
    total[:size] = 1.0
    of_total = len(rows)
    demand(total, free if on_remainder == "cycle" else max(1, free - size + 1), free)
    for group, limit in (most or {}).items():
        row = np.zeros(n_variables)
        row[:size] = member[groups.index(group)]
        demand(row, 0.0, limit)
    if budget is not None:
        price = np.array([(costs or {}).get(group, 0.0) for group in groups])
        row = np.zeros(n_variables)
        row[:size] = -(price @ member)
        demand(row, -np.inf, budget - topics * price.sum())
    weight = np.concatenate([1e-6 * rng.random(size) / max(1, free), np.zeros(2 * len(levels))])
    for place in range(len(levels)):
        step = 100.0 ** (len(levels) - place)
        weight[size + 2 * place], weight[size + 2 * place + 1] = step, -step
    weight[:size] -= 1.0 / (topics + 1)  # of designs as even, the one that holds out more
    # groups with a limit come as near to it as they can; then the others are made even
    limited = np.zeros(n_variables)
    limited[:size] = member[capped].sum(axis=0)

    def solved(objective: NDArray[np.float64]) -> Any:
        return milp(
            objective,
            integrality=np.ones(n_variables),
            bounds=Bounds(0, topics),
            constraints=LinearConstraint(np.array(rows), lower, upper),
            options={"time_limit": 30.0, "mip_rel_gap": 0.0},
        )

    for least in (lower[of_total], 1.0):  # as many topics as a plain design holds out, or fewer
        lower[of_total] = least
        if limited.any() and (nearest := solved(-limited)).x is not None:
            demand(limited, float(np.rint(limited @ nearest.x)), np.inf)
        solution = solved(weight)
        if solution.x is not None or on_remainder == "cycle":
            break
    if solution.x is None:
        raise InputError(
            "no design meets these demands",
            remedy="allow more pairs or topics, a larger budget, or hold out fewer groups",
        )
    return _in_order(allowed, np.rint(solution.x[:size]).astype(int), len(groups), rng)


def _is_allowed(
    names: set[str],
    never_together: Collection[frozenset[str]],
    runs: Mapping[str, int] | None,
    most_runs: int | None,
) -> bool:
    if any(pair <= names for pair in never_together):
        return False
    return most_runs is None or sum((runs or {}).get(g, 1) for g in names) <= most_runs


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
