"""What a report shows of an audit: its verdict first, then evidence and estimates."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import pandas as pd

from rtc_bayes.judging.audit_estimates import FEWEST
from rtc_bayes.report.elements import heading
from rtc_bayes.report.tables import Format, to_html
from rtc_bayes.report.terminal import Passage, Table

if TYPE_CHECKING:
    from rtc_bayes.judging.audit_result import Audit

_TITLE = "Audit: does a random sample bear the model out?"
# DCG aside
_MOST_OF_A_SCORE = 10.0
_JUDGED = "Shares of documents that are judged (judged@k) count the audit's judgments, too."


def _figure(value: float) -> str:
    """Write a score, or a number of documents."""
    return f"{value:.4f}" if abs(value) < _MOST_OF_A_SCORE else f"{value:.1f}"


_FORMATS: dict[str, Format] = dict.fromkeys(
    ("expected", "sd", "estimate", "low", "high", "se"), _figure
)


def audit_section(audit: Audit, level: int = 2) -> list[str]:
    """Return the section of a page.

    Parameters
    ----------
    audit : Audit
    level : int
        Of its heading.
    """
    verdict = html.escape(audit.verdict)
    said = f"<strong>{verdict}</strong>" if audit.alarm else verdict
    finding = [heading(_TITLE, level), f"<p>{said}</p>"]
    if not audit.judged:
        return finding
    return [
        *finding,
        to_html(_evidence(audit), {"e-value": ".3g"}),
        f"<p>{html.escape(_columns(audit))}</p>",
        to_html(_estimates(audit), _FORMATS),
    ]


def audit_tables(audit: Audit) -> list[Table | Passage]:
    """Return what the command prints.

    Parameters
    ----------
    audit : Audit
    """
    if not audit.judged:
        return [Passage(_TITLE, (audit.verdict,))]
    return [
        Passage(_TITLE, (audit.verdict, _columns(audit))),
        Table("evidence against the model", _evidence(audit), {"e-value": ".3g"}),
        Table(f"by the model and by the audit, {audit.measure}", _estimates(audit), _FORMATS),
    ]


def _evidence(audit: Audit) -> pd.DataFrame:
    """Return a row for each group of bets, then one for all."""
    values = {**audit.evidence, "all": audit.e_value}
    return pd.DataFrame({"evidence about": list(values), "e-value": list(values.values())})


def _estimates(audit: Audit) -> pd.DataFrame:
    """Return the estimates, and in words whether they agree with the model."""
    words = {True: "yes", False: "no"}
    frame = audit.to_frame()
    agrees = [words.get(value, "too few to tell") for value in frame["agrees"].astype(object)]
    return frame.assign(agrees=agrees)


def _columns(audit: Audit) -> str:
    """Say what the columns of the estimates are."""
    return (
        f"Expected {audit.measure}, and its standard deviation, are the model's, which has not "
        "seen the audit's judgments. The estimate, with its standard error se, is by the model "
        "adjusted to these judgments, and corrected by the errors that the sample found. Its "
        f"limits, stated from {FEWEST} judged documents on, hold the true value at every look with "
        f"probability {1.0 - audit.level:g}, of the documents that can be drawn, with an alarm or "
        "without: for large samples, and those of scores to first order about the adjusted model. "
        "A row agrees if the model's 95% interval and these limits overlap: the wider the limits, "
        "the less that says. Too few documents are judged to tell if there are no limits, or "
        "limits so wide that an interval of the model of this length would overlap "
        "them wherever it stood in the measure's range. Evidence about sharpness says "
        "whether probabilities are too near to 0 and 1, or too far from them. "
        f"{_JUDGED}"
    )
