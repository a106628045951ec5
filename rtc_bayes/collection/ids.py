"""Topic ids, docnos and names of systems are text, whatever form a user holds them in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from numbers import Integral
from typing import Any

from rtc_bayes.collection.order import natural_order
from rtc_bayes.errors import InputError, brief_repr, warn
from rtc_bayes.store.shown import counted


def shown(text: str, most: int = 60) -> str:
    """Quote a text in a message, cut where it is long."""
    return repr(cut(text, most))


def cut(text: str, most: int = 60) -> str:
    """Cut a text in a message where it is long."""
    return text if len(text) <= most else f"{text[:most]}..."


def some(names: Iterable[str], most: int = 5) -> str:
    """List names in a message, the first of them where they are many.

    Examples
    --------
    >>> some(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def text_id(value: object) -> str:
    """Return an id as text: text as it is, a whole number by its digits.

    Raises
    ------
    ValueError
        Anything else: None, NaN, a float (301.0 is not the topic 301), empty text, text that is
        not Unicode.
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, str) or not value:
        raise ValueError(value)
    if not value.isascii():
        value.encode()
    return value


def text_of(value: object, what: str) -> str:
    """Return an id as text.

    Raises
    ------
    InputError
        It is none: says `what` it should be.
    """
    try:
        return text_id(value)
    except ValueError:
        raise InputError(
            f"{what} {brief_repr(value)} is not an id", remedy="give text or a whole number"
        ) from None


def keyed_by_text[Value](table: Mapping[Any, Value], what: str) -> dict[str, Value]:
    """Return a mapping with its keys as text.

    Raises
    ------
    InputError
        A key that is no id, or two keys of one text, as 1 and "1": names it.
    """
    keyed: dict[str, Value] = {}
    for key, value in table.items():
        text = text_of(key, what)
        if text in keyed:
            raise InputError(
                f"{what} {shown(text)} stands twice, as text and as a number",
                remedy="write every id in one form",
            )
        keyed[text] = value
    return keyed


def list_of_names(argument: str, names: Iterable[str]) -> list[str]:
    """Return names as a list; a text, which would be taken for a list of letters, is refused.

    Parameters
    ----------
    argument : str
        What holds the names.
    names : iterable of str

    Raises
    ------
    InputError
        A text, or anything that does not consist of texts.

    Examples
    --------
    >>> list_of_names("systems", ("one", "two"))
    ['one', 'two']
    """
    several = isinstance(names, Iterable) and not isinstance(names, (str, bytes))
    listed = list(names) if several else []
    if not several or not all(isinstance(name, str) for name in listed):
        raise InputError(
            f"{argument}: {names!r:.80} is not a list of names",
            remedy=f"give a list, as [{names!r:.80}]" if isinstance(names, str) else "give texts",
        )
    return [str(name) for name in listed]


def shared_topics(
    of_runs: Collection[str], judged: Collection[str], path: str, *, say: bool = True
) -> tuple[str, ...]:
    """Return the topics that runs and judgments share, in natural order.

    Parameters
    ----------
    of_runs, judged : collection of str
    path : str
        Of the judgments; empty where they are of no file.
    say : bool
        Whether to warn of judged topics that no run has.

    Raises
    ------
    InputError
        They share none.
    """
    shared = natural_order(set(judged) & set(of_runs))
    if not shared:
        raise InputError(
            "runs and judgments share no topic",
            path=path or None,
            remedy=f"runs have {some(of_runs)}; judgments have {some(natural_order(judged))}",
        )
    if say and (aside := natural_order(set(judged) - set(shared))):
        warn(
            f"no run has {len(aside)} of {counted(len(judged), 'judged topic')}, which "
            f"{'is' if len(aside) == 1 else 'are'} left aside: {some(aside)}",
        )
    return shared
