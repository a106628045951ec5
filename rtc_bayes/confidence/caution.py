"""What a comparison's judgments are too few for, or tell wrong, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes import defaults
from rtc_bayes.collection.qrels import left_out
from rtc_bayes.collection.relevant_alone import of_relevant_alone
from rtc_bayes.measures.names import parse_measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rtc_bayes.collection import Judgments

# a system, with which labels tell half of what they might (LabelEvidence.told)
_FEWEST_LABELS = 50

# Where topics have about one relevant document, and judging has looked for it: as many judged
# topics or more, with as many relevant documents each or fewer, which are no larger a share of what
# is judged, and at least this share of the first ranks judged. Without that share no judgment says
# that there are few: of ordinary collections early judging finds as few.
_FEWEST_TOPICS = 10
_FEW_RELEVANT = 1.0
_RARE = 0.2
_FIRST_RANKS = 10
_LOOKED_AT = 0.4
# With a smaller share of the expected relevant documents unjudged, expected scores held.
_LEFT = 0.2


def caution(
    judgments: Judgments,
    topics: Iterable[str],
    measure: str = defaults.MEASURE,
    unjudged: float = 0.0,
) -> str:
    """Say that nothing is judged on some topics, nothing relevant or all, or little; else nothing.

    Parameters
    ----------
    judgments : Judgments
    topics : iterable of str
        Those that the comparison is about.
    measure : str, optional
        The comparison's, for what concerns only those that ask how many documents are relevant.
    unjudged : float, 0 to 1, optional
        Share of the relevant documents that are expected without a judgment.

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
    elif alone := of_relevant_alone(judgments, about):
        said.append(alone)
    elif unjudged >= _LEFT and parse_measure(measure).asks_how_many:
        said += _of_rare_relevance(judgments, about)
    each = judged / about.sum()
    if each < defaults.LEAST and not _labels_tell(judgments):
        # rounded down: 3.49 is fewer than 3.5
        few = math.floor(10.0 * each) / 10.0
        said.append(
            f"with {few:.1f} judgments a topic, fewer than the {defaults.LEAST} of the checks, a "
            "confidence is a hint"
        )
    return "; ".join(said)


def _of_rare_relevance(judgments: Judgments, about: NDArray[np.bool_]) -> list[str]:
    """Say that scores are expected too low, where topics have about one relevant document."""
    of_topic = judgments.relevant + judgments.nonrelevant
    about = about & (of_topic > 0)
    relevant, judged = judgments.relevant[about].sum(), of_topic[about].sum()
    topics = int(about.sum())
    each = relevant / max(topics, 1)
    # one run alone may miss what is relevant, and is cautioned about for that
    if judgments.pool.n_systems == 1:
        return []
    if topics < _FEWEST_TOPICS or each > _FEW_RELEVANT or relevant > _RARE * judged:
        return []
    entries = judgments.pool.entries
    first = about[entries.topic] & (entries.rank <= _FIRST_RANKS)
    if judgments.judged[judgments.pool.ranked[first]].mean() < _LOOKED_AT:
        return []
    return [
        f"with {each:.1f} relevant documents a topic, and much of the first ranks judged, more "
        "relevant documents are expected than there are, so that expected scores are too low: "
        "trust their order, or compare by RR@10 or P@k, which do not ask how many there are"
    ]


def _labels_tell(judgments: Judgments) -> bool:
    """Whether judges' labels tell of systems as judgments do: many, and not all alike.

    Beside such labels few judgments are no reason for a caution: with none, and with one a topic,
    the accuracy of ten runs' order was within 0.015 of the confidence by three language models
    (docs/results/judges-posterior.md, "Ten runs at random").
    """
    labels, pool = judgments.judge_labels, judgments.pool
    if labels is None:
        return False
    document = labels.located(pool)
    inside = document >= 0
    labelled = np.zeros(pool.n_documents, dtype=bool)
    labelled[document[inside]] = True
    several = len(np.unique(labels.grade[inside])) > 1
    return several and int(labelled[pool.ranked].sum()) >= _FEWEST_LABELS * pool.n_systems
