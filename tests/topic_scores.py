"""Score matrices for the tests of topics."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import rtc_bayes as rb


def matrix(mean: np.ndarray, variance: np.ndarray | None = None) -> rb.ScoreMatrix:
    """Name systems s0, s1, ... and topics 1, 2, ..."""
    systems, topics = np.shape(mean)
    return rb.ScoreMatrix(
        mean,
        0.0 * np.asarray(mean) if variance is None else variance,
        tuple(f"s{n}" for n in range(systems)),
        tuple(str(n + 1) for n in range(topics)),
        "AP",
    )


def drawn(seed: int, systems: int = 12, topics: int = 20) -> rb.ScoreMatrix:
    """Draw scores in (0, 1) of systems that differ, on topics that differ."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1, 1, topics) + rng.normal(0, 0.5, (systems, 1))
    return matrix(1 / (1 + np.exp(-logits - rng.normal(0, 0.6, (systems, topics)))))


matrices = st.builds(drawn, st.integers(0, 10_000), st.integers(4, 30), st.integers(3, 25))
