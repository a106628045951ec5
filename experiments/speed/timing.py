"""How the scripts of this folder take the time of work that is short."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np


def median_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Median processor time of one thread; one call warms up."""
    work()
    found = []
    for _ in range(repeats):
        start = time.thread_time()
        work()
        found.append(time.thread_time() - start)
    return float(np.median(found))
