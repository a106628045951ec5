"""The report of a robustness study."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rtc_bayes.report import figures
from rtc_bayes.report.drawing import colour_of
from rtc_bayes.report.elements import (
    figure,
    figures_beside,
    folded,
    heading,
    measure_name,
    measure_words,
    noted,
    provenance,
    table,
)
from rtc_bayes.report.example import Example
from rtc_bayes.report.page import Page, StudyTable
from rtc_bayes.report.study_tables import study_tables
from rtc_bayes.robustness import Study
from rtc_bayes.robustness.breakdown import by_original, by_overlap
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

_UNFOLDED = 2


def study_page(study: Study) -> Page:
    """Make the page of a study."""
    tables = study_tables(study)
    plan = study.meta["study"]
    until = f"until their order was {plan['confidence']:.0%} sure"
    if plan.get("budgets"):
        until = f"until {' or '.join(map(str, plan['budgets']))} were made"
    compared = f"{plan['systems']} systems"
    if plan.get("leave_out"):
        compared = f"{compared} at most, the new ones all of one group that was not judged for,"
    lead = (
        f"{counted(plan['trials'], 'trial')}: judgments made for {plan['initial']} systems "
        f"{until}, then {compared} "
        "compared by those judgments alone. Can the confidences be trusted?"
    )
    sections = [
        heading("Can a few judgments be reused?", 1),
        f'<p class="lead">{html.escape(lead)}</p>',
        *noted(study.relevant_text),
        *study_sections(study, tables, Example.of(study)),
        provenance(study.meta),
    ]
    return Page("Robustness study", "\n".join(sections), tables)


def study_sections(
    study: Study, tables: Mapping[str, StudyTable], example: Example | None, *, level: int = 2
) -> list[str]:
    """Return what a study gave, section by section.

    Parameters
    ----------
    study : Study
    tables : mapping of str to StudyTable
        A section whose table is missing is left out.
    example : Example, optional
        A trial to show.
    level : int
        Of the headings.
    """
    measure = measure_name(study.meta)
    sections = [
        heading("Summary", level),
        table(tables["summary"]),
        "<p>W is what a bookmaker wins per bet who takes each confidence for his odds, and loses "
        "100 on a bet at most. “W if exact” is what he would expect if confidences were exact, a "
        "little above 0 for that limit: below it they are too high, above it too low. The log "
        "score is a mean negative log likelihood in nats: lower is better, and always saying one "
        "half scores 0.693. τ is Kendall’s correlation "
        "of the predicted with the true order of systems. Intervals: bootstrap over trials.</p>",
        *_failures(study, tables),
    ]
    if study.succeeded.empty:
        return sections
    sections += [
        heading("Accuracy by confidence", level),
        *_confidence(study, tables),
    ]
    sections += _groups(study, tables, level)
    if example is not None:
        colour = colour_of(example.algorithm, study.summary)
        sections += _example(example, level, measure, colour)
    sections += [*_scores(study, measure, level), *_judgments(study, tables, level)]
    if "tests" in tables:
        sections += [heading("Differences between algorithms", level), table(tables["tests"])]
    return sections


def _groups(study: Study, tables: Mapping[str, StudyTable], level: int) -> list[str]:
    """Hold confidences to the truth in groups of pairs, if the study has them."""
    if "original" not in tables:
        return []
    return [
        heading("Original and new systems", level),
        *_group(study, tables, "original", by_original(study.pairs)),
        heading("Systems alike and unlike", level),
        *_group(study, tables, "overlap", by_overlap(study.pairs)),
        heading("Few and many judgments", level),
        *(
            table(tables[name])
            for name in ("judged", "imbalance", "initial-imbalance")
            if name in tables
        ),
    ]


def _scores(study: Study, measure: str, level: int) -> list[str]:
    """Draw expected against true scores."""
    return [
        heading("Expected and true scores", level),
        figures_beside(
            figure(
                figures.expected_against_true(
                    study.systems, measure=measure, algorithms=list(study.summary)
                ),
                f"Expected against true {measure_words(study.meta)} of the systems of every trial, "
                "a panel for each algorithm.",
                "Every system of every trial, judged by a few documents and by all. Only the "
                f"order counts: expected {measure} has a scale of its own.",
            )
        ),
    ]


def _judgments(study: Study, tables: Mapping[str, StudyTable], level: int) -> list[str]:
    """Say how many judgments trials took, and why they ended."""
    return [
        heading("Judgments", level),
        figures_beside(
            figure(
                figures.judging_cost(study.succeeded, algorithms=list(study.summary)),
                "Share of trials that ended within a number of judgments, by algorithm.",
                "How many judgments a trial took. ip takes as many as mtc did.",
            )
        ),
        table(tables["reasons"]),
        *_unjudged_note(study),
    ]


def _failures(study: Study, tables: Mapping[str, StudyTable]) -> list[str]:
    """Say how many fits of which algorithm failed, and why."""
    if "failures" not in tables:
        return []
    counts = ", ".join(
        f"{text} in {entry['failed']} of {counted(entry['trials'], 'trial')}"
        for text, entry in study.summary.items()
        if entry["failed"]
    )
    return [
        f"<p><strong>Fits failed</strong>: {html.escape(counts)}. These trials count in none of "
        "the scores of their algorithm.</p>",
        folded(tables["failures"], "Why they failed", unfold=False),
    ]


def _confidence(study: Study, tables: Mapping[str, StudyTable]) -> list[str]:
    if "bins" not in tables:
        return ["<p>No algorithm of this study has a confidence.</p>"]
    return [
        figures_beside(
            figure(
                figures.confidence_accuracy(
                    study.pairs,
                    algorithms=list(study.summary),
                    seed=study.meta["study"]["seed"],
                ),
                "Accuracy of predicted signs against their confidence, by bin and algorithm, with "
                "the break-even line.",
                "Points below the dashed line are overconfident. Larger points hold more pairs; "
                "bars are 90% bootstrap intervals over trials.",
            )
        ),
        table(tables["bins"]),
    ]


def _group(
    study: Study, tables: Mapping[str, StudyTable], name: str, group: pd.Series
) -> list[str]:
    """Show the scores of groups of pairs, and accuracy by confidence in each."""
    sections = [table(tables[name])]
    bins = tables.get(f"{name}-bins")
    if bins is None:
        return sections
    few = bins.data["algorithm"].nunique() <= _UNFOLDED
    return [
        *sections,
        figures_beside(
            figure(
                figures.confidence_accuracy_by(
                    study.pairs, group, seed=study.meta["study"]["seed"]
                ),
                "Accuracy of predicted signs against their confidence in each group of pairs, a "
                "panel for each algorithm.",
                "Larger points hold more of their group’s pairs; points of fewer than 10 pairs "
                "are left out; bars are 90% bootstrap intervals over trials.",
            )
        ),
        folded(bins, "The same as a table", unfold=few),
    ]


def _example(example: Example, level: int, measure: str, colour: str) -> list[str]:
    what = f"trial {example.trial} by {example.algorithm}"
    shown = [
        figure(
            figures.ranking(example.systems, measure=measure, colour=colour),
            f"Systems of {what} ranked, with 95% intervals and the truth.",
            f"Expected {measure} with a 95% interval, and the truth. Bold: the systems judged for.",
        ),
        figure(
            figures.confidence_matrix(example.pairs, list(example.systems["system"])),
            f"Probability, in {what}, that the system of the row is better than that of the "
            "column.",
            "Green: the row is better. A frame marks a pair whose predicted order is wrong; a "
            "pair that is truly equal has no cell.",
        ),
    ]
    judged = int(example.judgments["judged"].sum())
    if judged:
        shown.append(
            figure(
                figures.judgments_per_topic(example.judgments),
                f"Relevant and nonrelevant judgments of each topic in {what}.",
                f"The {counted(judged, 'judgment')} of this trial.",
            )
        )
    return [
        heading("One trial", level),
        f"<p>Number {example.trial}, {html.escape(example.algorithm)}: "
        f"the trial with the median τ ({example.tau:.2f}).</p>",
        figures_beside(*shown),
    ]


def _unjudged_note(study: Study) -> list[str]:
    """Name the trials that ended before they began."""
    if study.unjudged.empty:
        return []
    listed = ", ".join(f"{text} {number}" for text, number in study.unjudged.items())
    return [
        '<p class="note">Trials that ended with no judgment at all: '
        f"{html.escape(listed)}. Where one list is much shorter, equal probabilities for all "
        "documents are enough to be sure of its loss.</p>"
    ]
