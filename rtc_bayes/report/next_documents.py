"""What stands above documents to judge next: by what they were chosen, how sure a pair is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtc_bayes import defaults
from rtc_bayes.collection.grades import counted_grades
from rtc_bayes.judging.judges.weighted import REFIT_EVERY, enough_to_fit
from rtc_bayes.measures import parse_measure
from rtc_bayes.report.tables import Format, probability, share_of_draws
from rtc_bayes.report.terminal import titled

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments
    from rtc_bayes.judging import Algorithm, NextDocuments

DOCUMENT_FORMATS: dict[str, Format] = {"weight": ".3g", "p": ".2f", "retrieved_by": "d"}
"""Of the columns of numbers of documents to judge next."""


def documents_title(
    chosen: NextDocuments,
    judgments: Judgments,
    algorithm: Algorithm,
    measure: str,
    *,
    for_pair: bool,
    seed: int,
) -> str:
    """Say by what documents were chosen, how sure the pair is, and whether judging may stop.

    Parameters
    ----------
    chosen : NextDocuments
    judgments : Judgments
        What was judged before.
    algorithm : Algorithm
        That chose them.
    measure : str
        By which systems are compared.
    for_pair : bool
        Whether they were chosen for two systems that were named.
    seed : int

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.judging import parse_algorithm
    >>> data = rb.simulate(n_topics=3, n_systems=3, seed=1)
    >>> pool = rb.Pool.from_runs(data.runs, depth=5)
    >>> judgments, mtc = rb.Judgments.none(pool), parse_algorithm("mtc")
    >>> chosen = rb.next_documents(pool, judgments, algorithm=mtc, count=1)
    >>> print(documents_title(chosen, judgments, mtc, "AP", for_pair=False, seed=0))
    mtc, 0 judged, seed 0
    least sure: site01a and site01b, confidence 0.536 (by mean probabilities, without the ...)
    weight: by how much the judgment can move the numerator of a difference
    p: how probably it is relevant, as far as is known now
    retrieved_by: how many runs have it in their lists
    """
    by = ""
    if algorithm.weighs_by_measure and measure != defaults.MEASURE:
        by = f" by {measure}"
    title = f"{algorithm.text}{by}, {judgments.n_judged} judged, seed {seed}"
    if of_grades := counted_grades(judgments.highest_grade, judgments.relevance_level):
        title += f"; {of_grades}"
        if by and parse_measure(measure).graded:
            title += ", and gains are by grade"
    all_sure = f"all pairs have {defaults.CONFIDENCE:g}, at which judging may stop"
    return titled(
        title,
        _sure(chosen, judgments, for_pair=for_pair),
        all_sure if chosen.may_stop else "",
        *_columns(chosen),
        chosen.why_none,
    )


def _columns(chosen: NextDocuments) -> list[str]:
    """Say what columns of numbers are."""
    if not chosen:
        return []
    weight = f"weight: {chosen.weight_text}" if chosen.weight_text else ""
    p = "p: how probably it is relevant, as far as is known now"
    of_p = p if any(each.p is not None for each in chosen) else ""
    return [weight, of_p, "retrieved_by: how many runs have it in their lists"]


def _sure(chosen: NextDocuments, judgments: Judgments, *, for_pair: bool) -> str:
    """Say how sure the pair asked for is, or which pair is least sure, and by what."""
    if chosen.pair is None or chosen.confidence is None:
        return ""
    # what a document can still change is not certain
    written = share_of_draws if chosen else probability
    pair, confidence = " and ".join(chosen.pair), written(chosen.confidence)
    differs = (
        "by mean probabilities, without the residual, for choosing documents; compare says how "
        "sure to be"
    )
    if not enough_to_fit(judgments):
        differs += f"; no model is fitted to fewer than {REFIT_EVERY} judgments: every p is 0.5"
    which = "for" if for_pair else "least sure"
    return f"{which}: {pair}, confidence {confidence} ({differs})"
