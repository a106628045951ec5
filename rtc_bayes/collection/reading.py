"""Read runs, qrels, erels, prels and scores from files, folders, globs and data frames."""

from __future__ import annotations

import glob
import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.cache import RunCache
from rtc_bayes.collection.lines import ERELS, PRELS, QRELS, RUN, SCORES, Rows
from rtc_bayes.collection.qrels import Prel, Prels, Probabilities, Qrels, Scores
from rtc_bayes.collection.runs import Run, Runs, trec_order
from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_TOPIC_COLUMNS = ("qid", "query_id", "q_id")
_DOCUMENT_COLUMNS = ("docno", "doc_id")
_SYSTEM_COLUMNS = ("system", "name", "tag", "run")
_GRADE_COLUMNS = ("label", "relevance", "score")


def read_runs(
    *sources: str | Path | pd.DataFrame,
    name_by: Literal["tag", "file"] = "tag",
    order: Literal["score", "rank"] = "score",
    depth: int | None = None,
    cache: str | Path | None = None,
) -> Runs:
    """Read runs: ``topic Q0 docno rank score tag``, plain or gzipped.

    A run is ordered by score, descending, ties by docno descending (trec_eval's rule); the rank
    column counts only with ``order="rank"``.

    Parameters
    ----------
    *sources : str, Path or DataFrame
        Files, folders (their files, sorted by name; hidden files and folders inside are not
        runs), globs; frames with PyTerrier's (qid, docno, score or rank), ir_measures'
        (query_id, doc_id, score) or ranx' (q_id, doc_id, score) columns, and optionally a
        column system, name, tag or run.
    name_by : {"tag", "file"}
        Name a system by its run tag, or by its file's name without .gz.
    order : {"score", "rank"}
    depth : int, optional
        Keep only the first documents of every list, once ordered.
    cache : str or Path, optional
        A folder that keeps what was parsed, under the digest of the files' contents, so that the
        next time takes a fraction; by default that of the environment variable RTC_BAYES_CACHE,
        and none if that is not set. It can be deleted at any time.

    Returns
    -------
    Runs
        In the order given.

    Raises
    ------
    InputError
        Names file, line and remedy: a wrong field count, a score or rank that is not a number,
        NaN, a document twice in a topic, an empty file, an encoding other than UTF-8, two
        systems of one name, several tags in one file, a depth below 1.
    """
    if depth is not None and depth < 1:
        raise InputError(f"depth is {depth}", remedy="give a depth of at least 1")
    folder = cache or os.environ.get("RTC_BAYES_CACHE")
    runs: list[Run] = []
    for of_files, group in groupby(sources, lambda source: isinstance(source, str | Path)):
        if of_files:
            paths = [path for source in group for path in _expand(cast("str | Path", source))]
            runs.extend(_read_files(paths, name_by, order, depth, folder))
        else:
            for frame in group:
                runs.extend(_runs_of_frame(cast("pd.DataFrame", frame), order, depth))
    return Runs(runs)


def read_qrels(source: str | Path | pd.DataFrame) -> Qrels:
    """Read qrels: ``topic iteration docno relevance``, plain or gzipped.

    Parameters
    ----------
    source : str, Path or DataFrame
        A file, or a frame with a topic column (qid, query_id, q_id), a document column (docno,
        doc_id) and a grade column (label, relevance, score).

    Raises
    ------
    InputError
        Names file, line and remedy.
    """
    if not isinstance(source, str | Path):
        return _qrels_of_frame(source)
    rows = Rows(Path(source), QRELS)
    grades = rows.integers("relevance")
    return Qrels(_table(rows, grades), path=str(source), digest=_digest(rows))


def read_erels(source: str | Path) -> Probabilities:
    """Read probabilities of relevance: ``topic Q0 docno probability``, plain or gzipped.

    Raises
    ------
    InputError
        Names file, line and remedy: also for a probability outside [0, 1].
    """
    rows = Rows(Path(source), ERELS)
    probabilities = rows.numbers("probability", "a probability in [0, 1]", _in_unit).tolist()
    return Probabilities(_table(rows, probabilities), path=str(source), digest=_digest(rows))


def read_prels(source: str | Path) -> Prels:
    """Read Million Query prels: ``topic docno relevance algorithm probability``.

    Raises
    ------
    InputError
        Names file, line and remedy.
    """
    rows = Rows(Path(source), PRELS)
    relevance = rows.integers("relevance")
    algorithm = rows.integers("algorithm")
    probability = rows.numbers("probability", "a probability in [0, 1]", _in_unit).tolist()
    prels = list(map(Prel, relevance, algorithm, probability))
    return Prels(_table(rows, prels), path=str(source), digest=_digest(rows))


def read_scores(source: str | Path) -> Scores:
    """Read outside evidence: ``topic docno score``, plain or gzipped.

    Raises
    ------
    InputError
        Names file, line and remedy: also for a score that is not finite.
    """
    rows = Rows(Path(source), SCORES)
    scores = rows.numbers("score", "a finite number", np.isfinite).tolist()
    return Scores(_table(rows, scores), path=str(source), digest=_digest(rows))


def _in_unit(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (numbers >= 0.0) & (numbers <= 1.0)


def _not_nan(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    return ~np.isnan(numbers)


def _digest(rows: Rows) -> str:
    return hashlib.sha256(rows.data).hexdigest()


def _table[Value](rows: Rows, values: Sequence[Value]) -> dict[str, dict[str, Value]]:
    topics, docnos = rows.text("topic"), rows.text("docno")
    table: dict[str, dict[str, Value]] = {}
    for topic, docno, value in zip(topics, docnos, values, strict=True):
        table.setdefault(topic, {})[docno] = value
    if sum(map(len, table.values())) < len(topics):
        raise rows.duplicate(topics, docnos)
    return table


def _expand(source: str | Path) -> list[Path]:
    """Files that a path, a folder or a glob stands for, sorted by name."""
    path = Path(source)
    if path.is_dir():
        found = [p for p in path.iterdir() if p.is_file() and not p.name.startswith(".")]
        if not found:
            raise InputError("the folder holds no files", path=path, remedy="give a run folder")
        return sorted(found, key=lambda p: p.name)
    if path.exists() or not glob.has_magic(str(source)):
        return [path]
    matches = sorted(Path(match) for match in glob.glob(str(source)))
    files = [match for match in matches if match.is_file()]
    if not files:
        raise InputError("no file matches", path=str(source), remedy="check the pattern")
    return files


def _read_files(
    paths: list[Path], name_by: str, order: str, depth: int | None, folder: str | Path | None
) -> list[Run]:
    """Read the runs of some files, or take them from the cache."""
    known: dict[str, str] = {}
    if folder is None or not all(path.is_file() for path in paths):
        return [_read_run(path, name_by, order, depth, known) for path in paths]
    cache = RunCache(folder)
    names = [path.name for path in paths] if name_by == "file" else None
    entry = cache.entry(paths, [names, order, depth])
    runs = cache.load(entry, paths)
    if runs is None:
        runs = [_read_run(path, name_by, order, depth, known) for path in paths]
        cache.store(entry, runs)
    return runs


def _read_run(
    path: Path, name_by: str, order: str, depth: int | None, known: dict[str, str]
) -> Run:
    """Read a file; docnos become the objects of `known`, which takes new ones."""
    rows = Rows(path, RUN)
    scores = rows.numbers("score", "a number", _not_nan)
    docnos = rows.text("docno", known)
    every = np.array(docnos, dtype=object)
    topics = _by_topic(rows.column("topic"))
    if any(len(set(every[inside].tolist())) < len(inside) for inside in topics.values()):
        raise rows.duplicate(rows.text("topic"), docnos)
    listed = {topic.decode(): inside for topic, inside in topics.items()}
    key = -np.array(rows.integers("rank"), dtype=np.float64) if order == "rank" else scores
    tag = path.name.removesuffix(".gz") if name_by == "file" else _only_tag(rows)
    lists = _ordered_lists(listed, every, key, scores, depth)
    return Run(tag, lists, path=str(path), digest=_digest(rows))


def _only_tag(rows: Rows) -> str:
    tags = rows.column("tag")
    if tags.count(tags[0]) < len(tags):
        position, other = next((i, tag) for i, tag in enumerate(tags) if tag != tags[0])
        raise InputError(
            f"run tag {other.decode()!r} in the file of run {tags[0].decode()!r}",
            path=rows.path,
            line=rows.line(position),
            remedy="give a run a file, or name systems by file (--name-by file)",
        )
    return tags[0].decode()


def _by_topic[Topic: (str, bytes)](topics: Sequence[Topic]) -> dict[Topic, NDArray[np.intp]]:
    """Positions of each topic, in order; most often a topic's stand together."""
    changes: list[int] = [i for i, (one, other) in enumerate(pairwise(topics), 1) if one != other]
    parts: dict[Topic, list[NDArray[np.intp]]] = {}
    for start, end in pairwise([0, *changes, len(topics)]):
        parts.setdefault(topics[start], []).append(np.arange(start, end))
    return {topic: np.concatenate(together) for topic, together in parts.items()}


def _ordered_lists(
    listed: Mapping[str, NDArray[np.intp]],
    docnos: NDArray[np.object_],
    key: NDArray[np.float64],
    scores: NDArray[np.float64],
    depth: int | None,
) -> dict[str, tuple[NDArray[np.object_], NDArray[np.float64]]]:
    """Order each topic's documents by `key`, best first, and cut them at `depth`."""
    lists = {}
    for topic, inside in listed.items():
        best_first = inside[trec_order(docnos[inside], key[inside])[:depth]]
        lists[topic] = (docnos[best_first], scores[best_first])
    return lists


def _runs_of_frame(frame: pd.DataFrame, order: str, depth: int | None) -> list[Run]:
    topic, docno = _column(frame, _TOPIC_COLUMNS), _column(frame, _DOCUMENT_COLUMNS)
    system = next((c for c in _SYSTEM_COLUMNS if c in frame.columns), None)
    by = "rank" if order == "rank" or "score" not in frame.columns else "score"
    key_column = _column(frame, (by,))
    named = {"run": frame} if system is None else dict(list(frame.groupby(system, sort=False)))
    runs = []
    for name, part in named.items():
        values = _frame_numbers(part, key_column)
        scores = _frame_numbers(part, "score") if "score" in part.columns else -values
        topics, docnos = _frame_ids(part, topic, docno)
        key = values if by == "score" else -values
        every = np.array(docnos, dtype=object)
        lists = _ordered_lists(_by_topic(topics), every, key, scores, depth)
        runs.append(Run(str(name), lists))
    return runs


def _qrels_of_frame(frame: pd.DataFrame) -> Qrels:
    topic, docno = _column(frame, _TOPIC_COLUMNS), _column(frame, _DOCUMENT_COLUMNS)
    column = _column(frame, _GRADE_COLUMNS)
    grades = _frame_numbers(frame, column)
    whole = grades == np.round(grades)
    if not whole.all():
        row = frame.index[int(np.argmin(whole))]
        raise InputError(f"data frame, row {row}: {column} is not a whole number")
    table: dict[str, dict[str, int]] = {}
    for t, d, grade in zip(*_frame_ids(frame, topic, docno), grades, strict=True):
        table.setdefault(t, {})[d] = int(grade)
    return Qrels(table)


def _column(frame: pd.DataFrame, names: Sequence[str]) -> str:
    for name in names:
        if name in frame.columns:
            return name
    raise InputError(
        f"data frame: no column {' or '.join(names)} among {', '.join(map(str, frame.columns))}",
        remedy="name the columns as PyTerrier, ir_measures or ranx do",
    )


def _frame_numbers(frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    for row, value in zip(frame.index, frame[column], strict=True):
        try:
            missing = math.isnan(float(value))
        except (TypeError, ValueError):
            missing = True
        if missing:
            raise InputError(
                f"data frame, row {row}: {column} {value!r} is not a number",
                remedy="correct or drop the row",
            )
    return frame[column].to_numpy(dtype=np.float64)


def _frame_ids(frame: pd.DataFrame, topic: str, docno: str) -> tuple[list[str], list[str]]:
    topics, docnos = frame[topic].astype(str).tolist(), frame[docno].astype(str).tolist()
    duplicated = frame.duplicated([topic, docno]).to_numpy()
    if duplicated.any():
        first = int(np.argmax(duplicated))
        raise InputError(
            f"data frame, row {frame.index[first]}: document {docnos[first]} stands twice in "
            f"topic {topics[first]}",
            remedy="keep one of the two rows",
        )
    return topics, docnos
