"""Files that are either whole or absent, and the digests that name their contents."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import io
import json
import math
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


# what the system says where there is no more room
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}(\.[^.]+)?")


def check_target(path: str | Path) -> Path:
    """Return where a file is to stand, or say why it cannot, before the work of making it.

    Raises
    ------
    InputError
        If `path` is a folder or a read-only file, or its folder does not exist.

    Examples
    --------
    >>> check_target("nowhere/out.csv")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: nowhere/out.csv: its folder does not exist; make the folder first
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{path!r:.80} is no file's name", remedy="give a text or a Path")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError("is a folder", path=path, remedy="name a file in it")
    if not target.parent.is_dir():
        raise InputError("its folder does not exist", path=path, remedy="make the folder first")
    if target.is_file() and not target.stat().st_mode & _WRITABLE:
        raise InputError("is read-only", path=path, remedy="name another file")
    return target


@contextlib.contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Give a temporary path in the same folder, which becomes `path` if the block succeeds.

    For writers that want a path and not an open file (netCDF, matplotlib). The temporary path has
    the suffix of `path`. On any exception it is removed and whatever stood at `path` stays as it
    was. A device or a pipe (``/dev/stdout``) is written to directly.

    Parameters
    ----------
    path : str or Path
        Where the file is to stand. A symbolic link is followed, not replaced.

    Yields
    ------
    Path
        Where to write.

    Raises
    ------
    InputError
        If `path` is a folder, its folder does not exist, or it cannot be written (:func:`writing`).

    Examples
    --------
    >>> with atomic_path("out.txt") as temporary:
    ...     _ = temporary.write_text("whole")
    >>> Path("out.txt").read_text()
    'whole'
    """
    target = check_target(path)
    if target.exists() and not target.is_file():
        with writing(path):
            yield target
        return
    temporary = target.with_name(f".{target.stem}.{secrets.token_hex(4)}{target.suffix}")
    try:
        with writing(path):
            yield temporary
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            os.replace(temporary, target)
    finally:
        with contextlib.suppress(OSError):  # what writing failed of, removing may fail of
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Say of a failure of the system in the block that `path` cannot be written, and why.

    A pipe that its reader closed is no such failure, nor is one of another file that the block
    reads.

    Parameters
    ----------
    path : str or Path
        The file or folder that the block writes.

    Raises
    ------
    InputError
        A full disk, a folder without the right to write, too many files.

    Examples
    --------
    >>> with writing("out.csv"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: out.csv: cannot be written: No space left on device; free space
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno is None or not _concerns(error.filename, path):
            raise
        remedy = (
            "free space" if error.errno in FULL else "check the permissions, or write elsewhere"
        )
        why = os.strerror(error.errno)
        raise InputError(f"cannot be written: {why}", path=path, remedy=remedy) from error


def _concerns(name: object, path: str | Path) -> bool:
    """Whether a failure of a file with this name, if the system says one, is one of `path`."""
    if not isinstance(name, str | bytes | os.PathLike):
        return True
    target = Path(os.path.realpath(path))
    concerned = Path(os.path.realpath(os.fsdecode(name)))
    return target.parent in concerned.parents or concerned in target.parents


def make_folder(path: str | Path) -> None:
    """Make a folder and those it is in, where they are absent.

    Raises
    ------
    InputError
        The path, or one that it is in, is a file; and as of :func:`writing`.

    Examples
    --------
    >>> make_folder("made/here")
    >>> Path("made/here").is_dir()
    True
    >>> write_text("a file", "out.txt")
    >>> make_folder("out.txt/runs")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: out.txt: is a file; name a folder
    """
    with writing(path):
        for each in (Path(path), *Path(path).parents):
            if each.exists() and not each.is_dir():
                raise InputError("is a file", path=each, remedy="name a folder")
        Path(path).mkdir(parents=True, exist_ok=True)


def remove_leftovers(folder: str | Path) -> None:
    """Remove what writers that were killed left behind in a folder where nobody writes now."""
    for path in Path(folder).iterdir():
        if _TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink()


@contextlib.contextmanager
def atomic_write(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    r"""Open a file for writing that appears whole at `path`, or not at all.

    Text is UTF-8 with ``\n`` line ends. A name ending in ``.gz`` is compressed, without the time
    of writing in its header, so that the same contents give the same bytes.

    Parameters
    ----------
    path : str or Path
        Where the file is to stand.
    mode : {"w", "wb"}
        Text or bytes.

    Yields
    ------
    file object
        Open for writing.

    Raises
    ------
    InputError
        If `path` is a folder, or its folder does not exist.

    Examples
    --------
    >>> with atomic_write("out.txt") as file:
    ...     _ = file.write("whole")
    >>> Path("out.txt").read_text()
    'whole'
    """
    if mode not in ("w", "wb"):
        raise ValueError(f"mode is 'w' or 'wb', not {mode!r}")
    with atomic_path(path) as temporary, contextlib.ExitStack() as stack:
        binary: IO[bytes] = stack.enter_context(temporary.open("wb"))
        if str(path).endswith(".gz"):
            binary = stack.enter_context(
                gzip.GzipFile(filename="", mode="wb", fileobj=binary, mtime=0)  # type: ignore[arg-type]
            )
        if mode == "wb":
            yield binary
        else:
            yield stack.enter_context(io.TextIOWrapper(binary, encoding="utf-8", newline="\n"))


def digest_file(path: str | Path, *, ignoring: str = "") -> str:
    """Return the SHA-256 of a file's bytes, as 64 hexadecimal digits.

    Of a folder (zarr): of the names and digests of the files in it, but for those of one name.

    Examples
    --------
    >>> with atomic_write("a.txt") as file:
    ...     _ = file.write("a")
    >>> digest_file("a.txt") == digest_text("a")
    True
    """
    if Path(path).is_dir():
        files = (file for file in Path(path).rglob("*") if file.is_file())
        inside = sorted(file for file in files if file.name != ignoring)
        return digest_text(
            "".join(f"{file.relative_to(path).as_posix()} {digest_file(file)}\n" for file in inside)
        )
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_files(*paths: str | None) -> dict[str, str]:
    """Return the digest of each file by its path, for provenance; None names no file.

    Examples
    --------
    >>> with atomic_write("a.txt") as file:
    ...     _ = file.write("a")
    >>> digest_files("a.txt", None) == {"a.txt": digest_text("a")}
    True
    """
    return {path: digest_file(path) for path in paths if path}


def digest_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, as 64 hexadecimal digits.

    Examples
    --------
    >>> digest_text("a")[:8]
    'ca978112'
    """
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def meta_path(path: str | Path) -> Path:
    """Return where the provenance of an output stands: ``OUT.meta.json`` beside ``OUT``.

    Examples
    --------
    >>> print(meta_path("out.qrels"))
    out.qrels.meta.json
    """
    return Path(f"{path}.meta.json")


def json_text(value: object) -> str:
    """Return a value as indented JSON, with a line end.

    NumPy scalars and arrays become numbers and lists; mappings keep their order.

    Raises
    ------
    ValueError
        If a number is not finite: an undefined value is None, and the caller says so. The error
        names the place (``pairs[3].sd``).

    Examples
    --------
    >>> print(json_text({"sd": 0.5}), end="")
    {
      "sd": 0.5
    }
    >>> json_text({"pairs": [{"sd": float("nan")}]})
    Traceback (most recent call last):
    ValueError: pairs[0].sd is nan: write None for an undefined value
    """
    return json.dumps(_plain(value, ""), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def json_of(value: object, path: str | Path | None = None) -> str:
    """Return a value as JSON without a line end; write it, with one, where a path is given.

    Examples
    --------
    >>> print(json_of([1], "out.json"))
    [
      1
    ]
    >>> read_json("out.json")
    [1]
    """
    text = json_text(value)
    if path is not None:
        write_text(text, path)
    return text.removesuffix("\n")


def write_text(text: str, path: str | Path) -> None:
    """Write a text, atomically; see :func:`atomic_write`.

    Examples
    --------
    >>> write_text("whole", "out.txt")
    >>> Path("out.txt").read_text()
    'whole'
    """
    with atomic_write(path) as file:
        file.write(text)


def write_json(value: object, path: str | Path) -> None:
    """Write a value as JSON, atomically; see :func:`json_text`.

    Examples
    --------
    >>> write_json({"sd": 0.5}, "out.json")
    >>> read_json("out.json")
    {'sd': 0.5}
    """
    write_text(json_text(value), path)


def read_json(path: str | Path, *, remedy: str = "make the file again") -> Any:
    """Read a JSON file.

    Parameters
    ----------
    path : str or Path
    remedy : str
        What to do about a file that is not JSON.

    Raises
    ------
    InputError
        If the file does not exist or is not JSON in UTF-8; names the line.

    Examples
    --------
    >>> write_json([1, 2], "out.json")
    >>> read_json("out.json")
    [1, 2]
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("no such file", path=path, remedy="check the name") from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON: {error.msg}", path=path, line=error.lineno, remedy=remedy
        ) from error
    except UnicodeDecodeError as error:
        raise InputError("not JSON in UTF-8", path=path, remedy=remedy) from error
    except (RecursionError, ValueError) as error:
        # nested too deep, or a whole number of too many digits
        raise InputError(
            f"not JSON that can be read ({error})", path=path, remedy=remedy
        ) from error


def read_record(path: str | Path, *, remedy: str = "make the file again") -> dict[str, Any]:
    """Read a JSON file that holds an object with something in it.

    Raises
    ------
    InputError
        As of :func:`read_json`, or it holds something else.

    Examples
    --------
    >>> write_json([1, 2], "out.json")
    >>> read_record("out.json", remedy="delete it")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: out.json: holds no JSON object; delete it
    """
    record = read_json(path, remedy=remedy)
    if not isinstance(record, dict) or not record:
        raise InputError("holds no JSON object", path=path, remedy=remedy)
    return record


def write_csv(frame: pd.DataFrame, path: str | Path, provenance: Mapping[str, object]) -> None:
    """Write a table as CSV, and its provenance as ``OUT.meta.json`` beside it.

    Numbers are written in full (the shortest text that reads back the same); an undefined value
    is an empty field. The index is not written. Text is data and is written as it is: a name that
    begins with ``=``, ``+``, ``-`` or ``@`` reads back the same, and a spreadsheet that opens the
    file takes it for a formula unless it is told to import the column as text.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    path : str or Path
        Where the CSV is to stand.
    provenance : mapping
        What :func:`rtc_bayes.store.provenance` gave.

    Examples
    --------
    >>> import pandas as pd
    >>> write_csv(pd.DataFrame({"system": ["bm25"], "AP": [0.25]}), "out.csv", {"seed": 0})
    >>> Path("out.csv").read_text().splitlines(), read_json("out.csv.meta.json")
    (['system,AP', 'bm25,0.25'], {'seed': 0})
    """
    with atomic_write(path) as file:
        frame.to_csv(file, index=False, lineterminator="\n")
    write_json(provenance, meta_path(path))


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON has them: by column, None for what is undefined.

    Examples
    --------
    >>> import pandas as pd
    >>> rows_of(pd.DataFrame({"system": ["a", "b"], "sd": [0.5, None]}))
    [{'system': 'a', 'sd': 0.5}, {'system': 'b', 'sd': None}]
    """
    values = frame.astype(object)
    rows: list[dict[str, Any]] = values.where(values.notna(), None).to_dict("records")
    return rows


def _plain(value: object, where: str) -> object:
    """Return `value` in the types that JSON has; `where` is its place, for the error."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{where or 'the value'} is {value}: write None for an undefined value")
    if isinstance(value, Mapping):
        return {
            str(key): _plain(item, f"{where}.{key}" if where else str(key))
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{position}]") for position, item in enumerate(value)]
    return value
