"""Options that belong together are one value: a group of them makes one parameter of a command."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, get_type_hints


@dataclass(frozen=True)
class Group:
    """The options that make a value.

    Attributes
    ----------
    make : callable
        Makes the value of the options, given by name.
    options : mapping of str to object
        The type of each option, with what typer says of it.
    defaults : mapping of str to object
        By name.
    """

    make: Callable[..., object]
    options: Mapping[str, Any]
    defaults: Mapping[str, object]


def group_of(made: type) -> Group:
    """Make the group of a dataclass: its fields say the options, one each or a group of them."""
    hints = get_type_hints(made, include_extras=True)
    inner = {name: group for name, hint in hints.items() if (group := _group_in(hint))}
    options: dict[str, Any] = {}
    defaults: dict[str, object] = {}
    for field in fields(made):
        group = inner.get(field.name)
        options |= group.options if group else {field.name: hints[field.name]}
        defaults |= group.defaults if group else {field.name: field.default}
    return Group(lambda **words: made(**_made(inner, words)), options, defaults)


def _group_in(annotation: Any) -> Group | None:
    parts = getattr(annotation, "__metadata__", ())
    return next((part for part in parts if isinstance(part, Group)), None)


def _made(groups: Mapping[str, Group], words: dict[str, Any]) -> dict[str, Any]:
    """Put the values of groups in place of the options that make them."""
    for name, group in groups.items():
        words[name] = group.make(**{word: words.pop(word) for word in group.options})
    return words


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of its groups instead of the parameters that they make.

    A parameter, by keyword only, is of a group where its annotation says so:
    ``Annotated[Estimand, Group(...)]``.
    """
    groups: dict[str, Group] = {}
    parameters = []
    named = inspect.Parameter.KEYWORD_ONLY
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = _group_in(parameter.annotation)
        if group is None:
            parameters.append(parameter.replace(kind=named))
            continue
        groups[parameter.name] = group
        parameters += [
            inspect.Parameter(name, named, annotation=option, default=group.defaults[name])
            for name, option in group.options.items()
        ]

    @functools.wraps(command)
    def run(**words: Any) -> None:
        command(**_made(groups, words))

    # typer reads these, not those of what is wrapped
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    del run.__wrapped__
    return run
