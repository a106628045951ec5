"""Exact draws from an effects regression by a Gibbs sampler.

Given Polya-Gamma variables the log-odds are those of a normal regression (Polson, Scott and
Windle 2013), so all effects are drawn together: see :mod:`rtc_bayes.relevance.gibbs.sweeps`.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from rtc_bayes.relevance.effects import EffectsDraws, EffectsRegression
from rtc_bayes.relevance.gibbs.chain import Prior, Rows, State
from rtc_bayes.relevance.gibbs.sweeps import advance, begin
from rtc_bayes.relevance.interface import Sampling
from rtc_bayes.relevance.newton import Floats
from rtc_bayes.store import spawn_seeds
from rtc_bayes.workers import one_thread

# rows that are whitened at a time
_BLOCK = 65_536
# from so many on, and so many to each effect of a topic, more moves pay
_MANY_ROWS, _TO_AN_EFFECT = 4_000, 1
# of compiled sweeps at least, before a chain looks whether it is to stop
_SECONDS = 0.1
# sweeps that foretell how long all take
_TRIED = 4


def sample(regression: EffectsRegression, sampling: Sampling, sweeps: int) -> EffectsDraws:
    """Draw as :meth:`rtc_bayes.relevance.effects.EffectsRegression.gibbs` says."""
    order: slice | NDArray[np.int64] = slice(None)  # no copy where they are in order
    if np.any(np.diff(regression.topic) < 0):
        order = np.argsort(regression.topic, kind="stable")
    starts = np.searchsorted(regression.topic[order], np.arange(regression.n_topics + 1))
    # effects, which have a scale, take a place among the coefficients
    unused = np.zeros(len(regression.scale_of) - len(regression.mean))
    rows = Rows(
        columns=np.require(regression.columns[order], np.float64, ["C", "W"]),
        local=np.require(regression.local[order], np.float64, ["C", "W"]),
        starts=starts.astype(np.int64),
        labels=np.require(regression.labels[order], np.float64, ["C", "W"]),
    )
    prior = Prior(
        mean=np.append(regression.mean, unused),
        sd=np.append(regression.sd, unused),
        scale_of=regression.scale_of,
        local_scale_of=regression.local_scale_of,
        log_median=np.log(regression.median),
        spread=regression.spread,
        df=regression.df,
    )

    stop, many = Event(), has_many_rows(rows)

    def chain(random: np.random.Generator, out: tuple[Floats, Floats, Floats]) -> None:
        here = begin(rows, prior, _BLOCK, many)
        done, total, size = 0, sampling.tune + sweeps * sampling.draws, 1
        while done < total and not stop.is_set():
            last, began = min(total, done + size), time.perf_counter()
            advance(random, rows, prior, here, done, last, sampling.tune, sweeps, State(*out))
            done = last
            if time.perf_counter() - began < _SECONDS:
                size *= 2

    shape = (sampling.chains, sampling.draws)
    drawn = EffectsDraws(
        columns=np.empty((*shape, regression.columns.shape[1])),
        local=np.empty((*shape, regression.n_topics, regression.local.shape[1])),
        log_scale=np.empty((*shape, len(regression.median))),
    )
    generators = [np.random.default_rng(seed) for seed in spawn_seeds(sampling.seed, shape[0])]
    workers = max(1, min(sampling.chains, cpu_count()))
    with one_thread(), ThreadPoolExecutor(max_workers=workers) as threads:
        try:
            list(threads.map(chain, generators, drawn))
        finally:
            stop.set()
    return drawn


def expected_minutes(regression: EffectsRegression, sampling: Sampling, sweeps: int) -> float:
    """Foretell how long :func:`sample` takes by a few sweeps; 0 where rows are not many."""
    if len(regression.labels) < _MANY_ROWS:
        return 0.0
    sample(regression, Sampling(draws=1, chains=1, tune=0), 1)  # compiles
    began = time.perf_counter()
    sample(regression, Sampling(draws=_TRIED, chains=1, tune=0), 1)
    of_a_sweep = (time.perf_counter() - began) / _TRIED
    turns = math.ceil(sampling.chains / cpu_count())
    return of_a_sweep * turns * (sampling.tune + sweeps * sampling.draws) / 60.0


def has_many_rows(rows: Rows) -> bool:
    """Tell whether topics have so many rows that what they say is worth looking at by itself."""
    n, depth = rows.local.shape
    return n >= max(_MANY_ROWS, _TO_AN_EFFECT * (len(rows.starts) - 1) * depth)
