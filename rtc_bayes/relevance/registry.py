"""Finding relevance models: installed ones by name, a researcher's own by file.

Installed models are those of the entry-point group ``rtc_bayes.models``. A file holds exactly one
model class; it is known by its path and the digest of its text, so that another process loads the
same model or none.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path

from rtc_bayes.errors import InputError
from rtc_bayes.relevance.fitters import available_methods
from rtc_bayes.relevance.interface import RelevanceModel
from rtc_bayes.relevance.options import Option, describe_options, with_options
from rtc_bayes.store import digest_file

_GROUP = "rtc_bayes.models"
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
    """
    return with_options(model_class(name_or_path, digest=digest), options or {})


def available_models() -> list[ModelInfo]:
    """List the installed models in the order of their names."""
    return [model_info(name) for name in sorted(_installed())]


def model_info(name_or_path: str | Path) -> ModelInfo:
    """Describe a model, installed or in a file."""
    model = model_class(name_or_path)
    return ModelInfo(
        name=model.name,
        summary=(model.__doc__ or "").strip().split("\n")[0],
        methods=available_methods(model),
        default_method=model.default_method,
        options=describe_options(model),
        presets=getattr(model, "presets", {}),
    )


def is_file(name_or_path: str | Path) -> bool:
    """Whether a model is named by a file."""
    return str(name_or_path).endswith(".py")


def model_class(name_or_path: str | Path, *, digest: str | None = None) -> type[RelevanceModel]:
    """Find a model's class; see :func:`load_model`."""
    if is_file(name_or_path):
        path = Path(name_or_path).resolve()
        if not path.is_file():
            raise InputError("no such file", path=name_or_path, remedy="check the path")
        found = digest_file(path)
        if digest is not None and found != digest:
            raise InputError(
                "the model file has changed since it was named",
                path=name_or_path,
                remedy="start again with the new file",
            )
        return _class_in_file(path, found)
    installed = _installed()
    if str(name_or_path) not in installed:
        raise InputError(
            f"unknown model {str(name_or_path)!r}",
            remedy=f"use one of {', '.join(sorted(installed))}, or the path of a FILE.py",
        )
    return _class_of_entry(installed[str(name_or_path)])


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    """Names of installed models, to where their classes are."""
    return {entry.name: entry.value for entry in entry_points(group=_GROUP)}


@lru_cache(maxsize=64)
def _class_of_entry(value: str) -> type[RelevanceModel]:
    module, _, attribute = value.partition(":")
    found: type = getattr(importlib.import_module(module), attribute)
    _check_class(found, value)
    return found


@lru_cache(maxsize=64)
def _class_in_file(path: Path, digest: str) -> type[RelevanceModel]:
    """Run a model file once per text of it."""
    name = f"rtc_bayes_model_{path.stem}_{digest[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError("cannot be loaded as Python", path=path, remedy="name a .py file")
    module = importlib.util.module_from_spec(spec)
    # dataclasses and pickle look a class's module up by name
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        del sys.modules[name]
        raise InputError(
            f"not Python: {error.msg}", path=path, line=error.lineno, remedy="correct the line"
        ) from error
    except Exception as error:
        del sys.modules[name]
        raise InputError(
            f"running it failed with {type(error).__name__}: {error}",
            path=path,
            line=_line_in(path, error),
            remedy="make `python FILE.py` run",
        ) from error
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == name
        and all(hasattr(value, attribute) for attribute in _ATTRIBUTES)
    ]
    if len(classes) != 1:
        held = ", ".join(c.__name__ for c in classes) if classes else "none"
        raise InputError(
            f"a model file holds exactly one model, this one {held}",
            path=path,
            remedy=f"keep one class with the attributes {', '.join(_ATTRIBUTES)}",
        )
    _check_class(classes[0], path)
    return classes[0]


def _check_class(model: type, where: str | Path) -> None:
    """Refuse a class that is not a relevance model, saying what it lacks."""
    lacking = ""
    if not is_dataclass(model) or not model.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        lacking = "put @dataclass(frozen=True) above it"
    elif absent := [name for name in _ATTRIBUTES if not hasattr(model, name)]:
        lacking = f"give it the class attribute {absent[0]}"
    elif not (hasattr(model, "map") or hasattr(model, "graph")):
        lacking = "give it a method graph(pool, judgments) that returns a PyMC model"
    if lacking:
        raise InputError(
            f"class {model.__name__} is not a relevance model", path=where, remedy=lacking
        )
    describe_options(model)


def _line_in(path: Path, error: BaseException) -> int | None:
    """Find the last line of the file that an exception passed through."""
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
