"""
Trying a relevance model
========================

You have an idea of what makes a document relevant. Write it as a small class, fit it to a few
judgments, and see whether it predicts the documents that nobody judged.
"""

from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rtc_bayes as rb
from rtc_bayes.relevance import coordinates, observe

# %%
# The idea: relevance thins out with the best rank that any system gave. A model is a dataclass with
# a PyMC graph; ``observe`` adds ``p``, the probability of every document, and the likelihood of
# those judged, from their log-odds.


@dataclass(frozen=True)
class BestRank:
    name: ClassVar[str] = "best_rank"
    methods: ClassVar[tuple[str, ...]] = ("map", "laplace")
    default_method: ClassVar[str] = "laplace"
    scale: float = 2.0

    def graph(self, pool, judgments):
        import pymc as pm

        best = np.where(pool.best_ranks > 0, pool.best_ranks, pool.depth + 1)
        with pm.Model(coords=coordinates(pool)) as model:
            base = pm.Normal("base", 0, self.scale)
            slope = pm.Normal("slope", 0, self.scale)
            observe(judgments, lambda rows: base - slope * np.log(best[rows]))
        return model


# %%
# A collection with 120 judgments, chosen without a model (``ip``: in order of rank).
collection = rb.simulate(n_topics=25, n_systems=6, depth=200, seed=1)
pool = rb.Pool.from_runs(collection.runs, depth=50)
judgments = rb.build(pool, collection.qrels, "ip", budget=120).judgments
documents = zip(pool.topic_of, pool.docnos, strict=True)
truth = np.array(
    [collection.qrels[pool.topics[t]].get(docno, 0) for t, docno in documents]
)
unjudged = np.setdiff1d(np.arange(pool.n_documents), judgments.order)

# %%
# Three models predict the other documents. **Look at** the scores: lower is better for the Brier
# score, mean (p - label)², and for the log score, the mean of -ln of the probability of the label.
fits = {model: rb.fit(pool, judgments, model=model) for model in ("rtc", "robust")}
fits["best_rank"] = rb.fit(pool, judgments, model=BestRank())


def scores(fit):
    p = np.clip(fit.relevance.values.mean(axis=0)[unjudged], 1e-6, 1 - 1e-6)
    y = truth[unjudged]
    log_score = -np.mean(y * np.log(p) + (1 - y) * np.log1p(-p))
    return {
        "mean p": p.mean(),
        "relevant": y.mean(),
        "Brier": np.mean((p - y) ** 2),
        "log": log_score,
    }


pd.DataFrame({name: scores(fit) for name, fit in fits.items()}).T.round(3)

# %%
# What the model says about the systems. **Look at** cells near one half: it leaves
# those pairs open.
comparison = rb.compare(pool, fits["best_rank"])
rb.plot_matrix(comparison)
plt.show()

# %%
# Whether such confidences can be trusted is the next question: see :doc:`check_calibration`. The
# tutorial :doc:`/tutorials/own_model` goes through everything else a model can do.
