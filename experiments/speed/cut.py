"""Measure how fast and how exact the cut posterior is, and print the tables of docs/results.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.cut [--repeats 3]

The judgments are those that `rtc:map` chooses to tell two of the TREC-8 systems apart. Ends in a
few minutes on two free cores.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from arviz_stats.base import array_stats
from scipy.stats import ks_2samp

import rtc_bayes as rb
from experiments.speed import timing
from rtc_bayes.judging import build
from rtc_bayes.relevance import Sampling, load_model
from rtc_bayes.relevance.aggregation import graph
from rtc_bayes.relevance.cut import hmc, normal, posterior, ranks, targets
from rtc_bayes.relevance.logistic import sigmoid
from rtc_bayes.relevance.rank import self_report
from rtc_bayes.relevance.system_calibration import calibrate

SIZES = ((10, 250), (60, 1000))
SAMPLING = Sampling(draws=250, chains=4)


def main() -> None:
    repeats = timing.arguments(__doc__, repeats=3).repeats
    every = [collect(*size) for size in SIZES]
    print("## Seconds of 1000 draws, and in brackets of processor time\n")
    timing.print_table(
        "systems | judgments | documents | pairs | cold | warm",
        (in_fresh_cache(judgments, repeats) for judgments in every),
    )
    print("\n## Effective draws per second of the weights, given one q\n")
    timing.print_table(
        "systems | judgments | cut | pm.sample | times | pm.sample, compiling too",
        (against_nuts(judgments, repeats) for judgments in every),
    )
    print("\n## What is left of the start\n")
    timing.print_table(
        "systems | transitions | mean, in sd | sd, ratio | largest KS | its 1% point",
        (row for judgments in every for row in left_of_start(judgments)),
    )


def collect(systems: int, count: int) -> rb.Judgments:
    """Judge for two of some random systems, and pool all of them."""
    runs, qrels = timing.trec8()
    order = np.random.default_rng(0).permutation(len(runs))[:systems]
    chosen = [runs.systems[s] for s in order]
    pool = timing.pooled(runs).select(chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.CollectionWarning)
        made = build(pool.select(chosen[:2]), qrels, "rtc:map", confidence=None, budget=count)
    return made.judgments.on(pool)


def in_fresh_cache(judgments: rb.Judgments, repeats: int) -> list[object]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "judgments.nc"
        judgments.save(file)
        cold, *warm = timing.elsewhere(seconds, str(file), repeats, NUMBA_CACHE_DIR=folder)
    pairs = np.unique(np.column_stack([judgments.relevant, judgments.nonrelevant]), axis=0)
    pool = judgments.pool
    times = [f"{clock:.1f} ({processor:.1f})" for clock, processor in (cold, np.median(warm, 0))]
    return [pool.n_systems, judgments.n_judged, pool.n_documents, len(pairs), *times]


def seconds(file: str, repeats: int) -> list[list[float]]:
    """Time the first fit, which compiles, and the next: of the clock and of the processor."""
    model, judgments = load_model("rtc"), rb.Judgments.load(file)
    fits = []
    for _ in range(1 + repeats):
        ranks.sample.cache_clear()
        fits.append(timing.clocked(lambda: model.cut(judgments, SAMPLING))[1])
    return fits


def stage(judgments: rb.Judgments) -> targets.LogisticTarget:
    """Return layer 3 at the modes of layers 1 and 2."""
    reports = self_report(judgments)
    entries, unranked = calibrate(reports).log_odds(reports)
    features = np.ascontiguousarray(reports.judged(sigmoid(entries), sigmoid(unranked)).T)
    return targets.LogisticTarget(features, reports.labels, np.ones(features.shape[1]), 1.0, 1.0)


class Chains:
    """Chains of layer 3, each from the normal approximation, made anew."""

    def __init__(self, target: targets.LogisticTarget, seed: int) -> None:
        n, rows = target.features.shape
        self.target, self.random, self.stats = target, np.random.default_rng(seed), np.zeros(2)
        self.centre, self.precision = np.zeros(n), np.eye(n)
        self.spread, self.work = np.empty((n, n)), np.empty((4, rows))

    def draw(self, out: np.ndarray, thin: int, burn: int = 0) -> None:
        """Draw so many states, (draws, systems), after transitions of each; 0: independently."""
        n, steps = out.shape[1], thin * len(out) + burn
        normal.approximate(self.target, self.centre, self.precision, self.spread, self.work)
        normals = self.random.standard_normal((steps + 1, n))
        uniforms = self.random.random((steps, 2))
        if thin == 0:
            out[:] = self.centre + self.spread @ normals[0]
            return
        moves = normals, uniforms, *hmc.leapfrog(n), thin
        hmc.chain(self.target, self.centre, self.spread, self.work, *moves, out, self.stats)


def short_chains(
    target: targets.LogisticTarget, count: int, transitions: int, seed: int
) -> np.ndarray:
    """Draw as the cut does for `count` draws of q, all of them the same; (draws, systems)."""
    chains, out = Chains(target, seed), np.empty((count, len(target.features)))
    for m in range(count):
        chains.draw(out[m : m + 1], transitions)
    return out


def effective(draws: np.ndarray) -> float:
    """Return the smallest bulk ESS, no more than the draws; (chains, draws, systems)."""
    ess = array_stats.ess(draws, method="bulk", chain_axis=0, draw_axis=1)
    return float(min(ess.min(), draws[..., 0].size))


def against_nuts(judgments: rb.Judgments, repeats: int) -> list[object]:
    import pymc as pm

    logging.getLogger("pymc").setLevel(logging.ERROR)
    target, reports = stage(judgments), self_report(judgments)
    model = graph(reports, calibrate(reports))
    short_chains(target, 2, posterior.TRANSITIONS, 0)
    speeds = []
    for seed in range(repeats):
        draws, (ours, _) = timing.clocked(
            lambda seed=seed: short_chains(target, 1000, posterior.TRANSITIONS, seed)
        )
        with model, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree, (compiling_too, _) = timing.clocked(
                lambda seed=seed: pm.sample(
                    500,
                    tune=500,
                    chains=4,
                    cores=1,
                    var_names=["lambda"],
                    random_seed=seed,
                    progressbar=False,
                    compute_convergence_checks=False,
                )
            )
        theirs = effective(tree.posterior["lambda"].values)
        sampling = float(tree.posterior.attrs["sampling_time"])
        speeds.append(
            (effective(draws.reshape(4, 250, -1)) / ours, theirs / sampling, theirs / compiling_too)
        )
    a, b, c = np.median(speeds, axis=0)
    sizes = judgments.pool.n_systems, judgments.n_judged
    return [*sizes, f"{a:.0f}", f"{b:.0f}", f"{a / b:.0f}", f"{c:.0f}"]


def left_of_start(judgments: rb.Judgments) -> Iterator[list[object]]:
    target = stage(judgments)
    n = len(target.features)
    long = np.empty((8000, n))
    Chains(target, 0).draw(long, thin=10, burn=100)
    count = 4000
    for transitions in (0, 2, 4, 6, 10):
        short = short_chains(target, count, transitions, 1)
        apart = np.abs(short.mean(axis=0) - long.mean(axis=0)) / long.std(axis=0)
        ratio = short.std(axis=0) / long.std(axis=0)
        statistic = max(ks_2samp(short[:, s], long[:, s]).statistic for s in range(n))
        # of the largest of n, each as if apart from the others
        chance = np.sqrt(-0.5 * np.log(0.005 / n) * (1 / count + 1 / len(long)))
        ratios = f"{ratio.min():.3f} to {ratio.max():.3f}"
        yield [n, transitions, f"{apart.max():.3f}", ratios, f"{statistic:.3f}", f"{chance:.3f}"]


if __name__ == "__main__":
    main()
