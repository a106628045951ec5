"""
Checking a posterior's calibration
==================================

A model states probabilities of relevance, intervals and confidences. Where judgments are complete,
all three can be checked: hide most judgments, predict, and compare with what was hidden.
"""

import tempfile

import matplotlib.pyplot as plt

import rtc_bayes as rb

collection = rb.simulate(n_topics=20, n_systems=12, depth=100, seed=1)
done = rb.calibrate(
    collection.runs,
    collection.qrels,
    model="robust:gibbs",
    estimand=rb.Estimand("AP", depth=50),
    trials=4,
    n_systems=5,
    output=tempfile.mkdtemp(),  # a folder of your own resumes where it was interrupted
    workers=rb.Workers(jobs=1),
)

# %%
# Probabilities of relevance
# --------------------------
# **Look at** where the curve leaves the band. Inside the band, of the documents given probability p
# a share p was relevant, up to chance.
curve = done.reliability
figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
axes.fill_between(
    curve["p"], curve["low"], curve["high"], alpha=0.3, label="if p is right"
)
axes.plot(curve["p"], curve["share"], label="share that was relevant")
axes.set(xlabel="probability of relevance p", ylabel="share")
axes.legend()
plt.show()

# %%
# Intervals
# ---------
# The share of intervals that held the true value, with a 90% bootstrap interval over trials (low to
# high). **Look at** the shares against the level: a 0.95 interval should hold 0.95 of the
# truths. With five systems in a trial those of scores fall short
# (:doc:`why </reading-a-confidence>`); those of differences do not.
columns = ["quantity", "level", "whole_list", "whole_list_low", "whole_list_high"]
done.coverage[columns].round(2)

# %%
# Confidences
# -----------
# Of the pairs predicted with a confidence of 0.8 to 0.9, a share of 0.8 to 0.9 should be in the
# right order. **Look at** points under the line of break-even: there the model is too sure. Four
# trials leave wide bars; for a verdict take 100.
rb.plot_accuracy(done.pairs)
plt.show()
