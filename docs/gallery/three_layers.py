"""
Three layers, fast and fully Bayesian
=====================================

Ranks to probabilities, calibrated per system, aggregated over systems: the layers of the 2007
paper as one hierarchical PyMC model (``layered``). This page goes through it: the graph, the
paper's modes by the fast path and by PyMC, the posterior, both in the same analytic comparison, and
how calibrated each is.
"""

import tempfile
import warnings

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pymc as pm

import rtc_bayes as rb

warnings.simplefilter("ignore")
collection = rb.simulate(n_topics=20, n_systems=20, depth=200, seed=1)
about = rb.Estimand("AP", depth=50)
names = collection.runs.systems
judged = rb.build(
    about.pool(collection.runs.select(names[:2])), collection.qrels, "mtc", about
)
pool = about.pool(collection.runs.select(names[:6]))
judgments = judged.judgments.on(pool)
judgments

# %%
# The graph
# ---------
# PyMC's own account of the model. **Look at** ``label``: every judgment stands in it once.
fit = rb.fit(pool, judgments, model="layered", draws=400, seed=1)
graph = fit.graph()
print(graph.str_repr())

# %%
# The same as a drawing, from what hangs on what (``pm.model_to_graphviz(graph)`` draws it with
# Graphviz, where that is installed).
places = {
    "logit_m": (0, 3), "log_k": (1, 3), "logit_prevalence": (0.5, 2), "offset": (2, 3),
    "A": (2, 2), "slope": (3, 3), "B": (3, 2), "weight": (4, 3), "lambda": (4, 2),
    "p": (2.25, 1), "label": (2.25, 0),
}  # fmt: skip
arrows = [
    ("logit_m", "logit_prevalence"), ("log_k", "logit_prevalence"), ("offset", "A"),
    ("slope", "B"), ("weight", "lambda"), ("logit_prevalence", "p"), ("A", "p"), ("B", "p"),
    ("lambda", "p"), ("p", "label"),
]  # fmt: skip
figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
for start, end in arrows:
    axes.annotate(
        "",
        places[end],
        places[start],
        arrowprops={"arrowstyle": "->", "shrinkA": 16, "shrinkB": 16},
    )
for name, place in places.items():
    size = graph[name].eval().size
    text = f"{name}\n× {size}" if size > 1 else name
    axes.annotate(
        text, place, ha="center", va="center", bbox={"boxstyle": "round", "fc": "white"}
    )
for level, layer in (
    (3, "hyperpriors"),
    (2, "layers 1, 2, 3"),
    (1, "relevance"),
    (0, "judgments"),
):
    axes.text(-0.9, level, layer, va="center", style="italic")
axes.set(xlim=(-1, 4.6), ylim=(-0.4, 3.5))
axes.axis("off")
plt.show()

# %%
# The paper's modes: the fast path and PyMC
# -----------------------------------------
# ``rtc`` is the paper's: one layer after the other, each at its mode given the one before. The fast
# path solves each by Newton's method; PyMC finds the same modes in each layer's graph. (The priors
# are beta distributions of probabilities, written as pseudo-judgments on the log-odds. That makes
# every mode unique and quick to find; no layer's posterior is itself a beta distribution.)
paper = rb.fit(pool, judgments, model="rtc", options={"smoothing": "beta"})
stages = paper.build().stages(judgments)
by_pymc = {}
for name in ("calibration", "aggregation"):
    with stages[name]:
        by_pymc |= pm.find_MAP(progressbar=False)
pd.DataFrame(
    {
        f"{name}, {path}": value
        for name in ("A", "B", "lambda")
        for path, value in (
            ("fast", paper.posterior["posterior"][name].to_numpy().ravel()),
            ("PyMC", by_pymc[name]),
        )
    },
    index=pool.systems,
).round(4)

# %%
# The posterior
# -------------
# Of the joint model everything is drawn together. **Look at** what the judgments have told: the
# weights of the two systems that they were made for, and little of the others'.
drawn = fit.posterior["posterior"]
prior = float(np.hypot(fit.build().weight[1] / pool.n_systems, 0.25 * 0.89))
weights = drawn["lambda"]
pd.DataFrame(
    {
        "mean": weights.mean(("chain", "draw")).to_numpy(),
        "sd": weights.std(("chain", "draw")).to_numpy(),
        "sd of the prior": prior,
    },
    index=pool.systems,
).round(3)

# %%
# It is a posterior like any other to PyMC and ArviZ: predictive sampling, leave-one-out.
with graph:
    pm.compute_log_likelihood(fit.posterior, progressbar=False)
    predicted = pm.sample_posterior_predictive(
        fit.posterior, random_seed=1, progressbar=False
    )
shares = predicted["posterior_predictive"]["label"].mean(("chain", "draw"))
print(
    f"relevant of the judged: {judgments.relevant.sum() / judgments.n_judged:.2f}, "
    f"predicted: {float(shares.mean()):.2f}"
)
print(az.loo(fit.posterior))

# %%
# Both in the same comparison
# ---------------------------
# A point estimate is one draw: both go through the same analytic moments of the difference in MAP.
# **Look at** the two probabilities of each pair.
comparisons = {
    "rtc:map": rb.compare(pool, paper, about),
    "layered": rb.compare(pool, fit, about),
}
pairs = {
    name: c.to_frame().set_index(["a", "b"])["p_greater"]
    for name, c in comparisons.items()
}
print(
    {
        name: (c.moments, c.meta["draws"], c.meta["exact_draws"])
        for name, c in comparisons.items()
    }
)
pd.DataFrame(pairs).round(3).head(8)

# %%
# Which to believe
# ----------------
# Four trials with other systems, each held to the complete judgments. **Look at** accuracy beside
# confidence. Four simulated trials tell little; :doc:`120 on real collections </results/layered>`
# tell more.
done = rb.study(
    collection.runs,
    collection.qrels,
    algorithms=["mtc/rtc:map", "mtc/layered:nuts"],
    estimand=about,
    trials=4,
    n_systems=6,
    draws=200,
    tune=400,
    output=tempfile.mkdtemp(),
    workers=rb.Workers(jobs=1),
)
scores = pd.DataFrame(done.summary).T[["W", "log_score"]].astype(float)
means = done.pairs.groupby("algorithm")[["confidence", "correct"]].mean()
scores.join(means).rename(columns={"correct": "accuracy"}).round(3)
