"""What the scripts of this folder share: the time of short work, probabilities, peak memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np

import rtc_bayes as rb


def median_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Median processor time of one thread; one call warms up."""
    work()
    found = []
    for _ in range(repeats):
        start = time.thread_time()
        work()
        found.append(time.thread_time() - start)
    return float(np.median(found))


def graded(pool: rb.Pool) -> np.ndarray:
    """Probabilities that fall with the ranks: half the mean over systems of 1 / sqrt(rank)."""
    total = np.zeros(pool.n_documents)
    for s in range(pool.n_systems):
        for t in range(pool.n_topics):
            ranking = pool.ranking(s, t)
            total[ranking] += 1.0 / np.sqrt(np.arange(1, len(ranking) + 1))
    return 0.5 * total / pool.n_systems


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
