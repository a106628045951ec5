"""A collection that is taken as completely judged: what trials are drawn from and held to."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import check_word
from rtc_bayes.collection import Judgments, Pool, Qrels, Runs
from rtc_bayes.collection.hold_out import groups_of
from rtc_bayes.collection.ids import list_of_names, some
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.collection.relevant_alone import nearly_all_relevant
from rtc_bayes.collection.unretrieved import warn_of_unretrieved
from rtc_bayes.confidence.setting import number_of
from rtc_bayes.confidence.subpool import with_topics
from rtc_bayes.errors import CollectionWarning, InputError, warn
from rtc_bayes.measures import Estimand, evaluate, moments, sample_scores
from rtc_bayes.measures.names import Measure, parse_measure
from rtc_bayes.measures.scores import as_labels, without_rounding
from rtc_bayes.store.shown import counted

type Floats = NDArray[np.float64]
type Truth = Literal["all", "judged"]
_TRUTHS: tuple[Truth, ...] = get_args(Truth.__value__)
# words of before
_ALL = {"complete": "all"}


def check_truth(truth: object) -> None:
    """Refuse what is no word for a study's truth.

    Raises
    ------
    InputError
        It names the words; for one of before, that of now.
    """
    check_word("truth", truth, _TRUTHS, _ALL)


def truth_of_now(study: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a stored study, its truth in the word of now."""
    words = dict(study)
    if "truth" in words:
        words["truth"] = _ALL.get(words["truth"], words["truth"])
    return words


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Runs with complete judgments, as every trial needs them.

    Attributes
    ----------
    pool : Pool
        Of all the runs.
    qrels : Qrels
        Taken as complete: of these lists, a document that nobody judged is not relevant.
    estimand : Estimand
        Its topics are all of them, or named.
    truth : ndarray of float, shape (systems,)
        Mean of the measure of each system over the estimand's topics, by its whole list and every
        judgment; in the pool's order.
    groups : mapping of str to str, or None
        Group of each system, for trials that leave one group out; None if it is not known.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.trials import Collection
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> collection = Collection.from_runs(made.runs, made.qrels, rb.Estimand("P@5", depth=20))
    >>> collection.truth_of(made.runs.systems[:2]).shape
    (2,)
    """

    pool: Pool
    qrels: Qrels
    estimand: Estimand
    truth: Floats
    groups: Mapping[str, str] | None = None

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        qrels: Qrels,
        estimand: Estimand | None = None,
        *,
        truth: Truth = "all",
        pad: bool = False,
        groups: Mapping[str, str] | None = None,
    ) -> Collection:
        """Pool the runs to the estimand's depth, on the estimand's topics, and evaluate them.

        Parameters
        ----------
        runs, qrels
        estimand : Estimand, optional
        truth : {"all", "judged"}
            "all": of lists as they are, a document without judgment nonrelevant. "judged": of
            lists condensed to the documents with a judgment, and topics with one.
        pad : bool
            Fill short lists up to the depth, as of :meth:`rtc_bayes.Pool.from_runs`.
        groups : mapping of str to str, optional
            Group of each system, as :func:`rtc_bayes.read_groups` reads it.

        Raises
        ------
        InputError
            A system without a group, a topic that the runs do not have, or none with a judgment;
            lists condensed to what is judged where only relevant documents are.

        Warns
        -----
        CollectionWarning
            Topics without a judgment: they are left aside, as there is nothing to hold them to.
            Runs and judgments that seem to name documents differently.
        """
        check_truth(truth)
        if groups is not None:
            groups = dict(zip(runs.systems, groups_of(runs.systems, groups), strict=True))
        estimand = (estimand or Estimand()).of_qrels(qrels)
        if truth == "judged":
            check_can_condense(qrels, estimand)
            runs = runs.condensed(qrels)
        pool = estimand.pool(runs, pad=pad)
        topics = _topics_with_truth(pool, qrels, estimand)
        if len(topics) < pool.n_topics:
            pool = pool.select_topics(topics)
        with warnings.catch_warnings():
            # the pool has just named the runs that lack a topic
            warnings.simplefilter("ignore", CollectionWarning)
            table = evaluate(
                runs,
                _as_measured(qrels, estimand),
                [estimand.measure],
                topics="all",
                judged_depth=None,
            )
        chosen = [table.topics.index(topic) for topic in topics]
        scores = without_rounding(table[estimand.measure][:, chosen].mean(axis=1))
        if estimand.topics != "all":
            estimand = replace(estimand, topics=topics)
        made = cls(pool, qrels, estimand, scores, groups)
        warn_of_unretrieved(made.judgments)
        return made

    def truth_of(self, systems: Sequence[str]) -> Floats:
        """Return the true scores of some systems, in the order given; shape (systems,).

        Raises
        ------
        InputError
            A system that is not there, or a text instead of a list.
        """
        names = list_of_names("systems", systems)
        return self.truth[[number_of(self.pool.systems, name) for name in names]]

    @cached_property
    def judgments(self) -> Judgments:
        """All judgments, over the pool of all runs and the judged documents that it lacks."""
        with warnings.catch_warnings():
            # whoever made the collection has been told
            warnings.simplefilter("ignore", CollectionWarning)
            return self.estimand.judgments(self.pool, self.qrels)

    @cached_property
    def pool_truth(self) -> dict[str, float]:
        """The score of every system, its list as deep as it is scored and not further."""
        scores, _ = scores_by(self.judgments, self.estimand, pairs="none")
        return dict(zip(self.pool.systems, scores.tolist(), strict=True))

    def labels(self, pool: Pool) -> Floats:
        """Return 1 for the relevant documents of a pool of these runs, else 0."""
        every = self.judgments
        labels = np.zeros(pool.n_documents)
        for t, topic in enumerate(pool.topics):
            inside = pool.documents(t)
            place = every.pool.locate(topic, pool.docnos[inside])
            labels[inside] = np.where(place < 0, 0.0, np.nan_to_num(every.labels[place]))
        return labels

    def __repr__(self) -> str:
        return f"Collection({self.pool!r}, {self.qrels!r})"


def _topics_with_truth(pool: Pool, qrels: Qrels, estimand: Estimand) -> tuple[str, ...]:
    """Return the topics that trials are about: the estimand's, without those of no judgment."""
    asked = pool.topics
    if estimand.topics not in ("all", "judged"):
        asked = tuple(estimand.topics)
        absent = [topic for topic in asked if topic not in pool.topics]
        if absent or not asked:
            raise InputError(f"the runs have no topic {', '.join(absent)}", remedy="name others")
    true = {topic for topic in qrels if qrels.judged(topic)}
    topics = tuple(topic for topic in asked if topic in true)
    aside = [topic for topic in asked if topic not in true]
    if not topics:
        raise InputError(
            f"the truth has no judgment of a topic of the runs: {some(asked)}",
            path=qrels.path or None,
            remedy="give the judgments of these runs' topics",
        )
    if aside and estimand.topics != "judged":
        warn(
            f"{counted(len(aside), 'topic')} of {len(asked)} without a judgment in the truth, left "
            f"aside: {some(aside)}"
        )
    return topics


def is_of_relevant_alone(qrels: Qrels, estimand: Estimand) -> bool:
    """Whether nearly all judged documents of a truth are relevant.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> positives = rb.Qrels({"1": {f"d{n}": 1 for n in range(30)}})
    >>> is_of_relevant_alone(positives, rb.Estimand(relevance_level=1))
    True
    """
    return nearly_all_relevant(*_counts(qrels, estimand))


def check_can_condense(qrels: Qrels, estimand: Estimand) -> None:
    """Refuse to condense lists to documents that are all relevant.

    Raises
    ------
    InputError
        No judged document is nonrelevant.
    """
    relevant, nonrelevant = _counts(qrels, estimand)
    if relevant and not nonrelevant:
        raise InputError(
            "the truth holds relevant documents alone, so lists that are condensed to judged "
            "documents would hold nothing else",
            path=qrels.path or None,
            remedy="leave --truth (truth=) out, so that all other documents count as nonrelevant, "
            "or give the nonrelevant judgments as well",
        )


def _counts(qrels: Qrels, estimand: Estimand) -> tuple[int, int]:
    """Count the judged documents that are relevant, and those that are not."""
    judged, relevant = qrels.counts(estimand.relevance_level or 1)
    return relevant, judged - relevant


def _as_measured(qrels: Qrels, estimand: Estimand) -> Qrels:
    """Return the grades where the measure asks for them, else 1 for relevant and 0 for not.

    Negative grades stay as they are.
    """
    measure, level = parse_measure(estimand.measure), estimand.relevance_level
    assert level is not None
    if measure.graded or measure.rel:
        return qrels
    return Qrels(
        {
            topic: {docno: int(g >= level) if g >= 0 else g for docno, g in grades.items()}
            for topic, grades in qrels.items()
        },
        path=qrels.path,
    )


def scores_by(
    judgments: Judgments, estimand: Estimand, pairs: Literal["all", "none"] = "all"
) -> tuple[Floats, Floats]:
    """Score the systems of a pool by judgments, a document without one being nonrelevant.

    Parameters
    ----------
    judgments : Judgments
        Each 1 or 0, or with a grade where the measure asks for grades.
    estimand : Estimand
        Its measure and topics.
    pairs : {"all", "none"}

    Returns
    -------
    scores : ndarray of float, shape (systems,)
        Means over topics.
    differences : ndarray of float, shape (pairs,)
        The first system less the second.
    """
    measure, pool, labels = _labelled(judgments, estimand)
    grades = judgments.grade_distribution() if measure.graded else None
    if measure.has_moments and grades is None:
        table = moments(pool, labels, measure=measure, pairs=pairs)
        return table.mean_expected[0], table.difference_expected[0]
    grades = grades and grades.unjudged_zero()
    scores = sample_scores(pool, labels, measure=measure, outcomes=1, grades=grades)[0]
    first, second = all_pairs(pool.n_systems if pairs == "all" else 0)
    return scores, scores[first] - scores[second]


def topic_scores_by(judgments: Judgments, estimand: Estimand) -> Floats:
    """Score the systems of a pool on every topic, as :func:`scores_by` scores the mean.

    Parameters
    ----------
    judgments : Judgments
        Each 1 or 0.
    estimand : Estimand

    Returns
    -------
    ndarray of float, shape (systems, topics)

    Raises
    ------
    InputError
        A measure of grades, or one without moments.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"], "2": ["c"]})])
    >>> pool = rb.Pool.from_runs(runs, depth=2)
    >>> judgments = rb.Judgments.from_qrels(pool, rb.Qrels({"1": {"b": 1}, "2": {"c": 1}}))
    >>> topic_scores_by(judgments, rb.Estimand(depth=2)).tolist()
    [[0.5, 1.0]]
    """
    measure, pool, labels = _labelled(judgments, estimand)
    if measure.graded or not measure.has_moments:
        raise InputError(
            f"no confidence is known for {estimand.measure} without a model",
            remedy="name an evaluating model, or a measure of binary relevance such as AP",
        )
    return moments(pool, labels, measure=measure, pairs="none").expected[0]


def labels_by(
    judgments: Judgments, estimand: Estimand, draws: NDArray[np.floating]
) -> tuple[Measure, Pool, NDArray[np.floating]]:
    """Return a measure of binary relevance, and pool and draws of the estimand's topics.

    Parameters
    ----------
    judgments : Judgments
    estimand : Estimand
    draws : ndarray of float, shape (draws, documents)
        Probabilities of relevance.

    Raises
    ------
    InputError
        A measure of grades.
    """
    measure, pool = parse_measure(estimand.measure), judgments.pool
    if measure.graded or measure.rel:
        raise InputError(
            f"no confidence is known for {estimand.measure} without a model",
            remedy="name an evaluating model, or a measure of binary relevance such as AP",
        )
    if estimand.topics != "all":
        pool, draws = with_topics(pool, draws, estimand.topics)
    return measure, pool, draws


def _labelled(judgments: Judgments, estimand: Estimand) -> tuple[Measure, Pool, Floats]:
    """Return a measure, and the pool and labels that it reads, with 0 for what is not judged."""
    measure, labels = as_labels(judgments, parse_measure(estimand.measure))
    pool = judgments.pool
    if estimand.topics != "all":
        pool, (labels,) = with_topics(pool, labels[None], estimand.topics)
    return measure, pool, labels
