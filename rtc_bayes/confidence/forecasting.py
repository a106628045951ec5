"""How many more judgments until one is sure of a pair."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes.confidence.comparing import compare_setting
from rtc_bayes.confidence.setting import MOVED, MomentKind, RelevanceLike, Setting, two_systems
from rtc_bayes.signatures import explains_types, moved

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool
    from rtc_bayes.measures.estimand import EstimandLike


@explains_types
@moved(**MOVED)
def forecast(
    pool: Pool,
    relevance: RelevanceLike,
    a: str,
    b: str,
    estimand: EstimandLike = None,
    *,
    confidence: float = 0.95,
    moments: MomentKind = "exact",
    seed: int = 0,
) -> int | None:
    """Forecast how many more judgments make one sure which of two systems is the better.

    Documents are judged in the order of what each is expected to take off the variance, and the
    expected difference moves as the probabilities of relevance say it will: the forecast is the
    median number at which it first is sure. Where the probabilities are wrong so is the forecast
    (docs/confidence.md says how far on TREC-8), and it does not count how judgments narrow a
    posterior of the parameters.

    Parameters
    ----------
    pool, relevance, estimand, moments, seed
        As in :func:`rtc_bayes.compare`. Unseen documents cannot be judged: their variance stays.
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

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings
    >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
    >>> pool = rb.Pool.from_runs(runs)
    >>> rb.forecast(pool, rb.Relevance.from_values(pool, [0.9, 0.1]), "A", "B")  # of x and y
    1
    """
    setting = Setting.from_pool(pool, relevance, estimand, moments=moments, seed=seed)
    # of the two in one order: near .5 a number can differ by one
    pair = replace(setting, pairs=np.sort(two_systems(setting.pool, a, b)))
    comparison = compare_setting(pair.of_pairs(pair.pairs)).with_forecast(confidence)
    return comparison.pair(a, b).judgments_needed
