"""Exact draws from an effects regression by a Gibbs sampler.

Given Polya-Gamma variables the log-odds are those of a normal regression (Polson, Scott and
Windle 2013), so all effects are drawn together: see :mod:`rtc_bayes.relevance.gibbs.sweeps`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from joblib import cpu_count

from rtc_bayes.relevance.effects import EffectsDraws, EffectsRegression
from rtc_bayes.relevance.gibbs.sweeps import Prior, Rows, State, run
from rtc_bayes.relevance.interface import Sampling
from rtc_bayes.relevance.newton import Floats, one_thread
from rtc_bayes.store import spawn_seeds


def sample(regression: EffectsRegression, sampling: Sampling, sweeps: int) -> EffectsDraws:
    """Draw as :meth:`rtc_bayes.relevance.effects.EffectsRegression.gibbs` says."""
    order = np.argsort(regression.topic, kind="stable")
    starts = np.searchsorted(regression.topic[order], np.arange(regression.n_topics + 1))
    # effects, which have a scale, take a place among the coefficients
    unused = np.zeros(len(regression.scale_of) - len(regression.mean))
    rows = Rows(
        columns=np.ascontiguousarray(regression.columns[order], dtype=np.float64),
        local=np.ascontiguousarray(regression.local[order], dtype=np.float64),
        starts=starts.astype(np.int64),
        labels=regression.labels[order],
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

    def chain(random: np.random.Generator, out: tuple[Floats, Floats, Floats]) -> None:
        run(random, rows, prior, sampling.tune, sweeps, State(*out))

    shape = (sampling.chains, sampling.draws)
    drawn = EffectsDraws(
        columns=np.empty((*shape, regression.columns.shape[1])),
        local=np.empty((*shape, regression.n_topics, regression.local.shape[1])),
        log_scale=np.empty((*shape, len(regression.median))),
    )
    generators = [np.random.default_rng(seed) for seed in spawn_seeds(sampling.seed, shape[0])]
    workers = max(1, min(sampling.chains, cpu_count()))
    with one_thread(), ThreadPoolExecutor(max_workers=workers) as threads:
        list(threads.map(chain, generators, drawn))
    return drawn
