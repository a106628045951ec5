"""Logistic regression with effects of systems and of topics: exact draws by a Gibbs sampler.

The log-odds of row i, of topic t(i), are

    eta_i = sum_k X_ik beta_k + sum_l Z_il z_(t(i), l)

Coefficients are Normal(mean_k, sd_k); effects, among the beta and all of the z, have a scale that
they share with others: Normal(0, s_g), or Student-t of df_g degrees of freedom times s_g. Scales
are log-normal, labels Bernoulli. Given Polya-Gamma variables the log-odds are those of a normal
regression (Polson, Scott and Windle 2013), so all effects are drawn together: see
:mod:`rtc_bayes.relevance.gibbs.sweeps`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from rtc_bayes.relevance.interface import Sampling
from rtc_bayes.relevance.newton import Floats, one_thread
from rtc_bayes.store import spawn_seeds

if TYPE_CHECKING:
    from collections.abc import Iterator

type Integers = NDArray[np.int64]

_SWEEPS, _MOST_TO_A_DRAW, _ROWS = 20_000, 10, 40_000


def sweeps_to_try(sampling: Sampling, rows: int) -> tuple[int, ...]:
    """Return how many sweeps to make to each draw, and how many where those do not suffice.

    With up to 4000 rows a sweep costs little beside the probabilities of all documents: a few
    draws may each take ten. With more it costs what its rows do, and the first try has fewer.

    Parameters
    ----------
    sampling : Sampling
    rows : int
        Of the regression.
    """
    few = _SWEEPS // (sampling.chains * sampling.draws)
    first = max(1, min(_MOST_TO_A_DRAW, few, _ROWS // max(rows, 1)))
    return first, 4 * first, 16 * first


@dataclass(frozen=True, eq=False, repr=False)
class EffectsRegression:
    """The data and priors of a logistic regression with effects.

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
        that is known.
    df : ndarray of float, shape (scales,)
        Degrees of freedom of a scale's effects; infinite for normal ones. Topic effects are
        normal.
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

    def sample(self, sampling: Sampling, *, sweeps: int = 1) -> EffectsDraws:
        """Draw from the posterior.

        Parameters
        ----------
        sampling : Sampling
            ``tune`` sweeps of each chain come before its first draw.
        sweeps : int
            To each draw.
        """
        from rtc_bayes.relevance.gibbs.sweeps import run

        order = np.argsort(self.topic, kind="stable")
        starts = np.searchsorted(self.topic[order], np.arange(self.n_topics + 1))
        data = (
            np.ascontiguousarray(self.columns[order], dtype=np.float64),
            np.ascontiguousarray(self.local[order], dtype=np.float64),
            starts.astype(np.int64),
            self.labels[order],
            self._padded(self.mean),
            self._padded(self.sd),
            self.scale_of,
            self.local_scale_of,
            np.log(self.median),
            self.spread,
            self.df,
            sampling.tune,
            sweeps,
        )
        shape = (sampling.chains, sampling.draws)
        drawn = EffectsDraws(
            columns=np.empty((*shape, self.columns.shape[1])),
            local=np.empty((*shape, self.n_topics, self.local.shape[1])),
            log_scale=np.empty((*shape, len(self.median))),
        )
        generators = [np.random.default_rng(s) for s in spawn_seeds(sampling.seed, shape[0])]
        workers = max(1, min(sampling.chains, cpu_count()))
        with one_thread(), ThreadPoolExecutor(max_workers=workers) as threads:
            list(threads.map(lambda random, out: run(random, *data, *out), generators, drawn))
        return drawn

    def _padded(self, prior: Floats) -> Floats:
        """Give effects, which have a scale, a place among the coefficients."""
        return np.append(prior, np.zeros(len(self.scale_of) - len(prior)))

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
    """

    columns: Floats
    local: Floats
    log_scale: Floats

    def __iter__(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Iterate over chains."""
        return zip(self.columns, self.local, self.log_scale, strict=True)

    def __repr__(self) -> str:
        chains, draws, columns = self.columns.shape
        return f"EffectsDraws({chains} chains x {draws} draws, {columns} columns)"
