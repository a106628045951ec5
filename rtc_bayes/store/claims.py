"""Folders that a long piece of work claims, so that it can go on where it stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rtc_bayes.errors import InputError
from rtc_bayes.store.files import make_folder, read_record, remove_leftovers, write_json

_LOCK = ".lock"


@contextlib.contextmanager
def claimed(
    path: str | Path,
    meta: Mapping[str, Any],
    arguments: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    *,
    inside: str,
) -> Iterator[None]:
    """Make a folder this study's, or see that it is, and keep other processes out meanwhile.

    What a process that was killed left half-written in it is removed. The lock goes with the
    process that holds it, however it ends.

    Parameters
    ----------
    path : str or Path
        Where the provenance of the study stands, or is to stand, in its folder.
    meta : mapping of str to object
        Provenance.
    arguments : callable
        Picks out of provenance what must not change between a study and its resumption.
    inside : str
        A folder in the folder, made if absent, where the study writes too.

    Raises
    ------
    InputError
        The folder holds a study with other arguments, or another process is at work in it.

    Examples
    --------
    >>> with claimed("study/meta.json", {"seed": 1}, dict, inside="trials"):
    ...     sorted(path.name for path in Path("study").iterdir())
    ['.lock', 'meta.json', 'trials']
    >>> with claimed("study/meta.json", {"seed": 2}, dict, inside="trials"):
    ...     pass
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: study: holds a study with other seed: 1 there, 2 here; resume ...
    """
    from filelock import FileLock, Timeout

    path = Path(path)
    folder = path.parent
    make_folder(folder / inside)
    try:
        lock = FileLock(folder / _LOCK).acquire(blocking=False)
    except Timeout as error:
        raise InputError(
            "another process is at work here",
            path=folder,
            remedy="let it end, or name another folder",
        ) from error
    with lock:
        _check(path, meta, arguments)
        for each in (folder, folder / inside):
            remove_leftovers(each)
        write_json(meta, path)
        yield


def _check(
    path: Path,
    meta: Mapping[str, Any],
    arguments: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> None:
    """Refuse a folder that holds a study with other arguments."""
    if not path.exists():
        return
    before = arguments(read_record(path, remedy="delete its folder and run again"))
    for what, now in arguments(meta).items():
        if now != before.get(what):
            changed = _changed(before.get(what), now)
            have = "has" if len(changed) == 1 else "have"
            raise InputError(
                f"{', '.join(changed)} {have} changed since the study began"
                if changed
                else f"holds a study with other {what}: {before.get(what)} there, {now} here",
                path=path.parent,
                remedy="resume with the same, or name another folder",
            )


def _changed(before: Any, now: Any) -> list[str]:
    """Name what has another digest now, in two groups of tables of digests by name.

    Empty where they are no such groups, or the groups have other tables.
    """
    groups = [before, now]
    if not all(isinstance(group, Mapping) for group in groups) or before.keys() != now.keys():
        return []
    tables = [table for group in groups for table in group.values()]
    if not all(isinstance(table, Mapping) for table in tables):
        return []
    pairs = [(before[group], now[group]) for group in now]
    return sorted({n for a, b in pairs for n in {**a, **b} if a.get(n) != b.get(n)})
