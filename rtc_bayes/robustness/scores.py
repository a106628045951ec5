"""How far a confidence can be trusted: the bookmaker's W, the log score, bins of accuracy.

A pair of systems has a confidence P in [0.5, 1] that the sign of its difference is as predicted,
and an outcome: the predicted sign is right or not. Carterette 2007, section 4.4: a bookmaker who
sets his odds by P wins 1 when right and pays P / (1 - P) when wrong; he breaks even (W = 0) when
the confidences are exact, and loses when they are too high.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd

BINS = ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 0.99), (0.99, 1.0))
"""Bins of confidence, closed below and open above; the last holds 1 too."""

LARGEST_LOSS = 100.0
CONFIDENCE_CAP = 0.95
_LOG_SCORE_CLIP = 1.0 - 1e-6
_RESAMPLES = 2000
_COVERAGE = 0.9


def winnings(confidence: ArrayLike, correct: ArrayLike) -> NDArray[np.float64]:
    """Return W_i, what the bookmaker wins on each pair.

    1 if the predicted sign is right, else -min(100, P / (1 - P)).

    Parameters
    ----------
    confidence : array_like of float, shape (pairs,)
        P, in [0.5, 1].
    correct : array_like of bool, shape (pairs,)
        Whether the predicted sign is right.

    Returns
    -------
    ndarray of float, shape (pairs,)
        In [-100, 1]; W is their mean.
    """
    return np.where(np.asarray(correct, dtype=bool), 1.0, -_loss(confidence))


def expected_winnings(confidence: ArrayLike) -> NDArray[np.float64]:
    """Return what the bookmaker expects to win on each pair if his confidences are exact.

    P - (1 - P) min(100, P / (1 - P)): zero but where the cap on losses helps him.

    Returns
    -------
    ndarray of float, shape (pairs,)
        In [0, 1]; W_expected is their mean.
    """
    p = np.asarray(confidence, dtype=np.float64)
    return p - (1.0 - p) * _loss(p)


def log_score(confidence: ArrayLike, correct: ArrayLike) -> NDArray[np.float64]:
    """Negative log likelihood of each outcome in nats: at least 0, lower is better.

    -ln P if the predicted sign is right, else -ln (1 - P); P is clipped at 1 - 1e-6. Always
    saying 0.5 scores ln 2 = 0.693.

    Returns
    -------
    ndarray of float, shape (pairs,)
        In [0, 13.82].
    """
    p = np.minimum(np.asarray(confidence, dtype=np.float64), _LOG_SCORE_CLIP)
    return -np.log(np.where(np.asarray(correct, dtype=bool), p, 1.0 - p))


def _loss(confidence: ArrayLike) -> NDArray[np.float64]:
    """Return what a wrong prediction costs: the odds, at most 100."""
    p = np.asarray(confidence, dtype=np.float64)
    # beyond this confidence the odds exceed the cap; clipping first avoids dividing by zero
    p = np.minimum(p, LARGEST_LOSS / (1.0 + LARGEST_LOSS))
    return p / (1.0 - p)


def bin_of(confidence: ArrayLike) -> NDArray[np.int64]:
    """Return the number in :data:`BINS` of each confidence's bin, shape (pairs,)."""
    edges = [low for low, _ in BINS[1:]]
    return np.searchsorted(edges, np.asarray(confidence, dtype=np.float64), side="right")


@dataclass(frozen=True)
class Bin:
    """Accuracy of the pairs whose confidence lies in [low, high).

    Attributes
    ----------
    low, high : float
        Ends of the bin.
    pairs : int
        How many pairs it holds.
    share : float
        Fraction of all pairs.
    accuracy : float or None
        Fraction of its pairs whose predicted sign is right; None when it is empty.
    """

    low: float
    high: float
    pairs: int
    share: float
    accuracy: float | None


def accuracy_bins(confidence: ArrayLike, correct: ArrayLike) -> tuple[Bin, ...]:
    """Accuracy by confidence (Carterette 2007, Table 2): one entry for each of :data:`BINS`."""
    number = bin_of(confidence)
    right = np.asarray(correct, dtype=np.float64)
    found = []
    for b, (low, high) in enumerate(BINS):
        inside = right[number == b]
        found.append(
            Bin(
                low=low,
                high=high,
                pairs=len(inside),
                share=len(inside) / len(right) if len(right) else 0.0,
                accuracy=float(inside.mean()) if len(inside) else None,
            )
        )
    return tuple(found)


def bootstrap_interval(
    values: ArrayLike, trials: ArrayLike, *, seed: int = 0, coverage: float = _COVERAGE
) -> tuple[float, float]:
    """Percentile bootstrap interval of a mean over pairs, resampling whole trials.

    Pairs of one trial share their judgments, so they are not independent; trials are.

    Parameters
    ----------
    values : array_like of float, shape (pairs,)
        What is averaged.
    trials : array_like, shape (pairs,)
        The trial of each pair.
    seed : int
        Of the resampling.
    coverage : float
        In (0, 1).

    Returns
    -------
    low, high : float
    """
    value = np.asarray(values, dtype=np.float64)
    names, trial = np.unique(np.asarray(trials), return_inverse=True)
    sums = np.bincount(trial, weights=value, minlength=len(names))
    counts = np.bincount(trial, minlength=len(names))
    drawn = np.random.default_rng(seed).integers(len(names), size=(_RESAMPLES, len(names)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    tail = (1.0 - coverage) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)


@dataclass(frozen=True)
class Summary:
    """What a study says of one algorithm; None where it has no confidence (``ip``).

    Attributes
    ----------
    trials : int
        Number of trials.
    W : float or None
        Mean winnings; 0 is break-even, below it the confidences are too high.
    W_interval : (float, float) or None
        90% bootstrap interval over trials.
    W_capped : float or None
        W with confidences capped at 0.95.
    W_expected : float or None
        W if the confidences were exact.
    log_score : float or None
        Mean negative log likelihood, nats; lower is better.
    mean_confidence : float or None
        In [0.5, 1].
    accuracy : float or None
        Share of pairs whose predicted sign is right.
    bins : tuple of Bin or None
        Accuracy by confidence.
    median_judged, mean_judged : float
        Judgments per trial.
    mean_tau : float or None
        Mean Kendall correlation of the predicted ranking of systems with the true one.
    seconds_per_trial : float
        Mean time of judging and evaluating.
    """

    trials: int
    W: float | None
    W_interval: tuple[float, float] | None
    W_capped: float | None
    W_expected: float | None
    log_score: float | None
    mean_confidence: float | None
    accuracy: float | None
    bins: tuple[Bin, ...] | None
    median_judged: float
    mean_judged: float
    mean_tau: float | None
    seconds_per_trial: float

    def to_dict(self) -> dict[str, object]:
        """Return the entry of ``summary.json``."""
        fields = dict(self.__dict__)
        if self.bins is not None:
            fields["bins"] = [
                {"low": b.low, "high": b.high, "share": b.share, "accuracy": b.accuracy}
                for b in self.bins
            ]
        if self.W_interval is not None:
            fields["W_interval"] = list(self.W_interval)
        return fields


def summarise(trials: pd.DataFrame, pairs: pd.DataFrame, *, seed: int = 0) -> Summary:
    """Sum up one algorithm's trials.

    Parameters
    ----------
    trials : DataFrame
        Its rows of ``trials.csv``.
    pairs : DataFrame
        Its rows of ``pairs.csv``; confidence NaN throughout when it has none.
    seed : int
        Of the bootstrap.
    """
    confidence = pairs["confidence"].to_numpy(dtype=np.float64)
    correct = pairs["correct"].to_numpy(dtype=bool)
    confident = bool(len(pairs)) and not np.isnan(confidence).any()
    scores: Mapping[str, object] = dict.fromkeys(
        ("W", "W_interval", "W_capped", "W_expected", "log_score", "mean_confidence", "bins")
    )
    if confident:
        won = winnings(confidence, correct)
        scores = {
            "W": float(won.mean()),
            "W_interval": bootstrap_interval(won, pairs["trial"], seed=seed),
            "W_capped": float(winnings(np.minimum(confidence, CONFIDENCE_CAP), correct).mean()),
            "W_expected": float(expected_winnings(confidence).mean()),
            "log_score": float(log_score(confidence, correct).mean()),
            "mean_confidence": float(confidence.mean()),
            "bins": accuracy_bins(confidence, correct),
        }
    seconds = trials["seconds_judging"] + trials["seconds_evaluating"]
    return Summary(
        trials=len(trials),
        accuracy=_mean(correct),
        median_judged=float(trials["judged"].median()),
        mean_judged=float(trials["judged"].mean()),
        mean_tau=_mean(trials["tau"].dropna()),
        seconds_per_trial=float(seconds.mean()),
        **scores,  # type: ignore[arg-type]
    )


def _mean(values: Sequence[float] | NDArray[np.bool_] | pd.Series) -> float | None:
    return None if len(values) == 0 else math.fsum(values) / len(values)
