"""Every set of k of m groups once, in an order whose every beginning is balanced."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

_STEPS = 4_000
_STARTS = 20
_CLASSES = 20_000

#: A set of groups by number.
Members = frozenset[int]


def balanced_cycle(groups: int, held: int, rng: np.random.Generator) -> list[Members]:
    """Order every set of `held` groups so that each beginning holds all equally often.

    After any number of sets, how often two groups have been held out differs by one at most
    (Carterette et al. 2010, section 3.1: "round robin"). For two held out the order is that of a
    tournament; for more it is searched for.

    Parameters
    ----------
    groups, held : int
    rng : numpy.random.Generator
        Says which of many such orders.

    Returns
    -------
    list of frozenset of int
        All comb(groups, held) of them. Where no balanced order was found (never for up to nine
        groups) the differences are the least that a choice set by set gives.

    Examples
    --------
    >>> cycle = balanced_cycle(5, 2, np.random.default_rng(1))
    >>> len(cycle), np.bincount([g for held in cycle[:5] for g in held]).tolist()
    (10, [2, 2, 2, 2, 2])
    """
    if held > groups // 2:  # who takes part is balanced where who does not is
        rest = balanced_cycle(groups, groups - held, rng) if held < groups else [frozenset()]
        return [frozenset(range(groups)) - members for members in rest]
    names = rng.permutation(groups).tolist()
    if held == 1:
        order = [frozenset([n]) for n in range(groups)]
    elif held == 2:
        order = _tournament(groups)
    else:
        classes = None
        if groups % held == 0:
            classes = _classes(groups, held, rng)
        order = classes or _searched(groups, held, rng)
    return [frozenset(names[n] for n in members) for members in order]


def _tournament(groups: int) -> list[Members]:
    """Pairs of an even number by the circle method, of an odd one by Walecki's cycles.

    With an even number every round is a perfect matching. With an odd number, every second edge
    along a Hamiltonian cycle walked twice meets each group once in each half.
    """
    last = groups - 1
    order: list[Members] = []
    if groups % 2 == 0:
        for turn in range(last):
            order.append(frozenset([last, turn]))
            for step in range(1, groups // 2):
                order.append(frozenset([(turn + step) % last, (turn - step) % last]))
        return order
    for turn in range(last // 2):
        zigzag = [(turn + (n + 1) // 2 * (1 if n % 2 else -1)) % last for n in range(last)]
        walk = [last, *zigzag] * 2
        order += [frozenset(walk[n : n + 2]) for n in range(0, 2 * groups, 2)]
    return order


def _classes(groups: int, held: int, rng: np.random.Generator) -> list[Members] | None:
    """Partition the sets into classes that hold every group once (Baranyai), by exact cover."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array

    n_classes = 1
    for left in range(groups, 0, -held):
        n_classes *= comb(left - 1, held - 1)
    if n_classes > _CLASSES:
        return None
    number = {frozenset(c): n for n, c in enumerate(combinations(range(groups), held))}
    classes = list(_partitions(tuple(range(groups)), held))
    rows = [number[members] for one in classes for members in one]
    columns = np.repeat(np.arange(len(classes)), groups // held)
    cover = csc_array((np.ones(len(rows)), (rows, columns)), shape=(len(number), len(classes)))
    solution = milp(
        rng.random(len(classes)),
        integrality=np.ones(len(classes)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(cover, 1, 1),
        options={"time_limit": 5.0},
    )
    if solution.x is None:
        return None
    chosen = [one for one, taken in zip(classes, solution.x, strict=True) if taken > 0.5]
    return [members for n in rng.permutation(len(chosen)) for members in chosen[n]]


def _partitions(left: tuple[int, ...], held: int) -> list[list[Members]]:
    """Every way to part groups into sets of `held`."""
    if not left:
        return [[]]
    ways = []
    for others in combinations(left[1:], held - 1):
        members = frozenset((left[0], *others))
        rest = tuple(n for n in left if n not in members)
        ways += [[members, *way] for way in _partitions(rest, held)]
    return ways


def _searched(groups: int, held: int, rng: np.random.Generator) -> list[Members]:
    """Search for a balanced order, a few times from the start; else be as even as can be."""
    every = [frozenset(c) for c in combinations(range(groups), held)]
    for _ in range(_STARTS):
        order: list[Members] = []
        remaining, counts = set(every), [0] * groups
        _walk(order, remaining, counts, rng)
        if not remaining:
            return order
    while remaining:  # as even as a choice set by set can be
        least = min(counts)
        best = min(remaining, key=lambda s: (sum(4 ** (counts[n] - least) for n in s), sorted(s)))
        _take(best, order, remaining, counts)
    return order


def _walk(
    order: list[Members], remaining: set[Members], counts: list[int], rng: np.random.Generator
) -> None:
    """Choose set by set, and take some back where no set keeps the balance."""
    longest, back = 0, 1.0
    for _ in range(_STEPS):
        if not remaining:
            return
        least = min(counts)
        low = frozenset(n for n in range(len(counts)) if counts[n] == least)
        held = len(next(iter(remaining)))
        fit = [s for s in remaining if (s <= low if len(low) >= held else low <= s)]
        if fit:
            fit.sort(key=sorted)  # a set's own order is not the same in every process
            _take(fit[int(rng.integers(len(fit)))], order, remaining, counts)
            continue
        longest, back = (len(order), 1.0) if len(order) > longest else (longest, back * 1.02 + 0.1)
        for _ in range(int(rng.integers(1, 1 + max(1, min(int(back), len(order)))))):
            members = order.pop()
            remaining.add(members)
            for n in members:
                counts[n] -= 1


def _take(
    members: Members, order: list[Members], remaining: set[Members], counts: list[int]
) -> None:
    remaining.remove(members)
    order.append(members)
    for n in members:
        counts[n] += 1
