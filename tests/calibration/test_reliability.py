"""Reliability: calibrated probabilities lie in their band, wrong ones do not, parts sum."""

import numpy as np
import pytest
from pools import pool_of

from rtc_bayes.calibration import Predictions, reliability, score, scores_by
from rtc_bayes.calibration.reliability import REPLICATES
from rtc_bayes.collection import Judgments
from rtc_bayes.errors import InputError


def predictions(p, relevant, seed=0):
    """Predictions of documents that are all of one topic."""
    p, n = np.asarray(p, dtype=float), len(p)
    outcomes = np.random.default_rng(seed).random((REPLICATES, n)) < p
    return Predictions(
        p=p,
        relevant=np.asarray(relevant, dtype=bool),
        topic=np.full(n, "1"),
        rank=np.ones(n, dtype=np.int64),
        seen=np.ones(n, dtype=bool),
        replicates=np.packbits(outcomes, axis=0, bitorder="little"),
    )


@pytest.fixture
def calibrated():
    random = np.random.default_rng(2)
    p = random.beta(0.5, 2.0, size=4000)
    return predictions(p, random.random(4000) < p)


def outside(actual):
    curve = reliability(actual)
    return float(((curve["share"] < curve["low"]) | (curve["share"] > curve["high"])).mean())


def test_calibrated_probabilities_stay_within_their_band(calibrated):
    # pointwise bands of 90%: of a curve whose points go together, few are outside
    assert outside(calibrated) < 0.25
    scores = score(calibrated)
    assert scores.share_low <= scores.share <= scores.share_high
    # the fit gains what 4000 labels let it gain by chance, and no more
    assert 0.0 <= scores.miscalibration < 0.004


def test_probabilities_that_are_too_extreme_leave_their_band(calibrated):
    extreme = calibrated.p**2 / (calibrated.p**2 + (1 - calibrated.p) ** 2)
    wrong = predictions(extreme, calibrated.relevant)
    assert outside(wrong) > 0.5
    assert score(wrong).miscalibration > 5 * score(calibrated).miscalibration
    assert score(wrong).discrimination == pytest.approx(score(calibrated).discrimination)
    assert score(wrong).log_score > score(calibrated).log_score


def test_curve_is_the_best_rising_one_by_brute_force():
    p = [0.1, 0.1, 0.3, 0.5, 0.7, 0.9]
    relevant = [1, 0, 0, 1, 0, 1]
    result = predictions(p, relevant)
    distinct, fitted = result.curve(result.relevant)
    assert distinct.tolist() == [0.1, 0.3, 0.5, 0.7, 0.9]
    # .5 of two, then 0 of one: pooled to 1/3; then 1 and 0: pooled to 1/2
    np.testing.assert_allclose(fitted, [1 / 3, 1 / 3, 1 / 2, 1 / 2, 1])
    grid = np.linspace(0, 1, 7)
    best = np.inf
    for curve in np.array(np.meshgrid(*[grid] * 5)).reshape(5, -1).T:
        if (np.diff(curve) >= 0).all():
            best = min(best, np.mean((curve[[0, 0, 1, 2, 3, 4]] - relevant) ** 2))
    y = np.array(relevant, dtype=float)
    assert np.mean((fitted[[0, 0, 1, 2, 3, 4]] - y) ** 2) <= best + 1e-12


def test_scores_by_hand():
    scores = score(predictions([0.2, 0.6], [0, 1]))
    assert scores.brier == pytest.approx((0.04 + 0.16) / 2)
    assert scores.uncertainty == pytest.approx(0.25)
    # the fitted curve is 0 and 1: nothing is left
    assert scores.discrimination == pytest.approx(0.25)
    assert scores.miscalibration == pytest.approx(scores.brier)
    assert scores.log_score == pytest.approx(-(np.log(0.8) + np.log(0.6)) / 2)
    assert (scores.documents, scores.relevant, scores.mean_p, scores.share) == (2, 1, 0.4, 0.5)


def test_parts_of_the_brier_score_sum(calibrated):
    scores = score(calibrated)
    parts = scores.miscalibration - scores.discrimination + scores.uncertainty
    assert scores.brier == pytest.approx(parts, abs=1e-12)


def test_a_certain_error_has_a_finite_log_score():
    scores = score(predictions([0.0, 1.0], [1, 0]))
    assert scores.log_score == pytest.approx(-np.log(1e-6))


def test_one_probability_for_all_discriminates_nothing():
    result = predictions(np.full(100, 0.5), np.arange(100) < 30)
    assert score(result).discrimination == pytest.approx(0.0, abs=1e-12)
    assert score(result).miscalibration == pytest.approx(0.04)
    assert len(reliability(result)) == 1


def test_nothing_to_score():
    with pytest.raises(InputError, match="no unjudged document"):
        score(predictions([], []))


@pytest.fixture
def judgments():
    """Topic 1: a, b by both systems, c by the first, d by the second; b is judged."""
    pool = pool_of({"first": {"1": ["a", "b", "c"]}, "second": {"1": ["b", "d", "a"]}})
    return Judgments.from_labels(pool, [1], [1.0], judged_for=["first"])


def test_of_takes_the_unjudged_documents(judgments):
    values = np.array([[0.1, 0.9, 0.3, 0.5], [0.3, 0.9, 0.5, 0.7]])
    result = Predictions.from_judgments(judgments, values, [1, 1, 0, 1], seed=1)
    np.testing.assert_allclose(result.p, [0.2, 0.4, 0.6])
    assert result.relevant.tolist() == [True, False, True]
    assert result.rank.tolist() == [1, 3, 2]
    assert result.seen.tolist() == [True, True, False]
    assert result.topic.tolist() == ["1"] * 3
    by = scores_by(result, "seen")
    assert by["documents"].tolist() == [2, 1]
    assert scores_by(result, "rank")["group"].tolist() == ["1 to 5"]
    assert scores_by(result, "topic")["relevant"].tolist() == [2]


def test_who_was_judged_for_may_differ_by_topic():
    lists = {"first": {"1": ["a", "b"], "2": ["a", "b"]}, "second": {"1": ["c"], "2": ["c"]}}
    judgments = Judgments.none(
        pool_of(lists), judged_for={"1": ["first"], "2": ["first", "second"]}
    )
    result = Predictions.from_judgments(judgments, np.full((1, 6), 0.5), [1, 0] * 3, seed=1)
    assert result.seen.tolist() == [True, True, False, True, True, True]


def test_replicates_of_draws_keep_what_documents_share(judgments):
    """Draws that are all 0 or all 1: in each replicate every document has the same outcome."""
    values = np.repeat([[0.0], [1.0]], 4, axis=1)
    result = Predictions.from_judgments(judgments, values, [1, 1, 0, 1], seed=1, replicates=800)
    drawn = np.array([result.replicate(k) for k in range(800)])
    assert (drawn == drawn[:, :1]).all()
    assert abs(drawn.mean() - 0.5) < 4 * np.sqrt(0.25 / 800)


def test_joined_predictions_are_the_parts_one_after_the_other(calibrated):
    halves = np.arange(len(calibrated)) < 1500
    joined = Predictions.joined([calibrated.where(halves), calibrated.where(~halves)])
    assert score(joined) == score(calibrated)
    assert (joined.replicate(17) == calibrated.replicate(17)).all()


def test_probabilities_of_other_documents(judgments):
    with pytest.raises(InputError, match=r"shape \(1, 3\) for 4 documents"):
        Predictions.from_judgments(judgments, np.zeros((1, 3)), np.zeros(4))
