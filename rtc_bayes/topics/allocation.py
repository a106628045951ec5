"""Where to judge for new systems, within a budget (Hosseini 2013, chapter 5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, overload

import numpy as np

from rtc_bayes import defaults
from rtc_bayes.checks import check_word, whole_number
from rtc_bayes.collection import Qrels, Runs, natural_key
from rtc_bayes.collection.ids import some
from rtc_bayes.errors import InputError, warn
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.signatures import explains_types, moved, options_of
from rtc_bayes.store.shown import Shown, counted
from rtc_bayes.topics.selection import TopicSelection, select_topics

if TYPE_CHECKING:
    import pandas as pd

Strategy = Literal["sa", "uniform"]
Formula = Literal["corrected", "printed"]
_FORMULAS = get_args(Formula)


@explains_types
def mean_average_reuse(
    runs: Runs, qrels: Qrels, *, formula: Formula = "corrected"
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
    check_word("formula", formula, _FORMULAS)
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


def unjudged_documents(
    runs: Runs, qrels: Qrels, depth: int = defaults.DEPTH
) -> dict[str, tuple[str, ...]]:
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


@overload
def extend(
    runs: Runs,
    qrels: Qrels,
    budget: None = None,
    *,
    formula: Formula = "corrected",
    depth: int = defaults.DEPTH,
) -> RunReuse: ...


@overload
def extend(
    runs: Runs,
    qrels: Qrels,
    budget: int,
    scores: ScoreMatrix | None = None,
    *,
    strategy: Strategy = "sa",
    constraint: Formula = "corrected",
    depth: int = defaults.DEPTH,
    weights: Mapping[str, float] | None = None,
) -> JudgmentAllocation: ...


@moved(how="write strategy")
@explains_types
@options_of("strategy", scores=["sa"], constraint=["sa"], weights=["sa"])
def extend(
    runs: Runs,
    qrels: Qrels,
    budget: int | None = None,
    scores: ScoreMatrix | None = None,
    *,
    strategy: Strategy = "sa",
    constraint: Formula = "corrected",
    formula: Formula = "corrected",
    depth: int = defaults.DEPTH,
    weights: Mapping[str, float] | None = None,
) -> RunReuse | JudgmentAllocation:
    """Say how much of new runs is judged or, within a budget, what to judge (section 5.4.1).

    Without a budget: how much of each run's lists is judged, and how many of its first documents
    are not. With one: which of these documents to judge. ``sa`` (subset allocation) selects topics
    by the budget-constrained optimization (5.2) and spreads the budget equally over them;
    ``uniform`` spreads it over all topics. Where a topic has fewer unjudged documents than its
    share, others take the rest.

    Parameters
    ----------
    runs : Runs
        The new systems.
    qrels : Qrels
        What is judged already.
    budget : int, at least 1, optional
        B, how many more documents can be judged.
    scores : ScoreMatrix, optional
        Of the systems that can be scored already, on all topics of `runs`; ``sa`` selects by them.
    strategy : {"sa", "uniform"}
    constraint : {"corrected", "printed"}
        (5.1) is printed as ``sum b <= B / Omega``, which hardly ever selects more than one topic;
        corrected it is ``sum b <= n B / Omega``, with n topics, all of them if B is Omega.
    formula : {"corrected", "printed"}
        Of reuse, as of :func:`rtc_bayes.mean_average_reuse`: for a call without a budget.
    depth : int, at least 1
        Of the pool of new systems that Omega counts.
    weights : mapping of str to float, optional
        Of the systems of `scores`, as of :func:`rtc_bayes.select_topics`.

    Returns
    -------
    RunReuse or JudgmentAllocation
        The first without a budget, the second with one.

    Raises
    ------
    InputError
        Nothing is judged or left to judge; `scores` are missing or of other topics; or an option
        that says nothing beside the others.

    Warns
    -----
    CollectionWarning
        The topics that are selected have fewer documents without a judgment than the budget.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("a", {"1": ["x", "y", "z"], "2": ["v", "w"]})])
    >>> qrels = rb.Qrels({"1": {"x": 0}, "2": {}})
    >>> rb.extend(runs, qrels)
    RunReuse(4 documents without a judgment among the first 100 of a list, reuse over ...)
    >>> rb.extend(runs, qrels, budget=3, strategy="uniform").documents
    {'1': ('y', 'z'), '2': ('v',)}
    """
    if budget is None:
        of_budget = {
            "strategy": strategy != "sa",
            "constraint": constraint != "corrected",
            "scores": scores is not None,
            "weights": weights is not None,
        }
        _refuse_given(of_budget, "without a budget", "give a budget, too, or leave it out")
        return _reused(runs, qrels, formula, depth)
    _refuse_given({"formula": formula != "corrected"}, "with a budget", "leave it out")
    return _allocated(runs, qrels, budget, scores, strategy, constraint, depth, weights)


def _refuse_given(options: Mapping[str, bool], beside: str, remedy: str) -> None:
    """Refuse options that were given and say nothing beside what else was, or was not."""
    for name, is_given in options.items():
        if is_given:
            raise InputError(f"{name} says nothing {beside}", remedy=remedy)


def _reused(runs: Runs, qrels: Qrels, formula: Formula, depth: int) -> RunReuse:
    """Say how much of each run is judged, and of all together."""
    reuse = mean_average_reuse(runs, qrels, formula=formula)
    unjudged = {
        name: _count(unjudged_documents(runs.select([name]), qrels, depth)) for name in reuse
    }
    omega = _count(unjudged_documents(runs, qrels, depth))
    n_judged = sum(bool(qrels.judged(topic)) for topic in runs.topics)
    return RunReuse(reuse, unjudged, omega, depth, n_judged)


def _count(documents: Mapping[str, Sequence[str]]) -> int:
    return sum(map(len, documents.values()))


def _allocated(
    runs: Runs,
    qrels: Qrels,
    budget: int,
    scores: ScoreMatrix | None,
    strategy: Strategy,
    constraint: Formula,
    depth: int,
    weights: Mapping[str, float] | None,
) -> JudgmentAllocation:
    """Choose the documents to judge within a budget."""
    budget = whole_number("budget", budget, least=1)
    check_word("strategy", strategy, ("sa", "uniform"), {"subset": "sa"})
    unjudged = unjudged_documents(runs, qrels, depth)
    omega = _count(unjudged)
    if not omega:
        raise InputError("no document is left to judge", remedy="give a larger depth")
    selection = None
    topics = tuple(unjudged)
    if strategy == "sa":
        if scores is None:
            raise InputError(
                "no scores to select topics by",
                remedy='give scores= or --scores, or strategy="uniform" (--strategy uniform)',
            )
        _check_topics(scores.topics, topics)
        check_word("constraint", constraint, _FORMULAS)
        if budget >= omega and constraint == "corrected":
            selection = select_topics(scores, size=len(topics), solver="box", weights=weights)
        else:
            bound = budget / omega * (len(topics) if constraint == "corrected" else 1)
            selection = select_topics(scores, budget=bound, solver="box", weights=weights)
            topics = selection.topics
    shares = equal_shares([len(unjudged[topic]) for topic in topics], budget)
    documents = {
        topic: unjudged[topic][:share]
        for topic, share in sorted(
            zip(topics, shares, strict=True), key=lambda x: natural_key(x[0])
        )
    }
    allocation = JudgmentAllocation(documents, budget, omega, strategy, selection)
    if allocation.spent < min(budget, omega):
        warn(
            f"{counted(len(topics), 'topic')} selected, with {allocation.spent:,} of "
            f"{counted(omega, 'document')} that have no judgment: "
            f"{budget - allocation.spent:,} of the budget are not spent; "
            'strategy="uniform" (--strategy uniform) takes all topics',
        )
    return allocation


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
class RunReuse(Shown):
    """How much of each run is judged, and how many documents are not.

    Attributes
    ----------
    reuse : dict of str to float
        By run, its mean average reuse: of :func:`rtc_bayes.mean_average_reuse`.
    unjudged : dict of str to int
        By run, how many of its first `depth` documents have no judgment, over all topics.
    omega : int
        Omega, how many of these documents of all runs together have none.
    depth : int
    n_judged_topics : int
        How many topics of the runs have judgments, which reuse is about.

    Examples
    --------
    >>> RunReuse({"a": 0.25}, {"a": 30}, 30, 20, 2)
    RunReuse(30 documents without a judgment among the first 20 of a list, reuse over ...)
    """

    reuse: dict[str, float]
    unjudged: dict[str, int]
    omega: int
    depth: int
    n_judged_topics: int

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each run, the least judged first: system, reuse, unjudged."""
        import pandas as pd

        rows = {"system": [*self.reuse], "reuse": [*self.reuse.values()]}
        frame = pd.DataFrame(rows | {"unjudged": [self.unjudged[name] for name in self.reuse]})
        return frame.sort_values("reuse", kind="stable", ignore_index=True)

    def to_csv(self, path: str | Path, meta: Mapping[str, object] | None = None) -> None:
        """Write :meth:`to_frame` as CSV; its provenance and Omega in ``PATH.meta.json``."""
        from rtc_bayes.store import provenance, write_csv

        meta = provenance() if meta is None else meta
        write_csv(self.to_frame(), path, {**meta, "omega": self.omega})

    def __repr__(self) -> str:
        return (
            f"RunReuse({counted(self.omega, 'document')} without a judgment among the first "
            f"{self.depth} of a list, reuse over the "
            f"{counted(self.n_judged_topics, 'topic')} with judgments)"
        )


@moved(how="write strategy")
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
    strategy : {"sa", "uniform"}
    selection : TopicSelection or None
        For ``sa``.

    Examples
    --------
    >>> JudgmentAllocation({"1": ("x", "y"), "2": ("v",)}, 3, 8, "uniform", None)
    JudgmentAllocation(3 of 8 documents on 2 topics, uniform)
    """

    documents: dict[str, tuple[str, ...]]
    budget: int
    omega: int
    strategy: Strategy
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
            f"{counted(len(self.documents), 'topic')}, {self.strategy}{short})"
        )
