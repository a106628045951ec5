"""Grades of documents: those judged, and a distribution of the others' given relevance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.ids import by_topic
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
CONCENTRATION = 2.0
#: Standard deviation of the slope's normal prior, about 0.
SLOPE_SD = 1.0
#: Draws of topics' grades and of the slope, where relevance itself has one.
GRADE_DRAWS = 200
_LARGEST = int(np.iinfo(np.int8).max)


def is_unseen(pool: Pool) -> NDArray[np.bool_]:
    """Which documents of a pool stand for one that no system retrieved, shape (documents,)."""
    return np.array([docno.endswith(UNSEEN) for docno in pool.docnos], dtype=bool)


def check_grade(grade: int, path: str | None = None, of: str = "") -> None:
    """Refuse a grade that an outcome, of bytes, cannot hold; say where it is from.

    Examples
    --------
    >>> check_grade(4)
    """
    if grade > _LARGEST:
        raise InputError(
            f"a grade of {grade}{of} is no gain of a graded measure",
            path=path,
            remedy=f"give grades up to {_LARGEST}",
        )


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


class TopicGrades(NamedTuple):
    """Grades of a topic's documents.

    Attributes
    ----------
    judged : ndarray of float, shape (documents,)
        The grade; NaN where it is not known.
    weights : ndarray, shape (2, grades)
        Parameters of the Dirichlet distributions of grades from 0 on, given nonrelevance and given
        relevance; a grade that cannot be has 0.
    above : ndarray, shape (2, documents)
        Height above the documents that these are of.
    unseen : ndarray of bool, shape (documents,)
        Of grade 0 if not relevant.
    """

    judged: Floats
    weights: Floats
    above: Floats
    unseen: NDArray[np.bool_]


class PoolGrades(NamedTuple):
    """Grades of a pool's documents: as a topic's, with `weights` of shape (2, topics, grades)."""

    judged: Floats
    weights: Floats
    above: Floats
    unseen: NDArray[np.bool_]

    def of_topic(self, t: int, pool: Pool) -> TopicGrades:
        """Return the part of a topic, by number."""
        inside = pool.documents(t)
        return TopicGrades(
            self.judged[inside], self.weights[:, t], self.above[:, inside], self.unseen[inside]
        )


@dataclass(frozen=True, eq=False, repr=False)
class GradeDistribution:
    """Grades of judged documents, and what grade an unjudged one has, given its relevance.

    Dirichlet-multinomial, by topic: on a topic with counts n of its judged grades, probabilities of
    the grades of a relevant document have a Dirichlet distribution with parameters n_g + c q_g. The
    concentration c is 2, by the likelihood of three collections (docs/results/whole-lists.md); q,
    of the collection, is the distribution of all topics' counts plus one each. Grades from the
    relevance level to the highest seen are relevant; those below, which there are where the level
    is above 1, have a distribution given nonrelevance.

    That is a document which systems rank as high as the topic's judged ones. Of another each grade
    g has exp(slope * g * z) times as much, z being by how much its height is above theirs: the
    logarithm of the mean over systems of 1 / rank. Documents ranked higher have higher grades.

    Attributes
    ----------
    judged : Qrels
        Grades of the judged documents.
    topics : tuple of str
        Any other topic has the collection's distribution.
    weights : ndarray, shape (2, topics + 1, grades)
        Dirichlet parameters of every grade from 0 on, of a nonrelevant document and of a relevant
        one; the collection's last. 0: it cannot be.
    slope, slope_sd : float
        What a unit of height adds to the log-odds of a grade against the one below, and the
        standard deviation of its posterior; both 0 where heights are not known.
    heights : mapping of str to mapping of str to float
        By topic and docno; any other document is at the lowest.
    centre : ndarray, shape (2, topics + 1)
        Heights from which z is counted, of nonrelevant documents and of relevant ones: the mean of
        the topic's judged ones and the collection's mean, which counts as much as its
        distribution does.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> qrels = rb.Qrels({"1": {"a": 2, "b": 2, "c": 0}, "2": {"x": 1, "y": 1}})
    >>> grades = GradeDistribution.from_qrels(qrels)
    >>> grades
    GradeDistribution(5 judged, of grades 0 to 2)
    >>> grades.probabilities[1].tolist()  # given relevant: topics 1, 2, and all
    [[0.0, 0.25, 0.75], [0.0, 0.75, 0.25], [0.0, 0.5, 0.5]]
    """

    judged: Qrels
    topics: tuple[str, ...]
    weights: Floats
    slope: float
    slope_sd: float
    heights: Mapping[str, Mapping[str, float]]
    centre: Floats

    @classmethod
    def from_qrels(
        cls,
        qrels: Qrels,
        *,
        relevance_level: int = 1,
        heights: Mapping[str, Mapping[str, float]] | None = None,
        concentration: float = CONCENTRATION,
    ) -> GradeDistribution | None:
        """Learn it from judged grades; None where there is one alone, as none is above 1.

        Parameters
        ----------
        qrels : Qrels
            Negative grades are unjudged.
        relevance_level : int, at least 1
            The lowest grade that counts as relevant.
        heights : mapping of str to mapping of str to float, optional
            How high systems rank documents, by topic and docno: :func:`heights_of` a pool. Without
            them grades go by the topic alone.
        concentration : float, above 0
            How many judgments the collection's distribution is worth on a topic.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> qrels = rb.Qrels({"1": {"a": 3, "b": 1, "c": 3, "d": 1}})
        >>> heights = {"1": {"a": -0.1, "b": -3.2, "c": -0.5, "d": -2.8}}
        >>> round(GradeDistribution.from_qrels(qrels, heights=heights).slope, 2)
        0.97
        """
        topics = qrels.topics
        judged = [list(qrels.judged(topic).items()) for topic in topics]
        topic = np.repeat(np.arange(len(topics)), [len(part) for part in judged])
        grade = np.array([g for part in judged for _, g in part], dtype=int)
        highest = int(grade.max(initial=0))
        if max(highest, relevance_level) <= 1:
            return None
        if highest > _LARGEST:
            of, docno = next(
                (t, d) for t in topics for d, g in qrels.judged(t).items() if g == highest
            )
            check_grade(highest, qrels.path or None, f", of document {docno} of topic {of},")
        heights = heights or {}
        lowest = _lowest(heights)
        height = np.array(
            [
                heights.get(t, {}).get(d, lowest)
                for t, part in zip(topics, judged, strict=True)
                for d, _ in part
            ]
        )
        size = max(highest, relevance_level) + 1
        weights, centre = np.zeros((2, len(topics) + 1, size)), np.zeros((2, len(topics) + 1))
        halves = []
        for relevant, levels in enumerate((range(relevance_level), range(relevance_level, size))):
            rows = np.isin(grade, levels)
            half = _Half(topic[rows], grade[rows], height[rows], len(topics), levels, concentration)
            weights[relevant][:, levels] = half.weights
            centre[relevant] = half.centre
            halves.append(half)
        slope, slope_sd = _slope(halves) if heights else (0.0, 0.0)
        return cls(qrels, topics, weights, slope, slope_sd, heights, centre)

    @property
    def probabilities(self) -> Floats:
        """Of every grade, at the height of the topic's judged documents: means of the Dirichlet.

        Shape (2, topics + 1, grades).
        """
        return np.asarray(self.weights / self.weights.sum(axis=2, keepdims=True))

    def unjudged_zero(self) -> GradeDistribution:
        """Return the same judged grades, with grade 0 for certain where not relevant."""
        weights = self.weights.copy()
        weights[0] = 0.0
        weights[0, :, 0] = 1.0
        return replace(self, weights=weights)

    def on(self, pool: Pool) -> PoolGrades:
        """Line the grades up with a pool's documents and topics."""
        number = {topic: t for t, topic in enumerate(self.topics)}
        row = np.array([number.get(topic, -1) for topic in pool.topics], dtype=int)
        judged = np.full(pool.n_documents, np.nan)
        height = np.full(pool.n_documents, _lowest(self.heights))
        for topic in pool.topics:
            for values, table in ((judged, self.judged), (height, self.heights)):
                of_topic = table.get(topic, {})
                place = pool.locate(topic, list(of_topic))
                values[place[place >= 0]] = np.array([*of_topic.values()], dtype=float)[place >= 0]
        judged[judged < 0.0] = np.nan
        above = height - self.centre[:, row[pool.topic_of]]
        return PoolGrades(judged, self.weights[:, row], above, is_unseen(pool))

    def chances(self, pool: Pool) -> Floats:
        """Probabilities of the grades of documents without judgment, means over their posterior.

        Shape (2, documents, grades): of a nonrelevant document and of a relevant one.
        """
        return self._mean_chances(self.on(pool), pool)

    def _mean_chances(self, grades: PoolGrades, pool: Pool) -> Floats:
        return np.asarray(sum(self._drawn(grades, pool, GRADE_DRAWS)) / GRADE_DRAWS)

    def _drawn(self, grades: PoolGrades, pool: Pool, count: int) -> Iterator[Floats]:
        """Draw the probabilities of grades, by topics' shares of them and the slope, so often."""
        size = (count, *grades.weights.shape)
        every = np.random.default_rng(0).standard_gamma(grades.weights, size)
        for shares, slope in zip(every, self.slopes(count, 0), strict=True):
            yield _chances(grades, pool, shares, slope)

    def slopes(self, count: int, seed: int) -> Floats:
        """Draw the slope from its posterior, taken as normal, so often."""
        return np.random.default_rng(seed).normal(self.slope, self.slope_sd, count)

    def at_least(self, pool: Pool, values: NDArray[np.floating], grade: int) -> Floats:
        """Probabilities that documents have at least a grade.

        Parameters
        ----------
        pool : Pool
        values : ndarray, shape (documents,) or (draws, documents)
            Probabilities of relevance. Where there are several draws, each has a draw of the
            grades' probabilities and of the slope; one has the means of what these give.
        grade : int
            At most the highest judged.
        """
        grades, draws = self.on(pool), np.atleast_2d(values)
        alone = len(draws) == 1
        every = (
            [self._mean_chances(grades, pool)] if alone else self._drawn(grades, pool, len(draws))
        )
        result = np.empty(draws.shape)
        for k, (p, chances) in enumerate(zip(draws, every, strict=True)):
            nonrelevant, relevant = chances[:, :, grade:].sum(axis=2)
            result[k] = p * relevant + (1.0 - p) * nonrelevant
        with_grade = ~np.isnan(grades.judged)
        result[:, with_grade] = grades.judged[with_grade] >= grade
        return np.clip(result, 0.0, 1.0).reshape(values.shape)

    def to_xarray(self) -> xr.Dataset:
        """Return the judged grades, the heights, and the weights of every grade."""
        import xarray as xr

        frame = self.judged.to_frame()
        ranked = [(t, d, height) for t, of in self.heights.items() for d, height in of.items()]
        topics, docnos, heights = zip(*ranked, strict=True) if ranked else ((), (), ())
        return xr.Dataset(
            {
                "grade_judged": ("judged", frame["label"].to_numpy(dtype=np.int64)),
                "grade_judged_topic": ("judged", frame["topic"].to_numpy(dtype=str)),
                "grade_judged_docno": ("judged", frame["docno"].to_numpy(dtype=str)),
                "grade_topic": ("graded_topic", np.array(self.topics, dtype=str)),
                "grade_weight": (("given", "topic_or_all", "grade"), self.weights),
                "grade_slope": self.slope,
                "grade_slope_sd": self.slope_sd,
                "grade_height": ("ranked", np.array(heights, dtype=np.float64)),
                "grade_height_topic": ("ranked", np.array(topics, dtype=str)),
                "grade_height_docno": ("ranked", np.array(docnos, dtype=str)),
                "grade_centre": (("given", "topic_or_all"), self.centre),
            }
        )

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> GradeDistribution | None:
        """Rebuild from :meth:`to_xarray`'s data set; None where it holds no grades.

        One of an older version has other parameters; grades then go by the topic alone.
        """
        if "grade_judged" not in data:
            return None
        judged = Qrels(_table(data, "grade_judged", int))
        if "grade_weight" not in data:
            level = int(np.argmax(data["grade_probability"].values[1, -1] > 0.0))
            return cls.from_qrels(judged, relevance_level=level)
        return cls(
            judged,
            tuple(str(t) for t in data["grade_topic"].values),
            data["grade_weight"].values.astype(np.float64),
            float(data["grade_slope"]),
            float(data["grade_slope_sd"]),
            _table(data, "grade_height", float),
            data["grade_centre"].values.astype(np.float64),
        )

    @property
    def relevance_level(self) -> int:
        """The lowest grade that counts as relevant."""
        return int(np.argmax(self.weights[1, -1] > 0.0))

    @property
    def highest(self) -> int:
        """The highest grade judged."""
        grades = (grade for of_topic in self.judged.values() for grade in of_topic.values())
        return max(grades, default=0)

    def __repr__(self) -> str:
        return f"GradeDistribution({self.judged.n_values} judged, of grades 0 to {self.highest})"


def counted_grades(highest: float, level: int) -> str:
    """Say which judged grades count as relevant; nothing where none is above 1.

    Parameters
    ----------
    highest : float
        The highest judged grade.
    level : int
        The lowest that counts as relevant.

    Examples
    --------
    >>> print(counted_grades(3, 2))
    judged grades go up to 3, and those from 2 on count as relevant (--relevance-level 2)
    >>> counted_grades(1, 1)
    ''
    """
    if highest <= 1:
        return ""
    return (
        f"judged grades go up to {int(highest)}, and those from {level} on count as relevant "
        f"(--relevance-level {level})"
    )


def heights_of(pool: Pool) -> dict[str, dict[str, float]]:
    """How high systems rank documents: the logarithm of the mean over systems of 1 / rank.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings(s, {"1": [s, "z"]}) for s in "ab"])
    >>> round(heights_of(rb.Pool.from_runs(runs, depth=2))["1"]["z"], 3)  # log(1 / 2)
    -0.693
    """
    height = np.log(pool.mean_reciprocal_ranks)
    return {
        topic: dict(zip(pool.docnos[inside], height[inside].tolist(), strict=True))
        for topic, inside in ((t, pool.documents(n)) for n, t in enumerate(pool.topics))
    }


def _chances(grades: PoolGrades, pool: Pool, shares: Floats, slope: float) -> Floats:
    """Probabilities of grades by topics' shares of them, shape (2, topics, grades), to any sum."""
    probabilities = shares / shares.sum(axis=2, keepdims=True)
    chances = tilted(probabilities[:, pool.topic_of], slope * grades.above)
    chances[0, grades.unseen] = np.arange(shares.shape[2]) == 0
    return chances


def _lowest(heights: Mapping[str, Mapping[str, float]]) -> float:
    """Return the height of a document that is in no list."""
    return min((min(of.values()) for of in heights.values() if of), default=0.0)


def _table[T: (int, float)](data: xr.Dataset, name: str, kind: type[T]) -> dict[str, dict[str, T]]:
    """Read values by topic and docno from three variables."""
    topics, docnos = (map(str, data[f"{name}_{of}"].values) for of in ("topic", "docno"))
    return by_topic(zip(topics, docnos, map(kind, data[name].values), strict=True))


class _Half:
    """Judged documents of some grades: the nonrelevant or the relevant ones.

    Each array has one entry a document; `levels` are the grades that it may have.
    """

    def __init__(
        self,
        topic: NDArray[np.int_],
        grade: NDArray[np.int_],
        height: Floats,
        topics: int,
        levels: range,
        concentration: float,
    ) -> None:
        self.topic, self.grade, self.height, self.levels = topic, grade, height, np.array(levels)
        self.concentration = concentration
        self.counts = np.zeros((topics, len(levels)))
        np.add.at(self.counts, (topic, grade - levels.start), 1.0)
        shared = self.counts.sum(axis=0) + 1.0
        self.shared = concentration * shared / shared.sum()
        self.of_topic = np.bincount(topic, height, topics)
        self.mean = height.mean() if len(height) else 0.0

    @property
    def weights(self) -> Floats:
        """Of each grade by topic, shape (topics + 1, levels); the collection's last."""
        return np.vstack([self.counts + self.shared, self.shared])

    @property
    def centre(self) -> Floats:
        """Height of the topic's documents in the mean, shape (topics + 1,)."""
        total = self.of_topic + self.concentration * self.mean
        return np.append(total / (self.counts.sum(axis=1) + self.concentration), self.mean)

    def others(self) -> tuple[Floats, Floats]:
        """Return grade probabilities and heights above the centre by all documents but its own.

        Shapes (documents, levels) and (documents,).
        """
        weights = self.counts[self.topic] - (self.levels == self.grade[:, None]) + self.shared
        total = weights.sum(axis=1)
        centre = self.of_topic[self.topic] - self.height + self.concentration * self.mean
        return weights / total[:, None], self.height - centre / total


def _slope(halves: list[_Half]) -> tuple[float, float]:
    """Find the likeliest slope, each document's grade predicted from those of all others.

    And the standard deviation of its posterior, by the curvature there.
    """
    from scipy.optimize import brentq

    parts = [(half, *half.others()) for half in halves]

    def moments(slope: float) -> tuple[float, float]:
        """Gradient and negative second derivative of the log posterior."""
        pull, precision = -slope / SLOPE_SD**2, 1.0 / SLOPE_SD**2
        for half, probabilities, above in parts:
            chances = tilted(probabilities, slope * above, half.levels)
            mean = chances @ half.levels
            pull += above @ (half.grade - mean)
            precision += above**2 @ (chances @ half.levels**2 - mean**2)
        return float(pull), float(precision)

    # the posterior is log-concave, and no grade is further from its mean than the grades reach
    reach = SLOPE_SD**2 * sum(np.abs(above).sum() * np.ptp(h.levels) for h, _, above in parts)
    slope = brentq(lambda at: moments(at)[0], -reach, reach) if reach > 0.0 else 0.0
    return float(slope), moments(slope)[1] ** -0.5
