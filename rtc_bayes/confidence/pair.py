"""What a comparison says of two systems."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.defaults import DIFFERENCE_95, NORMAL_95

type Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two systems compared: the difference is the score of `a` less that of `b`.

    Attributes
    ----------
    a, b : str
    expected_difference, sd : float
        `sd` does not contain the error that all scores share, which is `sd_shared`. (The `sd` of a
        system's score contains it.)
    interval : tuple of float
    p_less, p_equal, p_greater : float
        Probabilities that `a` scores below, like and above `b`.
    form : str
        How they were found: ``normal``, ``corrected`` or ``montecarlo``.
    skewness, excess_kurtosis : float or None
        Of the difference given the parameters; None where it has no variance, or where too few
        outcomes tell.
    variance_unjudged, variance_parameters : float
        The two parts of sd squared: unjudged relevance, and unknown parameters.
    sd_shared : float or None
        Of an error that all scores share: it makes differences larger or smaller, and changes the
        sign of none (docs/confidence.md). None where there is none.
    p_rope : float or None
        Probability that the difference is nearer to 0 than the `rope` asked for.
    sd_population, p_less_population, p_equal_population, p_greater_population : float or None
        The same of the mean over a population of topics, if asked for.
    judgments_needed : int or None
        How many more are forecast to give the confidence asked for; None if all would not.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings
    >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
    >>> pool = rb.Pool.from_runs(runs)
    >>> rb.compare(pool, rb.Relevance.from_values(pool, [0.9, 0.1])).pair("B", "A")
    Pair(B minus A: -0.4000, sd 0.2133; A is better with confidence 0.898)
    """

    a: str
    b: str
    expected_difference: float
    sd: float
    p_less: float
    p_equal: float
    p_greater: float
    form: str
    skewness: float | None
    excess_kurtosis: float | None
    variance_unjudged: float
    variance_parameters: float
    sd_shared: float | None = None
    p_rope: float | None = None
    sd_population: float | None = None
    p_less_population: float | None = None
    p_equal_population: float | None = None
    p_greater_population: float | None = None
    judgments_needed: int | None = None

    @property
    def confidence(self) -> float:
        """max(p_less, p_greater) + p_equal / 2, in [0.5, 1]."""
        return max(self.p_less, self.p_greater) + 0.5 * self.p_equal

    @property
    def better(self) -> str | None:
        """The likelier better system; None if neither is."""
        if self.p_less == self.p_greater:
            return None
        return self.a if self.p_greater > self.p_less else self.b

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the difference: plus or minus 2.32 `sd`.

        On four collections errors of differences were 1.19 times as large as `sd` says, most often
        since a difference is larger than expected. Its sign is then the surer, so probabilities
        are by `sd` as it is. The interval holds `sd_shared`, too.
        """
        half = float(half_width(self.sd, self.sd_shared))
        return self.expected_difference - half, self.expected_difference + half

    def __repr__(self) -> str:
        return (
            f"Pair({self.a} minus {self.b}: {self.expected_difference:+.4f}, sd {self.sd:.4f}; "
            f"{self.better or 'neither'} is better with confidence {self.confidence:.3f})"
        )

    def reversed(self) -> Pair:
        """Return the same pair with `a` and `b` exchanged."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            expected_difference=-self.expected_difference,
            p_less=self.p_greater,
            p_greater=self.p_less,
            skewness=None if self.skewness is None else -self.skewness,
            p_less_population=self.p_greater_population,
            p_greater_population=self.p_less_population,
        )


def half_width(sd: Floats | float, sd_shared: Floats | float | None) -> Floats:
    """Return half the width of 95% intervals of differences, with what all scores share.

    Examples
    --------
    >>> half_width(np.array([0.01, 0.0]), 0.0).round(4).tolist()
    [0.0232, 0.0]
    """
    shared = 0.0 if sd_shared is None else sd_shared
    return np.hypot(DIFFERENCE_95 * np.asarray(sd), NORMAL_95 * np.asarray(shared))
