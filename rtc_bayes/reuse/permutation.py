"""Statistics with topics in other orders: whether it is the holding out, or the topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.ids import keyed_by_text
from rtc_bayes.errors import InputError
from rtc_bayes.reuse.agreement import PairTests, SignificanceAgreement, agreement, pair_tests
from rtc_bayes.reuse.held import COMPARISONS, HeldScores
from rtc_bayes.reuse.loss import losses, permuted_losses
from rtc_bayes.store.progress import Progress, silent

# Orders must not depend on a design that was drawn with the same seed.
_STREAM = 1


class Statistics(NamedTuple):
    """What is computed of the scores as they are, and again of every permutation.

    Attributes
    ----------
    chi_square : ndarray, shape (comparisons,)
        Of agreement in significance, in the order of `COMPARISONS`; NaN without pairs.
    loss : float
    group_loss : ndarray, shape (groups,)
    """

    chi_square: NDArray[np.float64]
    loss: float
    group_loss: NDArray[np.float64]


def paired_tests(held: HeldScores, comparison: str) -> tuple[PairTests, PairTests] | None:
    """Test a comparison's pairs on baseline and on reuse topics; None without pairs."""
    pairs = held.pairs(comparison)
    if not len(pairs):
        return None
    took = held.contributed
    return (
        pair_tests(held.scores, took, took, pairs),
        pair_tests(held.scores, *held.topic_sets(comparison), pairs),
    )


def statistics(held: HeldScores, level: float = 0.05) -> Statistics:
    """Compute the chi-squares of the three comparisons, and the losses."""
    lost = losses(held)
    return Statistics(chi_squares(held, level), lost.overall, lost.by_group)


def chi_squares(held: HeldScores, level: float = 0.05) -> NDArray[np.float64]:
    """Compute the chi-square of each comparison; NaN without pairs."""
    tables = [agreement_of(held, comparison, level) for comparison in COMPARISONS]
    return np.array([table.chi_square if table.observed.sum() else np.nan for table in tables])


def agreement_of(held: HeldScores, comparison: str, level: float = 0.05) -> SignificanceAgreement:
    """Count a comparison's pairs in the four cells."""
    tests = paired_tests(held, comparison)
    return agreement(*tests, level) if tests else SignificanceAgreement(np.zeros(4), np.zeros(4))


class Permuted(NamedTuple):
    """`Statistics` of every permutation, in arrays whose first dimension is permutations."""

    chi_square: NDArray[np.float64]
    loss: NDArray[np.float64]
    group_loss: NDArray[np.float64]


def permuted_statistics(
    held: HeldScores,
    permutations: int,
    seed: int,
    level: float = 0.05,
    strata: Mapping[str, object] | None = None,
    progress: Progress = silent,
) -> Permuted:
    """Compute the statistics with topics in random orders, the same for all systems.

    Were judging without effect on scores, any topic could as well have been a reuse topic of any
    group: the design gave topics their places at random. So the scores as they are would be one
    order among many, and a test by the rank of its statistic among theirs is exact, however
    systems and topics depend on one another.

    Parameters
    ----------
    held : HeldScores
    permutations : int, at least 1
    seed : int
    level : float
        Of the t-tests of pairs.
    strata : mapping of str to object, optional
        Stratum of each topic: topics change places only with those of their own. For a baseline
        that was chosen, not drawn, and for topics with unequal budgets.
    progress : Progress
    """
    rng = np.random.default_rng([seed, _STREAM])
    blocks = _blocks(held.topics, strata)
    orders = np.tile(np.arange(len(held.topics)), (permutations, 1))
    squares = []
    for number, order in enumerate(orders):
        for block in blocks:
            order[block] = rng.permutation(block)
        squares.append(chi_squares(held.permuted(order), level))
        progress("permutations", number + 1, permutations)
    return Permuted(np.array(squares), *permuted_losses(held, orders))


def _blocks(topics: tuple[str, ...], strata: Mapping[str, object] | None) -> list[NDArray[np.int_]]:
    if strata is None:
        return [np.arange(len(topics))]
    strata = keyed_by_text(strata, "topic")
    if missing := [topic for topic in topics if topic not in strata]:
        raise InputError(
            f"strata have no topic {missing[0]}", remedy="give a stratum for every topic"
        )
    of_topics = [strata[topic] for topic in topics]
    return [
        np.array([n for n, one in enumerate(of_topics) if one == stratum])
        for stratum in dict.fromkeys(of_topics)
    ]


def defined(permuted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave out orders whose statistic is NaN: where scores are missing some have none."""
    return permuted[~np.isnan(permuted)]


def permutation_sd(permuted: NDArray[np.float64]) -> float:
    """Return the standard deviation of a statistic over orders.

    Parameters
    ----------
    permuted : ndarray, shape (permutations,)
        Orders whose statistic is undefined are left out.

    Returns
    -------
    float
        NaN where fewer than two orders are left.

    Examples
    --------
    >>> permutation_sd(np.array([1.0, np.nan, 2.0, 3.0]))
    1.0
    """
    orders = defined(permuted)
    return float(np.std(orders, ddof=1)) if len(orders) > 1 else float("nan")


def permutation_p(observed: float, permuted: NDArray[np.float64]) -> float:
    """Return the share of orders, the true one among them, whose statistic is as large in size.

    Parameters
    ----------
    observed : float
    permuted : ndarray, shape (permutations,)
        Orders whose statistic is undefined are left out.

    Returns
    -------
    float
        At least 1 / (permutations + 1); NaN where the statistic is undefined.

    Examples
    --------
    >>> permutation_p(-2.0, np.array([0.5, 1.0, 3.0]))
    0.5
    """
    orders = defined(permuted)
    if np.isnan(observed) or not len(orders):
        return float("nan")
    # Sums in another order differ in their last digits: a tie is a tie.
    large = np.abs(orders) >= abs(observed) * (1.0 - 1e-9)
    return float((1 + large.sum()) / (1 + len(orders)))


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p-values for their number, by Holm's step-down rule; NaN stays.

    Examples
    --------
    >>> holm(np.array([0.01, 0.5, 0.02])).round(3).tolist()
    [0.03, 0.5, 0.04]
    """
    adjusted = np.full(p.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    ordered = defined[np.argsort(p[defined], kind="stable")]
    steps = p[ordered] * np.arange(len(ordered), 0, -1)
    adjusted[ordered] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted
