"""What is said of labels beside judgments: whose count less, what the lack of one means."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.errors import ByLotWarning, SharedErrorsWarning, UnlabelledWarning
from rtc_bayes.relevance.label_evidence import LabelEvidence
from rtc_bayes.store.shown import counted

# of a judge with less credit it is said
_LITTLE_CREDIT = 0.5


def remarks_on_labels(judgments: Judgments) -> Iterator[tuple[str, type[Warning]]]:
    """Yield what a user should know of the labels beside judgments, each with its category.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> labels, judged = rb.Labels.of(["1"], ["a"], ["llm"], [1]), rb.Judgments.none(pool)
    >>> [category.__name__ for _, category in remarks_on_labels(judged.with_judge_labels(labels))]
    ['UnlabelledWarning']
    """
    if judgments.judge_labels is None:
        return
    evidence = LabelEvidence(judgments)
    by_category = (
        (_on_lot(evidence), ByLotWarning),
        (_on_sharing(evidence), SharedErrorsWarning),
        (_on_unlabelled(evidence), UnlabelledWarning),
    )
    yield from ((remark, category) for remark, category in by_category if remark is not None)


def _on_lot(evidence: LabelEvidence) -> str | None:
    """Warn in one sentence of judges whose labels do not go with the ranks."""
    little, names = np.flatnonzero(evidence.credit < _LITTLE_CREDIT), evidence.judges
    if not len(little):
        return None
    few = ", ".join(f"{names[j]} (counts {evidence.credit[j]:.2f})" for j in little[:5])
    others = f" and {len(little) - 5} more" if len(little) > 5 else ""
    return (
        f"labels of {few}{others} go with the systems' ranks hardly more than labels by lot would, "
        "and count less: where the runs are poor and the labels good, judge some of the documents "
        "that have labels; they count in full once these judgments bear them out"
    )


def _on_sharing(evidence: LabelEvidence) -> str | None:
    """Warn in one sentence of systems that share the judges' errors."""
    shares = np.flatnonzero(evidence.shares)
    if not len(shares):
        return None
    by_part = np.argsort(-evidence.shared.part[shares], kind="stable")
    named = ", ".join(evidence.pool.systems[s] for s in shares[by_part])
    return (
        f"the order of {named} is as near to the judges' labels as that of a ranker made from "
        "them: labels count less for such a run, and its pairs are less sure; judgments of "
        "documents that it ranks high tell whether it is good"
    )


def _on_unlabelled(evidence: LabelEvidence) -> str | None:
    """Say in one sentence what documents without a label are taken for."""
    if not evidence.is_partial:
        return None
    has_label = evidence.labelled
    without = int((evidence.passed_over & ~evidence.judgments.judged).sum())
    labelled = int(has_label.sum())
    if evidence.is_sample:
        judged = int(evidence.judgments.judged[has_label].sum())
        return (
            f"people judged {judged:,} of {counted(labelled, 'document')} with a label, so that "
            "labels are taken for a sample that checks the judge: what has no label is "
            "predicted as without labels"
        )
    has, is_ = ("has", "is") if without == 1 else ("have", "are")
    return (
        f"{counted(without, 'document')} {has} neither judgment nor label, and {is_} taken for "
        "rarely relevant, as what was not worth one; if only a sample was to be "
        "labelled, give the others the label -1 (unanswered)"
    )
