"""The text that names a model, its options and a method: ``rtc[cell_weight=.1,folds=5]:map``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rtc_bayes.errors import InputError
from rtc_bayes.relevance.fitters import resolve_method
from rtc_bayes.relevance.interface import RelevanceModel
from rtc_bayes.relevance.options import (
    describe_options,
    files_read,
    option_text,
    option_values,
    readable_text,
    with_options,
)
from rtc_bayes.relevance.registry import (
    check_model,
    load_model,
    module_digest,
    name_of,
    source_digest,
)
from rtc_bayes.store import digest_file
from rtc_bayes.store.plugins import is_file

_AFTER_NAME = r"(\[(?P<options>[^\[\]]*)\])?(:(?P<method>[A-Za-z_]\w*))?"
_GRAMMAR = re.compile(r"(?P<name>[^\[\]:]+)" + _AFTER_NAME)
# the path of a file may hold what has a meaning elsewhere: the longest that can be read is taken
_FILE_GRAMMAR = re.compile(r"(?P<name>.*\.py)" + _AFTER_NAME, re.DOTALL)
_FORM = "write NAME or FILE.py, then [option=value,...] and :method if wanted"


@dataclass(frozen=True)
class ModelSpec:
    """A model as it was named, or given. It can be sent to another process, which builds the same.

    Attributes
    ----------
    text : str
        As typed, or as one would type what :meth:`parse` was given.
    name : str
        An installed model, or the path of a file; of a model given itself, its own name.
    options : mapping of str to str
        As typed.
    method : str or None
        None for the model's default.
    digest : str or None
        SHA-256 of a model file, or of the source of a model given itself.
    instance : RelevanceModel or None
        A model given itself, whose class no name finds.

    Examples
    --------
    >>> spec = ModelSpec.parse("rtc[folds=5]:map")
    >>> spec.name, spec.options, spec.method
    ('rtc', {'folds': '5'}, 'map')
    >>> spec.build().folds
    5
    """

    text: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    method: str | None = None
    digest: str | None = None
    instance: RelevanceModel | None = field(default=None, hash=False)

    @classmethod
    def parse(
        cls,
        model: str | Path | RelevanceModel | ModelSpec,
        method: str | None = None,
        options: Mapping[str, object] | None = None,
    ) -> ModelSpec:
        """Read a model's name, or take the model itself, with a method and options beside it.

        Parameters
        ----------
        model : str, Path, RelevanceModel or ModelSpec
            ``NAME[k=v,...]:method`` or ``FILE.py[k=v,...]:method``; brackets and method may go.
            A value with parts joins them with ``:``, as in ``rtc[prior=1:1]``. The path of a
            file may hold any character, also ``[``, ``]``, ``:``, commas and spaces. Or an
            instance of a model's class.
        method : str, optional
            By default the one that `model` names, if any.
        options : mapping of str to object, optional
            By name, as values or as text; they prevail over those of `model`.

        Raises
        ------
        InputError
            Something that is no model, another form, an option given twice, a method beside
            another that `model` names, a file that does not exist. Whether a model that is named
            and its options exist, :meth:`build` says.

        Examples
        --------
        >>> ModelSpec.parse("rtc[folds=5]", "map", {"prior": (1, 2)})
        ModelSpec('rtc[folds=5,prior=1:2]:map')
        """
        spec = _spec(model)
        if method is not None and spec.method not in (None, method):
            raise InputError(
                f"two methods, {method} and {spec.method} in {spec.text!r}",
                remedy="give one of them",
            )
        if method is None and not options:
            return spec
        instance, added = spec.instance, dict(options or {})
        if instance is not None and added:
            return cls.parse(with_options(type(instance), option_values(instance) | added), method)
        twice = [
            name
            for name, value in added.items()
            if name in spec.options and not _is_same(spec, name, value)
        ]
        if twice:
            name = twice[0]
            raise InputError(
                f"two values of {name}, {spec.options[name]} in {spec.text!r} and "
                f"{option_text(added[name])} beside it",
                remedy="give one of them",
            )
        changed = {**spec.options}
        changed |= {name: readable_text(name, value) for name, value in added.items()}
        method = method or spec.method
        text = _text(spec.name, changed, method)
        return replace(spec, text=text, options=changed, method=method)

    def without(self, options: Collection[str]) -> ModelSpec:
        """Return the same, some options aside.

        Parameters
        ----------
        options : collection of str
            Names; those that are not given here do not matter.

        Examples
        --------
        >>> ModelSpec.parse("rtc[folds=5,floor=1]:map").without(["floor"])
        ModelSpec('rtc[folds=5]:map')
        """
        kept = {name: value for name, value in self.options.items() if name not in options}
        return replace(self, text=_text(self.name, kept, self.method), options=kept)

    @property
    def resolved_method(self) -> str:
        """The method, the model's default where none is named; errors as of :meth:`build`."""
        return resolve_method(self.build(), self.method)

    @property
    def files(self) -> dict[str, str]:
        """The files that a fit by the model reads, by path: of the model, and of its options.

        Returns
        -------
        dict of str to str
            The digest of each.
        """
        of_model = {self.name: self.digest} if self.digest and self.instance is None else {}
        return of_model | files_read(self.build())

    @property
    def content(self) -> dict[str, str]:
        """What decides the model's numbers: digests of its source, and of :attr:`files`."""
        return {self.name: self.digest or module_digest(type(self.build()))} | self.files

    def build(self) -> RelevanceModel:
        """Make the model, with its options read by their types.

        Raises
        ------
        InputError
            No such model, option or method, a value that an option does not take, or a file
            that changed since the text was read.
        """
        model = self.instance or load_model(self.name, self.options, digest=self.digest)
        resolve_method(model, self.method)
        return model

    def __repr__(self) -> str:
        return f"ModelSpec({self.text!r})"


def _is_same(spec: ModelSpec, name: str, value: object) -> bool:
    """Whether an option's text and a value are read alike by the model."""
    if spec.options[name] == option_text(value):
        return True
    one, other = (
        getattr(load_model(spec.name, {name: text}, digest=spec.digest), name, None)
        for text in (spec.options[name], option_text(value))
    )
    return one is not None and one == other


def _spec(model: object) -> ModelSpec:
    """Tell text from a model."""
    if isinstance(model, ModelSpec):
        return model
    if isinstance(model, str | Path):
        return _read(str(model))
    return _take(model)


def _read(text: str) -> ModelSpec:
    """Read NAME[k=v,...]:method."""
    match = _match(text)
    if match is None:
        raise InputError(f"cannot read the model {text!r}", remedy=_FORM)
    name = match["name"]
    options: dict[str, str] = {}
    for part in (match["options"] or "").split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not part.strip() and not match["options"]:
            continue
        if not (key and equals):
            raise InputError(f"cannot read the option {part!r} of {text!r}", remedy=_FORM)
        if key in options:
            both = f"{options[key]!r} and {value!r}"
            raise InputError(
                f"option {key} of {name} is given twice, {both}", remedy="give it once"
            )
        # one without a value is refused when the model is made, which says what it takes
        options[key] = value
    return ModelSpec(text, name, options, match["method"], _file_digest(name))


def _match(text: str) -> re.Match[str] | None:
    """Part name, options and method; blanks around all of it count only in a file's path."""
    bare = text.strip()
    for written in (text, bare):
        match = _FILE_GRAMMAR.fullmatch(written)
        if match is not None and Path(match["name"]).is_file():
            return match
    return _FILE_GRAMMAR.fullmatch(bare) or _GRAMMAR.fullmatch(bare)


def _take(model: Any) -> ModelSpec:
    """Name a model itself, by its class if a name or file finds that."""
    check_model(model)
    values = option_values(model)
    options = {
        option.name: option_text(values[option.name])
        for option in describe_options(type(model))
        if option_text(values[option.name]) != option.default
    }
    name = name_of(type(model))
    if name is not None:
        for option, value in values.items():
            if value != getattr(type(model), option, None):
                readable_text(option, value)
        return ModelSpec(_text(name, options, None), name, options, None, _file_digest(name))
    text, digest = _text(model.name, options, None), source_digest(type(model))
    # made anew, with every option checked
    instance = with_options(type(model), values)
    return ModelSpec(text, model.name, options, None, digest, instance)


def _text(name: str, options: Mapping[str, str], method: str | None) -> str:
    bracket = ",".join(f"{option}={value}" for option, value in options.items())
    return name + (f"[{bracket}]" if bracket else "") + (f":{method}" if method else "")


def _file_digest(name: str) -> str | None:
    if not is_file(name):
        return None
    try:
        return digest_file(name)
    except OSError as error:
        raise InputError("no such file", path=name, remedy="check the path") from error
