"""Moments over many draws: what varies with the draw of each, and the rest of some.

Exact moments of a draw cost ten times what plug-in moments do. Their difference hardly varies from
draw to draw, while moments themselves do. So exact moments are computed of a few draws, evenly
spaced, and those of the others predicted from their plug-in moments by a line through these: of
what is expected, and of the logarithm of a variance. Where the line explains too little, as in
pools of few documents, or is wrong of draws far from those few, as of a rare mode that these
missed, they are computed of all. And as many draws are taken as leave a stated error in a
probability.

Of plug-in moments of AP nearly all time goes to the covariances of pairs, which grow with what two
lists share. Where they are what is asked for, a difference's expectation is that of every draw, and
its variance follows by such a line from the sum of the two systems' own variances.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.relevance import spaced
from rtc_bayes.confidence.forms import normal
from rtc_bayes.measures.names import parse_measure

if TYPE_CHECKING:
    from rtc_bayes.confidence.setting import Setting
    from rtc_bayes.measures import Moments

Floats = NDArray[np.float64]

#: With this many draws or more, exact moments are those of some.
MANY_DRAWS = 128

#: How many.
EXACT_DRAWS = 32

# plug-in moments of the others are exact
_RATIOS = ("AP", "R", "nDCG")

#: Where lines leave more than this unexplained, exact moments are computed of all draws: of what is
#: expected as a share of its standard deviation, of a variance in its logarithm.
MOST_UNEXPLAINED, MOST_UNEXPLAINED_LOG = 0.2, 0.6

#: Where more than this share of what plug-in scores vary lies in draws that are further outside of
#: the range of those computed than it is wide, lines are held to exact moments of such draws, too.
#: They suffice where these move no expectation by more than this part of its standard deviation.
MOST_BEYOND, MOST_OFF = 0.1, 0.05

#: The standard error that draws may leave in the probability of a pair.
LARGEST_ERROR = 0.005

#: So many are kept though fewer would leave that error.
ALL_DRAWS = 600

# between scores that are equal
_ROUNDING = 1e-9


def exact_draws(setting: Setting) -> int:
    """Return of how many of a setting's draws exact moments are computed, at first or at last."""
    if setting.exact_of is not None:
        return setting.exact_of
    draws = len(setting.values)
    ratio = parse_measure(setting.measure).kind in _RATIOS
    return EXACT_DRAWS if draws >= MANY_DRAWS and ratio else draws


def exact_moments(setting: Setting) -> tuple[Setting, Moments]:
    """Return the exact moments of a setting's pairs, and the setting of the draws they are of.

    Parameters
    ----------
    setting : Setting

    Returns
    -------
    setting : Setting
        With all draws; or with evenly spaced ones, at least :data:`ALL_DRAWS`, where these leave
        a standard error of at most :data:`LARGEST_ERROR` in every pair's P(< 0). Draws are taken
        as independent.
    moments : Moments
        Of these draws.
    """
    draws, count = len(setting.values), exact_draws(setting)
    if count == draws:
        return setting, setting.table("exact")
    some = _thinned(setting, count)
    exact, plugin = some.table("exact"), some.table("plugin")
    below = normal(exact.difference_expected, exact.difference_variance).less
    asked = float(below.var(axis=0, ddof=1).max(initial=0.0)) / LARGEST_ERROR**2
    setting = _thinned(setting, min(draws, max(ALL_DRAWS, int(np.ceil(asked)))))
    if not _lines_suffice(exact, plugin):
        return replace(setting, exact_of=len(setting.values)), setting.table("exact")
    table = setting.table("plugin")
    followed = replace(
        table,
        moments="exact",
        expected=_followed(table.expected, plugin.expected, exact.expected),
        variance=_followed_log(table.variance, plugin.variance, exact.variance),
        difference_expected=_followed(
            table.difference_expected, plugin.difference_expected, exact.difference_expected
        ),
        difference_variance=_followed_log(
            table.difference_variance, plugin.difference_variance, exact.difference_variance
        ),
    )
    # lines of scores and of their differences are each the closest, and differ by a little
    scores, differences = followed.mean_expected.mean(axis=0), followed.difference_expected
    first, second = setting.pairs.T
    moved = scores[first] - scores[second] - differences.mean(axis=0)
    followed = replace(followed, difference_expected=differences + moved)
    if _far_off(setting, followed, table.expected, plugin.expected):
        return replace(setting, exact_of=len(setting.values)), setting.table("exact")
    return setting, followed


def _lines_suffice(exact: Moments, plugin: Moments) -> bool:
    """Whether exact moments of some draws follow from plug-in ones of scores and differences."""
    followed = _followed(plugin.expected, plugin.expected, exact.expected).mean(axis=2)
    of_differences = plugin.difference_expected
    differences = _followed(of_differences, of_differences, exact.difference_expected)
    parts = (
        (exact.mean_expected, followed, exact.mean_variance, plugin.mean_variance),
        (
            exact.difference_expected,
            differences,
            exact.difference_variance,
            plugin.difference_variance,
        ),
    )
    for expected, by_line, variance, by_plugin in parts:
        total = expected.var(axis=0) + variance.mean(axis=0)
        left = (expected - by_line).var(axis=0)
        if (left > MOST_UNEXPLAINED**2 * total).any():
            return False
        own = _followed_log(by_plugin, by_plugin, variance)
        ratio = np.divide(
            variance, own, out=np.ones_like(own), where=(own > 0.0) & (variance > 0.0)
        )
        if (np.log(ratio).std(axis=0) > MOST_UNEXPLAINED_LOG).any():
            return False
    return True


def _far_off(setting: Setting, followed: Moments, every: Floats, some: Floats) -> bool:
    """Whether lines are wrong of draws far from those computed, as of a mode that these missed.

    `every` and `some` are plug-in scores, of all draws and of those computed.
    """
    low, high, centre = some.min(axis=0), some.max(axis=0), some.mean(axis=0)
    width = high - low + _ROUNDING
    far = (every < low - width) | (every > high + width)
    square = (every - centre) ** 2
    beyond, total = (part.mean(axis=0).sum(axis=-1) for part in (far * square, square))
    if not (beyond > MOST_BEYOND * total).any():
        return False
    draws = np.flatnonzero(far.any(axis=(1, 2)))
    held = draws[spaced(len(draws), min(len(draws), EXACT_DRAWS))]
    exact = replace(setting, values=setting.values[held]).table("exact")
    parts = (
        (followed.mean_expected, exact.mean_expected, followed.mean_variance),
        (followed.difference_expected, exact.difference_expected, followed.difference_variance),
    )
    for by_line, computed, variance in parts:
        off = (by_line[held] - computed).mean(axis=0) * len(draws) / len(every)
        if (off**2 > MOST_OFF**2 * (by_line.var(axis=0) + variance.mean(axis=0))).any():
            return True
    return False


def plugin_moments(setting: Setting) -> Moments:
    """Return the plug-in moments of a setting's pairs; of AP with many draws, variances followed.

    Parameters
    ----------
    setting : Setting

    Returns
    -------
    Moments
        Of all draws. With :data:`MANY_DRAWS` or more of AP, variances of differences are computed
        of :data:`EXACT_DRAWS`, as is their shape; expectations are those of every draw.
    """
    draws, count = len(setting.values), exact_draws(setting)
    if count == draws or parse_measure(setting.measure).kind != "AP":
        return setting.table("plugin")
    some = _thinned(setting, count).table("plugin")
    table = replace(setting, pairs=setting.pairs[:0]).table("plugin")
    first, second = setting.pairs.T
    mean, own = table.mean_expected, table.mean_variance
    apart = own[:, first] + own[:, second]
    variance = _followed_log(apart, apart[spaced(draws, count)], some.difference_variance)
    with np.errstate(divide="ignore"):
        log_tie = np.log(np.exp(some.log_tie).mean(axis=0))
    return replace(
        table,
        pairs=setting.pairs,
        difference_expected=mean[:, first] - mean[:, second],
        difference_variance=variance,
        third=variance**1.5 * _mean_ratio(some.third, some.difference_variance**1.5),
        fourth=variance**2 * _mean_ratio(some.fourth, some.difference_variance**2),
        log_tie=np.tile(log_tie, (draws, 1)),
    )


def _thinned(setting: Setting, count: int) -> Setting:
    """Keep `count` draws, evenly spaced."""
    return replace(setting, values=setting.values[spaced(len(setting.values), count)])


def _followed(every: Floats, some: Floats, exact: Floats) -> Floats:
    """Predict exact values of every draw by a line through those of some, draws first."""
    centre, level = some.mean(axis=0), exact.mean(axis=0)
    apart = some - centre
    square = (apart * apart).sum(axis=0)
    # both apart from their means: of values that differ by rounding alone the slope stays small
    product = (apart * (exact - level)).sum(axis=0)
    slope = np.divide(product, square, out=np.ones_like(square), where=square > 0)
    followed: Floats = level + slope * (every - centre)
    return followed


def _mean_ratio(values: Floats, to: Floats) -> Floats:
    """Mean of ratios over the draws where they exist; 0 where there are none."""
    ratios = np.divide(values, to, out=np.zeros_like(values), where=to > 0.0)
    mean: Floats = ratios.sum(axis=0) / np.maximum((to > 0.0).sum(axis=0), 1)
    return mean


def _followed_log(every: Floats, some: Floats, exact: Floats) -> Floats:
    """Predict positive values in their logarithms, with the mean of `exact` for those of `some`.

    Where one is 0, by the ratio of means.
    Where all plug-in values are 0, by the mean: as of lists that are judged to a cutoff, of which
    only the number of relevant documents is unsure.
    The line is not drawn out beyond what was computed: a draw in which a topic has next to nothing
    relevant has a plug-in variance beyond any that scores can have.
    """
    positive = (np.minimum(some, exact) > 0.0).all(axis=0) & (every > 0.0).all(axis=0)
    of_every, of_some, of_exact = (
        np.log(np.where(positive, values, 1.0)) for values in (every, some, exact)
    )
    mean = some.mean(axis=0)
    level = exact.mean(axis=0)
    ratio = np.divide(level, mean, out=np.ones_like(mean), where=mean > 0.0)
    otherwise = np.where(mean > 0.0, every * ratio, level)
    by_line = np.exp(_followed(of_every, of_some, of_exact))
    # exponentials of a line through logarithms have a mean below that of the values themselves
    mean_by_line = np.exp(_followed(of_some, of_some, of_exact)).mean(axis=0)
    followed = np.where(positive, by_line * level / mean_by_line, otherwise)
    return np.clip(followed, exact.min(axis=0), exact.max(axis=0))
