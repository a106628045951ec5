"""Small random collections to fit models to."""

from __future__ import annotations

import warnings

import numpy as np

from rtc_bayes import CollectionWarning, Judgments, Pool, Run, Runs


def make_pool(
    systems: int = 4, topics: int = 5, depth: int = 12, documents: int = 40, seed: int = 0
) -> Pool:
    """Random runs: some lists short, the last system without the last topic if it has company."""
    rng = np.random.default_rng(seed)
    runs = []
    for s in range(systems):
        rankings = {}
        for t in range(topics):
            if systems > 1 and topics > 1 and s == systems - 1 and t == topics - 1:
                continue
            length = depth if (s + t) % 3 else max(1, depth // 2)
            chosen = rng.permutation(documents)[:length]
            rankings[str(t + 1)] = [f"d{i:03d}" for i in chosen]
        runs.append(Run.from_rankings(f"run{s}", rankings))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollectionWarning)
        return Pool.from_runs(Runs(runs), depth=depth)


def judge(pool: Pool, count: int, seed: int = 1, share: float = 0.4) -> Judgments:
    """Judge `count` random documents of the pool."""
    rng = np.random.default_rng(seed)
    documents = rng.permutation(pool.n_documents)[:count]
    labels = (rng.random(count) < share).astype(float)
    return Judgments.from_labels(pool, documents, labels)
