"""Runs, qrels, pools, judgments and relevance: reading, checking, writing, simulating."""

from __future__ import annotations

from rtc_bayes.collection.description import Description, describe
from rtc_bayes.collection.judgments import Judgments
from rtc_bayes.collection.label_reading import read_labels
from rtc_bayes.collection.labels import Labels
from rtc_bayes.collection.merging import Merged, MergedDocument, merge
from rtc_bayes.collection.order import natural_key
from rtc_bayes.collection.pool import Pool
from rtc_bayes.collection.qrels import Prel, Prels, Probabilities, Qrels, Scores
from rtc_bayes.collection.reading import (
    read_erels,
    read_groups,
    read_prels,
    read_qrels,
    read_scores,
)
from rtc_bayes.collection.relevance import Relevance
from rtc_bayes.collection.remarks import Remark
from rtc_bayes.collection.run_reading import read_runs
from rtc_bayes.collection.runs import Run, Runs
from rtc_bayes.collection.writing import (
    write_erels,
    write_prels,
    write_qrels,
    write_run,
    write_runs,
)

__all__ = [
    "Description",
    "Judgments",
    "Labels",
    "Merged",
    "MergedDocument",
    "Pool",
    "Prel",
    "Prels",
    "Probabilities",
    "Qrels",
    "Relevance",
    "Remark",
    "Run",
    "Runs",
    "Scores",
    "describe",
    "merge",
    "natural_key",
    "read_erels",
    "read_groups",
    "read_labels",
    "read_prels",
    "read_qrels",
    "read_runs",
    "read_scores",
    "write_erels",
    "write_prels",
    "write_qrels",
    "write_run",
    "write_runs",
]
