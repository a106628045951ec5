"""Average precision inferred from a random sample, and bpref, of every system on every topic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.measures.sampling import Sample
from rtc_bayes.measures.scores import ScoreMatrix

type Floats = NDArray[np.float64]

EPSILON = 0.00001
"""Added to counts of relevant and nonrelevant documents, as trec_eval does."""


def bpref(judgments: Judgments) -> ScoreMatrix:
    """Say how seldom judged nonrelevant documents stand above relevant ones (bpref).

    With R relevant and N nonrelevant documents judged, a relevant document that a system retrieves
    counts 1 less the number of nonrelevant ones above it, at most min(R, N), over min(R, N); their
    sum is divided by R (Buckley and Voorhees, SIGIR 2004, as in trec_eval). A topic without a
    relevant document has 0.

    Parameters
    ----------
    judgments : Judgments
        Labels of 0 and 1.

    Returns
    -------
    ScoreMatrix

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})]))
    >>> bpref(rb.Judgments.from_labels(pool, [0, 1, 2], [0, 1, 1])).mean.tolist()
    [[0.0]]
    """
    pool, labels = judgments.pool, judgments.labels
    scores = np.zeros((pool.n_systems, pool.n_topics))
    for t in range(pool.n_topics):
        here, lists = labels[pool.documents(t)], pool.lists(t)
        relevant, nonrelevant = int((here == 1.0).sum()), int((here == 0.0).sum())
        least = max(min(relevant, nonrelevant), 1)
        for s in range(lists.n_lists if relevant else 0):
            seen = here[lists.ranked[lists.starts[s] : lists.starts[s + 1]]]
            above = np.cumsum(seen == 0.0)[seen == 1.0]
            scores[s, t] = (1.0 - np.minimum(above, least) / least).sum() / relevant
    return ScoreMatrix(scores, np.zeros_like(scores), pool.systems, pool.topics, "Bpref")


def inferred_ap(sample: Judgments | Sample) -> ScoreMatrix:
    """Infer average precision from judgments of a random sample (infAP, and xinfAP by strata).

    A relevant document at rank k has the expected precision 1/k + the sum over strata of (how many
    documents of the stratum stand above it)/k times the share of relevant ones among those judged
    of them. In each stratum these are averaged over its judged relevant documents, and strata are
    averaged by the number of relevant documents that each is estimated to have: its size times the
    share of its judged documents that is relevant (Yilmaz, Kanoulas and Aslam, SIGIR 2008). With
    one stratum it is infAP (Yilmaz and Aslam, CIKM 2006). Documents of no stratum are nonrelevant.

    Parameters
    ----------
    sample : Judgments or Sample
        A sample's strata count, if it has some. Judgments, and a sample without strata, are taken
        as one simple random sample of the pool's documents, which judgments chosen otherwise are
        not. A judged document that no system retrieves counts as it does in trec_eval's infAP.

    Returns
    -------
    ScoreMatrix

    Examples
    --------
    Of four documents the second and the fourth are judged, and relevant:

    >>> import rtc_bayes as rb
    >>> lists = rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c", "d"]})])
    >>> judged = rb.Judgments.from_labels(rb.Pool.from_runs(lists), [1, 3], [1, 1])
    >>> inferred_ap(judged).mean.round(3).tolist()
    [[0.875]]
    """
    if isinstance(sample, Judgments):
        judgments, strata = sample, None
    else:
        judgments, strata = sample.judgments, sample.strata
    pool, labels = judgments.pool, judgments.labels
    if strata is None:
        strata = np.zeros(pool.n_documents, dtype=np.int64)
    scores = np.zeros((pool.n_systems, pool.n_topics))
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        member = strata[inside][:, None] == np.arange(
            max(int(strata[inside].max(initial=0)), 0) + 1
        )
        relevant = member & (labels[inside] == 1.0)[:, None]
        judged = member & ~np.isnan(labels[inside])[:, None]
        # how many documents a judged one of the stratum stands for
        size = member.sum(axis=0) / np.maximum(judged.sum(axis=0), 1)
        total = float((size * relevant.sum(axis=0)).sum())
        lists = pool.lists(t)
        for s in range(lists.n_lists if total > 0.0 else 0):
            entries = slice(lists.starts[s], lists.starts[s + 1])
            ranked, ranks = lists.ranked[entries], lists.ranks[entries]
            above = [
                np.cumsum(each[ranked], axis=0) - each[ranked]
                for each in (member, relevant, judged)
            ]
            share = (above[1] + EPSILON) / (above[2] + 2.0 * EPSILON)
            precision = (1.0 + (above[0] * share).sum(axis=1)) / ranks
            scores[s, t] = precision @ (relevant[ranked] @ size) / total
    name = "infAP" if strata.max(initial=0) <= 0 else "xinfAP"
    return ScoreMatrix(scores, np.zeros_like(scores), pool.systems, pool.topics, name)
