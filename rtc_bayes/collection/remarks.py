"""What is suspicious in a collection, each in a sentence with what can be done about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.grades import counted_grades
from rtc_bayes.collection.ids import some
from rtc_bayes.collection.run_files import RunFile
from rtc_bayes.collection.unretrieved import NAMES, topics_of_other_names
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

LOW_JUDGED = 0.9
"""A run with a lower share of judged documents among its first 10 is remarked on."""
MANY_TIES = 0.1
"""A run with a higher share of tied documents is."""
SHORT = 0.5
"""A run whose median list is shorter than this share of the median run's is."""
ALIKE = 0.5
"""Two runs with the same first documents on at least this share of topics are."""


@dataclass(frozen=True)
class Remark:
    """Something suspicious.

    Attributes
    ----------
    kind : str
        In a word, as ``identical_runs``.
    text : str
        What was seen, in a sentence.
    remedy : str
        What can be done.
    systems, topics : tuple of str
        All those that it is about; the sentence names some.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs(rb.Run.from_rankings(name, {"1": ["d1", "d2"]}) for name in ("a", "b"))
    >>> remark, = rb.describe(runs).remarks
    >>> remark.kind, remark.systems
    ('identical_runs', ('a', 'b'))
    >>> print(remark.text)
    Some runs are identical, the same documents in the same order on all topics: a = b.
    """

    kind: str
    text: str
    remedy: str
    systems: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        return {name: _listed(value) for name, value in asdict(self).items()}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What remarks are made from.

    Attributes
    ----------
    systems, topics : DataFrame
        As of :class:`rtc_bayes.Description`.
    run_topics : tuple of str
        Topics of the runs.
    depth : int
    answered : ndarray of bool, shape (systems, topics of the runs)
        Where a system has a list.
    identical, alike : ndarray of int, shape (systems, systems)
        On how many topics two systems have the same list, or the same first `depth` documents in
        the same order.
    files : mapping of str to RunFile
        By system, of those whose files could be read again.
    n_judged : int or None
        None without judgments.
    unretrieved_relevant : float
        Relevant documents that are in no list.
    negative : int
        Documents with a negative grade.
    highest_grade : int
        Of the judgments, where nobody said which grades count as relevant; else 0.
    """

    systems: pd.DataFrame
    topics: pd.DataFrame
    run_topics: tuple[str, ...]
    depth: int
    answered: NDArray[np.bool_]
    identical: NDArray[np.int64]
    alike: NDArray[np.int64]
    files: Mapping[str, RunFile]
    n_judged: int | None
    unretrieved_relevant: float = 0.0
    negative: int = 0
    highest_grade: int = 0


def remarks_on(evidence: Evidence) -> tuple[Remark, ...]:
    """Say what is suspicious: of judgments first, then of runs, then of their files."""
    every = [*_on_copies(evidence), *_on_lists(evidence), *_on_files(evidence)]
    if evidence.n_judged is None:
        return tuple(every)
    return (*_on_judgments(evidence), *every)


def _on_judgments(evidence: Evidence) -> Iterator[Remark]:
    if evidence.negative:
        yield Remark(
            "negative_grades",
            f"{counted(evidence.negative, 'document')} with a negative grade: not judged.",
            "Nothing need be done if that is what the grade means; else correct the judgments.",
        )
    if not evidence.n_judged:
        yield Remark(
            "no_judgments", "Nothing is judged.", "Judge the documents that rtc-bayes next names."
        )
        return
    if evidence.highest_grade > 1:
        said = counted_grades(evidence.highest_grade, 1)
        yield Remark(
            "grades_above_1",
            f"{said[0].upper()}{said[1:]}.",
            "Name the lowest grade that counts as relevant, by --relevance-level or "
            "relevance_level=: that is 2 in the deep learning tracks of TREC, whose grades go up "
            "to 3.",
        )
    yield from _on_judged_topics(evidence.topics)
    yield from _on_judged_lists(evidence)


def _on_judged_topics(topics: pd.DataFrame) -> Iterator[Remark]:
    judged, retrieved = topics["judged"] > 0, topics["systems"] > 0
    if names := _where(topics, retrieved & ~judged):
        yield Remark(
            "topics_without_judgments",
            f"No judgment on {len(names)} of {counted(retrieved.sum(), 'topic')} of the runs: "
            f"{some(names)}.",
            "Average over judged topics only, or judge some documents of each of these.",
            topics=names,
        )
    if names := _where(topics, judged & ~retrieved):
        yield Remark(
            "topics_without_runs",
            f"No run on {len(names)} of {counted(judged.sum(), 'judged topic')}: {some(names)}.",
            "They are left aside. Check that runs and judgments are of the same topics.",
            topics=names,
        )
    if names := _where(topics, judged & (topics["relevant"] == 0)):
        yield Remark(
            "none_relevant",
            f"No judged document is relevant on {len(names)} of "
            f"{counted(judged.sum(), 'judged topic')}: {some(names)}.",
            "Every system scores 0 there by these judgments alone. Judge more documents, or leave "
            "these topics out of an evaluation; a comparison by a model uses them.",
            topics=names,
        )
    if names := _where(topics, judged & (topics["relevant"] == topics["judged"])):
        yield Remark(
            "all_relevant",
            f"Every judged document is relevant on {len(names)} of "
            f"{counted(judged.sum(), 'judged topic')}: {some(names)}.",
            "Check the relevance level and that nonrelevant judgments were not left out; else "
            "judge more documents there.",
            topics=names,
        )


def _on_judged_lists(evidence: Evidence) -> Iterator[Remark]:
    systems = evidence.systems
    topics = evidence.topics
    if unretrieved := int(topics["unretrieved"].sum()):
        judged = topics["judged"].where(topics["systems"] > 0, 0).to_numpy()
        retrieved = (topics["judged"] - topics["unretrieved"]).to_numpy()
        other_names = topics_of_other_names(judged, retrieved)
        yield Remark(
            "unretrieved_judgments",
            f"Judged documents that are in no list: {unretrieved:,}, of which "
            f"{evidence.unretrieved_relevant:,g} relevant.",
            f"On {counted(len(other_names), 'topic')} no judged document is in any list: {NAMES}."
            if other_names
            else "Nothing need be done if other runs were judged, too: the relevant ones lower "
            "every system's recall and AP.",
            topics=tuple(topics["topic"].iloc[other_names]),
        )
    of_low = systems[systems["judged@10"] < LOW_JUDGED].sort_values("judged@10", kind="stable")
    if len(of_low):
        yield Remark(
            "low_judged",
            f"In {len(of_low)} of {counted(len(systems), 'run')} fewer than {LOW_JUDGED:.0%} of "
            f"the first 10 documents are judged: {_named(of_low, 'judged@10', '.1%')}. Counting "
            "unjudged documents as not relevant is unfair to them.",
            "Compare by probabilities of relevance (rtc-bayes compare), leave unjudged documents "
            "out of all lists (Runs.condensed), or judge what is missing (rtc-bayes next).",
            systems=tuple(of_low["system"]),
        )


def _on_files(evidence: Evidence) -> Iterator[Remark]:
    files, total = evidence.files, len(evidence.systems)
    by_tag: dict[str, list[str]] = {}
    for system, file in files.items():
        if len(file.tags) == 1:
            by_tag.setdefault(file.tags[0], []).append(system)
    repeated = {tag: names for tag, names in by_tag.items() if len(names) > 1}
    if repeated:
        said = [f"{tag} ({', '.join(names)})" for tag, names in repeated.items()]
        yield Remark(
            "repeated_tags",
            f"Several files have the same run tag: {some(said)}.",
            "Name systems by file (--name-by file), and check that no file is a copy.",
            systems=tuple(name for names in repeated.values() for name in names),
        )
    mixed = {system: len(file.tags) for system, file in files.items() if len(file.tags) > 1}
    if mixed:
        yield Remark(
            "mixed_tags",
            f"Several run tags in {len(mixed)} of {counted(total, 'file')}: {_each(mixed)}.",
            "Check that each file holds one run.",
            systems=tuple(mixed),
        )
    unusable = {system: file.problem for system, file in files.items() if file.problem}
    if unusable:
        yield Remark(
            "rank_column_unusable",
            f"The rank column cannot be read in {len(unusable)} of {counted(total, 'run')}: "
            f"{next(iter(unusable.values()))}.",
            "Nothing need be done: scores order the lists.",
            systems=tuple(unusable),
        )
    ties = _most_first({system: len(file.ties) for system, file in files.items()})
    if ties:
        yield Remark(
            "rank_column_ties",
            f"In {len(ties)} of {counted(total, 'run')} the rank column orders documents of equal "
            f"score otherwise than by docno: {_each(ties, 'topic')}.",
            "trec_eval orders them by docno, and so does --order score. Give distinct scores if "
            "their order matters.",
            systems=tuple(ties),
        )


def _on_copies(evidence: Evidence) -> Iterator[Remark]:
    names = evidence.systems["system"].to_numpy()
    present = evidence.answered.astype(np.int64)
    both, length = present @ present.T, present.sum(axis=1)
    copies = (evidence.identical == np.maximum.outer(length, length)) & (length > 0)
    first = np.argmax(copies, axis=1)
    groups = [names[copies[s]].tolist() for s in np.flatnonzero(length) if first[s] == s]
    groups = [group for group in groups if len(group) > 1]
    if groups:
        yield Remark(
            "identical_runs",
            "Some runs are identical, the same documents in the same order on all topics: "
            f"{some([' = '.join(group) for group in groups])}.",
            "Keep one of each: a copy looks like a second system that agrees.",
            systems=tuple(name for group in groups for name in group),
        )
    a, b = np.nonzero(np.triu((evidence.alike >= ALIKE * both) & (both > 0) & ~copies, 1))
    if len(a):
        order = np.argsort(-evidence.alike[a, b], kind="stable")
        pairs = [(names[i], names[j]) for i, j in zip(a[order], b[order], strict=True)]
        share = [
            f"{names[i]} and {names[j]} ({evidence.alike[i, j]} of {both[i, j]} topics)"
            for i, j in zip(a[order], b[order], strict=True)
        ]
        yield Remark(
            "similar_runs",
            f"{counted(len(pairs), 'pair')} of runs {'has' if len(pairs) == 1 else 'have'} the "
            f"same first {evidence.depth} documents in the same order on half of their topics or "
            f"more: {some(share)}.",
            "Do not count them as systems that agree independently: keep one of them, or give "
            "them one group.",
            systems=tuple(dict.fromkeys(name for pair in pairs for name in pair)),
        )


def _on_lists(evidence: Evidence) -> Iterator[Remark]:
    systems, total = evidence.systems, counted(len(evidence.systems), "run")
    missing = ~evidence.answered
    lacking = _most_first(dict(zip(systems["system"], missing.sum(axis=1), strict=True)))
    if lacking:
        yield Remark(
            "missing_topics",
            f"In {len(lacking)} of {total} some of {counted(len(evidence.run_topics), 'topic')} "
            f"are missing, where the run scores 0: {_each(lacking)}. Shares judged (judged@k) "
            "are of the lists that it has.",
            "Ask for the missing lists, or compare on the topics that all runs have.",
            systems=tuple(lacking),
            topics=tuple(np.array(evidence.run_topics, dtype=object)[missing.any(axis=0)]),
        )
    in_conflict = systems["rank_conflicts"].fillna(0)
    if conflicts := _most_first(dict(zip(systems["system"], in_conflict, strict=True))):
        yield Remark(
            "rank_conflicts",
            f"In {len(conflicts)} of {total} scores do not follow the rank column: "
            f"{_each(conflicts, 'topic')}.",
            "Scores order lists by default, as in trec_eval. If the rank column is what the "
            "system meant, read it: --order rank.",
            systems=tuple(conflicts),
        )
    tied = systems[systems["tied"] > MANY_TIES].sort_values("tied", ascending=False, kind="stable")
    if len(tied):
        yield Remark(
            "ties",
            f"In {len(tied)} of {total} more than {MANY_TIES:.0%} of the documents have the score "
            f"of another in their list: {_named(tied, 'tied', '.1%')}.",
            "Their order is by docno, which says nothing. Give scores with more digits, or read "
            "the rank column: --order rank.",
            systems=tuple(tied["system"]),
        )
    usual = systems["median"].median()
    short = systems[systems["median"] < SHORT * usual].sort_values("median", kind="stable")
    if len(short):
        yield Remark(
            "short_lists",
            f"In {len(short)} of {total} the median list is much shorter than in the others: "
            f"{_named(short, 'median', 'g')}; the length in the typical run is {usual:,g}.",
            "Check that these files are complete. At ranks that a list does not reach it counts "
            "as having retrieved nothing relevant.",
            systems=tuple(short["system"]),
        )


def _where(topics: pd.DataFrame, condition: pd.Series[bool]) -> tuple[str, ...]:
    return tuple(topics["topic"][condition])


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Leave out counts of 0; the highest first."""
    counted = {name: int(count) for name, count in counts.items() if count}
    return dict(sorted(counted.items(), key=lambda item: -item[1]))


def _named(systems: pd.DataFrame, column: str, form: str) -> str:
    values = zip(systems["system"], systems[column], strict=True)
    return some([f"{system} ({value:{form}})" for system, value in values])


def _each(counts: Mapping[str, int], thing: str = "") -> str:
    return some([f"{s} ({counted(n, thing) if thing else n})" for s, n in counts.items()])


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
