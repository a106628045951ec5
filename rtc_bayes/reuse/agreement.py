"""Do two sets of topics tell the same systems apart? (Carterette et al. 2010, section 3.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.reuse.power import power_of_t

_EXACT = 100
_SAMPLES = 100_000
_ROUNDING = 1e-12

#: The four cells: significant on both; on the baseline alone (omission); on the reuse topics
#: alone (commission); on neither.
CELLS = ("both", "baseline only", "reuse only", "neither")


@dataclass(frozen=True)
class PairTests:
    """Paired t-tests of pairs of systems over a set of topics for each.

    Attributes
    ----------
    n : ndarray of int, shape (pairs,)
        Topics.
    mean : ndarray, shape (pairs,)
        First less second; NaN without topics.
    effect : ndarray, shape (pairs,)
        Mean over standard deviation; NaN where the differences do not vary, or there are fewer
        than two.
    """

    n: NDArray[np.int_]
    mean: NDArray[np.float64]
    effect: NDArray[np.float64]

    @property
    def p(self) -> NDArray[np.float64]:
        """Two-sided; NaN where `effect` is."""
        from scipy.special import stdtr

        return 2.0 * np.asarray(stdtr(self.n - 1, -np.abs(self.effect) * np.sqrt(self.n)))

    def significant(self, level: float = 0.05) -> NDArray[np.bool_]:
        """Say where `p` is below a level."""
        return np.abs(self.effect) * np.sqrt(self.n) > _critical(int(self.n.max()), level)[self.n]

    def take(self, which: NDArray[np.bool_]) -> PairTests:
        """Return the tests of some pairs."""
        return PairTests(self.n[which], self.mean[which], self.effect[which])


@lru_cache(maxsize=256)
def _critical(most: int, level: float) -> NDArray[np.float64]:
    """Return the least |t| that is significant, by the number of topics."""
    from scipy.special import stdtrit

    critical = np.full(most + 1, np.inf)
    critical[2:] = stdtrit(np.arange(1, most), 1.0 - level / 2)
    return critical


def pair_tests(
    scores: NDArray[np.float64],
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    pairs: NDArray[np.int_],
) -> PairTests:
    """Test pairs of systems, each over the topics where both masks hold.

    Parameters
    ----------
    scores : ndarray, shape (systems, topics)
        Finite where a mask holds.
    first, second : ndarray of bool, shape (systems, topics)
        Where a pair's first and second system count.
    pairs : ndarray of int, shape (pairs, 2)

    Returns
    -------
    PairTests

    Examples
    --------
    >>> scores = np.array([[0.1, 0.5, 0.4, 0.9], [0.0, 0.3, 0.3, 0.6]])
    >>> every = np.ones(scores.shape, dtype=bool)
    >>> test = pair_tests(scores, every, every, np.array([[0, 1]]))
    >>> test.n.tolist(), test.mean.round(3).tolist(), test.p.round(3).tolist()
    ([4], [0.175], [0.035])
    """
    a, b = pairs.T
    either = first | second
    centred = np.where(either, scores, 0.0)
    # A topic's mean goes out of every difference, and with it most of the rounding.
    centred = np.where(either, centred - centred.sum(0) / np.maximum(1, either.sum(0)), 0.0)
    one, two = centred * first, centred * second
    here, there = first.astype(np.float64), second.astype(np.float64)
    n = (here @ there.T)[a, b]
    total = (one @ there.T - here @ two.T)[a, b]
    size = ((one**2) @ there.T + here @ (two**2).T)[a, b]
    squares = size - 2.0 * (one @ two.T)[a, b]
    total[np.abs(total) <= _ROUNDING * np.sqrt(n * size)] = 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        variance = (squares - total * mean) / (n - 1)
        variance[(n < 2) | (variance * n <= _ROUNDING * size)] = np.nan
        effect = mean / np.sqrt(variance)
    return PairTests(n.astype(np.int_), mean, effect)


class SignificanceAgreement(NamedTuple):
    """Observed and expected numbers of pairs in the four cells, in the order of `CELLS`.

    Attributes
    ----------
    observed, expected : ndarray, shape (4,)
        Both sum to the number of pairs for which both tests are defined.
    """

    observed: NDArray[np.float64]
    expected: NDArray[np.float64]

    @property
    def chi_square(self) -> float:
        """The sum of (O - E)^2 / E; infinite where a pair is in a cell that expects none."""
        return chi_square(self.observed, self.expected)


def agreement(baseline: PairTests, reuse: PairTests, level: float = 0.05) -> SignificanceAgreement:
    """Count pairs by where they differ significantly, beside what their power expects.

    As printed in the paper: the effect that the baseline topics show gives the power of both
    tests. So a pair that is significant on the baseline has a power of a half at least there, and
    the expected table follows the observed one: the chi-square of the two is not chi-square
    distributed, which is why :func:`rtc_bayes.reusability` permutes topics.

    Parameters
    ----------
    baseline, reuse : PairTests
        Of the same pairs.
    level : float
        Of the tests.

    Returns
    -------
    SignificanceAgreement

    Examples
    --------
    >>> effect = np.array([0.2614])
    >>> table = agreement(*(PairTests(np.array([n]), effect, effect) for n in (210, 39)))
    >>> table.observed.tolist(), table.expected.round(3).tolist()  # printed .341 .623 .013 .023
    ([0.0, 1.0, 0.0, 0.0], [0.344, 0.621, 0.013, 0.023])
    """
    defined = ~(np.isnan(baseline.effect) | np.isnan(reuse.effect))
    if not defined.any():
        return SignificanceAgreement(np.zeros(4), np.zeros(4))
    there, here = (tests.significant(level)[defined] for tests in (baseline, reuse))
    effect = baseline.effect[defined]
    power = power_of_t(effect, baseline.n[defined], level)
    power_reuse = power_of_t(effect, reuse.n[defined], level)
    return SignificanceAgreement(
        np.array(_cells(there.astype(float), here.astype(float))),
        np.array(_cells(power, power_reuse)),
    )


def _cells(a: NDArray[np.float64], b: NDArray[np.float64]) -> list[float]:
    # no cell is a difference of sums: one of nearly 0 would be below 0 by rounding
    return [float(of_a @ of_b) for of_a, of_b in ((a, b), (a, 1 - b), (1 - a, b), (1 - a, 1 - b))]


def chi_square(observed: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """Return the sum of (O - E)^2 / E over cells.

    Examples
    --------
    >>> table_5 = np.array([257, 133, 41, 100]), np.array([302.5, 85.1, 26.2, 117.2])
    >>> round(chi_square(*table_5), 1)  # printed 44.7
    44.7
    """
    return float(_chi_squares(observed, expected))


def chi_square_p(statistic: float) -> float:
    """Return the p-value as the paper has it, with 3 degrees of freedom.

    Examples
    --------
    >>> round(chi_square_p(1.205), 3)  # Table 4; printed .74
    0.752
    """
    from scipy.stats import chi2

    return float(chi2.sf(statistic, 3))


def exact_p(
    observed: NDArray[np.float64], expected: NDArray[np.float64], *, seed: int = 0
) -> float:
    """Probability of a chi-square as large, the pairs falling into the cells one by one.

    The paper's "randomized exact version" for few pairs. Up to 100 pairs every table is counted;
    above, 100,000 are drawn.

    Parameters
    ----------
    observed, expected : ndarray, shape (4,)
    seed : int
        Of the draws.

    Returns
    -------
    float
        NaN without pairs.

    Examples
    --------
    >>> apl = np.array([6, 3, 0, 1]), np.array([7.098, 2.043, 0.073, 0.786])
    >>> round(exact_p(*apl), 3)  # printed .88
    0.893
    """
    from scipy.stats import multinomial

    n = round(float(observed.sum()))
    if not n:
        return float("nan")
    share = expected / expected.sum()
    bound = chi_square(observed, share * n) * (1 - 1e-9)
    if n > _EXACT:
        tables = np.random.default_rng(seed).multinomial(n, share, size=_SAMPLES)
        large = int((_chi_squares(tables, share * n) >= bound).sum())
        return (1 + large) / (1 + _SAMPLES)
    a, b, c = (grid.ravel() for grid in np.indices((n + 1,) * 3))
    kept = a + b + c <= n
    tables = np.stack([a, b, c, n - a - b - c], axis=1)[kept]
    chance = multinomial.pmf(tables, n, share)
    return float(chance[_chi_squares(tables, share * n) >= bound].sum())


def _chi_squares(tables: NDArray[Any], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (tables - expected) ** 2 / expected
    return np.asarray(np.where(tables == expected, 0.0, parts).sum(axis=-1))
