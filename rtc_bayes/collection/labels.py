"""Labels of relevance that many judges give: people of a crowd, or language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import whole_number
from rtc_bayes.collection.ids import by_topic, list_of_ids, list_of_names, list_of_topics, some
from rtc_bayes.collection.label_columns import (
    HIGHEST,
    Codes,
    check_scale,
    coded,
    column_of,
    whole_gold,
    whole_grades,
)
from rtc_bayes.collection.qrels import Qrels
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import xarray as xr

    from rtc_bayes.collection.pool import Pool

MANY_LABELS = 100
"""Labels of a judge from which the grades that it never gives say what its scale is."""
_UNANSWERED = tuple(f"unanswered_{name}" for name in ("topic", "docno", "judge"))
_COUNTS = ("n_dropped", "n_above")


class Pairs(NamedTuple):
    """The pairs of a topic and a document that have labels.

    Attributes
    ----------
    topic, document : int array, shape (pair,)
        Codes into `Labels.topics` and `Labels.docnos`.
    of_label : int array, shape (label,)
        The pair that each label is about.
    """

    topic: Codes
    document: Codes
    of_label: Codes


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """Labels of relevance: who said what about which document for which topic.

    Make one by :func:`read_labels` or :meth:`of`. A judge may label a pair more than once.

    Attributes
    ----------
    topics, docnos, judges : tuple of str
        Ids in natural order; the docnos of all topics together.
    topic_of, document_of, judge_of : int array, shape (label,)
        Codes into `topics`, `docnos` and `judges`.
    grade : int16 array, shape (label,)
        From 0 to `n_grades` - 1. What is negative on input (a broken link, "cannot judge") is no
        label and was dropped.
    n_grades : int, at least 2
        How many grades the labels have; gold may have more.
    probability : float array, shape (label,), or None
        A judge's stated probability, from 0 to 1, that the document is relevant; NaN where none.
    time : float array, shape (label,), or None
        Seconds that a label took; NaN where not said.
    gold : mapping of (str, str) to int
        The true grade of pairs (topic, docno) where it is known.
    n_dropped : int
        How many labels were dropped on input.
    n_above : int
        How many of these because they were above the highest of `n_grades` grades.
    unanswered : tuple of (str, str, str)
        Topic, docno and judge of those dropped on input: the judge saw the document, and gave no
        label.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> docnos, judges = ["d1", "d1", "d2"], ["ann", "bob", "ann"]
    >>> labels = rb.Labels.of(["7", "7", "7"], docnos, judges, [2, 0, -2])
    >>> labels
    Labels(2 labels of 1 pair by 2 judges, 1 topic, grades 0 to 2, gold of 0 pairs)
    >>> labels.binary(relevance_level=2).tolist(), labels.n_dropped
    ([1, 0], 1)
    """

    topics: tuple[str, ...]
    docnos: tuple[str, ...]
    judges: tuple[str, ...]
    topic_of: Codes
    document_of: Codes
    judge_of: Codes
    grade: NDArray[np.int16]
    n_grades: int
    probability: NDArray[np.float64] | None = None
    time: NDArray[np.float64] | None = None
    gold: Mapping[tuple[str, str], int] = MappingProxyType({})
    n_dropped: int = 0
    n_above: int = 0
    unanswered: tuple[tuple[str, str, str], ...] = ()

    @classmethod
    @explains_types
    def of(
        cls,
        topics: Sequence[str],
        docnos: Sequence[str],
        judges: Sequence[str],
        grades: ArrayLike,
        *,
        probability: ArrayLike | None = None,
        time: ArrayLike | None = None,
        gold: Mapping[tuple[str, str], int] | None = None,
        n_grades: int | None = None,
    ) -> Labels:
        """Make labels from columns of equal length, one row a label.

        Parameters
        ----------
        topics, docnos, judges : sequence of str
        grades : array of int, shape (label,)
            A negative one is no label: dropped and counted.
        probability : array of float, optional
            A judge's stated probability of relevance, from 0 to 1 or NaN.
        time : array of float, optional
            Seconds.
        gold : mapping of (topic, docno) to int, optional
            True grades; a negative one is dropped.
        n_grades : int, optional
            How many grades there are. Default: one more than the highest label, and at least two.
            Labels above the highest are dropped and counted. Gold may be above it: a person's
            grades do not say on which scale judges label.

        Returns
        -------
        Labels

        Raises
        ------
        InputError
            Columns of other lengths or that are no lists, an id that is neither text nor a whole
            number, a grade that is no whole number, no label at all, a probability outside 0 to 1,
            gold of anything but (topic, docno).

        Warns
        -----
        CollectionWarning
            Without `n_grades`, if a few labels (a twentieth of all, or fewer) stand beyond grades
            that nobody gives: it names the first, since the highest grade sets the scale of all
            labels.
        """
        for name, ids in (("topics", topics), ("docnos", docnos), ("judges", judges)):
            if isinstance(ids, str):
                list_of_names(name, ids)
        # a column of a frame is numbered by the frame's rows
        topics, docnos, judges = list(topics), list(docnos), list(judges)
        values = whole_grades(grades, "label")
        if values.ndim != 1:
            raise InputError(
                f"grades: {grades!r:.80} is not a list of grades", remedy="give one a label"
            )
        stated = column_of(probability, len(values), "probability")
        seconds = column_of(time, len(values), "time")
        if not len(values) == len(topics) == len(docnos) == len(judges):
            raise InputError(
                f"columns differ in length: topics {len(topics)}, docnos {len(docnos)}, "
                f"judges {len(judges)}, grades {len(values)}",
                remedy="give columns of equal length",
            )
        if stated is not None and ((stated < 0.0) | (stated > 1.0)).any():
            raise InputError("a probability is outside 0 to 1", remedy="correct it")
        truths = {pair: value for pair, value in whole_gold(gold or {}).items() if value >= 0}
        if (true := max(truths.values(), default=0)) > HIGHEST:
            raise InputError(f"a true grade is {true}", remedy="correct it")
        highest = max(int(values.max(initial=1)), 1)
        if n_grades is not None:
            highest = whole_number("n_grades", n_grades, least=2) - 1
        else:
            check_scale(values, truths.values(), (topics, docnos, judges), highest)
        keep = (values >= 0) & (values <= highest)
        if not keep.any():
            raise InputError("no label is left", remedy="give labels of 0 and more")
        (topic_ids, topic_of), (document_ids, document_of), (judge_ids, judge_of) = (
            coded(ids, keep, what)
            for ids, what in ((topics, "topic"), (docnos, "docno"), (judges, "judge"))
        )
        return cls(
            topic_ids,
            document_ids,
            judge_ids,
            topic_of,
            document_of,
            judge_of,
            values[keep].astype(np.int16),
            highest + 1,
            None if stated is None else stated[keep],
            None if seconds is None else seconds[keep],
            MappingProxyType(truths),
            int((~keep).sum()),
            int((values > highest).sum()),
            tuple(
                (str(topics[i]), str(docnos[i]), str(judges[i]))
                for i in np.flatnonzero(~keep).tolist()
            ),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # a read-only view of a dict cannot be pickled
        state = {item.name: getattr(self, item.name) for item in fields(self)}
        return _restored, (type(self), state | {"gold": dict(self.gold)})

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.grade)

    @cached_property
    def _pairs(self) -> Pairs:
        code = self.topic_of * len(self.docnos) + self.document_of
        codes, of_label = np.unique(code, return_inverse=True)
        topic, document = np.divmod(codes, len(self.docnos))
        return Pairs(topic, document, of_label)

    def pairs(self) -> Pairs:
        """Return the distinct pairs of topic and document, and the pair of each label."""
        return self._pairs

    def pair_ids(self) -> list[tuple[str, str]]:
        """Return (topic, docno) of each pair, in the order of :meth:`pairs`."""
        pairs = self._pairs
        return [
            (self.topics[t], self.docnos[d])
            for t, d in zip(pairs.topic, pairs.document, strict=True)
        ]

    def first_of_judge(self) -> Codes:
        """Return the position of the first label of the same pair by the same judge, (label,).

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> labels = rb.Labels.of(["7"] * 3, ["d1"] * 3, ["ann", "bob", "ann"], [1, 0, 0])
        >>> labels.first_of_judge().tolist()
        [0, 1, 0]
        """
        key = self._pairs.of_label * len(self.judges) + self.judge_of
        _, first, of_label = np.unique(key, return_index=True, return_inverse=True)
        return np.asarray(first[of_label], dtype=np.int64)

    @explains_types
    def located(self, pool: Pool) -> Codes:
        """Return the document of a pool that each label is about; -1 where the pool lacks it.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> run = rb.Run.from_rankings("one", {"7": ["a", "b"]})
        >>> labels = rb.Labels.of(["7", "7", "8"], ["b", "typo", "a"], ["llm"] * 3, [1, 0, 1])
        >>> labels.located(rb.Pool.from_runs(rb.Runs([run]))).tolist()
        [1, -1, -1]
        """
        documents = np.full(self.n_labels, -1, dtype=np.int64)
        docnos = np.array(self.docnos, dtype=object)
        for code, topic in enumerate(self.topics):
            if topic in pool.topics:
                rows = np.flatnonzero(self.topic_of == code)
                documents[rows] = pool.locate(topic, docnos[self.document_of[rows]])
        return documents

    @explains_types
    def unanswered_on(self, pool: Pool, judge: str | None = None) -> Codes:
        """Return the documents of a pool that a judge, or any, saw without giving a label.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"7": ["a", "b"]})]))
        >>> labels = rb.Labels.of(["7", "7"], ["a", "b"], ["llm", "llm"], [1, -1])
        >>> labels.unanswered_on(pool).tolist()
        [1]
        """
        pairs = ((topic, docno) for topic, docno, by in self.unanswered if judge in (None, by))
        return pool.locate_pairs(pairs)

    @explains_types
    def on(self, pool: Pool) -> Labels:
        """Return the labels that are about documents of a pool.

        Raises
        ------
        InputError
            None is.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> run = rb.Run.from_rankings("one", {"7": ["a", "b"]})
        >>> labels = rb.Labels.of(["7", "7", "8"], ["b", "typo", "a"], ["llm"] * 3, [1, 0, 1])
        >>> labels.on(rb.Pool.from_runs(rb.Runs([run])))
        Labels(1 label of 1 pair by 1 judge, 1 topic, grades 0 to 1, gold of 0 pairs)
        """
        inside = self.located(pool) >= 0
        if not inside.any():
            raise InputError(
                "no label is of a document of the pool",
                remedy="give labels of these runs' documents",
            )
        return self.keep(inside)

    def gold_grades(self) -> Codes:
        """Return the true grade of each pair; -1 where it is not known."""
        return np.array([self.gold.get(pair, -1) for pair in self.pair_ids()], dtype=np.int64)

    def binary(self, relevance_level: int = 1) -> NDArray[np.int16]:
        """Return 1 for each label of at least `relevance_level`, 0 for others.

        Of judges who say 0 and 1 alone (:attr:`binary_judges`) 1 is relevant at any level.
        """
        level = whole_number("relevance_level", relevance_level, least=1)
        levels = np.full(len(self.judges), level)
        levels[self.binary_judges] = 1
        return (self.grade >= levels[self.judge_of]).astype(np.int16)

    @property
    def binary_judges(self) -> NDArray[np.intp]:
        """The numbers of judges of a hundred labels or more, all 0 or 1; all, if none is above."""
        return np.arange(len(self.judges)) if self.n_grades == 2 else self.judges_below(2)

    def judges_below(self, level: int) -> NDArray[np.intp]:
        """Return the numbers of judges of a hundred labels or more, none of which is of a level.

        Those that say 0 alone do not count.
        """
        highest = np.zeros(len(self.judges), dtype=int)
        np.maximum.at(highest, self.judge_of, self.grade)
        many = np.bincount(self.judge_of, minlength=len(self.judges)) >= MANY_LABELS
        return np.flatnonzero(many & (highest > 0) & (highest < level))

    def at_level(self, relevance_level: int = 1) -> Labels:
        """Return these labels, and their gold, as relevant (1) and nonrelevant (0)."""
        gold = {pair: int(grade >= relevance_level) for pair, grade in self.gold.items()}
        return replace(
            self, grade=self.binary(relevance_level), n_grades=2, gold=MappingProxyType(gold)
        )

    def select(
        self,
        *,
        judges: Iterable[str | int] | None = None,
        topics: Iterable[str | int] | None = None,
    ) -> Labels:
        """Return the labels of some judges and topics; None: of all.

        `n_grades` stays that of all the labels: where the others' scale is longer, read the judges'
        files alone.

        Raises
        ------
        InputError
            A judge or topic without labels here; or the judges have none of the topics.
        """
        keep = np.ones(self.n_labels, dtype=bool)
        if judges is not None:
            keep &= _chosen("judges", list_of_ids("judges", judges), self.judges)[self.judge_of]
        if topics is not None:
            keep &= _chosen("topics", list_of_topics(topics), self.topics)[self.topic_of]
        kept = self.keep(keep)
        unanswered = tuple(
            (topic, docno, judge)
            for topic, docno, judge in self.unanswered
            if (judges is None or judge in kept.judges) and (topics is None or topic in kept.topics)
        )
        return replace(kept, unanswered=unanswered)

    def gold_qrels(self) -> Qrels:
        """Return the true grades as judgments, which may stand beside the labels in a fit.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> gold = {("1", "a"): 1, ("1", "b"): 0}
        >>> rb.Labels.of(["1"], ["a"], ["crowd"], [1], gold=gold).gold_qrels()
        Qrels(1 topic, 2 judged, 1 relevant at level 1)
        """
        return Qrels(by_topic((*pair, grade) for pair, grade in self.gold.items()))

    def keep(self, which: ArrayLike) -> Labels:
        """Return some of the labels.

        Parameters
        ----------
        which : bool array, shape (label,), or int array of positions

        Raises
        ------
        InputError
            Truths of another number than there are labels, a position that no label has, or no
            label is kept.
        """
        try:
            rows = np.arange(self.n_labels)[np.asarray(which)]
        except IndexError as error:
            raise InputError(
                f"which: {error}",
                remedy=f"give a truth for each of {counted(self.n_labels, 'label')}, or positions",
            ) from None
        if not len(rows):
            raise InputError("no label is kept", remedy="choose one at least")
        topics, docnos, judges = (
            [ids[i] for i in codes[rows]]
            for ids, codes in (
                (self.topics, self.topic_of),
                (self.docnos, self.document_of),
                (self.judges, self.judge_of),
            )
        )
        kept = set(zip(topics, docnos, strict=True))
        made = Labels.of(
            topics,
            docnos,
            judges,
            self.grade[rows],
            probability=None if self.probability is None else self.probability[rows],
            time=None if self.time is None else self.time[rows],
            gold={pair: grade for pair, grade in self.gold.items() if pair in kept},
            n_grades=self.n_grades,
        )
        return replace(
            made, n_dropped=self.n_dropped, n_above=self.n_above, unanswered=self.unanswered
        )

    def with_gold(self, gold: Mapping[tuple[str, str], int] | Qrels) -> Labels:
        """Return these labels with other true grades, of which negative ones say nothing; {}: none.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> labels = rb.Labels.of(["7", "7"], ["d1", "d2"], ["ann", "ann"], [1, 0])
        >>> labels.with_gold(rb.Qrels({"7": {"d1": 2, "other": 1}}))
        Labels(2 labels of 2 pairs by 1 judge, 1 topic, grades 0 to 1, gold of 2 pairs)
        """
        if isinstance(gold, Qrels):
            gold = {(t, d): grade for t in gold.topics for d, grade in gold[t].items()}
        kept = {pair: grade for pair, grade in whole_gold(gold).items() if grade >= 0}
        return replace(self, gold=MappingProxyType(kept))

    def to_xarray(self) -> xr.Dataset:
        """Return the labels as a data set, one row a label; gold and times are not kept.

        Examples
        --------
        >>> labels = Labels.of(["7", "7"], ["d1", "d2"], ["llm", "llm"], [2, 0])
        >>> Labels.from_xarray(labels.to_xarray())
        Labels(2 labels of 2 pairs by 1 judge, 1 topic, grades 0 to 2, gold of 0 pairs)
        """
        import xarray as xr

        columns: dict[str, Any] = {
            "topic": np.array(self.topics, dtype=str)[self.topic_of],
            "docno": np.array(self.docnos, dtype=str)[self.document_of],
            "judge": np.array(self.judges, dtype=str)[self.judge_of],
            "grade": self.grade,
        }
        if self.probability is not None:
            columns["probability"] = self.probability
        data: dict[str, Any] = {
            f"judge_label_{name}": ("judge_label", of) for name, of in columns.items()
        }
        data["judge_label_grades"] = ((), self.n_grades)
        for name in _COUNTS:
            data[f"judge_label_{name}"] = ((), getattr(self, name))
        for name, of in zip(_UNANSWERED, zip(*self.unanswered, strict=True), strict=False):
            data[name] = ("unanswered", np.array(of, dtype=str))
        return xr.Dataset(data)

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> Labels:
        """Rebuild labels from :meth:`to_xarray`'s data set, or one that holds it."""
        topics, docnos, judges = (
            data[f"judge_label_{name}"].to_numpy().astype(str).tolist()
            for name in ("topic", "docno", "judge")
        )
        stated = data.get("judge_label_probability")
        made = cls.of(
            topics,
            docnos,
            judges,
            data["judge_label_grade"].to_numpy(),
            probability=None if stated is None else stated.to_numpy(),
            n_grades=int(data["judge_label_grades"]),
        )
        columns = [data[n].to_numpy().astype(str).tolist() for n in _UNANSWERED if n in data]
        # files of before have no counts
        dropped, above = (int(data.get(f"judge_label_{name}", 0)) for name in _COUNTS)
        return replace(
            made,
            n_dropped=dropped,
            n_above=above,
            unanswered=tuple(zip(*columns, strict=True)),
        )

    def __repr__(self) -> str:
        return (
            f"Labels({counted(self.n_labels, 'label')} of "
            f"{counted(len(self._pairs.topic), 'pair')} by {counted(len(self.judges), 'judge')}, "
            f"{counted(len(self.topics), 'topic')}, grades 0 to {self.n_grades - 1}, gold of "
            f"{counted(len(self.gold), 'pair')})"
        )


def _chosen(what: str, names: Sequence[str], all_names: Sequence[str]) -> NDArray[np.bool_]:
    chosen = set(names)
    unknown = chosen - set(all_names)
    if unknown:
        raise InputError(
            f"{what} without labels: {some(sorted(unknown))}", remedy=f"choose from {what}"
        )
    return np.array([name in chosen for name in all_names], dtype=bool)


def _restored(kind: type[Labels], state: dict[str, Any]) -> Labels:
    """Rebuild labels that were pickled or copied."""
    return kind(**state | {"gold": MappingProxyType(state["gold"])})
