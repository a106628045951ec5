"""Predictive checks by brute force, and leave-one-out against what it approximates."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from pools import pool_of

from rtc_bayes.calibration import check_predictions, leave_one_out
from rtc_bayes.collection import Judgments
from rtc_bayes.errors import InputError
from rtc_bayes.relevance import Draws, PointEstimate, load_model


@dataclass(frozen=True)
class Generative:
    name: ClassVar[str] = "generative"

    def graph(self, pool, judgments):
        raise NotImplementedError


@pytest.fixture
def judgments():
    lists = {"s": {"1": "abcd", "2": "ab", "3": "b"}, "t": {"1": "dcba", "2": "a", "3": "a"}}
    pool = pool_of(lists)
    # topic 1: a relevant, b not, d relevant; topic 3: a relevant
    return Judgments.from_labels(pool, [0, 1, 3, 6], [1, 0, 1, 1])


def draws(p):
    return Draws(p=np.asarray(p, dtype=np.float32))


def test_checks_against_enumeration(judgments):
    p = np.full((1, 1, 8), 0.5)
    result = check_predictions(judgments, draws(p), sets=4000, seed=1).set_index(
        ["statistic", "name"]
    )
    topic = result.loc[("relevant of a topic", "1")]
    # 2 of Binomial(3, 1/2): below it 1/2, at it 3/8
    assert topic["observed"] == 2
    assert topic["mean"] == pytest.approx(1.5, abs=4 * np.sqrt(0.75 / 4000))
    assert topic["tail"] == pytest.approx(0.5 + 3 / 16, abs=4 * 0.5 / np.sqrt(4000))
    assert ("relevant of a topic", "2") not in result.index
    assert result.loc[("relevant in a top 10", "s"), "observed"] == 2
    assert result.loc[("relevant in a top 10", "t"), "observed"] == 3
    # system s: a at 1 and d at 4 of topic 1; nothing in topics 2 and 3
    assert result.loc[("AP of a system", "s"), "observed"] == pytest.approx((1 + 2 / 4) / 2 / 3)
    assert result.loc[("AP of a system", "t"), "observed"] == pytest.approx(((1 + 0.5) / 2 + 1) / 3)


def test_a_model_that_expects_no_relevance_is_found_out(judgments):
    result = check_predictions(judgments, draws(np.full((2, 50, 8), 0.001)))
    topics = result[result["statistic"] == "relevant of a topic"]
    assert (topics["tail"] > 0.95).all()


def test_leave_one_out_of_fixed_probabilities_is_their_likelihood(judgments):
    random = np.random.default_rng(0)
    # so little spread that no judgment weighs
    p = np.clip(0.7 + 1e-4 * random.standard_normal((4, 250, 8)), 0, 1)
    result = leave_one_out(Generative(), judgments, draws(p))
    assert result.elpd == pytest.approx(3 * np.log(0.7) + np.log(0.3), abs=1e-3)
    assert result.log_score == pytest.approx(-result.elpd / 4)
    assert (result.judgments, result.unreliable) == (4, 0)
    assert abs(result.parameters) < 1e-3


def test_leave_one_out_of_repeated_draws(judgments):
    """Those that weigh most are one draw again and again, from which no Pareto k would come."""
    p = np.full((4, 250, 8), 0.7) + 1e-3 * np.random.default_rng(0).standard_normal((4, 250, 8))
    p[:, :50] = np.where(judgments.labels == 1.0, 0.2, 0.8)
    result = leave_one_out(Generative(), judgments, draws(p))
    assert np.isfinite(result.worst_pareto_k)
    # harmonic means of .2 in a fifth of the draws and .7, or for the document not relevant .3
    exact = -3 * np.log(0.2 / 0.2 + 0.8 / 0.7) - np.log(0.2 / 0.2 + 0.8 / 0.3)
    assert result.elpd == pytest.approx(exact, abs=0.1)


def test_leave_one_out_against_refitting():
    """Judgments of one unknown share: the beta posterior without each is known exactly."""
    pool = pool_of({"s": {"1": [f"d{i:02d}" for i in range(20)]}})
    labels = np.array([1.0] * 6 + [0.0] * 14)
    judgments = Judgments.from_labels(pool, np.arange(20), labels)
    share = np.random.default_rng(5).beta(7, 15, size=(4, 1000, 1))
    result = leave_one_out(Generative(), judgments, draws(np.repeat(share, 20, axis=2)))
    exact = 6 * np.log(6 / 21) + 14 * np.log(14 / 21)
    # 4000 independent draws: each term's error is about sd(p) / p / sqrt(4000) < .006
    assert result.elpd == pytest.approx(exact, abs=0.1)
    assert result.worst_pareto_k < 0.7


def test_composites_are_refused_with_the_reason(judgments):
    with pytest.raises(InputError, match="rtc is a composite: each of its parts has a likelihood"):
        leave_one_out(load_model("rtc"), judgments, draws(np.full((1, 10, 8), 0.5)))
    with pytest.raises(InputError, match="uniform has no graph"):
        leave_one_out(load_model("uniform"), judgments, draws(np.full((1, 10, 8), 0.5)))


def test_what_cannot_be_checked(judgments):
    with pytest.raises(InputError, match="a point estimate says nothing"):
        check_predictions(judgments, PointEstimate(np.full(8, 0.5)))
    labelled = np.full((1, 5, 8), 0.5)
    labelled[..., judgments.order] = judgments.labels[judgments.order]
    with pytest.raises(InputError, match="labels for probabilities"):
        check_predictions(judgments, draws(labelled))
    # of 0 and 1, and the labels by chance in one draw
    labelled[:, 1:] = 1 - labelled[:, 1:].round()
    assert len(check_predictions(judgments, draws(labelled))) == 6
    with pytest.raises(InputError, match="nothing is judged"):
        check_predictions(Judgments.none(judgments.pool), draws(np.full((1, 5, 8), 0.5)))
