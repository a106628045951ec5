"""The tables that commands print: scores, systems and pairs compared, documents to judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from rtc_bayes.checks import check_word
from rtc_bayes.collection.grades import counted_grades
from rtc_bayes.collection.relevant_alone import without_advice
from rtc_bayes.errors import InputError
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.relevance.turned_labels import without_turned
from rtc_bayes.report.elements import labels_words, measure_name
from rtc_bayes.report.pairs import PAIR_FORMATS, pairs_table
from rtc_bayes.report.tables import (
    Format,
    probability,
    share_of_draws,
    with_interval,
    with_normal_interval,
)
from rtc_bayes.report.terminal import Passage, Table, TextKind, tables_text, titled
from rtc_bayes.store.shown import capital, counted

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Qrels
    from rtc_bayes.confidence import Comparison
    from rtc_bayes.judging import JudgingPlan
    from rtc_bayes.measures.sampled_scores import SampledScores
    from rtc_bayes.measures.sampling import Sample
    from rtc_bayes.measures.truth import ScoreTable
    from rtc_bayes.robustness import Demo

# More pairs than those of ten systems are too many to read.
_PAIRS_SHOWN = 45
_TOPICS_SHOWN = 10
# of the tables of a comparison
_WHICH = {"both": slice(None), "systems": slice(1), "pairs": slice(1, None)}
# what the meta of a comparison says of grades
_OF_GRADES = ("grades", "relevant")

_SYSTEM_FORMATS: dict[str, Format] = {
    "expected": ".4f",
    "sd": ".4f",
    "P(best)": share_of_draws,
    "rank (90% interval)": "",
}
_TOPIC_FORMATS: dict[str, Format] = {
    "expected difference": "+.4f",
    "sd": ".4f",
    "share of the variance": ".1%",
}


def scores_table(scores: ScoreTable, qrels: Qrels, *, topics: str, per_topic: bool) -> Table:
    """Show true values: of each topic, or means with the best by the first measure on top.

    Parameters
    ----------
    scores : ScoreTable
    qrels : Qrels
        By which they were evaluated.
    topics : str
        Which topics means are over, in a word.
    per_topic : bool
    """
    if per_topic:
        every = {name: scores[name] for name in scores.measures} | scores.judged
        frame = replace(scores, values=every).to_frame()
    else:
        frame = scores.mean_frame().sort_values(scores.measures[0], ascending=False, kind="stable")
    level = scores.relevance_level
    of_level = counted_grades(qrels.highest_grade, level) or f"relevance level {level}"
    title = f"{counted(len(scores.topics), 'topic')} ({topics})"
    if not all(parse_measure(name).rel for name in scores.measures):  # which say it themselves
        title += f", {of_level}"
    formats = dict.fromkeys([*scores.measures, "value"], ".4f")
    formats |= dict.fromkeys(scores.judged, ".1%")
    return Table(title, frame, formats)


def sampled_table(estimate: SampledScores, sample: Sample, *, per_topic: bool) -> Table:
    """Show scores estimated from a sample, and their sampling standard deviations.

    Parameters
    ----------
    estimate : SampledScores
    sample : Sample
        From which they were estimated.
    per_topic : bool
        A row for each system and topic; otherwise means, the best system on top.
    """
    measure, judgments = estimate.scores.measure, sample.judgments
    if per_topic:
        frame = estimate.scores.to_frame().rename(columns={"mean": measure})
        frame["sd"] = np.sqrt(frame.pop("variance"))
    else:
        frame = estimate.mean_frame().sort_values(measure, ascending=False, kind="stable")
    title = (
        f"{counted(judgments.pool.n_topics, 'topic')}, a sample of {judgments.n_judged} judged, "
        f"relevance level {judgments.relevance_level}; of the relevant documents that could be "
        "drawn; "
    )
    by_chance = sample.probability[judgments.judged] < 1.0
    if not by_chance.any():
        title += "nothing was drawn by chance, so that this is AP, all else nonrelevant"
    else:
        title += "sd: of the sampling, as stated, which is too low (docs/judging.md)"
    if estimate.few:
        title += f"; on {counted(estimate.few, 'topic')} fewer than two relevant were drawn"
    return Table(title, frame, {measure: ".4f", "sd": ".4f"})


def judged_table(judgments: Judgments, *, seed: int) -> Table:
    """Say how much of each system's lists is judged, to the pool's depth."""
    column = _judged_column(judgments)
    frame = pd.DataFrame({"system": judgments.pool.systems, column: judgments.coverage})
    title = (
        f"{counted(judgments.pool.n_topics, 'topic')}, {judgments.n_judged} judged, "
        f"{judgments.relevant.sum():g} relevant, seed {seed}"
    )
    if of_grades := counted_grades(judgments.highest_grade, judgments.relevance_level):
        title += f"; {of_grades}"
    return Table(title, frame, {column: ".1%"})


def comparison_tables(
    comparison: Comparison,
    judgments: Judgments | None,
    *,
    baseline: str | None = None,
    seed: int,
    for_paper: bool = False,
) -> list[Table]:
    """Rank the systems, say of their pairs who is better, and what else was asked of the pairs.

    One system has no pair.

    Parameters
    ----------
    comparison : Comparison
    judgments : Judgments or None
        Then the systems have the share of their lists that is judged.
    baseline : str, optional
        With which the others were compared.
    seed : int
    for_paper : bool
        Intervals of expected scores, and all pairs. Otherwise standard deviations, and of more
        pairs than can be read on a terminal those of neighbours in the ranking, unless there is a
        baseline.
    """
    judgments = None if judgments is None else without_turned(judgments)
    tables = [_systems_table(comparison, judgments, seed, intervals=for_paper)]
    pairs = pairs_table(comparison)
    title = "who is better"
    if baseline is not None:
        title += f", pairs with the baseline {baseline}"
    elif len(pairs) > _PAIRS_SHOWN and not for_paper:
        every, pairs = len(pairs), _neighbours(pairs, comparison)
        title += (
            f": the {len(pairs)} pairs of neighbours in the ranking, of {every} (all: --format csv)"
        )
    if "rope" in comparison.meta:
        title += f"; too small to matter: nearer to 0 than {comparison.meta['rope']:g}"
    title = titled(title, comparison.seed_text, comparison.forecast_text)
    return [*tables, Table(title, pairs, PAIR_FORMATS)] if len(pairs) else tables


def comparison_text(
    compared: Sequence[Comparison],
    judgments: Judgments | None,
    *,
    table: Literal["both", "systems", "pairs"],
    kind: TextKind,
) -> str:
    """Return the tables of comparisons, one or both, as LaTeX or Markdown for a paper.

    Parameters
    ----------
    compared : sequence of Comparison
    judgments, table
        As of :meth:`rtc_bayes.Comparison.to_latex`.
    kind : {"latex", "markdown"}

    Raises
    ------
    InputError
        Another table, or pairs alone where there are none.
    """
    check_word("table", table, [*_WHICH])
    if table == "pairs" and not any(len(comparison.a) for comparison in compared):
        raise InputError("there are no pairs: one system", remedy='leave table="pairs" out')
    tables = [
        each
        for comparison in compared
        for each in comparison_tables(
            comparison, judgments, seed=int(comparison.meta.get("seed") or 0), for_paper=True
        )[_WHICH[table]]
    ]
    return tables_text(tables, kind)


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
        most = f"the {counted(len(shown), 'topic')} most in doubt"
        title = f"{a} minus {b}: {most}, of {len(topics)}"
        if len(shown) < len(topics):
            title += " (all: --format csv)"
        words = {"expected_difference": "expected difference", "share": "share of the variance"}
        frame = shown.drop(columns=["a", "b"]).rename(columns=words)
        tables.append(Table(title, frame, _TOPIC_FORMATS))
    return tables


def demo_tables(made: Demo) -> list[Passage | Table]:
    """Say what a demonstration did and found, and rank its systems."""
    systems = made.systems
    score = f"expected {measure_name(made.meta)} (95% interval)"
    frame = pd.DataFrame(
        {
            "system": systems["system"],
            score: [
                with_normal_interval(expected, sd, ".3f")
                for expected, sd in zip(systems["expected"], systems["sd"], strict=True)
            ],
            "true": systems["true"],
            "judged for": systems["judged_for"].map({True: "yes", False: ""}),
        }
    )
    return [
        Passage("A demonstration", (made.story, "", *made.findings)),
        Table("The systems, best expected first", frame, {score: "", "true": ".3f"}),
    ]


def plan_table(made: JudgingPlan) -> Table:
    """Show what a budget buys with each number of judgments a topic."""
    about = "topics like these" if made.population else f"the {made.topics_of_runs} topics"
    title = (
        f"What {made.budget:,.12g} beyond the pilot buys: {made.measure} on {about}, judged by "
        f"{made.algorithm}, to separate a difference of {made.difference:g} at {made.confidence:g}"
    )
    columns: dict[str, tuple[str, Format]] = {
        "judgments_per_topic": ("judged a topic", lambda n: f"{n}" if n else "pilot"),
        "topics": ("topics", str),
        "new_topics": ("new topics", "d"),
        "cost": ("cost", "g"),
        "sd": ("sd", ".4f"),
        "separates": ("separates at least", ".4f"),
        "confidence": (f"P(better) at {made.difference:g}", probability),
        "confident": (f"pairs at {made.confidence:g}", ".1%"),
        "right": ("pairs in order", ".1%"),
        "topics_needed": ("topics needed", "d"),
        "cost_needed": ("cost of these", "g"),
    }
    frame = made.to_frame()
    every = frame["topics"]
    some = frame["topics_so_deep"].fillna(every).astype(str) + " of "
    frame["topics"] = some.where(frame["topics_so_deep"] < every, "") + every.astype(str)
    if not frame["new_topics"].any():
        del columns["new_topics"]
    words = {name: word for name, (word, _) in columns.items()}
    return Table(title, frame[list(columns)].rename(columns=words), dict(columns.values()))


def plan_tables(made: JudgingPlan) -> list[Table | Passage]:
    """Say the plan's answer in words, show its table, and say what the columns are."""
    relevant = capital(str(made.meta.get("relevant", "")))
    answer = Passage("In words", (made.sentence, *([f"{relevant}."] if relevant else [])))
    return [answer, plan_table(made), _plan_columns(made)]


def _plan_columns(made: JudgingPlan) -> Passage:
    difference, confidence = f"{made.difference:g}", f"{made.confidence:g}"
    columns = (
        "topics: that have judgments. 8 of 10: only 8 of them have so many; the others stay as the "
        "pilot leaves them",
        "cost: of the judgments that the pilot lacks for this",
        "sd: of the difference of two systems",
        f"separates at least: the smallest difference in mean score with confidence {confidence}",
        f"P(better) at {difference}: the confidence that a difference of {difference} would have",
        f"pairs at {confidence}: the share of pairs of systems expected to have this confidence",
        "pairs in order: the share of pairs expected to stand in their true order",
        f"topics needed: how many topics, judged so deep, separate {difference} (–: none do)",
        "cost of these: with so many judgments on every one of them, whatever the budget",
    )
    return Passage("Columns", columns)


def systems_table(
    comparison: Comparison, judgments: Judgments | None
) -> tuple[pd.DataFrame, dict[str, Format]]:
    """Return the systems, the best first, and how their columns are written."""
    systems, formats = comparison.systems_frame(), _SYSTEM_FORMATS
    if comparison.p_best is not None:
        ranks = systems[["rank_median", "rank_low", "rank_high"]].itertuples(index=False)
        systems = systems.drop(columns=["rank_low", "rank_median", "rank_high"])
        systems = systems.rename(columns={"p_best": "P(best)"})
        systems["rank (90% interval)"] = [
            with_interval(median, ends, "g") for median, *ends in ranks
        ]
    if judgments is not None:
        column = _judged_column(judgments)
        systems[column] = systems["system"].map(judged_shares(comparison, judgments))
        formats = {**formats, column: ".1%"}
    return systems, formats


def judged_shares(comparison: Comparison, judgments: Judgments) -> dict[str, float]:
    """Return how much of each system's lists is judged: the mean over the topics compared on.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a"], "2": ["b"]})]))
    >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.5, 0.5]))
    >>> judged_shares(comparison, rb.Judgments.from_labels(pool, [0], [1]))
    {'one': 0.5}
    """
    of_topics = np.isin(judgments.pool.topics, comparison.topics)
    shares = judgments.topic_coverage[:, of_topics].mean(axis=1)
    return dict(zip(judgments.pool.systems, shares.tolist(), strict=True))


def _systems_table(
    comparison: Comparison, judgments: Judgments | None, seed: int, *, intervals: bool
) -> Table:
    """Rank the systems; above them what the scores are about, and then a line for each caution."""
    source = f", {comparison.model}:{comparison.method}" if comparison.model else ""
    title = titled(
        *(comparison.meta.get(key) for key in ("about", *_OF_GRADES)),
        f"{counted(len(comparison.topics), 'topic')}, {comparison.moments_text}{source}, "
        f"seed {seed}",
        "" if judgments is None or judgments.judge_labels is None else labels_words(judgments),
        comparison.common_text,
        comparison.level_text,
        comparison.point_text,
        without_advice(comparison.judged_text),  # of relevant documents alone a warning says all
        comparison.residual_text,
    )
    frame, formats = systems_table(comparison, judgments)
    return Table(title, _with_intervals(frame) if intervals else frame, formats)


def _with_intervals(systems: pd.DataFrame) -> pd.DataFrame:
    """Put a 95% interval beside each expected score, in place of its standard deviation."""
    scores = zip(systems["expected"], systems["sd"], strict=True)
    written = [with_normal_interval(*score, ".4f") for score in scores]
    word = "expected (95% interval)"
    return systems.assign(expected=written).drop(columns="sd").rename(columns={"expected": word})


def _neighbours(pairs: pd.DataFrame, comparison: Comparison) -> pd.DataFrame:
    """Keep the pairs of neighbours in the ranking."""
    place = {system: rank for rank, system in enumerate(comparison.ranking())}
    return pairs[(pairs["better"].map(place) - pairs["worse"].map(place)).abs() == 1]


def _judged_column(judgments: Judgments) -> str:
    return f"judged@{judgments.pool.depth}"
