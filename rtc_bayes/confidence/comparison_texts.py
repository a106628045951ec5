"""What a comparison says of itself in words: how moments were had, and what to take care of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.measures.names import parse_measure

Floats = NDArray[np.float64]

SETTLED = 1e-7
"""Of a standard deviation: at most so much is rounding, and nothing is unsure."""
# the share of relevant documents without a judgment at which their number is known well enough
_KNOWN = 0.05
# of a score, an error that no table shows
_NOTHING = 0.005
# the share of something that is most of it
_MOSTLY = 0.5
FEWEST, MOST = 8, 50
"""Fewer, and more, have expected MAPs that are off together (docs/reading-a-confidence.md)."""


def number_in(meta: Mapping[str, object], key: str, default: float = 0.0) -> float:
    """Return a number that a comparison's meta holds, or else the default."""
    return float(str(meta.get(key, default)))


class ComparisonTexts:
    """Sentences about a comparison, for tables and pages; its attributes are the comparison's.

    Attributes
    ----------
    systems, measure, moments, method, sd, p_rope, judgments_needed, meta
        As of :class:`rtc_bayes.Comparison`.
    """

    systems: tuple[str, ...]
    measure: str
    moments: str
    method: str
    sd: Floats
    p_rope: Floats | None
    judgments_needed: tuple[int | None, ...] | None
    meta: Mapping[str, object]

    @property
    def moments_text(self) -> str:
        """Where means and variances come from, in words.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=2, seed=1).runs, depth=5)
        >>> p = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
        >>> rb.compare(pool, p).moments_text
        'exact moments'
        >>> rb.compare(pool, p, "ERR@10", outcomes=2000).moments_text
        'moments by sampling relevance 2,000 times'
        """
        match self.moments:
            case "montecarlo":
                times = f" {self.meta['outcomes']:,} times" if "outcomes" in self.meta else ""
                return f"moments by sampling relevance{times}"
            case "plugin":
                return "plug-in moments"
            case kind:
                return f"{kind} moments"

    @property
    def level_text(self) -> str | None:
        """Say that scores are off where systems are few or very many, or lists or pools are short.

        Fewer than eight systems retrieve too little to tell how many relevant documents there are,
        and nothing is judged at the foot of the lists of more than fifty. Average precision, nDCG
        and recall of whole lists depend on that number. Of many systems of which next to all is
        judged the level is known, and of any where judgments tell of what none of them retrieved,
        too. Where lists are cut short what lies below is guessed. A measure of more ranks than are
        pooled counts documents outside the pool as nonrelevant. None otherwise.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=2, seed=1).runs, depth=5)
        >>> drawn = rb.Relevance.from_values(pool, np.full((1, 2, pool.n_documents), 0.5))
        >>> print(rb.compare(pool, drawn).level_text)
        expected scores of 2 systems are often all too high or all too low: trust their order more
        than their values
        >>> rb.compare(pool, drawn, "P@5").level_text
        """
        outside = number_in(self.meta, "outside_pool")
        if outside >= _NOTHING:
            measure = parse_measure(self.measure)
            return (
                f"{outside:.0%} of the documents that {measure} counts are outside the pool of "
                f"depth {self.meta['pooled_to']} and count as nonrelevant, so that scores are "
                f"{'off' if measure.asks_how_many else 'too low'}: give depth {measure.cutoff} "
                "(--depth)"
            )
        systems = len(self.systems)
        about = self.meta.get("scope") == "whole" and parse_measure(self.measure).depends_on_unseen
        certain = number_in(self.meta, "unjudged_relevant", 1.0) <= _KNOWN
        every_one = certain and number_in(self.meta, "guessed_relevant", 1.0) <= _KNOWN
        if number_in(self.meta, "short_lists_error") >= _NOTHING and about:
            said = "guessed: scores and their differences may be off"
            if number_in(self.meta, "below_lists_guessed") < _MOSTLY:
                said = "not known: scores and their differences may be far too large"
            return (
                f"lists are cut at rank {int(number_in(self.meta, 'lists_cut_at'))}, and relevant "
                f"documents below are {said}, all by one factor; which system is better is as "
                "sure as it says"
            )
        if not about or FEWEST <= systems <= MOST or every_one or (systems > MOST and certain):
            return None
        if systems == 1:
            return (
                "one run does not tell how many relevant documents it missed: its expected score "
                "may be far off"
            )
        return (
            f"expected scores of {systems} systems are often all too high or all too low: trust "
            "their order more than their values"
        )

    @property
    def common_text(self) -> str | None:
        """Say how far all scores may be off together, or None where that is next to nothing.

        The error is one factor of all scores: 7% of a score of 0.30 is 0.021.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=9, seed=1).runs, depth=5)
        >>> p = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
        >>> print(rb.compare(pool, p).common_text)
        all scores may be too high or too low together, with a standard deviation of 7% of each
        score (...)
        >>> rb.compare(pool, p, "P@5").common_text
        """
        common = number_in(self.meta, "common_error")
        if common < _NOTHING:
            return None
        rope = " and no P(too small to matter)" if self.p_rope is not None else ""
        return (
            f"all scores may be too high or too low together, with a standard deviation of "
            f"{common:.0%} of each score (intervals allow for it; it moves no P(better){rope})"
        )

    @property
    def settled(self) -> bool:
        """Whether nothing is unsure of any score."""
        return not (self.sd > SETTLED).any()

    @property
    def judged_text(self) -> str:
        """Say what the judgments are too few for; nothing where no score is unsure.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> fit = rb.fit(pool, rb.Judgments.from_labels(pool, [0], [1], judged_for=["one"]))
        >>> print(rb.compare(pool, fit).judged_text)
        with 1.0 judgments a topic, fewer than the 3.5 of the checks, a confidence is a hint
        >>> rb.compare(pool, fit, "P@1").judged_text
        ''
        """
        return "" if self.settled else str(self.meta.get("judged", ""))

    @property
    def seed_text(self) -> str:
        """Say by how much draws of another seed may move a P(better); nothing below 0.01.

        Two of the largest standard error that draws leave in any pair.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> simulated = rb.simulate(n_topics=5, n_systems=3, seed=1)
        >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
        >>> fit = rb.fit(pool, rb.Judgments.none(pool), model="hierarchical", draws=100)
        >>> rb.compare(pool, fit).seed_text
        'another seed may move a P(better) by 0.02, and by less with more draws of the fit'
        """
        moved = 2.0 * number_in(self.meta, "draws_error")
        said = f"another seed may move a P(better) by {moved:.2f}"
        more = (
            "outcomes or draws of the fit" if self.moments == "montecarlo" else "draws of the fit"
        )
        return f"{said}, and by less with more {more}" if moved >= 0.01 else ""

    @property
    def point_text(self) -> str:
        """Say that probabilities that were given count as if they were sure themselves.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=2, seed=1).runs, depth=5)
        >>> p = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5), method="given")
        >>> print(rb.compare(pool, p).point_text)
        every document has one probability, as given: how unsure these are is not counted, so
        P(better) is too sure where a model estimated them
        """
        if self.method != "given" or self.settled:
            return ""
        return (
            "every document has one probability, as given: how unsure these are is not counted, so "
            "P(better) is too sure where a model estimated them"
        )

    @property
    def forecast_text(self) -> str:
        """Say how far to trust the numbers of judgments that are forecast, if they are."""
        forecasts = "forecasts of judgments are rough, and often several times too high"
        return forecasts if self.judgments_needed is not None else ""

    @property
    def residual_text(self) -> str | None:
        """Say that the residual's lasting part is most of half of the pairs' variance, or None.

        No judgment takes that away, so that P(better) stays below what complete judgments of the
        pool would show.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=2, seed=1).runs, depth=5)
        >>> judged = rb.Relevance.from_values(pool, np.ones(pool.n_documents))
        >>> print(rb.compare(pool, judged).residual_text)
        most of what is unsure of differences is the part of the residual (0.041) that no judgment
        takes away: with residual 0 only documents of the pool count
        >>> rb.compare(pool, judged, rb.Estimand(residual=0)).residual_text
        """
        if number_in(self.meta, "lasting_share") <= _MOSTLY:
            return None
        lasting = number_in(self.meta, "lasting_residual")
        return (
            "most of what is unsure of differences is the part of the residual "
            f"({lasting:.2g}) that no judgment takes away: with residual 0 only documents of the "
            "pool count"
        )


def cautions(compared: Sequence[ComparisonTexts]) -> list[str]:
    """Say what to take care of in comparisons of the same systems: what comparisons print.

    A caution that does not hold by every measure has the measures before it.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=2, seed=1).runs, depth=5)
    >>> drawn = rb.Relevance.from_values(pool, np.full((1, 2, pool.n_documents), 0.5))
    >>> print(cautions([rb.compare(pool, drawn, measure) for measure in ("AP", "P@5")]))
    ['AP: expected scores of 2 systems are often all too high or all too low: trust their ...']
    """
    measures: dict[str, list[str]] = {}
    for each in compared:
        for text in (each.judged_text, each.level_text):
            if text:
                measures.setdefault(text, []).append(each.measure)
    return [
        text if len(by) == len(compared) else f"{', '.join(by)}: {text}"
        for text, by in measures.items()
    ]
