"""The folder of a study: claimed by one process, one file a trial, so that the study can go on.

Every stored trial says its number, its seed and the arguments of its study, and carries a digest of
its content: a file of another study, of another trial, or with other content is never taken.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

import rtc_bayes
from rtc_bayes.errors import InputError, UnfinishedError
from rtc_bayes.store import (
    atomic_path,
    claimed,
    digest_file,
    digest_text,
    write_csv,
    write_json,
)
from rtc_bayes.store.files import FULL
from rtc_bayes.trials.complete import truth_of_now
from rtc_bayes.trials.kind import (
    DIGESTS,
    META,
    Arrays,
    Kind,
    StudyResult,
    Tables,
    arguments_of,
    digest_of,
    read_sealed,
    sealed,
)
from rtc_bayes.trials.schema import AGAIN

TRIALS = "trials"
# what draws and compares; the rest shows it
_SHOWN_BY = ("cli", "report")


def refuse_other_files(folder: Path) -> None:
    """Refuse a folder without a study that holds files of something else.

    Raises
    ------
    InputError
        It does.
    """
    if (folder / META).exists() or not folder.is_dir():
        return
    if any((folder / TRIALS).glob("[0-9]*")):
        raise InputError(
            f"holds trials, but no {META} that says of which study",
            path=folder,
            remedy=f"delete its folder {TRIALS}, or name another folder",
        )
    if others := sorted(file.name for file in folder.glob("[!.]*") if file.is_file()):
        raise InputError(
            f"holds files, as {others[0]}, and no study",
            path=folder,
            remedy="name a folder for the study alone",
        )


@dataclass(frozen=True)
class StudyFolder[Result: StudyResult]:
    """Where the trials of a study are stored, and read with suspicion.

    Attributes
    ----------
    path : Path
    kind : Kind
    seeds : sequence of int
        Of the trials.
    meta : mapping of str to object
        Provenance and arguments.
    """

    path: Path
    kind: Kind[Result]
    seeds: Sequence[int]
    meta: Mapping[str, Any]

    @cached_property
    def study(self) -> str:
        """The digest of the arguments, which every trial of the study carries."""
        return digest_of(arguments_of(self.meta))

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Keep other processes out, and say what is kept if the study cannot be finished.

        Raises
        ------
        InputError
            The folder holds a study of other arguments, or by other versions of packages, files or
            trials of no study, or another process is at work in it.
        UnfinishedError
            Workers were lost, memory ran out, or the disk is full.
        KeyboardInterrupt
            Also for the signal to terminate. It says what is kept.
        """
        refuse_other_files(self.path)
        try:
            with (
                _terminated(),
                claimed(self.path / META, self.meta, _arguments_of_now, inside=TRIALS),
            ):
                yield
        except BrokenExecutor as error:
            raise UnfinishedError(f"{error}; {self._kept()}") from error
        except MemoryError as error:
            raise UnfinishedError(f"memory ran out; take fewer --jobs; {self._kept()}") from error
        except InputError as error:
            if getattr(error.__cause__, "errno", None) not in FULL:
                raise
            raise UnfinishedError(f"{error}; {self._kept()}") from error
        except KeyboardInterrupt as error:
            raise KeyboardInterrupt(self._kept()) from error

    def missing(self) -> list[int]:
        """Return the numbers of the trials that are not stored; the others are checked."""
        absent = []
        for number in self._numbers:
            if self._path(number).exists():
                self.read(number)
            else:
                absent.append(number)
        return absent

    def beyond(self) -> int:
        """Count the trials of a longer study that are stored beside those of this one."""
        number = len(self._numbers)
        while self._path(number).exists():
            number += 1
        return number - len(self._numbers)

    def reopen(self) -> None:
        """Take a study for unfinished that lacks trials, though it was finished with fewer."""
        (self.path / self.kind.summary_file).unlink(missing_ok=True)

    def store(self, number: int, tables: Mapping[str, Any], arrays: Arrays) -> None:
        """Write a trial, whole or not at all.

        Parameters
        ----------
        number : int
        tables : mapping of str to mapping of str to list
            Columns of the rows of each table.
        arrays : mapping of str to ndarray
        """
        content: dict[str, Any] = {
            "trial": number,
            "seed": self.seeds[number],
            "study": self.study,
            "tables": tables,
        }
        if arrays:
            beside = self._path(number, "npz")
            with atomic_path(beside) as temporary:
                np.savez_compressed(temporary, allow_pickle=False, **arrays)
            content["arrays"] = digest_file(beside)
        # last: its presence says that the trial is stored
        write_json(sealed(content), self._path(number))

    def read(self, number: int) -> tuple[Mapping[str, Any], Arrays]:
        """Read a stored trial: tables and arrays.

        Raises
        ------
        InputError
            The file is damaged, or is not of this trial of this study.
        """
        path = self._path(number)
        content = read_sealed(path)
        wanted = {"trial": number, "seed": self.seeds[number], "study": self.study}
        for key, value in wanted.items():
            if content[key] != value:
                raise InputError(
                    f"is of another {key}: {content[key]} there, {value} here",
                    path=path,
                    remedy=AGAIN,
                )
        return content["tables"], self._arrays(number, content.get("arrays"))

    def finish(self, tables: Tables, summary: Mapping[str, Any]) -> Result:
        """Write the tables, and the summary last: its presence says that the study is finished."""
        digests = {META: self.study, self.kind.summary_file: digest_of(summary)}
        for name, table in tables.items():
            file = self.path / f"{name}.csv"
            write_csv(table, file, self.meta)
            digests[file.name] = digest_file(file)
        write_json(sealed(digests), self.path / DIGESTS)
        write_json(summary, self.path / self.kind.summary_file)
        return self.kind.result(self.path, tables, summary, self.meta)

    def _arrays(self, number: int, digest: str | None) -> Arrays:
        if digest is None:
            return {}
        path = self._path(number, "npz")
        if not path.exists() or digest_file(path) != digest:
            raise InputError(
                "is damaged or missing",
                path=path,
                remedy=f"delete {self._path(number).name} beside it and run again",
            )
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}

    @property
    def _numbers(self) -> range:
        return range(len(self.seeds))

    def _path(self, number: int, ending: str = "json") -> Path:
        return self.path / TRIALS / f"{number:05d}.{ending}"

    def _kept(self) -> str:
        stored = sum(self._path(n).exists() for n in self._numbers)
        return f"{stored} of {len(self.seeds)} trials are stored, and the same command goes on"


def _arguments_of_now(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must not change before a study is resumed, in the words of now.

    Beside its arguments these are the versions of packages, which are in no digest.
    """
    packages = meta.get("packages")
    versions = packages.items() if isinstance(packages, Mapping) else ()
    return truth_of_now(arguments_of(meta)) | {f"version of {name}": v for name, v in versions}


@cache
def digest_code() -> str:
    """Return a digest of the code that decides numbers: other code may not finish a study."""
    package = package_folder()
    modules = sorted(
        path
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in _SHOWN_BY
    )
    return digest_text("".join(digest_file(path) for path in modules))[:16]


def package_folder() -> Path:
    """Return where the code stands."""
    return Path(rtc_bayes.__file__).parent


@contextlib.contextmanager
def _terminated() -> Iterator[None]:
    """Take the signal to terminate as an interruption, where nobody else has asked for it."""
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if not ours:
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
