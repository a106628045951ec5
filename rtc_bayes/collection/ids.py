"""Topic ids, docnos and names of systems are text, whatever form a user holds them in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from numbers import Integral
from typing import Any, TypeGuard, cast

from rtc_bayes.checks import brief_repr, cut
from rtc_bayes.collection.order import natural_order
from rtc_bayes.errors import InputError, warn
from rtc_bayes.store.shown import counted

# in a message
_NAMES = 5


def shown(text: str) -> str:
    """Quote a text in a message, cut where it is long."""
    return repr(cut(text))


def some(names: Iterable[str]) -> str:
    """List names in a message, the first five of them where they are many.

    Examples
    --------
    >>> some("abcdefg"), some("ab")
    ('a, b, c, d, e and 2 more', 'a, b')
    """
    listed = list(names)
    more = f" and {len(listed) - _NAMES} more" if len(listed) > _NAMES else ""
    return ", ".join(listed[:_NAMES]) + more


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
        No mapping; a key that is no id, or two keys of one text, as 1 and "1": names it.
    """
    # what is mixed up of our own types is explained by who calls
    if not isinstance(table, Mapping) and type(table).__module__ == "builtins":
        read = "read a file first (rb.read_runs, rb.read_qrels), or " * isinstance(table, str)
        raise InputError(
            f"a {type(table).__name__} is no table by {what}", remedy=f"{read}give {{{what}: ...}}"
        )
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


def keyed_by_pair[Value](table: Mapping[Any, Value], what: str) -> dict[tuple[str, str], Value]:
    """Return a mapping with its keys, (topic, docno), as text.

    Raises
    ------
    InputError
        A key that is no pair of ids: names it, and says what the values are.

    Examples
    --------
    >>> keyed_by_pair({(7, "d1"): 2}, "true grades")
    {('7', 'd1'): 2}
    """
    keyed: dict[tuple[str, str], Value] = {}
    for key, value in table.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise InputError(
                f"{what} are of {brief_repr(key)}, which is no topic and docno",
                remedy="give {(topic, docno): grade}",
            )
        keyed[text_of(key[0], "topic"), text_of(key[1], "docno")] = value
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


def list_of_ids(argument: str, ids: Iterable[str | int]) -> list[str]:
    """Return ids as :func:`list_of_names` does names; a whole number stands for its digits.

    Raises
    ------
    InputError
        A text, or anything that does not consist of ids.

    Examples
    --------
    >>> list_of_ids("groups", [1, "2"])
    ['1', '2']
    """
    if isinstance(ids, Iterable) and not isinstance(ids, (str, bytes)):
        ids = [
            str(int(id_)) if isinstance(id_, Integral) and not isinstance(id_, bool) else id_
            for id_ in ids
        ]
    return list_of_names(argument, cast("Iterable[str]", ids))


def list_of_topics(topics: Iterable[str | int]) -> list[str]:
    """Return topic ids as a list of texts: see :func:`list_of_ids`.

    Examples
    --------
    >>> list_of_topics([501, "502"])
    ['501', '502']
    """
    return list_of_ids("topics", topics)


def by_topic[Value](values: Iterable[tuple[str, str, Value]]) -> dict[str, dict[str, Value]]:
    """Return a value of each document by topic, then docno.

    Parameters
    ----------
    values : iterable of (str, str, value)
        Topic, docno and value; of a document that comes again the last one counts.

    Examples
    --------
    >>> by_topic([("1", "a", 0), ("2", "b", 1), ("1", "c", 2)])
    {'1': {'a': 0, 'c': 2}, '2': {'b': 1}}
    """
    table: dict[str, dict[str, Value]] = {}
    for topic, docno, value in values:
        table.setdefault(topic, {})[docno] = value
    return table


def is_keyed(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether something holds a value for each key, as a mapping and a pandas Series do.

    Pandas need not be there.

    Examples
    --------
    >>> is_keyed({"bm25": "siteA"}), is_keyed(["bm25"]), is_keyed("bm25")
    (True, False, False)
    """
    return isinstance(value, Mapping) or any(
        base.__name__ == "Series" and base.__module__.partition(".")[0] == "pandas"
        for base in type(value).__mro__
    )


def shared_topics(
    of_runs: Collection[str],
    others: Collection[str],
    path: str | None = None,
    *,
    what: str = "judgments",
    say: bool = True,
) -> tuple[str, ...]:
    """Return the topics that runs and what goes with them share, in natural order.

    Parameters
    ----------
    of_runs, others : collection of str
    path : str, optional
        Of the others; empty where they are of no file.
    what : str
        What the others are, in the plural.
    say : bool
        Whether to warn of topics of the others that no run has.

    Raises
    ------
    InputError
        They share none.

    Examples
    --------
    >>> shared_topics(("1", "2", "10"), ("10", "2"))
    ('2', '10')
    >>> shared_topics(("1", "2"), ("7",), what="labels")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: no topic in common: the runs have 1, 2, the labels 7; give the \
labels of these runs' topics
    """
    shared = natural_order(set(others) & set(of_runs))
    if not shared:
        raise InputError(
            f"no topic in common: the runs have {some(of_runs)}, the {what} "
            f"{some(natural_order(others))}",
            path=path or None,
            remedy=f"give the {what} of these runs' topics",
        )
    if say and (aside := natural_order(set(others) - set(shared))):
        warn(
            f"no run has {len(aside)} of {counted(len(others), 'topic')} of the {what}, which "
            f"{'is' if len(aside) == 1 else 'are'} left aside: {some(aside)}",
        )
    return shared
