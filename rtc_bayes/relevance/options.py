"""A model's options: its dataclass fields, read from text by their types and checked.

A field is bool (``yes`` or ``no``), int, float, str, a Literal of strings and integers, or a tuple
of these (parts joined with ``:``, as in ``prior=1:1``; a comma would end the option inside the
brackets of ``rtc[prior=1:1,folds=5]``, and is understood where there are none; a tuple of no parts
is ``none``). ``Annotated`` says in words what such a value means, and which of its numbers are
above 0: :data:`MeanSd`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from inspect import formatannotation
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from rtc_bayes.checks import nearest
from rtc_bayes.errors import InputError, own_code
from rtc_bayes.store import digest_file


@dataclass(frozen=True)
class Positive:
    """Beside a type of several numbers: those at these places are above 0."""

    places: tuple[int, ...]


MeanSd = Annotated[
    tuple[float, float], "the mean:sd of a normal prior, the sd positive", Positive((1,))
]
"""An option of two numbers: the mean and standard deviation of a normal prior."""
MedianSpread = Annotated[tuple[float, float], "the median:spread of a log-normal prior"]
"""An option of two numbers: a log-normal prior's median and the sd of its logarithm."""
BetaPrior = Annotated[
    tuple[float, float], "the a:b of a beta prior, both positive", Positive((0, 1))
]
"""An option of two numbers: the parameters of a beta prior."""
InputFile = Annotated[str, "the path of a file"]
"""An option that names a file which the model reads; its content belongs to what was fitted."""

_NOT_FINITE = re.compile(r"\b(nan|inf|infinity)\b", re.IGNORECASE)
_TEXTS = tuple[str, ...]
_BOOLEANS = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class Option:
    """One option of a model.

    Attributes
    ----------
    name : str
    default : str
        As one would type it; empty if the option must be given.
    accepts : str
        What it takes, in words.

    Examples
    --------
    >>> print(Option("folds", "0", "0 | 5"))
    folds=0 (0 | 5)
    """

    name: str
    default: str
    accepts: str

    def __str__(self) -> str:
        return f"{self.name}={self.default} ({self.accepts})"


def describe_options(model: type, path: str | Path | None = None) -> tuple[Option, ...]:
    """List a model's options in the order of its fields.

    Parameters
    ----------
    model : type
    path : str or Path, optional
        The file that it is in.

    Raises
    ------
    InputError
        A field of a type that no text can be read as.
    """
    hints = get_type_hints(model, include_extras=True)
    described = []
    for field in fields(model):
        try:
            accepts = _accepts(hints[field.name])
        except InputError as error:
            raise InputError(
                f"option {field.name}: {error.message}", path=path, remedy=error.remedy
            ) from None
        default = "" if field.default is MISSING else option_text(field.default)
        described.append(Option(field.name, default, accepts))
    return tuple(described)


def option_text(value: object) -> str:
    """Return an option's value as one would type it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ":".join(map(option_text, value)) or "none"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)


def readable_text(name: str, value: object) -> str:
    """Return an option's value as text, from which the same value is read.

    Parameters
    ----------
    name : str
        The option.
    value : object

    Raises
    ------
    InputError
        A tuple with a text that cannot be told from others: with ``:`` or ``,`` in it, with a blank
        or a parenthesis at its end, or ``none`` alone.

    Examples
    --------
    >>> readable_text("prior", (1.0, 2.5))
    '1:2.5'
    """
    text = option_text(value)
    if isinstance(value, tuple) and _from_text(_TEXTS, text) != tuple(map(option_text, value)):
        raise InputError(
            f"option {name} is {value!r}, which would not be read so from {text!r}",
            remedy="give texts that are not 'none', without ':' and ',', and without blanks and "
            "parentheses at their ends",
        )
    return text


def option_values(model: Any) -> dict[str, object]:
    """Return a model's options by name."""
    return {field.name: getattr(model, field.name) for field in fields(model)}


def files_read(model: Any) -> dict[str, str]:
    """Return the path of every file that options of a model name, to its digest.

    Parameters
    ----------
    model : RelevanceModel

    Returns
    -------
    dict of str to str
        Of options that are an :data:`InputFile`; a path where there is no file is left out.
    """
    hints = get_type_hints(type(model), include_extras=True)
    named = (getattr(model, f.name) for f in fields(model) if hints[f.name] == InputFile)
    return {path: digest_file(path) for path in named if Path(path).is_file()}


def with_options(model: type, options: Mapping[str, object]) -> Any:
    """Make a model from its class and options, given as text or as values.

    The option ``preset`` names a set of options (the class attribute ``presets``), over which
    the others prevail.

    Parameters
    ----------
    model : type
        A frozen dataclass.
    options : mapping of str to object

    Raises
    ------
    InputError
        An option that the model does not have, or a value that it does not take.
    """
    own = {field.name for field in fields(model)}
    presets: Mapping[str, Mapping[str, object]] = getattr(model, "presets", {})
    chosen: dict[str, object] = {}
    if "preset" in options and presets and "preset" not in own:
        preset = str(options["preset"])
        if preset not in presets:
            raise InputError(
                f"{_called(model)} has no preset {preset!r}",
                remedy=f"its presets are {', '.join(presets)}",
            )
        chosen.update(presets[preset])
        options = {name: value for name, value in options.items() if name != "preset"}
    hints = get_type_hints(model, include_extras=True)
    for name, value in options.items():
        if name not in own:
            raise InputError(
                f"{_called(model)} has no option {name!r}", remedy=_instead(model, name)
            )
        chosen[name] = _read(hints[name], value, model, name)
    missing = sorted(
        field.name
        for field in fields(model)
        if field.default is MISSING and field.default_factory is MISSING
        if field.name not in chosen
    )
    if missing:
        raise InputError(
            f"{_called(model)} needs the option {missing[0]!r}",
            remedy=f"give {missing[0]}={_accepts(hints[missing[0]])}",
        )
    shown = "docs/judging.md shows a judge" if _judges(model) else "docs/models.md shows a model"
    with own_code(model, "__post_init__()", f"correct it; {shown}"):
        return model(**chosen)


def check_options(model: Any) -> None:
    """Check every option of a model against its field's type: for ``__post_init__``.

    Raises
    ------
    InputError
        A value that the field does not take.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Constant:
    ...     p: float = 0.5
    ...     name = "constant"
    ...
    ...     def __post_init__(self):
    ...         check_options(self)
    ...         require(0 <= self.p <= 1, self, "p", "a probability")
    >>> Constant(p="half")
    Traceback (most recent call last):
        ...
    rtc_bayes.errors.InputError: option p of model constant is 'half'; give a number
    """
    hints = get_type_hints(type(model), include_extras=True)
    for field in fields(model):
        value = getattr(model, field.name)
        if isinstance(value, np.generic):
            object.__setattr__(model, field.name, value.item())
        if not _fits(hints[field.name], getattr(model, field.name)):
            require(False, model, field.name, _accepts(hints[field.name]))


def require(holds: bool, model: Any, option: str, accepts: str) -> None:
    """Refuse an option's value unless a condition holds.

    Parameters
    ----------
    holds : bool
    model : RelevanceModel
    option : str
        The field's name.
    accepts : str
        What it takes, in words.

    Raises
    ------
    InputError

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Constant:
    ...     p: float = 0.5
    ...     name = "constant"
    ...
    ...     def __post_init__(self):
    ...         check_options(self)
    ...         require(0 <= self.p <= 1, self, "p", "a probability")
    >>> Constant(p=2)
    Traceback (most recent call last):
        ...
    rtc_bayes.errors.InputError: option p of model constant is '2'; give a probability
    """
    if not holds:
        raise _refusal(model, option, getattr(model, option), accepts)


def _called(model: Any) -> str:
    """Name a model or a judge, with its kind."""
    return f"{'judge' if _judges(model) else 'model'} {model.name}"


def _judges(model: Any) -> bool:
    return hasattr(model, "start")


def _instead(model: Any, name: str) -> str:
    """Say which option may have been meant, and which there are."""
    options = {option.name: str(option) for option in describe_options(model)}
    if presets := getattr(model, "presets", {}):
        options["preset"] = f"preset ({' | '.join(presets)})"
    if not options:
        return "leave it out: there are none"
    near = nearest(name, options)
    written = f"write {options[near]}; all: " if near else "its options are "
    return written + ", ".join(options)


def _refusal(model: Any, option: str, value: object, accepts: str) -> InputError:
    text = f"option {option} of {_called(model)} is {option_text(value)!r:.80}"
    return InputError(text, remedy=f"give {accepts}")


def _read(kind: Any, value: object, model: type, option: str) -> object:
    """Read a value given as text; check one given as itself."""
    if isinstance(value, str) and not value.strip() and value != getattr(model, option, None):
        text = f"option {option} of {_called(model)} has no value"
        raise InputError(text, remedy=f"give {_accepts(kind)}")
    try:
        read = _from_text(kind, value) if isinstance(value, str) else value
    except ValueError:
        read = None
    if isinstance(read, list):
        read = tuple(read)
    if isinstance(read, np.generic):
        read = read.item()
    if not _fits(kind, read):
        accepts, plain = _accepts(kind), _plain(kind)
        if float in (plain, *get_args(plain)) and _NOT_FINITE.search(option_text(value)):
            accepts += ", in finite numbers" if plain is not kind else ", finite"
        raise _refusal(model, option, value, accepts)
    return read


def _from_text(kind: Any, text: str) -> object:
    kind = _plain(kind)
    if get_origin(kind) is tuple:
        parts = [part for part in re.split(r"[:,]", text.strip("()")) if part.strip()]
        kinds = get_args(kind)
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            parts = [] if parts == ["none"] else parts
            kinds = (kinds[0],) * len(parts)
        return tuple(_from_text(k, part) for k, part in zip(kinds, parts, strict=True))
    text = text.strip()
    if get_origin(kind) is Literal:
        return {str(choice): choice for choice in get_args(kind)}.get(text)
    if kind is bool:
        return _BOOLEANS.get(text.lower())
    if kind in (int, float) and not (text.isascii() and "_" not in text):
        raise ValueError("Python reads 1_0 as 10")
    return kind(text)


def _plain(kind: Any) -> Any:
    """Return a type without the words that say what it means."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _fits(kind: Any, value: Any) -> bool:
    if get_origin(kind) is Annotated:
        plain, *beside = get_args(kind)
        places = [place for each in beside if isinstance(each, Positive) for place in each.places]
        return _fits(plain, value) and all(value[place] > 0 for place in places)
    if get_origin(kind) is Literal:
        return any(value == choice and type(value) is type(choice) for choice in get_args(kind))
    if get_origin(kind) is tuple:
        kinds = get_args(kind)
        if not isinstance(value, tuple):
            return False
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            kinds = (kinds[0],) * len(value)
        return len(kinds) == len(value) and all(map(_fits, kinds, value))
    if kind is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and math.isfinite(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


def _accepts(kind: Any) -> str:
    """Say what a type takes, in its own words if it has some."""
    if get_origin(kind) is Annotated:
        meanings = [text for text in get_args(kind)[1:] if isinstance(text, str)]
        return ", ".join(meanings) or _accepts(_plain(kind))
    if get_origin(kind) is Literal:
        return " | ".join(map(str, get_args(kind)))
    if get_origin(kind) is tuple:
        kinds = get_args(kind)
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            return f"none, or values joined with ':', each {_accepts(kinds[0])}"
        return ":".join(map(_accepts, kinds))
    words = {bool: "yes | no", int: "an integer", float: "a number", str: "a text"}
    if kind not in words:
        raise InputError(
            f"an option of type {formatannotation(kind)} cannot be read from text",
            remedy="use bool, int, float, str, Literal or a tuple of these",
        )
    return words[kind]
