"""Small score matrices under hold-out designs."""

from __future__ import annotations

import numpy as np

import rtc_bayes as rb
from rtc_bayes.reuse.held import HeldScores


def matrix_of(scores: np.ndarray, topics: tuple[str, ...] | None = None) -> rb.ScoreMatrix:
    """Name systems s0, s1, ... and topics 1, 2, ..."""
    names = tuple(f"s{n}" for n in range(len(scores)))
    labels = topics or tuple(str(n + 1) for n in range(scores.shape[1]))
    return rb.ScoreMatrix(scores, 0.0 * scores, names, labels, "AP")


def drawn(
    rng: np.random.Generator, systems: int = 12, groups: int = 4, topics: int = 24
) -> tuple[rb.ScoreMatrix, dict[str, str]]:
    """Draw scores with topics that are harder and systems that are better, alike in a group."""
    hard = rng.normal(0, 0.8, topics)
    good = rng.normal(0, 0.4, (systems, 1))
    alike = rng.normal(0, 0.3, (groups, topics))[np.arange(systems) * groups // systems]
    logits = -1.0 + hard + good + alike + rng.normal(0, 0.4, (systems, topics))
    of = {f"s{n}": f"g{n * groups // systems}" for n in range(systems)}
    return matrix_of(1 / (1 + np.exp(-logits))), of


def lowered(
    scores: rb.ScoreMatrix, groups: dict[str, str], design: rb.HoldOutDesign, loss: float
) -> rb.ScoreMatrix:
    """Take a share from what held-out systems score."""
    out = ~design.mask(scores.systems, groups, scores.topics)
    return matrix_of(np.where(out, (1 - loss) * scores.mean, scores.mean), scores.topics)


def held_scores(seed: int = 0, **sizes: int) -> HeldScores:
    """Draw scores and a design that holds out two groups of each topic but a few."""
    scores, groups = drawn(np.random.default_rng(seed), **sizes)
    design = rb.hold_out(
        groups, scores.topics, 2, on_remainder="cycle", baseline_topics=3, seed=seed
    )
    return HeldScores.under(scores, groups, design)
