"""The report of a demonstration."""

from __future__ import annotations

import html

from rtc_bayes.judging.stopping import why_ended
from rtc_bayes.report import figures
from rtc_bayes.report.drawing import colour_of
from rtc_bayes.report.elements import (
    facts,
    figure,
    figures_beside,
    heading,
    measure_name,
    measure_words,
    provenance,
)
from rtc_bayes.report.page import Page
from rtc_bayes.report.study_page import study_sections
from rtc_bayes.report.study_tables import study_tables
from rtc_bayes.report.tables import to_html
from rtc_bayes.robustness import Demo
from rtc_bayes.store.shown import counted


def demo_page(demo: Demo) -> Page:
    """Make the page of a demonstration."""
    summary, pairs, sure = demo.facts, demo.pairs, demo.sure
    measure = measure_name(demo.meta)
    # a few trials are too few to be broken down
    tables = study_tables(demo.study, breakdowns=False)
    level = f"{summary['confidence']:.0%}"
    # an algorithm that the study lacks has a colour of its own
    colour = colour_of(summary["algorithm"], [*demo.study.summary, summary["algorithm"]])
    sections = [
        heading("A few judgments, many systems", 1),
        f'<p class="lead">{html.escape(demo.story)}</p>',
        facts(
            [
                (f"{summary['judged']:,}", f"judgments of {summary['pool_documents']:,} documents"),
                (f"{len(sure)} of {len(pairs)}", f"pairs {level} sure"),
                (f"{int(sure['correct'].sum())} of {len(sure)}", "of those are right"),
                (f"{summary['tau']:.2f}", "rank correlation (τ) with the truth"),
            ]
        ),
        heading("Who is better than whom"),
        figures_beside(
            figure(
                figures.ranking(demo.systems, measure=measure, colour=colour),
                f"Expected {measure_words(demo.meta)} of ten systems with 95% intervals and the "
                "truth.",
                f"Expected {measure} with its 95% interval, and the truth, which the method did "
                "not see. Bold: the systems judged for.",
            ),
            figure(
                figures.confidence_matrix(pairs, list(demo.systems["system"])),
                "Probability that the system of the row is better than that of the column.",
                "Green: the row is better. A frame marks a pair whose predicted order is wrong.",
            ),
        ),
        heading("Where to look next"),
        "<p>To be surer of all ten, judge these documents, in this order.</p>",
        to_html(demo.next, {"weight": ".3g"}, wide="why"),
        heading("What was judged"),
        figures_beside(
            figure(
                figures.judgments_per_topic(demo.judgments),
                "Relevant and nonrelevant judgments of each topic.",
                f"{summary['judged']:,} judgments by {summary['algorithm']}; "
                f"{why_ended(summary['reason'])}.",
            ),
        ),
        heading("Can such confidences be trusted?"),
        f"<p>The same again {counted(summary['trials'], 'time')}, each with other systems. So "
        "few trials show the form of a study and little more; the intervals say how "
        "little.</p>",
        *study_sections(demo.study, tables, example=None, level=3),
        provenance(demo.meta),
    ]
    return Page("A demonstration", "\n".join(sections), tables)
