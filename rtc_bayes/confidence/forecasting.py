"""How many more judgments until one is sure of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes.confidence.comparing import compare
from rtc_bayes.confidence.study import Kind, number_of
from rtc_bayes.confidence.subpool import with_systems

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool, Relevance


def forecast(
    pool: Pool,
    relevance: Relevance,
    a: str,
    b: str,
    *,
    confidence: float = 0.95,
    measure: str = "AP",
    moments: Kind = "exact",
    seed: int = 0,
    topics: Sequence[str] | None = None,
    residual: float = 0.0,
) -> int | None:
    """Forecast how many more judgments make one sure which of two systems is the better.

    Documents are judged in the order of what each is expected to take off the variance, and the
    expected difference moves as the probabilities of relevance say it will: the forecast is the
    median number at which it first is sure. Where the probabilities are wrong so is the forecast
    (docs/confidence.md says how far on TREC-8), and it does not count how judgments narrow a
    posterior of the parameters.

    Parameters
    ----------
    pool, relevance, measure, moments, seed, topics, residual
        As in :func:`rtc_bayes.compare`.
    a, b : str
        Systems.
    confidence : float
        To reach, above 0.5 and below 1.

    Returns
    -------
    int or None
        0 if the pair has the confidence already; None if all judgments would rather not give it.

    Raises
    ------
    InputError
        As in :func:`rtc_bayes.compare`, and a measure without known moments.
    """
    two = np.array([number_of(pool.systems, name) for name in (a, b)])
    found = compare(
        with_systems(pool, two),
        relevance,
        measure=measure,
        moments=moments,
        seed=seed,
        topics=topics,
        residual=residual,
        forecast=confidence,
    )
    return found.pair(a, b).judgments_needed
