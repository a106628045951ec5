"""How the cost of moments grows with depth, systems, topics and draws.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.growth --figures docs/figures
       > docs/results/speed-growth.md

Moments of average precision of all pairs of TREC-8 systems. One of the four grows, the others stay:
depth 100, 10 systems, 50 topics, one draw (8 where topics grow, so that compiled work dominates).
Times are of all threads, in processor time, warm, medians of five; the exponent is the slope of log
time on log size over the upper half of the sizes. Ends in five minutes.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rtc_bayes as rb
from experiments.speed import timing

KINDS = ("plugin", "exact")
SIZES = {
    "depth": (25, 50, 100, 200, 400, 800),
    "systems": (4, 8, 16, 32, 64, 128),
    "topics": (3, 6, 12, 25, 50),
    "draws": (10, 20, 40, 80, 160, 320, 640),
}
EXPECTED = {"depth": 1.0, "systems": 2.0, "topics": 1.0, "draws": 1.0}
"""Exponents: pairs grow with the square of the systems; the rest is linear, but for a logarithm."""


def main() -> None:
    options = timing.arguments(__doc__, figures=None)
    runs, _ = timing.trec8()
    seconds = {what: measured(runs, what) for what in SIZES}
    timing.print_head("How the cost of moments grows", __doc__)
    timing.print_table(
        "what grows | from | to | expected exponent | plug-in | exact",
        (
            [what, sizes[0], sizes[-1], f"{EXPECTED[what]:.0f}"]
            + [f"{exponent(sizes, seconds[what][kind]):.2f}" for kind in KINDS]
            for what, sizes in SIZES.items()
        ),
    )
    if options.figures:
        draw(seconds, Path(options.figures) / "speed-growth.png")
        print("\n![Time against depth, systems, topics and draws](../figures/speed-growth.png)")


def measured(runs: rb.Runs, what: str) -> dict[str, list[float]]:
    """Seconds of each size, by kind of moments."""
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for size in SIZES[what]:
        pool, p = problem(runs, what, size)
        for kind in KINDS:
            seconds[kind].append(timing.moments_seconds(pool, p, kind))
    return seconds


def problem(runs: rb.Runs, what: str, size: int) -> tuple[rb.Pool, np.ndarray]:
    """A pool and draws of probabilities where one of the four has a size."""
    systems = size if what == "systems" else 10
    order = np.random.default_rng(0).permutation(len(runs))[:systems]
    chosen = runs.select([runs.systems[s] for s in order])
    if what == "topics":
        kept = chosen.topics[:size]
        chosen = rb.Runs(
            rb.Run.from_rankings(run.tag, {topic: run.ranking(topic).tolist() for topic in kept})
            for run in chosen.values()
        )
    pool = timing.pooled(chosen, size if what == "depth" else 100)
    draws = {"draws": size, "topics": 8}.get(what, 1)
    return pool, np.tile(timing.graded(pool), (draws, 1))


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    upper = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[upper:]), np.log(seconds[upper:]), 1)[0])


def draw(times: dict[str, dict[str, list[float]]], path: Path) -> None:
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
    for axis, (what, seconds) in zip(axes, times.items(), strict=True):
        sizes = np.array(SIZES[what], dtype=float)
        for kind, marker in zip(KINDS, "os", strict=True):
            slope = exponent(SIZES[what], seconds[kind])
            axis.loglog(sizes, seconds[kind], marker=marker, label=f"{kind}: {slope:.2f}")
        line = seconds["plugin"][-1] * (sizes / sizes[-1]) ** EXPECTED[what]
        axis.loglog(sizes, line, "--", color="grey", label=f"expected: {EXPECTED[what]:.0f}")
        axis.set_xlabel(what)
        axis.set_xticks(sizes, [f"{size:.0f}" for size in sizes])
        axis.minorticks_off()
        axis.legend(title="exponent", frameon=False, loc="lower right")
    axes[0].set_ylabel("seconds")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
