"""Which document to judge next, when to stop, and judging sessions."""

from __future__ import annotations

from rtc_bayes.judging.actions import next_actions
from rtc_bayes.judging.algorithm import Algorithm, parse_algorithm, split_algorithms
from rtc_bayes.judging.audit_list import (
    audit_documents,
    audit_order,
    with_grades,
    without_audit,
)
from rtc_bayes.judging.audit_result import Audit
from rtc_bayes.judging.auditing import audit
from rtc_bayes.judging.building import JudgingResult, build
from rtc_bayes.judging.choosing import next_documents
from rtc_bayes.judging.documents import NextDocument, NextDocuments
from rtc_bayes.judging.held_out import HoldOutSession
from rtc_bayes.judging.judges import Chooser, Judge, available_judges
from rtc_bayes.judging.judging_plan import JudgingPlan
from rtc_bayes.judging.planning import plan
from rtc_bayes.judging.session import JudgingSession, Step
from rtc_bayes.moved import moved_names

__all__ = [
    "Algorithm",
    "Audit",
    "Chooser",
    "HoldOutSession",
    "Judge",
    "JudgingPlan",
    "JudgingResult",
    "JudgingSession",
    "NextDocument",
    "NextDocuments",
    "Step",
    "audit",
    "audit_documents",
    "audit_order",
    "available_judges",
    "build",
    "next_actions",
    "next_documents",
    "parse_algorithm",
    "plan",
    "split_algorithms",
    "with_grades",
    "without_audit",
]

__getattr__ = moved_names(
    __name__, {"Suggestions": "judging.NextDocuments", "suggest": "next_documents"}
)
