"""Logistic regression with effects of systems and of topics.

The log-odds of row i, of topic t(i), are

    eta_i = sum_k X_ik beta_k + sum_l Z_il z_(t(i), l)

Coefficients are Normal(mean_k, sd_k); effects, among the beta and all of the z, have a scale that
they share with others: Normal(0, s_g), or Student-t of df_g degrees of freedom times s_g. Scales
are log-normal, labels Bernoulli.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.errors import FitWarning, warn
from rtc_bayes.relevance.interface import Diagnostics, Sampling
from rtc_bayes.relevance.newton import Floats
from rtc_bayes.workers import one_thread

type Integers = NDArray[np.int64]

# minutes from which a fit names a faster model, and is told in hours
_LONG, _HOURS = 10.0, 120.0
_SWEEPS, _LEAST_TO_A_DRAW, _MOST_TO_A_DRAW, _ROWS = 20_000, 3, 10, 40_000


@dataclass(frozen=True, eq=False, repr=False)
class EffectsRegression:
    """The data and priors of a logistic regression with effects, and how it is fitted.

    Attributes
    ----------
    columns : ndarray of float, shape (rows, columns)
        X: features of the coefficients and of the effects that are no topic's.
    local : ndarray of float, shape (rows, topic effects)
        Z: features of each topic's own effects.
    topic : ndarray of int, shape (rows,)
    n_topics : int
        Those without a row as well.
    labels : ndarray of float, shape (rows,)
        In [0, 1]; between the two, the mean of the two labels' log likelihoods.
    mean, sd : ndarray of float, shape (coefficients,)
        Of the coefficients' normal priors; the coefficients are the first columns.
    scale_of : ndarray of int, shape (columns,)
        The scale of each effect; -1 for a coefficient.
    local_scale_of : ndarray of int, shape (topic effects,)
    median, spread : ndarray of float, shape (scales,)
        Of the scales' log-normal priors; the spread is the sd of the logarithm, 0 for a scale
        that is fixed.
    df : ndarray of float, shape (scales,)
        Degrees of freedom of a scale's effects; infinite for normal ones. Topic effects are
        normal.

    Examples
    --------
    Two topics with an intercept each, one coefficient and no other effects:

    >>> import numpy as np
    >>> from rtc_bayes.relevance import Sampling
    >>> regression = EffectsRegression(
    ...     columns=np.array([[1.0], [1.0], [-1.0]]),
    ...     local=np.ones((3, 1)),
    ...     topic=np.array([0, 0, 1]),
    ...     n_topics=2,
    ...     labels=np.array([1.0, 1.0, 0.0]),
    ...     mean=np.zeros(1),
    ...     sd=np.ones(1),
    ...     scale_of=np.array([-1]),
    ...     local_scale_of=np.array([0]),
    ...     median=np.ones(1),
    ...     spread=np.full(1, 0.5),
    ...     df=np.full(1, np.inf),
    ... )
    >>> mode, diagnostics = regression.map()
    >>> mode
    EffectsDraws(1 chains x 1 draws, 1 columns)
    >>> bool(mode.columns[0, 0, 0] > 0)
    True
    """

    columns: Floats
    local: Floats
    topic: Integers
    n_topics: int
    labels: Floats
    mean: Floats
    sd: Floats
    scale_of: Integers
    local_scale_of: Integers
    median: Floats
    spread: Floats
    df: Floats

    def map(self) -> tuple[EffectsDraws, Diagnostics]:
        """Find the scales at their marginal mode, and all else at its mode given these.

        The mode is one draw of one chain. For regressions that :meth:`laplace` takes.
        """
        from rtc_bayes.relevance.nested_laplace import NestedLaplace

        with one_thread():
            return NestedLaplace(self).map()

    def laplace(self, sampling: Sampling) -> tuple[EffectsDraws, Diagnostics]:
        """Draw from a nested Laplace approximation: :mod:`rtc_bayes.relevance.nested_laplace`.

        Raises
        ------
        ValueError
            Unless effects are normal, scales free, and each topic's one effect is an intercept
            with a scale of its own, the first.
        """
        from rtc_bayes.relevance.nested_laplace import NestedLaplace

        with one_thread():
            return NestedLaplace(self).sample(sampling)

    def gibbs(self, sampling: Sampling, *, sweeps: int = 1) -> EffectsDraws:
        """Draw from the posterior itself by a Gibbs sampler: :mod:`rtc_bayes.relevance.gibbs`.

        Parameters
        ----------
        sampling : Sampling
            ``tune`` sweeps of each chain come before its first draw.
        sweeps : int
            To each draw.
        """
        from rtc_bayes.relevance.gibbs import sample

        return sample(self, sampling, sweeps)

    def warn_if_long(self, sampling: Sampling, *, sweeps: int) -> None:
        """Warn if :meth:`gibbs` takes more than a minute, by what a few sweeps take.

        From ten minutes on it names a model that takes a minute.

        Parameters
        ----------
        sampling : Sampling
        sweeps : int
            To each draw.

        Warns
        -----
        FitWarning
        """
        from rtc_bayes.relevance.gibbs import expected_minutes

        minutes = expected_minutes(self, sampling, sweeps)
        if minutes > 1.0:
            time = f"{minutes:.0f} min" if minutes < _HOURS else f"{minutes / 60.0:.0f} h"
            faster = (
                "; with the model hierarchical it takes a minute, and where lists are judged deep "
                "the answer is nearly the same"
            )
            warn(
                f"drawing takes about {time} with {len(self.labels):,} judged documents, and "
                f"longer where chains do not agree at first{faster if minutes >= _LONG else ''}",
                FitWarning,
            )

    def __repr__(self) -> str:
        return (
            f"EffectsRegression({len(self.labels)} rows, {self.n_topics} topics, "
            f"{len(self.mean)} coefficients, {len(self.scale_of) - len(self.mean)} effects, "
            f"{self.local.shape[1]} effects of each topic)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class EffectsDraws:
    """Draws from the posterior of an :class:`EffectsRegression`.

    Attributes
    ----------
    columns : ndarray of float, shape (chains, draws, columns)
    local : ndarray of float, shape (chains, draws, topics, topic effects)
    log_scale : ndarray of float, shape (chains, draws, scales)

    Examples
    --------
    >>> draws = EffectsDraws(np.zeros((2, 5, 3)), np.zeros((2, 5, 4, 1)), np.zeros((2, 5, 1)))
    >>> draws.take(slice(0, 2)).columns.shape
    (2, 2, 3)
    """

    columns: Floats
    local: Floats
    log_scale: Floats

    def take(self, draws: Integers | slice) -> EffectsDraws:
        """Choose draws of every chain by their numbers."""
        return EffectsDraws(self.columns[:, draws], self.local[:, draws], self.log_scale[:, draws])

    def __iter__(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Iterate over chains."""
        return zip(self.columns, self.local, self.log_scale, strict=True)

    def __repr__(self) -> str:
        chains, draws, columns = self.columns.shape
        return f"EffectsDraws({chains} chains x {draws} draws, {columns} columns)"


def sweeps_to_try(sampling: Sampling, rows: int) -> tuple[int, ...]:
    """Return how many sweeps to make to each draw, and how many where those do not suffice.

    With up to 4000 rows a sweep costs little beside the probabilities of all documents: a few
    draws may each take ten. With more it costs what its rows do, and the first try has fewer, but
    three: with one or two it is mostly made in vain.

    Parameters
    ----------
    sampling : Sampling
    rows : int
        Of the regression.

    Examples
    --------
    >>> sweeps_to_try(Sampling(draws=150, chains=4, tune=500), rows=1000)
    (10, 40, 160)
    >>> sweeps_to_try(Sampling(draws=150, chains=4, tune=500), rows=100_000)
    (3, 12, 48)
    """
    few = _SWEEPS // (sampling.chains * sampling.draws)
    by_rows = max(_LEAST_TO_A_DRAW, _ROWS // max(rows, 1))
    first = max(1, min(_MOST_TO_A_DRAW, few, by_rows))
    return first, 4 * first, 16 * first
