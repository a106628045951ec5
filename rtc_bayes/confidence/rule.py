"""The rule by which ``auto`` leaves the normal, pair by pair.

The errors that the thresholds stand for are measured in ``experiments/confidence_forms`` and
given in ``docs/confidence.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The normal serves up to this skewness and this excess kurtosis, in absolute value.
NORMAL_SKEWNESS = 0.15
NORMAL_KURTOSIS = 0.3

#: The corrected form serves up to these; beyond, outcomes are counted.
CORRECTED_SKEWNESS = 0.5
CORRECTED_KURTOSIS = 1.0

#: With fewer topics where the scores are uncertain, or a likelier tie, outcomes are counted:
#: the difference has atoms, which neither form has.
FEWEST_TOPICS = 3
LIKELIEST_TIE = 0.001

#: A form further from the shares of the outcomes than this many standard errors is not used.
FARTHEST = 3.0

#: Outcomes of the first look, which finds the pairs that may have left the normal. Skewness and
#: excess kurtosis then have standard errors 0.04 and 0.08: a quarter of the normal's limits.
PILOT = 4_000


def choose(
    skewness: ArrayLike,
    excess_kurtosis: ArrayLike,
    tie: ArrayLike,
    topics: ArrayLike,
    normal_gap: ArrayLike = 0.0,
    corrected_gap: ArrayLike = 0.0,
) -> NDArray[np.str_]:
    """Choose the form of each pair's probabilities.

    - ``montecarlo`` with fewer than 3 topics that have variance, or a tie likelier than 0.001;
    - else ``normal`` if abs(skewness) <= 0.15 and abs(excess kurtosis) <= 0.3, and its
      P(< 0) + P(= 0) / 2 is within 3 standard errors of the outcomes';
    - else ``corrected`` if abs(skewness) <= 0.5 and abs(excess kurtosis) <= 1, likewise;
    - else ``montecarlo``.

    A pair without variance has no shape (not a number) and is ``normal``: its difference is
    known.

    Parameters
    ----------
    skewness, excess_kurtosis : array_like, shape (pairs,)
        Of the difference; not a number where it has no variance.
    tie : array_like, shape (pairs,)
        Probability of a tie: the larger of a lower bound and the share of outcomes.
    topics : array_like of int, shape (pairs,)
        Topics on which either score is uncertain.
    normal_gap, corrected_gap : array_like, shape (pairs,)
        Distance of the form from the shares of the outcomes, in standard errors.

    Returns
    -------
    ndarray of str, shape (pairs,)
        ``normal``, ``corrected`` or ``montecarlo``.

    Examples
    --------
    >>> choose([0.1, 0.4, 2.0], [0.1, 0.2, 5.0], tie=0.0, topics=50).tolist()
    ['normal', 'corrected', 'montecarlo']
    """
    skewness, kurtosis = np.abs(skewness), np.abs(excess_kurtosis)
    certain = np.isnan(skewness)
    atoms = (np.asarray(tie) > LIKELIEST_TIE) | (np.asarray(topics) < FEWEST_TOPICS)
    nearly = (skewness <= NORMAL_SKEWNESS) & (kurtosis <= NORMAL_KURTOSIS)
    mildly = (skewness <= CORRECTED_SKEWNESS) & (kurtosis <= CORRECTED_KURTOSIS)
    use_normal = certain | (~atoms & nearly & (np.asarray(normal_gap) <= FARTHEST))
    use_corrected = ~atoms & mildly & (np.asarray(corrected_gap) <= FARTHEST)
    return np.select([use_normal, use_corrected], ["normal", "corrected"], "montecarlo")
