"""The tables that commands print: scores, systems and pairs compared, documents to judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from rtc_bayes.report.pairs import PAIR_FORMATS, pairs_table
from rtc_bayes.report.tables import Format
from rtc_bayes.report.terminal import Table

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments
    from rtc_bayes.confidence import Comparison
    from rtc_bayes.judging import JudgingPlan
    from rtc_bayes.measures.truth import ScoreTable

# More pairs than those of ten systems are too many to read.
_PAIRS_SHOWN = 45
_TOPICS_SHOWN = 10

_SYSTEM_FORMATS: dict[str, Format] = {
    "expected": ".4f",
    "sd": ".4f",
    "p_best": ".3f",
    "rank_low": "g",
    "rank_median": "g",
    "rank_high": "g",
}
_TOPIC_FORMATS: dict[str, Format] = {"expected_difference": "+.4f", "sd": ".4f", "share": ".1%"}


def scores_table(scores: ScoreTable, *, topics: str, coverage: str, per_topic: bool) -> Table:
    """Show true values: of each topic, or means with the best by the first measure on top.

    Parameters
    ----------
    scores : ScoreTable
    topics : str
        Which topics means are over, in a word.
    coverage : str
        The measure that says how much is judged.
    per_topic : bool
    """
    frame = scores.to_frame() if per_topic else scores.mean_frame()
    if not per_topic:
        frame = frame.sort_values(scores.measures[0], ascending=False, kind="stable")
    title = f"{len(scores.topics)} topics ({topics}), relevance level {scores.relevance_level}"
    formats = dict.fromkeys([*scores.measures, "value"], ".4f") | {coverage: ".1%"}
    return Table(title, frame, formats)


def judged_table(judgments: Judgments, *, seed: int) -> Table:
    """Say how much of each system's lists is judged, to the pool's depth."""
    column = _judged_column(judgments)
    frame = pd.DataFrame({"system": judgments.pool.systems, column: judgments.coverage})
    title = (
        f"{judgments.pool.n_topics} topics, {judgments.n_judged} judged, "
        f"{judgments.relevant.sum():g} relevant, seed {seed}"
    )
    return Table(title, frame, {column: ".1%"})


def comparison_tables(
    comparison: Comparison,
    judgments: Judgments | None,
    *,
    baseline: str | None = None,
    seed: int,
) -> list[Table]:
    """Rank the systems, say of their pairs who is better, and what else was asked of the pairs.

    Of more pairs than can be read, those of neighbours in the ranking; with a baseline, all. One
    system has no pair.
    """
    tables = [_systems_table(comparison, judgments, seed)]
    pairs = pairs_table(comparison)
    title = "who is better"
    if baseline is not None:
        title += f", pairs with the baseline {baseline}"
    elif len(pairs) > _PAIRS_SHOWN:
        every, pairs = len(pairs), _neighbours(pairs, comparison)
        title += (
            f": the {len(pairs)} pairs of neighbours in the ranking, of {every} (all: --format csv)"
        )
    if "rope" in comparison.meta:
        title += f"; too small to matter: nearer to 0 than {comparison.meta['rope']:g}"
    return [*tables, Table(title, pairs, PAIR_FORMATS)] if len(pairs) else tables


def topic_tables(differences: pd.DataFrame) -> list[Table]:
    """Show, for each pair, the topics that are most in doubt.

    Parameters
    ----------
    differences : DataFrame
        As of :meth:`rtc_bayes.Comparison.per_topic`.
    """
    tables = []
    for (a, b), topics in differences.groupby(["a", "b"], sort=False):
        shown = topics.sort_values("share", ascending=False, kind="stable").head(_TOPICS_SHOWN)
        title = f"{a} less {b}: the {len(shown)} topics most in doubt, of {len(topics)}"
        if len(shown) < len(topics):
            title += " (all: --format csv)"
        tables.append(Table(title, shown.drop(columns=["a", "b"]), _TOPIC_FORMATS))
    return tables


def plan_table(made: JudgingPlan) -> Table:
    """Show what a budget buys with each number of judgments a topic."""
    about = "topics like these" if made.population else f"the {made.topics_of_runs} topics"
    title = (
        f"{made.budget:g} more than the pilot, {made.algorithm}, {made.measure} on {about}, "
        f"difference {made.difference:g} at {made.level:g}"
    )
    formats: dict[str, Format] = dict.fromkeys(["sd", "separates"], ".4f")
    formats |= dict.fromkeys(["confidence", "confident", "right"], ".3f")
    formats |= dict.fromkeys(["cost", "cost_needed"], "g")
    return Table(title, made.to_frame(), formats)


def stacked(compared: Sequence[Comparison], frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put the frames of comparisons under one another, with the measure if there are several."""
    if len(frames) == 1:
        return frames[0]
    named = dict(zip((each.measure for each in compared), frames, strict=True))
    return pd.concat(named, names=["measure"]).reset_index("measure")


def systems_table(
    comparison: Comparison, judgments: Judgments | None
) -> tuple[pd.DataFrame, dict[str, Format]]:
    """Return the systems, the best first, and how their columns are written."""
    systems, formats = comparison.systems_frame(), _SYSTEM_FORMATS
    if judgments is not None:
        column = _judged_column(judgments)
        coverage = dict(zip(judgments.pool.systems, judgments.coverage, strict=True))
        systems[column] = systems["system"].map(coverage)
        formats = {**formats, column: ".1%"}
    return systems, formats


def _systems_table(comparison: Comparison, judgments: Judgments | None, seed: int) -> Table:
    """Rank the systems."""
    source = f", {comparison.model}:{comparison.method}" if comparison.model else ""
    grades = comparison.meta.get("grades")
    title = (
        f"{comparison.meta['about']}{f'; {grades}' if grades else ''}; "
        f"{len(comparison.topics)} topics, {comparison.moments_text}{source}, seed {seed}"
    )
    return Table(title, *systems_table(comparison, judgments))


def _neighbours(pairs: pd.DataFrame, comparison: Comparison) -> pd.DataFrame:
    """Keep the pairs of neighbours in the ranking."""
    place = {system: rank for rank, system in enumerate(comparison.ranking())}
    return pairs[(pairs["better"].map(place) - pairs["worse"].map(place)).abs() == 1]


def _judged_column(judgments: Judgments) -> str:
    return f"judged@{judgments.pool.depth}"
