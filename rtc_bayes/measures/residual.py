"""What a pool cannot tell of whole lists, though all its documents be judged."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rtc_bayes.measures.names import Kind, MeasureLike, parse_measure

# nDCG with a cutoff down to here depends little on how many documents are relevant
_SHALLOW = 100


@dataclass(frozen=True)
class ResidualRule:
    """Standard deviation of what is left: n_systems^-power sqrt(lasting^2 + by_topic^2 / n_topics).

    Attributes
    ----------
    power : float
        How fast more systems take it off.
    lasting : float
        Of a system alone, on however many topics.
    by_topic : float
        Of a system alone, on a topic.
    """

    power: float
    lasting: float
    by_topic: float


# these do not ask how many documents are relevant
_OF_SEEN: tuple[Kind, ...] = ("P", "RBP", "RR", "DCG", "ERR", "Success")

# mean squares over four collections: python -m experiments.whole_lists.residual
_AP = ResidualRule(0.62, 0.022, 0.095)
_NDCG = ResidualRule(0.59, 0.028, 0.103)
_NDCG_AT_THE_TOP = ResidualRule(0.75, 0.0045, 0.044)
_R = ResidualRule(0.63, 0.057, 0.193)


def residual_parts(measure: MeasureLike, n_systems: int) -> tuple[float, float]:
    """Return the parts of :func:`expected_residual`'s variance: what stays, and that of one topic.

    Over T topics the variance is the first and a T-th of the second.

    Examples
    --------
    >>> from rtc_bayes.measures.residual import expected_residual
    >>> stays, of_topic = residual_parts("AP", 10)
    >>> math.isclose(expected_residual("AP", 10, 50) ** 2, stays + of_topic / 50)
    True
    """
    parsed = parse_measure(measure)
    if parsed.kind in _OF_SEEN:
        return 0.0, 0.0
    rule = {"nDCG": _NDCG, "R": _R}.get(parsed.kind or "AP", _AP)
    if parsed.kind == "nDCG" and (parsed.cutoff or math.inf) <= _SHALLOW:
        rule = _NDCG_AT_THE_TOP
    share = n_systems ** (-2.0 * rule.power)
    return share * rule.lasting**2, share * rule.by_topic**2


def expected_residual(measure: MeasureLike, n_systems: int, n_topics: int) -> float:
    """Return the residual of a system's mean score: ``Estimand(residual="auto")``.

    With every document of a pool of depth 100 judged, whole lists scored and unseen relevant
    documents expected by the jackknife, this is what is left of differences between systems, over
    the square root of 2: the root of the mean square over sets of systems of TREC-8, Robust 2003,
    DL 2020 and CLEF eHealth 2015. It comes from relevant documents that nobody pooled, so measures
    that do not ask how many there are (P@k, RBP, RR, DCG@k, ERR, Success@k) have none. Bpref and
    Rprec have that of AP.

    Parameters
    ----------
    measure : str or Measure
    n_systems, n_topics : int
        At least 1.

    Returns
    -------
    float
        At least 0, in the measure's units.

    Examples
    --------
    >>> from rtc_bayes.measures.residual import expected_residual
    >>> [round(expected_residual("AP", systems, 50), 4) for systems in (2, 10)]
    [0.0168, 0.0062]
    >>> expected_residual("P@10", 2, 50)
    0.0
    """
    stays, of_topic = residual_parts(measure, n_systems)
    return math.sqrt(stays + of_topic / max(n_topics, 1))
