"""Errors that tell a user what is wrong, where, and what to do about it."""

from __future__ import annotations

import functools
import inspect
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from operator import index
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_MOST = 2**63 - 1
# characters of a text, or of a value, in a message
_LONGEST_TEXT = 60
_PACKAGE = os.path.dirname(__file__) + os.sep


class InputError(ValueError):
    """Bad input: a file, an option or an argument that cannot be used.

    Parameters
    ----------
    message : str
        What is wrong.
    path : str or Path, optional
        The file it is in.
    line : int, optional
        The line of that file, counted from 1.
    remedy : str, optional
        What to do about it.

    Examples
    --------
    >>> print(InputError("3 fields", path="a.run", line=7, remedy="correct the line"))
    a.run:7: 3 fields; correct the line
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        self.remedy = remedy
        where = ":".join(str(part) for part in (self.path, line) if part is not None)
        text = f"{where}: {message}" if where else message
        super().__init__(f"{text}; {remedy}" if remedy else text)

    def __reduce__(self) -> tuple[object, ...]:
        """Let the error cross process borders with its parts."""
        return _rebuild, (type(self), self.message, self.path, self.line, self.remedy)


# what a slip in code of one's own raises
_MISTAKES = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError),
    *(LookupError, NameError, TypeError, ValueError),
)


@contextmanager
def own_code(
    own: object, what: str, remedy: str, *, passing: type[Exception] = InputError
) -> Iterator[None]:
    """Say where a model's or a judge's own code fails.

    Parameters
    ----------
    own : object
        The instance, or its class where there is none yet.
    what : str
        What of it is called: "graph(pool, judgments)".
    remedy : str
    passing : exception
        One that is left as it is, beside InputError.

    Examples
    --------
    >>> with own_code(object(), "choose(1)", "correct it"):
    ...     {}["d9"]
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: choose(1) of object fails: KeyError: 'd9'; correct it
    """
    try:
        yield
    except (InputError, passing):
        raise
    except _MISTAKES as error:
        cls = own if isinstance(own, type) else type(own)
        # None of one that is typed in
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno for frame in reversed(frames) if frame.filename == file), None)
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise InputError(
            f"{what} of {cls.__name__} fails: {said}",
            path=file,
            line=line,
            remedy=remedy,
        ) from error


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


class FitError(RuntimeError):
    """A fit that must not be used: it did not converge or gave values that are not finite.

    Examples
    --------
    >>> raise FitError("hierarchical:map did not converge")
    Traceback (most recent call last):
    rtc_bayes.errors.FitError: hierarchical:map did not converge
    """


class UnfinishedError(RuntimeError):
    """Work that could not be finished here and now; what a study had finished is kept.

    Examples
    --------
    >>> raise UnfinishedError("memory ran out; 3 of 10 trials are stored")
    Traceback (most recent call last):
    rtc_bayes.errors.UnfinishedError: memory ran out; 3 of 10 trials are stored
    """


class FitWarning(UserWarning):
    """A fit that may be used with care: the message says what was seen.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("error", FitWarning)  # to stop at every such fit
    """


class SharedErrorsWarning(FitWarning):
    """Systems that may be made from the labels beside judgments: the message names them.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", SharedErrorsWarning)  # if it is known
    """


class TurnedLabelsWarning(FitWarning):
    """Judges whose labels go against people's judgments, and so count for nothing.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", TurnedLabelsWarning)  # if it is known
    """


class ByLotWarning(FitWarning):
    """Judges whose labels go with the systems' ranks hardly more than by lot, and count less.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", ByLotWarning)  # if it is known
    """


class CollectionWarning(UserWarning):
    """Something ordinary but worth knowing: a run without a topic, judgments without runs.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", CollectionWarning)  # if it is known
    """


class RelevantAloneWarning(CollectionWarning):
    """Judged documents are all, or nearly all, relevant: nothing tells how rare these are.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", RelevantAloneWarning)  # if it is known
    """


class UnlabelledWarning(CollectionWarning):
    """Documents without a label beside others that have some: what they are taken for.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", UnlabelledWarning)  # if it is known
    """


def warn(message: str, category: type[Warning] = CollectionWarning) -> None:
    """Warn at the line that called the package, or its models.

    Parameters
    ----------
    message : str
        What is worth knowing, and what to do about it.
    category : type of Warning, optional

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("topic 3 has no run")
    >>> caught[0].filename == __file__
    False
    """
    models = getattr(sys.modules.get("rtc_bayes_models"), "__path__", ())
    warnings.warn(
        message, category, skip_file_prefixes=(_PACKAGE, *(f"{path}{os.sep}" for path in models))
    )


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


#: How to come by an object of a class, for who gave another.
_SOURCES = {
    "Pool": "pool the runs: Estimand().pool(runs), or to compare them by judgments "
    "Estimand().pool(runs, qrels)",
    "Runs": "read them: read_runs(FILES), or of a mapping or a table",
    "Qrels": "read them, read_qrels(FILE), also of a mapping or a table, or write judgments out: "
    "judgments.to_qrels()",
    "Judgments": "line them up with a pool: Judgments.from_qrels(pool, qrels)",
    "Labels": "read them: read_labels(FILES)",
    "Prels": "read them: read_prels(FILE)",
    "Probabilities": "read them, read_erels(FILE), or take an aggregate.probabilities()",
    "Comparison": "compare: compare(pool, fit(pool, judgments))",
    "Fit": "fit a model: fit(pool, judgments)",
    "ScoreMatrix": "score the runs: ScoreMatrix.from_qrels(runs, qrels, measure)",
    "HoldOutDesign": "make one: hold_out(groups, topics)",
    "Workers": "say how many: Workers(jobs=2)",
}
_PLAIN: dict[str, Any] = {
    "Mapping": Mapping,
    "Iterable": Iterable,
    "Sequence": Collection,  # arrays are as good
    "str": str,
    "int": Integral,
    "float": Real,
    "bool": bool,
    "Path": PurePath,
    "None": type(None),
}


def explains_types[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Name the argument of another type, or of no such name, where a call fails because of one.

    A call that succeeds costs nothing more. An argument is of another type if its annotation names
    classes of this package alone, mappings, sequences or what Python has, and it is none of them.

    Raises
    ------
    InputError
        In place of the error that the call failed with.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.evaluate("runs.txt", rb.Qrels({"1": {"d1": 1}}))
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: runs are a str, ...; read them: read_runs(FILES), or ...
    >>> rb.evaluate(runs={}, qrel={})
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: evaluate takes no qrel; write qrels
    """

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except InputError:
            raise
        except (AttributeError, TypeError, ValueError) as error:
            if (wrong := _wrong_type(function, args, kwargs)) is not None:
                raise wrong from error
            raise

    return called


def _wrong_type(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
) -> InputError | None:
    """Say which argument is of another type than its annotation, if one is."""
    package = sys.modules[__name__.partition(".")[0]]
    signature = inspect.signature(function)
    try:
        arguments = signature.bind(*args, **kwargs).arguments
    except TypeError:  # Python says well what is missing or too much
        return _wrong_name(function, kwargs)
    for name, value in arguments.items():
        parts = str(signature.parameters[name].annotation).split(" | ")
        kinds = [part.split("[")[0].removeprefix("pd.") for part in parts]
        classes = [_PLAIN.get(kind, getattr(package, kind, None)) for kind in kinds]
        of_class = (
            kind == "DataFrame" or _is_class(one) for kind, one in zip(kinds, classes, strict=True)
        )
        bases = {base.__name__ for base in type(value).__mro__}
        plain = tuple(_PLAIN[kind] for kind in kinds if kind in _PLAIN)
        if not all(of_class) or bases & {*kinds} or isinstance(value, plain):
            continue
        sources = [_SOURCES[kind] for kind in kinds if kind in _SOURCES]
        return InputError(
            f"{name} {'are' if name.endswith('s') else 'is'} "
            f"{with_article(type(value).__name__)}, not "
            f"{' or '.join(with_article(kind) for kind in kinds if kind != 'None')}",
            remedy=sources[0] if sources else None,
        )
    return None


def _wrong_name(function: Callable[..., object], kwargs: Iterable[str]) -> InputError | None:
    """Say which argument was meant by a name that a function does not take."""
    parameters = inspect.signature(function).parameters.values()
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters)
    names = [each.name for each in parameters if each.kind is not each.VAR_POSITIONAL]
    for word in kwargs:
        if word not in names and not takes_any:
            meant = nearest(word, names) or f"one of {', '.join(names)}"
            return InputError(f"{function.__name__} takes no {word}", remedy=f"write {meant}")
    return None


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


def _is_class(value: object) -> bool:
    """Whether something is a class whose objects are made of it: no protocol."""
    return isinstance(value, type) and not getattr(value, "_is_protocol", False)


def with_article(noun: str) -> str:
    """Put an article before a noun.

    Examples
    --------
    >>> with_article("Estimand")
    'an Estimand'
    """
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def moved[**P, T](**remedies: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Answer keywords that a function or a class no longer takes by what to write instead.

    One that is nearly the name of a parameter is answered by that. A class answers attributes of
    these names likewise.

    Parameters
    ----------
    **remedies : str
        By the keyword of before, what to write now.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        target: Any = function
        a_class = isinstance(function, type)
        called = target.__init__ if a_class else target

        @functools.wraps(called)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            for word in kwargs:
                if word in remedies:
                    raise InputError(f"{target.__name__} takes no {word}", remedy=remedies[word])
            try:
                result: T = called(*args, **kwargs)
            except TypeError as error:
                if (wrong := _wrong_name(target, kwargs)) is not None:
                    raise wrong from error
                raise
            return result

        def absent(self: object, name: str) -> Any:
            remedy = f"; {remedies[name]}" if name in remedies else ""
            raise AttributeError(
                f"{type(self).__name__} has no {name}{remedy}", name=name, obj=self
            )

        if not a_class:
            return checked
        target.__init__ = checked
        target.__getattr__ = absent
        return function

    return decorate


@dataclass(frozen=True)
class Above:
    """The numbers above a bound, as choices of :func:`options_of`; it holds no other number.

    Examples
    --------
    >>> 2 in Above(1), 1 in Above(1)
    (True, False)
    """

    bound: float

    def __contains__(self, value: object) -> bool:
        return not (isinstance(value, Real) and value <= self.bound)


def options_of[**P, T](
    choice: str,
    unless_named: Callable[[Mapping[str, Any]], str] | None = None,
    **takers: Sequence[str] | Above,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Refuse options that what was chosen does not take, which would be dropped in silence.

    An option counts as given where its value is not its default.

    Parameters
    ----------
    choice : str
        The parameter that chooses: a solver, a strategy, a number of stages. None: the function
        chooses by what is given.
    unless_named : callable, optional
        Of the arguments given, by name: what the function chooses, where the choice is None.
    **takers : sequence of str, or Above
        By the name of an option, the choices that take it: some of them, or the numbers above one.

    Examples
    --------
    >>> @options_of("how", share=["all"])
    ... def choose(how="one", share=0.2):
    ...     return how
    >>> choose("all", share=0.5)
    'all'
    >>> choose(share=0.5)
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: how one takes no share; leave it out, or give how="all" (--how all)
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)
        defaults = {name: signature.parameters[name].default for name in (choice, *takers)}

        # a function may choose by arguments that must all be there
        bind = signature.bind_partial if unless_named is None else signature.bind

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                bound = bind(*args, **kwargs).arguments
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            values = defaults | bound
            chosen = values[choice]
            if chosen is None and unless_named is not None:
                chosen = unless_named(bound)
            for word, by in takers.items():
                value = values[word]
                is_set = value is not defaults[word] and value != defaults[word]
                if is_set and chosen is not None and chosen not in by:
                    raise InputError(
                        f"{choice} {chosen} takes no {word}",
                        remedy=f"leave it out, or give {_written(choice, by)}",
                    )
            return function(*args, **kwargs)

        return checked

    return decorate


def _written(choice: str, by: Sequence[str] | Above) -> str:
    """Say how the choices that take an option are written, in Python and on the command line."""
    option = f"--{choice.replace('_', '-')}"
    if isinstance(by, Above):
        return f"{choice} ({option}) above {by.bound:g}"
    quoted = " or ".join(f'"{each}"' for each in by)
    return f"{choice}={quoted} ({option} {' or '.join(by)})"


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


def _rebuild(
    kind: type[InputError], message: str, path: str | None, line: int | None, remedy: str | None
) -> InputError:
    return kind(message, path=path, line=line, remedy=remedy)
