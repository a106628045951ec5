"""Which pairs of a panel a human should label: by expected gain, or at random within strata."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rtc_bayes.checks import whole_number
from rtc_bayes.crowd.panel import Panel
from rtc_bayes.crowd.panel_features import Codes, Floats
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import counted

_BLOCK = 256


class Checks(NamedTuple):
    """Pairs drawn for a human, each with how it was drawn.

    Attributes
    ----------
    pair : ndarray of int, shape (checks,)
    inclusion_probability : ndarray of float, shape (checks,)
        Each pair's chance of being drawn, in (0, 1]: what an unbiased estimate divides by.
    stratum : ndarray of int, shape (checks,)
        From 0, the pairs of the lowest mean score.

    Examples
    --------
    >>> from rtc_bayes.crowd import fit_panel
    >>> draw_checks(fit_panel([[0.1], [0.9]], ["t", "t"]), 2, strata=2).stratum
    array([0, 1])
    """

    pair: Codes
    inclusion_probability: Floats
    stratum: Codes


@explains_types
def expected_gain(panel: Panel, *, draws: int = 500) -> Floats:
    """Return by how much a human's label of each pair lowers the log loss of all pairs.

    It is the sum over pairs of the mutual information between a pair's relevance and the
    candidate's, in nats: the candidate's own entropy, and what its label tells of the others by
    the slope, the topic and the judges.

    Parameters
    ----------
    panel : Panel
    draws : int, at least 1
        Draws of the posterior. Mutual information is overstated by about 0.5 / draws a pair.

    Returns
    -------
    ndarray of float, shape (pairs,)
        In nats, at least 0; 0 where a human labelled the pair.

    Examples
    --------
    >>> import numpy as np
    >>> from rtc_bayes.crowd import fit_panel
    >>> panel = fit_panel([[0.0], [0.6], [1.0]], ["t"] * 3, [np.nan, np.nan, 1])
    >>> bool(np.argmax(expected_gain(panel)) == 1)
    True
    """
    drawn = panel.draws(draws)
    mean = drawn.mean(axis=0)
    entropy = _entropy(mean)
    gain = np.zeros(len(mean))
    open_pairs = np.flatnonzero(np.isnan(panel.human))
    others = drawn[:, open_pairs]
    for start in range(0, len(open_pairs), _BLOCK):
        candidates = open_pairs[start : start + _BLOCK]
        both = drawn[:, candidates].T @ others / draws
        of_candidate = mean[candidates][:, None]
        if_relevant = both / of_candidate
        if_not = (mean[open_pairs] - both) / (1 - of_candidate)
        left = of_candidate * _entropy(if_relevant) + (1 - of_candidate) * _entropy(if_not)
        shared = entropy[open_pairs] - left
        itself = candidates[:, None] == open_pairs
        gain[candidates] = np.where(itself, entropy[open_pairs], shared).sum(axis=1)
    return np.maximum(gain, 0.0)


@moved(n="write count")
@explains_types
def suggest_checks(panel: Panel, count: int, *, draws: int = 500) -> Codes:
    """Suggest the pairs whose labels by a human gain most, best first.

    The gains are of one label each: give the labels back and ask again after a few.

    Parameters
    ----------
    panel : Panel
    count : int
        How many, from 1 to the number of pairs without a human label.
    draws : int, at least 1
        See :func:`expected_gain`.

    Returns
    -------
    ndarray of int, shape (count,)

    Raises
    ------
    InputError
        More pairs than there are without a human label, or fewer than one.

    Examples
    --------
    >>> from rtc_bayes.crowd import fit_panel
    >>> suggest_checks(fit_panel([[0.0], [0.6], [1.0]], ["t"] * 3, [0, float("nan"), 1]), 1)
    array([1])
    """
    _enough(panel, count)
    open_pairs = np.flatnonzero(np.isnan(panel.human))
    gain = expected_gain(panel, draws=draws)[open_pairs]
    return open_pairs[np.argsort(-gain, kind="stable")[:count]]


@moved(n="write count")
@explains_types
def draw_checks(panel: Panel, count: int, *, strata: int = 5, seed: int = 0) -> Checks:
    """Draw pairs for a human at random within strata of the panel's mean score.

    Strata are of equal size. A stratum's share of the pairs is as its deviation, the square root of
    p (1 - p) of its mean probability (Neyman allocation), and at least one pair.

    Parameters
    ----------
    panel : Panel
    count : int
        How many, at least ``strata``, at most the number of pairs without a human label.
    strata : int, at least 1
    seed : int

    Returns
    -------
    Checks

    Raises
    ------
    InputError
        ``count`` or ``strata`` out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rtc_bayes.crowd import fit_panel
    >>> panel = fit_panel(np.linspace(0, 1, 20)[:, None], ["t"] * 20)
    >>> checks = draw_checks(panel, 5, strata=2)
    >>> checks.inclusion_probability, int((1 / checks.inclusion_probability).sum().round())
    (array([0.2, 0.2, 0.3, 0.3, 0.3]), 20)
    """
    _enough(panel, count)
    if not 1 <= strata <= count:
        raise InputError(
            f"strata is {strata}, for {counted(count, 'pair')}", remedy=f"give 1 to {count} strata"
        )
    open_pairs = np.flatnonzero(np.isnan(panel.human))
    order = open_pairs[np.argsort(panel.features.common[open_pairs, 1], kind="stable")]
    groups = np.array_split(order, strata)
    mean = np.array([panel.probability[group].mean() for group in groups])
    sizes = np.array([len(group) for group in groups])
    shares = _allocate(count, sizes, sizes * np.sqrt(mean * (1 - mean)))
    generator = np.random.default_rng(whole_number("seed", seed))
    drawn = [
        generator.choice(g, size=k, replace=False) for g, k in zip(groups, shares, strict=True)
    ]
    return Checks(
        np.concatenate(drawn),
        np.repeat(shares / sizes, shares),
        np.repeat(np.arange(strata), shares),
    )


def _allocate(count: int, sizes: Codes, needs: Floats) -> Codes:
    """Give every stratum one pair, then each next pair where need over pairs given is largest."""
    sample = np.ones(len(sizes), dtype=np.int64)
    for _ in range(count - len(sizes)):
        sample[np.argmax(np.where(sample < sizes, needs / sample, -1.0))] += 1
    return sample


def _enough(panel: Panel, count: int) -> None:
    n_open = int(np.isnan(panel.human).sum())
    if not 1 <= count <= n_open:
        raise InputError(
            f"count is {count}, of {counted(n_open, 'pair')} without a human label",
            remedy=f"give 1 to {n_open}",
        )


def _entropy(p: Floats) -> Floats:
    inside = np.clip(p, 1e-12, 1 - 1e-12)
    return -(inside * np.log(inside) + (1 - inside) * np.log1p(-inside))
