"""The tables that commands print: scores, systems and pairs compared, documents to judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rtc_bayes.report.tables import Format
from rtc_bayes.report.terminal import Table

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments
    from rtc_bayes.confidence import Comparison
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
_PAIR_FORMATS: dict[str, Format] = {
    "expected_difference": "+.4f",
    "sd": ".4f",
    "p_less": ".3f",
    "p_equal": ".3f",
    "p_greater": ".3f",
    "confidence": ".3f",
}
_PAIR_COLUMNS = [*list(_PAIR_FORMATS)[:-1], "form", "confidence"]
# what is known of pairs only if it is asked for
_ASKED_FORMATS: dict[str, Format] = {
    "p_rope": ".3f",
    "sd_population": ".4f",
    "p_less_population": ".3f",
    "p_equal_population": ".3f",
    "p_greater_population": ".3f",
    "judgments_needed": ",d",
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

    Of more pairs than can be read, those of neighbours in the ranking; with a baseline, all.
    """
    place = {system: rank for rank, system in enumerate(comparison.ranking())}
    pairs = comparison.to_frame().assign(confidence=comparison.confidence)
    title = "difference of a less b"
    if baseline is not None:
        title = f"difference of a less the baseline {baseline}"
    elif len(pairs) > _PAIRS_SHOWN:
        every, pairs = len(pairs), _neighbours(pairs, place)
        title += (
            f"; the {len(pairs)} pairs of neighbours in the ranking, of {every} (all: --format csv)"
        )
    tables = [
        _systems_table(comparison, judgments, place, seed),
        Table(title, pairs[["a", "b", *_PAIR_COLUMNS]], _PAIR_FORMATS),
    ]
    asked = [name for name in _ASKED_FORMATS if name in pairs]
    if asked:
        rope = f", rope {comparison.meta['rope']:g}" if "rope" in comparison.meta else ""
        tables.append(Table(f"of the same pairs{rope}", pairs[["a", "b", *asked]], _ASKED_FORMATS))
    return tables


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


def stacked(compared: Sequence[Comparison], frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put the frames of comparisons under one another, with the measure if there are several."""
    if len(frames) == 1:
        return frames[0]
    named = dict(zip((each.measure for each in compared), frames, strict=True))
    return pd.concat(named, names=["measure"]).reset_index("measure")


def _systems_table(
    comparison: Comparison, judgments: Judgments | None, place: dict[str, int], seed: int
) -> Table:
    """Rank the systems."""
    systems, formats = comparison.systems_frame(), _SYSTEM_FORMATS
    if judgments is not None:
        column = _judged_column(judgments)
        systems[column] = judgments.coverage
        formats = {**formats, column: ".1%"}
    systems = systems.sort_values("system", key=lambda names: names.map(place))
    source = f", {comparison.model}:{comparison.method}" if comparison.model else ""
    meta = comparison.meta
    about = f"lists to rank {meta['score_depth']}"
    about += ", unseen documents counted" * meta["unseen"]
    about += f", residual {meta['residual']:g}" if meta["residual"] else ""
    title = (
        f"{comparison.measure} over {len(comparison.topics)} topics, {about}, "
        f"{comparison.moments} moments{source}, seed {seed}"
    )
    return Table(title, systems, formats)


def _neighbours(pairs: pd.DataFrame, place: dict[str, int]) -> pd.DataFrame:
    """Keep the pairs of neighbours in the ranking, the best first."""
    places = np.stack([pairs["a"].map(place), pairs["b"].map(place)])
    upper, lower = places.min(axis=0), places.max(axis=0)
    return pairs.assign(place=upper)[lower - upper == 1].sort_values("place").drop(columns="place")


def _judged_column(judgments: Judgments) -> str:
    return f"judged@{judgments.pool.depth}"
