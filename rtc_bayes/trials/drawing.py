"""Which systems a trial is about: drawn at random from all, or one group left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rtc_bayes.collection.hold_out import groups_of
from rtc_bayes.collection.leave_out import groups_to_leave_out
from rtc_bayes.errors import InputError
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials.plan import Plan


@dataclass(frozen=True)
class Draw:
    """The systems of a trial.

    Attributes
    ----------
    everyone : tuple of str
        Those compared, in the pool's order.
    initial : tuple of str
        Those judged for, in the pool's order.
    judging_seed, evaluating_seed, checking_seed : int
        The same for every algorithm: of judging, of the fit and its comparison, and of checks of
        the fit, which must not draw what the fit drew.
    left_out : str or None
        The group of all systems that are not initial; None where no group is left out.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.trials import Collection, Plan, outcomes
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> plan = Plan(("mtc",), n_systems=3, estimand=rb.Estimand(depth=10), budgets=(5,))
    >>> collection = Collection.from_runs(made.runs, made.qrels, plan.estimand)
    >>> (outcome,) = outcomes(collection, plan, seed=1)
    >>> len(outcome.draw.everyone), set(outcome.draw.initial) <= set(outcome.draw.everyone)
    (3, True)
    """

    everyone: tuple[str, ...]
    initial: tuple[str, ...]
    judging_seed: int
    evaluating_seed: int
    checking_seed: int
    left_out: str | None = None


def draw_systems(
    systems: Sequence[str],
    plan: Plan,
    seed: int,
    *,
    groups: Mapping[str, str] | None = None,
    trial: int = 0,
) -> Draw:
    """Pick the systems of a trial at random; where groups are left out, by groups.

    A trial that leaves a group out draws its initial systems from the other groups, and its new
    ones from the group: all of them, or `n_systems` less `n_initial` if the group has more.

    Parameters
    ----------
    systems : sequence of str
        At least as many as the plan asks for.
    plan : Plan
    seed : int
        Of the trial.
    groups : mapping of str to str, optional
        Group of each system, where the plan leaves groups out.
    trial : int, at least 0
        The number of the trial: its group is the next of :func:`groups_left_out`, again and again.

    Raises
    ------
    InputError
        As of :func:`groups_left_out`, where the plan leaves groups out.

    Examples
    --------
    >>> from rtc_bayes.trials import Plan, draw_systems
    >>> draw = draw_systems(tuple("abcdef"), Plan(("mtc",), n_systems=4), seed=1)
    >>> draw.everyone, draw.initial
    (('a', 'b', 'c', 'd'), ('a', 'c'))

    >>> plan = Plan(("mtc",), n_systems=4, leave_out="C")
    >>> groups = dict(zip("abcdef", "AABBCC"))
    >>> draw = draw_systems(tuple("abcdef"), plan, seed=1, groups=groups)
    >>> draw.everyone, draw.initial, draw.left_out
    (('b', 'c', 'e', 'f'), ('b', 'c'), 'C')
    """
    choosing, judging, evaluating, checking = spawn_seeds(seed, 4)
    rng = np.random.default_rng(choosing)
    left_out = None
    if plan.leave_out is None:
        picked = rng.choice(len(systems), size=plan.n_systems, replace=False)
        initial = picked[: plan.n_initial]
    else:
        turns = groups_left_out(systems, plan, groups)
        left_out = turns[trial % len(turns)]
        assert groups is not None
        inside = np.array([group == left_out for group in groups_of(systems, groups)])
        initial = rng.choice(np.flatnonzero(~inside), size=plan.n_initial, replace=False)
        most = min(int(inside.sum()), plan.n_systems - plan.n_initial)
        new = rng.choice(np.flatnonzero(inside), size=most, replace=False)
        picked = np.concatenate([initial, new])
    return Draw(
        everyone=tuple(systems[i] for i in sorted(picked)),
        initial=tuple(systems[i] for i in sorted(initial)),
        judging_seed=judging,
        evaluating_seed=evaluating,
        checking_seed=checking,
        left_out=left_out,
    )


def groups_left_out(
    systems: Sequence[str], plan: Plan, groups: Mapping[str, str] | None
) -> tuple[str, ...]:
    """Return the groups that a plan leaves out, in the order in which trials take their turns.

    The order is random, made from the plan's seed, so that any number of trials uses all groups
    evenly: none twice before every other once.

    Parameters
    ----------
    systems : sequence of str
    plan : Plan
        One that leaves groups out.
    groups : mapping of str to str, or None
        Group of each system.

    Raises
    ------
    InputError
        No groups, a system without one, a single group, a name that no system is of, or a group
        beside which there are fewer than `n_initial` systems.

    Examples
    --------
    >>> from rtc_bayes.trials import Plan
    >>> groups_left_out("abc", Plan(("mtc",), leave_out="B"), {"a": "A", "b": "B", "c": "A"})
    ('B',)
    """
    if groups is None:
        raise InputError(
            "to leave groups out takes the group of every system",
            remedy="give groups= or --groups, as read_groups reads them",
        )
    of_systems = groups_of(systems, groups)
    chosen = sorted(groups_to_leave_out(sorted(set(of_systems)), plan.leave_out or ()))
    for group in chosen:
        others = len(systems) - of_systems.count(group)
        if others < plan.n_initial:
            raise InputError(
                f"beside group {group} there are {others} systems, and a trial judges for "
                f"{plan.n_initial}",
                remedy="give a smaller n_initial (--initial), or leave out other groups",
            )
    order = np.random.default_rng(plan.seed).permutation(len(chosen))
    return tuple(chosen[i] for i in order)
