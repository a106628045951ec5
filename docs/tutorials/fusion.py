"""Relevance from fused ranks: the score by which metasearch would rank the documents."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rtc_bayes.relevance import coordinates, document_ranks, observe


@dataclass(frozen=True)
class Fusion:
    """Log-odds of relevance rise with the sum of 1 / (k + rank) over systems, scaled to sd 1.

    Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009); topics differ in their level.
    """

    k: float = 60.0
    spread: float = 1.0

    name: ClassVar[str] = "fusion"
    methods: ClassVar[tuple[str, ...]] = ("map", "laplace", "nuts")
    default_method: ClassVar[str] = "laplace"

    def graph(self, pool, judgments):
        """Write the model for PyMC."""
        import pymc as pm

        ranks = document_ranks(pool)
        fused = np.where(ranks > 0, 1.0 / (self.k + ranks), 0.0).sum(axis=1)
        fused = (fused - fused.mean()) / fused.std()
        topic = pool.topic_of
        with pm.Model(coords=coordinates(pool)) as model:
            base = pm.Normal("base", -2.5, 1.0)
            slope = pm.Normal("slope", 1.0, 0.5)
            alpha = pm.Normal("alpha", 0.0, self.spread, dims="topic")
            observe(judgments, lambda rows: base + alpha[topic[rows]] + slope * fused[rows])
        return model
