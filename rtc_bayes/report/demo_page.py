"""The report of a demonstration."""

from __future__ import annotations

import html
from collections.abc import Mapping

from rtc_bayes.report import figures
from rtc_bayes.report.elements import count, facts, figure, provenance
from rtc_bayes.report.study_page import study_sections
from rtc_bayes.report.study_tables import StudyTable
from rtc_bayes.report.tables import to_html
from rtc_bayes.robustness.demonstration import Demo


def demo_body(demo: Demo, tables: Mapping[str, StudyTable]) -> str:
    """Return the report of a demonstration, as HTML without its frame.

    Parameters
    ----------
    demo : Demo
    tables : mapping of str to StudyTable
        Of its small study.
    """
    found = demo.facts
    pairs = demo.pairs
    sure = pairs[pairs["confidence"] >= found["confidence"]]
    right = int(sure["correct"].sum())
    lead = (
        f"A simulated collection of {found['topics']} topics and {found['collection_systems']} "
        f"systems. Judgments were made for two of them, {' and '.join(found['judged_for'])}, "
        f"until their order was {found['confidence']:.0%} sure. Those judgments then compare "
        f"{found['systems']} systems."
    )
    return "\n".join(
        [
            "<h1>A few judgments, many systems</h1>",
            f'<p class="lead">{html.escape(lead)}</p>',
            facts(
                [
                    (f"{found['judged']:,}", f"judgments of {found['pool_documents']:,} documents"),
                    (f"{len(sure)} of {len(pairs)}", f"pairs {found['confidence']:.0%} sure"),
                    (f"{right} of {len(sure)}", "of those are right"),
                    (f"{found['tau']:.2f}", "rank correlation (τ) with the truth"),
                ]
            ),
            "<h2>Who is better than whom</h2>",
            '<div class="figures">',
            figure(
                figures.ranking(demo.systems),
                "Expected mean average precision of ten systems with 95% intervals and the truth.",
                "Expected MAP with its 95% interval beside the truth, which the method did not "
                "see. The order is what it predicts; few judgments do not give the scale. Bold: "
                "the systems judged for.",
            ),
            figure(
                figures.confidence_matrix(pairs, list(demo.systems["system"])),
                "Probability that the system of the row is better than that of the column.",
                "Blue: the row is better. A frame marks a pair whose predicted order is wrong.",
            ),
            "</div>",
            "<h2>Where to look next</h2>",
            "<p>To be surer of all ten, judge these documents, the most informative first.</p>",
            to_html(demo.next, {"weight": ".3g"}, wide="why"),
            "<h2>What was judged</h2>",
            '<div class="figures">',
            figure(
                figures.judgments_per_topic(demo.judgments),
                "Relevant and nonrelevant judgments of each topic.",
                f"{found['judged']:,} judgments by {found['algorithm']}; judging ended for the "
                f"reason: {found['reason']}.",
            ),
            "</div>",
            "<h2>Can such confidences be trusted?</h2>",
            f"<p>The same again {count(found['trials'], 'time')}, each with other systems. So "
            "few trials show the form of a study and little more; the intervals say how "
            "little.</p>",
            *(
                section.replace("<h2>", "<h3>").replace("</h2>", "</h3>")
                for section in study_sections(demo.study, tables, example=None)
            ),
            provenance(demo.meta),
        ]
    )
