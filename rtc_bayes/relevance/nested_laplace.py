"""Mode and draws of an effects regression by a nested Laplace approximation.

The regression is that of :class:`rtc_bayes.relevance.effects.EffectsRegression` with normal
effects and topics that differ by an intercept alone. Effects are written as their scale times a
standardised effect z ~ Normal(0, 1).

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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs
from scipy.optimize import minimize
from scipy.special import ndtri

from rtc_bayes.quadrature import gauss_hermite
from rtc_bayes.relevance.effects import EffectsDraws, EffectsRegression, Integers
from rtc_bayes.relevance.fitters.checks import PARETO_K, pareto_check
from rtc_bayes.relevance.fitters.laplace import resample, smoothed_weights
from rtc_bayes.relevance.interface import Diagnostics, Sampling, Stage
from rtc_bayes.relevance.logistic import sigmoid
from rtc_bayes.relevance.newton import Floats, ascend
from rtc_bayes.relevance.sparse_rows import SparseRows

# Newton decrement of the scales: twice the log density still to gain
_SCALE_DECREMENT = 1e-8
# step of the central differences of the scales' gradient
_DIFFERENCE = 0.01
# distinct scales in a set of draws: a power of 2, as Sobol's sequence wants
_SCALE_DRAWS = 64
# points and weights of Gauss and Hermite's rule for a normal distribution
_NODES, _WEIGHTS = gauss_hermite(7)
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


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """The scales at the mode of their marginal posterior, and the effects given these.

    Attributes
    ----------
    mode : Conditional
    covariance : ndarray of float, shape (scales, scales)
        Of the log scales: the inverse of the negative Hessian of their log density.
    stage : Stage
        How the scales' optimisation went; the gradient is of their log density.
    """

    mode: Conditional
    covariance: Floats
    stage: Stage


@dataclass(frozen=True, eq=False, repr=False)
class StandardDraws:
    """Draws from the approximation, effects standardised.

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

    def take(self, which: Integers) -> StandardDraws:
        """Choose draws by their numbers."""
        parts = (self.log_scale, self.topics, self.columns, self.log_weight)
        return StandardDraws(*(part[which] for part in parts))


class NestedLaplace:
    """The approximation of a regression's posterior.

    Parameters
    ----------
    data : EffectsRegression
        Of the kind that :meth:`EffectsRegression.laplace` takes.
    """

    def __init__(self, data: EffectsRegression) -> None:
        intercepts = data.local.shape[1] == 1 and bool((data.local == 1.0).all())
        alone = data.local_scale_of.tolist() == [0] and not (data.scale_of == 0).any()
        if not (intercepts and alone and np.isinf(data.df).all() and (data.spread > 0).all()):
            raise ValueError(
                "the nested Laplace approximation is for normal effects, free scales and "
                "topics with an intercept alone"
            )
        self.data = data

    @cached_property
    def _rows(self) -> SparseRows:
        """The features of the rows: of each system, and 0 for most."""
        return SparseRows.of(self.data.columns)

    @cached_property
    def _member(self) -> Floats:
        """1 where a column has a scale, shape (columns, scales)."""
        of_scale = self.data.scale_of[:, None] == np.arange(len(self.data.median))
        return of_scale.astype(np.float64)

    @cached_property
    def _centre(self) -> Floats:
        """Prior mean of the columns."""
        return self._with_effects(self.data.mean, 0.0)

    @cached_property
    def _prior_precision(self) -> Floats:
        """Prior precision of the columns."""
        return self._with_effects(self.data.sd**-2.0, 1.0)

    def _with_effects(self, prior: Floats, value: float) -> Floats:
        """Append what holds for every effect to what holds for the coefficients."""
        return np.append(prior, np.full(len(self.data.scale_of) - len(prior), value))

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
        eta = self._rows.times(scale[:, None] * columns) + topic_scale * topics[self.data.topic]
        return self._log_density(log_scale, eta, topics, columns)

    def _log_density(
        self, log_scale: Floats, eta: Floats, topics: Floats, columns: Floats
    ) -> Floats:
        """Log density of points with these log-odds of the rows."""
        data = self.data.labels @ eta - np.logaddexp(0.0, eta).sum(axis=0)
        from_centre = (columns.T - self._centre).T
        scales = (log_scale - np.log(self.data.median)) / self.data.spread
        prior = self._prior_precision @ from_centre**2 + (topics**2).sum(axis=0) + scales @ scales
        density: Floats = data - prior / 2.0
        return density

    def conditional(self, log_scale: Floats, near: Conditional | None = None) -> Conditional:
        """Find the mode given the scales, by Newton's method.

        Parameters
        ----------
        log_scale : ndarray of float, shape (scales,)
        near : Conditional, optional
            Where to start; by default the prior's centre.
        """
        topic_scale, scale = self.scaled(log_scale)

        def split(at: Floats) -> tuple[Floats, Floats]:
            return at[: self.data.n_topics], at[self.data.n_topics :]

        def log_odds(at: Floats) -> Floats:
            return self._log_odds(topic_scale, scale, *split(at))

        def log_density(at: Floats) -> float:
            return float(self._log_density(log_scale, log_odds(at), *split(at)))

        def derivatives(at: Floats) -> tuple[Floats, Arrow]:
            p = sigmoid(log_odds(at))
            slope = self._slope(topic_scale, scale, self.data.labels - p, *split(at))
            return np.concatenate(slope), self._precision(topic_scale, scale, p * (1.0 - p))

        def solve(precision: Arrow, gradient: Floats) -> Floats:
            return np.concatenate(precision.solve(*split(gradient)))

        start = (np.zeros(self.data.n_topics), self._centre)
        if near is not None:
            start = near.topics, near.columns
        end = ascend(np.concatenate(start), log_density, derivatives, solve)
        return Conditional(log_scale, *split(end.at), end.value, end.curvature, end.converged)

    def _log_odds(
        self, topic_scale: float, scale: Floats, topics: Floats, columns: Floats
    ) -> Floats:
        """Log-odds of every row."""
        return self._rows.times(scale * columns) + topic_scale * topics[self.data.topic]

    def _slope(
        self,
        topic_scale: float,
        scale: Floats,
        residual: Floats,
        topics: Floats,
        columns: Floats,
    ) -> tuple[Floats, Floats]:
        """Gradient of the log density in topics and columns; the residual is labels less p."""
        return (
            topic_scale * self._by_topic(residual) - topics,
            scale * self._rows.transposed_times(residual)
            - self._prior_precision * (columns - self._centre),
        )

    def _precision(self, topic_scale: float, scale: Floats, weight: Floats) -> Arrow:
        """Negative Hessian of the log density, the rows weighing `weight`."""
        columns, sums = self._rows.weighted(weight, self.data.topic, self.data.n_topics)
        columns *= np.outer(scale, scale)
        columns.flat[:: len(columns) + 1] += self._prior_precision
        return Arrow(
            1.0 + topic_scale**2 * self._by_topic(weight), topic_scale * scale * sums, columns
        )

    def _by_topic(self, values: Floats) -> Floats:
        """Sum a value of every row by topic."""
        return np.bincount(self.data.topic, values, self.data.n_topics)

    def marginal_gradient(self, at: Conditional) -> Floats:
        """Gradient of the log scales' log posterior density, shape (scales,)."""
        topic_scale, scale = self.scaled(at.log_scale)
        of_topic = topic_scale * at.topics[self.data.topic]
        # what each scale adds to the log-odds of a row: their derivative, effects held
        direct = self._rows.times((scale * at.columns)[:, None] * self._member)
        direct[:, 0] = of_topic
        p = sigmoid(self._log_odds(topic_scale, scale, at.topics, at.columns))
        weight, residual = p * (1.0 - p), self.data.labels - p

        # how the mode of the effects moves with each scale
        weighted = weight[:, None] * direct
        pull_topics = -topic_scale * np.stack([self._by_topic(one) for one in weighted.T], axis=1)
        pull_topics[:, 0] += topic_scale * self._by_topic(residual)
        pull_columns = (scale * self._rows.transposed_times(residual))[:, None] * self._member
        pull_columns -= scale[:, None] * self._rows.transposed_times(weighted)
        moved_topics, moved_columns = at.precision.solve(pull_topics, pull_columns)
        total = direct + self._rows.times(scale[:, None] * moved_columns)
        total += topic_scale * moved_topics[self.data.topic]

        # log |H| moves with the scales (effective number of effects) and with the weights
        covariance = at.precision.covariance()
        topic_variance, _, columns = covariance
        learnt = self._member.T @ (1.0 - np.diag(columns))
        learnt[0] = len(topic_variance) - topic_variance.sum()
        leverage = self._leverage(topic_scale, scale, covariance)
        bend = (leverage * weight * (1.0 - 2.0 * p)) @ total / 2.0
        prior = (at.log_scale - np.log(self.data.median)) / self.data.spread**2
        return residual @ direct - prior - learnt - bend

    def fit(self) -> Fitted:
        """Find the mode of the scales, and of coefficients and effects given it."""
        last = self.conditional(np.log(self.data.median))

        def loss(log_scale: Floats) -> tuple[float, Floats]:
            nonlocal last
            last = self.conditional(log_scale, last)
            return -last.log_marginal, -self.marginal_gradient(last)

        optimum = minimize(loss, last.log_scale, jac=True, method="BFGS", options={"gtol": 1e-6})
        mode = self.conditional(optimum.x, last)
        gradient = self.marginal_gradient(mode)
        curvature = np.empty((len(gradient), len(gradient)))
        for g, step in enumerate(np.eye(len(gradient)) * _DIFFERENCE):
            ahead = self.marginal_gradient(self.conditional(optimum.x + step, mode))
            behind = self.marginal_gradient(self.conditional(optimum.x - step, mode))
            curvature[g] = (behind - ahead) / (2.0 * _DIFFERENCE)
        curvature = (curvature + curvature.T) / 2.0
        peaked = bool(np.linalg.eigvalsh(curvature)[0] > 0.0)
        covariance = np.linalg.inv(curvature) if peaked else np.diag(self.data.spread**2)
        decrement = float(gradient @ covariance @ gradient)
        converged = mode.converged and peaked and decrement <= _SCALE_DECREMENT
        size = float(np.linalg.norm(gradient))
        stage = Stage("scales and effects", converged, int(optimum.nit), size)
        return Fitted(mode, covariance, stage)

    def draw(self, fitted: Fitted, draws: int, seed: int) -> StandardDraws:
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
        modes = [self.conditional(point, fitted.mode) for point in points]
        log_weight = np.array([mode.log_marginal for mode in modes]) + (noise**2).sum(axis=1) / 2.0
        weight = np.exp(log_weight - log_weight.max())
        ends = draws * np.cumsum(weight) / weight.sum()
        ends[-1] = draws
        counts = np.diff(np.floor(ends + rng.random()).clip(max=draws), prepend=0.0).astype(int)
        parts = [self._about(mode, n, rng) for mode, n in zip(modes, counts, strict=True) if n]
        order = rng.permutation(draws)
        return StandardDraws(*(np.concatenate(kind)[order] for kind in zip(*parts, strict=True)))

    def map(self) -> tuple[EffectsDraws, Diagnostics]:
        """Return the mode as one draw of one chain, and how it was reached."""
        fitted = self.fit()
        mode = fitted.mode
        parts = (mode.log_scale[None], mode.topics[None], mode.columns[None], np.zeros(1))
        return self.effects(StandardDraws(*parts)), Diagnostics((fitted.stage,))

    def sample(self, sampling: Sampling) -> tuple[EffectsDraws, Diagnostics]:
        """Fit and draw, with the draws corrected by importance where that can be relied upon."""
        fitted = self.fit()
        drawn = self.draw(fitted, sampling.chains * sampling.draws, sampling.seed)
        weights, k = smoothed_weights(drawn.log_weight)
        if k <= PARETO_K:
            drawn = drawn.take(resample(weights, np.random.default_rng(sampling.seed)))
        diagnostics = Diagnostics((fitted.stage,), (pareto_check(k),))
        return self.effects(drawn, sampling.chains), diagnostics

    def effects(self, drawn: StandardDraws, chains: int = 1) -> EffectsDraws:
        """Multiply effects by their scales, and part the draws into chains."""
        scale = np.exp(drawn.log_scale)
        columns = drawn.columns * np.where(
            self.data.scale_of < 0, 1.0, scale[:, self.data.scale_of]
        )
        topics = drawn.topics * scale[:, :1]
        parts = (columns, topics[..., None], drawn.log_scale)
        return EffectsDraws(*(x.reshape(chains, -1, *x.shape[1:]) for x in parts))

    def _mean(self, mode: Conditional) -> tuple[Floats, Floats]:
        """Mean of the normal that is nearest to the posterior given the scales.

        A skewed posterior has its mean elsewhere than its mode. Of the normals with the mode's
        precision the nearest, by Kullback and Leibler's divergence from it, is where the mean
        gradient of the log density over it is 0. Newton steps with that precision come near it;
        where the prior says next to nothing, a few are not enough, and Pareto k says so.
        """
        topic_scale, scale = self.scaled(mode.log_scale)
        sd = np.sqrt(self._leverage(topic_scale, scale, mode.precision.covariance()))
        topics, columns = mode.topics, mode.columns
        for _ in range(_MEAN_STEPS):
            eta = self._log_odds(topic_scale, scale, topics, columns)
            residual = self.data.labels - sigmoid(eta[:, None] + sd[:, None] * _NODES) @ _WEIGHTS
            slope = self._slope(topic_scale, scale, residual, topics, columns)
            step = mode.precision.solve(*slope)
            topics, columns = topics + step[0], columns + step[1]
            if slope[0] @ step[0] + slope[1] @ step[1] <= _MEAN_DECREMENT:
                break
        return topics, columns

    def _leverage(
        self, topic_scale: float, scale: Floats, covariance: tuple[Floats, Floats, Floats]
    ) -> Floats:
        """Variance of the log-odds of every row."""
        topic_variance, cross, columns = covariance
        of_columns = np.outer(scale, scale) * columns
        both = 2.0 * topic_scale * scale * cross
        leverage = self._rows.forms(of_columns, both, self.data.topic)
        return leverage + topic_scale**2 * topic_variance[self.data.topic]

    def _about(self, mode: Conditional, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Draw about a conditional mode; return the fields of StandardDraws."""
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
