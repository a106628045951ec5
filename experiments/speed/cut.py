"""Measure how fast and how exact the cut posterior is, and print the tables of docs/results.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.cut [--repeats 3]

The judgments are those that `rtc:map` chooses to tell two of the TREC-8 systems apart. Ends in a
few minutes on two free cores.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from arviz_stats.base import array_stats
from scipy.stats import ks_2samp

import rtc_bayes as rb
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--time", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.time:
        print(json.dumps(seconds(rb.Judgments.load(options.time), options.repeats)))
        return
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{systems}.nc" for systems, _ in SIZES]
        for file, size in zip(files, SIZES, strict=True):
            collect(*size).save(file)
        print("## Seconds of 1000 draws, and in brackets of processor time\n")
        print("| systems | judgments | documents | pairs | cold | warm |")
        print("|---|---|---|---|---|---|")
        for file in files:
            in_fresh_cache(file, options.repeats)
        every = [rb.Judgments.load(file) for file in files]
    print("\n## Effective draws per second of the weights, given one q\n")
    print("| systems | judgments | cut | pm.sample | times | pm.sample, compiling too |")
    print("|---|---|---|---|---|---|")
    for judgments in every:
        against_nuts(judgments, options.repeats)
    print("\n## What is left of the start\n")
    print("| systems | transitions | mean, in sd | sd, ratio | largest KS | its 1% point |")
    print("|---|---|---|---|---|---|")
    for judgments in every:
        left_of_start(judgments)


def collect(systems: int, count: int) -> rb.Judgments:
    """Judge for two of some random systems, and pool all of them."""
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.CollectionWarning)
        runs, qrels = rb.read_runs(folder / "runs"), rb.read_qrels(folder / "qrels.txt.gz")
        order = np.random.default_rng(0).permutation(len(runs))[:systems]
        chosen = [runs.systems[s] for s in order]
        pool = rb.Pool.from_runs(runs, depth=100).select(chosen)
        made = build(pool.select(chosen[:2]), qrels, "rtc:map", confidence=None, budget=count)
    return made.judgments.on(pool)


def in_fresh_cache(file: Path, repeats: int) -> None:
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "--time", str(file), "--repeats", str(repeats)]
        done = subprocess.run(
            command,
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            check=True,
            capture_output=True,
            text=True,
        )
    found = json.loads(done.stdout.splitlines()[-1])
    judgments = rb.Judgments.load(file)
    pairs = np.unique(np.column_stack([judgments.relevant, judgments.nonrelevant]), axis=0)
    pool = judgments.pool
    print(
        f"| {pool.n_systems} | {judgments.n_judged} | {pool.n_documents} | {len(pairs)} "
        f"| {found['cold'][0]:.1f} ({found['cold'][1]:.1f}) "
        f"| {found['warm'][0]:.1f} ({found['warm'][1]:.1f}) |",
        flush=True,
    )


def seconds(judgments: rb.Judgments, repeats: int) -> dict[str, list[float]]:
    """Time the first fit, which compiles, and the median of the next: elapsed and processor."""
    model = load_model("rtc")
    found = []
    for _ in range(1 + repeats):
        ranks.sample.cache_clear()
        start = time.perf_counter(), time.process_time()
        model.cut(judgments, SAMPLING)
        found.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return {"cold": list(found[0]), "warm": np.median(found[1:], axis=0).tolist()}


def stage(judgments: rb.Judgments) -> targets.LogisticTarget:
    """Return layer 3 at the modes of layers 1 and 2."""
    reports = self_report(judgments)
    entries, unranked = calibrate(reports).log_odds(reports)
    features = np.ascontiguousarray(reports.judged(sigmoid(entries), sigmoid(unranked)).T)
    return targets.LogisticTarget(features, reports.labels, np.ones(features.shape[1]), 1.0, 1.0)


def short_chains(
    target: targets.LogisticTarget, count: int, transitions: int, seed: int
) -> np.ndarray:
    """Draw as the cut does for `count` draws of q, all of them the same; (draws, systems)."""
    n, rows = target.features.shape
    centre, precision, spread = np.zeros(n), np.eye(n), np.empty((n, n))
    work, out, stats = np.empty((4, rows)), np.empty((count, n)), np.zeros(2)
    random = np.random.default_rng(seed)
    for m in range(count):
        normal.approximate(target, centre, precision, spread, work)
        normals = random.standard_normal((transitions + 1, n))
        uniforms = random.random((transitions, 2))
        if transitions == 0:
            out[m] = centre + spread @ normals[0]
            continue
        hmc.chain(
            target,
            centre,
            spread,
            work,
            normals,
            uniforms,
            *hmc.leapfrog(n),
            transitions,
            out[m : m + 1],
            stats,
        )
    return out


def effective(draws: np.ndarray) -> float:
    """Return the smallest bulk ESS, no more than the draws; (chains, draws, systems)."""
    ess = array_stats.ess(draws, method="bulk", chain_axis=0, draw_axis=1)
    return float(min(ess.min(), draws[..., 0].size))


def against_nuts(judgments: rb.Judgments, repeats: int) -> None:
    import pymc as pm

    logging.getLogger("pymc").setLevel(logging.ERROR)
    target, reports = stage(judgments), self_report(judgments)
    model = graph(reports, calibrate(reports))
    short_chains(target, 2, posterior.TRANSITIONS, 0)
    ours, theirs, whole = [], [], []
    for seed in range(repeats):
        start = time.perf_counter()
        draws = short_chains(target, 1000, posterior.TRANSITIONS, seed)
        ours.append(effective(draws.reshape(4, 250, -1)) / (time.perf_counter() - start))
        start = time.perf_counter()
        with model, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = pm.sample(
                500,
                tune=500,
                chains=4,
                cores=1,
                var_names=["lambda"],
                random_seed=seed,
                progressbar=False,
                compute_convergence_checks=False,
            )
        elapsed = time.perf_counter() - start
        found = effective(tree.posterior["lambda"].values)
        theirs.append(found / float(tree.posterior.attrs["sampling_time"]))
        whole.append(found / elapsed)
    a, b, c = (float(np.median(x)) for x in (ours, theirs, whole))
    print(
        f"| {judgments.pool.n_systems} | {judgments.n_judged} "
        f"| {a:.0f} | {b:.0f} | {a / b:.0f} | {c:.0f} |",
        flush=True,
    )


def left_of_start(judgments: rb.Judgments) -> None:
    target = stage(judgments)
    n, rows = target.features.shape
    centre, precision, spread = np.zeros(n), np.eye(n), np.empty((n, n))
    work, long, stats = np.empty((4, rows)), np.empty((8000, n)), np.zeros(2)
    normal.approximate(target, centre, precision, spread, work)
    random = np.random.default_rng(0)
    thin = 10
    hmc.chain(
        target,
        centre,
        spread,
        work,
        random.standard_normal((thin * 8000 + 101, n)),
        random.random((thin * 8000 + 100, 2)),
        *hmc.leapfrog(n),
        thin,
        long,
        stats,
    )
    count = 4000
    for transitions in (0, 2, 4, 6, 10):
        short = short_chains(target, count, transitions, 1)
        apart = np.abs(short.mean(axis=0) - long.mean(axis=0)) / long.std(axis=0)
        ratio = short.std(axis=0) / long.std(axis=0)
        statistic = max(ks_2samp(short[:, s], long[:, s]).statistic for s in range(n))
        # of the largest of n, each as if apart from the others
        chance = np.sqrt(-0.5 * np.log(0.005 / n) * (1 / count + 1 / len(long)))
        print(
            f"| {n} | {transitions} | {apart.max():.3f} | {ratio.min():.3f} to {ratio.max():.3f} "
            f"| {statistic:.3f} | {chance:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
