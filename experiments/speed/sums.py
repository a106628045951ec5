"""One pair of systems on one topic: the paper's four sums as printed, and the library's kernels.

Usage: python -m experiments.speed.sums > docs/results/speed-sums.md

Two lists of n documents that share half of them; the mean and the variance of the numerator of the
difference in average precision (Carterette 2007, section 2), and the exact moments of the ratio.
Times are of one thread, in processor time, medians of seven, all compiled and warm; kernels are
called from compiled code, as they are for many pairs. Ends in two minutes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

import rtc_bayes as rb
from experiments.speed import timing
from rtc_bayes.measures import numerator
from rtc_bayes.measures.overlaps import Overlaps

REPEATS = 7
SHARED = 0.5
DRAWS = 200
TARGETS = {100: 200, 1000: 3000}
RATIO_TARGET = 25


def main() -> None:
    timing.print_head("Speed of the sums of one pair", __doc__)
    print("## Numerator\n")
    columns = "n | four sums, ms | kernels, ms | times | target | largest relative difference"
    timing.print_table(columns, map(numerator_row, TARGETS))
    print("\n## Exact moments of the ratio, at tolerance 1e-6\n")
    print(f"`moments` of the pair, both systems and their difference, per draw of {DRAWS}.\n")
    timing.print_table("n | plug-in, ms | exact, ms | times | at most", map(ratio_row, TARGETS))


def numerator_row(n: int) -> list[str]:
    pool, p = pair(n)
    lists = pool.lists(0)
    a, b = inverse_ranks(pool)
    overlaps = Overlaps.of(lists, len(p), np.array([[0, 1]]))
    arguments = *lists.arrays, overlaps.pairs, overlaps.starts, overlaps.first, overlaps.second
    slow = timing.median_seconds(lambda: four_sums(a, b, p), REPEATS)
    calls = 1 + 200_000 // n
    fast = timing.median_seconds(lambda: kernels(*arguments, p[:, None], calls), REPEATS) / calls
    literal, compiled = four_sums(a, b, p), kernels(*arguments, p[:, None], 1)
    gap = max(abs(x / y - 1.0) for x, y in zip(compiled, literal, strict=True))
    times = f"{1e3 * slow:.4g}", f"{1e3 * fast:.4f}", f"{slow / fast:.0f}"
    return [str(n), *times, str(TARGETS[n]), f"{gap:.0e}"]


def ratio_row(n: int) -> list[str]:
    pool, p = pair(n)
    draws = np.tile(p, (DRAWS, 1))
    plugin, exact = (
        timing.moments_seconds(pool, draws, k, REPEATS, tolerance=1e-6) / DRAWS
        for k in ("plugin", "exact")
    )
    times = f"{1e3 * plugin:.3f}", f"{1e3 * exact:.3f}", f"{exact / plugin:.1f}"
    return [str(n), *times, str(RATIO_TARGET)]


def pair(n: int) -> tuple[rb.Pool, np.ndarray]:
    """Two lists of n documents, and probabilities that fall with the better rank."""
    rng = np.random.default_rng(0)
    common = int(SHARED * n)
    names = [f"d{i:05d}" for i in range(2 * n - common)]
    lists = names[:n], names[n - common :]
    runs = [rb.Run.from_rankings(f"s{k}", {"1": rng.permutation(x)}) for k, x in enumerate(lists)]
    pool = rb.Pool.from_runs(rb.Runs(runs), depth=n)
    best = np.maximum(*inverse_ranks(pool))
    return pool, 0.05 + 0.5 * best * rng.random(len(best))


def inverse_ranks(pool: rb.Pool) -> np.ndarray:
    ranks = pool.ranks(0)
    return np.divide(1.0, ranks, out=np.zeros(ranks.shape), where=ranks > 0)


@njit
def four_sums(a, b, p):
    """Mean and variance of the numerator, term by term."""
    n = len(p)
    mean = 0.0
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        own = a[i] - b[i]
        mean += own * p[i]
        one += own * own * p[i] * (1.0 - p[i])
        for j in range(i + 1, n):
            c = min(a[i], a[j]) - min(b[i], b[j])
            mean += c * p[i] * p[j]
            two += c * c * p[i] * p[j] * (1.0 - p[i] * p[j])
        for j in range(n):
            if j != i:
                c = min(a[i], a[j]) - min(b[i], b[j])
                three += 2.0 * own * c * p[i] * p[j] * (1.0 - p[i])
        for j in range(n):
            if j == i:
                continue
            c = min(a[i], a[j]) - min(b[i], b[j])
            for k in range(j + 1, n):
                if k != i:
                    d = min(a[i], a[k]) - min(b[i], b[k])
                    four += 2.0 * c * d * p[j] * p[k] * p[i] * (1.0 - p[i])
    return mean, one + two + three + four


@njit
def kernels(ranked, starts, inverse, pairs, shared_starts, shared_first, shared_second, p, calls):
    """Mean and variance of the numerator by the library's kernels, so many times."""
    weight = np.ones(1)
    draw_starts = np.array([0, 1])
    centre = np.zeros((1, 2))
    mean, variance = 0.0, 0.0
    for _ in range(calls):
        v = p * (1.0 - p)
        expected = numerator.expected(ranked, starts, inverse, p)
        slope = numerator.influence(ranked, starts, inverse, p)
        own, linear, everything = numerator.own_variances(
            ranked, starts, inverse, slope, v, weight, draw_starts, centre
        )
        common = numerator.covariances(
            ranked,
            starts,
            inverse,
            pairs,
            shared_starts,
            shared_first,
            shared_second,
            slope,
            v,
            weight,
            draw_starts,
            centre,
            linear,
            everything,
        )
        mean = expected[0, 0] - expected[1, 0]
        variance = own[0, 0] + own[0, 1] - 2.0 * common[0, 0]
    return mean, variance


if __name__ == "__main__":
    main()
