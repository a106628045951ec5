"""How many topics each comparison of a hold-out design has (Carterette et al. 2010, Table 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Literal

from rtc_bayes.checks import check_word, real_number, whole_number
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import moved

if TYPE_CHECKING:
    import pandas as pd

#: What becomes of topics that fill no whole cycle.
Remainder = Literal["baseline", "cycle"]


@moved(
    baseline="write baseline_topics",
    site_baseline="write within_baseline",
    site_reuse="write within_reuse",
    pair_baseline="write between_baseline",
    pair_reuse="write between_reuse",
)
@dataclass(frozen=True)
class DesignCounts:
    """Counts of topics under a balanced design.

    Where the last cycle is only a part (``on_remainder="cycle"``), sites differ by one, and pairs
    of sites by a few, as the design is drawn. The counts of a site are then the least, and no
    design has fewer topics of a pair than those of pairs say.

    Attributes
    ----------
    groups, topics, held : int
        m sites, N topics, k sites held out of a topic.
    cycles : int
        b: how often every set of k sites is held out.
    baseline_topics : int
        n: topics to which every site contributes.
    within_baseline, within_reuse : int
        Topics that a site contributes to, and that it is held out of.
    between_baseline, between_reuse : int
        Topics that both sites of a pair contribute to, and that both are held out of.
    participant : int
        Topics that one given site of a pair contributes to and the other does not.

    Examples
    --------
    >>> design_counts(9, 564, held=2, baseline_topics=200)  # Million Query 2008, section 4.2
    ... # doctest: +NORMALIZE_WHITESPACE
    DesignCounts(groups=9, topics=564, held=2, cycles=10, baseline_topics=204, within_baseline=484,
                 within_reuse=80, between_baseline=414, between_reuse=10, participant=70)
    """

    groups: int
    topics: int
    held: int
    cycles: int
    baseline_topics: int
    within_baseline: int
    within_reuse: int
    between_baseline: int
    between_reuse: int
    participant: int


@moved(baseline="write baseline_topics")
def design_counts(
    groups: int,
    topics: int,
    *,
    held: int = 2,
    baseline_topics: int = 0,
    on_remainder: Remainder = "baseline",
) -> DesignCounts:
    """Count the topics of every comparison.

    Parameters
    ----------
    groups : int, at least 2
        m, the number of sites.
    topics : int
        N.
    held : int, 1 to groups - 1
        k, sites held out of each topic that is not of the baseline.
    baseline_topics : int, at least 0
        n0, the least number of topics that are judged for all sites.
    on_remainder : {"baseline", "cycle"}
        Topics that fill no whole cycle go to the baseline, as in Table 2, or begin one more
        cycle, as the paper's Robust 2004 experiment must have done.

    Returns
    -------
    DesignCounts

    Raises
    ------
    InputError
        Sites, topics or held out of range; no topic left to hold a site out of.

    Examples
    --------
    >>> counts = design_counts(6, 25, held=2, baseline_topics=10)  # Table 1 with n = 10
    >>> counts.cycles, counts.within_baseline, counts.within_reuse, counts.participant
    (1, 20, 5, 4)
    >>> counts = design_counts(13, 249, on_remainder="cycle")  # Robust 2004, section 4.3
    >>> counts.within_reuse, counts.between_reuse, counts.baseline_topics
    (38, 3, 0)
    """
    groups = whole_number("groups", groups, least=2)
    topics = whole_number("topics", topics, least=1)
    held = whole_number("held", held, least=1)
    baseline_topics = whole_number("baseline_topics", baseline_topics)
    if held >= groups:
        raise InputError(
            f"{held} of {groups} groups cannot be held out", remedy=f"hold out {groups - 1} at most"
        )
    check_word("on_remainder", on_remainder, ("baseline", "cycle"))
    subsets = comb(groups, held)
    if topics <= baseline_topics:
        raise InputError(
            f"{topics} topics, {baseline_topics} of them judged for all: none is left to hold a "
            "group out",
            remedy="give more topics, or fewer baseline_topics (--baseline-topics)",
        )
    cycles, rest = divmod(topics - baseline_topics, subsets)
    if on_remainder == "baseline":
        if not cycles:
            raise InputError(
                f"{topics - baseline_topics} topics are too few for a cycle: with {held} of "
                f"{groups} groups held out it has {subsets}",
                remedy="hold out fewer groups, or allow a part of a cycle (on_remainder='cycle', "
                "--on-remainder cycle)",
            )
        baseline_topics, rest = baseline_topics + rest, 0

    fewest, most = rest * held // groups, -(-rest * held // groups)  # of the part cycle, by site
    pairs_free = cycles * comb(groups - 2, held)
    pairs_held = comb(groups - 2, held - 2) if held > 1 else 0  # of a cycle
    return DesignCounts(
        groups=groups,
        topics=topics,
        held=held,
        cycles=cycles,
        baseline_topics=baseline_topics,
        within_baseline=topics - cycles * comb(groups - 1, held - 1) - most,
        within_reuse=cycles * comb(groups - 1, held - 1) + fewest,
        between_baseline=baseline_topics + pairs_free + max(0, rest - 2 * most),
        between_reuse=cycles * pairs_held + max(0, 2 * fewest - rest),
        participant=cycles * comb(groups - 2, held - 1) + max(0, fewest - pairs_held),
    )


@moved(baseline="write baseline_topics")
def design_table(
    groups: int,
    topics: int,
    *,
    baseline_topics: int = 0,
    effect: float = 0.25,
    on_remainder: Remainder = "baseline",
) -> pd.DataFrame:
    """Set side by side what each number of held-out groups buys.

    Parameters
    ----------
    groups, topics, baseline_topics, on_remainder
        As of :func:`design_counts`.
    effect : float, at least 0
        Size of a difference between two systems: the mean of its differences over topics by their
        standard deviation. 0.2 is small, 0.5 middling.

    Returns
    -------
    DataFrame
        For each number held out for which there are topics enough: the counts, and the powers of
        paired t-tests at 0.05 on each comparison's reuse topics: ``power_within``,
        ``power_between`` (none for one held out), ``power_participant``.

    Raises
    ------
    InputError
        As of :func:`design_counts`, or an effect out of range.

    Examples
    --------
    >>> design_table(6, 200)[["held", "cycles", "within_reuse", "between_reuse"]].head(3)
       held  cycles  within_reuse  between_reuse
    0     1      33            33              0
    1     2      13            65             13
    2     3      10           100             40
    """
    import pandas as pd

    from rtc_bayes.reuse.power import power_of_t

    effect = real_number("effect", effect, 0.0, math.inf, "give a number of at least 0", ends="[)")
    rows = []
    for held in range(1, whole_number("groups", groups, least=2)):
        try:
            counts = design_counts(
                groups,
                topics,
                held=held,
                baseline_topics=baseline_topics,
                on_remainder=on_remainder,
            )
        except InputError:
            if held == 1:
                raise
            continue
        reuse = (counts.within_reuse, counts.between_reuse, counts.participant)
        powers = [float(power_of_t(effect, n)) for n in reuse]
        names = ("power_within", "power_between", "power_participant")
        rows.append(vars(counts) | dict(zip(names, powers, strict=True)))
    return pd.DataFrame(rows)
