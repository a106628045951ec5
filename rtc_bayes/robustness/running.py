"""Running the trials of a study, each stored as it ends, so that it can go on."""

from __future__ import annotations

import contextlib
import errno
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

from rtc_bayes.collection import Runs
from rtc_bayes.errors import UnfinishedError
from rtc_bayes.robustness.design import Design
from rtc_bayes.store import Progress, claimed, digest_text, spawn_seeds
from rtc_bayes.workers import RunTrial, open_workers

META = "meta.json"
_TRIALS = "trials"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def study_folder(folder: Path, design: Design, meta: Mapping[str, Any]) -> Iterator[None]:
    """Claim a folder for a study, and say what is kept if the study cannot be finished.

    Parameters
    ----------
    folder : Path
    design : Design
    meta : mapping of str to object
        Provenance; its entries study, version, models, runs and qrels are what a resumption must
        not change.

    Raises
    ------
    InputError
        The folder holds a study of other arguments, or another process is at work in it.
    UnfinishedError
        Workers were lost, memory ran out, or the disk is full.
    KeyboardInterrupt
        It says what is kept.
    """
    try:
        with claimed(folder / META, meta, _arguments, inside=_TRIALS):
            yield
    except BrokenExecutor as error:
        raise UnfinishedError(f"{error}; {_kept(folder, design)}") from error
    except MemoryError as error:
        raise UnfinishedError(
            f"memory ran out; take fewer --jobs; {_kept(folder, design)}"
        ) from error
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise UnfinishedError(
            f"{error.filename}: {error.strerror}; {_kept(folder, design)}"
        ) from error
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(_kept(folder, design)) from error


def run_trials(
    folder: Path,
    design: Design,
    prepare: Callable[[], RunTrial],
    store: Callable[[Any, Path, int], None],
    *,
    jobs: int,
    scheduler: str | None,
    progress: Progress,
) -> None:
    """Run those trials of a study that are not stored.

    Parameters
    ----------
    folder : Path
        A :func:`study_folder`.
    design : Design
    prepare : callable
        Called if a trial is to be run; returns what runs one in a worker, given its number and
        its seed.
    store : callable
        Called in this process with what a trial returned, the folder and the trial's number;
        writes :func:`trial_path` last.
    jobs, scheduler
        See :func:`rtc_bayes.workers.open_workers`.
    progress : Progress
    """
    todo = [n for n in range(design.trials) if not trial_path(folder, n).exists()]
    stored = design.trials - len(todo)
    progress("trials", stored, design.trials)
    if not todo:
        return
    seeds = spawn_seeds(design.seed, design.trials)
    with open_workers(jobs, scheduler) as run_all:
        found = run_all(prepare(), [(trial, seeds[trial]) for trial in todo])
        with contextlib.closing(found):
            for done, (trial, outcome) in enumerate(found, start=stored + 1):
                store(outcome, folder, trial)
                progress("trials", done, design.trials)


def trial_path(folder: Path, trial: int, ending: str = "json") -> Path:
    """Return where a trial is stored."""
    return folder / _TRIALS / f"{trial:05d}.{ending}"


def digest_runs(runs: Runs) -> str:
    """Return a digest of runs, their names and their order."""
    return digest_text(json.dumps([[name, run.digest] for name, run in runs.items()]))


def _arguments(meta: Mapping[str, Any]) -> dict[str, object]:
    """Return what must not change between a study and its resumption."""
    whole = {key: meta.get(key) for key in ("version", "models", "runs", "qrels")}
    return {**meta.get("study", {}), **whole}


def _kept(folder: Path, design: Design) -> str:
    stored = sum(trial_path(folder, n).exists() for n in range(design.trials))
    return f"{stored} of {design.trials} trials are stored, and the same command goes on"
