"""How far a confidence can be trusted: the bookmaker's W, the log score, bins of accuracy.

A pair of systems has a confidence P in [0.5, 1] that the sign of its difference is as predicted,
and an outcome: the predicted sign is right or not. Carterette 2007, section 4.4: a bookmaker who
sets his odds by P wins 1 when right and pays P / (1 - P) when wrong; he breaks even (W = 0) when
the confidences are exact, and loses when they are too high.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import as_numbers, real_number, whole_number
from rtc_bayes.errors import InputError
from rtc_bayes.measures.scores import without_rounding
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

BINS = ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 0.99), (0.99, 1.0))
"""Bins of confidence, closed below and open above; the last holds 1 too."""

LARGEST_LOSS = 100.0
CONFIDENCE_CAP = 0.95
_LOG_SCORE_CLIP = (1e-6, 1.0 - 1e-6)
# of a confidence that is a sum
_ROUNDING = 1e-9
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

    Raises
    ------
    InputError
        Confidences that are no numbers from 0.5 to 1, or another number of outcomes, or others
        than 0 and 1.

    Examples
    --------
    >>> from rtc_bayes.trials.scores import winnings
    >>> winnings([0.75, 0.75], [1, 0]).tolist()
    [1.0, -3.0]
    """
    p, right = _outcomes(_of_sign(confidence), correct)
    return np.where(right == 1.0, 1.0, -_loss(p))


def expected_winnings(confidence: ArrayLike) -> NDArray[np.float64]:
    """Return what the bookmaker expects to win on each pair if his confidences are exact.

    P - (1 - P) min(100, P / (1 - P)): zero but where the cap on losses helps him.

    Parameters
    ----------
    confidence : array_like of float, shape (pairs,)
        P, in [0.5, 1].

    Returns
    -------
    ndarray of float, shape (pairs,)
        In [0, 1]; W_expected is their mean.

    Raises
    ------
    InputError
        Confidences that are no numbers from 0.5 to 1.

    Examples
    --------
    >>> from rtc_bayes.trials.scores import expected_winnings
    >>> expected_winnings([0.75]).tolist()
    [0.0]
    """
    p = _of_sign(confidence)
    return p - (1.0 - p) * _loss(p)


def log_score(confidence: ArrayLike, correct: ArrayLike) -> NDArray[np.float64]:
    """Negative log likelihood of each outcome in nats: at least 0, lower is better.

    -ln P if the predicted sign is right, else -ln (1 - P); P is clipped to [1e-6, 1 - 1e-6].
    Always saying 0.5 scores ln 2 = 0.693.

    Parameters
    ----------
    confidence : array_like of float, shape (pairs,)
        P, in [0, 1]. It may be below 0.5: the probability that the first of two systems is better
        scores, with whether it is, as the confidence in the predicted sign does.
    correct : array_like of bool, shape (pairs,)
        Whether it is so.

    Returns
    -------
    ndarray of float, shape (pairs,)
        In [0, 13.82].

    Raises
    ------
    InputError
        Confidences that are no numbers from 0 to 1, or another number of outcomes, or others than
        0 and 1.

    Examples
    --------
    >>> from rtc_bayes.trials.scores import log_score
    >>> log_score([0.5, 0.9], [0, 1]).round(3).tolist()
    [0.693, 0.105]
    """
    p, right = _outcomes(confidence, correct)
    p = np.clip(p, *_LOG_SCORE_CLIP)
    return -np.log(np.where(right == 1.0, p, 1.0 - p))


def p_first_better(pairs: pd.DataFrame) -> NDArray[np.float64]:
    """Turn confidences towards the predicted sign: the probability that a is better than b.

    The predicted sign is the true one if it is correct, else its opposite. (A pair predicted to
    be equal has confidence one half, whichever way it is turned.)

    Parameters
    ----------
    pairs : DataFrame
        Of a study: confidence, correct, true_difference (never 0).

    Returns
    -------
    ndarray of float, shape (pairs,)
    """
    predicted = (pairs["true_difference"] > 0) == (pairs["correct"] == 1)
    return np.where(predicted, pairs["confidence"], 1.0 - pairs["confidence"])


def _numbers(
    what: str, values: ArrayLike, within: tuple[float, float] = (-math.inf, math.inf)
) -> NDArray[np.float64]:
    """Take numbers, none of them NaN or outside of an interval."""
    numbers = as_numbers(values, f"{what} are", "give numbers")
    low, high = within
    outside = ~((numbers >= low - _ROUNDING) & (numbers <= high + _ROUNDING))
    if outside.any():
        inside = "" if math.isinf(low) else f" from {low:g} to {high:g}"
        raise InputError(f"{what} have {numbers[outside][0]:g}", remedy=f"give numbers{inside}")
    return np.clip(numbers, low, high)


def _of_sign(confidence: ArrayLike) -> NDArray[np.float64]:
    """Take confidences in the predicted sign, which are one half or more."""
    p = _numbers("confidences", confidence, (0.0, 1.0))
    below = p < 0.5 - _ROUNDING
    if below.any():
        raise InputError(
            f"confidences have {p[below][0]:g}, and that in the predicted sign is at least 0.5",
            remedy="give max(P, 1 - P), and whether the sign that it predicts is right",
        )
    return np.maximum(p, 0.5)


def _outcomes(
    confidence: ArrayLike, correct: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Take the confidences of some pairs, and for each whether its predicted sign is right."""
    p, right = _numbers("confidences", confidence, (0.0, 1.0)), _right(correct)
    if p.ndim and right.ndim and p.shape != right.shape:
        raise InputError(
            f"confidences of shape {p.shape} and outcomes of shape {right.shape}",
            remedy="give as many of both",
        )
    return p, right


def _right(correct: ArrayLike) -> NDArray[np.float64]:
    """Take 1 where the predicted sign is right, and 0 where it is not."""
    right = _numbers("outcomes", correct, (0.0, 1.0))
    if not np.isin(right, (0.0, 1.0)).all():
        raise InputError("outcomes are not all 0 or 1", remedy="give 1 where the sign is right")
    return right


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
    """Accuracy by confidence (Carterette 2007, Table 2): one entry for each of :data:`BINS`.

    Parameters
    ----------
    confidence, correct
        As of :func:`winnings`.

    Raises
    ------
    InputError
        As :func:`winnings`.

    Examples
    --------
    >>> from rtc_bayes.trials.scores import accuracy_bins
    >>> accuracy_bins([0.55, 0.58], [1, 0])[0]
    Bin(low=0.5, high=0.6, pairs=2, share=1.0, accuracy=0.5)
    """
    p, right = _outcomes(_of_sign(confidence), correct)
    number = bin_of(p)
    bins = []
    for b, (low, high) in enumerate(BINS):
        inside = right[number == b]
        bins.append(
            Bin(
                low=low,
                high=high,
                pairs=len(inside),
                share=len(inside) / len(right) if len(right) else 0.0,
                accuracy=float(inside.mean()) if len(inside) else None,
            )
        )
    return tuple(bins)


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

    Raises
    ------
    InputError
        Values that are no numbers, another number of trials, or a coverage outside (0, 1).

    Examples
    --------
    >>> from rtc_bayes.trials.scores import bootstrap_interval
    >>> bootstrap_interval([1.0, 0.0, 1.0, 1.0], trials=[0, 0, 1, 1])
    (0.5, 1.0)
    """
    whole_number("seed", seed)
    value, named = _numbers("values", values), np.asarray(trials)
    if value.shape != named.shape or not value.size:
        raise InputError(
            f"values of shape {value.shape}, and trials of shape {named.shape}",
            remedy="give one trial for each value, and one value at least",
        )
    remedy = "give one above 0 and below 1, as 0.9"
    real_number("coverage", coverage, 0.0, 1.0, remedy, ends="()")
    names, trial = np.unique(named, return_inverse=True)
    sums = np.bincount(trial, weights=value, minlength=len(names))
    counts = np.bincount(trial, minlength=len(names))
    drawn = np.random.default_rng(seed).integers(len(names), size=(_RESAMPLES, len(names)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    tail = (1.0 - coverage) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)


@dataclass(frozen=True)
class PairScores:
    """How far the confidences of some pairs can be trusted; None where they have none (``ip``).

    Intervals are None where there is only one trial.

    Attributes
    ----------
    pairs : int
        How many.
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
    log_score_interval : (float, float) or None
        90% bootstrap interval over trials.
    mean_confidence : float or None
        In [0.5, 1].
    accuracy : float or None
        Share of pairs whose predicted sign is right; None where there are no pairs.
    bins : tuple of Bin or None
        Accuracy by confidence.
    """

    pairs: int
    W: float | None
    W_interval: tuple[float, float] | None
    W_capped: float | None
    W_expected: float | None
    log_score: float | None
    log_score_interval: tuple[float, float] | None
    mean_confidence: float | None
    accuracy: float | None
    bins: tuple[Bin, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON holds them."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Summary(PairScores):
    """What a study says of one algorithm: an entry of ``summary.json``.

    After the fields of :class:`PairScores`; means are over trials whose fits did not fail, and
    None if all did:

    Attributes
    ----------
    trials : int
        Number of trials.
    failed : int
        How many of them have a fit that must not be used.
    median_judged, mean_judged : float or None
        Judgments per trial.
    mean_tau : float or None
        Mean Kendall correlation of the predicted ranking of systems with the true one.
    tau_interval : (float, float) or None
        90% bootstrap interval over trials.
    seconds_per_trial : float or None
        Mean time of judging and evaluating.

    Examples
    --------
    >>> import pandas as pd
    >>> trials = pd.DataFrame({"trial": [0, 1], "judged": [20, 30], "tau": [0.8, 0.6]})
    >>> trials = trials.assign(seconds_judging=1.0, seconds_evaluating=1.0, failure=None)
    >>> pairs = pd.DataFrame({"trial": [0, 1], "confidence": [0.9, 0.8], "correct": [1, 1]})
    >>> summary = summarise(trials, pairs)
    >>> summary.trials, summary.mean_judged, summary.W
    (2, 25.0, 1.0)
    """

    trials: int
    failed: int
    median_judged: float | None
    mean_judged: float | None
    mean_tau: float | None
    tau_interval: tuple[float, float] | None
    seconds_per_trial: float | None


def score_pairs(pairs: pd.DataFrame, *, seed: int = 0) -> PairScores:
    """Score pairs of one algorithm.

    Parameters
    ----------
    pairs : DataFrame
        Columns trial, confidence (NaN throughout when the algorithm has none), correct (0 or 1:
        pairs that are truly equal are left out, :meth:`rtc_bayes.trials.Outcome.unequal_pairs`).
    seed : int
        Of the bootstrap.

    Raises
    ------
    InputError
        `correct` is missing, or neither 0 nor 1; the confidence of some pairs is missing and of
        others not, or no number from 0 to 1.

    Examples
    --------
    >>> import pandas as pd
    >>> from rtc_bayes.trials.scores import score_pairs
    >>> pairs = pd.DataFrame({"trial": 0, "confidence": [0.75, 0.75, 0.5], "correct": [1, 0, 1]})
    >>> score_pairs(pairs).W
    -0.3333333333333333
    """
    whole_number("seed", seed)
    if equal := int(pairs["correct"].isna().sum()):
        raise InputError(
            f"{equal} of {counted(len(pairs), 'pair')} have no outcome: correct is missing",
            remedy="leave out pairs that are truly equal, as Outcome.unequal_pairs() does",
        )
    unsaid = int(pairs["confidence"].isna().sum())
    if 0 < unsaid < len(pairs):
        raise InputError(
            f"{unsaid} of {counted(len(pairs), 'pair')} have no confidence",
            remedy="give one for every pair, or for none; score each algorithm by itself",
        )
    confidence = pairs["confidence"].to_numpy(dtype=np.float64)
    correct = _right(pairs["correct"])
    scores: dict[str, Any] = dict.fromkeys(field.name for field in fields(PairScores))
    if len(pairs) and not unsaid:
        won, surprise = winnings(confidence, correct), log_score(confidence, correct)
        scores |= {
            "W": float(won.mean()),
            "W_interval": _interval(won, pairs["trial"], seed),
            "W_capped": float(winnings(np.minimum(confidence, CONFIDENCE_CAP), correct).mean()),
            "W_expected": float(expected_winnings(confidence).mean()),
            "log_score": float(surprise.mean()),
            "log_score_interval": _interval(surprise, pairs["trial"], seed),
            "mean_confidence": float(confidence.mean()),
            "bins": accuracy_bins(confidence, correct),
        }
    return PairScores(**scores | {"pairs": len(pairs), "accuracy": _mean(correct)})


def summarise(trials: pd.DataFrame, pairs: pd.DataFrame, *, seed: int = 0) -> Summary:
    """Sum up one algorithm's trials.

    Parameters
    ----------
    trials : DataFrame
        Its rows of ``trials.csv``.
    pairs : DataFrame
        Its rows of ``pairs.csv``.
    seed : int
        Of the bootstrap.

    Raises
    ------
    InputError
        As :func:`score_pairs`.

    Examples
    --------
    >>> from rtc_bayes.robustness import Study, summarise
    >>> study = Study.load("study")  # doctest: +SKIP
    >>> summarise(study.trials, study.pairs).mean_tau  # doctest: +SKIP
    """
    whole_number("seed", seed)
    fitted = trials[trials["failure"].isna()]
    ranked = fitted.dropna(subset=["tau"])
    judged = fitted["judged"]
    return Summary(
        **vars(score_pairs(pairs, seed=seed)),
        trials=len(trials),
        failed=len(trials) - len(fitted),
        median_judged=float(judged.median()) if len(fitted) else None,
        mean_judged=_mean(judged),
        mean_tau=_mean(ranked["tau"]),
        tau_interval=_interval(ranked["tau"], ranked["trial"], seed),
        seconds_per_trial=_mean(fitted["seconds_judging"] + fitted["seconds_evaluating"]),
    )


def kendall_tau(expected: ArrayLike, true: ArrayLike) -> float | None:
    """Kendall's tau-b between two scorings of systems; None where one of them is constant.

    Scores that differ by less than 1e-12, or by that part of the largest if it is above 1, are
    equal.

    Parameters
    ----------
    expected, true : array_like of float, shape (systems,)

    Raises
    ------
    InputError
        What is no number, or another number of systems.

    Examples
    --------
    >>> from rtc_bayes.trials.scores import kendall_tau
    >>> round(kendall_tau([0.1, 0.2, 0.3], [0.2, 0.1, 0.3]), 3)
    0.333
    """
    from scipy.stats import kendalltau

    one, other = _numbers("expected", expected), _numbers("true", true)
    if one.shape != other.shape or one.ndim != 1:
        raise InputError(
            f"scores of shape {one.shape} and {other.shape}",
            remedy="give two lists, with a score of each system",
        )
    tau = float(kendalltau(without_rounding(one), without_rounding(other)).statistic)
    return None if np.isnan(tau) else tau


def _interval(values: ArrayLike, trials: pd.Series, seed: int) -> tuple[float, float] | None:
    """Return the bootstrap interval, but None for one trial: it says nothing of others."""
    return bootstrap_interval(values, trials, seed=seed) if len(np.unique(trials)) > 1 else None


def _mean(values: NDArray[np.float64] | pd.Series) -> float | None:
    return None if len(values) == 0 else math.fsum(values) / len(values)
