"""The trials that `robust` was developed on: 33 of seed 1000, of TREC-8 and of Robust 2003."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import joblib
import numpy as np
from numpy.typing import NDArray

from experiments.common import read_collection
from rtc_bayes import Estimand
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials import Collection, quietly

SEED = 1000


def trials_parser(description: str | None) -> argparse.ArgumentParser:
    """Take the number of trials and of jobs; a script adds what else it takes."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--trials", type=int, default=33)
    found.add_argument("--jobs", type=int, default=2)
    return found


def of_each[Found](
    trial: Callable[[Collection, int], Found], options: argparse.Namespace, score_depth: int | None
) -> Iterator[tuple[str, Collection, list[Found]]]:
    """Run a trial, of a collection and a seed, for all seeds of one collection and the other."""
    for name in ("trec8_adhoc", "robust03"):
        runs, qrels = read_collection(name)
        collection = Collection.from_runs(runs, qrels, Estimand(score_depth=score_depth))
        work = [
            joblib.delayed(alone)(trial, collection, seed)
            for seed in spawn_seeds(SEED, options.trials)
        ]
        yield name, collection, joblib.Parallel(options.jobs)(work)


def alone[Found](trial: Callable[..., Found], *given: object) -> Found:
    """Run a trial on one thread, without the remarks of its fits."""
    with quietly():
        return trial(*given)


def with_error(values: NDArray[np.float64], form: str) -> str:
    """Write a mean over trials with its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():{form}} ± {error:{form.lstrip('+')}}"
