"""Random topics to hold against the oracle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rtc_bayes.collection.lists import Lists


@dataclass(frozen=True)
class Topic:
    lists: list[np.ndarray]
    p: np.ndarray

    @property
    def complete(self):
        ranked = np.concatenate([np.empty(0, dtype=np.int32), *self.lists]).astype(np.int32)
        starts = np.concatenate([[0], np.cumsum([len(part) for part in self.lists])])
        return Lists.complete(ranked, starts.astype(np.int64))

    @property
    def with_holes(self):
        """The same lists, without the documents that cannot be relevant."""
        ranked, starts, ranks = self.complete
        kept = self.p[ranked] > 0.0
        before = np.concatenate([[0], np.cumsum(kept)])
        return Lists(ranked[kept], before[starts], ranks[kept])


def random_topic(rng, documents, most_lists=3):
    """Lists of any length over some documents, some judged, R = 0 often likely."""
    p = rng.random(documents) ** rng.choice([0.3, 1.0, 6.0])
    p[rng.random(documents) < 0.2] = 0.0
    if rng.random() < 0.5:
        p[rng.random(documents) < 0.15] = 1.0
    lists = [
        rng.permutation(documents)[: rng.integers(0, documents + 1)].astype(np.int32)
        for _ in range(rng.integers(1, most_lists + 1))
    ]
    if rng.random() < 0.3:
        lists.append(lists[0].copy())
    if rng.random() < 0.3 and len(lists[0]) > 1:
        swapped = lists[0].copy()
        swapped[[-1, -2]] = swapped[[-2, -1]]
        lists.append(swapped)
    return Topic(lists, p)
