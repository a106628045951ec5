"""A measure per system and topic, with the variance that incomplete judgments leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import as_numbers
from rtc_bayes.collection.ids import some
from rtc_bayes.collection.immutable import frozen
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types
from rtc_bayes.store.saved import Saved, check_holds
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from rtc_bayes.collection import Judgments, Qrels, Runs
    from rtc_bayes.measures.names import Measure, MeasureLike


type Floats = NDArray[np.float64]


def cells(name: str, values: ArrayLike, shape: tuple[int, int]) -> Floats:
    """Take a number for every system and topic, as a read-only copy.

    Parameters
    ----------
    name : str
        What the numbers are.
    values : array-like of float
    shape : (int, int)
        How many systems and topics.

    Raises
    ------
    InputError
        No numbers, or an array of another shape.

    Examples
    --------
    >>> cells("AP", [[0.5, 0.25]], (1, 2)).tolist()
    [[0.5, 0.25]]
    """
    numbers = as_numbers(values, f"{name} is", "give numbers, (systems, topics)")
    if numbers.shape != shape:
        raise InputError(
            f"{name} has shape {numbers.shape}, not (systems, topics) {shape}",
            remedy="give a row for every system and a column for every topic",
        )
    return frozen(numbers)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMatrix(Saved):
    """Mean and variance of a measure for every system and topic.

    Attributes
    ----------
    mean : ndarray, shape (systems, topics)
        The expected score, or the score itself; NaN where a system was not evaluated on a topic.
    variance : ndarray, shape (systems, topics)
        At least 0; 0 throughout for scores under complete judgments, NaN where the mean is.
    systems : tuple of str
    topics : tuple of str
    measure : str
        As ir_measures names it; empty where a file does not say.

    Raises
    ------
    InputError
        Arrays of other shapes, a name twice, a score that is infinite, or a variance below 0 or
        missing beside a score.

    Examples
    --------
    >>> scores = ScoreMatrix([[0.25, 0.5]], [[0.0, 0.0]], ("bm25",), ("1", "2"), "AP")
    >>> scores.to_xarray()["mean"].sel(system="bm25", topic="2").item()
    0.5
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str = ""

    def __post_init__(self) -> None:
        shape = (len(self.systems), len(self.topics))
        for name in ("mean", "variance"):
            values = cells(name, getattr(self, name), shape)
            if np.isinf(values).any():
                raise InputError(f"a {name} is infinite", remedy="give NaN for what is unknown")
            object.__setattr__(self, name, values)
        for names in (self.systems, self.topics):
            if len(set(names)) < len(names):
                raise InputError("a system or topic is named twice", remedy="give each once")
        if (self.variance < 0.0).any():
            raise InputError("a variance is below 0", remedy="give variances of at least 0")
        if lone := int((np.isnan(self.mean) != np.isnan(self.variance)).sum()):
            raise InputError(
                f"{lone} cells have a mean or a variance alone",
                remedy="give NaN for both where a system was not evaluated",
            )

    @property
    def evaluated(self) -> NDArray[np.bool_]:
        """Whether a system was evaluated on a topic, shape (systems, topics)."""
        return ~np.isnan(self.mean)

    @classmethod
    @explains_types
    def from_qrels(
        cls,
        runs: Runs,
        qrels: Qrels,
        measure: MeasureLike = "AP",
        *,
        relevance_level: int | None = None,
        topics: Literal["judged", "all"] = "judged",
    ) -> ScoreMatrix:
        """Take the true scores under complete judgments, with no variance.

        Parameters
        ----------
        runs : Runs
        qrels : Qrels
        measure : str or measure of ir_measures
        relevance_level, topics
            As of :func:`rtc_bayes.evaluate`, which computes the scores.

        Raises
        ------
        InputError
            Several measures, and as of :func:`rtc_bayes.evaluate`.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> data = rb.simulate(n_topics=3, n_systems=4)
        >>> scores = rb.ScoreMatrix.from_qrels(data.runs, data.qrels, "P@10")
        >>> scores
        ScoreMatrix(P@10, 4 systems, 3 topics)
        >>> bool(scores.variance.any())
        False
        """
        from rtc_bayes.measures.truth import evaluate

        table = evaluate(
            runs,
            qrels,
            measure,
            relevance_level=relevance_level,
            topics=topics,
            judged_depth=None,
        )
        if len(table.measures) > 1:
            raise InputError(
                f"a matrix holds scores by one measure, not {', '.join(table.measures)}",
                remedy="make one of each",
            )
        mean = table[table.measures[0]]
        return cls(mean, np.zeros(mean.shape), table.systems, table.topics, *table.measures)

    @classmethod
    @explains_types
    def from_judgments(cls, judgments: Judgments, measure: MeasureLike = "AP") -> ScoreMatrix:
        """Take the scores of a pool's lists if what is not judged is not relevant.

        Parameters
        ----------
        judgments : Judgments
            Their pool holds the lists, as deep as its ``score_depth``.
        measure : str or measure of ir_measures
            One whose moments are known (:func:`rtc_bayes.measures.has_moments`). Where it names a
            grade (``P(rel=2)@10``), documents of that grade or a higher one are relevant.

        Raises
        ------
        InputError
            Another measure, or one with gains by grade of judgments with a grade or a level
            above 1.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> data = rb.simulate(n_topics=3, n_systems=4)
        >>> pool = rb.Pool.from_runs(data.runs, depth=20)
        >>> rb.ScoreMatrix.from_judgments(rb.Judgments.from_qrels(pool, data.qrels))
        ScoreMatrix(AP, 4 systems, 3 topics)
        """
        from rtc_bayes.measures.names import parse_measure
        from rtc_bayes.measures.pool_moments import moments

        asked = parse_measure(measure)
        if asked.graded and max(judgments.highest_grade, judgments.relevance_level) > 1:
            raise InputError(
                f"{asked.name} has gains by grade, and this scores relevance alone",
                remedy="take ScoreMatrix.from_qrels(runs, qrels, measure)",
            )
        binary, labels = as_labels(judgments, asked)
        scores = moments(judgments.pool, labels, measure=binary, pairs="none")
        mean = scores.expected[0]
        return cls(mean, np.zeros(mean.shape), scores.systems, scores.topics, asked.name)

    @classmethod
    def from_csv(cls, path: str | Path, measure: str | None = None) -> ScoreMatrix:
        r"""Read scores from a CSV file with a header.

        Parameters
        ----------
        path : str or Path
            One of these, a field being empty, NA or NaN where a system was not evaluated:

            - a row for every score, with columns system, topic, score and, if there are,
              variance (else 0) and measure: what :meth:`to_csv` and ``rtc-bayes evaluate
              --per-topic`` write (there topic and value);
            - a row for every system, the first column headed ``system``, the others by topics;
            - a row for every topic, the first column headed ``topic``, the others by systems;
            - a row for every topic without such a column: topics are then called 1, 2, ...
        measure : str, optional
            The one to read where the file names several; its name where the file has none.

        Raises
        ------
        InputError
            Naming the file and the line: not a number, a score twice, fields that are missing.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "scores.csv")
        ...     _ = path.write_text("topic,bm25,lm\n401,0.25,0.5\n402,,0.125\n")
        ...     scores = ScoreMatrix.from_csv(path, "AP")
        >>> scores.systems, scores.topics
        (('bm25', 'lm'), ('401', '402'))
        >>> scores.mean.tolist()
        [[0.25, nan], [0.5, 0.125]]
        """
        from rtc_bayes.measures.score_files import read_scores

        return cls(*read_scores(path, measure))

    def to_csv(self, path: str | Path) -> None:
        """Write a row for every system and topic: measure, system, topic, score, variance.

        Names are written as they are: see :meth:`rtc_bayes.Comparison.to_csv`.

        Examples
        --------
        >>> scores = ScoreMatrix([[0.25, np.nan]], [[0.0, np.nan]], ("bm25",), ("1", "2"), "AP")
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     scores.to_csv(Path(folder, "scores.csv"))
        ...     print(Path(folder, "scores.csv").read_text().strip())
        measure,system,topic,score,variance
        AP,bm25,1,0.25,0.0
        AP,bm25,2,,
        """
        from rtc_bayes.store import provenance, write_csv

        write_csv(self.score_frame(), path, provenance())

    def score_frame(self) -> pd.DataFrame:
        """Return what :meth:`to_csv` writes, which names the measure and calls the mean a score."""
        frame = self.to_frame().rename(columns={"mean": "score"})
        frame.insert(0, "measure", self.measure)
        return frame

    def to_xarray(self) -> xr.Dataset:
        """Return mean and variance with dims (system, topic)."""
        import xarray as xr

        dims = ("system", "topic")
        return xr.Dataset(
            {"mean": (dims, self.mean), "variance": (dims, self.variance)},
            coords={
                "system": np.array(self.systems, dtype=str),
                "topic": np.array(self.topics, dtype=str),
            },
            attrs={"measure": self.measure},
        )

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> ScoreMatrix:
        """Rebuild the scores from :meth:`to_xarray`'s data set."""
        check_holds(data, ("mean", "variance", "system", "topic"), "scores")
        return cls(
            mean=np.array(data["mean"].values, dtype=np.float64),
            variance=np.array(data["variance"].values, dtype=np.float64),
            systems=tuple(data["system"].to_numpy().astype(str).tolist()),
            topics=tuple(data["topic"].to_numpy().astype(str).tolist()),
            measure=str(data.attrs["measure"]),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and topic: system, topic, mean, variance."""
        import pandas as pd

        return pd.DataFrame(
            {
                "system": np.repeat(np.array(self.systems, dtype=object), len(self.topics)),
                "topic": np.tile(np.array(self.topics, dtype=object), len(self.systems)),
                "mean": self.mean.ravel(),
                "variance": self.variance.ravel(),
            }
        )

    def __repr__(self) -> str:
        return (
            f"ScoreMatrix({self.measure}, {counted(len(self.systems), 'system')}, "
            f"{counted(len(self.topics), 'topic')})"
        )


def check_complete(scores: ScoreMatrix, systems: Sequence[str], remedy: str) -> None:
    """Refuse scores that some systems lack, and name the first topic and its systems.

    Parameters
    ----------
    scores : ScoreMatrix
    systems : sequence of str
        Those that must have a score on every topic.
    remedy : str
        What to do about it.

    Raises
    ------
    InputError

    Examples
    --------
    >>> scores = ScoreMatrix([[0.25, np.nan]], [[0.0, np.nan]], ("bm25",), ("1", "2"), "AP")
    >>> check_complete(scores, ("bm25",), "give the score")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: without a score on topic 2: bm25; give the score
    """
    asked = set(systems)
    lacking = ~scores.evaluated & np.array([name in asked for name in scores.systems])[:, None]
    if lacking.any():
        topic = int(lacking.any(axis=0).argmax())
        names = [scores.systems[place] for place in np.flatnonzero(lacking[:, topic])]
        raise InputError(
            f"without a score on topic {scores.topics[topic]}: {some(names)}", remedy=remedy
        )


def as_labels(judgments: Judgments, measure: Measure) -> tuple[Measure, Floats]:
    """Return the labels that a measure reads, 0 for what is not judged, and the measure of these.

    Parameters
    ----------
    judgments : Judgments
    measure : Measure
        Where it names a grade, documents of that grade or a higher one are relevant.

    Returns
    -------
    measure : Measure
        Without the grade.
    labels : ndarray of float, shape (documents,)

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.measures.names import parse_measure
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})]))
    >>> judgments = rb.Judgments.from_qrels(pool, rb.Qrels({"1": {"a": 3, "b": 1}}))
    >>> measure, labels = as_labels(judgments, parse_measure("P(rel=2)@3"))
    >>> measure.rel, labels.tolist()
    (0, [1.0, 0.0, 0.0])
    """
    labels = judgments.labels
    if measure.rel:
        labels = np.where(np.isnan(judgments.grades), labels, judgments.grades >= measure.rel)
    return replace(measure, rel=0), np.nan_to_num(labels)


_ROUNDING = 1e-13


def less_mean(scores: Floats, axis: int = 1, mean: Floats | None = None) -> Floats:
    """Take the mean along an axis away; what is left by rounding becomes 0.

    Of scores themselves, or of differences of means, see :func:`without_rounding`.

    Parameters
    ----------
    scores : ndarray of float, shape (systems, topics)
    axis : {0, 1}
        1: each system's mean over topics. 0: each topic's mean over systems.
    mean : ndarray of float, optional
        Another than the plain mean, as a weighted one.

    Returns
    -------
    ndarray of float, shape (systems, topics)
        Along the axis 0 throughout where all scores are the same.

    Examples
    --------
    >>> less_mean(np.array([[0.3, 0.3, 0.3], [0.0, 0.5, 1.0]])).tolist()
    [[0.0, 0.0, 0.0], [-0.5, 0.0, 0.5]]
    """
    apart = scores - (scores.mean(axis=axis, keepdims=True) if mean is None else mean)
    largest = np.abs(scores).max(axis=axis, keepdims=True)
    return np.where(np.abs(apart) <= _ROUNDING * largest, 0.0, apart)


def without_rounding(values: Floats) -> Floats:
    """Make scores equal, or differences 0, that differ by rounding alone.

    Means of the same numbers in another order may differ in the last place, and so have an order.

    Parameters
    ----------
    values : ndarray of float
        Of one measure.

    Returns
    -------
    ndarray of float
        To twelve decimals, or to twelve places of the largest where that is above 1.

    Examples
    --------
    >>> one, other = without_rounding(np.array([(0.1 + 0.2 + 0.3) / 3, 0.2]))
    >>> bool(one == other)
    True
    """
    finite = np.isfinite(values)
    largest = float(np.abs(values[finite]).max(initial=1.0))
    return np.where(finite, np.round(np.where(finite, values, 0.0) / largest, 12) * largest, values)
