"""Checks of whole calls: arguments of another type or name, options that a choice does not take."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any

from rtc_bayes.checks import nearest, with_article
from rtc_bayes.errors import InputError

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


def _is_class(value: object) -> bool:
    """Whether something is a class whose objects are made of it: no protocol."""
    return isinstance(value, type) and not getattr(value, "_is_protocol", False)


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
