"""Running the trials of a study on all cores, each stored as it ends, so that it can go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import joblib

from rtc_bayes.collection import Runs
from rtc_bayes.robustness.design import Design
from rtc_bayes.store import Progress, claim, digest_text, spawn_seeds

type RunAndStore = Callable[[int, int, Path], None]

META = "meta.json"


def run_trials(
    folder: Path,
    design: Design,
    meta: Mapping[str, Any],
    prepare: Callable[[], RunAndStore],
    *,
    jobs: int,
    progress: Progress,
) -> None:
    """Claim a folder for a study, and run those of its trials that are not stored.

    Parameters
    ----------
    folder : Path
    design : Design
    meta : mapping of str to object
        Provenance; its entries study, version, models, runs and qrels are what a resumption must
        not change.
    prepare : callable
        Called if a trial is to be run; returns what runs a trial, given its number, its seed and
        the folder, in a worker, and stores it at :func:`trial_path` last.
    jobs : int
    progress : Progress

    Raises
    ------
    InputError
        The folder holds a study of other arguments.
    """
    (folder / "trials").mkdir(parents=True, exist_ok=True)
    claim(folder / META, meta, _arguments)
    todo = [n for n in range(design.trials) if not trial_path(folder, n).exists()]
    stored = design.trials - len(todo)
    progress("trials", stored, design.trials)
    if not todo:
        return
    run_and_store = prepare()
    seeds = spawn_seeds(design.seed, design.trials)
    # a worker from before may stand in another directory
    target = folder.resolve()
    work = (joblib.delayed(run_and_store)(trial, seeds[trial], target) for trial in todo)
    finished = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(work)
    for done, _ in enumerate(finished, start=stored + 1):
        progress("trials", done, design.trials)


def trial_path(folder: Path, trial: int, ending: str = "json") -> Path:
    """Return where a trial is stored."""
    return folder / "trials" / f"{trial:05d}.{ending}"


def digest_runs(runs: Runs) -> str:
    """Return a digest of runs, their names and their order."""
    return digest_text(json.dumps([[name, run.digest] for name, run in runs.items()]))


def _arguments(meta: Mapping[str, Any]) -> dict[str, object]:
    """Return what must not change between a study and its resumption."""
    whole = {key: meta.get(key) for key in ("version", "models", "runs", "qrels")}
    return {**meta.get("study", {}), **whole}
