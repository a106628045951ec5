"""Checks of single values that a user gives, and words for errors about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, Any

from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_MOST = 2**63 - 1
# characters of a text, or of a value, in a message
_LONGEST_TEXT = 60


def refuse_class(value: object, what: str) -> None:
    """Refuse a class where an instance of it is meant.

    Examples
    --------
    >>> refuse_class(dict, "model")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: dict is a class, no model; give an instance: dict()
    """
    if isinstance(value, type):
        name = value.__name__
        raise InputError(f"{name} is a class, no {what}", remedy=f"give an instance: {name}()")


def check_type(value: object, kind: Any, what: str, remedy: str) -> None:
    """Refuse a value that is not of a type.

    Parameters
    ----------
    value : object
    kind : type or union of types
    what : str
        What the value is for, with a verb.
    remedy : str
        What to give instead.

    Raises
    ------
    InputError
        It is of another type.

    Examples
    --------
    >>> check_type("a.txt", dict, "qrels are", "read them: read_qrels(FILE)")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: qrels are a str; read them: read_qrels(FILE)
    """
    if not isinstance(value, kind):
        raise InputError(f"{what} {with_article(type(value).__name__)}", remedy=remedy)


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the word that another was probably meant to be, None where none is near.

    Examples
    --------
    >>> nearest("hierarchcal", ["rtc", "hierarchical"])
    'hierarchical'
    >>> nearest("absent", ["rtc", "hierarchical"])
    """
    from difflib import get_close_matches

    near = get_close_matches(word.lower().replace("-", "_"), list(words), n=1)
    return near[0] if near else None


def instead(word: str, words: Sequence[str], otherwise: str = "use one of ") -> str:
    """Say what to write for a word that is none of those which are known, all of them listed.

    Examples
    --------
    >>> instead("hierarchcal", ["rtc", "hierarchical"]), instead("absent", ["rtc"])
    ('write hierarchical; all: rtc, hierarchical', 'use one of rtc')
    """
    near = nearest(word, words)
    return (f"write {near}; all: " if near else otherwise) + ", ".join(words)


def with_article(noun: str) -> str:
    """Put an article before a noun.

    Examples
    --------
    >>> with_article("Estimand")
    'an Estimand'
    """
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def cut(text: str) -> str:
    """Cut a text in a message where it is long."""
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


def brief_repr(value: object) -> str:
    """Return a value as Python writes it, cut where it is long; its type where it has no text.

    Examples
    --------
    >>> brief_repr([1, 2]), brief_repr(10**5000)
    ('[1, 2]', 'a value of type int')
    >>> len(brief_repr("x" * 100))
    63
    """
    try:
        text = repr(value)
    except Exception:  # of a whole number of thousands of digits, or of a class of the user's
        return f"a value of type {type(value).__name__}"
    return cut(text)


def check_word(
    name: str, value: object, words: Sequence[str], before: Mapping[str, str] | None = None
) -> None:
    """Refuse a value that is none of the words that an argument takes.

    Parameters
    ----------
    name : str
        What the argument is called.
    value : object
    words : sequence of str
        Those it takes.
    before : mapping of str to str, optional
        By a word that it took before, the one to write now.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_word("truth", "complete", ("all", "judged"), {"complete": "all"})
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: truth is 'complete'; write 'all', the word for it now
    >>> check_word("truth", "some", ("all", "judged"))
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: truth is 'some'; give all or judged
    """
    if isinstance(value, str) and value in words:
        return
    if isinstance(value, str) and before and value in before:
        remedy = f"write {before[value]!r}, the word for it now"
    else:
        *most, last = words
        remedy = f"give {', '.join(most)} or {last}"
    raise InputError(f"{name} is {brief_repr(value)}", remedy=remedy)


def whole_number(name: str, value: object, *, least: int = 0) -> int:
    """Return an argument that counts something as an integer.

    Parameters
    ----------
    name : str
        What the argument is called.
    value : object
        An integer of Python or NumPy; a float or a bool is refused, also one like 5.0.
    least : int, default 0
        The smallest value allowed.

    Raises
    ------
    InputError
        Not an integer, one below `least`, or one that 64 bits do not hold.

    Examples
    --------
    >>> whole_number("draws", 200, least=1)
    200
    >>> whole_number("draws", 0.5, least=1)
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: draws is 0.5; give a whole number of at least 1
    """
    try:
        number = None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or not least <= number <= _MOST:
        most = "" if number is None or number < least else f", at most {_MOST}"
        remedy = f"give a whole number of at least {least}{most}"
        raise InputError(f"{name} is {brief_repr(value)}", remedy=remedy)
    return number


def real_number(
    name: str, value: object, low: float, high: float, remedy: str, *, ends: str = "[]"
) -> float:
    """Return an argument that measures something as a float.

    Parameters
    ----------
    name : str
        What the argument is called.
    value : object
        A number of Python or NumPy; a bool is refused.
    low, high : float
        Between which it must be.
    remedy : str
        What to give instead.
    ends : {"[]", "()", "(]", "[)"}
        Whether `low` and `high` are themselves allowed, as intervals are written.

    Raises
    ------
    InputError
        Not a number, or one out of the interval.

    Examples
    --------
    >>> real_number("share", 1, 0.0, 1.0, "give one of at most 1")
    1.0
    >>> real_number("share", True, 0.0, 1.0, "give one of at most 1")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: share is True; give one of at most 1
    """
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    try:
        number = float(value) if is_real else math.nan  # type: ignore[arg-type]
    except OverflowError:  # a whole number of hundreds of digits
        number = math.nan
    at_open_end = (number == low and ends[0] == "(") or (number == high and ends[1] == ")")
    if not low <= number <= high or at_open_end:
        shown = brief_repr(value) if math.isnan(number) else f"{value}"
        raise InputError(f"{name} is {shown}", remedy=remedy)
    return number


def as_numbers(values: ArrayLike, what: str, remedy: str) -> NDArray[np.float64]:
    """Return numbers as an array, which is that of the caller where it is one of floats already.

    Raises
    ------
    InputError
        Some are no numbers.

    Examples
    --------
    >>> as_numbers([1, 0.5], "scores are", "give numbers")
    array([1. , 0.5])
    >>> as_numbers(["high"], "scores are", "give numbers")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: scores are ['high']; give numbers
    """
    import numpy as np

    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} {values!r:.60}", remedy=remedy) from None


def whole_fields(instance: object, **least: int) -> None:
    """Make the fields of a frozen dataclass that count something integers; None stays.

    Parameters
    ----------
    instance : dataclass
    **least : int
        By the name of the field, the smallest value allowed.

    Raises
    ------
    InputError
        As of :func:`whole_number`.

    Examples
    --------
    >>> from rtc_bayes.relevance import Sampling
    >>> Sampling(draws=0)
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: draws is 0; give a whole number of at least 1
    """
    for name, lowest in least.items():
        value = getattr(instance, name)
        if value is not None:
            object.__setattr__(instance, name, whole_number(name, value, least=lowest))
