"""What the field does with few judgments: four measures over the same judged documents."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.collection.qrels import Qrels
from rtc_bayes.measures.truth import ScoreTable, evaluate
from rtc_bayes.signatures import explains_types

if TYPE_CHECKING:
    from typing import Literal

    from rtc_bayes.collection.runs import Runs

#: Column names, and the measures of ir_measures behind them.
INCOMPLETE_MEASURES = {
    "AP": "AP",
    "condensed AP": "AP(judged_only=True)",
    "bpref": "Bpref",
    "infAP": "infAP",
}


@explains_types
def incomplete(
    runs: Runs,
    qrels: Qrels,
    *,
    depth: int = defaults.DEPTH,
    relevance_level: int | None = None,
    topics: Literal["judged", "all"] = "judged",
) -> ScoreTable:
    """Evaluate runs by incomplete judgments in the four ways that need no model.

    - ``AP``: an unjudged document is not relevant.
    - ``condensed AP``: unjudged documents are taken out of the ranking (Sakai 2007).
    - ``bpref``: how often judged nonrelevant documents stand above relevant ones (Buckley and
      Voorhees 2004).
    - ``infAP``: AP with precision estimated from the judged documents above; documents outside
      the pool are not relevant (Yilmaz and Aslam 2006). It assumes that the judged documents are
      a random sample of the pool, which judgments chosen by rank or by an algorithm are not.

    Parameters
    ----------
    runs : Runs
    qrels : Qrels
        The judgments; a negative grade means unjudged.
    depth : int
        The first `depth` documents of each run are infAP's pool; at least 1.
    relevance_level : int, optional
        Grades from here on are relevant; by default the level that the qrels name, or 1.
    topics : {"judged", "all"}
        As in :func:`~rtc_bayes.measures.truth.evaluate`.

    Returns
    -------
    ScoreTable
        With the four names above; a run without a topic scores 0 there.

    Examples
    --------
    >>> from rtc_bayes import Qrels, Run, Runs
    >>> runs = Runs([Run.from_rankings("bm25", {"1": ["d1", "d2", "d3"]})])
    >>> table = incomplete(runs, Qrels({"1": {"d2": 1}}), depth=3)
    >>> table.mean["AP"].tolist(), table.mean["condensed AP"].tolist()
    ([0.5], [1.0])
    """
    depth = whole_number("depth", depth, least=1)
    with warnings.catch_warnings():
        # what was pooled is marked, and may all be judged
        warnings.filterwarnings("ignore", message="infAP is AP")
        table = evaluate(
            runs,
            _with_unjudged_pool(runs, qrels, depth),
            list(INCOMPLETE_MEASURES.values()),
            relevance_level=relevance_level,
            topics=topics,
            judged_depth=None,
        )
    values = {name: table[measure] for name, measure in INCOMPLETE_MEASURES.items()}
    return ScoreTable(table.systems, table.topics, values, table.relevance_level)


def _with_unjudged_pool(runs: Runs, qrels: Qrels, depth: int) -> Qrels:
    """Add the pool's unjudged documents with grade -1, the convention that infAP reads."""
    grades = {}
    for topic, judged in qrels.items():
        pooled = {
            docno: -1 for run in runs.values() for docno in run.ranking(topic)[:depth].tolist()
        }
        grades[topic] = pooled | dict(judged)
    return Qrels(grades, path=qrels.path, relevance_level=qrels.relevance_level)
