"""A run: one system's ranked documents for each topic; runs: several systems."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import brief_repr, check_type
from rtc_bayes.collection.ids import keyed_by_text, list_of_names, shown, some, text_of
from rtc_bayes.collection.immutable import Immutable, freeze
from rtc_bayes.collection.order import natural_order
from rtc_bayes.collection.unretrieved import NAMES
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection.qrels import Qrels

type Ranked = tuple[NDArray[np.object_], NDArray[np.float64]]


def trec_order(documents: NDArray[np.integer], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Order documents as trec_eval does: by score descending, ties by docno descending.

    Scores are compared in double precision, which is what reproduces NIST's figures for all
    TREC-8 runs; pytrec_eval keeps them in single precision, where more of them tie.

    Parameters
    ----------
    documents : ndarray of int, shape (documents,)
        Numbers in the order of the docnos.
    scores : ndarray of float, shape (documents,)

    Returns
    -------
    ndarray of int, shape (documents,)
        Positions of the documents, best first.
    """
    falls = scores[1:] < scores[:-1]
    tied = (scores[1:] == scores[:-1]) & (documents[1:] < documents[:-1])
    if (falls | tied).all():
        return np.arange(len(scores))
    return np.lexsort((-documents, -scores))


class Run(Immutable):
    """One system's ranked documents, per topic, best first.

    Parameters
    ----------
    tag : str
        The system's name.
    lists : mapping of str to (docnos, scores)
        For each topic its documents in ranked order and their scores.
    path : str, optional
        Where the run was read.
    digest : str, optional
        A digest of the content; made from the lists when absent.

    Raises
    ------
    InputError
        A list with other than one score a document, a document twice in a topic, a score that is
        not a number; a tag, topic or docno that is neither text nor a whole number.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings("bm25", {"401": ["d2", "d1"]})
    >>> run
    Run('bm25': 1 topic, 2 documents ranked)
    >>> run.ranking("401").tolist(), run.scores("401").tolist()
    (['d2', 'd1'], [2.0, 1.0])
    """

    __slots__ = ("_lists", "digest", "path", "tag", "topics")
    _lists: dict[str, Ranked]
    digest: str
    path: str
    tag: str
    topics: tuple[str, ...]

    def __init__(
        self,
        tag: str,
        lists: Mapping[str, tuple[NDArray[np.object_], NDArray[np.float64]]],
        *,
        path: str = "",
        digest: str = "",
    ) -> None:
        checked = {
            topic: _checked_pair(f"run {tag!r}, topic {topic}", pair)
            for topic, pair in keyed_by_text(lists, "topic").items()
        }
        self._fill(text_of(tag, "system"), checked, path, digest)

    def _fill(self, tag: str, lists: Mapping[str, Ranked], path: str, digest: str) -> None:
        topics = natural_order(lists)
        self._set(tag=tag, path=path, topics=topics)
        self._set(_lists={topic: lists[topic] for topic in topics})
        for ranked in self._lists.values():
            freeze(*ranked)
        self._set(digest=digest or self._content_digest())

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the run cross process borders with arrays that stay as they are."""
        return run_of_checked, (self.tag, self._lists, self.path, self.digest)

    def renamed(self, tag: str) -> Run:
        """Return the run under another name."""
        digest = self.digest if self.path else ""
        return run_of_checked(text_of(tag, "system"), self._lists, self.path, digest)

    @classmethod
    def from_rankings(
        cls,
        tag: str,
        rankings: Mapping[str, Sequence[str]],
        *,
        scores: Mapping[str, Sequence[float]] | None = None,
    ) -> Run:
        """Make a run from ranked docnos.

        Parameters
        ----------
        tag : str
            The system's name.
        rankings : mapping of str to sequence of str
            For each topic its docnos; with `scores` in any order, without in ranked order.
        scores : mapping of str to sequence of float, optional
            For each topic a score per docno; the documents are then ordered as trec_eval does.
            Without: n, n-1, ..., 1.

        Raises
        ------
        InputError
            A ranking that is a mapping, a document twice in a topic, a score that is not a number,
            lengths that differ, a topic without scores where others have them, an id that is
            neither text nor a whole number.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> rb.Run.from_rankings("s", {"1": ["a", "b"]}, scores={"1": [1, 2]}).ranking("1").tolist()
        ['b', 'a']
        """
        lists = {}
        scores = None if scores is None else keyed_by_text(scores, "topic")
        for topic, ranking in keyed_by_text(rankings, "topic").items():
            where = f"run {tag!r}, topic {topic}"
            docnos = _checked_docnos(where, ranking)
            if scores is None:
                lists[topic] = docnos, np.arange(len(docnos), 0, -1, dtype=np.float64)
                continue
            if topic not in scores:
                raise InputError(
                    f"{where}: no scores", remedy="give scores of every topic, or none"
                )
            values = _checked_scores(where, docnos, scores[topic])
            order = trec_order(np.unique(docnos, return_inverse=True)[1], values)
            lists[topic] = docnos[order], values[order]
        return run_of_checked(text_of(tag, "system"), lists)

    def ranking(self, topic: str | int) -> NDArray[np.object_]:
        """Docnos of a topic, best first; empty when the run lacks the topic."""
        return self._list(topic)[0]

    def scores(self, topic: str | int) -> NDArray[np.float64]:
        """Scores of a topic in ranked order; empty when the run lacks the topic."""
        return self._list(topic)[1]

    def _list(self, topic: str | int) -> Ranked:
        ranked = self._lists.get(text_of(topic, "topic"))
        return (np.empty(0, dtype=object), np.empty(0)) if ranked is None else ranked

    def _content_digest(self) -> str:
        content = hashlib.sha256(self.tag.encode())
        for topic, (docnos, scores) in self._lists.items():
            content.update("\0".join([topic, *docnos]).encode() + scores.tobytes())
        return content.hexdigest()

    def __len__(self) -> int:
        """Count the lines: documents over all topics."""
        return sum(len(docnos) for docnos, _ in self._lists.values())

    def __repr__(self) -> str:
        topics = counted(len(self.topics), "topic")
        return f"Run({self.tag!r}: {topics}, {counted(len(self), 'document')} ranked)"


class Runs(Immutable, Mapping[str, Run]):
    """Several systems' runs, by name, in the order given.

    Parameters
    ----------
    runs : iterable of Run

    Raises
    ------
    InputError
        Two runs of one name, no run at all, or what is no run.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs(rb.Run.from_rankings(name, {"401": ["d1"]}) for name in ("a", "b"))
    >>> runs.systems, runs.topics
    (('a', 'b'), ('401',))
    >>> runs.select(["b"])
    Runs(1 system, 1 topic: b)
    """

    _runs: dict[str, Run]

    def __init__(self, runs: Iterable[Run]) -> None:
        by_tag: dict[str, Run] = {}
        check_type(runs, Iterable, "runs are", "give a list of them: Runs([run])")
        for run in runs:
            check_type(run, Run, "a run is", "read files: read_runs(FILES)")
            if run.tag in by_tag and run.path and by_tag[run.tag].path == run.path:
                raise InputError("this run is given twice", path=run.path, remedy="give it once")
            if run.tag in by_tag:
                other = by_tag[run.tag]
                remedy = "name systems by file (--name-by file), or give {system: source}"
                if set(run.topics).isdisjoint(other.topics):
                    remedy = f"write parts of one run to one file; of two runs, {remedy}"
                raise InputError(
                    f"run tag {shown(run.tag)} also names {other.path or 'another run'}",
                    path=run.path or None,
                    remedy=remedy,
                )
            by_tag[run.tag] = run
        if not by_tag:
            raise InputError("no runs were given", remedy="give run files, folders or globs")
        self._set(_runs=by_tag)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in the order given."""
        return tuple(self._runs)

    @property
    def topics(self) -> tuple[str, ...]:
        """All topics of any run, in natural order."""
        return natural_order(topic for run in self._runs.values() for topic in run.topics)

    def select(self, systems: Iterable[str]) -> Runs:
        """Return only the named systems, in the order named."""
        return Runs(self[name] for name in list_of_names("systems", systems))

    @explains_types
    def condensed(self, qrels: Qrels) -> Runs:
        """Return the lists without the documents that nobody judged (Sakai 2007).

        What is left moves up. A document with a negative grade is not judged, and a topic without
        judgments has no list.

        Parameters
        ----------
        qrels : Qrels

        Raises
        ------
        InputError
            No document of any run is judged.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> runs = rb.read_runs({"bm25": {"1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}})
        >>> runs.condensed(rb.read_qrels({"1": {"d1": 0, "d3": 1}}))["bm25"].ranking("1").tolist()
        ['d1', 'd3']
        """
        condensed = []
        for run in self.values():
            lists = {}
            for topic in run.topics:
                grades, docnos = qrels.get(topic, {}), run.ranking(topic)
                judged = np.array([grades.get(docno, -1) >= 0 for docno in docnos], dtype=bool)
                if judged.any():
                    lists[topic] = docnos[judged], run.scores(topic)[judged]
            condensed.append(run_of_checked(run.tag, lists, run.path))
        if not any(len(run) for run in condensed):
            raise InputError(
                "no document of the runs is judged",
                path=qrels.path or None,
                remedy=NAMES
                if any(qrels.judged(topic) for topic in self.topics if topic in qrels)
                else "give the judgments of these runs' topics",
            )
        return Runs(condensed)

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with columns system, topic, docno, rank (from 1) and score."""
        import pandas as pd

        parts = [
            pd.DataFrame(
                {
                    "system": run.tag,
                    "topic": topic,
                    "docno": run.ranking(topic),
                    "rank": np.arange(1, len(run.ranking(topic)) + 1),
                    "score": run.scores(topic),
                }
            )
            for run in self.values()
            for topic in run.topics
        ]
        columns = ["system", "topic", "docno", "rank", "score"]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)

    def __getitem__(self, system: str) -> Run:
        if system not in self._runs:
            raise InputError(
                f"no run is named {system!r}", remedy=f"name one of {some(self._runs)}"
            )
        return self._runs[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __contains__(self, system: object) -> bool:
        return system in self._runs

    def __repr__(self) -> str:
        names = ", ".join(list(self._runs)[:5]) + (", ..." if len(self) > 5 else "")
        topics = counted(len(self.topics), "topic")
        return f"Runs({counted(len(self), 'system')}, {topics}: {names})"


def run_of_checked(tag: str, lists: Mapping[str, Ranked], path: str = "", digest: str = "") -> Run:
    """Make a run without checking it again; its arrays are taken over and become read-only.

    Parameters
    ----------
    tag, lists, path, digest
        As of :class:`Run`, and what it checks is so.

    Examples
    --------
    >>> run_of_checked("a", {"1": (np.array(["d"], dtype=object), np.array([2.0]))})
    Run('a': 1 topic, 1 document ranked)
    """
    run = Run.__new__(Run)
    run._fill(tag, lists, path, digest)
    return run


def _checked_pair(where: str, pair: Any) -> Ranked:
    """Return docnos and scores as arrays of their own; `where` begins errors."""
    try:
        ranking, scores = pair
    except (TypeError, ValueError):
        raise InputError(
            f"{where}: no pair of docnos and scores",
            remedy="give (docnos, scores), or rankings alone to Run.from_rankings",
        ) from None
    docnos = _checked_docnos(where, ranking)
    return docnos, _checked_scores(where, docnos, scores)


def _checked_docnos(where: str, ranking: Any) -> NDArray[np.object_]:
    """Return docnos as an array, none of them twice."""
    if isinstance(ranking, str | bytes) or not isinstance(ranking, Iterable):
        raise InputError(
            f"{where}: {brief_repr(ranking)} is no list", remedy="give a list of docnos"
        )
    if isinstance(ranking, Mapping):
        raise InputError(
            f"{where}: a ranking is a mapping, no list of docnos",
            remedy="read documents with scores: rb.read_runs({system: {topic: {docno: score}}})",
        )
    docnos = np.array([str(text_of(docno, "docno")) for docno in ranking], dtype=object)
    if len(set(docnos.tolist())) != len(docnos):
        raise InputError(f"{where}: a document stands twice in the list", remedy="give it once")
    return docnos


def _checked_scores(where: str, docnos: NDArray[np.object_], scores: Any) -> NDArray[np.float64]:
    """Return scores as an array, one for each docno."""
    one_each = "give one score a document"
    try:
        values = np.array(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{where}: scores are no numbers", remedy=one_each) from None
    if values.ndim != 1:
        raise InputError(f"{where}: scores are no list", remedy=one_each)
    if values.shape != docnos.shape:
        raise InputError(
            f"{where}: {counted(len(docnos), 'document')} but {counted(values.size, 'score')}",
            remedy=one_each,
        )
    if np.isnan(values).any():
        raise InputError(f"{where}: a score is not a number (NaN)", remedy="correct it")
    return values
