"""The page of a description: what a collection holds, and what is suspicious."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from rtc_bayes.collection.description import JUDGED_AT
from rtc_bayes.report import figures
from rtc_bayes.report.description_figures import judged_shares, overlap_matrix
from rtc_bayes.report.description_tables import (
    summary_table,
    systems_described,
    topics_described,
)
from rtc_bayes.report.drawing import NAMED
from rtc_bayes.report.elements import facts, figure, figures_beside, heading, how_made
from rtc_bayes.report.page import Page, whole_page
from rtc_bayes.report.tables import to_html
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.collection import Description
    from rtc_bayes.report.terminal import Table


def description_html(description: Description) -> str:
    """Make the page of a description, as HTML that needs nothing else."""
    return whole_page(Page("Collection", description_body(description), {}))


def description_body(description: Description) -> str:
    """Make the page without its frame."""
    sections = [
        heading("What is in this collection?", 1),
        f'<p class="lead">{html.escape(_lead(description))}</p>',
        facts(_facts(description)),
        heading("What is suspicious"),
        remarks_list(description),
        heading("The collection in numbers"),
        _table(summary_table(description)),
        *_drawn(description),
        heading("Systems and topics"),
        *_folded(description),
        *how_made(description.meta),
    ]
    return "\n".join(sections)


def remarks_list(description: Description) -> str:
    """List what is suspicious, and what can be done."""
    if not description.remarks:
        return "<p>Nothing: no check found anything.</p>"
    items = "".join(
        f"<li><p>{html.escape(remark.text)}</p>"
        f'<p class="note">{html.escape(f"Remedy: {remark.remedy}")}</p></li>'
        for remark in description.remarks
    )
    return f"<ol>{items}</ol>"


def _lead(description: Description) -> str:
    of = description.summary
    runs = f"{counted(int(of['systems']), 'system')} on {counted(int(of['topics']), 'topic')}"
    if not description.has_judgments:
        return f"{runs}, without judgments."
    return (
        f"{runs}, with {counted(int(of['judged']), 'judgment')} of "
        f"{counted(int(of['judged_topics']), 'topic')}."
    )


def _facts(description: Description) -> list[tuple[str, str]]:
    of = description.summary
    entries = [(f"{of['retrieved']:,}", "documents retrieved, over all topics")]
    if of["overlap"] == of["overlap"]:
        entries.append(
            (
                f"{of['overlap']:.0%}",
                f"of the first {description.depth} documents are common to two systems, on average",
            )
        )
    if description.has_judgments:
        entries += [
            (f"{of['relevant']:,}", f"relevant, of {of['judged']:,} judged"),
            (f"{of['judged@10']:.0%}", "of a system's first 10 documents are judged, on average"),
        ]
    return entries


def _drawn(description: Description) -> list[str]:
    """Draw how systems overlap and what is judged, where there is any."""
    sections = []
    if len(description.systems) > 1:
        sections += [heading("How lists overlap"), figures_beside(_overlap(description))]
    if description.summary.get("judged"):
        sections += [heading("How far judgments reach"), figures_beside(*_judged(description))]
    return sections


def _overlap(description: Description) -> str:
    said = (
        f"Share of the first {description.depth} documents that two systems have in common: the "
        "number in both lists over the length of the longer one, averaged over topics. Systems "
        "with similar lists stand beside each other, so a dark block is a family."
    )
    if len(description.systems) > NAMED:
        said += " There are too many to name: the table of systems says which is nearest to each."
    return figure(
        overlap_matrix(description.overlap),
        "Share of documents that the system of the row shares with that of the column.",
        said,
    )


def _judged(description: Description) -> list[str]:
    return [
        figure(
            judged_shares(description.systems, JUDGED_AT),
            "Share of judged documents among the first of each system.",
            "Share of each system's first documents that are judged, each line sorted by itself. "
            "Where a line is low, scores that count unjudged documents as not relevant are too "
            "low.",
        ),
        figure(
            figures.judgments_per_topic(description.topics),
            "Relevant and nonrelevant judgments of each topic.",
            "Judged documents by topic.",
        ),
    ]


def _folded(description: Description) -> list[str]:
    return [
        f"<details><summary>{html.escape(title)}</summary>{_table(table)}</details>"
        for title, table in (
            (f"All systems ({len(description.systems)})", systems_described(description)),
            (f"All topics ({len(description.topics)})", topics_described(description)),
        )
    ]


def _table(table: Table) -> str:
    return to_html(table.frame, table.formats, caption=table.title)
