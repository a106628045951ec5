"""Read runs: from files, folders and globs, data frames, mappings and named tuples."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import brief_repr, check_word, whole_number
from rtc_bayes.collection.cache import RunCache
from rtc_bayes.collection.ids import shown, text_of
from rtc_bayes.collection.lines import RUN, Rows
from rtc_bayes.collection.records import SYSTEM, Records
from rtc_bayes.collection.runs import Ranked, Run, Runs, run_of_checked, trec_order
from rtc_bayes.collection.sources import files_of, kind_of, plain
from rtc_bayes.errors import InputError, warn
from rtc_bayes.signatures import explains_types


@explains_types
def read_runs(
    *sources: Any,
    name_by: Literal["tag", "file"] = "tag",
    order: Literal["score", "rank"] = "score",
    depth: int | None = None,
    cache: str | Path | None = None,
) -> Runs:
    """Read runs: ``topic Q0 docno rank score tag``, plain or gzipped; or rows in memory.

    A run is ordered by score, descending, ties by docno descending (trec_eval's rule); the rank
    column counts only with ``order="rank"``.

    Parameters
    ----------
    *sources : str, Path, data frame, mapping or iterable
        Any of these, or lists of them:

        - files, folders (their files, sorted by name; hidden files, a README and folders inside
          are not runs), globs;
        - pandas or polars frames with a topic column (topic, qid, query_id, q_id, query), a
          document column (docno, doc_id, docid), score or rank, and optionally system, name, tag
          or run; without, the run's name is "run". Any of these may be a level of the index;
        - ``{topic: {docno: score}}`` (ranx), which is one run of the name "run";
        - ``{system: source}``, where each source holds one run;
        - ScoredDoc of ir_measures, scoreddocs of ir_datasets: tuples with query_id, doc_id, score.
    name_by : {"tag", "file"}
        Name a system by its run tag, or by its file's name without .gz.
    order : {"score", "rank"}
        What orders a list: the scores, or the ranks, beginning with the lowest.
    depth : int, optional
        At least 1. Keep only the first documents of every list, once ordered.
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
        Names file, line (or row) and remedy: a wrong field count, a score or rank that is not a
        number, NaN, a document twice in a topic, an empty file, an encoding other than UTF-8, two
        systems of one name, several tags in one file, a depth below 1, an id that is neither text
        nor a whole number, a source of another kind.

    Warns
    -----
    CollectionWarning
        Names the runs whose scores, or ranks with ``order="rank"``, are all tied within every
        topic.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.read_runs({"bm25": {"401": {"d1": 2.5, "d2": 7.0}}})
    >>> runs
    Runs(1 system, 1 topic: bm25)
    >>> runs["bm25"].ranking("401").tolist()
    ['d2', 'd1']
    """
    check_word("name_by", name_by, ("tag", "file"))
    check_word("order", order, ("score", "rank"))
    if depth is not None:
        depth = whole_number("depth", depth, least=1)
    folder = cache or os.environ.get("RTC_BAYES_CACHE")
    read = _Reader(name_by, order, depth, folder).read(sources)
    runs = Runs(one.run for one in read)
    _warn_of_tied_ranks([one.run for one in read if one.ranks_tied])
    if order == "score":
        _warn_of_tied_scores(one.run for one in read if not one.ranks_tied)
    return runs


def _warn_of_tied_ranks(runs: Sequence[Run]) -> None:
    """Name these runs, ordered by ranks which are all equal, and say what may order them."""
    with_scores = [run.tag for run in runs if not _scores_tied(run)]
    without = [run.tag for run in runs if _scores_tied(run)]
    by_score = 'order them by score instead (order="score", --order score)'
    by_nothing = "no scores tell their documents apart either: give ranks, or scores, that differ"
    for names, remedy in ((with_scores, by_score), (without, by_nothing)):
        if names:
            warn(
                "runs whose ranks are all equal, so that docnos order them: "
                f"{', '.join(names)}; {remedy}"
            )


def _warn_of_tied_scores(runs: Iterable[Run]) -> None:
    """Name those of the runs, ordered by score, whose scores are all tied."""
    if tied := [run.tag for run in runs if _scores_tied(run)]:
        warn(
            f"runs whose scores are all tied, so that docnos order them: {', '.join(tied)}; order "
            'them by rank instead (order="rank", --order rank)',
        )


def _scores_tied(run: Run) -> bool:
    return _all_tied(map(run.scores, run.topics))


def _all_tied(lists: Iterable[NDArray[np.float64]]) -> bool:
    """Whether the keys of every list are all one; lists of one document do not say."""
    lists = [keys for keys in lists if len(keys) > 1]
    return bool(lists) and all((keys == keys[0]).all() for keys in lists)


def _run_files(source: str | Path) -> list[Path]:
    """Return the files of a path, a folder or a glob; not of what `simulate` wrote as a whole."""
    files = files_of(source)
    runs = Path(source) / "runs"
    if runs.is_dir() and (Path(source) / "manifest.json") in files:
        raise InputError("this folder has its runs in another", path=source, remedy=f"give {runs}")
    return files


# lines of a run of which the direction of scores is asked, and the share of lists that have it
_FEWEST_LINES, _NEARLY_ALL = 20, 0.9
# files whose lines are held at once: more are faster, and take more memory
_TOGETHER = 16


@dataclass(frozen=True)
class _Parsed:
    """The lines of one run, not yet in order.

    `topics` has the positions of every topic's lines; `docnos` is an Arrow array of text; the
    highest `key` is the best; `rises` where scores rise with the ranks written beside them.
    """

    tag: str
    topics: dict[str, NDArray[np.intp] | slice]
    docnos: Any
    key: NDArray[np.float64]
    scores: NDArray[np.float64]
    path: str = ""
    digest: str = ""
    rises: bool = False

    def docnos_of(self, topic: str) -> Any:
        """Docnos of a topic's lines, as an Arrow array."""
        inside = self.topics[topic]
        return self.docnos[inside] if isinstance(inside, slice) else self.docnos.take(inside)


class _Read(NamedTuple):
    """A run in order, and whether that is by ranks which are all equal."""

    run: Run
    ranks_tied: bool = False


@dataclass(frozen=True)
class _Reader:
    """How runs are read."""

    name_by: str
    order: str
    depth: int | None
    folder: str | Path | None

    def read(self, sources: Iterable[Any]) -> list[_Read]:
        """Read sources of any kind; files that stand together are read together."""
        runs: list[_Read] = []
        for kind, together in groupby(map(plain, sources), kind_of):
            if kind == "path":
                runs += self._files(list(chain.from_iterable(map(_run_files, together))))
            else:
                runs += chain.from_iterable(self._in_memory(kind, source) for source in together)
        return runs

    def _in_memory(self, kind: str, source: Any) -> list[_Read]:
        match kind:
            case "frame":
                return self._of_records(Records.of_frame(source))
            case "mapping" if _is_run(source):
                return self._of_records(Records.of_mapping(source, "score"))
            case "mapping":
                return [self._named(name, source[name]) for name in source]
            case "iterable":
                rows = list(source)
                if rows and hasattr(rows[0], "query_id"):
                    return self._of_records(Records.of_tuples(rows, "score"))
                return self.read(rows)
        raise InputError(
            f"cannot read runs from {brief_repr(source)}",
            remedy="give files, folders, globs, data frames, {system: frame}, "
            "{topic: {docno: score}}, {system: {topic: {docno: score}}}, or tuples with query_id, "
            "doc_id and score",
        )

    def _named(self, name: object, source: Any) -> _Read:
        tag = text_of(name, "system")
        source = plain(source)
        inner = source.values() if isinstance(source, Mapping) and not _is_run(source) else ()
        if any(kind_of(each) != "frame" and not _is_run(each) for each in inner):
            raise InputError(
                f"system {shown(tag)}: not every topic holds {{docno: score}}",
                remedy="give {topic: {docno: score}}, or, of lists of docnos, "
                "Run.from_rankings(system, {topic: [docno, ...]})",
            )
        try:
            runs = self.read([source])
        except InputError as error:
            if error.path is not None:
                raise
            raise InputError(
                f"system {shown(tag)}: {error.message}", remedy=error.remedy
            ) from error
        if len(runs) != 1:
            raise InputError(
                f"system {shown(tag)} has {len(runs)} runs", remedy="give every system one run"
            )
        return runs[0]._replace(run=runs[0].run.renamed(tag))

    def _files(self, paths: list[Path]) -> list[_Read]:
        """Read the runs of some files, or take them from the cache."""
        if self.folder is None or not all(path.is_file() for path in paths):
            return self._parse(paths)[0]
        cache = RunCache(self.folder)
        names = [path.name for path in paths] if self.name_by == "file" else None
        entry = cache.entry(paths, [names, self.order, self.depth])
        runs = cache.load(entry, paths)
        if runs is not None:
            return [_Read(run) for run in runs]
        read, remarked = self._parse(paths)
        if not remarked:  # what is remarked is to be said again
            cache.store(entry, [one.run for one in read])
        return read

    def _parse(self, paths: list[Path]) -> tuple[list[_Read], bool]:
        """Read the runs of some files, and say whether something was remarked of one."""
        runs: list[_Read] = []
        rises = False
        for start in range(0, len(paths), _TOGETHER):
            batch = paths[start : start + _TOGETHER]
            parsed = [_read_run(path, self.name_by, self.order) for path in batch]
            runs += _read(parsed, self.depth, by_rank=self.order == "rank")
            rises |= any(one.rises for one in parsed)
        return runs, rises or any(one.ranks_tied for one in runs)

    def _of_records(self, records: Records) -> list[_Read]:
        import pyarrow as pa

        topics, docnos = records.topics_and_docnos()
        system = next((name for name in SYSTEM if name in records.columns), None)
        tags = ["run"] * len(records) if system is None else records.ids(system)
        column = "rank" if self.order == "rank" else records.name(("score", "rank"))
        by_rank = column == "rank"
        key = np.array(records.numbers(column), dtype=np.float64)
        key = -key if by_rank else key
        scores = records.numbers("score") if "score" in records.columns else key
        records.check_distinct(tags, topics, docnos)
        rows_of: dict[str, list[int]] = {}
        for row, tag in enumerate(tags):
            rows_of.setdefault(tag, []).append(row)
        text = pa.string()
        columns = pa.array(topics, text), pa.array(docnos, text), key, np.array(scores)
        parsed = []
        for tag, rows in rows_of.items():
            of_topic, *others = (column.take(rows) for column in columns)
            parsed.append(_Parsed(tag, _by_topic(of_topic), others[0], others[1], others[2]))
        return _read(parsed, self.depth, by_rank=by_rank)


def _read_run(path: Path, name_by: str, order: str) -> _Parsed:
    """Read the lines of a file."""
    rows = Rows(path, RUN, unread=() if order == "rank" else ("rank",))
    scores = rows.numbers("score", "a number", lambda numbers: ~np.isnan(numbers))
    topics = _by_topic(rows.column("topic"))
    rises = order == "score" and _rise(topics, scores) and _ranks_fall_with(path, topics, scores)
    if rises:
        warn(
            f"{path}: scores rise where ranks do, and the highest score is taken for the best: are "
            'they distances? Order by rank instead (order="rank", --order rank)'
        )
    return _Parsed(
        tag=path.name.removesuffix(".gz") if name_by == "file" else _only_tag(rows),
        topics=topics,
        docnos=rows.column("docno"),
        key=-rows.integers("rank").astype(np.float64) if order == "rank" else scores,
        scores=scores,
        path=str(path),
        digest=rows.digest,
        rises=rises,
    )


def _rise(topics: Mapping[str, NDArray[np.intp] | slice], scores: NDArray[np.float64]) -> bool:
    """Whether the last lines of nearly all lists have higher scores than the first.

    Of few lines in all that may be chance.
    """
    if len(scores) < _FEWEST_LINES:
        return False
    lists = [scores[of] for of in topics.values()]
    rise = [of[0] < of[-1] for of in lists if len(of) > 1]
    return bool(rise) and float(np.mean(rise)) >= _NEARLY_ALL


def _ranks_fall_with(
    path: Path, topics: Mapping[str, NDArray[np.intp] | slice], scores: NDArray[np.float64]
) -> bool:
    """Whether the best by score have the last ranks, or scores are ranks themselves."""
    lists = [of for of in topics.values() if len(scores[of]) > 1]
    try:
        ranks = Rows(path, RUN).integers("rank")
    except InputError:
        counted_up = [
            np.array_equal(np.diff(np.sort(scores[of])), np.ones(len(scores[of]) - 1))
            for of in lists
        ]
        return bool(np.mean(counted_up) >= _NEARLY_ALL)
    fall = [ranks[of][np.argmax(scores[of])] > ranks[of][np.argmin(scores[of])] for of in lists]
    return bool(np.mean(fall) >= _NEARLY_ALL)


def _only_tag(rows: Rows) -> str:
    from pyarrow import compute

    tags = rows.column("tag")
    first = tags[0].as_py()
    position = compute.index(compute.equal(tags, first), False).as_py()
    if position >= 0:
        raise InputError(
            f"run tag {shown(tags[position].as_py())} in the file of run {shown(first)}",
            path=rows.path,
            line=rows.line(position),
            remedy="give a run a file, or name systems by file (--name-by file)",
        )
    return str(first)


def _read(parsed: Sequence[_Parsed], depth: int | None, *, by_rank: bool) -> list[_Read]:
    """Order runs, and note whether the ranks of the lines are all equal, if it is by them."""
    return [
        _Read(run, by_rank and _all_tied(one.key[inside] for inside in one.topics.values()))
        for run, one in zip(_ordered(parsed, depth), parsed, strict=True)
    ]


def _ordered(parsed: Sequence[_Parsed], depth: int | None) -> list[Run]:
    """Order each list, best first, and cut it at the depth.

    It goes topic by topic, whose docnos are few enough for the processor's caches. Equal docnos of
    a topic become one object.
    """
    import pyarrow as pa
    from pyarrow import compute

    lists: list[dict[str, Ranked]] = [{} for _ in parsed]
    for topic in dict.fromkeys(chain.from_iterable(run.topics for run in parsed)):
        runs = [i for i, run in enumerate(parsed) if topic in run.topics]
        coded = pa.chunked_array([parsed[i].docnos_of(topic) for i in runs]).dictionary_encode()
        vocabulary = coded.chunk(0).dictionary
        # UTF-8 sorts by bytes as text does by characters
        order = compute.sort_indices(vocabulary)
        docnos = vocabulary.take(order).to_numpy(zero_copy_only=False)
        numbers = np.empty(len(order), dtype=np.int32)
        numbers[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
        for i, codes in zip(runs, coded.chunks, strict=True):
            run, documents = parsed[i], numbers[codes.indices.to_numpy()]
            ascending = np.sort(documents)
            if (ascending[1:] == ascending[:-1]).any():
                # the lines are not kept for what seldom happens
                raise Rows(Path(run.path), RUN).duplicate("topic", "docno")
            inside = run.topics[topic]
            best_first = trec_order(documents, run.key[inside])[:depth]
            lists[i][topic] = docnos[documents[best_first]], run.scores[inside][best_first]
    return [
        run_of_checked(run.tag, of, run.path, run.digest)
        for run, of in zip(parsed, lists, strict=True)
    ]


def _by_topic(topics: Any) -> dict[str, NDArray[np.intp] | slice]:
    """Positions of each topic of an Arrow array, in order; most often a topic's stand together."""
    from pyarrow import compute

    changes = compute.not_equal(topics[1:], topics[:-1]).to_numpy(zero_copy_only=False)
    starts = [0, *(np.flatnonzero(changes) + 1).tolist(), len(topics)]
    parts: dict[str, list[slice]] = {}
    for name, inside in zip(topics.take(starts[:-1]).to_pylist(), pairwise(starts), strict=True):
        parts.setdefault(name, []).append(slice(*inside))
    return {
        name: together[0] if len(together) == 1 else np.r_[tuple(together)]
        for name, together in parts.items()
    }


def _is_run(table: Any) -> bool:
    """Whether something is {topic: {docno: score}}."""
    if not isinstance(table, Mapping) or not table:
        return False
    return all(
        isinstance(scores, Mapping)
        and all(kind_of(score) not in ("mapping", "frame", "iterable") for score in scores.values())
        for scores in table.values()
    )
