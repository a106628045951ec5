"""Folders that a long piece of work claims, so that it can go on where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rtc_bayes.errors import InputError
from rtc_bayes.store.files import read_json, write_json


def claim(
    path: str | Path,
    meta: Mapping[str, Any],
    arguments: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> None:
    """Make a folder this study's, or see that it is.

    Parameters
    ----------
    path : str or Path
        Where the provenance of the study stands, or is to stand, in its folder.
    meta : mapping of str to object
        Provenance.
    arguments : callable
        Picks out of provenance what must not change between a study and its resumption.

    Raises
    ------
    InputError
        The folder holds a study with other arguments.
    """
    path = Path(path)
    if path.exists():
        before = arguments(read_json(path))
        for what, now in arguments(meta).items():
            if now != before.get(what):
                raise InputError(
                    f"holds a study with other {what}: {before.get(what)} there, {now} here",
                    path=path.parent,
                    remedy="resume with the same arguments, or name another folder",
                )
    write_json(meta, path)
