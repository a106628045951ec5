"""Which pair needs another label, and from whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Labels
from rtc_bayes.crowd.aggregation import Aggregate
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types

if TYPE_CHECKING:
    import pandas as pd

type Floats = NDArray[np.float64]


@explains_types
def suggest_labels(labels: Labels, made: Aggregate, count: int = 10) -> pd.DataFrame:
    """Return the labels that are expected to tell most: of which pair, and by which judge.

    A label's gain is its mutual information with the true grade, under the probabilities of grades
    and what the judge is expected to say of each: by how much the log loss is expected to fall.

    Parameters
    ----------
    labels : Labels
    made : Aggregate
        Of these labels.
    count : int
        How many, each of another pair.

    Returns
    -------
    DataFrame
        topic, docno, judge (one who has not labelled the pair), probability of relevance, gain in
        nats; the largest gain first.

    Raises
    ------
    InputError
        An aggregate of other labels.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> docnos, judges = ["d1", "d1", "d2", "d2"], ["ann", "bob", "ann", "cas"]
    >>> labels = rb.Labels.of(["7"] * 4, docnos, judges, [1, 1, 1, 0])
    >>> rb.suggest_labels(labels, rb.aggregate(labels, "em"), 1)[["docno", "judge"]].values.tolist()
    [['d1', 'cas']]
    """
    import pandas as pd

    if made.pairs != tuple(labels.pair_ids()) or made.judges != labels.judges:
        raise InputError("the aggregate is of other labels", remedy="aggregate these labels")
    n = min(whole_number("count", count, least=1), len(made.pairs))
    said = np.zeros((len(made.pairs), len(labels.judges)), dtype=bool)
    said[labels.pairs().of_label, labels.judge_of] = True
    gains = np.full(len(made.pairs), -np.inf)
    judge = np.zeros(len(made.pairs), dtype=np.int64)
    for place, confusion in enumerate(_expected(made)):
        of_judge = _entropy(made.grades @ confusion) - made.grades @ _entropy(confusion)
        of_judge[said[:, place]] = -np.inf
        better = of_judge > gains
        gains[better], judge[better] = of_judge[better], place
    best = np.argsort(-gains, kind="stable")[:n]
    best = best[np.isfinite(gains[best])]
    topics, docnos = zip(*(made.pairs[i] for i in best), strict=True) if len(best) else ((), ())
    return pd.DataFrame(
        {
            "topic": topics,
            "docno": docnos,
            "judge": [made.judges[j] for j in judge[best]],
            "probability": made.probability[best],
            "gain": np.maximum(gains[best], 0.0),
        }
    )


def _expected(made: Aggregate) -> Floats:
    """Return what each judge is expected to say of each true grade: (judge, true, given)."""
    if made.confusion is not None:
        return made.confusion.mean(axis=0)
    counts = made.counts + 1.0 / made.counts.shape[1]
    return np.asarray(counts / counts.sum(axis=2, keepdims=True))


def _entropy(p: Floats) -> Floats:
    """Return the entropy of each distribution along the last axis, in nats."""
    return np.asarray(-(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1))
