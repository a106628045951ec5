"""Grades of documents: those judged, and a distribution of the others' given relevance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.qrels import Qrels
from rtc_bayes.errors import InputError
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import xarray as xr

    from rtc_bayes.collection.pool import Pool

Floats = NDArray[np.float64]

#: Ending of the docno of a document that stands for one which no system retrieved: it is there
#: only if it is relevant, so its grade is 0 otherwise. No docno of a file has a space.
UNSEEN = " (unseen)"
#: Judgments that the collection's distribution of grades is worth on a topic.
CONCENTRATION = 4.0
#: Standard deviation of the slope's normal prior, about 0, and the probability of relevance, of
#: none and of one, beyond which the slope goes no further.
SLOPE_SD, LEAST = 1.0, 1e-3
# of Newton's method, for the slope
_STEPS = 20


def log_odds(p: Floats) -> Floats:
    """Log-odds of probabilities, of which none is taken to be nearer to 0 or 1 than `LEAST`.

    Examples
    --------
    >>> log_odds(np.array([0.5, 0.9, 1.0])).round(2).tolist()
    [0.0, 2.2, 6.91]
    """
    held = np.clip(p, LEAST, 1.0 - LEAST)
    return np.asarray(np.log(held) - np.log1p(-held))


def tilted(probabilities: Floats, tilt: Floats, levels: NDArray[np.int_] | None = None) -> Floats:
    """Multiply probabilities of grades by exp(tilt * grade), and make them sum to 1 again.

    Parameters
    ----------
    probabilities : ndarray, shape (..., grades)
    tilt : ndarray, shape (...)
        Where it is 0 nothing changes.
    levels : ndarray of int, shape (grades,), optional
        The grades; from 0 on by default.

    Examples
    --------
    >>> tilted(np.array([[0.0, 0.5, 0.5]]), np.array([np.log(3)])).round(2).tolist()
    [[0.0, 0.25, 0.75]]
    """
    if not tilt.any():
        return probabilities
    grades = np.arange(probabilities.shape[-1]) if levels is None else levels
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities) + tilt[..., None] * grades
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


class PoolGrades(NamedTuple):
    """Grades of a pool's documents.

    Attributes
    ----------
    judged : ndarray of float, shape (documents,)
        The grade; NaN where it is not known.
    probabilities : ndarray, shape (2, documents, grades)
        Of every grade from 0 on, if the document is nonrelevant and if it is relevant.
    unseen : ndarray of bool, shape (documents,)
        Of grade 0 if not relevant.
    """

    judged: Floats
    probabilities: Floats
    unseen: NDArray[np.bool_]

    def of_topic(self, t: int, pool: Pool) -> PoolGrades:
        """Return the part of a topic, by number."""
        inside = pool.documents(t)
        return PoolGrades(self.judged[inside], self.probabilities[:, inside], self.unseen[inside])


@dataclass(frozen=True, eq=False, repr=False)
class GradeDistribution:
    """Grades of judged documents, and what grade an unjudged one has, given its relevance.

    Dirichlet-multinomial, by topic: on a topic with counts n of its judged grades, grade g of a
    relevant document has probability (n_g + c q_g) / (n + c). The concentration c is 4, about the
    likeliest on DL 2020 (docs/confidence.md); q, of the collection, is the same of all topics'
    counts plus one each. Grades from the relevance level to the highest seen are relevant; those
    below, which there are where the level is above 1, have a distribution given nonrelevance.

    That is a document whose log-odds of relevance are as those of the topic's judged ones. Of
    another each grade g has exp(slope * g * z) times as much, z being by how much its log-odds are
    above theirs: documents that are likelier to be relevant have higher grades.

    Attributes
    ----------
    judged : Qrels
        Grades of the judged documents.
    topics : tuple of str
        Any other topic has the collection's distribution.
    probabilities : ndarray, shape (2, topics + 1, grades)
        Of every grade from 0 on, of a nonrelevant document and of a relevant one; the
        collection's last.
    slope : float
        What a unit of log-odds adds to the log-odds of a grade against the one below; 0: nothing.
    centre : ndarray, shape (2, topics + 1)
        Log-odds of relevance from which z is counted, of nonrelevant documents and of relevant
        ones: the mean of the topic's judged ones and the collection's mean, which counts as much
        as `CONCENTRATION` judgments.

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
    slope: float
    centre: Floats

    @classmethod
    def from_qrels(
        cls,
        qrels: Qrels,
        *,
        relevance_level: int = 1,
        relevance: Mapping[str, Mapping[str, float]] | None = None,
    ) -> GradeDistribution | None:
        """Learn it from judged grades; None where none is above 1, so that there is one alone.

        Parameters
        ----------
        qrels : Qrels
            Negative grades are unjudged.
        relevance_level : int, at least 1
            The lowest grade that counts as relevant.
        relevance : mapping of str to mapping of str to float, optional
            By topic and docno, the probability of relevance of every judged document that would
            be predicted without its own judgment. The slope is learned from it; without it, 0.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> qrels = rb.Qrels({"1": {"a": 3, "b": 1, "c": 3, "d": 1}})
        >>> p = {"1": {"a": 0.9, "b": 0.2, "c": 0.8, "d": 0.3}}
        >>> round(GradeDistribution.from_qrels(qrels, relevance=p).slope, 2)
        0.96
        """
        topics = qrels.topics
        judged = [[(d, g) for d, g in qrels[t].items() if g >= 0] for t in topics]
        topic = np.repeat(np.arange(len(topics)), [len(part) for part in judged])
        grade = np.array([g for part in judged for _, g in part], dtype=int)
        highest = int(grade.max(initial=0))
        if highest <= 1:
            return None
        if highest > np.iinfo(np.int8).max:
            raise InputError(
                f"a grade of {highest} is no gain of a graded measure",
                path=qrels.path or None,
                remedy="give grades up to 127",
            )
        odds = np.zeros(len(grade))
        if relevance is not None:
            p = [
                relevance.get(t, {}).get(d, np.nan)
                for t, part in zip(topics, judged, strict=True)
                for d, _ in part
            ]
            if np.isnan(p).any():
                raise InputError(
                    f"{counted(int(np.isnan(p).sum()), 'judged document')} without a probability",
                    remedy="give relevance of every judged document",
                )
            odds = log_odds(np.array(p))
        size = max(highest, relevance_level) + 1
        probabilities, centre = np.zeros((2, len(topics) + 1, size)), np.zeros((2, len(topics) + 1))
        halves = []
        for relevant, levels in enumerate((range(relevance_level), range(relevance_level, size))):
            rows = np.isin(grade, levels)
            half = _Half(topic[rows], grade[rows], odds[rows], len(topics), levels)
            probabilities[relevant][:, levels] = half.probabilities
            centre[relevant] = half.centre
            halves.append(half)
        return cls(qrels, topics, probabilities, _slope(halves), centre)

    def unjudged_zero(self) -> GradeDistribution:
        """Return the same judged grades, with grade 0 for certain where not relevant."""
        probabilities = self.probabilities.copy()
        probabilities[0] = 0.0
        probabilities[0, :, 0] = 1.0
        return replace(self, probabilities=probabilities)

    def on(self, pool: Pool, values: NDArray[np.floating]) -> PoolGrades:
        """Line the grades up with a pool's documents and topics.

        Parameters
        ----------
        pool : Pool
        values : ndarray, shape (documents,) or (draws, documents)
            Probabilities of relevance.
        """
        number = {topic: t for t, topic in enumerate(self.topics)}
        judged = np.full(pool.n_documents, np.nan)
        for topic in pool.topics:
            of_topic = self.judged.get(topic, {})
            place = pool.locate(topic, list(of_topic))
            grades = np.array(list(of_topic.values()), dtype=float)
            kept = (place >= 0) & (grades >= 0.0)
            judged[place[kept]] = grades[kept]
        row = np.array([number.get(topic, -1) for topic in pool.topics], dtype=int)[pool.topic_of]
        unseen = np.array([docno.endswith(UNSEEN) for docno in pool.docnos], dtype=bool)
        above = log_odds(np.atleast_2d(values).mean(axis=0)) - self.centre[:, row]
        return PoolGrades(judged, tilted(self.probabilities[:, row], self.slope * above), unseen)

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
        judged, probabilities, unseen = self.on(pool, values)
        nonrelevant, relevant = probabilities[:, :, grade:].sum(axis=2)
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
                "grade_slope": self.slope,
                "grade_centre": (("given", "topic_or_all"), self.centre),
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
        probabilities = data["grade_probability"].values.astype(np.float64)
        slope, centre = 0.0, np.zeros(probabilities.shape[:2])
        if "grade_slope" in data:  # files of older versions have none
            slope, centre = float(data["grade_slope"]), data["grade_centre"].values
        return cls(Qrels(judged), topics, probabilities, slope, centre.astype(np.float64))

    @property
    def relevance_level(self) -> int:
        """The lowest grade that counts as relevant."""
        return int(np.argmax(self.probabilities[1, -1] > 0.0))

    @property
    def highest(self) -> int:
        """The highest grade."""
        return self.probabilities.shape[2] - 1

    def __repr__(self) -> str:
        return f"GradeDistribution({self.judged.n_values} judged, of grades 0 to {self.highest})"


class _Half:
    """Judged documents of some grades: the nonrelevant or the relevant ones.

    Each array has one entry a document; `levels` are the grades that it may have.
    """

    def __init__(
        self,
        topic: NDArray[np.int_],
        grade: NDArray[np.int_],
        odds: Floats,
        topics: int,
        levels: range,
    ) -> None:
        self.topic, self.grade, self.odds, self.levels = topic, grade, odds, np.array(levels)
        self.counts = np.zeros((topics, len(levels)))
        np.add.at(self.counts, (topic, grade - levels.start), 1.0)
        shared = self.counts.sum(axis=0) + 1.0
        self.shared = shared / shared.sum()
        self.odds_of_topic = np.bincount(topic, odds, topics)
        self.mean = odds.mean() if len(odds) else 0.0

    @property
    def probabilities(self) -> Floats:
        """Of each grade by topic, shape (topics + 1, levels); the collection's last."""
        weights = self.counts + CONCENTRATION * self.shared
        return np.vstack([weights / weights.sum(axis=1, keepdims=True), self.shared])

    @property
    def centre(self) -> Floats:
        """Log-odds of the topic's documents in the mean, shape (topics + 1,)."""
        total = self.odds_of_topic + CONCENTRATION * self.mean
        return np.append(total / (self.counts.sum(axis=1) + CONCENTRATION), self.mean)

    def others(self) -> tuple[Floats, Floats]:
        """Return grade probabilities and log-odds above the centre by all documents but its own.

        Shapes (documents, levels) and (documents,).
        """
        weights = self.counts[self.topic] - (self.levels == self.grade[:, None])
        weights += CONCENTRATION * self.shared
        total = weights.sum(axis=1)
        centre = self.odds_of_topic[self.topic] - self.odds + CONCENTRATION * self.mean
        return weights / total[:, None], self.odds - centre / total


def _slope(halves: list[_Half]) -> float:
    """Find the likeliest slope: each document's grade predicted from those of all others."""
    slope = 0.0
    for _ in range(_STEPS):
        pull, precision = -slope / SLOPE_SD**2, 1.0 / SLOPE_SD**2
        for half in halves:
            probabilities, above = half.others()
            chances = tilted(probabilities, slope * above, half.levels)
            mean = chances @ half.levels
            pull += above @ (half.grade - mean)
            precision += above**2 @ (chances @ half.levels**2 - mean**2)
        slope += pull / precision
    return float(slope)
