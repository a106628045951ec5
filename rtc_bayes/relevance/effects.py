"""Logistic regression with pooled effects: its mode, and draws by a nested Laplace approximation.

The log-odds of row i are, with features X and Z and the row's topic t(i),

    eta_i = sum_k X_ik beta_k + sum_c s_g(c) Z_ic z_c + s_0 z_t(i)

Coefficients beta_k are Normal(mean_k, sd_k), standardised effects z Normal(0, 1), in groups g
that share a scale, log s_g is Normal(log median_g, spread_g), and labels are Bernoulli.

Given the scales the density of (beta, z) is log-concave: one mode, found by Newton's method. Each
row has one topic, so the topics' part of the Hessian is diagonal and is eliminated first. The
scales are another matter: the joint mode of scales and effects depends on how effects are written
(it inflates a scale for standardised effects, and falls towards 0 for the others), so the scales
are fitted with the effects integrated out, by Laplace's approximation (Tierney and Kadane 1986):

    log p(s | y) ~ log p(y, beta^, z^, log s) - log |H| / 2

with beta^, z^ the mode given s and H the negative Hessian there. Draws are of the scales first
and of the effects given them (Rue, Martino and Chopin 2009), from the normal with precision H whose
mean brings it nearest to the posterior (van Niekerk and Rue, JMLR 25, 2024).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import ndtri

from rtc_bayes.relevance.fitters.checks import PARETO_K, pareto_check
from rtc_bayes.relevance.fitters.laplace import resample, smoothed_weights
from rtc_bayes.relevance.interface import Diagnostics, Sampling, Stage
from rtc_bayes.relevance.logistic import sigmoid
from rtc_bayes.relevance.newton import Floats

type Ints = NDArray[np.int64]

# Newton decrements, twice the log density still to gain: given the scales, and of the scales
_DECREMENT = 1e-16
_SCALE_DECREMENT = 1e-8
_MOST_ITERATIONS = 100
_MOST_HALVINGS = 40
# step of the central differences of the scales' gradient
_DIFFERENCE = 0.01
# distinct scales in a set of draws: a power of 2, as Sobol's sequence wants
_SCALE_DRAWS = 64
# points and weights of Gauss and Hermite's rule for a normal distribution
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
# Newton's steps to a mean are over when one moves it by a hundredth of its sd
_MEAN_STEPS, _MEAN_DECREMENT = 10, 1e-4


class Arrow:
    """The precision [[diag(topics), cross], [cross', columns]] of a normal distribution, factored.

    Parameters
    ----------
    topics : ndarray of float, shape (topics,)
    cross : ndarray of float, shape (topics, columns)
    columns : ndarray of float, shape (columns, columns)
    """

    def __init__(self, topics: Floats, cross: Floats, columns: Floats) -> None:
        self._topics = topics
        self._ratio = cross / topics[:, None]
        # LAPACK itself: of matrices this small SciPy's checks take longer than their factors
        self._lower, info = dpotrf(columns - cross.T @ self._ratio, lower=1, clean=1)
        if info:
            raise np.linalg.LinAlgError("the precision is not positive definite")

    @property
    def log_determinant(self) -> float:
        """Logarithm of the precision's determinant."""
        return float(np.log(self._topics).sum() + 2.0 * np.log(np.diag(self._lower)).sum())

    def solve(self, topics: Floats, columns: Floats) -> tuple[Floats, Floats]:
        """Multiply a vector, or the columns of a matrix, by the covariance."""
        back = self._solve(columns - self._ratio.T @ topics)
        back = self._solve(back, transposed=True)
        return (topics.T / self._topics).T - self._ratio @ back, back

    def colour(self, topics: Floats, columns: Floats) -> tuple[Floats, Floats]:
        """Turn columns of standard normal noise into draws with this precision."""
        back = self._solve(columns, transposed=True)
        return topics / np.sqrt(self._topics)[:, None] - self._ratio @ back, back

    def covariance(self) -> tuple[Floats, Floats, Floats]:
        """Return the variances of topics, their covariances with columns, and the columns' own."""
        half = self._solve(np.eye(len(self._lower)))
        columns = half.T @ half
        cross = -self._ratio @ columns
        return 1.0 / self._topics - np.einsum("tk,tk->t", self._ratio, cross), cross, columns

    def _solve(self, right: Floats, *, transposed: bool = False) -> Floats:
        solved: Floats = dtrtrs(self._lower, right, lower=1, trans=int(transposed))[0]
        return solved


@dataclass(frozen=True, eq=False, repr=False)
class Conditional:
    """Coefficients and effects at their mode given the scales.

    Attributes
    ----------
    log_scale : ndarray of float, shape (scales,)
    topics : ndarray of float, shape (topics,)
        z of the topics.
    columns : ndarray of float, shape (columns,)
        beta, then z of the other effects.
    log_density : float
        Of everything, at this point.
    precision : Arrow
        The negative Hessian of the log density in (topics, columns).
    converged : bool
    """

    log_scale: Floats
    topics: Floats
    columns: Floats
    log_density: float
    precision: Arrow
    converged: bool

    @property
    def log_marginal(self) -> float:
        """Log posterior density of the scales, up to a constant."""
        return self.log_density - self.precision.log_determinant / 2.0

    def __repr__(self) -> str:
        return f"Conditional(scales {np.exp(self.log_scale)}, {self.log_density:.3f})"


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """The scales at the mode of their marginal posterior, and the effects given these.

    Attributes
    ----------
    mode : Conditional
    covariance : ndarray of float, shape (scales, scales)
        Of the log scales: the inverse of the negative Hessian of their log density.
    iterations : int
        Of the scales' optimisation.
    gradient : float
        Norm of the gradient of the scales' log density.
    converged : bool
    """

    mode: Conditional
    covariance: Floats
    iterations: int
    gradient: float
    converged: bool

    @property
    def stage(self) -> Stage:
        """How the optimisation went."""
        return Stage("scales and effects", self.converged, self.iterations, self.gradient)

    def __repr__(self) -> str:
        return f"Fitted({self.mode!r}, {self.iterations} iterations)"


@dataclass(frozen=True, eq=False, repr=False)
class EffectDraws:
    """Draws from the posterior's approximation.

    Attributes
    ----------
    log_scale, topics, columns : ndarray of float, shape (draws, ...)
        As in :class:`Conditional`.
    log_weight : ndarray of float, shape (draws,)
        Log of the posterior density over the approximation's, up to a constant.
    """

    log_scale: Floats
    topics: Floats
    columns: Floats
    log_weight: Floats

    def take(self, which: Ints) -> EffectDraws:
        """Choose draws by their numbers."""
        parts = (self.log_scale, self.topics, self.columns, self.log_weight)
        return EffectDraws(*(part[which] for part in parts))

    def __repr__(self) -> str:
        return f"EffectDraws({len(self.log_weight)} draws)"


@dataclass(frozen=True, eq=False, repr=False)
class Regression:
    """The data and priors of a regression with effects.

    Attributes
    ----------
    features : ndarray of float, shape (rows, columns)
        X, then Z.
    group : ndarray of int, shape (columns of Z,)
        The scale of each, from 1; scale 0 is the topics'.
    topic : ndarray of int, shape (rows,)
    n_topics : int
        Those without a row as well.
    labels : ndarray of float, shape (rows,)
        In [0, 1]; between the two, the mean of the two labels' log likelihoods.
    mean, sd : ndarray of float, shape (columns of X,)
        Of the coefficients' normal priors.
    median, spread : ndarray of float, shape (scales,)
        Of the scales' log-normal priors; the spread is the sd of the logarithm.
    """

    features: Floats
    group: Ints
    topic: Ints
    n_topics: int
    labels: Floats
    mean: Floats
    sd: Floats
    median: Floats
    spread: Floats

    @cached_property
    def _sum_by_topic(self) -> csr_array:
        """Sums rows by topic, shape (topics, rows)."""
        rows = np.arange(len(self.topic))
        shape = (self.n_topics, len(rows))
        return csr_array((np.ones(len(rows)), (self.topic, rows)), shape=shape)

    @cached_property
    def _member(self) -> Floats:
        """1 where a column has a scale, shape (columns, scales)."""
        scale = np.concatenate([np.full(len(self.mean), -1), self.group])
        return (scale[:, None] == np.arange(len(self.median))).astype(np.float64)

    @cached_property
    def _centre(self) -> Floats:
        """Prior mean of the columns."""
        return np.concatenate([self.mean, np.zeros(len(self.group))])

    @cached_property
    def _prior_precision(self) -> Floats:
        """Prior precision of the columns."""
        return np.concatenate([self.sd**-2.0, np.ones(len(self.group))])

    def scaled(self, log_scale: Floats) -> tuple[float, Floats]:
        """Return the topics' scale, and that of each column (1 for coefficients)."""
        return float(np.exp(log_scale[0])), np.exp(self._member @ log_scale)

    def log_density(self, log_scale: Floats, topics: Floats, columns: Floats) -> Floats:
        """Log density of points, one a column, without constants of the priors.

        Parameters
        ----------
        log_scale : ndarray of float, shape (scales,)
        topics : ndarray of float, shape (topics, points)
        columns : ndarray of float, shape (columns, points)

        Returns
        -------
        ndarray of float, shape (points,)
        """
        topic_scale, scale = self.scaled(log_scale)
        eta = self.features @ (scale[:, None] * columns) + topic_scale * topics[self.topic]
        return self._log_density(log_scale, eta, topics, columns)

    def _log_density(
        self, log_scale: Floats, eta: Floats, topics: Floats, columns: Floats
    ) -> Floats:
        """Log density of points with these log-odds of the rows."""
        data = self.labels @ eta - np.logaddexp(0.0, eta).sum(axis=0)
        from_centre = (columns.T - self._centre).T
        scales = (log_scale - np.log(self.median)) / self.spread
        prior = self._prior_precision @ from_centre**2 + (topics**2).sum(axis=0) + scales @ scales
        density: Floats = data - prior / 2.0
        return density

    def given(self, log_scale: Floats, near: Conditional | None = None) -> Conditional:
        """Find the mode given the scales, by Newton's method with step halving.

        Parameters
        ----------
        log_scale : ndarray of float, shape (scales,)
        near : Conditional, optional
            Where to start; by default the prior's centre.
        """
        topic_scale, scale = self.scaled(log_scale)
        features = self.features * scale

        def at(topics: Floats, columns: Floats) -> tuple[Floats, float]:
            """Log-odds of the rows and log density of a point."""
            eta = features @ columns + topic_scale * topics[self.topic]
            return eta, float(self._log_density(log_scale, eta, topics, columns))

        topics = np.zeros(self.n_topics) if near is None else near.topics
        columns = self._centre if near is None else near.columns
        eta, value = at(topics, columns)
        for _ in range(_MOST_ITERATIONS):
            p = sigmoid(eta)
            precision = self._precision(topic_scale, features, p * (1.0 - p))
            residual = self.labels - p
            slope = self._slope(topic_scale, features, residual, topics, columns)
            step = precision.solve(*slope)
            decrement = float(slope[0] @ step[0] + slope[1] @ step[1])
            if decrement <= _DECREMENT:
                return Conditional(log_scale, topics, columns, value, precision, True)
            # near the mode the gain is smaller than the rounding error of the value
            enough = value - 1e-13 * (1.0 + abs(value))
            size = 1.0
            for _ in range(_MOST_HALVINGS):
                moved = topics + size * step[0], columns + size * step[1]
                eta, value = at(*moved)
                if value >= enough + 1e-4 * size * decrement:
                    break
                size /= 2.0
            topics, columns = moved
        return Conditional(log_scale, topics, columns, value, precision, False)

    def _slope(
        self,
        topic_scale: float,
        features: Floats,
        residual: Floats,
        topics: Floats,
        columns: Floats,
    ) -> tuple[Floats, Floats]:
        """Gradient of the log density in topics and columns; the residual is labels less p."""
        return (
            topic_scale * self._by_topic(residual) - topics,
            features.T @ residual - self._prior_precision * (columns - self._centre),
        )

    def _precision(self, topic_scale: float, features: Floats, weight: Floats) -> Arrow:
        """Negative Hessian of the log density, the rows weighing `weight`."""
        weighted = weight[:, None] * features
        columns = features.T @ weighted
        columns.flat[:: len(columns) + 1] += self._prior_precision
        return Arrow(
            1.0 + topic_scale**2 * self._by_topic(weight),
            topic_scale * (self._sum_by_topic @ weighted),
            columns,
        )

    def _by_topic(self, values: Floats) -> Floats:
        """Sum a value of every row by topic."""
        return np.bincount(self.topic, values, self.n_topics)

    def marginal_gradient(self, at: Conditional) -> Floats:
        """Gradient of the log scales' log posterior density, shape (scales,)."""
        topic_scale, scale = self.scaled(at.log_scale)
        features = self.features * scale
        of_topic = topic_scale * at.topics[self.topic]
        p = sigmoid(features @ at.columns + of_topic)
        weight, residual = p * (1.0 - p), self.labels - p

        # what each scale adds to the log-odds of a row: their derivative, effects held
        direct = (features * at.columns) @ self._member
        direct[:, 0] = of_topic
        # how the mode of the effects moves with each scale
        pull_topics = -topic_scale * (self._sum_by_topic @ (weight[:, None] * direct))
        pull_topics[:, 0] += topic_scale * self._by_topic(residual)
        pull_columns = (features.T @ residual)[:, None] * self._member
        pull_columns -= features.T @ (weight[:, None] * direct)
        moved_topics, moved_columns = at.precision.solve(pull_topics, pull_columns)
        total = direct + features @ moved_columns + topic_scale * moved_topics[self.topic]

        # log |H| moves with the scales (effective number of effects) and with the weights
        covariance = at.precision.covariance()
        topic_variance, _, columns = covariance
        learnt = self._member.T @ (1.0 - np.diag(columns))
        learnt[0] = len(topic_variance) - topic_variance.sum()
        leverage = self._leverage(topic_scale, features, covariance)
        bend = (leverage * weight * (1.0 - 2.0 * p)) @ total / 2.0
        prior = (at.log_scale - np.log(self.median)) / self.spread**2
        return residual @ direct - prior - learnt - bend

    def fit(self) -> Fitted:
        """Find the mode of the scales, and of coefficients and effects given it."""
        last = self.given(np.log(self.median))

        def loss(log_scale: Floats) -> tuple[float, Floats]:
            nonlocal last
            last = self.given(log_scale, last)
            return -last.log_marginal, -self.marginal_gradient(last)

        found = minimize(loss, last.log_scale, jac=True, method="BFGS", options={"gtol": 1e-6})
        mode = self.given(found.x, last)
        gradient = self.marginal_gradient(mode)
        curvature = np.empty((len(gradient), len(gradient)))
        for g, step in enumerate(np.eye(len(gradient)) * _DIFFERENCE):
            ahead = self.marginal_gradient(self.given(found.x + step, mode))
            behind = self.marginal_gradient(self.given(found.x - step, mode))
            curvature[g] = (behind - ahead) / (2.0 * _DIFFERENCE)
        curvature = (curvature + curvature.T) / 2.0
        peaked = bool(np.linalg.eigvalsh(curvature)[0] > 0.0)
        covariance = np.linalg.inv(curvature) if peaked else np.diag(self.spread**2)
        decrement = float(gradient @ covariance @ gradient)
        return Fitted(
            mode,
            covariance,
            int(found.nit),
            float(np.linalg.norm(gradient)),
            mode.converged and peaked and decrement <= _SCALE_DECREMENT,
        )

    def draw(self, fitted: Fitted, draws: int, seed: int) -> EffectDraws:
        """Draw scales, then coefficients and effects given them.

        The scales are 64 points from a normal distribution about their mode, repeated in
        proportion to their posterior density over it.

        Parameters
        ----------
        fitted : Fitted
        draws : int
        seed : int
        """
        from scipy.stats import qmc

        rng = np.random.default_rng(seed)
        scales = len(fitted.covariance)
        noise = ndtri(qmc.Sobol(scales, rng=rng).random(_SCALE_DRAWS))
        points = fitted.mode.log_scale + noise @ np.linalg.cholesky(fitted.covariance).T
        modes = [self.given(point, fitted.mode) for point in points]
        log_weight = np.array([mode.log_marginal for mode in modes]) + (noise**2).sum(axis=1) / 2.0
        weight = np.exp(log_weight - log_weight.max())
        ends = draws * np.cumsum(weight) / weight.sum()
        ends[-1] = draws
        counts = np.diff(np.floor(ends + rng.random()).clip(max=draws), prepend=0.0).astype(int)
        parts = [self._about(mode, n, rng) for mode, n in zip(modes, counts, strict=True) if n]
        order = rng.permutation(draws)
        return EffectDraws(*(np.concatenate(kind)[order] for kind in zip(*parts, strict=True)))

    def sample(self, sampling: Sampling) -> tuple[EffectDraws, Diagnostics]:
        """Fit and draw, with the draws corrected by importance where that can be relied upon.

        Returns
        -------
        EffectDraws
            Of all chains, one after the other.
        Diagnostics
            The fit, and Pareto k.
        """
        fitted = self.fit()
        drawn = self.draw(fitted, sampling.chains * sampling.draws, sampling.seed)
        weights, k = smoothed_weights(drawn.log_weight)
        if k <= PARETO_K:
            drawn = drawn.take(resample(weights, np.random.default_rng(sampling.seed)))
        return drawn, Diagnostics((fitted.stage,), (pareto_check(k),))

    def _mean(self, mode: Conditional) -> tuple[Floats, Floats]:
        """Mean of the normal that is nearest to the posterior given the scales.

        A skewed posterior has its mean elsewhere than its mode. Of the normals with the mode's
        precision the nearest, by Kullback and Leibler's divergence from it, is where the mean
        gradient of the log density over it is 0. Newton steps with that precision come near it;
        where the prior says next to nothing, a few are not enough, and Pareto k says so.
        """
        topic_scale, scale = self.scaled(mode.log_scale)
        features = self.features * scale
        sd = np.sqrt(self._leverage(topic_scale, features, mode.precision.covariance()))
        topics, columns = mode.topics, mode.columns
        for _ in range(_MEAN_STEPS):
            eta = features @ columns + topic_scale * topics[self.topic]
            residual = self.labels - sigmoid(eta[:, None] + sd[:, None] * _NODES) @ _WEIGHTS
            slope = self._slope(topic_scale, features, residual, topics, columns)
            step = mode.precision.solve(*slope)
            topics, columns = topics + step[0], columns + step[1]
            if slope[0] @ step[0] + slope[1] @ step[1] <= _MEAN_DECREMENT:
                break
        return topics, columns

    def _leverage(
        self, topic_scale: float, features: Floats, covariance: tuple[Floats, Floats, Floats]
    ) -> Floats:
        """Variance of the log-odds of every row."""
        topic_variance, cross, columns = covariance
        leverage: Floats = np.einsum("ik,ik->i", features @ columns, features)
        leverage += topic_scale**2 * topic_variance[self.topic]
        leverage += 2.0 * topic_scale * np.einsum("ik,ik->i", features, cross[self.topic])
        return leverage

    def _about(self, mode: Conditional, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Draw about a conditional mode; return the fields of EffectDraws."""
        noise = (
            rng.standard_normal((len(mode.topics), draws)),
            rng.standard_normal((len(mode.columns), draws)),
        )
        mean = self._mean(mode)
        topics, columns = mode.precision.colour(*noise)
        topics += mean[0][:, None]
        columns += mean[1][:, None]
        normal = mode.log_density - sum((part**2).sum(axis=0) for part in noise) / 2.0
        log_weight = self.log_density(mode.log_scale, topics, columns) - normal
        return iter((np.tile(mode.log_scale, (draws, 1)), topics.T, columns.T, log_weight))

    def __repr__(self) -> str:
        return (
            f"Regression({len(self.labels)} rows, {self.n_topics} topics, "
            f"{len(self.mean)} coefficients, {len(self.group)} effects)"
        )


def by_chain(
    flat: Mapping[str, Floats], sampling: Sampling
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Part draws of all chains, and take those whose p is kept.

    Parameters
    ----------
    flat : mapping of str to ndarray, shape (chains x draws, ...)
        One chain after the other.
    sampling : Sampling

    Returns
    -------
    parted : dict of str to ndarray, shape (chains, draws, ...)
    kept : dict of str to ndarray, shape (chains x kept draws, ...)
    """
    shape, some = (sampling.chains, sampling.draws), sampling.kept
    parted = {name: value.reshape(*shape, *value.shape[1:]) for name, value in flat.items()}
    kept = {name: value[:, some].reshape(-1, *value.shape[2:]) for name, value in parted.items()}
    return parted, kept
