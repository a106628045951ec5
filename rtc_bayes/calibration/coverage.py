"""Are intervals right? How often the truth lies in the intervals of MAP and of differences in MAP.

A comparison says of each system's score, and of each difference, an expected value and a standard
deviation; its central intervals are those of a normal distribution. The probability integral
transform (PIT) of a truth is that distribution's share below it: uniform on [0, 1] if the
distributions are right, heaped at both ends where they are too narrow, to one side where they are
biased.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import whole_number
from rtc_bayes.confidence import Comparison
from rtc_bayes.measures.scores import without_rounding
from rtc_bayes.signatures import moved
from rtc_bayes.trials.scores import bootstrap_interval

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.5, 0.8, 0.9, 0.95)
"""Of central intervals."""

TRUTHS = ("at_depth", "whole_list")
"""Scores of the lists cut at the pool's depth, as the model sees them, and of the whole lists."""

QUANTITIES = ("score", "difference")


def pit(expected: ArrayLike, sd: ArrayLike, true: ArrayLike) -> NDArray[np.float64]:
    """Return the share below the truth of normal distributions.

    Where the standard deviation is 0, but for rounding, it is 0, 1/2 or 1.

    Parameters
    ----------
    expected, sd, true : array_like of float, shape (n,)

    Examples
    --------
    >>> from rtc_bayes.calibration import pit
    >>> pit(expected=[0.3, 0.3], sd=[0.1, 0.1], true=[0.3, 0.4]).round(2).tolist()
    [0.5, 0.84]
    """
    from scipy.special import ndtr

    off = np.asarray(true, dtype=np.float64) - np.asarray(expected, dtype=np.float64)
    off, spread = without_rounding(off), without_rounding(np.asarray(sd, dtype=np.float64))
    certain = np.where(off == 0.0, 0.0, np.copysign(np.inf, off))
    z = np.divide(off, spread, out=certain, where=spread > 0.0)
    return ndtr(z)


def against_truth(comparison: Comparison, truth: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Set what a comparison expects beside the truth.

    Parameters
    ----------
    comparison : Comparison
    truth : mapping of str to mapping of str to float
        The score of every system, by the name of the truth (:data:`TRUTHS`).

    Returns
    -------
    DataFrame
        A row for each system and each pair: quantity (``score``, ``difference``), a, b (empty
        for a score), expected, sd; and for each truth NAME the columns NAME and pit_NAME.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.calibration import against_truth
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=2, n_systems=2, seed=1).runs, depth=5)
    >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.2] * pool.n_documents))
    >>> table = against_truth(comparison, {"truth": dict.fromkeys(pool.systems, 0.1)})
    >>> table["quantity"].tolist()
    ['score', 'score', 'difference']
    """
    import pandas as pd

    systems, none = list(comparison.systems), [""] * len(comparison.systems)
    expected = np.concatenate([comparison.expected, comparison.expected_difference])
    sd = np.concatenate([comparison.sd, comparison.sd_difference])
    columns: dict[str, object] = {
        "quantity": np.repeat(QUANTITIES, [len(systems), len(comparison.a)]),
        "a": systems + list(comparison.a),
        "b": none + list(comparison.b),
        "expected": expected,
        "sd": sd,
    }
    for name, scores in truth.items():
        true = np.array(
            [scores[s] for s in systems]
            + [scores[a] - scores[b] for a, b in zip(comparison.a, comparison.b, strict=True)]
        )
        columns |= {name: true, f"pit_{name}": pit(expected, sd, true)}
    return pd.DataFrame(columns)


@moved(found="give it as table")
def coverage(table: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Count how often the truth lies in central intervals.

    Parameters
    ----------
    table : DataFrame
        Of :func:`against_truth`; of several trials with a column trial.
    seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        A row for each quantity and level: quantity, level, n; and for each truth NAME the share
        covered in a column of its name, with NAME_low and NAME_high, its 90% bootstrap interval
        over trials (NaN for one trial: it says nothing of others).

    Examples
    --------
    >>> import pandas as pd
    >>> from rtc_bayes.calibration import coverage
    >>> table = pd.DataFrame({"quantity": "score", "pit_truth": [0.5, 0.9]})
    >>> coverage(table)["truth"].tolist()
    [0.5, 1.0, 1.0, 1.0]
    """
    import pandas as pd

    whole_number("seed", seed)
    rows = []
    for quantity, mine in table.groupby("quantity", sort=False):
        for level in LEVELS:
            row: dict[str, object] = {"quantity": quantity, "level": level, "n": len(mine)}
            for name in _truths(table):
                covered = (2.0 * np.abs(mine[f"pit_{name}"] - 0.5) <= level).to_numpy()
                low, high = _interval(covered, mine, seed)
                row |= {name: float(covered.mean()), f"{name}_low": low, f"{name}_high": high}
            rows.append(row)
    return pd.DataFrame(rows)


@moved(found="give it as table")
def bias(table: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Measure how far expected values lie from the truth.

    A difference has no bias of its own: its sign depends on the order of the two systems. Each is
    turned so that the truth is positive; its bias is then negative where true differences are
    larger than expected.

    Parameters
    ----------
    table : DataFrame
        As of :func:`coverage`.
    seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        A row for each quantity and truth: quantity, truth, bias (mean of expected less true) with
        bias_low and bias_high, rmse, mean_sd (what the root mean square error would be if the sd
        were right and there were no bias).

    Examples
    --------
    >>> import pandas as pd
    >>> from rtc_bayes.calibration import bias
    >>> table = pd.DataFrame(
    ...     {"quantity": "score", "expected": [0.5, 0.4], "sd": 0.1, "truth": 0.4, "pit_truth": 0.5}
    ... )
    >>> bias(table)["bias"].round(2).tolist()
    [0.05]
    """
    import pandas as pd

    whole_number("seed", seed)
    rows = []
    for quantity, mine in table.groupby("quantity", sort=False):
        for name in _truths(table):
            below = without_rounding(mine[name].to_numpy()) < 0.0
            turned = np.where((quantity == "difference") & below, -1.0, 1.0)
            off = ((mine["expected"] - mine[name]) * turned).to_numpy()
            low, high = _interval(off, mine, seed)
            rows.append(
                {
                    "quantity": quantity,
                    "truth": name,
                    "bias": float(off.mean()),
                    "bias_low": low,
                    "bias_high": high,
                    "rmse": float(np.sqrt(np.mean(off**2))),
                    "mean_sd": float(np.sqrt(np.mean(mine["sd"] ** 2))),
                }
            )
    return pd.DataFrame(rows)


def _truths(table: pd.DataFrame) -> list[str]:
    return [name.removeprefix("pit_") for name in table.columns if name.startswith("pit_")]


def _interval(values: NDArray, table: pd.DataFrame, seed: int) -> tuple[float, float]:
    if "trial" not in table or table["trial"].nunique() < 2:
        return np.nan, np.nan
    return bootstrap_interval(values, table["trial"], seed=seed)
