"""Panels of judges whose errors correlate."""

from __future__ import annotations

import numpy as np
import pytest

from rtc_bayes import InputError, PanelPrior, draw_checks, expected_gain, fit_panel, suggest_checks
from rtc_bayes.crowd import panel as module

NAN = np.nan


def simulated(seed: int, n: int = 600, judges: int = 8) -> tuple[np.ndarray, ...]:
    """Draw a panel that follows the model: one slope, topics' effects, an error that all share."""
    generator = np.random.default_rng(seed)
    topics = generator.integers(0, 12, n)
    shared = generator.uniform(0, 1, n)
    scores = np.clip(shared[:, None] + 0.1 * generator.standard_normal((n, judges)), 0, 1)
    prior = PanelPrior()
    common = fit_panel(scores, topics).features.common
    effects = 0.5 * generator.standard_normal(12)
    means, deviations = np.array(prior[:3]).T
    log_odds = common @ generator.normal(means, deviations) + effects[topics]
    relevant = (generator.uniform(size=n) < 1 / (1 + np.exp(-log_odds))).astype(float)
    return scores, topics, relevant


def hide(relevant: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    human = np.full(len(relevant), NAN)
    chosen = np.random.default_rng(seed).choice(len(relevant), n, replace=False)
    human[chosen] = relevant[chosen]
    return human


@pytest.mark.parametrize("human", [None, [1, 0, NAN, NAN]])
def test_thirty_copies_are_no_surer_than_one_judge(human):
    one = np.array([[1.0], [0.0], [1.0], [0.0]])
    topics = [0, 0, 1, 1]
    alone = fit_panel(one, topics, human)
    copies = fit_panel(np.repeat(one, 30, axis=1), topics, human)
    np.testing.assert_allclose(copies.probability, alone.probability, rtol=1e-12)
    assert copies.features.deviations.shape[1] == 0


def test_copies_in_a_family_weigh_as_one_judge():
    scores = np.random.default_rng(0).uniform(size=(20, 2))
    many = np.column_stack([np.repeat(scores[:, :1], 9, axis=1), scores[:, 1]])
    families = {str(j): "a" for j in range(9)}
    np.testing.assert_allclose(
        fit_panel(many, [0] * 20, families=families).probability,
        fit_panel(scores, [0] * 20).probability,
        rtol=1e-10,
    )


def test_agreement_of_all_judges_is_bounded_without_human_labels():
    unanimous = np.repeat([[1.0], [0.0]], 200, axis=1)
    high, low = fit_panel(unanimous, [0, 1]).probability
    assert 0.5 < high < 0.85
    assert 0.02 < low < 0.2


def test_human_labels_raise_the_bound():
    scores = np.repeat([[1.0], [0.0]], 100, axis=0)
    human = np.where(np.arange(200) % 2, scores[:, 0], NAN)
    probability = fit_panel(scores, np.arange(200) % 20, human).probability
    assert probability[0] > 0.9
    assert probability[100] < 0.05


def test_topics_may_differ_by_more_than_the_prior_expects(monkeypatch):
    """Effects of topics with a standard deviation of 2.5, where a grid that ends at 1.5 loses."""
    generator = np.random.default_rng(0)
    topic_of, scores = np.repeat(np.arange(40), 15), generator.uniform(size=(600, 1))
    log_odds = 3.5 * scores[:, 0] - 2.75 + 2.5 * generator.standard_normal(40)[topic_of]
    chance = 1 / (1 + np.exp(-log_odds))
    human = np.where(generator.uniform(size=600) < 0.3, generator.uniform(size=600) < chance, NAN)
    panel = fit_panel(scores, topic_of, human)
    monkeypatch.setattr(module, "_TOPIC_SCALES", module._TOPIC_SCALES[:5])
    narrow = fit_panel(scores, topic_of, human)

    def loss(of):  # expected, of the pairs that no human labelled
        said = of.probability[np.isnan(human)]
        true = chance[np.isnan(human)]
        return -np.mean(true * np.log(said) + (1 - true) * np.log1p(-said))

    assert panel.weights[panel.scales[:, 0] >= 2.0].sum() > 0.5
    assert loss(panel) < loss(narrow)


def test_the_posterior_is_that_of_brute_force(monkeypatch):
    """Intercept and slope on a grid, scales held: no topics' effects, a constant topic mean."""
    monkeypatch.setattr(module, "_TOPIC_SCALES", (0.0, 1e-9))
    generator = np.random.default_rng(3)
    scores = generator.uniform(size=(80, 1))
    human = np.where(np.arange(80) < 40, generator.uniform(size=80) < scores[:, 0], NAN)
    panel = fit_panel(scores, [0] * 80, human)
    prior = PanelPrior()
    a, b = np.meshgrid(np.linspace(-6, 4, 301), np.linspace(-4, 11, 301), indexing="ij")
    log_density = -0.5 * ((a - prior.intercept[0]) / prior.intercept[1]) ** 2
    log_density -= 0.5 * ((b - prior.slope[0]) / prior.slope[1]) ** 2
    log_odds = a[..., None] + b[..., None] * (scores[:, 0] - 0.5)
    known = ~np.isnan(human)
    log_density += (human[known] * log_odds[..., known]).sum(axis=-1)
    log_density -= np.logaddexp(0, log_odds[..., known]).sum(axis=-1)
    density = np.exp(log_density - log_density.max())
    exact = np.tensordot(density / density.sum(), 1 / (1 + np.exp(-log_odds)), axes=2)
    np.testing.assert_allclose(panel.probability[~known], exact[~known], atol=0.01)
    drawn = panel.draws(4000).mean(axis=0)[~known]
    np.testing.assert_allclose(drawn, panel.probability[~known], atol=4 * 0.15 / np.sqrt(4000))


def test_grades_are_those_of_brute_force(monkeypatch):
    """As above with grades 0 to 2 and a gap on the grid, which the prior holds above 0."""
    monkeypatch.setattr(module, "_TOPIC_SCALES", (0.0, 1e-9))
    generator = np.random.default_rng(4)
    scores = generator.uniform(size=(80, 1))
    truth = np.digitize(scores[:, 0] + 0.3 * generator.standard_normal(80), [0.4, 0.7])
    human = np.where(np.arange(80) < 40, truth, NAN)
    panel = fit_panel(scores, [0] * 80, human, n_grades=3, relevance_level=2)
    prior = PanelPrior()
    axes = np.linspace(-5, 4, 81), np.linspace(-3, 12, 81), np.linspace(0.02, 4, 81)
    a, b, gap = np.meshgrid(*axes, indexing="ij")
    log_density = sum(
        -0.5 * ((value - mean) / sd) ** 2
        for value, (mean, sd) in ((a, prior.intercept), (b, prior.slope), (gap, prior.gap))
    )

    def chances(score):
        middle = a + b * (score - 0.5)
        reached = [1 / (1 + np.exp(-middle - side * gap / 2)) for side in (1, -1)]
        return 1 - reached[0], reached[0] - reached[1], reached[1]

    for pair in range(40):
        log_density += np.log(chances(scores[pair, 0])[int(human[pair])])
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    exact = [[(density * chance).sum() for chance in chances(s)] for s in scores[40:, 0]]
    np.testing.assert_allclose(panel.grades[40:], exact, atol=0.01)
    drawn = panel.draws(4000).mean(axis=0)
    np.testing.assert_allclose(drawn, panel.probability, atol=4 * 0.15 / np.sqrt(4000))


@pytest.mark.parametrize("human", [None, [3, 0, 1, NAN, NAN, NAN], [0, 3, NAN, NAN, NAN, NAN]])
@pytest.mark.parametrize("gap", [(1.5, 0.5), (0.2, 2.0)])
def test_grades_are_a_distribution(human, gap):
    scores = np.array([[0.9], [0.1], [0.4], [0.0], [0.5], [1.0]])
    prior = PanelPrior(gap=gap)
    panels = [
        fit_panel(scores, ["t"] * 6, human, n_grades=4, relevance_level=rel, prior=prior)
        for rel in (1, 2, 3)
    ]
    grades = panels[0].grades
    assert (grades >= 0).all()
    np.testing.assert_allclose(grades.sum(axis=1), 1, rtol=1e-12)
    for level, panel in enumerate(panels, 1):
        np.testing.assert_allclose(panel.probability, grades[:, level:].sum(axis=1), atol=1e-12)
    mean = grades @ np.arange(4)
    assert mean[5] > mean[4] > mean[3]
    if human:
        known = np.flatnonzero(~np.isnan(human))
        told = np.array(human)[known].astype(int)
        np.testing.assert_array_equal(grades[known], np.eye(4)[told])
        assert (panels[2].draws(20)[:, known] == (told == 3)).all()


def test_two_grades_are_relevance():
    scores, topics, relevant = simulated(3)
    human = hide(relevant, 80)
    binary, two = fit_panel(scores, topics, human), fit_panel(scores, topics, human, n_grades=2)
    np.testing.assert_array_equal(two.grades[:, 1], binary.probability)
    # a middle grade that nobody gives: the highest of three is what 1 was
    three = fit_panel(scores, topics, 2 * human, n_grades=3, relevance_level=2)
    assert np.corrcoef(three.probability, binary.probability)[0, 1] > 0.95


def test_calibrated_by_simulation():
    """Over panels drawn from the model the truths less the probabilities are zero on average."""
    over, below, above = [], [], []
    for seed in range(60):
        scores, topics, relevant = simulated(seed)
        human = hide(relevant, 60, seed)
        p = fit_panel(scores, topics, human).probability
        rest = np.isnan(human)
        error = (relevant - p)[rest]
        over.append(error.mean())
        below.append(error[p[rest] < 0.3].sum())
        above.append(error[p[rest] > 0.7].sum())
    for errors in (over, below, above):
        assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors))


def test_useless_judges_do_no_harm():
    generator = np.random.default_rng(5)
    losses = []
    for seed in range(20):
        scores, topics, relevant = simulated(seed)
        human = hide(relevant, 100, seed)
        noise = generator.integers(0, 2, (len(scores), 2)).astype(float)
        rest = np.isnan(human)
        pair = []
        for values in (scores, np.column_stack([scores, noise]), noise):
            p = fit_panel(values, topics, human).probability[rest]
            x = relevant[rest]
            pair.append(-np.mean(np.log(np.where(x == 1, p, 1 - p))))
        share = relevant[~rest].mean()
        x = relevant[rest].mean()
        pair.append(-(x * np.log(share) + (1 - x) * np.log(1 - share)))
        losses.append(pair)
    good, mixed, useless, shares = np.mean(losses, axis=0)
    assert mixed < good + 0.03
    assert useless < shares + 0.02
    assert good < shares - 0.02


def test_judges_that_err_are_weighed_down():
    scores, topics, _ = simulated(2, n=2000)
    chance = 1 / (1 + np.exp(-6 * (scores.mean(axis=1) - 0.5)))
    relevant = (np.random.default_rng(2).uniform(size=2000) < chance).astype(float)
    inverted = np.column_stack([scores[:, :2], 1 - scores[:, 2:4]])
    human = hide(relevant, 500)
    rest = np.isnan(human)
    p = fit_panel(inverted, topics, human).probability[rest]
    assert np.corrcoef(p, scores.mean(axis=1)[rest])[0, 1] > 0.7


def test_missing_labels_are_left_out_of_the_mean():
    panel = fit_panel([[1.0, NAN], [NAN, 0.0]], ["t", "t"])
    np.testing.assert_allclose(panel.features.common[:, 1], [0.5, -0.5])
    assert (panel.features.deviations.size) == 0


def test_draws_repeat_and_keep_human_labels():
    panel = fit_panel([[0.2], [0.5], [0.9]], [0, 0, 1], [0, NAN, NAN], seed=4)
    drawn = panel.draws(50)
    assert drawn.shape == (50, 3)
    assert (drawn[:, 0] == 0).all()
    np.testing.assert_array_equal(drawn, panel.draws(50))
    assert drawn[:, 1].std() > 0.02


def test_gain_is_mutual_information():
    panel = fit_panel([[0.3], [0.5], [0.9]], [0, 0, 1])
    drawn = panel.draws(300)

    def entropy(p):
        return -np.sum(p * np.log(p))

    for i, gain in enumerate(expected_gain(panel, draws=300)):
        total = 0.0
        for k in range(3):
            x, y = drawn[:, i], drawn[:, k]
            joint = np.array(
                [
                    [(x * y).mean(), (x * (1 - y)).mean()],
                    [((1 - x) * y).mean(), ((1 - x) * (1 - y)).mean()],
                ]
            )
            each = entropy(joint.sum(axis=1)) + entropy(joint.sum(axis=0)) - entropy(joint)
            total += entropy(np.array([x.mean(), 1 - x.mean()])) if i == k else each
        np.testing.assert_allclose(gain, total, rtol=1e-8)


def test_suggested_are_the_pairs_of_highest_gain_without_a_label():
    scores, topics, relevant = simulated(1)
    panel = fit_panel(scores, topics, hide(relevant, 30))
    chosen = suggest_checks(panel, 10)
    gain = expected_gain(panel)
    assert np.isnan(panel.human[chosen]).all()
    np.testing.assert_allclose(np.sort(gain)[-10:][::-1], gain[chosen])


def test_strata_have_known_probabilities():
    scores, topics, relevant = simulated(1)
    panel = fit_panel(scores, topics)
    totals = []
    for seed in range(200):
        checks = draw_checks(panel, 40, seed=seed)
        assert len(np.unique(checks.pair)) == 40
        totals.append((relevant[checks.pair] / checks.inclusion_probability).sum())
    assert abs(np.mean(totals) - relevant.sum()) < 3 * np.std(totals) / np.sqrt(200)
    every = draw_checks(panel, 600)
    assert (every.inclusion_probability == 1).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.5]], ["t"]), "outside 0 to 1"),
        (([[NAN], [1.0]], ["t", "t"]), "1 pair without a label"),
        (([[1.0]], ["t", "u"]), "2 topics"),
        (([[1.0]], ["t"], [2]), "human labels that are not 0 to 1 or NaN"),
        (([[1.0]], ["t"], [1, 0]), "human labels"),
        (([["yes"]], ["t"]), r"scores are \[\['yes'\]\]; give labels of 0 to 1"),
        (([[1.0]], ["t"], ["no"]), r"human labels are \['no'\]; give grades, and NaN where"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError, match=message):
        fit_panel(*arguments)


def test_bad_requests():
    panel = fit_panel([[1.0], [0.0]], ["t", "t"], [1, NAN])
    with pytest.raises(InputError, match="count is 2, of 1 pair without"):
        suggest_checks(panel, 2)
    with pytest.raises(InputError, match="strata is 3, for 1 pair"):
        draw_checks(panel, 1, strata=3)
    with pytest.raises(InputError, match="draws is 0"):
        panel.draws(0)
    with pytest.raises(InputError, match=r"draws is 1\.5"):
        panel.draws(1.5)
    with pytest.raises(InputError, match="seed is -1"):
        draw_checks(panel, 1, strata=1, seed=-1)
    with pytest.raises(InputError, match="seed is -1"):
        fit_panel([[1.0]], ["t"], seed=-1)
    with pytest.raises(InputError, match="2 names of 1"):
        fit_panel([[1.0]], ["t"], judges=["a", "b"])
    with pytest.raises(InputError, match="relevance_level is 2, and the highest grade is 1"):
        fit_panel([[1.0]], ["t"], relevance_level=2)
    with pytest.raises(InputError, match="n_grades"):
        fit_panel([[1.0]], ["t"], n_grades=1)
    with pytest.raises(InputError, match="the prior's gap of grades is 0; give a mean above 0"):
        fit_panel([[1.0]], ["t"], n_grades=3, prior=PanelPrior(gap=(0.0, 1.0)))
