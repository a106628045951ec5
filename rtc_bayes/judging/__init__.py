"""Which document to judge next, when to stop, and judging sessions."""

from __future__ import annotations

from rtc_bayes.judging.actions import next_actions
from rtc_bayes.judging.algorithm import (
    Algorithm,
    AlgorithmLike,
    parse_algorithm,
    split_algorithms,
)
from rtc_bayes.judging.audit_grades import SplitAudit, split_audit
from rtc_bayes.judging.audit_list import Arrivals, audit_documents, audit_order
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
    "AlgorithmLike",
    "Arrivals",
    "Audit",
    "Chooser",
    "HoldOutSession",
    "Judge",
    "JudgingPlan",
    "JudgingResult",
    "JudgingSession",
    "NextDocument",
    "NextDocuments",
    "SplitAudit",
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
    "split_audit",
]

__getattr__ = moved_names(
    __name__,
    {
        "Suggestions": "judging.NextDocuments",
        "suggest": "next_documents",
        "with_grades": "split_audit",
        "without_audit": "split_audit",
    },
)
