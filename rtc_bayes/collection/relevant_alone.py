"""Judgments that are all, or nearly all, of relevant documents, as qrels of positives only are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rtc_bayes.collection.judgments import Judgments

# The share of judged documents that may be relevant in honest judgments, as of the first
# documents of a good system; and how improbable as many by this share are.
_MOST_RELEVANT = 0.9
_IMPROBABLE = 0.1

_ADVICE = (
    " tells how rare relevant documents are: give the nonrelevant judgments as well, judge more "
    "documents, or score with evaluate, which takes all other documents for nonrelevant"
)


def nearly_all_relevant(relevant: int, nonrelevant: int) -> bool:
    """Whether there are fewer nonrelevant judgments than chance leaves where 90% are relevant.

    Parameters
    ----------
    relevant, nonrelevant : int
        How many judged documents are.

    Examples
    --------
    >>> nearly_all_relevant(21, 0), nearly_all_relevant(22, 0)
    (False, True)
    >>> nearly_all_relevant(90, 10), nearly_all_relevant(96, 4)
    (False, True)
    """
    from scipy.stats import binom

    by_chance = binom.cdf(nonrelevant, relevant + nonrelevant, 1.0 - _MOST_RELEVANT)
    return bool(by_chance < _IMPROBABLE)


def of_relevant_alone(judgments: Judgments, about: NDArray[np.bool_] | None = None) -> str:
    """Say that all or nearly all judged documents are relevant, and what to do; else nothing.

    Parameters
    ----------
    judgments : Judgments
    about : ndarray of bool, shape (topics,), optional
        Topics that are meant; by default all.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> docnos = [f"d{n}" for n in range(30)]
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": docnos})]))
    >>> print(of_relevant_alone(rb.Judgments.from_labels(pool, range(30), [1] * 30)))
    all 30 judged documents are relevant, so nothing tells how rare relevant documents are: give
    the nonrelevant judgments as well, judge more documents, or score with evaluate, which takes
    all other documents for nonrelevant
    >>> of_relevant_alone(rb.Judgments.from_labels(pool, range(30), [1] * 20 + [0] * 10))
    ''
    """
    counts = np.stack([judgments.relevant, judgments.nonrelevant])
    if about is not None:
        counts = counts[:, about]
    relevant, nonrelevant = np.rint(counts.sum(axis=1)).astype(int).tolist()
    if not nearly_all_relevant(relevant, nonrelevant):
        return ""
    judged = counted(relevant + nonrelevant, "judged document")
    those = f"all but {nonrelevant:,} of {judged}" if nonrelevant else f"all {judged}"
    tells = "next to nothing" if nonrelevant else "nothing"
    if judgments.judge_labels is not None:
        tells = f"{tells} but labels"
    return f"{those} are relevant, so {tells}{_ADVICE}"


def without_advice(text: str) -> str:
    """Leave of what :func:`of_relevant_alone` says the first clause, where the rest is said before.

    Parameters
    ----------
    text : str
        That may hold it, and other words after it.

    Examples
    --------
    >>> docnos = [f"d{n}" for n in range(30)]
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": docnos})]))
    >>> judgments = rb.Judgments.from_labels(pool, range(30), [1] * 30)
    >>> without_advice(of_relevant_alone(judgments) + "; other words")
    'all 30 judged documents are relevant; other words'
    >>> without_advice("other words")
    'other words'
    """
    before, advice, after = text.partition(_ADVICE)
    return before.rpartition(", so ")[0] + after if advice else text
