"""Judgments over a pool: relevant, nonrelevant, unjudged, or a noisy assessor's probability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import check_type, whole_fields
from rtc_bayes.collection.grades import GradeDistribution, heights_of
from rtc_bayes.collection.ids import (
    by_topic,
    shared_topics,
    some,
    text_of,
)
from rtc_bayes.collection.immutable import freeze, frozen
from rtc_bayes.collection.judged_for import (
    JudgedFor,
    check_judged_topics,
    infer_judged_for,
    systems_judged_for,
    warn_of_others_named,
)
from rtc_bayes.collection.judgment_values import (
    as_grades,
    grades_of,
    indices_in,
    judged_arrays,
    relevance_of,
)
from rtc_bayes.collection.labels import Labels
from rtc_bayes.collection.labels_beside import check_labels_beside
from rtc_bayes.collection.merging import Conflict, merge_judgments
from rtc_bayes.collection.pool import Pool
from rtc_bayes.collection.qrels import Qrels, level_of
from rtc_bayes.collection.unretrieved import warn_of_unretrieved
from rtc_bayes.errors import InputError, warn
from rtc_bayes.signatures import explains_types
from rtc_bayes.store.saved import Saved, check_holds
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, eq=False, repr=False)
class Judgments(Saved):
    """What is known of the relevance of a pool's documents.

    Attributes
    ----------
    pool : Pool
        The pool judged, with every judged document that no system retrieved.
    labels : ndarray of float, shape (documents,)
        1 relevant, 0 nonrelevant, between the two a noisy assessor's probability; NaN unjudged.
    order : ndarray of int, shape (judged,)
        Document indices in the order in which the judgments were made: those with a label, each
        once.
    judged_for : tuple of str or None
        The systems that the judgments were made for, on any topic; None when not known.
    judged_for_by_topic : mapping of str to tuple of str, or None
        The same for each topic, where it differs between topics: see :meth:`judged_for_topic`.
    grades : ndarray of float, shape (documents,)
        The grades that the labels were read from, at least 0; NaN where there is none.
    relevance_level : int
        The lowest grade that counts as relevant.
    hold_out : str or None
        Digest of the :class:`~rtc_bayes.collection.hold_out.HoldOutDesign` under which they were
        made; None: under none, or not known.
    judge_labels : Labels or None
        Labels of judges that may err, of these documents or others: evidence for models that
        take it, and never a judgment. See :meth:`with_judge_labels`.
    aside : tuple of (topic, docno)
        What nobody can judge, as qrels mark it by a negative grade: judging never chooses it.

    Raises
    ------
    InputError
        Arrays of another shape, a label outside [0, 1], or an order of other documents than those
        with a label. :meth:`from_labels` makes these arrays.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> lists = {"1": ["a", "b", "c"], "2": ["x"]}
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", lists)]))
    >>> judgments = rb.Judgments.from_labels(pool, pool.locate("1", ["c", "a"]), [1, 0])
    >>> judgments
    Judgments(2 judged, 1 relevant, in 1 of 2 topics)
    >>> judgments.labels.tolist()
    [0.0, nan, 1.0, nan]

    Judgments do not change. These return others.

    >>> more = judgments.with_labels(pool.locate("2", ["x"]), [0.5])
    >>> more.relevant.tolist(), more.judged_topics
    ([1.0, 0.5], ('1', '2'))
    >>> more.keep(more.order[:1])
    Judgments(1 judged, 1 relevant, in 1 of 2 topics)
    >>> dict(judgments.to_qrels()["1"])
    {'c': 1, 'a': 0}
    """

    pool: Pool
    labels: NDArray[np.float64]
    order: NDArray[np.int64]
    judged_for: tuple[str, ...] | None = None
    judged_for_by_topic: Mapping[str, tuple[str, ...]] | None = None
    grades: NDArray[np.float64] = None  # type: ignore[assignment]
    relevance_level: int = 1
    hold_out: str | None = None
    judge_labels: Labels | None = None
    aside: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        whole_fields(self, relevance_level=1)
        labels, order, grades = judged_arrays(self.pool, self.labels, self.order, self.grades)
        if grades is None:
            grades = as_grades(labels, self.relevance_level)
        for name, values in (("labels", labels), ("order", order), ("grades", grades)):
            object.__setattr__(self, name, frozen(values))

    @classmethod
    @explains_types
    def none(
        cls,
        pool: Pool,
        *,
        relevance_level: int = 1,
        judged_for: JudgedFor = None,
        hold_out: str | None = None,
    ) -> Judgments:
        """Nothing judged yet; parameters as of :meth:`from_labels`.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a"]})]))
        >>> rb.Judgments.none(pool)
        Judgments(0 judged, 0 relevant, in 0 of 1 topic)
        """
        return cls.from_labels(
            pool,
            [],
            [],
            relevance_level=relevance_level,
            judged_for=judged_for,
            hold_out=hold_out,
        )

    @classmethod
    @explains_types
    def from_labels(
        cls,
        pool: Pool,
        documents: ArrayLike,
        labels: ArrayLike,
        *,
        grades: ArrayLike | None = None,
        relevance_level: int = 1,
        judged_for: JudgedFor = None,
        hold_out: str | None = None,
    ) -> Judgments:
        """Judge documents of the pool by their indices.

        Parameters
        ----------
        pool : Pool
        documents : array_like of int, shape (judged,)
            Distinct document indices, in the order judged; :meth:`Pool.locate` finds them.
        labels : array_like of float, shape (judged,)
            Each in [0, 1]: 1 relevant, 0 nonrelevant, between the two a probability.
        grades : array_like of float, shape (judged,), optional
            Whole numbers of at least 0, which the labels were read from; by default 0 for the
            label 0 and the relevance level for 1.
        relevance_level : int, at least 1
            The lowest grade that counts as relevant.
        judged_for : sequence of str, or mapping of str to sequence of str; optional
            The systems that the judgments were made for: on all topics, or by topic.
        hold_out : str, optional
            Digest of the hold-out design under which they were made.

        Raises
        ------
        InputError
            A document that the pool does not hold or that is judged twice, a label outside
            [0, 1], or as many documents as labels are not given; `judged_for` by topic that
            names no topic of the pool.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> run = rb.Run.from_rankings("one", {"1": ["a", "b"], "2": ["x"]})
        >>> pool = rb.Pool.from_runs(rb.Runs([run]))
        >>> rb.Judgments.from_labels(pool, pool.locate("1", ["b"]), [1.0], judged_for=["one"])
        Judgments(1 judged, 1 relevant, in 1 of 2 topics, made for one)
        >>> rb.Judgments.from_labels(pool, pool.locate("1", ["typo"]), [1.0])
        Traceback (most recent call last):
        rtc_bayes.errors.InputError: the pool holds no document -1; ...
        """
        every = np.full(pool.n_documents, np.nan)
        order = np.empty(0, dtype=np.int64)
        check_judged_topics(pool, judged_for, say=False)
        made_for = systems_judged_for(pool, judged_for)
        none = cls(pool, every, order, *made_for, every, relevance_level, hold_out)
        return none.with_labels(documents, labels, grades)

    def with_labels(
        self, documents: ArrayLike, labels: ArrayLike, grades: ArrayLike | None = None
    ) -> Judgments:
        """Return these judgments and more, made after them.

        Parameters
        ----------
        documents : array_like of int, shape (more,)
            Distinct document indices without a judgment, in the order judged.
        labels : array_like of float, shape (more,)
            Each in [0, 1].
        grades : array_like of float, shape (more,), optional
            As :meth:`from_labels`.

        Raises
        ------
        InputError
            As :meth:`from_labels`.
        """
        added, values = indices_in(self.pool, documents), relevance_of(labels)
        if added.shape != values.shape:
            raise InputError(
                f"{counted(len(added), 'document')} but {counted(len(values), 'label')}",
                remedy="give as many of each",
            )
        order = np.concatenate([self.order, added])
        if len(np.unique(order)) != len(order):
            raise InputError("a document is judged twice", remedy="give each document once")
        every, of_grade = self.labels.copy(), self.grades.copy()
        every[added] = values
        of_grade[added] = grades_of(grades, values, self.relevance_level)
        freeze(order, every, of_grade)  # so that they are not copied once more
        return replace(self, labels=every, order=order, grades=of_grade)

    def with_judge_labels(self, labels: Labels | None) -> Judgments:
        """Return these judgments with labels of judges that may err beside them.

        Parameters
        ----------
        labels : Labels or None
            By :func:`rtc_bayes.read_labels`, in place of those that the judgments have. Those of
            topics or documents that the pool lacks do not count. None: no labels.

        Returns
        -------
        Judgments

        Raises
        ------
        InputError
            Something that is no `Labels`, or labels of other topics or documents alone.

        Warns
        -----
        CollectionWarning
            Topics of the pool have no label of their documents; all documents with a label are
            judged, and more than as many others; labels that were read were left out; true
            grades among the labels, where nothing is judged; judges whose grades end below those of
            others, as all are read on one scale.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> labels = rb.Labels.of(["1", "1"], ["a", "b"], ["llm", "llm"], [1, 0])
        >>> rb.Judgments.none(pool).with_judge_labels(labels)
        Judgments(0 judged, 0 relevant, in 0 of 1 topic; 2 labels by 1 judge beside them)
        """
        if labels is not None:
            check_type(labels, Labels, "labels are", "read them: read_labels(FILE, ...)")
            check_labels_beside(labels, self)
        return replace(self, judge_labels=labels)

    @explains_types
    def with_aside(self, documents: Iterable[tuple[str, str]]) -> Judgments:
        """Return the judgments with more documents that nobody can judge.

        Parameters
        ----------
        documents : iterable of (topic, docno)
            Any; what is judged all the same, or not in the pool, changes nothing.

        Raises
        ------
        InputError
            Something else than pairs of text.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> rb.Judgments.none(pool).with_aside([("1", "b")]).aside
        (('1', 'b'),)
        """
        pairs = list(self.aside)
        for pair in documents:
            several = isinstance(pair, Sequence) and not isinstance(pair, str)
            if not (several and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
                raise InputError(
                    f"aside holds {pair!r:.60}", remedy="give pairs of topic and docno, both texts"
                )
            pairs.append((pair[0], pair[1]))
        return replace(self, aside=tuple(dict.fromkeys(pairs)))

    @property
    def aside_documents(self) -> NDArray[np.int64]:
        """Indices in the pool of the documents aside that are in it and not judged."""
        inside = self.pool.locate_pairs(self.aside)
        return inside[np.isnan(self.labels[inside])]

    def keep(self, documents: ArrayLike) -> Judgments:
        """Return the judgments of only these documents, in the order given.

        Parameters
        ----------
        documents : array_like of int
            Distinct indices of judged documents.

        Raises
        ------
        InputError
            A document that is not judged, or given twice.
        """
        kept = indices_in(self.pool, documents)
        if (unjudged := kept[~self.judged[kept]]).size:
            raise InputError(
                f"document {unjudged[0]} is not judged", remedy="name documents of `order`"
            )
        return self._cleared().with_labels(kept, self.labels[kept], self.grades[kept])

    def relabelled(self, labels: ArrayLike, grades: ArrayLike | None = None) -> Judgments:
        """Return judgments of the same documents, in the same order, with other labels.

        Parameters
        ----------
        labels : array_like of float, shape (judged,)
            Each in [0, 1], in the order judged.
        grades : array_like of float, shape (judged,), optional
            As :meth:`from_labels`; by default a document keeps its grade where its label is as it
            was, and has 0 for the label 0 and the relevance level for 1 where it is another.

        Raises
        ------
        InputError
            As :meth:`from_labels`.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> made = rb.Judgments.from_labels(pool, [0, 1], [1, 1], grades=[3, 2])
        >>> made.relabelled([1, 0]).grades.tolist()
        [3.0, 0.0]
        """
        if grades is None:
            values = relevance_of(labels)
            if values.shape == self.order.shape:
                kept = values == self.labels[self.order]
                of_labels = as_grades(values, self.relevance_level)
                grades = np.where(kept, self.grades[self.order], of_labels)
        return self._cleared().with_labels(self.order, labels, grades)

    def _cleared(self) -> Judgments:
        """Nothing judged yet, for the same systems."""
        every = np.full(self.pool.n_documents, np.nan)
        return replace(self, labels=every, order=np.empty(0, dtype=np.int64), grades=every)

    @classmethod
    @explains_types
    def from_qrels(
        cls,
        pool: Pool,
        qrels: Qrels,
        *,
        relevance_level: int | None = None,
        judged_for: JudgedFor = None,
    ) -> Judgments:
        """Take the judgments of a qrels file.

        Judged documents that the pool lacks are added to it: numbers of documents, labels and
        probabilities are then those of `pool` of what is returned, which is to be used from there
        on. :func:`rtc_bayes.compare` and :func:`rtc_bayes.fit` take either pool.

        Parameters
        ----------
        pool : Pool
        qrels : Qrels
            Graded; negative grades are unjudged.
        relevance_level : int, at least 1, optional
            The lowest grade that counts as relevant. By default the level that the qrels name,
            or 1.
        judged_for : sequence of str, or mapping of str to sequence of str; optional
            The systems that the judgments were made for: on all topics, or by topic. By default
            those that the qrels name. The hold-out design is always the qrels'.

        Raises
        ------
        InputError
            Qrels and pool have no topic in common, nor `judged_for` by topic and the pool; or the
            relevance level is below 1.

        Warns
        -----
        CollectionWarning
            Once, naming judged topics for which there is no run; systems and topics that
            `judged_for` names and the pool does not have; that `judged_for` names other systems
            than the qrels; that so many judged documents are in no list that runs and judgments
            seem to name documents differently
            (:func:`rtc_bayes.collection.unretrieved.warn_of_unretrieved`); and what
            :func:`level_of` says of the level.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> run = rb.Run.from_rankings("one", {"1": ["a", "b"], "2": ["x"]})
        >>> pool = rb.Pool.from_runs(rb.Runs([run]))
        >>> qrels = rb.Qrels({"1": {"a": 2, "b": 0, "not retrieved": 1}})
        >>> judgments = rb.Judgments.from_qrels(pool, qrels)
        >>> judgments
        Judgments(3 judged, 2 relevant, in 1 of 2 topics)
        >>> pool.n_documents, judgments.pool.n_documents
        (3, 4)
        >>> rb.Judgments.from_qrels(pool, qrels, relevance_level=2)
        Judgments(3 judged, 1 relevant, in 1 of 2 topics)
        """
        level = level_of(qrels, relevance_level)
        made_for = systems_judged_for(pool, qrels.judged_for if judged_for is None else judged_for)
        check_judged_topics(pool, judged_for, say=True)
        warn_of_others_named(pool, qrels, judged_for)
        if judged_for is not None and (absent := set(made_for[0] or ()).difference(pool.systems)):
            warn(
                f"of systems judged for there is no run, {some(sorted(absent))}: check that "
                "judged_for= or --judged-for names them rightly",
            )
        shared = shared_topics(pool.topics, qrels.topics, qrels.path) if len(qrels) else ()
        grades = [(t, docno, g) for t in shared for docno, g in qrels.judged(t).items()]
        wanted: dict[str, list[str]] = {t: [] for t in shared}
        for topic, docno, _ in grades:
            wanted[topic].append(docno)
        every = pool.with_documents(wanted)
        located = [every.locate(topic, docnos) for topic, docnos in wanted.items()]
        made = cls.from_labels(
            every,
            np.concatenate([np.empty(0, dtype=np.int64), *located]),
            [float(grade >= level) for _, _, grade in grades],
            grades=[grade for _, _, grade in grades],
            relevance_level=level,
            hold_out=qrels.hold_out,
        )
        made = replace(
            made,
            judged_for=made_for[0],
            judged_for_by_topic=made_for[1],
            aside=tuple(pair for pair in qrels.negative if pair[0] in wanted),
        )
        warn_of_unretrieved(made)
        return made

    def judged_for_topic(self, topic: str | int) -> tuple[str, ...] | None:
        """Return the systems that the judgments of a topic were made for; None when not known.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> lists = {"1": ["a"], "2": ["x"]}
        >>> runs = rb.Runs([rb.Run.from_rankings(system, lists) for system in ("one", "two")])
        >>> pool = rb.Pool.from_runs(runs)
        >>> by_topic = {"1": ["one"], "2": ["two", "one"]}
        >>> judgments = rb.Judgments.from_labels(pool, [0, 1], [1, 0], judged_for=by_topic)
        >>> judgments.judged_for_topic("1"), judgments.judged_for
        (('one',), ('one', 'two'))
        """
        topic = text_of(topic, "topic")
        if topic not in self.pool.topics:
            raise InputError(
                f"the pool holds no topic {topic!r}",
                remedy=f"name one of {some(self.pool.topics)}",
            )
        if self.judged_for_by_topic is None:
            return self.judged_for
        return self.judged_for_by_topic.get(topic, ())

    @property
    def judged_for_mask(self) -> NDArray[np.bool_]:
        """Whether a topic's judgments were made for a system, shape (systems, topics).

        False throughout where the systems judged for are not known.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> lists = {"1": ["a"], "2": ["x"]}
        >>> runs = rb.Runs([rb.Run.from_rankings(system, lists) for system in ("one", "two")])
        >>> pool = rb.Pool.from_runs(runs)
        >>> by_topic = {"1": ["one"], "2": ["two", "one"]}
        >>> rb.Judgments.none(pool, judged_for=by_topic).judged_for_mask.tolist()
        [[True, True], [False, True]]
        """
        by_topic = [
            np.isin(self.pool.systems, self.judged_for_topic(topic) or ())
            for topic in self.pool.topics
        ]
        return np.array(by_topic, dtype=np.bool_).reshape(-1, self.pool.n_systems).T

    def with_judged_for(self) -> Judgments:
        """Return the judgments with the systems that they were made for, inferred if not known.

        Models that ask for whom judgments were made take them from here. The systems inferred are
        those of :func:`infer_judged_for`; where nothing is judged, all of the pool.

        Warns
        -----
        CollectionWarning
            They are inferred: which they are.
        """
        if self.judged_for or (self.judged_for is not None and not self.n_judged):
            return self  # known, or for nobody
        if not self.n_judged:
            return replace(self, judged_for=self.pool.systems)
        inferred = infer_judged_for(self)
        warn(
            "nothing says which systems the judgments were made for, whose documents are judged "
            "sooner than others; inferred, as a smallest set that retrieved what is judged: "
            f"{some(inferred) or 'none'} (say which: judged_for= or --judged-for)",
        )
        return replace(self, judged_for=inferred, judged_for_by_topic=None)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which documents are judged, shape (documents,)."""
        return ~np.isnan(self.labels)

    @property
    def n_judged(self) -> int:
        """Number of judgments."""
        return len(self.order)

    @property
    def n_open(self) -> int:
        """Number of the pool's documents left to judge: neither judged nor aside.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})]))
        >>> rb.Judgments.from_labels(pool, [0], [1]).with_aside([("1", "b")]).n_open
        1
        """
        return self.pool.n_documents - self.n_judged - len(self.aside_documents)

    @property
    def highest_grade(self) -> float:
        """The highest grade judged, 0 where there is none."""
        return float(np.nanmax(self.grades[self.order], initial=0.0))

    @property
    def relevant(self) -> NDArray[np.float64]:
        """Number judged relevant per topic (the sum of labels), shape (topics,)."""
        return self._per_topic(self.labels[self.order])

    @property
    def nonrelevant(self) -> NDArray[np.float64]:
        """Number judged nonrelevant per topic (the sum of 1 - label), shape (topics,)."""
        return self._per_topic(1.0 - self.labels[self.order])

    @property
    def judged_topics(self) -> tuple[str, ...]:
        """Topics with a judgment, in natural order."""
        counts = self._per_topic(np.ones(self.n_judged))
        return tuple(name for name, n in zip(self.pool.topics, counts, strict=True) if n)

    @property
    def coverage(self) -> NDArray[np.float64]:
        """Mean over topics of :attr:`topic_coverage`, shape (systems,)."""
        return self.topic_coverage.mean(axis=1)

    @property
    def topic_coverage(self) -> NDArray[np.float64]:
        """Fraction judged of each list, to the depth; shape (systems, topics), 0 without a list.

        This is ``Judged@k`` of ir_measures, k the depth of the pool.
        """
        pool = self.pool
        counted = np.concatenate([[0], np.cumsum(self.judged[pool.ranked])])
        share = np.diff(counted[pool.list_starts]) / np.maximum(np.diff(pool.list_starts), 1)
        return share.reshape(pool.n_systems, pool.n_topics)

    def _per_topic(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        topic = self.pool.topic_of[self.order]
        counts = np.bincount(topic, weights=values, minlength=self.pool.n_topics)
        return counts.astype(np.float64)  # of nothing, NumPy counts in integers

    @explains_types
    def on(self, pool: Pool) -> Judgments:
        """Return the same judgments over another pool, extended by documents it lacks.

        Judgments, and documents aside, of topics that the other pool does not hold are left out.
        """
        if pool is self.pool:
            return self
        names = np.array(self.pool.topics, dtype=object)[self.pool.topic_of[self.order]]
        kept = np.isin(names, pool.topics)
        order, names = self.order[kept], names[kept]
        docnos = self.pool.docnos[order]
        groups = {name: names == name for name in set(names)}
        every = pool.with_documents({name: docnos[where] for name, where in groups.items()})
        moved = np.empty(len(order), dtype=np.int64)
        for name, where in groups.items():
            moved[where] = every.locate(name, docnos[where])
        labels, grades = np.full((2, every.n_documents), np.nan)
        labels[moved], grades[moved] = self.labels[order], self.grades[order]
        aside = tuple(pair for pair in self.aside if pair[0] in pool.topics)
        return replace(self, pool=every, labels=labels, order=moved, grades=grades, aside=aside)

    def merge(self, *others: Judgments, conflict: Conflict = "refuse") -> Judgments:
        """Return these judgments and others' together, over this pool.

        The pool is extended by documents that it lacks; judgments of topics that it does not hold
        are left out. Who judged which document, and all conflicts, are told by
        :func:`rtc_bayes.merge`, of qrels.

        Parameters
        ----------
        *others : Judgments
            At the same relevance level.
        conflict : {"refuse", "first", "highest", "lowest", "majority"}
            What a document gets that is judged differently, by label and grade: see
            :func:`rtc_bayes.merge`. These judgments are the first source.

        Returns
        -------
        Judgments
            In the order of these, then of each of the others. They were made for every source's
            systems; for systems not known where that of any source is not. Labels of judges beside
            one of the sources stand beside what is merged, and what one has aside is aside.

        Raises
        ------
        InputError
            Conflicts, and `conflict` is "refuse"; other relevance levels; judgments made under
            different hold-out designs, or some under one and some under none; different labels of
            judges beside several.

        Warns
        -----
        CollectionWarning
            Conflicts were settled: how many, and how many of them were ties.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> ours = rb.Judgments.from_labels(pool, pool.locate("1", ["a"]), [1])
        >>> theirs = rb.Judgments.from_labels(pool, pool.locate("1", ["a", "b"]), [1, 0.5])
        >>> ours.merge(theirs)
        Judgments(2 judged, 1.5 relevant, in 1 of 1 topic)
        """
        return merge_judgments([self, *others], conflict)

    def topics_frame(self) -> pd.DataFrame:
        """Return a row for each topic: topic, judged, relevant (numbers of documents).

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=2, n_systems=3, seed=1).runs, depth=5)
        >>> rb.Judgments.none(pool).with_labels([0, 1], [1, 0]).topics_frame()["judged"].tolist()
        [2, 0]
        """
        import pandas as pd

        return pd.DataFrame(
            {
                "topic": self.pool.topics,
                "judged": np.rint(self.relevant + self.nonrelevant).astype(int),
                "relevant": np.rint(self.relevant).astype(int),
            }
        )

    def to_qrels(self) -> Qrels:
        """Return the grades of hard judgments as qrels, in the order made.

        They name the systems judged for, the hold-out design and the relevance level, and give
        grade -1 to what cannot be judged (:attr:`aside`).

        Raises
        ------
        InputError
            A label between 0 and 1: qrels cannot hold it.
        """
        if not np.isin(self.labels[self.order], (0.0, 1.0)).all():
            raise InputError(
                "a label lies between 0 and 1", remedy="write probabilities as an erels file"
            )
        return self._qrels(self.aside)

    def _qrels(self, aside: Iterable[tuple[str, str]] = ()) -> Qrels:
        """Return the judgments that have a grade, and -1 of documents aside."""
        order = self.order[~np.isnan(self.grades[self.order])]
        grades = self.grades[order].astype(np.int64).tolist()
        topics = (self.pool.topics[t] for t in self.pool.topic_of[order].tolist())
        table = by_topic(zip(topics, self.pool.docnos[order], grades, strict=True))
        for topic, docno in aside:
            table.setdefault(topic, {}).setdefault(docno, -1)
        made_for = self.judged_for_by_topic or self.judged_for
        return Qrels(
            table,
            judged_for=made_for,
            hold_out=self.hold_out,
            relevance_level=self.relevance_level,
        )

    def grade_distribution(self) -> GradeDistribution | None:
        """Return the grades and what they say of other documents'.

        None where the relevance level and all of them are at most 1.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> rb.Judgments.from_qrels(pool, rb.Qrels({"1": {"a": 3}})).grade_distribution()
        GradeDistribution(1 judged, of grades 0 to 3)
        """
        if max(self.highest_grade, self.relevance_level) <= 1:
            return None
        return GradeDistribution.from_qrels(
            self._qrels(), relevance_level=self.relevance_level, heights=heights_of(self.pool)
        )

    def to_xarray(self) -> xr.Dataset:
        """Return pool and judgments as one labelled data set."""
        data = self.pool.to_xarray()
        data["label"] = ("document", self.labels)
        data["grade"] = ("document", self.grades)
        data.attrs["relevance_level"] = self.relevance_level
        if self.hold_out is not None:
            data.attrs["hold_out"] = self.hold_out
        data["order"] = ("judgment", self.order)
        if self.judged_for is not None:
            data.attrs["judged_for"] = list(self.judged_for)
        if self.judged_for_by_topic is not None:
            pairs = [(t, s) for t, systems in self.judged_for_by_topic.items() for s in systems]
            topics, systems = np.array(pairs, dtype=str).reshape(-1, 2).T
            data["judged_for_topic"] = ("judged_for", topics)
            data["judged_for_system"] = ("judged_for", systems)
        if self.aside:
            topics, docnos = np.array(self.aside, dtype=str).T
            data["aside_topic"], data["aside_docno"] = ("aside", topics), ("aside", docnos)
        return data if self.judge_labels is None else data.merge(self.judge_labels.to_xarray())

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> Self:
        """Rebuild judgments from :meth:`to_xarray`'s data set.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a"]})]))
        >>> rb.Judgments.from_xarray(rb.Judgments.from_labels(pool, [0], [0.25]).to_xarray())
        Judgments(1 judged, 0.25 relevant, in 1 of 1 topic)
        """
        check_holds(data, ("label", "grade", "order"), "judgments")
        judged_for, by_topic = data.attrs.get("judged_for"), None
        if "judged_for_topic" in data:
            topics = data["judged_for_topic"].to_numpy().astype(str)
            systems = data["judged_for_system"].to_numpy().astype(str)
            by_topic = {
                str(topic): tuple(systems[topics == topic].tolist())
                for topic in dict.fromkeys(topics)
            }
        aside: tuple[tuple[str, str], ...] = ()
        if "aside_topic" in data:
            pairs = [data[f"aside_{part}"].to_numpy().astype(str) for part in ("topic", "docno")]
            aside = tuple(zip(*(each.tolist() for each in pairs), strict=True))
        return cls(
            Pool.from_xarray(data),
            data["label"].to_numpy().astype(np.float64),
            data["order"].to_numpy().astype(np.int64),
            None if judged_for is None else tuple(str(s) for s in np.atleast_1d(judged_for)),
            by_topic,
            data["grade"].to_numpy().astype(np.float64),
            int(data.attrs["relevance_level"]),
            data.attrs.get("hold_out"),
            Labels.from_xarray(data) if "judge_label_grade" in data else None,
            aside,
        )

    def __repr__(self) -> str:
        topics = int((self.relevant + self.nonrelevant > 0).sum())
        made_for = "" if self.judged_for is None else f", made for {', '.join(self.judged_for)}"
        labels = self.judge_labels
        beside = (
            ""
            if labels is None
            else f"; {counted(labels.n_labels, 'label')} by "
            f"{counted(len(labels.judges), 'judge')} beside them"
        )
        return (
            f"Judgments({self.n_judged} judged, {self.relevant.sum():g} relevant, in {topics} of "
            f"{counted(self.pool.n_topics, 'topic')}{made_for}{beside})"
        )
