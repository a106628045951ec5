"""What a comparison's judgments are too few for, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes import defaults
from rtc_bayes.collection.qrels import left_out

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments

# a system, with which labels tell half of what they might (LabelEvidence.told)
_FEWEST_LABELS = 50


def caution(judgments: Judgments, topics: Iterable[str]) -> str:
    """Say that nothing is judged on some topics, nothing relevant, or little; else nothing.

    Parameters
    ----------
    judgments : Judgments
    topics : iterable of str
        Those that the comparison is about.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> caution(rb.Judgments.none(pool), ["1"])
    'nothing is judged: the numbers rest on the lists alone'
    >>> print(caution(rb.Judgments.from_labels(pool, [0], [0]), ["1"]))
    no judged document is relevant: the scale of the scores is not known; with 1.0 judgments a
    topic, fewer than the 3.5 of the checks, a confidence is a hint
    """
    about = np.isin(judgments.pool.topics, [*topics])
    judged = (judgments.relevant + judgments.nonrelevant)[about].sum()
    labelled = judgments.judge_labels is not None
    if not judged:
        others = f" ({left_out(len(judgments.aside))})" if judgments.aside else ""
        rest = f"the lists{' and labels' * labelled} alone"
        return f"nothing is judged{others}: the numbers rest on {rest}"
    said = []
    if not judgments.relevant[about].sum():
        level, highest = judgments.relevance_level, judgments.highest_grade
        graded = f"grade {highest:g} is the highest judged, and {level} the lowest relevant one: "
        said.append(
            f"no judged document is relevant: {graded * bool(highest)}the scale of the scores is "
            "not known"
        )
    each = judged / about.sum()
    if each < defaults.LEAST and not _labels_tell(judgments):
        said.append(
            f"with {each:.1f} judgments a topic, fewer than the {defaults.LEAST} of the checks, a "
            "confidence is a hint"
        )
    return "; ".join(said)


def _labels_tell(judgments: Judgments) -> bool:
    """Whether judges' labels tell of systems as judgments do: many, and not all alike."""
    labels, pool = judgments.judge_labels, judgments.pool
    if labels is None:
        return False
    document = labels.located(pool)
    inside = document >= 0
    labelled = np.zeros(pool.n_documents, dtype=bool)
    labelled[document[inside]] = True
    several = len(np.unique(labels.grade[inside])) > 1
    return several and int(labelled[pool.ranked].sum()) >= _FEWEST_LABELS * pool.n_systems
