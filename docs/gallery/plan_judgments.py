"""
Planning judgments
==================

You can pay for some 100 judgments. Which documents should they go to, what do they tell you, and
how many more would settle a comparison?
"""

import matplotlib.pyplot as plt
import pandas as pd

import rtc_bayes as rb

collection = rb.simulate(n_topics=25, n_systems=6, depth=200, seed=1)
pool = rb.Pool.from_runs(collection.runs, depth=50)

# %%
# Spend the budget
# ----------------
# A budget alone is spent; with ``confidence=0.95`` judging also stops as soon as every pair is that
# sure. The complete judgments of the simulated collection answer in place of an assessor.
result = rb.build(pool, collection.qrels, budget=100)
result

# %%
# Every topic gets a judgment first; then a judgment goes where it should narrow the differences
# most. **Look at** how unequal the bars are: a topic on which one more judgment
# would change little keeps the one it has.
rb.plot_judgments(result.judgments)
plt.show()

# %%
# What the judgments say
# ----------------------
fit = rb.fit(pool, result.judgments)
comparison = rb.compare(pool, fit).with_forecast(0.95)
rb.plot_ranking(comparison)
plt.show()

# %%
# How many more?
# --------------
# The forecast is the number of further judgments after which a pair should reach 0.95: 0 if it has
# it, none if judging the whole pool would rather not get there. **Look at** the order rather than
# the sizes: forecasts tell well which pairs are settled first, and are too high more often than too
# low.
pairs = comparison.to_frame()[["a", "b", "confidence", "judgments_needed"]]
pairs.sort_values("confidence", ascending=False).round(2)

# %%
# The next documents
# ------------------
# Hand these to an assessor, add the labels, and ask again.
pd.set_option("display.max_colwidth", None)
documents = rb.next_documents(pool, result.judgments, count=5)
pd.DataFrame(
    [(d.topic, d.docno, d.why) for d in documents], columns=["topic", "docno", "why"]
)
