"""Judgments of several groups merged: conflicts settled by a rule, and who judged what kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from rtc_bayes.collection.ids import by_topic, keyed_by_text, shown
from rtc_bayes.collection.judged_for import JudgedFor
from rtc_bayes.collection.qrels import Qrels, one_design, one_level
from rtc_bayes.collection.writing import write_qrels
from rtc_bayes.errors import InputError, warn
from rtc_bayes.signatures import explains_types
from rtc_bayes.store import digest_file, meta_path, write_json
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection.judgments import Judgments
    from rtc_bayes.collection.pool import Pool

Conflict = Literal["refuse", "first", "highest", "lowest", "majority"]
"""How a document that is judged differently gets its grade."""

NAMED = 3
"""How many documents an error names."""

_RULES = ", ".join(rule for rule in get_args(Conflict) if rule != "refuse")
_BY_RULE = f"settle conflicts by one of {_RULES}, as conflict= or --conflict"


@dataclass(frozen=True)
class MergedDocument:
    """One document of merged judgments.

    Attributes
    ----------
    topic, docno : str
    grade : int
        As merged; negative where no source judged it.
    grades : mapping of str to int
        The grade by every source that lists the document, in the order of the sources.
    tie : bool
        Several grades have most votes; the highest of them was taken. Only by ``majority``.

    Examples
    --------
    >>> MergedDocument("401", "d1", 1, {"NIST": 1, "UMass": 0}, tie=False).is_conflict
    True
    """

    topic: str
    docno: str
    grade: int
    grades: Mapping[str, int]
    tie: bool

    @property
    def judged_by(self) -> tuple[str, ...]:
        """The sources that judged it; a negative grade is no judgment."""
        return tuple(source for source, grade in self.grades.items() if grade >= 0)

    @property
    def is_conflict(self) -> bool:
        """Whether two sources judged it differently."""
        return len({grade for grade in self.grades.values() if grade >= 0}) > 1


@dataclass(frozen=True, repr=False)
class Merged:
    """Judgments of several sources as one, and who judged which document.

    Attributes
    ----------
    qrels : Qrels
        The merged judgments, in the order in which documents first appear. Their `judged_for` is
        every source's together; None where that of any source is not known. Their `hold_out` is
        the design under which all were judged, their `relevance_level` that of all sources that
        name one; None where they name several.
    sources : mapping of str to Qrels
        What was merged, by name.
    conflict : str
        The rule by which conflicts were settled.
    documents : tuple of MergedDocument
        Every document of `qrels`, in its order.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> nist = rb.Qrels({"401": {"d1": 1, "d2": 0}})
    >>> merged = rb.merge({"NIST": nist, "UMass": rb.Qrels({"401": {"d2": 2}})}, conflict="highest")
    >>> merged
    Merged(2 sources, 2 judged, 1 by several, 1 in conflict, settled by highest)
    >>> merged.to_frame()
      topic docno  grade  NIST  UMass
    0   401    d1      1     1   <NA>
    1   401    d2      2     0      2
    >>> merged.documents[1].judged_by
    ('NIST', 'UMass')
    """

    qrels: Qrels
    sources: Mapping[str, Qrels]
    conflict: Conflict
    documents: tuple[MergedDocument, ...]

    @property
    def conflicts(self) -> tuple[MergedDocument, ...]:
        """The documents that were judged differently."""
        return tuple(document for document in self.documents if document.is_conflict)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each document: topic, docno, grade, and the grade by each source."""
        return self._frame(self.documents)

    def conflicts_frame(self) -> pd.DataFrame:
        """Return the rows of :meth:`to_frame` that are in conflict, with a column tie."""
        conflicts = self.conflicts
        return self._frame(conflicts).assign(tie=[document.tie for document in conflicts])

    def _frame(self, documents: Sequence[MergedDocument]) -> pd.DataFrame:
        import pandas as pd

        columns: dict[str, Any] = {
            "topic": [document.topic for document in documents],
            "docno": [document.docno for document in documents],
            "grade": [document.grade for document in documents],
        }
        for source in self.sources:
            grades = [document.grades.get(source) for document in documents]
            columns[source] = pd.array(grades, dtype="Int64")
        return pd.DataFrame(columns)

    def meta(self) -> dict[str, Any]:
        """Return what to keep beside the judgments, ready for JSON.

        Returns
        -------
        dict
            What :meth:`Qrels.about` says of them; ``conflict``, the rule;
            ``sources`` (of each its name, digest, number judged, and the same);
            ``conflicts`` (topic, docno, grade, the grades by source and tie); ``judged_by`` (by
            topic and docno the names of the sources).
        """
        judged_by: dict[str, dict[str, list[str]]] = {}
        for document in self.documents:
            names = list(document.judged_by)
            judged_by.setdefault(document.topic, {})[document.docno] = names
        return {
            **self.qrels.about(),
            "conflict": self.conflict,
            "sources": [
                {
                    "name": name,
                    "digest": qrels.digest,
                    "judged": qrels.counts()[0],
                    **qrels.about(),
                }
                for name, qrels in self.sources.items()
            ],
            "conflicts": [
                {
                    "topic": document.topic,
                    "docno": document.docno,
                    "grade": document.grade,
                    "grades": dict(document.grades),
                    "tie": document.tie,
                }
                for document in self.conflicts
            ],
            "judged_by": judged_by,
        }

    def write(self, path: str | Path, *, provenance: Mapping[str, object] | None = None) -> None:
        """Write the qrels, and :meth:`meta` to ``PATH.meta.json``, with `provenance` as ``meta``.

        ``digest`` there is the SHA-256 of what is written: a file of another was edited since.

        Raises
        ------
        InputError
            As :func:`rtc_bayes.write_qrels`.
        """
        write_qrels(self.qrels, path)
        origin = {} if provenance is None else {"meta": dict(provenance)}
        write_json(self.meta() | {"digest": digest_file(path)} | origin, meta_path(path))

    def __repr__(self) -> str:
        several = sum(len(document.judged_by) > 1 for document in self.documents)
        conflicts = self.conflicts
        ties = sum(document.tie for document in conflicts)
        settled = f", settled by {self.conflict}" if conflicts else ""
        tied = f", {ties} of them ties (the highest)" if ties else ""
        return (
            f"Merged({counted(len(self.sources), 'source')}, {self.qrels.counts()[0]} judged, "
            f"{several} by several, {len(conflicts)} in conflict{settled}{tied})"
        )


@explains_types
def merge(*qrels: Qrels | Mapping[str, Qrels], conflict: Conflict = "refuse") -> Merged:
    """Merge the judgments of several groups.

    A document that several sources judge alike is judged so. A negative grade is no judgment: it
    gives way to one, and is in conflict with nothing. Where only negative grades stand, the
    highest of them is kept.

    Parameters
    ----------
    *qrels : Qrels
        At least one; sources are named by their files, or as "source 1" and so on. Or one mapping
        of name to Qrels.
    conflict : {"refuse", "first", "highest", "lowest", "majority"}
        The grade of a document that sources judge differently: none, but an error; that of the
        source given first; the highest; the lowest; or the most frequent, which is the highest of
        those where several are.

    Returns
    -------
    Merged

    Raises
    ------
    InputError
        Sources judge documents differently and `conflict` is "refuse": it says how many documents,
        and names some; a rule that does not exist; something other than Qrels; sources judged
        under different hold-out designs, or some under one and some under none.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> ours, theirs = rb.Qrels({"401": {"d1": 1}}), rb.Qrels({"401": {"d1": 0, "d2": 1}})
    >>> rb.merge(ours, theirs)
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: 1 document is judged differently: d1 of topic 401 (source 1: 1, ...
    >>> dict(rb.merge(ours, theirs, conflict="lowest").qrels["401"])
    {'d1': 0, 'd2': 1}
    """
    _check_rule(conflict)
    sources = _named(qrels)
    hold_out = one_design(source.hold_out for source in sources.values() if source.n_values)
    level = one_level(source.relevance_level for source in sources.values() if source.n_values)
    grades: dict[tuple[str, str], dict[str, int]] = {}
    for name, source in sources.items():
        for topic, of_topic in source.items():
            for docno, grade in of_topic.items():
                grades.setdefault((topic, docno), {})[name] = grade
    documents = []
    for (topic, docno), by_source in grades.items():
        made = [grade for grade in by_source.values() if grade >= 0]
        grade, tie = settle(made, conflict) if made else (max(by_source.values()), False)
        documents.append(MergedDocument(topic, docno, grade, by_source, tie))
    conflicts = [document for document in documents if document.is_conflict]
    if conflicts and conflict == "refuse":
        raise refused(len(conflicts), [(d.docno, d.topic, d.grades) for d in conflicts[:NAMED]])
    table = by_topic((each.topic, each.docno, each.grade) for each in documents)
    judged_for = _together([(source.judged_for, source) for source in sources.values()])
    together = Qrels(table, judged_for=judged_for, hold_out=hold_out, relevance_level=level)
    return Merged(together, sources, conflict, tuple(documents))


def merge_judgments(judgments: Sequence[Judgments], conflict: Conflict) -> Judgments:
    """Merge judgments over the pool of the first: see :meth:`Judgments.merge`."""
    _check_rule(conflict)
    first = judgments[0]
    levels = [each.relevance_level for each in judgments if each.n_judged]
    if len(set(levels)) > 1:
        raise InputError(
            f"judgments are at relevance levels {' and '.join(map(str, sorted(set(levels))))}",
            remedy="read them at one level",
        )
    hold_out = one_design(each.hold_out for each in judgments if each.n_judged)
    beside = [each.judge_labels for each in judgments if each.judge_labels is not None]
    if any(labels is not beside[0] for labels in beside):
        raise InputError(
            "labels of judges beside several of the judgments",
            remedy="leave them out, with_judge_labels(None), and give all of them to the merged",
        )
    pool = first.pool
    for other in judgments[1:]:
        pool = other.on(pool).pool
    over = [each.on(pool) for each in judgments]
    # a document that has a probability has no grade: -1 compares, NaN does not
    made: dict[int, dict[str, tuple[float, float]]] = {}
    for number, each in enumerate(over, 1):
        grades = np.nan_to_num(each.grades[each.order], nan=-1.0)
        judged = zip(each.order.tolist(), each.labels[each.order], grades, strict=True)
        for document, label, grade in judged:
            value = (float(label), float(grade))
            made.setdefault(document, {})[f"source {number}"] = value
    labels, grades = np.array(_settled(made, conflict, pool)).reshape(-1, 2).T
    judged_for = _together(
        [(each.judged_for_by_topic or each.judged_for, each.judged_topics) for each in over]
    )
    merged = type(first).from_labels(
        pool,
        np.fromiter(made, dtype=np.int64),
        labels,
        grades=np.where(grades < 0.0, np.nan, grades),
        relevance_level=levels[0] if levels else first.relevance_level,
        judged_for=judged_for,
        hold_out=hold_out,
    )
    merged = merged.with_aside(pair for each in over for pair in each.aside)
    return replace(merged, judge_labels=beside[0] if beside else None)


def _settled(
    made: Mapping[int, Mapping[str, tuple[float, float]]], conflict: Conflict, pool: Pool
) -> list[tuple[float, float]]:
    """Return the label and grade that each document gets; refuse conflicts, or warn of them."""
    settled = [settle(list(values.values()), conflict) for values in made.values()]
    conflicts = [d for d, values in made.items() if len(set(values.values())) > 1]
    if conflicts and conflict == "refuse":
        named = [
            (pool.docnos[d], pool.topics[pool.topic_of[d]], _told(made[d]))
            for d in conflicts[:NAMED]
        ]
        raise refused(len(conflicts), named)
    if conflicts:
        ties = sum(tie for _, tie in settled)
        tied = f", {ties} of them ties: the highest" if ties else ""
        warn(
            f"{_counted(len(conflicts))} judged differently; settled by {conflict}{tied}",
        )
    return [value for value, _ in settled]


def settle[Value: (int, tuple[float, float])](
    values: Sequence[Value], conflict: Conflict
) -> tuple[Value, bool]:
    """Return one of the values that sources gave to a document, and whether most votes tied.

    Where they are in conflict and `conflict` is "refuse", the first; the caller refuses.

    Examples
    --------
    >>> settle([0, 2, 2, 1], "majority"), settle([0, 2], "majority"), settle([0, 2], "lowest")
    ((2, False), (2, True), (0, False))
    """
    match conflict:
        case "highest":
            return max(values), False
        case "lowest":
            return min(values), False
        case "majority":
            votes = Counter(values)
            most = max(votes.values())
            winners = [value for value, count in votes.items() if count == most]
            return max(winners), len(winners) > 1
        case _:
            return values[0], False


def _check_rule(conflict: str) -> None:
    if conflict not in get_args(Conflict):
        raise InputError(
            f"conflict is {conflict!r:.80}", remedy=f"give one of {', '.join(get_args(Conflict))}"
        )


def _named(qrels: Sequence[Qrels | Mapping[str, Qrels]]) -> dict[str, Qrels]:
    """Return sources by distinct names."""
    if len(qrels) == 1 and isinstance(qrels[0], Mapping) and not isinstance(qrels[0], Qrels):
        sources = keyed_by_text(qrels[0], "source")
    else:
        sources = {}
        for number, each in enumerate(qrels, 1):
            name = getattr(each, "path", "") or f"source {number}"
            sources[f"{name} ({number})" if name in sources else name] = each  # type: ignore[assignment]
    other = next((each for each in sources.values() if not isinstance(each, Qrels)), None)
    if not sources or other is not None:
        what = "nothing" if not sources else f"a {type(other).__name__}"
        raise InputError(f"cannot merge {what}", remedy="give Qrels, as read_qrels returns them")
    taken = sorted({"topic", "docno", "grade", "tie"} & set(sources))
    if taken:
        raise InputError(f"a source is named {taken[0]!r}", remedy="give it another name")
    return sources


def refused(
    count: int, some: Iterable[tuple[str, str, Mapping[str, float]]], remedy: str = _BY_RULE
) -> InputError:
    """Say how many documents are judged differently, name some of them, and what to do.

    Parameters
    ----------
    count : int
    some : iterable of (docno, topic, mapping of str to float)
        Of some of them what each source says.
    remedy : str

    Examples
    --------
    >>> print(refused(1, [("d1", "401", {"A": 0, "B": 2})], "correct one"))
    1 document is judged differently: d1 of topic 401 (A: 0, B: 2); correct one
    """
    said = [
        f"{shown(docno)[1:-1]} of topic {topic} "
        f"({', '.join(f'{source}: {value:g}' for source, value in values.items())})"
        for docno, topic, values in some
    ]
    more = ", ..." if count > len(said) else ""
    return InputError(
        f"{_counted(count)} judged differently: {', '.join(said)}{more}", remedy=remedy
    )


def _told(values: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return the grade of every source, or its label where it has no grade."""
    return {s: label if grade < 0.0 else grade for s, (label, grade) in values.items()}


def _counted(count: int) -> str:
    return "1 document is" if count == 1 else f"{count} documents are"


def _together(parts: Sequence[tuple[JudgedFor, Iterable[str]]]) -> JudgedFor:
    """Return the systems that any source judged for, by topic unless all say the same.

    A source judged for its systems on the topics where it has judgments. None where it is not
    known of some source.
    """
    first = parts[0][0]
    if all(judged_for == first for judged_for, _ in parts):
        return first
    if any(judged_for is None for judged_for, _ in parts):
        return None
    by_topic: dict[str, dict[str, None]] = {}
    for judged_for, topics in parts:
        for topic in topics:
            systems = judged_for.get(topic, ()) if isinstance(judged_for, Mapping) else judged_for
            by_topic.setdefault(topic, {}).update(dict.fromkeys(systems or ()))
    return {topic: tuple(systems) for topic, systems in by_topic.items()}
