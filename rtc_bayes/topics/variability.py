"""Do systems that score alike on average differ in how much they vary? (Hosseini 2013, App. F)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import check_word, real_number
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.errors import InputError
from rtc_bayes.measures.plain import paired_t
from rtc_bayes.measures.scores import ScoreMatrix, check_complete, less_mean
from rtc_bayes.signatures import explains_types, options_of
from rtc_bayes.store.shown import Shown, counted

if TYPE_CHECKING:
    import pandas as pd

type Floats = NDArray[np.float64]
type Transform = Literal["z", "logit", "none"]
type VarianceTest = Literal["pitman-morgan", "f", "f-printed", "levene", "levene-median"]

_TRANSFORMS = ("z", "logit", "none")
_TESTS = ("pitman-morgan", "f", "f-printed", "levene", "levene-median")
_ROUNDING = 1e-12
_FEWEST = 3


def transformed(scores: Floats, transform: Transform = "z", epsilon: float = 1e-3) -> Floats:
    """Take scores off their bounds, which make average systems vary most.

    For scores in [0, 1], mean^2 + SD^2 <= mean (F.3): a mean near 0 or 1 leaves no room to vary.

    Parameters
    ----------
    scores : ndarray, shape (systems, topics)
    transform : {"z", "logit", "none"}
        ``z``: per topic, less the mean over systems and over their standard deviation (F.7); 0 on
        a topic where all score alike. ``logit``: log(x / (1 - x)).
    epsilon : float, in (0, 0.5)
        For ``logit``: scores are kept from `epsilon` to ``1 - epsilon``.

    Examples
    --------
    >>> transformed(np.array([[0.1, 0.5], [0.3, 0.5]])).round(3).tolist()
    [[-0.707, 0.0], [0.707, 0.0]]
    """
    check_word("transform", transform, _TRANSFORMS)
    if transform == "none":
        return scores
    if transform == "z":
        apart = less_mean(scores, axis=0)
        spread = apart.std(axis=0, ddof=1)
        return np.asarray(apart / np.where(spread == 0.0, 1.0, spread))
    if not 0.0 < epsilon < 0.5:
        raise InputError(f"epsilon is {epsilon}", remedy="give a number above 0 and below 0.5")
    if scores.min() < 0.0 or scores.max() > 1.0:
        raise InputError("a score is not in [0, 1]", remedy="use transform z")
    kept = np.clip(scores, epsilon, 1.0 - epsilon)
    return np.asarray(np.log(kept) - np.log1p(-kept))


def _check_topics(n: int) -> None:
    if n < _FEWEST:
        raise InputError(counted(n, "topic"), remedy="give three or more")


def variance_p(scores: Floats, test: VarianceTest = "pitman-morgan") -> Floats:
    """Return the p-value that two systems vary alike over topics, for every pair.

    Parameters
    ----------
    scores : ndarray, shape (systems, topics)
    test : str
        - ``pitman-morgan``: of paired samples (Pitman 1939; Morgan 1939): are sum and difference
          correlated? The valid one here, since systems are scored on the same topics.
        - ``f``: two-sided, of the ratio of variances, as if samples were independent.
        - ``f-printed``: one-sided, of the ratio of standard deviations (F.1, as printed), the
          larger over the smaller, which is not F-distributed: reproduces Table F.2.
        - ``levene``: deviations from the mean (W0). ``levene-median``: from the median (W50).

    Returns
    -------
    ndarray, shape (systems, systems)
        Symmetric; 1 for systems that score the same on every topic, and for two that each have
        one score on all topics.

    Raises
    ------
    InputError
        A score is missing, fewer than three topics, or another test.

    Examples
    --------
    >>> x = np.array([[0.1, 0.5, 0.4, 0.9, 0.7], [0.4, 0.5, 0.45, 0.6, 0.5]])
    >>> round(float(variance_p(x)[0, 1]), 3)
    0.001
    """
    from scipy import special

    check_word("test", test, _TESTS)
    n = scores.shape[1]
    _check_topics(n)
    if np.isnan(scores).any():
        raise InputError("some systems have no score on some topics", remedy="leave them out")
    scores = less_mean(scores)
    covariance = np.cov(scores)
    variance = np.diag(covariance)
    a, b = variance[:, None], variance[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        if test == "pitman-morgan":
            room = (a + b) ** 2 - 4.0 * covariance**2
            r2 = np.where(room > (_ROUNDING * (a + b)) ** 2, (a - b) ** 2 / room, 0.0)
            p = special.betainc((n - 2) / 2.0, 0.5, 1.0 - np.minimum(r2, 1.0))
        elif test in ("f", "f-printed"):
            ratio = np.maximum(a, b) / np.minimum(a, b)
            printed = test == "f-printed"
            p = special.fdtrc(n - 1, n - 1, np.sqrt(ratio) if printed else ratio)
            p = p if printed else np.minimum(1.0, 2.0 * p)
        else:
            middle = np.median if test == "levene-median" else np.mean
            away = np.abs(scores - middle(scores, axis=1, keepdims=True))
            mean, within = away.mean(axis=1), away.var(axis=1)
            between = (mean[:, None] - mean[None, :]) ** 2 / 2.0
            w = (2 * n - 2) * between / (within[:, None] + within[None, :])
            p = special.fdtrc(1, 2 * n - 2, w)
    return np.where(np.isnan(p), 1.0, p)


def mean_p(scores: Floats) -> Floats:
    """Return the two-sided p-value of the paired t-test for every pair of systems.

    Parameters
    ----------
    scores : ndarray, shape (systems, topics)

    Returns
    -------
    ndarray, shape (systems, systems)
        1 for systems of the same mean, 0 for those that differ by the same on every topic.

    Examples
    --------
    >>> mean_p(np.array([[0.1, 0.5, 0.4, 0.9], [0.0, 0.3, 0.3, 0.6]])).round(3).tolist()
    [[1.0, 0.035], [0.035, 1.0]]
    """
    from scipy import special

    pairs = paired_t(scores)
    same = pairs.difference == 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(same, 0.0, np.abs(pairs.difference) / pairs.sd)
    p = np.ones((len(scores), len(scores)))
    first, second = all_pairs(len(scores))
    p[first, second] = p[second, first] = 2.0 * special.stdtr(scores.shape[1] - 1, -t)
    return p


@explains_types
@options_of("transform", epsilon=["logit"])
def compare_variability(
    scores: ScoreMatrix,
    *,
    transform: Transform = "z",
    test: VarianceTest = "pitman-morgan",
    level: float = 0.05,
    top: float = 0.75,
    epsilon: float = 1e-3,
) -> VariabilityComparison:
    """Test for every pair of the better systems whether means differ, and variabilities.

    Parameters
    ----------
    scores : ScoreMatrix
        Every system on every topic.
    transform : {"z", "logit", "none"}, default "z"
        Of scores before both tests: per topic to mean 0 and standard deviation 1 over the systems
        that are compared, to log-odds, or not at all.
    test : str, default "pitman-morgan"
        Of variances: ``pitman-morgan``, valid for systems on the same topics; ``f``, ``levene`` and
        ``levene-median``, which take them for independent samples; ``f-printed``, the ratio of
        standard deviations as the thesis prints it (F.1).
    level : float, in (0, 1)
        Of both tests.
    top : float, in (0, 1]
        Share of systems that are compared, those of the largest mean score; rounded down.
    epsilon : float, in (0, 0.5)
        For ``logit``: how near to 0 and 1 scores may come.

    Returns
    -------
    VariabilityComparison

    Raises
    ------
    InputError
        A score is missing, fewer than two systems or three topics are left, or an argument is out
        of range.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=30, n_systems=12, seed=1)
    >>> scores = rb.ScoreMatrix.from_qrels(data.runs, data.qrels, "AP")
    >>> compared = rb.compare_variability(scores)
    >>> len(compared.systems), compared.counts()["pairs"]
    (9, 36)
    """
    check_complete(scores, scores.systems, "give the score, or leave out such systems or topics")
    real_number("level", level, 0.0, 1.0, "give a number above 0 and below 1", ends="()")
    real_number("top", top, 0.0, 1.0, "give a number above 0, at most 1", ends="(]")
    # the product of a share and a number may be just below the whole number that it stands for
    most = int(round(top * len(scores.systems), 9))
    kept = np.argsort(-scores.mean.mean(axis=1), kind="stable")[:most]
    if len(kept) < 2:
        raise InputError(
            f"{counted(len(kept), 'system')} to compare",
            remedy="give more, or a larger top",
        )
    _check_topics(len(scores.topics))
    if transform == "z" and len(kept) < _FEWEST:
        raise InputError(
            "of two systems the z transform leaves nothing that could differ: each topic has the "
            "one above the mean, and the other as far below",
            remedy="give transform none or logit (--transform), or three systems or more",
        )
    values = transformed(scores.mean[kept], transform, epsilon)
    return VariabilityComparison(
        systems=tuple(scores.systems[place] for place in kept),
        mean=values.mean(axis=1),
        deviation=less_mean(values).std(axis=1, ddof=1),
        mean_p=mean_p(values),
        variance_p=variance_p(values, test),
        transform=transform,
        test=test,
        level=level,
    )


@dataclass(frozen=True, eq=False, repr=False)
class VariabilityComparison(Shown):
    """Means and variabilities of systems, and the tests of all pairs.

    Attributes
    ----------
    systems : tuple of str
        By falling mean score.
    mean, deviation : ndarray, shape (systems,)
        Mean and standard deviation over topics, of transformed scores.
    mean_p, variance_p : ndarray, shape (systems, systems)
        p-values of the paired t-test, and of the test of variances.
    transform, test : str
    level : float

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=30, n_systems=12, seed=1)
    >>> scores = rb.ScoreMatrix.from_qrels(data.runs, data.qrels, "AP")
    >>> frame = rb.compare_variability(scores).to_frame()
    >>> list(frame.columns[2:])
    ['sd_a', 'sd_b', 'mean_p', 'variance_p', 'tie', 'broken']
    """

    systems: tuple[str, ...]
    mean: Floats
    deviation: Floats
    mean_p: Floats
    variance_p: Floats
    transform: str
    test: str
    level: float

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each pair.

        Returns
        -------
        DataFrame
            a, b; sd_a, sd_b, of their transformed scores over topics; mean_p, variance_p; tie,
            whether means do not differ significantly; and broken, whether a tie's variances do.
        """
        import pandas as pd

        pairs = all_pairs(len(self.systems))
        names = np.array(self.systems, dtype=object)
        (a, b), (sd_a, sd_b) = ([of[place] for place in pairs] for of in (names, self.deviation))
        tie = ~(self.mean_p[pairs] < self.level)
        return pd.DataFrame(
            {
                "a": a,
                "b": b,
                "sd_a": sd_a,
                "sd_b": sd_b,
                "mean_p": self.mean_p[pairs],
                "variance_p": self.variance_p[pairs],
                "tie": tie,
                "broken": tie & (self.variance_p[pairs] < self.level),
            }
        )

    def counts(self) -> dict[str, int]:
        """Return the numbers of pairs, of ties, and of ties that variability breaks (Table F.2)."""
        frame = self.to_frame()
        return {
            "pairs": len(frame),
            "ties": int(frame["tie"].sum()),
            "broken": int(frame["broken"].sum()),
        }

    def __repr__(self) -> str:
        n = self.counts()
        return (
            f"VariabilityComparison({len(self.systems)} systems, {counted(n['pairs'], 'pair')}, "
            f"{counted(n['ties'], 'tie')}, {n['broken']} broken by {self.test}, "
            f"transform {self.transform})"
        )
