"""Read qrels, erels, prels, scores and groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import brief_repr
from rtc_bayes.collection.hold_out import groups_of
from rtc_bayes.collection.ids import by_topic, keyed_by_text, shown, some, text_of
from rtc_bayes.collection.lines import (
    ERELS,
    FAMILIES,
    GROUPS,
    PRELS,
    QRELS,
    SCORES,
    EmptyFileError,
    Layout,
    Rows,
    unquoted,
)
from rtc_bayes.collection.qrels import (
    Prel,
    Prels,
    Probabilities,
    Qrels,
    Scores,
    one_design,
    one_level,
)
from rtc_bayes.collection.records import GRADE, GROUP, SYSTEM, Records
from rtc_bayes.collection.sources import files_of, kind_of, plain
from rtc_bayes.errors import InputError, warn
from rtc_bayes.signatures import explains_types
from rtc_bayes.store import digest_file, meta_path, read_json


@explains_types
def read_qrels(source: Any) -> Qrels:
    """Read qrels: ``topic iteration docno relevance``, plain or gzipped; or rows in memory.

    For which systems, under which hold-out design and at which relevance level judgments were made
    is read from ``FILE.meta.json`` beside the file, where there is one that says it
    (:attr:`Qrels.judged_for`, `hold_out`, `relevance_level`). With one beside it a file may be
    empty: nothing is judged yet.

    Parameters
    ----------
    source : str, Path, data frame, mapping or iterable
        A file, or a folder or a glob of files; a frame with a topic column (topic, qid, query_id,
        q_id, query), a document column (docno, doc_id, docid) and a grade column (label,
        grade, relevance, score), or levels of the index of these names;
        ``{topic: {docno: grade}}``; Qrel of ir_measures or qrels of
        ir_datasets: tuples with query_id, doc_id and relevance; Qrels, which stay as they are; or a
        list of any of these, whose judgments are put together.

    Raises
    ------
    InputError
        Names file, line (or row) and remedy: also for a document that is judged twice.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.read_qrels({"401": {"d1": 1, "d2": 0}})
    Qrels(1 topic, 2 judged, 1 relevant at level 1)
    """
    if isinstance(source, Qrels):
        return source
    source = plain(source)
    match kind_of(source):
        case "path":
            return _together([_read_qrels_file(path) for path in files_of(source)])
        case "frame":
            return _qrels_of_records(Records.of_frame(source))
        case "mapping":
            return Qrels(source)
        case "iterable":
            rows = list(source)
            if rows and hasattr(rows[0], "query_id"):
                return _qrels_of_records(Records.of_tuples(rows, "relevance"))
            if rows:
                return _together(list(map(read_qrels, rows)))
    raise InputError(
        f"cannot read qrels from {brief_repr(source)}",
        remedy="give a file, a data frame, {topic: {docno: grade}}, or tuples with query_id, "
        "doc_id and relevance",
    )


@explains_types
def read_erels(source: str | Path) -> Probabilities:
    """Read probabilities of relevance: ``topic Q0 docno probability``, plain or gzipped.

    Raises
    ------
    InputError
        Names file, line and remedy: also for a probability outside [0, 1], and for a file of
        judgments, where every probability is written 0 or 1.

    Examples
    --------
    >>> import os, tempfile
    >>> import rtc_bayes as rb
    >>> path = os.path.join(tempfile.mkdtemp(), "erels")
    >>> rb.write_erels(rb.Probabilities({"401": {"d1": 0.25}}), path)
    >>> rb.read_erels(path)["401"]["d1"]
    0.25
    """
    rows = _rows(source, ERELS)
    probabilities = rows.numbers("probability", "a probability in [0, 1]", _in_unit)
    certain = np.isin(probabilities, (0.0, 1.0)).all()
    if certain and all(map(str.isdecimal, rows.text("probability"))):
        raise InputError(
            "every probability is 0 or 1, as the grades of judgments are",
            path=source,
            remedy="give judgments with --qrels (read_qrels); write probabilities with a point, as "
            "1.0",
        )
    table = _table(rows, probabilities.tolist())
    return Probabilities(table, path=str(source), digest=rows.digest)


@explains_types
def read_prels(source: str | Path) -> Prels:
    """Read Million Query prels: ``topic docno relevance algorithm probability``.

    A relevance level in ``SOURCE.meta.json`` is that of the prels.

    Raises
    ------
    InputError
        Names file, line and remedy.

    Examples
    --------
    >>> import os, tempfile
    >>> import rtc_bayes as rb
    >>> path = os.path.join(tempfile.mkdtemp(), "prels")
    >>> with open(path, "w") as file:
    ...     _ = file.write("401 d1 1 2 0.125")
    >>> rb.read_prels(path)["401"]["d1"]
    Prel(relevance=1, algorithm=2, probability=0.125)
    """
    rows = _rows(source, PRELS)
    relevance = rows.integers("relevance").tolist()
    algorithm = rows.integers("algorithm").tolist()
    probability = rows.numbers("probability", "a probability above 0, at most 1", _chance).tolist()
    prels = list(map(Prel, relevance, algorithm, probability))
    level = _read_beside(meta_path(source)).get("relevance_level")
    return Prels(_table(rows, prels), path=str(source), digest=rows.digest, relevance_level=level)


@explains_types
def read_scores(source: str | Path) -> Scores:
    """Read outside evidence: ``topic docno score``, plain or gzipped.

    Raises
    ------
    InputError
        Names file, line and remedy: also for a score that is not finite.

    Examples
    --------
    >>> import os, tempfile
    >>> import rtc_bayes as rb
    >>> path = os.path.join(tempfile.mkdtemp(), "scores")
    >>> with open(path, "w") as file:
    ...     _ = file.write("401 d1 -2.5")
    >>> rb.read_scores(path)["401"]["d1"]
    -2.5
    """
    rows = _rows(source, SCORES)
    scores = rows.numbers("score", "a finite number", np.isfinite).tolist()
    return Scores(_table(rows, scores), path=str(source), digest=rows.digest)


@explains_types
def read_groups(source: Any, *, systems: Sequence[str] | None = None) -> dict[str, str]:
    """Read which group (site) each system belongs to: ``system,group`` or ``system group``.

    Parameters
    ----------
    source : str, Path, data frame or mapping
        A file, plain or gzipped, whose fields are separated by a comma or by white space, with or
        without a first line of the names of columns, ``system,group``; a frame; or a mapping of
        system to group. Columns are called system, name, tag or run, and group or site.
    systems : sequence of str, optional
        Those that must have a group: these alone are returned, in this order.

    Returns
    -------
    dict of str to str
        Group of each system, in the order given.

    Raises
    ------
    InputError
        Names file and line (or row): another number of fields, a system twice. Or one of
        `systems` has no group.

    Examples
    --------
    >>> from rtc_bayes.collection import read_groups
    >>> read_groups({"bm25": "siteA", "dense": "siteB"})
    {'bm25': 'siteA', 'dense': 'siteB'}
    """
    kind, groups = kind_of(source), _groups(source)
    if systems is None:
        return groups
    path = source if kind == "path" else None
    return dict(zip(systems, groups_of(systems, groups, path=path), strict=True))


def _groups(source: Any) -> dict[str, str]:
    match kind_of(source):
        case "path":
            return _by_name(source, GROUPS, SYSTEM, GROUP)
        case "frame":
            records = Records.of_frame(source)
            systems = records.ids(records.name(SYSTEM))
            records.check_distinct(systems)
            return dict(zip(systems, records.ids(records.name(GROUP)), strict=True))
        case "mapping":
            return {s: text_of(g, "group") for s, g in keyed_by_text(source, "system").items()}
    raise InputError(
        f"cannot read groups from {brief_repr(source)}",
        remedy="give a file, a data frame, or a mapping of system to group",
    )


def read_families(path: str | Path) -> dict[str, str]:
    """Read which family each judge belongs to: ``judge,family`` or ``judge family``.

    Parameters
    ----------
    path : str or Path
        A file, plain or gzipped, with or without a first line ``judge,family``.

    Raises
    ------
    InputError
        Names file and line: another number of fields, a judge twice.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rtc_bayes.collection.reading import read_families
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "families.csv")
    ...     _ = file.write_text("gpt-4o-a,gpt-4o")
    ...     read_families(file)
    {'gpt-4o-a': 'gpt-4o'}
    """
    return _by_name(path, FAMILIES, FAMILIES.fields[:1], FAMILIES.fields[1:])


def _by_name(
    path: str | Path, layout: Layout, names: Sequence[str], values: Sequence[str]
) -> dict[str, str]:
    """Read a file of two columns, the first of which names each line once.

    A first line of one of the `names` and one of the `values` that columns may have is left out.
    """
    name, value = layout.fields
    rows = _rows(path, layout)
    pairs = list(zip(map(unquoted, rows.text(name)), map(unquoted, rows.text(value)), strict=True))
    read = dict(pairs)
    if len(read) < len(pairs):
        raise rows.duplicate(name)
    first, second = pairs[0]
    if first.lower() in names and second.lower() in values:
        del read[first]
    return read


def _rows(source: Any, layout: Any) -> Rows:
    if kind_of(source) != "path":
        raise InputError(
            f"cannot read {layout.kind} from {brief_repr(source)}", remedy="give a file"
        )
    paths = files_of(source)
    if len(paths) > 1:
        raise InputError(f"holds {len(paths)} files", path=source, remedy="give one file")
    return Rows(paths[0], layout)


def _in_unit(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (numbers >= 0.0) & (numbers <= 1.0)


def _chance(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (numbers > 0.0) & (numbers <= 1.0)


def _table[Value](rows: Rows, values: Sequence[Value]) -> dict[str, dict[str, Value]]:
    topics, docnos = rows.text("topic"), rows.text("docno")
    table = by_topic(zip(topics, docnos, values, strict=True))
    if sum(map(len, table.values())) < len(topics):
        raise rows.duplicate("topic", "docno")
    return table


# what stands for an iteration, which nothing reads
_ITERATION = re.compile(r"-?\d+|q0|iter(ation)?|na|-", re.IGNORECASE)


def _read_qrels_file(path: Path) -> Qrels:
    beside = _read_beside(meta_path(path))
    try:
        rows = Rows(path, QRELS)
    except EmptyFileError:
        if not beside:
            raise
        return Qrels({}, path=str(path), digest=digest_file(path), **beside)
    table = _table(rows, rows.integers("relevance").tolist())
    name = rows.first()[1]
    if not _ITERATION.fullmatch(name):
        warn(
            f"{path}: its second column is {shown(name)}, no number of an iteration: if these are "
            "labels of a judge that may err, give them as labels (--labels, read_labels)",
        )
    return Qrels(table, path=str(path), digest=rows.digest, **beside)


def _read_beside(path: Path) -> dict[str, Any]:
    """Read for whom judgments were made, under which hold-out design, and at which level."""
    if not path.is_file():
        return {}
    meta = read_json(path)
    systems = meta.get("judged_for") if isinstance(meta, dict) else meta
    lists = list(systems.values()) if isinstance(systems, dict) else [systems]
    names_systems = all(
        isinstance(of, list) and all(isinstance(name, str) for name in of) for of in lists
    )
    if not isinstance(meta, dict) or not (systems is None or names_systems):
        raise InputError(
            "does not say the systems judged for as a list, or as one per topic",
            path=path,
            remedy='correct "judged_for", or delete the file',
        )
    hold_out = meta.get("hold_out")
    if not (hold_out is None or isinstance(hold_out, str)):
        raise InputError(
            "does not say the hold-out design by its digest",
            path=path,
            remedy='correct "hold_out", or delete the file',
        )
    level = meta.get("relevance_level")
    if not (level is None or (type(level) is int and level >= 1)):
        raise InputError(
            "does not say the relevance level as a whole number of at least 1",
            path=path,
            remedy='correct "relevance_level", or delete the file',
        )
    return {"judged_for": systems, "hold_out": hold_out, "relevance_level": level}


def _qrels_of_records(records: Records) -> Qrels:
    column = records.name(GRADE)
    if column == "score" and "rank" in records.columns:
        raise InputError(
            f"{records.kind}: columns score and rank, as a run has",
            remedy="give judgments; if the scores are grades, drop column rank",
        )
    topics, docnos = records.topics_and_docnos()
    records.check_distinct(topics, docnos)
    return Qrels(by_topic(zip(topics, docnos, records.grades(column), strict=True)))


def _together(parts: Sequence[Qrels]) -> Qrels:
    """Put the judgments of several sources together; none may judge a document again."""
    if len(parts) == 1:
        return parts[0]
    hold_out = one_design(part.hold_out for part in parts if part.n_values)
    level = one_level(part.relevance_level for part in parts if part.n_values)
    table: dict[str, dict[str, int]] = {}
    for part in parts:
        for topic, grades in part.items():
            judged = table.setdefault(topic, {})
            twice = next((docno for docno in grades if docno in judged), None)
            if twice is not None:
                raise InputError(
                    f"document {shown(twice)} of topic {topic} is judged in another source, too",
                    path=part.path or None,
                    remedy="give every judgment once",
                )
            judged.update(grades)
    first = parts[0].judged_for
    alike = all(part.judged_for == first for part in parts)
    judged_for = first if alike else None
    files = " and ".join(part.path for part in parts if part.path)
    silent = [part.path for part in parts if part.path and part.relevance_level is None]
    if level is not None and level > 1 and silent:
        warn(
            f"grades from {level} on count as relevant in all of these qrels, though no .meta.json "
            f"says it of {some(silent)}: check that they were judged alike"
        )
    return Qrels(table, path=files, judged_for=judged_for, hold_out=hold_out, relevance_level=level)
