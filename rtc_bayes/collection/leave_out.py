"""Which groups are left out, one at a time: what `leave_out` says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rtc_bayes.checks import brief_repr
from rtc_bayes.collection.ids import text_id
from rtc_bayes.errors import InputError

ALL_GROUPS = "groups"
"""What `leave_out` says for every group."""


def parse_leave_out(leave_out: object) -> str | tuple[str, ...]:
    """Return "groups" for all groups, or the names of some, each once.

    Parameters
    ----------
    leave_out : "groups", str or iterable of str or int
        A text of several names has commas between. A whole number stands for its digits.

    Raises
    ------
    InputError
        No names, or something that is neither text nor a whole number.

    Examples
    --------
    >>> parse_leave_out("groups"), parse_leave_out("siteA,siteB"), parse_leave_out(["groups"])
    ('groups', ('siteA', 'siteB'), ('groups',))
    >>> parse_leave_out([0, 1])
    ('0', '1')
    """
    if isinstance(leave_out, str) and leave_out == ALL_GROUPS:
        return leave_out
    names = leave_out
    if isinstance(leave_out, str):
        names = [name.strip() for name in leave_out.split(",")]
    if isinstance(names, Iterable):
        try:
            chosen = tuple(dict.fromkeys(text_id(name) for name in names))
        except ValueError:
            chosen = ()
        if chosen:
            return chosen
    raise InputError(
        f"leave_out is {brief_repr(leave_out)}", remedy='give "groups", or names of groups'
    )


def groups_to_leave_out(every: Sequence[str], leave_out: str | Sequence[str]) -> tuple[str, ...]:
    """Return the groups that are left out, one at a time.

    Parameters
    ----------
    every : sequence of str
        The groups that systems are of, each once.
    leave_out : "groups" or sequence of str
        As of :func:`parse_leave_out`.

    Raises
    ------
    InputError
        One group alone, or a name that is none of them.

    Examples
    --------
    >>> groups_to_leave_out(["siteA", "siteB"], "groups")
    ('siteA', 'siteB')
    """
    if len(every) < 2:
        raise InputError("all systems are of one group", remedy="give two groups or more")
    chosen = tuple(every if isinstance(leave_out, str) else leave_out)
    if unknown := [group for group in chosen if group not in every]:
        raise InputError(
            f"no system is of group {unknown[0]}", remedy=f"give some of {', '.join(every[:8])}"
        )
    return chosen
