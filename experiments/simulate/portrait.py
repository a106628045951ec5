"""What a collection of runs and judgments looks like, in numbers that two collections share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Pool, Qrels, Runs
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.measures.truth import evaluate

DEPTH = 100


@dataclass(frozen=True)
class Portrait:
    """Distributions that describe a collection; the pool is of depth 100.

    Attributes
    ----------
    ap : ndarray, shape (systems, topics)
    relevant, pooled : ndarray, shape (topics,)
        Relevant documents, and documents in the pool.
    overlap_other, overlap_same : ndarray, shape (pairs,)
        Share of the first 100 that two runs have in common, for runs of different groups and of
        one group, averaged over topics.
    precision : ndarray, shape (depth,)
        Share of relevant documents at each rank, over systems and topics with that rank.
    retrieved_by : ndarray, shape (systems,)
        Share of the pool's documents that exactly 1, 2, ... systems retrieved.
    relevance_by : ndarray, shape (systems,)
        Of those, the share relevant.
    judged10, judged100, held10, held100 : ndarray, shape (systems,)
        Share judged in the first 10 and 100; share that the other groups' pool holds.
    lengths : ndarray, shape (systems,)
        Median length of a run's lists.
    """

    ap: NDArray[np.float64]
    relevant: NDArray[np.int64]
    pooled: NDArray[np.int64]
    overlap_other: NDArray[np.float64]
    overlap_same: NDArray[np.float64]
    precision: NDArray[np.float64]
    retrieved_by: NDArray[np.float64]
    relevance_by: NDArray[np.float64]
    judged10: NDArray[np.float64]
    judged100: NDArray[np.float64]
    held10: NDArray[np.float64]
    held100: NDArray[np.float64]
    lengths: NDArray[np.float64]

    @property
    def table(self) -> dict[str, float]:
        """The portrait in single numbers."""
        map_ = self.ap.mean(axis=1)
        topic = self.ap.mean(axis=0)
        residual = self.ap - map_[:, None] - topic[None, :] + self.ap.mean()
        return {
            "MAP, mean over systems": map_.mean(),
            "MAP, sd": map_.std(),
            "MAP, lowest": map_.min(),
            "MAP, lower quartile": np.quantile(map_, 0.25),
            "MAP, median": np.median(map_),
            "MAP, upper quartile": np.quantile(map_, 0.75),
            "MAP, highest": map_.max(),
            "topic's mean AP, sd": topic.std(),
            "topic's mean AP, lowest": topic.min(),
            "topic's mean AP, highest": topic.max(),
            "system x topic, sd": residual.std(),
            "relevant, total": self.relevant.sum(),
            "relevant per topic, lowest": self.relevant.min(),
            "relevant per topic, median": np.median(self.relevant),
            "relevant per topic, highest": self.relevant.max(),
            "pool per topic, mean": self.pooled.mean(),
            "pool per topic, sd": self.pooled.std(),
            "overlap at 100, different groups": self.overlap_other.mean(),
            "overlap at 100, different groups, sd": self.overlap_other.std(),
            "overlap at 100, one group": self.overlap_same.mean(),
            "overlap at 100, one group, sd": self.overlap_same.std(),
            "precision at rank 1": self.precision[0],
            "precision at rank 10": self.precision[9],
            "precision at rank 30": self.precision[24:35].mean(),
            "precision at rank 100": self.precision[90:100].mean(),
            "share of pool retrieved by one system": self.retrieved_by[0],
            "share of those relevant": self.relevance_by[0],
            "share of pool retrieved by over half": self.retrieved_by[len(map_) // 2 :].sum(),
            "judged at 10": self.judged10.mean(),
            "judged at 100": self.judged100.mean(),
            "held by other groups' pool, at 10": self.held10.mean(),
            "held by other groups' pool, at 10, lowest": self.held10.min(),
            "held by other groups' pool, at 100": self.held100.mean(),
            "held by other groups' pool, at 100, lowest": self.held100.min(),
            "runs with median list below 200": (self.lengths < 200).sum(),
        }


def portrait(runs: Runs, qrels: Qrels, groups: Mapping[str, str]) -> Portrait:
    """Describe runs, judgments and the systems' groups."""
    pool = Pool.from_runs(runs, depth=DEPTH)
    group = np.array([groups[system] for system in pool.systems])
    same = group[:, None] == group[None, :]
    systems, topics = pool.n_systems, pool.n_topics
    overlap = np.zeros((systems, systems))
    counts = np.zeros((2, DEPTH))
    retrieved, relevant_of = np.zeros(systems), np.zeros(systems)
    shares = {name: np.zeros((systems, topics)) for name in ("j10", "j100", "h10", "h100")}
    for t, topic in enumerate(pool.topics):
        ranks = pool.ranks(t)
        docnos = pool.docnos[pool.documents(t)]
        grades = np.array([qrels[topic].get(docno, -1) for docno in docnos])
        top = (ranks > 0).astype(np.float32)
        length = np.maximum(top.sum(axis=1), 1)
        overlap += (top @ top.T) / np.minimum.outer(length, length)
        for s in range(systems):
            listed = pool.ranking(s, t) - pool.topic_starts[t]
            counts[0, : len(listed)] += grades[listed] > 0
            counts[1, : len(listed)] += 1
        count = top.sum(axis=0).astype(int)
        retrieved += np.bincount(count - 1, minlength=systems)
        relevant_of += np.bincount(count - 1, weights=grades > 0, minlength=systems)
        elsewhere = (count[None, :] - same.astype(np.float32) @ top) > 0
        for k in (10, 100):
            first = (ranks > 0) & (ranks <= k)
            n = np.maximum(first.sum(axis=1), 1)
            shares[f"j{k}"][:, t] = (first & (grades >= 0)).sum(axis=1) / n
            shares[f"h{k}"][:, t] = (first & elsewhere).sum(axis=1) / n
    pairs = all_pairs(systems)
    overlap, one_group = (overlap / topics)[pairs], same[pairs]
    return Portrait(
        ap=evaluate(runs, qrels, "AP")["AP"],
        relevant=np.array([sum(g > 0 for g in qrels[t].values()) for t in pool.topics]),
        pooled=np.diff(pool.topic_starts),
        overlap_other=overlap[~one_group],
        overlap_same=overlap[one_group],
        precision=counts[0] / np.maximum(counts[1], 1),
        retrieved_by=retrieved / retrieved.sum(),
        relevance_by=relevant_of / np.maximum(retrieved, 1),
        judged10=shares["j10"].mean(axis=1),
        judged100=shares["j100"].mean(axis=1),
        held10=shares["h10"].mean(axis=1),
        held100=shares["h100"].mean(axis=1),
        lengths=np.array(
            [np.median([len(run.ranking(t)) for t in pool.topics]) for run in runs.values()]
        ),
    )
