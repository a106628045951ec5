"""Plug-in moments of all pairs of a track over many draws, by this code and by another version.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.all_pairs --before PYTHON
       > docs/results/speed-all-pairs.md

Average precision of the 129 systems of TREC-8 at depth 100 over 600 draws, two topics at a time.
The draws are probabilities that fall with the ranks, with normal noise on their log-odds; 3000
documents are judged. PYTHON is an interpreter that has the version to compare with; the two take
turns, each in a process of its own. Processor time is of all threads. Ends in five minutes on two
free cores.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

import rtc_bayes as rb
from experiments.speed import timing

JUDGED, JOBS, TARGET = 3000, 2, 40


def main() -> None:
    options = timing.arguments(__doc__, before=None, turns=3, draws=600)
    timing.print_head("Speed of all pairs over draws", __doc__)
    print(f"Medians of {options.turns}; the target is {TARGET} s.\n")
    medians = timing.compared(measured, options.draws, before=options.before, turns=options.turns)
    columns = "version | s | processor time, s | peak memory, GB"
    timing.print_table(columns, timing.version_rows(medians, 1, 1, 2))


def measured(count: int) -> list[float]:
    """Seconds, processor seconds, and the peak of memory in GB."""
    pool = timing.pooled(timing.trec8()[0])
    rng = np.random.default_rng(0)
    draws = rng.normal(logit(timing.graded(pool)), 0.5, (count, pool.n_documents))
    expit(draws, out=draws)
    judged = rng.choice(pool.n_documents, JUDGED, replace=False)
    draws[:, judged] = rng.random(JUDGED) < 0.3
    # versions before Workers were given their number
    at_once = {"workers": rb.Workers(JOBS)} if hasattr(rb, "Workers") else {"jobs": JOBS}
    rb.moments(pool, draws[:2], moments="plugin")  # compiles
    _, seconds = timing.clocked(lambda: rb.moments(pool, draws, moments="plugin", **at_once))
    return [*seconds, timing.peak()]


if __name__ == "__main__":
    main()
