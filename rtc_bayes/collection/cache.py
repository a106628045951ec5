"""Parsed runs kept on disk, under a name made from the contents of their files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.runs import Run, run_of_checked
from rtc_bayes.errors import InputError
from rtc_bayes.store import atomic_path, digest_file, digest_text, make_folder

# Another number makes what is stored be parsed again.
_LAYOUT = 2


class RunCache:
    """A folder of parsed runs.

    An entry is named after the contents of the files and the way they were read, so that a file
    that changes is parsed again. Entries are never removed: delete the folder at will.

    Parameters
    ----------
    folder : str or Path
        Made when something is stored.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def entry(self, paths: Iterable[Path], reading: Sequence[object]) -> Path:
        """Return where the runs of some files stand, or are to stand.

        Parameters
        ----------
        paths : iterable of Path
            Files that exist.
        reading : sequence
            What else decides the result, as JSON holds it.
        """
        key = json.dumps([_LAYOUT, reading, [digest_file(path) for path in paths]])
        return self.folder / f"runs-{digest_text(key)[:32]}.npz"

    def load(self, entry: Path, paths: Sequence[Path]) -> list[Run] | None:
        """Return stored runs as read from `paths`; None where there are none, or damaged ones."""
        if not entry.is_file():
            return None
        try:
            with entry.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                return _runs(stored, paths)
        # what damage raises has no end, and parsing again mends it
        except Exception:
            return None

    def store(self, entry: Path, runs: Sequence[Run]) -> None:
        """Keep runs.

        Raises
        ------
        InputError
            The folder cannot be written to.
        """
        try:
            make_folder(self.folder)
            with atomic_path(entry) as partial:
                np.savez(partial, allow_pickle=False, **_arrays(runs))
        except InputError as error:
            raise InputError(
                f"the cache of parsed runs cannot be written ({error.message})",
                path=self.folder,
                remedy="give another folder, or unset RTC_BAYES_CACHE",
            ) from error

    def __repr__(self) -> str:
        return f"RunCache({str(self.folder)!r})"


def _arrays(runs: Sequence[Run]) -> dict[str, NDArray[Any]]:
    """Return runs as arrays: lists of numbers into the distinct docnos, one after the other."""
    lists = [(run, topic) for run in runs for topic in run.topics]
    rankings = [run.ranking(topic) for run, topic in lists]
    number: dict[str, int] = {}
    documents = np.fromiter(
        (number.setdefault(docno, len(number)) for docno in chain.from_iterable(rankings)),
        dtype=np.int32,
    )
    empty = np.empty(0)
    return {
        "tags": _packed(run.tag for run in runs),
        "digests": _packed(run.digest for run in runs),
        "topics": _packed(topic for _, topic in lists),
        "docnos": _packed(number),
        "lists": np.array([len(run.topics) for run in runs]),
        "lengths": np.array([len(ranking) for ranking in rankings]),
        "documents": documents,
        "scores": np.concatenate([empty, *(run.scores(topic) for run, topic in lists)]),
    }


def _runs(stored: Mapping[str, NDArray[Any]], paths: Sequence[Path]) -> list[Run]:
    """Undo :func:`_arrays`."""
    distinct = np.array(_unpacked(stored["docnos"]), dtype=object)
    docnos, scores = distinct[stored["documents"]], stored["scores"]
    topics = _unpacked(stored["topics"])
    ends = [0, *np.cumsum(stored["lengths"]).tolist()]
    rankings = [(docnos[start:end], scores[start:end]) for start, end in pairwise(ends)]
    of_run = pairwise([0, *np.cumsum(stored["lists"]).tolist()])
    described = zip(
        paths, _unpacked(stored["tags"]), _unpacked(stored["digests"]), of_run, strict=True
    )
    return [
        run_of_checked(
            tag,
            dict(zip(topics[first:last], rankings[first:last], strict=True)),
            str(path),
            digest,
        )
        for path, tag, digest, (first, last) in described
    ]


def _packed(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Put texts, none of which holds a line end, into one array of bytes."""
    return np.frombuffer("\n".join(texts).encode(), dtype=np.uint8)


def _unpacked(packed: NDArray[Any]) -> list[str]:
    return packed.tobytes().decode().split("\n")
