"""Measure a fit of `robust` to complete judgments beside the version before.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.complete --before PYTHON [--turns 3]

The first systems of TREC-8, pooled to depth 100 with ranks to 1000; all documents with the track's
judgments; priors and draws as by default. Both versions draw until the chains pass their checks. A
fit of each is made in a process of its own, the versions taking turns, and medians are shown.
"""

from __future__ import annotations

import warnings

import rtc_bayes as rb
from experiments.speed import timing


def main() -> None:
    options = timing.arguments(__doc__, before=None, turns=3, sizes="2,5,10")
    timing.print_head("A fit to complete judgments", __doc__)
    timing.print_table(
        "systems | version | s of the clock | s of processor time | passed",
        (
            [systems, *row]
            for systems in map(int, options.sizes.split(","))
            for row in timing.version_rows(
                timing.compared(fitted, systems, before=options.before, turns=options.turns),
                1,
                1,
                0,
            )
        ),
    )


def fitted(systems: int) -> list[float]:
    """Fit, compiled before: seconds of the clock and of all threads, and whether chains agree."""
    runs, qrels = timing.trec8()
    pool = timing.pooled(runs).select(list(runs.systems[:systems]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = rb.Judgments.from_labels(pool, range(10), [1, 0] * 5)
        rb.fit(pool, few, draws=1, chains=1)
        every = rb.Judgments.from_qrels(pool, qrels)
        agree, seconds = timing.clocked(lambda: passes(pool, every))
    return [*seconds, float(agree)]


def passes(pool: rb.Pool, judgments: rb.Judgments) -> bool:
    """Fit, and tell whether the fit may be used."""
    try:
        rb.fit(pool, judgments)
    except rb.FitError:
        return False
    return True


if __name__ == "__main__":
    main()
