"""Where to judge for new systems, within a budget (Hosseini 2013, chapter 5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from rtc_bayes.collection import Qrels, Runs, natural_key
from rtc_bayes.collection.ids import some
from rtc_bayes.errors import InputError, explains_types, options_of, whole_number
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.store.shown import Shown, counted
from rtc_bayes.topics.selection import TopicSelection, select_topics

if TYPE_CHECKING:
    import pandas as pd


@explains_types
def mean_average_reuse(
    runs: Runs, qrels: Qrels, *, formula: Literal["corrected", "printed"] = "corrected"
) -> dict[str, float]:
    """Say how much of each run's lists is judged, most weight at the top: MAR (section 5.4.1).

    Parameters
    ----------
    runs : Runs
    qrels : Qrels
        What is judged; grades do not matter.
    formula : {"corrected", "printed"}
        Average reuse of a topic is the sum of judged@i / i over the ranks i at which a judged
        document stands, over the number of judged documents: average precision with "judged" for
        "relevant", from 0 to 1. As printed the sum is over all ranks, and has no bound.

    Returns
    -------
    dict of str to float
        By run, the mean over its topics that have judgments; 0 where none has.

    Raises
    ------
    InputError
        Nothing is judged.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("a", {"1": ["x", "y", "z"]})])
    >>> qrels = rb.Qrels({"1": {"x": 0, "z": 1}})
    >>> {run: round(mar, 3) for run, mar in rb.mean_average_reuse(runs, qrels).items()}
    {'a': 0.833}
    """
    if formula not in ("corrected", "printed"):
        raise InputError(f"formula is {formula!r}", remedy="give corrected or printed")
    by_topic = {topic: judged for topic in qrels if (judged := qrels.judged(topic))}
    if not by_topic:
        raise InputError("nothing is judged", remedy="give judgments")
    reuse: dict[str, float] = {}
    for name in runs.systems:
        of_topics = []
        for topic in by_topic.keys() & runs[name].topics:
            judged = by_topic[topic]
            hit = np.array([docno in judged for docno in runs[name].ranking(topic)], dtype=float)
            share = hit.cumsum() / np.arange(1, len(hit) + 1)
            total = share @ hit if formula == "corrected" else share.sum()
            of_topics.append(float(total) / len(judged))
        reuse[name] = math.fsum(of_topics) / max(len(of_topics), 1)
    return reuse


def unjudged_documents(runs: Runs, qrels: Qrels, depth: int = 100) -> dict[str, tuple[str, ...]]:
    """Return the documents of a pool that have no judgment, by topic.

    What nobody can judge, a document of grade -1, is left out. Their number over all topics is
    Omega, what it would cost to judge all for these runs (5.3).

    Parameters
    ----------
    runs : Runs
        The new systems.
    qrels : Qrels
    depth : int, at least 1
        Of the pool.

    Returns
    -------
    dict of str to tuple of str
        In the order of judging: by the best rank of a document, then by docno.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("a", {"1": ["x", "y", "z"]})])
    >>> unjudged_documents(runs, rb.Qrels({"1": {"x": 0}}), depth=2)
    {'1': ('y',)}
    """
    depth = whole_number("depth", depth, least=1)
    documents = {}
    for topic in sorted(runs.topics, key=natural_key):
        best: dict[str, int] = {}
        for name in runs.systems:
            for rank, docno in enumerate(runs[name].ranking(topic)[:depth]):
                best[docno] = min(rank, best.get(docno, rank))
        left = best.keys() - qrels.get(topic, {}).keys()
        documents[topic] = tuple(sorted(left, key=lambda docno: (best[docno], docno)))
    return documents


def equal_shares(
    available: Sequence[int], budget: int, earlier: Sequence[int] | None = None
) -> list[int]:
    """Spread a budget equally, no more to each than is available.

    What is over goes to those that had least before, the first of these first.

    Parameters
    ----------
    available : sequence of int
    budget : int
    earlier : sequence of int, optional
        What each was given before. Default: nothing.

    Returns
    -------
    list of int
        They sum to the budget, or to all that is available.

    Examples
    --------
    >>> equal_shares([5, 1, 5], 8)
    [4, 1, 3]
    >>> equal_shares([5, 5, 5], 4, earlier=[2, 1, 1])
    [1, 2, 1]
    """
    shares = [0] * len(available)
    had = earlier or shares.copy()
    while left := min(budget, sum(available)) - sum(shares):
        room = [n for n, most in enumerate(available) if shares[n] < most]
        each = max(1, left // len(room))
        for n in sorted(room, key=had.__getitem__)[:left]:
            shares[n] += min(each, available[n] - shares[n])
    return shares


@explains_types
@options_of("how", scores=["subset"], constraint=["subset"], weights=["subset"])
def allocate_judgments(
    runs: Runs,
    qrels: Qrels,
    budget: int,
    scores: ScoreMatrix | None = None,
    *,
    how: Literal["subset", "uniform"] = "subset",
    constraint: Literal["corrected", "printed"] = "corrected",
    depth: int = 100,
    weights: Mapping[str, float] | None = None,
) -> JudgmentAllocation:
    """Choose the documents of new systems to judge, within a budget (section 5.4.1).

    ``subset`` selects topics by the budget-constrained optimization (5.2) and spreads the budget
    equally over them; ``uniform`` spreads it over all topics. Where a topic has fewer unjudged
    documents than its share, others take the rest.

    Parameters
    ----------
    runs : Runs
        The new systems.
    qrels : Qrels
        What is judged already.
    budget : int, at least 1
        B, how many more documents can be judged.
    scores : ScoreMatrix, optional
        Of the systems that can be scored already, on all topics of `runs`; ``subset`` selects by
        them.
    how : {"subset", "uniform"}
    constraint : {"corrected", "printed"}
        (5.1) is printed as ``sum b <= B / Omega``, which hardly ever selects more than one topic;
        corrected it is ``sum b <= n B / Omega``, with n topics, all of them if B is Omega.
    depth : int, at least 1
        Of the pool of new systems that Omega counts.
    weights : mapping of str to float, optional
        Of the systems of `scores`, as of :func:`rtc_bayes.select_topics`.

    Returns
    -------
    JudgmentAllocation

    Raises
    ------
    InputError
        Nothing is left to judge, or `scores` are missing or of other topics.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("a", {"1": ["x", "y", "z"], "2": ["v", "w"]})])
    >>> qrels = rb.Qrels({"1": {"x": 0}, "2": {}})
    >>> rb.allocate_judgments(runs, qrels, budget=3, how="uniform").documents
    {'1': ('y', 'z'), '2': ('v',)}
    """
    budget = whole_number("budget", budget, least=1)
    unjudged = unjudged_documents(runs, qrels, depth)
    omega = sum(map(len, unjudged.values()))
    if not omega:
        raise InputError("no document is left to judge", remedy="give a larger depth")
    selection = None
    topics = tuple(unjudged)
    if how == "subset":
        if scores is None:
            raise InputError(
                "no scores to select topics by",
                remedy='give scores= or --scores, or how="uniform" (--how uniform)',
            )
        _check_topics(scores.topics, topics)
        if constraint not in ("corrected", "printed"):
            raise InputError(f"constraint is {constraint!r}", remedy="give corrected or printed")
        if budget >= omega and constraint == "corrected":
            selection = select_topics(scores, size=len(topics), solver="box", weights=weights)
        else:
            bound = budget / omega * (len(topics) if constraint == "corrected" else 1)
            selection = select_topics(scores, budget=bound, solver="box", weights=weights)
            topics = selection.topics
    elif how != "uniform":
        raise InputError(f"how is {how!r}", remedy="give subset or uniform")
    shares = equal_shares([len(unjudged[topic]) for topic in topics], budget)
    documents = {
        topic: unjudged[topic][:share]
        for topic, share in sorted(
            zip(topics, shares, strict=True), key=lambda x: natural_key(x[0])
        )
    }
    return JudgmentAllocation(documents, budget, omega, how, selection)


def _check_topics(of_scores: Sequence[str], of_runs: Sequence[str]) -> None:
    """Refuse scores of other topics than the runs, and name these topics."""
    lacking = [topic for topic in of_runs if topic not in of_scores]
    if lacking:
        raise InputError(
            f"the runs have topics without scores ({len(lacking)}): {some(lacking)}",
            remedy="give scores of all topics, as evaluate --per-topic --topics all writes them "
            '(ScoreMatrix.from_qrels(..., topics="all")): 0 where a topic has no judgments',
        )
    others = [topic for topic in of_scores if topic not in of_runs]
    if others:
        raise InputError(
            f"the scores have topics that the runs lack ({len(others)}): {some(others)}",
            remedy="leave them out",
        )


@dataclass(frozen=True, eq=False, repr=False)
class JudgmentAllocation(Shown):
    """The documents to judge.

    Attributes
    ----------
    documents : dict of str to tuple of str
        By topic, in the order of judging; only topics that were selected.
    budget : int
        What could be spent.
    omega : int
        What it would cost to judge all.
    how : str
        subset or uniform.
    selection : TopicSelection or None
        For ``subset``.

    Examples
    --------
    >>> JudgmentAllocation({"1": ("x", "y"), "2": ("v",)}, 3, 8, "uniform", None)
    JudgmentAllocation(3 of 8 documents on 2 topics, uniform)
    """

    documents: dict[str, tuple[str, ...]]
    budget: int
    omega: int
    how: str
    selection: TopicSelection | None

    @property
    def spent(self) -> int:
        """Documents to judge: the budget, or all that the topics have."""
        return sum(map(len, self.documents.values()))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each document to judge: topic, docno."""
        import pandas as pd

        rows = [(topic, docno) for topic, docnos in self.documents.items() for docno in docnos]
        return pd.DataFrame(rows, columns=["topic", "docno"], dtype=object)

    def to_csv(self, path: str | Path, meta: Mapping[str, object] | None = None) -> None:
        """Write :meth:`to_frame` as CSV, and its provenance as ``PATH.meta.json`` beside it."""
        from rtc_bayes.store import provenance, write_csv

        write_csv(self.to_frame(), path, provenance() if meta is None else meta)

    def __repr__(self) -> str:
        short = f" of a budget of {self.budget}" if self.spent < self.budget else ""
        return (
            f"JudgmentAllocation({self.spent} of {counted(self.omega, 'document')} on "
            f"{counted(len(self.documents), 'topic')}, {self.how}{short})"
        )
