"""A panel of judges whose errors correlate: probabilities that do not grow sure with its size.

The panel's mean score is evidence, not its votes one by one. Let s be what a pair's labels tend to
as judges are added: its relevance and an error that all judges share. By Bayes' rule with normal
errors of one variance the log-odds of relevance are linear in s. How steep that line is, labels
alone cannot tell: the panel's agreement says nothing of the error that it shares. So the slope has
a prior, which says how good panels are, and human labels update it.

With grades 0 to G the log-odds of grade g or more differ by g in their intercepts alone
(proportional odds: McCullagh 1980), which lie gaps of unknown width apart. Judges, topics and the
slope are learned from all grades together, and two grades are the model of relevance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from rtc_bayes.checks import as_numbers, whole_number
from rtc_bayes.crowd.panel_features import Codes, Features, Floats, features_of
from rtc_bayes.crowd.panel_laplace import (
    Normal,
    Ordered,
    draw_components,
    expected_sigmoid,
    laplace,
)
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import counted

# Scales of the topics' and the judges' effects: a grid under half-normal priors, to three of their
# standard deviations.
_TOPIC_SCALES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
_JUDGE_SCALES = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0)
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
    gap : tuple of float
        Of more than two grades: by how much the log-odds of grade g or more exceed those of g + 1
        or more. The intercept lies midway between the lowest and the highest of them.

    Examples
    --------
    >>> poor = PanelPrior(slope=(1.0, 1.0))
    >>> scores = [[1.0], [0.0]]
    >>> fit_panel(scores, ["t", "t"], prior=poor).probability.round(2)
    array([0.41, 0.25])
    """

    intercept: tuple[float, float] = (-1.0, 1.0)
    slope: tuple[float, float] = (3.5, 1.5)
    between: tuple[float, float] = (0.0, 3.0)
    gap: tuple[float, float] = (1.5, 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class Panel:
    """Probabilities of relevance, or of grades, by a panel and human labels.

    Attributes
    ----------
    topic_of : ndarray of int, shape (pairs,)
    human : ndarray of float, shape (pairs,)
        The human grades, NaN where there is none: 0 and 1 where there are two grades.
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
    n_grades : int
    relevance_level : int
        The lowest grade that is relevant.

    Examples
    --------
    >>> panel = fit_panel([[1.0, 1.0], [0.0, 1.0]], ["t", "t"], [1, float("nan")])
    >>> panel.probability.round(2), panel.draws(100).shape
    (array([1.  , 0.39]), (100, 2))
    """

    topic_of: Codes
    human: Floats
    features: Features
    prior: PanelPrior
    scales: Floats
    weights: Floats
    components: tuple[Normal, ...]
    seed: int
    n_grades: int = 2
    relevance_level: int = 1

    def __repr__(self) -> str:
        labelled = int(np.count_nonzero(~np.isnan(self.human)))
        return (
            f"Panel({counted(len(self.human), 'pair')}, {labelled:,} labelled by a human, "
            f"{self.n_grades} grades)"
        )

    @cached_property
    def at_least(self) -> Floats:
        """Probability of grade 1 or more, of 2 or more, ...: shape (pairs, n_grades - 1).

        0 or 1 where a human labelled the pair.
        """
        reached = np.zeros((len(self.human), self.n_grades - 1))
        for scale, weight, normal in zip(self.scales, self.weights, self.components, strict=True):
            for threshold in range(1, self.n_grades):
                features, offset = self._design(scale, threshold)
                deviation = np.sqrt(((features @ normal.root) ** 2).sum(axis=1))
                chance = expected_sigmoid(offset + features @ normal.mean, deviation)
                reached[:, threshold - 1] += weight * chance
        reached = np.minimum.accumulate(reached, axis=1)  # where a normal gap may be below 0
        human = self.human[:, None]
        return np.where(np.isnan(human), reached, human >= np.arange(1, self.n_grades))

    @property
    def grades(self) -> Floats:
        """Probabilities of the grades, shape (pairs, n_grades)."""
        reached = np.pad(self.at_least, ((0, 0), (1, 1)))
        reached[:, 0] = 1.0
        return reached[:, :-1] - reached[:, 1:]

    @property
    def probability(self) -> Floats:
        """Probability that a pair is relevant: 0 or 1 where a human labelled it. Shape (pairs,)."""
        return self.at_least[:, self.relevance_level - 1]

    def draws(self, draws: int = 1000) -> Floats:
        """Draw pairs' probabilities of relevance together: what their errors share stays in a draw.

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
        whole_number("draws", draws, least=1)
        generator = np.random.default_rng(self.seed)
        chosen = draw_components(self.weights, draws, generator)
        parts = []
        for component in np.unique(chosen):
            normal = self.components[component]
            features, offset = self._design(self.scales[component], self.relevance_level)
            noise = generator.standard_normal((int((chosen == component).sum()), len(normal.mean)))
            log_odds = offset + (normal.mean + noise @ normal.root.T) @ features.T
            parts.append(expit(log_odds))
        drawn = generator.permutation(np.concatenate(parts))
        return np.where(np.isnan(self.human), drawn, self.human >= self.relevance_level)

    def _design(self, scale: Floats, threshold: int) -> tuple[Floats, Floats]:
        thresholds = np.full(len(self.human), threshold)
        return _design(self.features, self.prior, scale, thresholds, self.n_grades)


@moved(rel="write relevance_level")
@explains_types
def fit_panel(
    scores: ArrayLike,
    topics: Sequence[str] | NDArray[np.int64],
    human: ArrayLike | None = None,
    *,
    judges: Sequence[str] | None = None,
    families: Mapping[str, str] | None = None,
    n_grades: int = 2,
    relevance_level: int = 1,
    prior: PanelPrior | None = None,
    seed: int = 0,
) -> Panel:
    """Turn the labels of a panel, and human labels of some pairs, into probabilities.

    Logistic regression on the panel's mean score, the topic's mean of it, effects of topics, and
    deviations of families and judges from the mean. The scales of the effects are integrated over a
    grid, the coefficients by Laplace's approximation (nested Laplace: Rue, Martino and Chopin 2009,
    section 3). Without human labels it is the prior, exactly. With more than two grades it is an
    ordinal regression of proportional odds on the same.

    Parameters
    ----------
    scores : array_like of float, shape (pairs, judges)
        A label divided by the highest grade, or the stated probability of relevance: from 0 to 1.
        NaN where a judge gave none. Every pair has one.
    topics : sequence of str or int, length pairs
    human : array_like of float, shape (pairs,), optional
        Grades from 0 to ``n_grades - 1``, NaN unknown. Of two grades 1 is relevant, 0 nonrelevant.
    judges : sequence of str, length judges, optional
        Names. By default "0", "1", ....
    families : mapping of str to str, optional
        The family of a judge: judges of one model, or one team. A family weighs as one judge.
    n_grades : int, at least 2
        How many grades humans give.
    relevance_level : int, from 1 to ``n_grades - 1``
        The lowest grade that is relevant: ``probability`` and ``draws`` are of it.
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
        grades and NaN; a relevance level that is no grade; a prior's gap of 0 or less.
    FitError
        The mode was not reached.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[1.0] * 30, [1.0] * 30, [0.0] * 30, [0.0] * 30])
    >>> fit_panel(scores, ["t"] * 4).probability.round(2)
    array([0.63, 0.63, 0.12, 0.12])
    >>> fit_panel(scores, ["t"] * 4, [0, np.nan, 0, np.nan]).probability.round(2)
    array([0.  , 0.45, 0.  , 0.07])
    >>> fit_panel(scores, ["t"] * 4, [1, np.nan, 0, np.nan], n_grades=3).grades[1].round(2)
    array([0.28, 0.31, 0.41])
    """
    whole_number("seed", seed)
    whole_number("n_grades", n_grades, least=2)
    if not 1 <= whole_number("relevance_level", relevance_level, least=1) < n_grades:
        raise InputError(
            f"relevance_level is {relevance_level}, and the highest grade is {n_grades - 1}",
            remedy="give a lower relevance level",
        )
    values, labels, names = _checked(scores, human, judges, len(topics), n_grades)
    topic_of = np.unique(np.asarray(topics), return_inverse=True)[1].astype(np.int64)
    features = features_of(values, topic_of, names, families)
    prior = PanelPrior() if prior is None else prior
    if not (prior.gap[0] > 0 and prior.gap[1] >= 0):
        raise InputError(
            f"the prior's gap of grades is {prior.gap[0]:g}",
            remedy="give a mean above 0 and a deviation of 0 or more",
        )
    scales = np.array([(t, j) for t in _TOPIC_SCALES for j in _JUDGE_SCALES])
    rows, thresholds, reached = _steps(labels, n_grades)
    anchored = Features(*(part[rows] for part in features))
    within = np.bincount(labels[~np.isnan(labels)].astype(np.int64), minlength=n_grades)[1:-1]
    ordered = Ordered(len(prior) - 1, *prior.gap, within)
    components = tuple(
        laplace(*_design(anchored, prior, scale, thresholds, n_grades), reached, ordered)
        for scale in scales
    )
    log_weight = np.array([component.evidence for component in components])
    log_weight -= 0.5 * ((scales / [_TOPIC_PRIOR, _JUDGE_PRIOR]) ** 2).sum(axis=1)
    log_weight += np.log(np.outer(_widths(_TOPIC_SCALES), _widths(_JUDGE_SCALES)).ravel())
    weights = np.exp(log_weight - log_weight.max())
    weights /= weights.sum()
    return Panel(
        topic_of,
        labels,
        features,
        prior,
        scales,
        weights,
        components,
        seed,
        n_grades,
        relevance_level,
    )


def _steps(grades: Floats, n_grades: int) -> tuple[Codes, Codes, Floats]:
    """Return what human grades say: the pair, a threshold, and whether the pair reaches it.

    A grade reaches its own threshold and not the next. The chance of both is the product of the
    chances of each, as if apart, and of 1 - exp(-gap): see `Ordered`.
    """
    pairs = np.flatnonzero(~np.isnan(grades))
    grade = grades[pairs].astype(np.int64)
    steps = np.stack([grade, grade + 1], axis=1)
    there = (steps >= 1) & (steps < n_grades)
    rows, place = np.nonzero(there)
    return pairs[rows], steps[there], (place == 0).astype(np.float64)


def _design(
    features: Features, prior: PanelPrior, scale: Floats, thresholds: Codes, n_grades: int
) -> tuple[Floats, Floats]:
    """Return the features times the priors' standard deviations, and log-odds at their means.

    The log-odds are of reaching a row's threshold: half of each gap above it is added, and half of
    each below it taken away.
    """
    means, deviations = np.array(prior[:-1]).T
    halves = np.where(thresholds[:, None] <= np.arange(1, n_grades - 1), 0.5, -0.5)
    scaled = (
        features.common * deviations,
        halves * prior.gap[1],
        features.topics * scale[0],
        features.deviations * scale[1],
    )
    return np.column_stack(scaled), features.common @ means + prior.gap[0] * halves.sum(axis=1)


def _widths(grid: Sequence[float]) -> Floats:
    """Return how much of the axis each point of a grid stands for, by the trapezoid rule."""
    steps = np.diff(grid)
    return np.concatenate([[0.0], steps]) / 2 + np.concatenate([steps, [0.0]]) / 2


def _checked(
    scores: ArrayLike,
    human: ArrayLike | None,
    judges: Sequence[str] | None,
    n_pairs: int,
    n_grades: int,
) -> tuple[Floats, Floats, Sequence[str]]:
    values = as_numbers(scores, "scores are", "give labels of 0 to 1")
    if values.ndim != 2 or not values.size or len(values) != n_pairs:
        raise InputError(
            f"scores of shape {values.shape} for {counted(n_pairs, 'topic')}",
            remedy="give one row a pair, one column a judge, and the topic of each pair",
        )
    if np.any((values < 0) | (values > 1)):
        raise InputError("a score outside 0 to 1", remedy="divide labels by the highest grade")
    if empty := int(np.isnan(values).all(axis=1).sum()):
        raise InputError(f"{counted(empty, 'pair')} without a label", remedy="leave out such pairs")
    names = [str(j) for j in range(values.shape[1])] if judges is None else judges
    if len(names) != values.shape[1]:
        raise InputError(
            f"{counted(len(names), 'name')} of {counted(values.shape[1], 'judge')}",
            remedy="give one name a column",
        )
    known_to = np.full(n_pairs, np.nan) if human is None else human
    labels = as_numbers(known_to, "human labels are", "give grades, and NaN where there is none")
    allowed = np.isin(labels[~np.isnan(labels)], np.arange(n_grades))
    if labels.shape != (n_pairs,) or not allowed.all():
        raise InputError(
            f"human labels that are not 0 to {n_grades - 1} or NaN, one a pair",
            remedy="give 1 for relevant, 0 for nonrelevant, NaN for unknown; of grades n_grades",
        )
    return values, labels, names
