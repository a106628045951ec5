"""What is asked of draws before they are used, by ArviZ's statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.relevance.interface import Check
from rtc_bayes.store.shown import counted

R_HAT, R_HAT_MARGIN = 1.01, 0.04
_BY_CHANCE = 0.01
LEAST_ESS, LEAST_SHARE = 100.0, 0.2
# share of a parameter's scalars that may be worth fewer draws
_LOW = 0.05
WORST_DIVERGING = 0.01
PARETO_K = 0.7


def mixing_checks(
    parameters: Mapping[str, NDArray[Any]], sample_stats: Mapping[str, NDArray[Any]]
) -> tuple[Check, ...]:
    """Ask whether chains agree, how many draws theirs are worth, and whether steps diverged.

    The worst parameter counts, by its largest r-hat and by the bulk ESS that 95% of its scalars
    reach; scalars that do not vary are left out. Where a parameter is NaN or infinite in some draw,
    that is the only check, and it fails. The more scalars, the higher the limit of r-hat:
    see :func:`r_hat_limit`. The smallest ESS of many is low by chance: of 150 scalars whose 200
    draws are worth 130, it is 40 on average. Below 20 scalars the smallest counts. A single chain
    is compared with itself, its first half with its second.

    Parameters
    ----------
    parameters : mapping of str to ndarray, shape (chains, draws, ...)
    sample_stats : mapping of str to ndarray, shape (chains, draws)
        ``diverging``, if it is there.

    Returns
    -------
    tuple of Check

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(4, 150))
    >>> [check.passed for check in mixing_checks({"level": draws}, {})]
    [True, True]
    """
    scalars = {
        name: values.reshape(*values.shape[:2], -1)
        for name, values in parameters.items()
        if np.issubdtype(values.dtype, np.floating)
    }
    if scalars and next(iter(scalars.values())).shape[:2] == (1, 1):
        note = "one draw says nothing of others; ask `fit` for more"
        return (Check("draws", 1.0, 2.0, False, note),)
    for name, values in scalars.items():
        if not np.isfinite(values).all():
            return (_numbers_check(name, values),)
    varying = {
        name: _at_least_two_chains(values[:, :, np.ptp(values, axis=(0, 1)) != 0.0])
        for name, values in scalars.items()
    }
    statistics = [
        (name, *_agreement(values)) for name, values in varying.items() if values.shape[2]
    ]
    checks = []
    if statistics:
        chains, draws, _ = next(iter(varying.values())).shape
        limit = r_hat_limit(sum(values.shape[2] for values in varying.values()), chains, draws)
        name, r_hat, _ = max(statistics, key=lambda statistic: statistic[1])
        checks.append(_r_hat_check(name, r_hat, limit))
        name, _, ess = min(statistics, key=lambda statistic: statistic[2])
        checks.append(_ess_check(name, ess, chains * draws))
    if "diverging" in sample_stats:
        checks.append(_divergence_check(sample_stats["diverging"]))
    return tuple(checks)


def r_hat_limit(scalars: int, chains: int, draws: int) -> float:
    """Return what the largest r-hat of many scalars exceeds by chance in 1% of good fits.

    Where chains agree and draws are independent, r-hat² of one scalar is 1 + (F - 1) / n, F being
    distributed as Fisher's F(c - 1, c (n - 1)) for c chains of n draws, here split in halves. ArviZ
    takes the larger of two forms, so that as many as two comparisons a scalar are made.

    Parameters
    ----------
    scalars, chains, draws : int
        Before chains are split.

    Returns
    -------
    float
        At least 1.01.
    """
    from scipy.stats import f

    split, n = 2 * chains, max(2, draws // 2)
    ratio = float(f.isf(_BY_CHANCE / (2 * scalars), split - 1, split * (n - 1)))
    return max(R_HAT, (1.0 + (ratio - 1.0) / n) ** 0.5)


def pareto_check(k: float) -> Check:
    """Say whether importance ratios with this Pareto shape can be relied upon."""
    note = ""
    if not k <= PARETO_K:
        note = (
            "the normal is not near the posterior; its draws were used "
            "uncorrected: hold them against nuts"
        )
    return Check("Pareto k", k, PARETO_K, True, note)


def _at_least_two_chains(values: NDArray[Any]) -> NDArray[Any]:
    """Halve a single chain."""
    if len(values) > 1:
        return values
    half = values.shape[1] // 2
    return np.stack([values[0, :half], values[0, half : 2 * half]])


def _agreement(values: NDArray[np.floating]) -> tuple[float, float]:
    """Return the largest r-hat and a low bulk ESS of (chains, draws, scalars)."""
    from arviz_stats.base import array_stats

    axes = {"chain_axis": 0, "draw_axis": 1}
    with np.errstate(all="ignore"):
        r_hat = np.asarray(array_stats.rhat(values, **axes))
        ess = np.asarray(array_stats.ess(values, method="bulk", **axes))
    # undefined: stuck chains, or too few draws to tell
    worst = float(np.max(np.where(np.isnan(r_hat), np.inf, r_hat)))
    defined = np.where(np.isnan(ess), 0.0, ess)
    return worst, float(np.quantile(defined, _LOW, method="inverted_cdf"))


def _numbers_check(name: str, values: NDArray[np.floating]) -> Check:
    """Refuse a parameter that is NaN or infinite in some draw, which says nothing of chains."""
    count = int(np.count_nonzero(~np.isfinite(values)))
    note = (
        f"{count} of {counted(values.size, 'value')} are NaN or infinite: look for a missing "
        "value, 0 / 0 or log(0) in what the model computes them from"
    )
    return Check(f"share of {name} that is no number", count / values.size, 0.0, False, note)


def _r_hat_check(name: str, r_hat: float, limit: float) -> Check:
    worst = limit + R_HAT_MARGIN
    note, remedy = "", "ask for more draws (--draws or draws=)"
    if r_hat > limit:
        note = f"above {limit:.4g}: the chains do not quite agree; {remedy}"
    if r_hat > worst:
        note = f"above {worst:.4g}: the chains do not agree; {remedy}, or write the model otherwise"
    return Check(f"r-hat of {name}", r_hat, limit, r_hat <= worst, note)


def _ess_check(name: str, ess: float, draws: int) -> Check:
    """Ask for 100 effective draws, or a fifth of the draws where few were asked for."""
    least = min(LEAST_ESS, LEAST_SHARE * draws)
    enough = ess >= least
    note = "" if enough else f"below {least:g}: too few independent draws; ask `fit` for more"
    return Check(f"bulk ESS of {name}", ess, least, enough, note)


def _divergence_check(diverging: NDArray[np.bool_]) -> Check:
    share, count = float(np.mean(diverging)), int(np.sum(diverging))
    note = (
        f"{counted(count, 'step')} diverged: part of the posterior may be missed" if count else ""
    )
    return Check("share of divergences", share, 0.0, share <= WORST_DIVERGING, note)
