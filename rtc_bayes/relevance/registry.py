"""Finding relevance models: installed ones by name, a researcher's own by file.

Installed models are those of the entry-point group ``rtc_bayes.models``. A file holds exactly one
model class; it is known by its path and the digest of its text, so that another process loads the
same model or none.
"""

from __future__ import annotations

import inspect
import marshal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from rtc_bayes.checks import instead, refuse_class
from rtc_bayes.errors import InputError, warn
from rtc_bayes.relevance.fitters import available_methods
from rtc_bayes.relevance.interface import RelevanceModel
from rtc_bayes.relevance.options import Option, describe_options, with_options
from rtc_bayes.signatures import explains_types
from rtc_bayes.store import digest_file, digest_text
from rtc_bayes.store.plugins import (
    JUDGES,
    MODELS,
    class_at,
    classes_in,
    file_of,
    ignored,
    installed,
    is_file,
    package_of,
)

_ATTRIBUTES = ("name", "methods", "default_method")


@dataclass(frozen=True)
class ModelInfo:
    """What ``rtc-bayes models`` says of a model.

    Attributes
    ----------
    name : str
    summary : str
        The first line of its documentation.
    methods : tuple of str
        Those that can be used now.
    default_method : str
    options : tuple of Option
    presets : mapping of str to dict
        Names of sets of options.

    Examples
    --------
    >>> model_info("uniform").methods
    ('map',)
    """

    name: str
    summary: str
    methods: tuple[str, ...]
    default_method: str
    options: tuple[Option, ...]
    presets: Mapping[str, Mapping[str, object]]

    def __str__(self) -> str:
        options = "; ".join(map(str, self.options)) or "none"
        presets = f"; preset ({' | '.join(self.presets)})" if self.presets else ""
        return f"{self.name}: {', '.join(self.methods)}; options: {options}{presets}"


@explains_types
def load_model(
    name_or_path: str | Path,
    options: Mapping[str, object] | None = None,
    *,
    digest: str | None = None,
) -> RelevanceModel:
    """Make a model from its name or file and its options.

    Parameters
    ----------
    name_or_path : str or Path
        An installed model, or a file whose name ends in ``.py``.
    options : mapping of str to object, optional
        By name; text is read by the option's type. ``preset`` names a set of options.
    digest : str, optional
        The SHA-256 that the file had; another now is an error.

    Returns
    -------
    RelevanceModel

    Raises
    ------
    InputError
        An unknown model, a file that holds no model or several, an unknown option or a value
        that it does not take.

    Examples
    --------
    >>> from rtc_bayes.relevance import load_model
    >>> load_model("uniform", {"p": "0.2"}).p
    0.2
    """
    return with_options(model_class(name_or_path, digest=digest), options or {})


def available_models() -> list[ModelInfo]:
    """List the installed models in the order of their names.

    Warns
    -----
    CollectionWarning
        A model that cannot be used, as the package that installs it is broken, or one that is
        ignored, as another has its name. It says which package installs it; the others are listed.

    Examples
    --------
    >>> from rtc_bayes.relevance import available_models
    >>> [model.name for model in available_models()][:2]
    ['heavy_tails', 'hierarchical']
    """
    models = []
    for name in model_names():
        try:
            models.append(model_info(name))
        except InputError as error:
            warn(f"model {name} is left out: {error}")
    return models


def model_names() -> list[str]:
    """List the names of the installed models, in their order."""
    return sorted(installed(MODELS))


def model_info(name_or_path: str | Path) -> ModelInfo:
    """Describe a model, installed or in a file.

    Examples
    --------
    >>> print(model_info("uniform"))
    uniform: map; options: p=0.5 (a number)
    """
    model = model_class(name_or_path)
    return ModelInfo(
        name=model.name,
        summary=(model.__doc__ or "").strip().split("\n")[0],
        methods=available_methods(model),
        default_method=model.default_method,
        options=describe_options(model),
        presets=getattr(model, "presets", {}),
    )


def model_class(name_or_path: str | Path, *, digest: str | None = None) -> type[RelevanceModel]:
    """Find a model's class; see :func:`load_model`."""
    if is_file(name_or_path):
        classes = classes_in(name_or_path, _ATTRIBUTES, digest)
        if len(classes) != 1:
            present = ", ".join(c.__name__ for c in classes) or "none"
            raise InputError(
                f"a model file holds exactly one model, this one {present}",
                path=name_or_path,
                remedy=f"keep one class with the attributes {', '.join(_ATTRIBUTES)}",
            )
        return _checked(classes[0], name_or_path)
    names = installed(MODELS)
    if digest is not None:
        raise InputError(
            f"model {str(name_or_path)!r} was a class of one's own, which no file holds",
            remedy="load the fit with it, Fit.load(path, model=...), or keep it in a FILE.py",
        )
    if str(name_or_path) not in names:
        if str(name_or_path) in installed(JUDGES):
            first = "write uniform, its model; all: " if name_or_path == "mtc" else "use one of "
            raise InputError(
                f"{name_or_path} chooses documents to judge, and is no model",
                remedy=f"{first}{', '.join(model_names())}, or the path of a FILE.py",
            )
        names_of = instead(str(name_or_path), model_names())
        raise InputError(
            f"unknown model {str(name_or_path)!r}", remedy=f"{names_of}, or the path of a FILE.py"
        )
    return _installed_class(str(name_or_path), names[str(name_or_path)])


def _installed_class(name: str, value: str) -> type[RelevanceModel]:
    """Return the class of an installed model, which has the name of its entry point."""
    for said in ignored(MODELS, name):
        warn(said)
    model = _checked(class_at(value), value)
    if model.name != name:
        raise InputError(
            f"the entry point {name} = {value} of {package_of(value)} has another name than its "
            f"model, {model.name}",
            remedy=f"write {model.name} = {value} in that package",
        )
    return model


def check_model(model: Any) -> None:
    """Refuse what is no instance of a relevance model.

    Raises
    ------
    InputError
        What it lacks, and what to give.
    """
    refuse_class(model, "model")
    if not any(hasattr(model, name) for name in (*_ATTRIBUTES, "graph")):
        raise InputError(
            f"{model!r} is no model",
            remedy=f"give {', '.join(model_names())}, the path of a FILE.py, or an "
            "instance of a model's class",
        )
    kind: type = type(model)
    _checked(kind, None)


def name_of(model: type) -> str | None:
    """Return the name or path by which :func:`load_model` finds a class, if it does."""
    return str(getattr(model, "name", None)) if is_installed(model) else file_of(model)


def is_installed(model: type) -> bool:
    """Whether a class is one of the models that are found by their names.

    Examples
    --------
    >>> is_installed(model_class("rtc"))
    True
    """
    value = installed(MODELS).get(str(getattr(model, "name", None)))
    return value is not None and class_at(value) is model


def source_digest(model: type) -> str:
    """Return the SHA-256 of a class's source and of what it inherits from outside of the library.

    Where source cannot be had, as of a class that was typed in, its code stands in for it.
    """
    others = {"rtc_bayes", *sys.stdlib_module_names}
    own = [cls for cls in model.__mro__ if cls.__module__.partition(".")[0] not in others]
    return digest_text("\n".join(map(_source, own or [model])))


def module_digest(cls: type) -> str:
    """Return the SHA-256 of the file that a class stands in, or of its source if it has no file."""
    try:
        return digest_file(inspect.getfile(cls))
    except (OSError, TypeError):
        return source_digest(cls)


def _source(cls: type) -> str:
    """Return a class's source, or else its name, and the code and values that it holds."""
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        held = [f"{name} {_text(member)}" for name, member in vars(cls).items() if name[:2] != "__"]
        return "\n".join([f"{cls.__module__}.{cls.__qualname__}", *held])


def _text(member: object) -> str:
    """Return the code of a function, wherever it was typed, or a value as Python writes it."""
    if isinstance(member, property):
        return " ".join(map(_text, (member.fget, member.fset)))
    if isinstance(member, classmethod | staticmethod):
        return _text(member.__func__)
    if inspect.isfunction(member):
        return marshal.dumps(_placeless(member.__code__), 2).hex()
    return repr(member)


def _placeless(code: CodeType) -> CodeType:
    """Return code without the file and the lines where it stood."""
    constants = tuple(_placeless(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_filename="", co_firstlineno=0, co_linetable=b"", co_consts=constants)


@lru_cache(maxsize=64)
def _checked(model: type, where: str | Path | None) -> type[RelevanceModel]:
    """Refuse a class that is not a relevance model, saying what it lacks."""
    lacking = ""
    if not is_dataclass(model) or not model.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        lacking = "put @dataclass(frozen=True) above it"
    elif absent := [name for name in _ATTRIBUTES if not hasattr(model, name)]:
        lacking = f"give it the class attribute {absent[0]}"
    elif not available_methods(model):  # type: ignore[arg-type]
        named = model.methods  # type: ignore[attr-defined]
        lacking = (
            f"it has none of its methods ({', '.join(map(str, named))}): give it "
            "graph(pool, judgments) that returns a PyMC model, for map, laplace and nuts, or "
            "map(judgments)"
        )
    if lacking:
        raise InputError(
            f"class {model.__name__} is not a relevance model", path=where, remedy=lacking
        )
    describe_options(model, where)
    return model
