"""What is asked of draws before they are used, by ArviZ's statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.relevance.interface import Check

R_HAT, WORST_R_HAT = 1.01, 1.05
LEAST_ESS = 100.0
WORST_DIVERGING = 0.01
PARETO_K = 0.7


def mixing_checks(
    parameters: Mapping[str, NDArray[Any]], sample_stats: Mapping[str, NDArray[Any]]
) -> tuple[Check, ...]:
    """Ask whether chains agree, how many draws theirs are worth, and whether steps diverged.

    The worst of all scalars counts; those that do not vary are left out. A single chain is
    compared with itself, its first half with its second.

    Parameters
    ----------
    parameters : mapping of str to ndarray, shape (chains, draws, ...)
    sample_stats : mapping of str to ndarray, shape (chains, draws)
        ``diverging``, if it is there.

    Returns
    -------
    tuple of Check
    """
    scalars = {
        name: values.reshape(*values.shape[:2], -1)
        for name, values in parameters.items()
        if np.issubdtype(values.dtype, np.floating)
    }
    varying = {
        name: values[:, :, np.ptp(values, axis=(0, 1)) > 0.0] for name, values in scalars.items()
    }
    statistics = [
        (name, *_agreement(values)) for name, values in varying.items() if values.shape[2]
    ]
    checks = []
    if statistics:
        name, r_hat, _ = max(statistics, key=lambda found: found[1])
        checks.append(_r_hat_check(name, r_hat))
        name, _, ess = min(statistics, key=lambda found: found[2])
        checks.append(_ess_check(name, ess))
    if "diverging" in sample_stats:
        checks.append(_divergence_check(sample_stats["diverging"]))
    return tuple(checks)


def pareto_check(k: float) -> Check:
    """Say whether importance ratios with this Pareto shape can be relied upon."""
    note = ""
    if not k <= PARETO_K:
        note = (
            "the normal about the mode is not near the posterior; its draws were used "
            "uncorrected: hold them against nuts"
        )
    return Check("Pareto k", k, PARETO_K, True, note)


def _agreement(values: NDArray[np.floating]) -> tuple[float, float]:
    """Return the largest r-hat and the smallest bulk ESS of (chains, draws, scalars)."""
    from arviz_stats.base import array_stats

    if len(values) == 1:
        half = values.shape[1] // 2
        values = np.stack([values[0, :half], values[0, half : 2 * half]])
    axes = {"chain_axis": 0, "draw_axis": 1}
    with np.errstate(all="ignore"):
        r_hat = np.asarray(array_stats.rhat(values, **axes))
        ess = np.asarray(array_stats.ess(values, method="bulk", **axes))
    # undefined: stuck chains, or too few draws to tell
    worst = float(np.max(np.where(np.isnan(r_hat), np.inf, r_hat)))
    return worst, float(np.min(np.where(np.isnan(ess), 0.0, ess)))


def _r_hat_check(name: str, r_hat: float) -> Check:
    note = ""
    if r_hat > R_HAT:
        note = f"above {R_HAT}: the chains do not quite agree; draw more"
    if r_hat > WORST_R_HAT:
        note = f"above {WORST_R_HAT}: the chains do not agree; draw more or write it otherwise"
    return Check(f"r-hat of {name}", r_hat, R_HAT, r_hat <= WORST_R_HAT, note)


def _ess_check(name: str, ess: float) -> Check:
    enough = ess >= LEAST_ESS
    note = "" if enough else f"below {LEAST_ESS:g}: too few independent draws; draw more"
    return Check(f"bulk ESS of {name}", ess, LEAST_ESS, enough, note)


def _divergence_check(diverging: NDArray[np.bool_]) -> Check:
    share, count = float(np.mean(diverging)), int(np.sum(diverging))
    note = f"{count} steps diverged: part of the posterior may be missed" if count else ""
    return Check("share of divergences", share, 0.0, share <= WORST_DIVERGING, note)
