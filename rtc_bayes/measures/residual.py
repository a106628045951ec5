"""What a comparison cannot tell of whole lists: what nobody pooled, what a model gets wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rtc_bayes.measures.names import MeasureLike, parse_measure


@dataclass(frozen=True)
class ResidualRule:
    """Parts of a residual variance: what lasts, and what a model gets wrong between judgments.

    On n topics, with a share u of what is relevant expected without a judgment, the variance is
    n_systems^-(2 power) (lasting^2 + by_topic^2 / n) + u (1 - u) (wrong^2 + wrong_by_topic^2 / n).
    Systems share it as far as their lists are alike.

    Attributes
    ----------
    power : float
        How fast more systems take the first part off.
    lasting, by_topic : float
        Of a system alone: on however many topics, and on one topic.
    common : float
        What all scores share, as a share of them, of a system alone.
    unjudged, by_grade : float
        What it has more with nothing judged, and where gains go by grade besides: what grades
        documents have is one error more.
    wrong, wrong_by_topic : float
        Between judgments: on however many topics, and on one topic.
    short : float
        What all scores share where lists are cut short, as a share of them, of lists that are e
        times shorter than 100.
    unguessed : float
        The same of a system alone where nothing is guessed of what lies below.
    """

    power: float
    lasting: float
    by_topic: float
    common: float
    unjudged: float = 0.0
    by_grade: float = 0.0
    wrong: float = 0.0
    wrong_by_topic: float = 0.0
    short: float = 0.0
    unguessed: float = 0.0

    def parts(self, n_systems: int, unjudged: float) -> tuple[float, float]:
        """Return the variance on however many topics, and that of one topic."""
        share = n_systems ** (-2.0 * self.power)
        between = unjudged * (1.0 - unjudged)
        return (
            share * self.lasting**2 + between * self.wrong**2,
            share * self.by_topic**2 + between * self.wrong_by_topic**2,
        )


# likeliest on four collections: python -m experiments.whole_lists.residual, with what all scores
# share; how little more that is where little is judged: python -m
# experiments.whole_lists.common_error, and with --grades; what is wrong between judgments:
# python -m experiments.whole_lists.misfit; of short lists: python -m
# experiments.whole_lists.short_lists
_AP = ResidualRule(
    0.62, 0.0094, 0.107, 0.21, wrong=0.0186, wrong_by_topic=0.073, short=0.12, unguessed=0.38
)
_NDCG = ResidualRule(
    0.57, 0.026, 0.119, 0.14, wrong=0.029, wrong_by_topic=0.064, short=0.08, unguessed=0.30
)
_NDCG_AT_THE_TOP = ResidualRule(0.97, 0.010, 0.084, 0.016, 0.037, 0.14, short=0.006, unguessed=0.04)
_R = ResidualRule(
    0.59, 0.054, 0.202, 0.20, wrong=0.039, wrong_by_topic=0.052, short=0.12, unguessed=0.38
)
_NONE = ResidualRule(0.0, 0.0, 0.0, 0.0)
_UNGUESSED_POWER = 0.35
LONG = 100
"""Lists of so many documents are long enough: what is fitted is fitted to such."""
SHORTEST = 10
"""Shorter lists do not tell what lies below them."""


def _rule(measure: MeasureLike) -> ResidualRule:
    """Return the rule of a measure."""
    parsed = parse_measure(measure)
    if not parsed.asks_how_many:
        return _NONE
    if parsed.kind == "nDCG" and not parsed.depends_on_unseen:
        return _NDCG_AT_THE_TOP
    return {"nDCG": _NDCG, "R": _R}.get(parsed.kind or "AP", _AP)


def residual_parts(
    measure: MeasureLike, n_systems: int, unjudged: float = 0.0
) -> tuple[float, float]:
    """Return the parts of :func:`expected_residual`'s variance: what stays, and that of one topic.

    Over T topics the variance is the first and a T-th of the second.

    Examples
    --------
    >>> from rtc_bayes.measures.residual import expected_residual
    >>> stays, of_topic = residual_parts("AP", 10)
    >>> math.isclose(expected_residual("AP", 10, 50) ** 2, stays + of_topic / 50)
    True
    """
    return _rule(measure).parts(n_systems, unjudged)


def expected_common_error(
    measure: MeasureLike, n_systems: int, unjudged: float = 0.0, *, by_grade: bool = False
) -> float:
    """Return how far expected scores of all systems may be off together, as a share of them.

    How many documents are relevant is the same number for every system, and it is not known well:
    nobody pooled all of them. What is wrong with it moves all scores, and their differences, by
    one factor, and changes the sign of no difference. Its standard deviation is
    sqrt(k^2 + c^2 u^2) / sqrt(n), for n systems and a share u of what is relevant that is expected
    without a judgment. Of AP, nDCG of whole lists and R@k c is 0: the error is the same whether
    many documents are judged or few. Of nDCG@k it is larger where gains go by grade, since grades
    are not known either.

    Parameters
    ----------
    measure : str or Measure
        Of those that do not ask how many documents are relevant none has it.
    n_systems : int, at least 1
    unjudged : float, 0 to 1
        As of :func:`expected_residual`.
    by_grade : bool
        Whether gains go by grade.

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> from rtc_bayes.measures.residual import expected_common_error
    >>> [round(expected_common_error("AP", systems, 0.9), 3) for systems in (1, 4, 10)]
    [0.21, 0.105, 0.066]
    >>> [round(expected_common_error("nDCG@10", 10, 0.9, by_grade=g), 3) for g in (False, True)]
    [0.012, 0.04]
    >>> expected_common_error("P@10", 4, 0.9)
    0.0
    """
    rule = _rule(measure)
    added = rule.by_grade if by_grade else rule.unjudged
    return math.hypot(rule.common, added * unjudged) / math.sqrt(n_systems)


def short_lists_error(
    measure: MeasureLike, n_systems: int, cut_at: int, guessed: float = 1.0
) -> float:
    """Return how far expected scores are off together where all lists are cut short, as a share.

    How many relevant documents lie below the end of every list is guessed from those near the
    ends (:func:`rtc_bayes.confidence.unseen.relevant_below`), and what is wrong with the guess is
    one factor of all scores. Its standard deviation is short ln(100 / L) of lists cut at rank L, by
    the same four collections. Where nothing is guessed, as of lists that end before rank 10, all
    that lies below is error: unguessed n^-.35 ln(100 / L) for n systems, L being 10 at least, and
    no less than with the guess.

    Parameters
    ----------
    measure : str or Measure
        Of those that do not ask how many documents are relevant none has it.
    n_systems, cut_at : int, at least 1
    guessed : float, 0 to 1
        How much is guessed.

    Returns
    -------
    float
        At least 0; 0 where lists are cut at rank 100 or later.

    Examples
    --------
    >>> [round(short_lists_error("AP", 10, rank), 2) for rank in (10, 20, 50, 100)]
    [0.28, 0.19, 0.08, 0.0]
    >>> [round(short_lists_error("AP", 10, rank, guessed=0.0), 2) for rank in (5, 10, 20)]
    [0.39, 0.39, 0.27]
    """
    rule = _rule(measure)
    without = max(rule.unguessed * n_systems**-_UNGUESSED_POWER, rule.short)
    shorter = math.log(LONG / min(max(cut_at, SHORTEST), LONG))
    return (guessed * rule.short + (1.0 - guessed) * without) * shorter


def expected_residual(
    measure: MeasureLike, n_systems: int, n_topics: int, unjudged: float = 0.0
) -> float:
    """Return the residual of a system's mean score: ``Estimand(residual="auto")``.

    With every document of a pool of depth 100 judged, whole lists scored and unseen relevant
    documents expected by the jackknife, this is what is left of one system's score, beyond the
    error that all share (:func:`expected_common_error`): as is likeliest by sets of systems of
    TREC-8, Robust 2003, DL 2020 and CLEF eHealth 2015. Of a difference it is the more, the less the
    two lists are alike (:func:`rtc_bayes.confidence.likeness.likeness`). It comes from relevant
    documents that nobody pooled, so measures that do not ask how many there are (P@k, RBP, RR,
    DCG@k, ERR, Success@k) have none. Bpref and Rprec have that of AP.

    Where some of what is relevant has a judgment and some has none, AP, nDCG of whole lists and
    R@k have more: what a model gets wrong of the documents between, beyond its own variance, by
    errors of `robust` given complete judgments of shallow pools of the same collections.

    Parameters
    ----------
    measure : str or Measure
    n_systems, n_topics : int
        At least 1.
    unjudged : float, 0 to 1
        Share of the relevant documents that are expected without a judgment. Judgments of all
        documents, and judgments of next to none, have nothing between: at 0 and at 1 only what
        nobody pooled is left.

    Returns
    -------
    float
        At least 0, in the measure's units.

    Examples
    --------
    >>> from rtc_bayes.measures.residual import expected_residual
    >>> [round(expected_residual("AP", systems, 50), 4) for systems in (2, 10)]
    [0.0116, 0.0043]
    >>> round(expected_residual("AP", 10, 50, unjudged=0.5), 4)
    0.0115
    >>> expected_residual("P@10", 2, 50, unjudged=0.5)
    0.0
    """
    stays, of_topic = residual_parts(measure, n_systems, unjudged)
    return math.sqrt(stays + of_topic / max(n_topics, 1))
