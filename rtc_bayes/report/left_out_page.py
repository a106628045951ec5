"""The page of groups left out of a collection one at a time."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_bayes.report.elements import (
    facts,
    figure,
    folded,
    heading,
    how_made,
    mean_of,
    table,
)
from rtc_bayes.report.exports import write_page
from rtc_bayes.report.page import Page, StudyTable, whole_page
from rtc_bayes.report.reuse_figures import before_and_after
from rtc_bayes.report.tables import Format
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.reuse.left_out import LeftOut

_DRAWN = 25
_FORMATS: dict[str, Format] = {
    "judged": ",d",
    "relevant": ",d",
    "unique relevant": ",d",
    "mean change": "+.2%",
    "from": "+.2%",
    "to": "+.2%",
    "median": "+.2%",
    "worst": "+.1%",
    "score": ".4f",
    "left out": ".4f",
    "change": "+.4f",
    "relative": "+.2%",
}


def left_out_html(result: LeftOut) -> str:
    """Make the page of groups left out, as HTML that needs nothing else."""
    return whole_page(left_out_page(result))


def write_left_out(result: LeftOut, folder: str | Path, meta: Mapping[str, object]) -> Path:
    """Write the page, report.html, and its tables into a folder; return the page's path.

    Parameters
    ----------
    result : LeftOut
    folder : str or Path
    meta : mapping of str to object
        How it was made, as of :func:`rtc_bayes.store.provenance`.
    """
    made = replace(result, meta={**result.meta, **meta})
    return write_page(left_out_page(made), Path(folder) / "report.html", made.meta)


def left_out_page(result: LeftOut) -> Page:
    """Make the page of groups left out: see :func:`left_out_html`."""
    tables = {each.name: each for each in left_out_tables(result)}
    mean, at = mean_of(result.measure), result.depths[0]
    runs = result.by_system()
    most = runs[runs["depth"] == at.depth].nsmallest(_DRAWN, "change")[::-1]
    sections = [
        heading("What would be lost without a group?", 1),
        f'<p class="lead">{html.escape(result.verdict())}</p>',
        facts(
            [
                (
                    f"{len(result.groups)}",
                    f"groups left out, one at a time, of {counted(len(result.systems), 'system')}",
                ),
                (
                    f"{at.unique_relevant.sum() / at.relevant:.0%}",
                    "of relevant documents were contributed by one group alone",
                ),
                (f"{result.summary()['mean'][0]:+.2%}", f"change of a left-out run's {mean}"),
            ]
        ),
        f"<p>{html.escape(_ABOUT)}</p>",
        table(tables["summary"]),
        heading("The runs that lose most"),
        figure(
            before_and_after(most["system"], most["score"], most["left_out"], mean),
            "Scores with all judgments and with those of the run's own group left out.",
            f"{mean} by all judgments, and without what the run's own group alone contributed: "
            f"the {len(most)} runs that lose most.",
        ),
        heading("Groups and runs"),
        folded(tables["groups"], f"All groups ({len(result.groups)})", unfold=False),
        folded(tables["runs"], "All runs", unfold=False),
        *how_made(result.meta),
    ]
    return Page("Groups left out", "\n".join(sections), tables)


_ABOUT = (
    "Judged documents that the group's runs alone have among their first ranks are taken out of "
    "the judgments, and every run is scored again: a group that took no part would have been "
    "scored so, had everyone else been judged as they were. It says nothing of documents that "
    "nobody found."
)


def left_out_tables(result: LeftOut) -> list[StudyTable]:
    """Make the tables of groups left out: by depth, by group and by run."""
    summary, groups, runs = result.summary(), result.by_group(), result.by_system()
    words = {
        "unique_relevant": "unique relevant",
        "mean": "mean change",
        "low": "from",
        "high": "to",
        "left_out": "left out",
        "rank_left_out": "rank, left out",
    }
    captions = {
        "summary": "By depth of the pool: what one group alone contributed, and what scores lose",
        "groups": "What each group alone contributed, and what its runs lose without it",
        "runs": "Each run's score and rank among those of other groups, with its group and without",
    }
    return [
        StudyTable(
            name,
            captions[name],
            data,
            shown := data.rename(columns=words),
            {column: _FORMATS[column] for column in shown.columns if column in _FORMATS},
        )
        for name, data in (("summary", summary), ("groups", groups), ("runs", runs))
    ]
