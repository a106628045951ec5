"""What a collection holds: systems, topics, judgments, overlap of lists, and what is suspicious.

Table 1 of Carterette (2007) gives the number of topics, runs, judged and relevant documents of each
collection. This gives the same of any, and what else decides how far its judgments can be trusted.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.collection.immutable import freeze
from rtc_bayes.collection.judgments import Judgments
from rtc_bayes.collection.order import all_pairs, natural_order
from rtc_bayes.collection.pool import Pool
from rtc_bayes.collection.qrels import Qrels
from rtc_bayes.collection.remarks import Evidence, Remark, remarks_on
from rtc_bayes.collection.run_files import RunFile, read_run_file
from rtc_bayes.collection.runs import Run, Runs
from rtc_bayes.errors import CollectionWarning, InputError
from rtc_bayes.signatures import explains_types
from rtc_bayes.store import json_of, rows_of, write_csv
from rtc_bayes.store.shown import Shown, counted, page_by

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

JUDGED_AT = (5, 10, 20, 100)
"""The ranks to which the share of judged documents is given."""


@dataclass(frozen=True, eq=False, repr=False)
class Description(Shown):
    """What a collection holds, and what is suspicious about it.

    Made by :func:`rtc_bayes.describe`.

    Attributes
    ----------
    summary : mapping of str to int or float
        The collection in single numbers:

        - ``systems``; ``topics``: those of the runs; ``retrieved``: documents in any list, over
          topics; ``pooled``: those among the first `depth` of a list;
        - ``list_length``: median over systems of their median lists; ``tied``: mean over systems;
          ``overlap``: mean over pairs;
        - with judgments ``judged_topics``, ``judged``, ``relevant``; ``relevant_least``,
          ``relevant_median``, ``relevant_most``: over judged topics; ``judged@5`` and so on: means
          over systems.
    systems : DataFrame
        A row for each system:

        - ``system``;
        - ``topics``: how many it has a list for; ``documents``: the lengths of all its lists
          together; ``shortest``, ``median``, ``longest``: of these lengths;
        - ``tied``: share of its documents whose score another document of the same list has;
        - ``judged@5`` and so on: share of the first 5 documents, or of the list where that is
          shorter, that are judged; mean over its lists of judged topics;
        - ``overlap``: mean with the other systems; ``nearest``: the system with which it shares
          most; ``nearest_overlap``: the overlap with that; neither where it shares nothing;
        - ``rank_conflicts``: on how many topics the scores do not follow the rank column; missing
          where this is not known.
    topics : DataFrame
        A row for each topic of the runs or the judgments:

        - ``topic``; ``systems``: how many have a list for it; ``pooled``: as above;
        - with judgments ``judged``, ``relevant``, and ``unretrieved``: judged documents that are
          in no list.
    overlap : DataArray, dims system and other
        Share of the first `depth` documents that two systems have in common: the number in both
        lists over the length of the longer one, mean over the topics for which one of them has a
        list (Carterette 2007, section 5). Symmetric, 1 on the diagonal.
    remarks : tuple of Remark
        What is suspicious, each with what can be done.
    depth : int
    relevance_level : int
        The lowest grade that counts as relevant.
    meta : mapping
        Provenance.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> collection = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> description = rb.describe(collection.runs, collection.qrels)
    >>> description
    Description(4 systems, 3 topics: 710 judged, 253 relevant; 1 remark)
    """

    summary: Mapping[str, int | float]
    systems: pd.DataFrame
    topics: pd.DataFrame
    overlap: xr.DataArray
    remarks: tuple[Remark, ...]
    depth: int
    relevance_level: int
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_judgments(self) -> bool:
        """Whether judgments were described with the runs."""
        return "judged" in self.summary

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each system, with the columns of the CSV."""
        return self.systems.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds; undefined numbers are None."""
        return {
            "summary": {name: _plain(value) for name, value in self.summary.items()},
            "remarks": [remark.to_dict() for remark in self.remarks],
            "depth": self.depth,
            "relevance_level": self.relevance_level,
            "systems": rows_of(self.systems),
            "topics": rows_of(self.topics),
            "overlap": [
                [_plain(value) for value in row] for row in self.overlap.to_numpy().tolist()
            ],
            "meta": dict(self.meta),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the description as JSON, and write it if a path is given."""
        return json_of(self.to_dict(), path)

    def to_csv(self, path: str | Path) -> None:
        """Write the systems as CSV, and ``meta`` as ``OUT.meta.json`` beside it."""
        write_csv(self.systems, path, self.meta)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return a page that shows the collection: one file that needs no other.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it, too.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> rb.describe(rb.simulate(n_topics=2, n_systems=3, seed=1).runs).to_html()[:15]
        '<!DOCTYPE html>'
        """
        return page_by("description_page:description_html", path, self)

    def __repr__(self) -> str:
        of = self.summary
        judged = (
            f": {of['judged']:,} judged, {of['relevant']:,} relevant" if self.has_judgments else ""
        )
        remarks = len(self.remarks)
        return (
            f"Description({counted(int(of['systems']), 'system')}, "
            f"{counted(int(of['topics']), 'topic')}{judged}; "
            f"{counted(remarks, 'remark')})"
        )


@explains_types
def describe(
    runs: Runs,
    judgments: Qrels | Judgments | None = None,
    *,
    relevance_level: int | None = None,
    depth: int = defaults.DEPTH,
    files: bool = True,
) -> Description:
    """Describe a collection: how large it is, how its lists overlap, and what is suspicious.

    Parameters
    ----------
    runs : Runs
    judgments : Qrels or Judgments, optional
        Without them, the runs alone are described.
    relevance_level : int, at least 1, optional
        The lowest grade that counts as relevant; by default the level that the qrels name, or 1.
        Judgments that are no qrels have their own.
    depth : int, at least 1
        Overlap and pool are of the first so many documents of each list.
    files : bool
        Read the files of the runs again, where they come from files, to compare scores with the
        rank column and the tags with one another.

    Returns
    -------
    Description

    Raises
    ------
    InputError
        Runs and judgments have no topic in common, or hold no topic; a level or a depth below 1;
        judgments of another kind.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings
    >>> one, two = run("one", {"1": ["a", "b"], "2": ["x"]}), run("two", {"1": ["b", "c"]})
    >>> description = rb.describe(rb.Runs([one, two]), rb.Qrels({"1": {"a": 1, "d": 0}}), depth=2)
    >>> description.systems[["system", "topics", "judged@5"]].values.tolist()
    [['one', 2, 0.5], ['two', 1, 0.0]]
    >>> description.overlap.values.tolist()
    [[1.0, 0.25], [0.25, 1.0]]
    >>> for remark in description.remarks[:2]:
    ...     print(remark.text)
    No judgment on 1 of 2 topics of the runs: 2.
    Judged documents that are in no list: 1, of which 0 relevant.
    """
    depth = whole_number("depth", depth, least=1)
    if judgments is None and relevance_level is not None:
        raise InputError(
            "a relevance level (--relevance-level) says nothing without judgments",
            remedy="give qrels (--qrels), or leave it out",
        )
    with warnings.catch_warnings():
        # remarks say it
        warnings.simplefilter("ignore", CollectionWarning)
        longest = max((len(run.ranking(t)) for run in runs.values() for t in run.topics), default=1)
        pool = Pool.from_runs(runs, depth=max(1, longest))
        judged = _over(pool, judgments, relevance_level)
    pool = pool if judged is None else judged.pool
    read = {name: read_run_file(run) for name, run in runs.items()} if files else {}
    run_files = {name: file for name, file in read.items() if file is not None}
    answered = pool.lengths > 0
    overlap = _overlap(pool, depth, answered)
    systems = _systems_frame(runs, pool, judged, overlap, run_files)
    level = 1 if judged is None else judged.relevance_level
    topics = _topics_frame(pool, judgments, judged, level, depth, answered)
    retrieved = pool.best_ranks > 0
    identical, alike = _equal_lists(pool, depth, answered)
    evidence = Evidence(
        systems=systems,
        topics=topics,
        run_topics=pool.topics,
        depth=depth,
        answered=answered,
        identical=identical,
        alike=alike,
        files=run_files,
        n_judged=None if judged is None else int(topics["judged"].sum()),
        unretrieved_relevant=0 if judged is None else float(np.nansum(judged.labels[~retrieved])),
        negative=_negative(judgments),
        highest_grade=0
        if judged is None or relevance_level is not None or level > 1
        else int(judged.highest_grade),
    )
    return Description(
        summary=_summary(systems, topics, overlap, int(retrieved.sum())),
        systems=systems,
        topics=topics,
        overlap=_labelled(overlap, pool.systems),
        remarks=remarks_on(evidence),
        depth=depth,
        relevance_level=level,
    )


def _over(
    pool: Pool, judgments: Qrels | Judgments | None, relevance_level: int | None
) -> Judgments | None:
    """Take judgments over the pool of all lists."""
    if judgments is None:
        return None
    if isinstance(judgments, Judgments):
        if relevance_level not in (None, judgments.relevance_level):
            raise InputError(
                f"relevance_level is {relevance_level}, and the judgments' "
                f"{judgments.relevance_level}",
                remedy="leave it out, or give qrels",
            )
        return judgments.on(pool)
    if isinstance(judgments, Qrels):
        return Judgments.from_qrels(pool, judgments, relevance_level=relevance_level)
    raise InputError(
        f"cannot describe judgments of the type {type(judgments).__name__}",
        remedy="give what read_qrels returns, or Judgments",
    )


def _overlap(pool: Pool, depth: int, answered: NDArray[np.bool_]) -> Floats:
    """Overlap of the first documents, over topics for which one of two systems has a list."""
    neither = (~answered).astype(np.int64)
    either = pool.n_topics - neither @ neither.T
    with np.errstate(invalid="ignore"):
        return pool.overlap(depth) * pool.n_topics / np.where(either, either, np.nan)


def _equal_lists(pool: Pool, depth: int, answered: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Count topics on which two systems have one list, or one beginning of a list."""
    identical, alike = np.zeros((2, pool.n_systems, pool.n_systems), dtype=np.int64)
    for t in range(pool.n_topics):
        lists, has_list = pool.lists(t), answered[:, t]
        both = np.logical_and.outer(has_list, has_list)
        for counts, which in (
            (identical, lists.distinct()[1]),
            (alike, lists.cut(depth).distinct()[1]),
        ):
            counts += both & np.equal.outer(which, which)
    return identical, alike


def _systems_frame(
    runs: Runs,
    pool: Pool,
    judged: Judgments | None,
    overlap: Floats,
    files: Mapping[str, RunFile],
) -> pd.DataFrame:
    import pandas as pd

    present = [lengths[lengths > 0] for lengths in pool.lengths]
    columns: dict[str, Any] = {
        "system": pool.systems,
        "topics": [len(lengths) for lengths in present],
        "documents": [int(lengths.sum()) for lengths in present],
        "shortest": [int(lengths.min()) if len(lengths) else 0 for lengths in present],
        "median": [float(np.median(lengths)) if len(lengths) else 0.0 for lengths in present],
        "longest": [int(lengths.max(initial=0)) for lengths in present],
        "tied": [_tied(run) for run in runs.values()],
    }
    if judged is not None:
        columns |= _judged_at(pool, judged)
    others = overlap.copy()
    np.fill_diagonal(others, np.nan)
    nearest = np.argmax(np.nan_to_num(others), axis=1)
    most = others[np.arange(len(others)), nearest]
    columns["overlap"] = _mean(others)
    columns["nearest"] = [
        pool.systems[other] if share > 0 else None
        for other, share in zip(nearest, most, strict=True)
    ]
    columns["nearest_overlap"] = np.where(most > 0, most, np.nan)
    conflicts = [_conflicts(run, files.get(name)) for name, run in runs.items()]
    columns["rank_conflicts"] = pd.array(conflicts, dtype="Int64")
    return pd.DataFrame(columns)


def _conflicts(run: Run, file: RunFile | None) -> int | None:
    """Count the topics on which scores do not follow the ranks; None if that is not known."""
    if file is not None and not file.problem:
        return len(file.conflicts)
    # a run read in the order of its ranks shows it without its file
    return sum(_rises(run.scores(topic)) for topic in run.topics) or None


def _rises(scores: Floats) -> bool:
    """Whether a score is higher than the one before it."""
    return bool((scores[1:] > scores[:-1]).any())


def _tied(run: Run) -> float:
    """Share of documents whose score another of the same list has."""
    tied = 0
    for topic in run.topics:
        scores = run.scores(topic)
        ordered = np.sort(scores) if _rises(scores) else scores
        same = ordered[1:] == ordered[:-1]
        tied += int(np.count_nonzero(np.append(same, False) | np.append(False, same)))
    return tied / max(len(run), 1)


def _judged_at(pool: Pool, judged: Judgments) -> dict[str, Floats]:
    """Share judged of the first documents of each list, mean over a system's judged topics."""
    entries = pool.entries
    cell = entries.system * pool.n_topics + entries.topic
    is_judged = judged.judged[pool.ranked]
    has_judgment = np.isin(pool.topics, judged.judged_topics)
    shares = {}
    for k in JUDGED_AT:
        first = entries.rank <= k
        n_cells = pool.n_systems * pool.n_topics
        counted = np.bincount(cell[first & is_judged], minlength=n_cells)
        retrieved = np.bincount(cell[first], minlength=n_cells)
        share = np.where(retrieved, counted / np.maximum(retrieved, 1), np.nan)
        shares[f"judged@{k}"] = _mean(share.reshape(pool.n_systems, -1)[:, has_judgment])
    return shares


def _mean(rows: Floats) -> Floats:
    """Mean of each row over what is a number; NaN where nothing is."""
    number = ~np.isnan(rows)
    counts = number.sum(axis=1)
    total = np.where(number, rows, 0.0).sum(axis=1)
    return np.where(counts, total / np.maximum(counts, 1), np.nan)


def _topics_frame(
    pool: Pool,
    judgments: Qrels | Judgments | None,
    judged: Judgments | None,
    relevance_level: int,
    depth: int,
    answered: NDArray[np.bool_],
) -> pd.DataFrame:
    import pandas as pd

    best = pool.best_ranks
    columns = {
        "systems": answered.sum(axis=0),
        "pooled": _per_topic(pool, (best > 0) & (best <= depth)),
    }
    if judged is not None:
        counts = judged.topics_frame()
        columns |= {name: counts[name].to_numpy() for name in ("judged", "relevant")}
        columns["unretrieved"] = _per_topic(pool, judged.judged & (best == 0))
    frame = pd.DataFrame({"topic": pool.topics, **columns})
    elsewhere = _elsewhere(judgments, pool.topics, relevance_level)
    rows = [(t, 0, 0, n, relevant, n) for t, (n, relevant) in elsewhere.items()]
    if not rows:
        return frame
    frame = pd.concat([frame, pd.DataFrame(rows, columns=frame.columns)])
    order = natural_order(frame["topic"])
    return frame.set_index("topic").loc[list(order)].reset_index()


def _per_topic(pool: Pool, documents: NDArray[np.bool_]) -> Integers:
    counts = np.bincount(pool.topic_of[documents], minlength=pool.n_topics)
    return counts.astype(np.int64)


def _elsewhere(
    judgments: Qrels | Judgments | None, topics: tuple[str, ...], relevance_level: int
) -> dict[str, tuple[int, int]]:
    """Judged and relevant documents of the judged topics that no run has."""
    if judgments is None:
        return {}
    if isinstance(judgments, Judgments):
        table = judgments.topics_frame().set_index("topic")
        counts = {t: (int(n), int(r)) for t, n, r in table.itertuples() if t not in topics}
    else:
        graded = {t: [g for g in judgments[t].values() if g >= 0] for t in judgments}
        counts = {
            t: (len(grades), sum(g >= relevance_level for g in grades))
            for t, grades in graded.items()
            if t not in topics
        }
    return {t: count for t, count in counts.items() if count[0]}


def _negative(judgments: Qrels | Judgments | None) -> int:
    if not isinstance(judgments, Qrels):
        return 0
    return judgments.n_values - judgments.counts()[0]


def _summary(
    systems: pd.DataFrame, topics: pd.DataFrame, overlap: Floats, retrieved: int
) -> dict[str, int | float]:
    """Return the collection in single numbers."""
    pairs = overlap[all_pairs(len(overlap))]
    summary: dict[str, int | float] = {
        "systems": len(systems),
        "topics": int((topics["systems"] > 0).sum()),
        "retrieved": retrieved,
        "pooled": int(topics["pooled"].sum()),
        "list_length": float(systems["median"].median()),
        "tied": float(systems["tied"].mean()),
        "overlap": float(_mean(pairs[None])[0]),
    }
    if "judged" not in topics:
        return summary
    relevant = topics["relevant"][topics["judged"] > 0]
    some_judged = len(relevant) > 0
    return summary | {
        "judged_topics": len(relevant),
        "judged": int(topics["judged"].sum()),
        "relevant": int(relevant.sum()),
        "relevant_least": int(relevant.min()) if some_judged else 0,
        "relevant_median": float(relevant.median()) if some_judged else 0.0,
        "relevant_most": int(relevant.max()) if some_judged else 0,
        **{f"judged@{k}": float(systems[f"judged@{k}"].mean()) for k in JUDGED_AT},
    }


def _labelled(overlap: Floats, systems: tuple[str, ...]) -> xr.DataArray:
    import xarray as xr

    names = np.array(systems, dtype=str)
    freeze(overlap)
    return xr.DataArray(
        overlap, dims=("system", "other"), coords={"system": names, "other": names}, name="overlap"
    )


def _plain(value: Any) -> Any:
    """Return a value that JSON has: None for what is not a number or missing."""
    import pandas as pd

    return None if value is None or pd.isna(value) else value
