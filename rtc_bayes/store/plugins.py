"""Finding classes that plug in: installed ones by entry point, a researcher's own in a file.

A file is known by its path and the digest of its text, so that another process loads the same
class or none.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from rtc_bayes.errors import InputError
from rtc_bayes.store.files import digest_file

#: Entry-point groups.
MODELS, JUDGES = "rtc_bayes.models", "rtc_bayes.judges"

_MODULE = "rtc_bayes_plugin_"


def is_file(name_or_path: str | Path) -> bool:
    """Whether a class is named by a file."""
    return str(name_or_path).endswith(".py")


def installed(group: str) -> dict[str, str]:
    """Names of the members of an entry-point group, to where their classes are.

    Of several members of one name that of this package counts, else the first that Python finds.
    """
    return {name: first.value for name, (first, *_) in entries(group).items()}


def ignored(group: str, name: str) -> tuple[str, ...]:
    """Say of each entry point that does not count, as another has its name, that it is ignored."""
    first, *others = entries(group)[name]
    return tuple(
        f"the entry point {name} = {other.value} of {_package(other)} is ignored: {name} is "
        f"{first.value} of {_package(first)}; give it another name"
        for other in others
        if other.value != first.value
    )


def package_of(value: str) -> str:
    """Name the installed package that has an entry point, by where the point's class is."""
    entry = next((entry for entry in entry_points() if entry.value == value), None)
    return _package(entry) if entry else "an installed package"


@lru_cache(maxsize=8)
def entries(group: str) -> dict[str, list[EntryPoint]]:
    """Entry points of a group by name, at least one each; those of this package first."""
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: not _is_ours(entry)):
        by_name.setdefault(entry.name, []).append(entry)
    return by_name


def _is_ours(entry: EntryPoint) -> bool:
    return entry.module.partition(".")[0] in ("rtc_bayes", "rtc_bayes_models")


def _package(entry: EntryPoint) -> str:
    return f"the package {entry.dist.name}" if entry.dist else "an installed package"


@lru_cache(maxsize=64)
def class_at(value: str) -> type:
    """Import the class that an entry point names as ``module:Class``.

    Raises
    ------
    InputError
        The module does not import, or does not hold the class.
    """
    module, _, attribute = value.partition(":")
    try:
        held: type = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # of a module of somebody else's
        raise InputError(
            f"the entry point {value} of {package_of(value)} finds no class: {error}",
            remedy="correct it, as module:Class, or uninstall the package",
        ) from error
    return held


def classes_in(
    name_or_path: str | Path, attributes: tuple[str, ...], digest: str | None = None
) -> list[type]:
    """Run a file, once per text of it, and list its own classes that have some attributes.

    Parameters
    ----------
    name_or_path : str or Path
    attributes : tuple of str
    digest : str, optional
        The SHA-256 that the file had; another now is an error.

    Raises
    ------
    InputError
        No such file, a file that changed, or one that does not run.
    """
    path = Path(name_or_path).resolve()
    if not path.is_file():
        raise InputError("no such file", path=name_or_path, remedy="check the path")
    now = digest_file(path)
    if digest is not None and now != digest:
        raise InputError(
            "the file has changed since it was named",
            path=name_or_path,
            remedy="start again with the new file",
        )
    return [cls for cls in _classes(path, now) if all(hasattr(cls, name) for name in attributes)]


def file_of(cls: type) -> str | None:
    """Return the path of the file that :func:`classes_in` found a class in; None of others."""
    if not cls.__module__.startswith(_MODULE):
        return None
    return sys.modules[cls.__module__].__file__


@lru_cache(maxsize=64)
def _classes(path: Path, digest: str) -> tuple[type, ...]:
    # a dot in a module's name would name a package, which pickle then looks for
    name = f"{_MODULE}{re.sub(r'\W', '_', path.stem)}_{digest[:16]}"
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
        remedy = "make `python FILE.py` run"
        if isinstance(error, ModuleNotFoundError):
            remedy = "install it, or put it into the file: what lies beside a file is not imported"
        raise InputError(
            f"running it failed with {type(error).__name__}: {error}",
            path=path,
            line=_line_in(path, error),
            remedy=remedy,
        ) from error
    return tuple(
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == name
    )


def _line_in(path: Path, error: BaseException) -> int | None:
    """Find the last line of the file that an exception passed through."""
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
