"""The fast path of the model of the loss: Gibbs sampling, all chains at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.reuse.loss_model import PRIORS, LossData

type Floats = NDArray[np.float64]

_STEPS = 3


class LossDraws(NamedTuple):
    """Draws of the loss's parameters, first dimensions chain and draw.

    Attributes
    ----------
    share : ndarray, shape (chains, draws, groups)
        Lost of the square root of a score.
    delta, spread, nu : ndarray, shape (chains, draws)
    noise : ndarray, shape (chains, draws, groups)
    """

    share: Floats
    delta: Floats
    spread: Floats
    nu: Floats
    noise: Floats


def sample_loss(
    data: LossData, *, draws: int = 1000, tune: int = 500, chains: int = 4, seed: int = 0
) -> LossDraws:
    """Draw from the posterior of :func:`rtc_bayes.reuse.loss_model.loss_graph`.

    A Student's t is a normal with a random scale. Given the scales, groups' and topics' numbers
    are normal, and given these so are the shares lost. Noise and degrees of freedom are moved by
    Metropolis steps with the random scales integrated out. The spread of shares is drawn twice,
    given shares and given their offsets, which mixes where it is small.

    Parameters
    ----------
    data : LossData
    draws, tune, chains : int
    seed : int

    Returns
    -------
    LossDraws
    """
    rng = np.random.default_rng(seed)
    n_groups, n_topics = data.z.shape
    ok, out = data.evaluated, data.held & data.evaluated
    spread = np.abs(rng.normal(0, PRIORS.spread / 2, chains)) + 0.01
    log_noise = rng.normal(np.log(PRIORS.noise), 0.2, (chains, n_groups))
    nu, mixing = np.full(chains, 10.0), np.ones((chains, n_groups, n_topics))
    kept: list[tuple[Floats, ...]] = []
    share = np.zeros((chains, n_groups))
    for number in range(tune + draws):
        total = np.exp(2.0 * log_noise)[:, :, None] + data.variance
        weight = ok * mixing / total
        level = _levels(data.z, weight, 1.0 - out * share[:, :, None], rng)
        # what is lost is the share times the level
        lost = np.where(ok, level - data.z, 0.0)
        delta, own = _shares(lost, weight, out * level, spread, rng)
        rest = lost - out * level * delta[:, None, None]
        own, spread = _spread(own, rest, weight, out * level, spread, rng)
        share = delta[:, None] + own
        left = np.where(ok, out * level * share[:, :, None] - lost, 0.0)
        for _ in range(_STEPS):
            log_noise = _noise_step(log_noise, left, data, nu, rng)
            nu = _nu_step(nu, left, log_noise, data, rng)
        total = np.exp(2.0 * log_noise)[:, :, None] + data.variance
        shape = (nu[:, None, None] + 1.0) / 2.0
        rate = (nu[:, None, None] + left**2 / total) / 2.0
        mixing = rng.gamma(shape, 1.0, size=mixing.shape) / rate
        if number >= tune:
            noise = np.exp(log_noise)
            kept.append((share, delta, spread, nu, noise))
    return LossDraws(*(np.stack(part, axis=1) for part in zip(*kept, strict=True)))


def _levels(z: Floats, weight: Floats, factor: Floats, rng: np.random.Generator) -> Floats:
    """Draw groups' numbers, topics' integrated out, then topics'; return their sums."""
    here = weight * factor**2
    seen = weight * factor * z
    of_topic = here.sum(axis=1) + PRIORS.topic**-2
    topic_seen = seen.sum(axis=1) + PRIORS.centre * PRIORS.topic**-2
    scaled = here / of_topic[:, None, :]
    precision = -scaled @ here.transpose(0, 2, 1)
    each = np.arange(z.shape[0])
    precision[:, each, each] += here.sum(axis=2) + PRIORS.group**-2
    right = seen.sum(axis=2) - (scaled @ topic_seen[:, :, None])[:, :, 0]
    group = _normal(precision, right, rng)
    mean = (topic_seen - (here * group[:, :, None]).sum(axis=1)) / of_topic
    topic = mean + rng.standard_normal(mean.shape) / np.sqrt(of_topic)
    return np.asarray(group[:, :, None] + topic[:, None, :])


def _shares(
    lost: Floats, weight: Floats, level: Floats, spread: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw the mean share lost and groups' own about it; `level` is 0 where not held out."""
    chains, n, _ = lost.shape
    own = 1 + np.arange(n)
    here, pull = (weight * level**2).sum(axis=2), (weight * level * lost).sum(axis=2)
    precision = np.zeros((chains, n + 1, n + 1))
    precision[:, 0, 0] = here.sum(axis=1) + PRIORS.delta**-2
    precision[:, 0, own] = precision[:, own, 0] = here
    precision[:, own, own] = here + (spread**-2)[:, None]
    right = np.concatenate([pull.sum(axis=1, keepdims=True), pull], axis=1)
    drawn = _normal(precision, right, rng)
    return drawn[:, 0], drawn[:, 1:]


def _normal(precision: Floats, right: Floats, rng: np.random.Generator) -> Floats:
    """Draw normals with these precisions and precision-weighted means, a row a chain."""
    root = np.linalg.cholesky(precision)
    mean = np.linalg.solve(precision, right[:, :, None])
    noise = rng.standard_normal(mean.shape)
    return np.asarray((mean + np.linalg.solve(root.transpose(0, 2, 1), noise))[:, :, 0])


def _spread(
    own: Floats,
    rest: Floats,
    weight: Floats,
    level: Floats,
    spread: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Move the spread given groups' own shares, then draw both given their offsets.

    `rest` is what is lost beyond the mean share: own share times level, and noise.
    """

    def given_shares(s: Floats) -> Floats:
        inside = -own.shape[1] * np.log(s) - 0.5 * (own**2).sum(axis=1) / s**2
        return np.asarray(inside - 0.5 * (s / PRIORS.spread) ** 2 + np.log(s))

    for _ in range(_STEPS):
        proposed = spread * np.exp(0.7 * rng.standard_normal(spread.shape))
        gain = given_shares(proposed) - given_shares(spread)
        spread = np.where(np.log(rng.random(spread.shape)) < gain, proposed, spread)
    offset = own / spread[:, None]
    pull = (weight * level * rest).sum(axis=2)
    precision = ((weight * level**2).sum(axis=2) * offset**2).sum(axis=1) + PRIORS.spread**-2
    mean = (offset * pull).sum(axis=1) / precision
    spread = _positive_normal(mean, 1.0 / np.sqrt(precision), rng)
    return offset * spread[:, None], spread


def _positive_normal(mean: Floats, sd: Floats, rng: np.random.Generator) -> Floats:
    """Draw normals that are above 0, from the inverse of their distribution."""
    from scipy.special import log_ndtr, ndtri_exp

    above = np.log1p(-rng.random(mean.shape)) + log_ndtr(mean / sd)
    return np.asarray(mean - sd * ndtri_exp(above))


def _noise_step(
    log_noise: Floats, left: Floats, data: LossData, nu: Floats, rng: np.random.Generator
) -> Floats:
    step = 2.4 / np.sqrt(2.0 * np.maximum(2, data.evaluated.sum(axis=1)))
    proposed = log_noise + step * rng.standard_normal(log_noise.shape)

    def density(value: Floats) -> Floats:
        total = np.exp(2.0 * value)[:, :, None] + data.variance
        fit = (_log_t(left, total, nu) * data.evaluated).sum(axis=2)
        return np.asarray(fit - 0.5 * ((value - np.log(PRIORS.noise)) / PRIORS.noise_spread) ** 2)

    gain = density(proposed) - density(log_noise)
    return np.where(np.log(rng.random(gain.shape)) < gain, proposed, log_noise)


def _nu_step(
    nu: Floats, left: Floats, log_noise: Floats, data: LossData, rng: np.random.Generator
) -> Floats:
    total = np.exp(2.0 * log_noise)[:, :, None] + data.variance
    proposed = nu * np.exp(0.5 * rng.standard_normal(nu.shape))

    def density(value: Floats) -> Floats:
        fit = (_log_t(left, total, value) * data.evaluated).sum(axis=(1, 2))
        return np.asarray(fit + 2.0 * np.log(value) - 0.1 * value)  # Gamma(2, .1) of log nu

    gain = density(proposed) - density(nu)
    return np.where(np.log(rng.random(gain.shape)) < gain, proposed, nu)


def _log_t(left: Floats, total: Floats, nu: Floats) -> Floats:
    """Log density of Student's t, shape (chains, groups, topics)."""
    from scipy.special import gammaln

    degrees = nu[:, None, None]
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu)
    shape = -0.5 * (degrees + 1) * np.log1p(left**2 / (degrees * total))
    return np.asarray(constant[:, None, None] - 0.5 * np.log(total) + shape)
