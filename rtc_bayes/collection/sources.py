"""What readers are given: paths, folders and globs; frames, mappings and iterables in memory."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from rtc_bayes.checks import cut
from rtc_bayes.errors import InputError


def kind_of(source: Any) -> Literal["path", "frame", "mapping", "iterable", "other"]:
    """Say how a source is read."""
    if isinstance(source, str | Path):
        return "path"
    if isinstance(source, Mapping):
        return "mapping"
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):
        return "frame"
    # an open file gives lines, which are no paths
    text = isinstance(source, bytes | bytearray) or hasattr(source, "read")
    if isinstance(source, Iterable) and not text:
        return "iterable"
    return "other"


def plain(source: Any) -> Any:
    """Return the mapping that a Run or Qrels of ranx holds; anything else as it is."""
    if type(source).__module__.partition(".")[0] == "ranx" and hasattr(source, "to_dict"):
        return source.to_dict()
    return source


def _is_input(path: Path) -> bool:
    """Whether it is a file, and neither a README nor the `NAME.meta.json` of how NAME was made."""
    aside = path.name.endswith(".meta.json") or path.stem.upper() == "README"
    return path.is_file() and not aside


def files_of(source: str | Path) -> list[Path]:
    """Return the files that a path, a folder or a glob stands for, sorted by name."""
    if not str(source):
        raise InputError("the path is empty", remedy="give a file, a folder or a glob")
    path = Path(source)
    if str(source) == "-" and not path.exists():
        raise InputError(
            "standard input is not read", remedy="write it to a file, and give its name"
        )
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # too long, a NUL, no Unicode, a folder that is locked
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot be opened: {reason}", path=cut(ascii(str(source))), remedy="check the path"
        ) from error
    if path.is_dir():
        files = [p for p in path.iterdir() if not p.name.startswith(".") and _is_input(p)]
        if not files:
            raise InputError("the folder holds no files", path=path, remedy="give a run folder")
        return sorted(files, key=lambda p: p.name)
    if path.exists() or not glob.has_magic(str(source)):
        return [path]
    files = list(filter(_is_input, sorted(map(Path, glob.glob(str(source))))))
    if not files:
        raise InputError("no file matches", path=str(source), remedy="check the pattern")
    return files
