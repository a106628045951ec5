"""A panel of judges whose errors correlate: probabilities that do not grow sure with its size.

The panel's mean score is evidence, not its votes one by one. Let s be what a pair's labels tend to
as judges are added: its relevance and an error that all judges share. By Bayes' rule with normal
errors of one variance the log-odds of relevance are linear in s. How steep that line is, labels
alone cannot tell: the panel's agreement says nothing of the error that it shares. So the slope has
a prior, which says how good panels are, and human labels update it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.crowd.panel_features import Codes, Features, Floats, features_of
from rtc_bayes.crowd.panel_laplace import Normal, draw_components, expected_sigmoid, laplace
from rtc_bayes.errors import InputError

# Scales of the topics' and the judges' effects: a grid under half-normal priors.
_TOPIC_SCALES = (0.0, 0.25, 0.5, 1.0, 1.5)
_JUDGE_SCALES = (0.0, 0.5, 1.0, 2.0, 4.0)
_TOPIC_PRIOR, _JUDGE_PRIOR = 1.0, 2.0


class PanelPrior(NamedTuple):
    """What is believed of a panel before a human has labelled anything.

    The defaults are the means and standard deviations, rounded up, of logistic regressions of
    NIST's judgments on 102 panels of 1, 5 and 26-27 prompts of three language models over TREC DL
    2020 (``experiments/judges/panel.py priors``).

    Attributes
    ----------
    intercept : tuple of float
        Mean and standard deviation of the log-odds of relevance at a mean score of 0.5.
    slope : tuple of float
        What the log-odds gain as the mean score goes from 0 to 1.
    between : tuple of float
        What they gain besides as the mean over the topic goes from 0 to 1.

    Examples
    --------
    >>> poor = PanelPrior(slope=(1.0, 1.0))
    >>> scores = [[1.0], [0.0]]
    >>> fit_panel(scores, ["t", "t"], prior=poor).probability.round(2)
    array([0.41, 0.24])
    """

    intercept: tuple[float, float] = (-1.0, 1.0)
    slope: tuple[float, float] = (3.5, 1.5)
    between: tuple[float, float] = (0.0, 3.0)


@dataclass(frozen=True, eq=False)
class Panel:
    """Probabilities of relevance by a panel and human labels.

    Attributes
    ----------
    topic_of : ndarray of int, shape (pairs,)
    human : ndarray of float, shape (pairs,)
        The human labels: 0, 1, NaN where there is none.
    features : Features
    prior : PanelPrior
    scales : ndarray of float, shape (components, 2)
        Standard deviations of the topics' and of the judges' effects, a grid.
    weights : ndarray of float, shape (components,)
        Posterior probabilities of the scales.
    components : tuple of Normal, length components
        The whitened coefficients' posterior given the scales.
    seed : int
        Of the draws.

    Examples
    --------
    >>> panel = fit_panel([[1.0, 1.0], [0.0, 1.0]], ["t", "t"], [1, float("nan")])
    >>> panel.probability.round(2), panel.draws(100).shape
    (array([1.  , 0.38]), (100, 2))
    """

    topic_of: Codes
    human: Floats
    features: Features
    prior: PanelPrior
    scales: Floats
    weights: Floats
    components: tuple[Normal, ...]
    seed: int

    @cached_property
    def probability(self) -> Floats:
        """Probability that a pair is relevant: 0 or 1 where a human labelled it. Shape (pairs,)."""
        total = np.zeros(len(self.human))
        for scale, weight, normal in zip(self.scales, self.weights, self.components, strict=True):
            features, offset = _design(self.features, self.prior, scale)
            deviation = np.sqrt(((features @ normal.root) ** 2).sum(axis=1))
            total += weight * expected_sigmoid(offset + features @ normal.mean, deviation)
        return np.where(np.isnan(self.human), total, self.human)

    def draws(self, draws: int = 1000) -> Floats:
        """Draw pairs' probabilities together: what the pairs' errors share stays in each draw.

        Parameters
        ----------
        draws : int, at least 1

        Returns
        -------
        ndarray of float, shape (draws, pairs)
            0 or 1 where a human labelled the pair. To draw relevance, draw a Bernoulli variable of
            each.

        Raises
        ------
        InputError
            Fewer than one draw.
        """
        if draws < 1:
            raise InputError(f"draws is {draws}", remedy="give 1 or more")
        generator = np.random.default_rng(self.seed)
        chosen = draw_components(self.weights, draws, generator)
        parts = []
        for component in np.unique(chosen):
            normal = self.components[component]
            features, offset = _design(self.features, self.prior, self.scales[component])
            noise = generator.standard_normal((int((chosen == component).sum()), len(normal.mean)))
            log_odds = offset + (normal.mean + noise @ normal.root.T) @ features.T
            parts.append(0.5 * (1.0 + np.tanh(0.5 * log_odds)))
        drawn = generator.permutation(np.concatenate(parts))
        return np.where(np.isnan(self.human), drawn, self.human)


def fit_panel(
    scores: ArrayLike,
    topics: Sequence[str] | NDArray[np.int64],
    human: ArrayLike | None = None,
    *,
    judges: Sequence[str] | None = None,
    families: Mapping[str, str] | None = None,
    prior: PanelPrior | None = None,
    seed: int = 0,
) -> Panel:
    """Turn the labels of a panel, and human labels of some pairs, into probabilities.

    Logistic regression on the panel's mean score, the topic's mean of it, effects of topics, and
    deviations of families and judges from the mean. The scales of the effects are integrated over a
    grid, the coefficients by Laplace's approximation (nested Laplace: Rue, Martino and Chopin 2009,
    section 3). Without human labels it is the prior, exactly.

    Parameters
    ----------
    scores : array_like of float, shape (pairs, judges)
        A label divided by the highest grade, or the stated probability of relevance: from 0 to 1.
        NaN where a judge gave none. Every pair has one.
    topics : sequence of str or int, length pairs
    human : array_like of float, shape (pairs,), optional
        1 relevant, 0 nonrelevant, NaN unknown.
    judges : sequence of str, length judges, optional
        Names. By default "0", "1", ....
    families : mapping of str to str, optional
        The family of a judge: judges of one model, or one team. A family weighs as one judge.
    prior : PanelPrior, optional
    seed : int
        Of the draws.

    Returns
    -------
    Panel

    Raises
    ------
    InputError
        Scores outside 0 to 1; a pair without a label; lengths that differ; human labels other than
        0, 1 and NaN.
    FitError
        The mode was not reached.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[1.0] * 30, [1.0] * 30, [0.0] * 30, [0.0] * 30])
    >>> fit_panel(scores, ["t"] * 4).probability.round(2)
    array([0.63, 0.63, 0.11, 0.11])
    >>> fit_panel(scores, ["t"] * 4, [0, np.nan, 0, np.nan]).probability.round(2)
    array([0.  , 0.46, 0.  , 0.07])
    """
    values, labels, names = _checked(scores, human, judges, len(topics))
    topic_of = np.unique(np.asarray(topics), return_inverse=True)[1].astype(np.int64)
    features = features_of(values, topic_of, names, families)
    prior = PanelPrior() if prior is None else prior
    scales = np.array([(t, j) for t in _TOPIC_SCALES for j in _JUDGE_SCALES])
    rows = ~np.isnan(labels)
    anchored = Features(*(part[rows] for part in features))
    components = tuple(laplace(*_design(anchored, prior, scale), labels[rows]) for scale in scales)
    log_weight = np.array([component.evidence for component in components])
    log_weight -= 0.5 * ((scales / [_TOPIC_PRIOR, _JUDGE_PRIOR]) ** 2).sum(axis=1)
    log_weight += np.log(np.outer(_widths(_TOPIC_SCALES), _widths(_JUDGE_SCALES)).ravel())
    weights = np.exp(log_weight - log_weight.max())
    weights /= weights.sum()
    return Panel(topic_of, labels, features, prior, scales, weights, components, seed)


def _design(features: Features, prior: PanelPrior, scale: Floats) -> tuple[Floats, Floats]:
    """Return the features times the priors' standard deviations, and log-odds at their means."""
    means, deviations = np.array(prior).T
    scaled = (
        features.common * deviations,
        features.topics * scale[0],
        features.deviations * scale[1],
    )
    return np.column_stack(scaled), features.common @ means


def _widths(grid: Sequence[float]) -> Floats:
    """Return how much of the axis each point of a grid stands for, by the trapezoid rule."""
    steps = np.diff(grid)
    return np.concatenate([[0.0], steps]) / 2 + np.concatenate([steps, [0.0]]) / 2


def _checked(
    scores: ArrayLike, human: ArrayLike | None, judges: Sequence[str] | None, n_pairs: int
) -> tuple[Floats, Floats, Sequence[str]]:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or not values.size or len(values) != n_pairs:
        raise InputError(
            f"scores of shape {values.shape} for {n_pairs} topics",
            remedy="give one row a pair, one column a judge, and the topic of each pair",
        )
    if np.any((values < 0) | (values > 1)):
        raise InputError("a score outside 0 to 1", remedy="divide labels by the highest grade")
    if empty := int(np.isnan(values).all(axis=1).sum()):
        raise InputError(f"{empty} pairs without a label", remedy="leave these pairs out")
    names = [str(j) for j in range(values.shape[1])] if judges is None else judges
    if len(names) != values.shape[1]:
        raise InputError(
            f"{len(names)} names of {values.shape[1]} judges", remedy="give one name a column"
        )
    labels = np.full(n_pairs, np.nan) if human is None else np.asarray(human, dtype=np.float64)
    if labels.shape != (n_pairs,) or not np.isin(labels[~np.isnan(labels)], (0.0, 1.0)).all():
        raise InputError(
            "human labels that are not 0, 1 or NaN, one a pair",
            remedy="give 1 for relevant, 0 for nonrelevant, NaN for unknown",
        )
    return values, labels, names
