"""True measures, from judgments: ir-measures computes them, over an order that is ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import check_word, whole_number
from rtc_bayes.collection.ids import shared_topics, some
from rtc_bayes.collection.qrels import level_of
from rtc_bayes.collection.unretrieved import NAMES, topics_of_other_names
from rtc_bayes.errors import InputError, warn
from rtc_bayes.measures.names import (
    ERR_HIGHEST,
    REMEDY,
    MeasureLike,
    ir_measure,
    name_among,
    parse_measure,
)
from rtc_bayes.measures.scores import cells
from rtc_bayes.signatures import explains_types
from rtc_bayes.store.shown import Shown, counted

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection.qrels import Qrels
    from rtc_bayes.collection.runs import Run, Runs

Grades = dict[str, dict[str, int]]


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(Shown):
    """True values of measures, per system and topic.

    Attributes
    ----------
    systems : tuple of str
        In the order of the runs.
    topics : tuple of str
        In natural order; every mean is over all of them.
    values : dict of str to ndarray, shape (systems, topics)
        For each measure, as it was named, its value.
    relevance_level : int
        Grades from here on are relevant, where a measure's name does not say it.
    judged : dict of str to ndarray, shape (systems, topics)
        By its name, as "Judged@100": which share of the first documents of a list, or of all where
        it is shorter, has a judgment; empty where that was not asked for.

    Raises
    ------
    InputError
        Arrays of other shapes.

    Examples
    --------
    >>> table = ScoreTable(("bm25", "lm"), ("1", "2"), {"AP": np.array([[0.5, 0.25], [1.0, 0.0]])})
    >>> table.mean["AP"].tolist()
    [0.375, 0.5]
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    values: dict[str, NDArray[np.float64]]
    relevance_level: int = 1
    judged: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (len(self.systems), len(self.topics))
        for name in ("values", "judged"):
            by_measure = getattr(self, name).items()
            table = {measure: cells(measure, values, shape) for measure, values in by_measure}
            object.__setattr__(self, name, table)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures, in the order asked for."""
        return tuple(self.values)

    @property
    def mean(self) -> dict[str, NDArray[np.float64]]:
        """For each measure the mean over topics, shape (systems,)."""
        return {name: scores.mean(axis=1) for name, scores in self.values.items()}

    def __getitem__(self, measure: MeasureLike) -> NDArray[np.float64]:
        """Values of one measure, however it is written, shape (systems, topics)."""
        name = name_among(self.values, measure, self.relevance_level)
        if name is None:
            raise InputError(
                f"{str(measure)!r} was not evaluated", remedy="evaluated: " + ", ".join(self.values)
            )
        return self.values[name]

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with columns measure, system, topic and value."""
        import pandas as pd

        index = pd.MultiIndex.from_product(
            [self.measures, self.systems, self.topics], names=["measure", "system", "topic"]
        )
        flat = [scores.ravel() for scores in self.values.values()]
        return pd.Series(np.concatenate(flat), index=index, name="value").reset_index()

    def mean_frame(self) -> pd.DataFrame:
        """Return a row per system: its name, its mean over topics by each measure, and `judged`."""
        import pandas as pd

        shares = {name: share.mean(axis=1) for name, share in self.judged.items()}
        return pd.DataFrame({"system": self.systems, **self.mean, **shares})

    def to_dict(self, *, per_topic: bool = False) -> dict[str, dict[str, Any]]:
        """Return {measure: {system: mean}}, or {measure: {system: {topic: value}}}."""
        if not per_topic:
            return {
                name: dict(zip(self.systems, means.tolist(), strict=True))
                for name, means in self.mean.items()
            }
        return {
            name: {
                system: dict(zip(self.topics, row, strict=True))
                for system, row in zip(self.systems, scores.tolist(), strict=True)
            }
            for name, scores in self.values.items()
        }

    def __repr__(self) -> str:
        systems = counted(len(self.systems), "system")
        lines = [f"ScoreTable({systems}, {counted(len(self.topics), 'topic')})"]
        for name, means in self.mean.items():
            best = self.systems[int(np.argmax(means))]
            lines.append(
                f"  {name}: {means.min():.4f} to {means.max():.4f} ({best}), "
                f"mean {means.mean():.4f}"
            )
        return "\n".join(lines)


@explains_types
def evaluate(
    runs: Runs,
    qrels: Qrels,
    measures: MeasureLike | Iterable[MeasureLike] = "AP",
    *,
    relevance_level: int | None = None,
    topics: Literal["judged", "all"] = "judged",
    judged_depth: int | None = 100,
) -> ScoreTable:
    """Evaluate runs by judgments, as trec_eval does: unjudged documents are not relevant.

    Parameters
    ----------
    runs : Runs
    qrels : Qrels
        A negative grade means unjudged. To infAP it means pooled and not drawn: of a random sample
        mark those documents so, for what the qrels lack counts as outside the pool, and infAP is
        then too low.
    measures : str, measure of ir_measures, or a sequence of them
        Names as ir_measures has them, and DCG, DCG@k, whose gains are grades. RBP without `rel`
        is binary here, at `relevance_level`.
    relevance_level : int, optional
        Grades from here on are relevant, for a measure whose name does not give `rel`. By default
        the level that the qrels name, or 1.
    topics : {"judged", "all"}
        Average over the topics of the runs with at least one judgment, or over all topics of the
        runs (a topic without judgments scores 0).
    judged_depth : int, at least 1, or None
        How deep lists are looked at for the share of their documents that is judged:
        `ScoreTable.judged`, and a column of its frame of means. None: not at all.

    Returns
    -------
    ScoreTable
        A run without a topic scores 0 there.

    Raises
    ------
    InputError
        An unknown measure, a ``rel`` above every grade, or no topic that runs and judgments share.

    Warns
    -----
    CollectionWarning
        Once, naming the runs that lack a topic; judged topics that no run has; infAP of qrels
        without a negative grade; no judged document in any list, on all topics or on those that
        hold most judgments.

    Examples
    --------
    >>> from rtc_bayes import Qrels, Run, Runs
    >>> runs = Runs([Run.from_rankings("bm25", {"1": ["d1", "d2", "d3"]})])
    >>> table = evaluate(runs, Qrels({"1": {"d1": 1, "d3": 1}}), ["AP", "P@2"])
    >>> table.to_dict()
    {'AP': {'bm25': 0.8333333333333333}, 'P@2': {'bm25': 0.5}}
    >>> table.judged["Judged@100"].round(2).tolist()
    [[0.67]]
    """
    level = level_of(qrels, relevance_level)
    check_word("topics", topics, ("judged", "all"))
    wanted = _wanted(measures)
    names = dict.fromkeys(map(str, wanted))
    shares: list[str] = []
    if judged_depth is not None:
        shares.append(f"Judged@{whole_number('judged_depth', judged_depth, least=1)}")
    parsed = {str(measure): _parse(measure, level) for measure in [*wanted, *shares]}

    judged = {topic: grades for topic in qrels if (grades := qrels.judged(topic))}
    if not judged:
        raise InputError(
            "no document is judged: every grade is negative" if qrels.n_values else "no judgment",
            path=qrels.path or None,
            remedy="give qrels with grades of at least 0",
        )
    _check_rel(parsed, judged)
    shared = shared_topics(runs.topics, judged, qrels.path, say=topics == "judged")
    columns = shared if topics == "judged" else runs.topics
    judged = {topic: judged[topic] for topic in columns if topic in judged}
    # a provider of ir_measures takes no other names of topics than numbers
    numbers = {topic: str(n) for n, topic in enumerate(judged, 1)}
    evaluators = _evaluators(parsed, judged, qrels, numbers)
    _warn_of_measures(parsed, judged, qrels, runs, columns)
    values = _values(runs, columns, parsed, evaluators, judged, numbers)
    asked = {name: values[name] for name in names}
    judged_to = {name: values[name] for name in shares}
    return ScoreTable(runs.systems, columns, asked, level, judged_to)


def _wanted(measures: MeasureLike | Iterable[MeasureLike]) -> list[MeasureLike]:
    """Return the measures asked for, of which there is at least one."""
    # not a list to which they are added: NumPy and pandas add to each of its elements
    if isinstance(measures, Iterable) and not isinstance(measures, str):
        wanted = list(measures)
    else:
        wanted = [measures]
    if not wanted:
        raise InputError("no measure was given", remedy=REMEDY)
    return wanted


def _warn_of_measures(
    parsed: Mapping[str, Any],
    judged: Grades,
    qrels: Qrels,
    runs: Runs,
    columns: Sequence[str],
) -> None:
    """Warn of what makes scores 0, or less than they might be: topics, names, and grades."""
    inferred = any(measure.NAME == "infAP" for measure in parsed.values())
    if inferred and not any(grade < 0 for topic in judged for grade in qrels[topic].values()):
        warn(
            "infAP is AP here, as no grade is negative: of a random sample, mark what was pooled "
            "and not drawn with grade -1",
        )
    _warn_of_lacking(runs, columns)
    grades = {grade for of_topic in judged.values() for grade in of_topic.values()}
    highest = max(grades, default=0)
    if highest > ERR_HIGHEST and any(measure.NAME == "ERR" for measure in parsed.values()):
        warn(
            f"ERR has grades up to {ERR_HIGHEST}, and these go to {highest}: every reader "
            "stops at a document of a grade above",
        )
    if not any(grades):
        warn("no judged document is relevant: every grade is 0")
    _warn_of_other_names(runs, judged)


def _warn_of_other_names(runs: Runs, judged: Grades) -> None:
    """Warn where runs and judgments seem to name documents differently, on all topics or some."""
    in_some_list = np.array(
        [
            any(not grades.keys().isdisjoint(runs[name].ranking(topic)) for name in runs.systems)
            for topic, grades in judged.items()
        ],
        dtype=np.int64,
    )
    if not in_some_list.any():
        warn(f"no document of the runs is judged: {NAMES}")
        return
    numbers = np.array([len(grades) for grades in judged.values()])
    if topics := topics_of_other_names(numbers, in_some_list):
        first = [*judged][topics[0]]
        warn(
            f"on {len(topics)} of {counted(len(judged), 'judged topic')} no document of the runs "
            f"is judged, as on topic {first}: {NAMES}"
        )


def _values(
    runs: Runs,
    columns: Sequence[str],
    parsed: Mapping[str, Any],
    evaluators: Sequence[tuple[Any, Mapping[Any, list[str]]]],
    judged: Grades,
    numbers: Mapping[str, str],
) -> dict[str, NDArray[np.float64]]:
    """Score every run on every topic: by measure, shape (systems, topics)."""
    column = {topic: t for t, topic in enumerate(columns)}
    column_of = {number: column[topic] for topic, number in numbers.items()}
    values = {name: np.zeros((len(runs), len(columns))) for name in parsed}
    for s, run in enumerate(runs.values()):
        ranked = _descending(run, numbers)
        for evaluator, named in evaluators:
            for metric in evaluator.iter_calc(ranked):
                for name in named[metric.measure]:
                    values[name][s, column_of[metric.query_id]] = metric.value
        for name, measure in parsed.items():
            if own := _own(measure):
                for topic, grades in judged.items():
                    values[name][s, column[topic]] = own(run.ranking(topic), grades, measure)
    return values


@dataclass(frozen=True)
class _DCG:
    """DCG, which ir-measures lacks, as it names its own."""

    params: Mapping[str, int]
    NAME: ClassVar[str] = "DCG"


def _parse(wanted: MeasureLike, relevance_level: int) -> Any:
    """Parse a measure, and give it the relevance level unless it says its own."""
    if str(wanted).strip().startswith("DCG"):
        cutoff = parse_measure(wanted).cutoff
        return _DCG({} if cutoff is None else {"cutoff": cutoff})
    measure = ir_measure(wanted)
    if measure.params.get("cutoff", 1) < 1:  # pytrec_eval would end the process
        raise InputError(f"measure {str(wanted)!r} has a cutoff below 1", remedy=REMEDY)
    if measure.NAME == "RBP":
        parse_measure(measure)  # which refuses a persistence that is none
    # NumRet with a level counts relevant documents alone, as NumRelRet does
    by_level = "rel" in measure.SUPPORTED_PARAMS and str(wanted) != "NumRet"
    # NumRelRet is NumRet(rel=1) to ir_measures
    if by_level and ("rel" not in measure.params or wanted == "NumRelRet"):
        measure = measure(rel=relevance_level)
    return measure


def _check_rel(parsed: Mapping[str, Any], judged: Grades) -> None:
    """Refuse measures of grades that no document has, which would be 0, or that are none."""
    highest = max(1, *(grade for of_topic in judged.values() for grade in of_topic.values()))
    for name, measure in parsed.items():
        if measure.params.get("rel", 1) < 1:
            raise InputError(f"{name} has a rel below 1", remedy="give a grade from 1 on")
        if "rel=" in name and measure.params.get("rel", 0) > highest:
            raise InputError(
                f"{name} asks for grades above the highest judged, {highest}",
                remedy=f"give rel from 1 to {highest}" if highest > 1 else "leave rel out",
            )


def _evaluators(
    parsed: Mapping[str, Any], judged: Grades, qrels: Qrels, numbers: Mapping[str, str]
) -> list[tuple[Any, dict[Any, list[str]]]]:
    """Make ir_measures evaluators, each with the names of the measures that it computes.

    infAP alone is told which documents were pooled and not judged (a negative grade); some
    other measures would take those for judged. RBP and DCG have no provider among our dependencies.
    """
    import ir_measures

    groups: tuple[dict[Any, list[str]], dict[Any, list[str]]] = ({}, {})
    for name, measure in parsed.items():
        if _own(measure) is None:
            groups[measure.NAME == "infAP"].setdefault(measure, []).append(name)
    pooled = {topic: dict(qrels[topic]) for topic in judged}
    evaluators = []
    for named, grades in zip(groups, (judged, pooled), strict=True):
        if named:
            numbered = {numbers[topic]: of_topic for topic, of_topic in grades.items()}
            try:
                evaluators.append((ir_measures.evaluator(list(named), numbered), named))
            except ValueError as error:
                text = " ".join(str(error).split())
                raise InputError(
                    f"ir_measures cannot compute this: {text}", remedy=REMEDY
                ) from None
    return evaluators


def _descending(run: Run, numbers: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Score a run's documents n, n-1, ..., 1: with no ties, every provider keeps our order."""
    return {
        number: dict(
            zip(ranking.tolist(), np.arange(len(ranking), 0.0, -1.0).tolist(), strict=True)
        )
        for topic, number in numbers.items()
        if len(ranking := run.ranking(topic))
    }


def _ranked(
    ranking: NDArray[np.object_], grades: Mapping[str, int], measure: Any
) -> NDArray[np.int64]:
    """Return the grades of a list down to the measure's cutoff, 0 without a judgment."""
    listed = [grades.get(docno, 0) for docno in ranking[: measure.params.get("cutoff")]]
    return np.array(listed, dtype=np.int64)


def _discounted(gains: NDArray[Any]) -> float:
    """Sum gains over the logarithms of their ranks."""
    return float(np.sum(gains / np.log2(np.arange(2, len(gains) + 2))))


def _rbp(ranking: NDArray[np.object_], grades: Mapping[str, int], measure: Any) -> float:
    """Rank-biased precision (Moffat and Zobel 2008): (1 - p) sum over relevant ranks p^(k-1)."""
    p = measure["p"]
    ranks = np.flatnonzero(_ranked(ranking, grades, measure) >= measure["rel"])
    return float((1 - p) * np.sum(p ** ranks.astype(np.float64)))


def _dcg(ranking: NDArray[np.object_], grades: Mapping[str, int], measure: Any) -> float:
    """Discounted cumulated gain: the sum of grade / log2(rank + 1)."""
    return _discounted(_ranked(ranking, grades, measure))


def _err(ranking: NDArray[np.object_], grades: Mapping[str, int], measure: Any) -> float:
    """Compute expected reciprocal rank (Chapelle et al. 2009), with 2^4 as the largest gain."""
    stops = np.minimum((2.0 ** _ranked(ranking, grades, measure) - 1.0) / 2.0**ERR_HIGHEST, 1.0)
    on = np.cumprod(np.append(1.0, 1.0 - stops))[:-1]
    return float(np.sum(on * stops / np.arange(1, len(stops) + 1)))


def _exponential_ndcg(
    ranking: NDArray[np.object_], grades: Mapping[str, int], measure: Any
) -> float:
    """Compute nDCG whose gain is 2^grade - 1 (Burges et al. 2005)."""
    best = np.array(sorted(grades.values(), reverse=True)[: measure.params.get("cutoff")])
    ideal = _discounted(2.0**best - 1.0)
    of_list = _discounted(2.0 ** _ranked(ranking, grades, measure) - 1.0)
    return of_list / ideal if ideal else 0.0


def _accuracy(ranking: NDArray[np.object_], grades: Mapping[str, int], measure: Any) -> float:
    """Compute the share of pairs of a relevant and another listed document that are in order.

    ir_measures divides by 0 where all are relevant: none is out of order.
    """
    relevant = _ranked(ranking, grades, measure) >= measure["rel"]
    above = np.cumsum(~relevant)[relevant]
    pairs = len(above) * (len(relevant) - len(above))
    if not pairs:
        return float(len(above) > 0)
    return float(1.0 - above.sum() / pairs)


_OWN = {"RBP": _rbp, "DCG": _dcg, "ERR": _err, "Accuracy": _accuracy}


def _own(measure: Any) -> Callable[[NDArray[np.object_], Mapping[str, int], Any], float] | None:
    """Return what computes a measure here, as providers lack it, fail or round to 5 digits."""
    others = set(measure.params) - {"cutoff", "dcg"}
    if measure.NAME == "nDCG" and measure.params.get("dcg") == "exp-log2" and not others:
        return _exponential_ndcg
    return _OWN.get(measure.NAME)


def _warn_of_lacking(runs: Runs, topics: Sequence[str]) -> None:
    lacking = {
        system: [topic for topic in topics if not len(run.ranking(topic))]
        for system, run in runs.items()
    }
    texts = [f"{system} ({some(absent)})" for system, absent in lacking.items() if absent]
    if texts:
        warn(
            f"runs that lack topics score 0 there: {'; '.join(texts)}",
        )
