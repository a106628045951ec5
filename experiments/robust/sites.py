"""Write groups of systems whose lists overlap, for a model's option `groups`.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.sites -o groups.csv [--overlap .7]

Two systems are in one group if a chain of systems joins them, each sharing at least this part of
its first 100 documents with the next, on average over topics. No names are used.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from experiments.common import read_collection
from rtc_bayes import Pool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--overlap", type=float, default=0.7)
    options = parser.parse_args()
    pool = Pool.from_runs(read_collection("trec8_adhoc")[0], depth=100)
    count, group = connected_components(shared(pool) >= options.overlap, directed=False)
    pd.DataFrame({"system": pool.systems, "group": [f"g{g}" for g in group]}).to_csv(
        options.output, index=False
    )
    print(f"{pool.n_systems} systems in {count} groups, the largest of {np.bincount(group).max()}")


def shared(pool: Pool) -> np.ndarray:
    """Mean part of two systems' documents that both have, shape (systems, systems)."""
    parts = []
    for t in range(pool.n_topics):
        held = (pool.ranks(t) > 0).astype(np.float64)
        both, length = held @ held.T, held.sum(axis=1)
        parts.append(both / np.maximum(np.minimum.outer(length, length), 1.0))
    return np.mean(parts, axis=0)


if __name__ == "__main__":
    main()
