"""The trials that `robust` was developed on: 33 of seed 1000, of TREC-8 and of Robust 2003."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial

import joblib
import numpy as np
from numpy.typing import NDArray

from experiments.common import read_collection
from rtc_bayes import Estimand
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials import Collection, Outcome, Plan, outcomes, quietly

SEED = 1000


def trials_parser(description: str | None) -> argparse.ArgumentParser:
    """Take the number of trials and of jobs; a script adds what else it takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--trials", type=int, default=33)
    parser.add_argument("--jobs", type=int, default=2)
    return parser


def of_each[Told](
    tell: Callable[[Outcome, Collection], Told], plan: Plan, options: argparse.Namespace
) -> Iterator[tuple[str, list[list[Told]]]]:
    """Tell of every outcome of every trial, of one collection and then of the other."""
    for name, _, trials in of_each_seed(partial(_outcomes, tell, plan), plan.estimand, options):
        yield name, trials


def of_each_seed[Told](
    trial: Callable[[Collection, int], Told], estimand: Estimand, options: argparse.Namespace
) -> Iterator[tuple[str, Collection, list[Told]]]:
    """Run a trial of every seed, of one collection and then of the other."""
    for name in ("trec8_adhoc", "robust03"):
        collection = Collection.from_runs(*read_collection(name), estimand)
        work = [
            joblib.delayed(_alone)(trial, collection, seed)
            for seed in spawn_seeds(SEED, options.trials)
        ]
        yield name, collection, joblib.Parallel(options.jobs)(work)


def _outcomes[Told](
    tell: Callable[[Outcome, Collection], Told], plan: Plan, collection: Collection, seed: int
) -> list[Told]:
    return [tell(outcome, collection) for outcome in outcomes(collection, plan, seed)]


def _alone[Told](
    trial: Callable[[Collection, int], Told], collection: Collection, seed: int
) -> Told:
    """Run a trial on one thread, without the remarks of its fits."""
    with quietly():
        return trial(collection, seed)


def with_error(values: NDArray[np.float64], form: str) -> str:
    """Write a mean over trials with its standard error, where there is more than one."""
    if len(values) == 1:
        return f"{values[0]:{form}}"
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():{form}} ± {error:{form.lstrip('+')}}"
