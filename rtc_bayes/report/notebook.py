"""What a notebook shows of a result: short tables as HTML."""

from __future__ import annotations

import html
from functools import singledispatch

import pandas as pd

from rtc_bayes.collection import Description
from rtc_bayes.confidence import Comparison, Comparisons
from rtc_bayes.judging import NextDocuments
from rtc_bayes.judging.building import JudgingResult
from rtc_bayes.judging.judging_plan import JudgingPlan
from rtc_bayes.judging.stopping import stopped
from rtc_bayes.measures.truth import ScoreTable
from rtc_bayes.report.command_tables import comparison_tables, plan_table
from rtc_bayes.report.description_page import remarks_list
from rtc_bayes.report.description_tables import summary_table, systems_described
from rtc_bayes.report.elements import table
from rtc_bayes.report.next_documents import DOCUMENT_FORMATS
from rtc_bayes.report.study_tables import study_tables
from rtc_bayes.report.tables import to_html
from rtc_bayes.report.terminal import titled
from rtc_bayes.robustness import Study
from rtc_bayes.store.shown import counted, in_words

_SHOWN = 20


@singledispatch
def html_of(result: object) -> str:
    """Show a result; of a kind that has no tables, its text."""
    return f"<pre>{html.escape(repr(result))}</pre>"


@html_of.register
def _(comparison: Comparison) -> str:
    seed = int(comparison.meta.get("seed") or 0)
    return "\n".join(
        to_html(each.frame.head(_SHOWN), each.formats, caption=_of(each.title, each.frame))
        for each in comparison_tables(comparison, None, seed=seed)
    )


@html_of.register
def _(comparisons: Comparisons) -> str:
    return "\n".join(map(html_of, comparisons.values()))


@html_of.register
def _(description: Description) -> str:
    summary, systems = summary_table(description), systems_described(description)
    return "\n".join(
        [
            to_html(summary.frame, caption=summary.title),
            remarks_list(description),
            to_html(
                systems.frame.head(_SHOWN),
                systems.formats,
                caption=_of(systems.title, systems.frame),
            ),
        ]
    )


@html_of.register
def _(made: JudgingPlan) -> str:
    each = plan_table(made)
    shown = to_html(each.frame, each.formats, caption=each.title)
    return f"<p>{html.escape(made.sentence)}</p>\n{shown}"


@html_of.register
def _(chosen: NextDocuments) -> str:
    caption, *_ = in_words(chosen).splitlines()
    return to_html(chosen.to_frame(), DOCUMENT_FORMATS, caption=caption, wide="why")


@html_of.register
def _(scores: ScoreTable) -> str:
    frame = scores.mean_frame().sort_values(scores.measures[0], ascending=False, kind="stable")
    caption = _of(f"Means over {counted(len(scores.topics), 'topic')}", frame)
    formats = dict.fromkeys(scores.measures, ".4f") | dict.fromkeys(scores.judged, ".1%")
    return to_html(frame.head(_SHOWN), formats, caption=caption)


@html_of.register
def _(study: Study) -> str:
    return table(study_tables(study, breakdowns=False)["summary"])


@html_of.register
def _(result: JudgingResult) -> str:
    rows = {
        "algorithm": result.algorithm,
        "judged": f"{result.judgments.n_judged:,}",
        "relevant": f"{result.judgments.relevant.sum():g}",
        "missing from the truth": f"{len(result.missing):,}",
    }
    caption = stopped(result.reason, result.target, result.confidence, result.compared)
    return to_html(pd.DataFrame([rows]), caption=caption)


def _of(title: str, frame: pd.DataFrame) -> str:
    """Say how many rows are left out."""
    return title if len(frame) <= _SHOWN else titled(title, f"the first {_SHOWN} of {len(frame)}")
