"""The panel against the same model written as a PyMC graph and sampled."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytest

from rtc_bayes.crowd import PanelPrior, fit_panel
from rtc_bayes.crowd.panel import _JUDGE_PRIOR, _JUDGE_SCALES, _TOPIC_PRIOR, _TOPIC_SCALES

NAN = np.nan


@pytest.mark.slow
@pytest.mark.parametrize("n_grades", [2, 4])
def test_the_panel_is_the_posterior_of_the_graph(n_grades):
    generator = np.random.default_rng(2)
    topics = np.repeat([0, 1, 2], 10)
    truth = generator.uniform(size=30)
    scores = np.clip(truth[:, None] + 0.3 * generator.standard_normal((30, 3)), 0.0, 1.0)
    thresholds = [0.6] if n_grades == 2 else [0.3, 0.6, 0.8]
    human = np.where(np.arange(30) % 2, NAN, np.digitize(truth, thresholds))
    families = {"a": "one", "b": "one"}
    panel = fit_panel(
        scores, topics, human, judges=["a", "b", "c"], families=families, n_grades=n_grades
    )

    mean_of_one = scores[:, :2].mean(axis=1)
    mean = (mean_of_one + scores[:, 2]) / 2
    topic_mean = np.array([mean[topics == t].mean() for t in range(3)])
    # a family's deviations by the root of two families, a judge's by the root of three judges
    family = np.stack([mean_of_one - mean, scores[:, 2] - mean], axis=1) / np.sqrt(2)
    judge = (scores[:, :2] - mean_of_one[:, None]) / np.sqrt(3)
    prior, known = PanelPrior(), ~np.isnan(human)
    with pm.Model():
        intercept = pm.Normal("intercept", *prior.intercept)
        slope = pm.Normal("slope", *prior.slope)
        between = pm.Normal("between", *prior.between)
        widest = (_TOPIC_SCALES[-1], _JUDGE_SCALES[-1])  # where the grids of scales end
        of_topics, of_judges = (
            pm.Truncated(name, pm.HalfNormal.dist(deviation), upper=upper)
            for name, deviation, upper in zip(
                ("topics", "judges"), (_TOPIC_PRIOR, _JUDGE_PRIOR), widest, strict=True
            )
        )
        topic = of_topics * pm.Normal("topic", shape=3)
        error = of_judges * pm.Normal("error", shape=4)
        log_odds = intercept + slope * (mean - 0.5) + between * (topic_mean[topics] - mean.mean())
        log_odds += topic[topics] + family @ error[:2] + judge @ error[2:]
        gaps = pm.Normal("gaps", *prior.gap, shape=n_grades - 2)
        below = pm.math.concatenate([[0.0], pm.math.cumsum(gaps)])  # of all thresholds, how far
        intercepts = gaps.sum() / 2 - below
        given = human[known].astype(int)
        if n_grades == 2:
            pm.Bernoulli("human", logit_p=log_odds[known], observed=given)
        else:
            pm.OrderedLogistic("human", eta=log_odds[known], cutpoints=-intercepts, observed=given)
        pm.Deterministic("reached", pm.math.sigmoid(log_odds[:, None] + intercepts))
        drawn = pm.sample(
            1_000, tune=1_000, chains=4, cores=1, random_seed=1, progressbar=False,
            target_accept=0.95,
        )  # fmt: skip
    reached = drawn.posterior["reached"].to_numpy().reshape(-1, 30, n_grades - 1)
    by_graph = reached.mean(axis=0)
    middle = by_graph[~known, n_grades // 2 - 1]
    assert np.ptp(middle) > 0.4  # probabilities that tell the pairs apart
    # a sampling error of .005, and that of Laplace's approximation and of the grid of scales
    np.testing.assert_allclose(panel.at_least[~known], by_graph[~known], atol=0.03)
