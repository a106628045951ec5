"""The tables that describe a collection: in single numbers, its systems and its topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rtc_bayes.report.tables import Format
from rtc_bayes.report.terminal import Passage, Table
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.collection import Description

# More systems than these are too many to read.
_SYSTEMS_SHOWN = 30

_OF_SYSTEMS: dict[str, Format] = {
    "topics": "d",
    "documents": ",d",
    "shortest": ",d",
    "median": ",g",
    "longest": ",d",
    "tied": ".1%",
    "judged@5": ".1%",
    "judged@10": ".1%",
    "judged@20": ".1%",
    "judged@100": ".1%",
    "overlap": ".1%",
    "nearest_overlap": ".1%",
    "rank_conflicts": "d",
}
_OF_TOPICS: dict[str, Format] = {
    "systems": "d",
    "pooled": ",d",
    "judged": ",d",
    "relevant": ",d",
    "unretrieved": ",d",
}
_HEADINGS = {
    "median": "median list",
    "nearest_overlap": "overlap with it",
    "rank_conflicts": "rank conflicts",
}
# what fits a terminal of 80 columns
_ON_TERMINAL = ("system", "median", "tied", "judged@10", "judged@100", "overlap", "nearest")


def summary_table(description: Description) -> Table:
    """Give the collection in single numbers, as Table 1 of Carterette (2007) and more."""
    rows, depth, of = [], description.depth, description.summary

    def add(what: str, key: str, form: str) -> None:
        if key in of and of[key] == of[key]:
            rows.append((what, format(of[key], form)))

    add("topics of the runs", "topics", ",d")
    add("systems", "systems", ",d")
    add("topics with judgments", "judged_topics", ",d")
    add("judged documents", "judged", ",d")
    add("relevant documents", "relevant", ",d")
    add("relevant on a topic, least", "relevant_least", ",d")
    add("relevant on a topic, median", "relevant_median", ",g")
    add("relevant on a topic, most", "relevant_most", ",d")
    add("retrieved documents", "retrieved", ",d")
    add(f"retrieved among the first {depth} of a list", "pooled", ",d")
    add("length of a list, median", "list_length", ",g")
    add("documents in ties, mean of systems", "tied", ".1%")
    add(f"overlap of the first {depth}, mean of pairs", "overlap", ".1%")
    part = of.get("judged_topics", of["topics"]) < of["topics"]
    over = ", topics with judgments" if part else ""
    for k in (5, 10, 20, 100):
        add(f"judged@{k}, mean of systems{over}", f"judged@{k}", ".1%")
    level = description.relevance_level
    graded = f" (relevant: grade {level} or more)" if description.has_judgments else ""
    frame = pd.DataFrame(rows, columns=["", "number"])
    return Table(f"The collection{graded}", frame, {"number": "s"})


def remarks_passage(description: Description) -> Passage:
    """Say what is suspicious, and what can be done."""
    if not description.remarks:
        return Passage("Nothing suspicious", ())
    return Passage(
        "What is suspicious",
        tuple(
            f"{n}. {remark.text}\n   Remedy: {remark.remedy}"
            for n, remark in enumerate(description.remarks, 1)
        ),
    )


def systems_described(description: Description) -> Table:
    """Return every system with all that is known of it."""
    title = (
        f"{counted(len(description.systems), 'system')}; overlap is of the first "
        f"{description.depth}"
    )
    frame = description.systems.dropna(axis="columns", how="all")
    return _headed(title, frame, _OF_SYSTEMS)


def systems_in_short(description: Description) -> Table:
    """Return what fits a terminal; of many systems the least judged."""
    frame, every = description.systems, len(description.systems)
    which = ""
    if every > _SYSTEMS_SHOWN:
        if description.has_judgments:
            frame = frame.sort_values("judged@10", kind="stable")
        frame = frame.head(_SYSTEMS_SHOWN)
        which = (
            f"the {_SYSTEMS_SHOWN} {'least judged' if description.has_judgments else 'first'} of "
        )
    frame = frame[[name for name in _ON_TERMINAL if name in frame]]
    title = (
        f"{which}{counted(every, 'system')} (all that is known: --format csv); overlap is of "
        f"the first {description.depth}"
    )
    frame = frame.dropna(axis="columns", how="all")
    return _headed(title[0].upper() + title[1:], frame, _OF_SYSTEMS)


def topics_described(description: Description) -> Table:
    """Return the topics."""
    title = (
        f"{counted(len(description.topics), 'topic')}; pooled: among the first "
        f"{description.depth} of a list"
    )
    return _headed(title, description.topics, _OF_TOPICS)


def description_tables(description: Description, *, per_topic: bool) -> list[Table | Passage]:
    """Return what the command prints."""
    tables: list[Table | Passage] = [
        summary_table(description),
        remarks_passage(description),
        systems_in_short(description),
    ]
    return [*tables, topics_described(description)] if per_topic else tables


def _headed(title: str, frame: pd.DataFrame, formats: dict[str, Format]) -> Table:
    """Make a table with headings in words."""
    headings = {name: _HEADINGS.get(name, name) for name in frame.columns}
    shown = {headings[name]: form for name, form in formats.items() if name in headings}
    return Table(title, frame.rename(columns=headings), shown)
