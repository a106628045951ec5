"""Grades of documents: those judged, and a distribution of the others' given relevance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.qrels import Qrels
from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from rtc_bayes.collection.pool import Pool

Floats = NDArray[np.float64]

#: Ending of the docno of a document that stands for one which no system retrieved: it is there
#: only if it is relevant, so its grade is 0 otherwise. No docno of a file has a space.
UNSEEN = " (unseen)"
#: Judgments that the collection's distribution of grades is worth on a topic.
CONCENTRATION = 4.0


class PoolGrades(NamedTuple):
    """Grades of a pool's documents.

    Attributes
    ----------
    judged : ndarray of float, shape (documents,)
        The grade; NaN where it is not known.
    probabilities : ndarray, shape (2, topics, grades)
        Of every grade from 0 on, of a nonrelevant document and of a relevant one.
    unseen : ndarray of bool, shape (documents,)
        Of grade 0 if not relevant.
    """

    judged: Floats
    probabilities: Floats
    unseen: NDArray[np.bool_]

    def of_topic(self, t: int, pool: Pool) -> PoolGrades:
        """Return the part of a topic, by number."""
        inside = pool.documents(t)
        return PoolGrades(self.judged[inside], self.probabilities[:, [t]], self.unseen[inside])


@dataclass(frozen=True, eq=False, repr=False)
class GradeDistribution:
    """Grades of judged documents, and what grade an unjudged one has, given its relevance.

    Dirichlet-multinomial, by topic: on a topic with counts n of its judged grades, grade g of a
    relevant document has probability (n_g + c q_g) / (n + c). The concentration c is 4, about the
    likeliest on DL 2020 (docs/confidence.md); q, of the collection, is the same of all topics'
    counts plus one each. Grades from the relevance level to the highest seen are relevant; those
    below, which there are where the level is above 1, have a distribution given nonrelevance.

    Attributes
    ----------
    judged : Qrels
        Grades of the judged documents.
    topics : tuple of str
        Any other topic has the collection's distribution.
    probabilities : ndarray, shape (2, topics + 1, grades)
        Of every grade from 0 on, of a nonrelevant document and of a relevant one; the
        collection's last.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> qrels = rb.Qrels({"1": {"a": 2, "b": 2, "c": 0}, "2": {"x": 1, "y": 1}})
    >>> grades = GradeDistribution.from_qrels(qrels)
    >>> grades
    GradeDistribution(5 judged, of grades 0 to 2)
    >>> grades.probabilities[1].round(3).tolist()  # given relevant: topics 1, 2, and all
    [[0.0, 0.333, 0.667], [0.0, 0.667, 0.333], [0.0, 0.5, 0.5]]
    """

    judged: Qrels
    topics: tuple[str, ...]
    probabilities: Floats

    @classmethod
    def from_qrels(cls, qrels: Qrels, *, relevance_level: int = 1) -> GradeDistribution | None:
        """Learn it from judged grades; None where none is above 1, so that there is one alone.

        Parameters
        ----------
        qrels : Qrels
            Negative grades are unjudged.
        relevance_level : int, at least 1
            The lowest grade that counts as relevant.
        """
        topics = qrels.topics
        judged = [np.array([g for g in qrels[t].values() if g >= 0], dtype=int) for t in topics]
        highest = max((part.max(initial=0) for part in judged), default=0)
        if highest <= 1:
            return None
        if highest > np.iinfo(np.int8).max:
            raise InputError(
                f"a grade of {highest} is no gain of a graded measure",
                path=qrels.path or None,
                remedy="give grades up to 127",
            )
        size = max(int(highest), relevance_level) + 1
        counts = np.array([np.bincount(part, minlength=size) for part in judged], dtype=float)
        probabilities = np.zeros((2, len(topics) + 1, size))
        for relevant, levels in enumerate((slice(relevance_level), slice(relevance_level, size))):
            of_level = counts[:, levels]
            shared = of_level.sum(axis=0) + 1.0
            shared /= shared.sum()
            shrunk = of_level + CONCENTRATION * shared
            probabilities[relevant, :-1, levels] = shrunk / shrunk.sum(axis=1, keepdims=True)
            probabilities[relevant, -1, levels] = shared
        return cls(qrels, topics, probabilities)

    def unjudged_zero(self) -> GradeDistribution:
        """Return the same judged grades, with grade 0 for certain where not relevant."""
        probabilities = self.probabilities.copy()
        probabilities[0] = 0.0
        probabilities[0, :, 0] = 1.0
        return replace(self, probabilities=probabilities)

    def on(self, pool: Pool) -> PoolGrades:
        """Line the grades up with a pool's documents and topics."""
        number = {topic: t for t, topic in enumerate(self.topics)}
        judged = np.full(pool.n_documents, np.nan)
        for topic in pool.topics:
            of_topic = self.judged.get(topic, {})
            place = pool.locate(topic, list(of_topic))
            grades = np.array(list(of_topic.values()), dtype=float)
            kept = (place >= 0) & (grades >= 0.0)
            judged[place[kept]] = grades[kept]
        rows = [number.get(topic, -1) for topic in pool.topics]
        unseen = np.array([docno.endswith(UNSEEN) for docno in pool.docnos], dtype=bool)
        return PoolGrades(judged, self.probabilities[:, rows], unseen)

    def at_least(self, pool: Pool, values: NDArray[np.floating], grade: int) -> Floats:
        """Probabilities that documents have at least a grade.

        Parameters
        ----------
        pool : Pool
        values : ndarray, shape (draws, documents)
            Probabilities of relevance.
        grade : int

        Raises
        ------
        InputError
            The grade is above the highest that was judged.
        """
        highest = self.probabilities.shape[2] - 1
        if grade > highest:
            raise InputError(
                f"rel={grade} is above the highest grade judged, {highest}",
                remedy=f"give rel from 1 to {highest}",
            )
        judged, probabilities, unseen = self.on(pool)
        nonrelevant, relevant = probabilities[:, :, grade:].sum(axis=2)[:, pool.topic_of]
        nonrelevant = np.where(unseen, 0.0, nonrelevant)
        result = values * relevant + (1.0 - values) * nonrelevant
        with_grade = ~np.isnan(judged)
        result[..., with_grade] = judged[with_grade] >= grade
        return np.clip(result, 0.0, 1.0)

    def to_xarray(self) -> xr.Dataset:
        """Return the judged grades, and the probabilities of every grade."""
        import xarray as xr

        frame = self.judged.to_frame()
        return xr.Dataset(
            {
                "grade_judged": ("judged", frame["label"].to_numpy(dtype=np.int64)),
                "grade_judged_topic": ("judged", frame["topic"].to_numpy(dtype=str)),
                "grade_judged_docno": ("judged", frame["docno"].to_numpy(dtype=str)),
                "grade_topic": ("graded_topic", np.array(self.topics, dtype=str)),
                "grade_probability": (("given", "topic_or_all", "grade"), self.probabilities),
            }
        )

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> GradeDistribution | None:
        """Rebuild from :meth:`to_xarray`'s data set; None where it holds no grades."""
        if "grade_judged" not in data:
            return None
        names = ("grade_judged_topic", "grade_judged_docno", "grade_judged")
        judged: dict[str, dict[str, int]] = {}
        for topic, docno, grade in zip(*(data[n].values for n in names), strict=True):
            judged.setdefault(str(topic), {})[str(docno)] = int(grade)
        topics = tuple(str(t) for t in data["grade_topic"].values)
        return cls(Qrels(judged), topics, data["grade_probability"].values.astype(np.float64))

    def __repr__(self) -> str:
        highest = self.probabilities.shape[2] - 1
        return f"GradeDistribution({self.judged.n_values} judged, of grades 0 to {highest})"
