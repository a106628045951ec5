"""
Coming from PyTerrier, ir_measures, ranx and trec_eval
======================================================

Runs and judgments go in as your tool holds them: data frames, dicts, tuples or files. Here are
three runs and a few judgments, in each form, and what they give.
"""

import ir_measures
import matplotlib.pyplot as plt
import pandas as pd

import rtc_bayes as rb

# %%
# PyTerrier
# ---------
# The frames that ``retriever.transform(topics)`` returns have the columns qid, docno and score.
# Name each system by its key.
#
# .. code-block:: python
#
#    runs = rb.read_runs({"bm25": bm25(topics), "reranked": (bm25 >> reranker)(topics)})
#    qrels = rb.read_qrels(dataset.get_qrels())
collection = rb.simulate(n_topics=25, n_systems=3, depth=200, seed=1)
frames = {
    name: pd.DataFrame(
        [
            (topic, docno, 100 - n)
            for topic in run.topics
            for n, docno in enumerate(run.ranking(topic))
        ],
        columns=["qid", "docno", "score"],
    )
    for name, run in zip(
        ["bm25", "reranked", "fused"], collection.runs.values(), strict=True
    )
}
frames["bm25"].head(3)

# %%
runs = rb.read_runs(frames)
runs

# %%
# ranx
# ----
# ``Run.to_dict()`` and ``Qrels.to_dict()`` are dicts by topic and document. Here the first 8
# documents of bm25 are judged.
#
# .. code-block:: python
#
#    runs = rb.read_runs({"bm25": ranx_run.to_dict(), "reranked": other_run.to_dict()})
#    qrels = rb.read_qrels(ranx_qrels.to_dict())
few = {
    topic: {docno: labels.get(docno, 0) for docno in runs["bm25"].ranking(topic)[:8]}
    for topic, labels in collection.qrels.items()
}
qrels = rb.read_qrels(few)
qrels

# %%
# ir_measures and ir_datasets
# ---------------------------
# Tuples of ``ScoredDoc`` and ``Qrel``, as their readers give them; measures are names or
# objects.
rows = [
    ir_measures.ScoredDoc(*row)
    for row in frames["bm25"].itertuples(index=False, name=None)
]
rb.read_runs({"bm25": rows})

# %%
rb.evaluate(runs, qrels, [ir_measures.AP, "nDCG@10"]).mean_frame().round(3)

# %%
# trec_eval
# ---------
# trec_eval counts a document that nobody judged as nonrelevant, as the table above does. One
# command in place of a ``trec_eval -m map qrels run`` for each run treats what is unjudged as
# uncertain:
#
# .. code-block:: sh
#
#    rtc-bayes compare bm25.run reranked.run fused.run --qrels few.qrels -o page.html
#
# In Python, where ``judged_for`` names the systems whose lists the judged documents came from:
pool = rb.Pool.from_runs(runs, depth=50, qrels=qrels)
judgments = rb.Judgments.from_qrels(pool, qrels, judged_for=["bm25"])
comparison = rb.compare(pool, rb.fit(pool, judgments))
comparison

# %%
# **Look at** bm25. The first table puts it far ahead, since only its documents were judged. Here it
# is level with the others: ``P(better)`` says that the judgments do not tell the three apart.
rb.plot_ranking(comparison)
plt.show()

# %%
# The truth, by all judgments of the simulated collection, has bm25 ahead by little. **Look at** the
# scores, too: the expected ones are too high. Three systems do not tell how many relevant documents
# there are, so read pairs and not scores (:doc:`/reading-a-confidence`).
rb.evaluate(runs, collection.qrels).mean_frame().round(3)
