"""Pairs of a comparison as people read them: the better system first, and numbers in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.confidence.comparison_texts import SETTLED
from rtc_bayes.report.tables import Format, probability, with_interval
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.confidence import Comparison
    from rtc_bayes.confidence.pair import Pair

type Floats = NDArray[np.float64]

SURE = 0.95
_BELOW_1 = float(np.nextafter(1.0, 0.0))


PAIR_FORMATS: Mapping[str, Format] = {
    "P(better)": probability,
    "P(equal)": probability,
    "difference (95% interval)": "",
    "P(too small to matter)": probability,
    "P(better) on topics like these": probability,
}


def better_first(comparison: Comparison) -> list[Pair]:
    """Return every pair with the likelier better system as `a`; of equals, the one ranked first.

    The surest pairs of the best systems come first: pairs are in the order of the ranking.
    """
    place = {system: rank for rank, system in enumerate(comparison.ranking())}
    turned = []
    for pair in comparison.pairs:
        first = pair.better or min(pair.a, pair.b, key=place.__getitem__)
        turned.append(pair if first == pair.a else pair.reversed())
    return sorted(turned, key=lambda pair: (place[pair.a], place[pair.b]))


def pairs_table(comparison: Comparison) -> pd.DataFrame:
    """Return a row for each pair, the better system first, with what was asked of pairs.

    Returns
    -------
    DataFrame
        better, worse, P(better), P(equal) where any pair may be equal, the difference with its
        95% interval, and what was asked for.
    """
    pairs = better_first(comparison)
    columns: dict[str, list[object]] = {
        "better": [pair.a for pair in pairs],
        "worse": [pair.b for pair in pairs],
        "P(better)": [float(unless_certain(pair.p_greater, pair.sd)) for pair in pairs],
    }
    if any(pair.p_equal >= 0.0005 for pair in pairs):
        columns["P(equal)"] = [pair.p_equal for pair in pairs]
    columns["difference (95% interval)"] = [_difference(pair) for pair in pairs]
    if comparison.p_rope is not None:
        columns["P(too small to matter)"] = [
            float(unless_certain(pair.p_rope or 0.0, pair.sd)) for pair in pairs
        ]
    if comparison.p_greater_population is not None:
        columns["P(better) on topics like these"] = [
            float(unless_certain(pair.p_greater_population or 0.0, pair.sd_population or 0.0))
            for pair in pairs
        ]
    if comparison.judgments_needed is not None:
        sure = f"to be {comparison.meta.get('forecast', SURE):g} sure"
        columns[sure] = [more_judgments(pair.judgments_needed) for pair in pairs]
    return pd.DataFrame(columns)


def unless_certain(p: ArrayLike, sd: ArrayLike) -> Floats:
    """Keep probabilities of pairs apart from 0 and 1 by the least, where something is unknown."""
    return np.where(np.asarray(sd) > SETTLED, np.clip(p, 1.0 - _BELOW_1, _BELOW_1), p)


def more_judgments(needed: int | None) -> str:
    """Write a forecast in words.

    Examples
    --------
    >>> more_judgments(40), more_judgments(0), more_judgments(None)
    ('about 40 more judgments', 'no more judgments', 'not by judging this pool')
    """
    if needed is None:
        return "not by judging this pool"
    if needed == 0:
        return "no more judgments"
    return f"about {counted(needed, 'more judgment')}"


def _difference(pair: Pair) -> str:
    return with_interval(pair.expected_difference, pair.interval, ".4f")
