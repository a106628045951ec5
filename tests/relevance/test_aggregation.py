"""Layer 3, against equation 2 written out and a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from rtc_bayes import Judgments
from rtc_bayes.relevance.aggregation import aggregate
from rtc_bayes.relevance.rank import self_report
from rtc_bayes.relevance.system_calibration import calibrate


def calibrated(judgments, calibration, link):
    """q_ij (or its log-odds) of every document and system, one by one."""
    pool, reports = judgments.pool, self_report(judgments)
    q_star = np.zeros((pool.n_documents, pool.n_systems))
    for entry, document in enumerate(pool.ranked):
        q_star[document, reports.system[entry]] = reports.q[entry]
    eta = calibration.offset + calibration.slope * q_star
    return expit(eta) if link == "probability" else eta


def optimum(features, labels, prior):
    def loss(c):
        eta = features @ c
        data = labels @ log_expit(eta) + (1 - labels) @ log_expit(-eta)
        return -(data + prior[0] * log_expit(c).sum() + prior[1] * log_expit(-c).sum())

    return minimize(loss, np.zeros(features.shape[1]), options={"gtol": 1e-8}).x


@pytest.mark.parametrize("link", ["probability", "logodds"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.5, 2.0)])
def test_weights_and_probabilities(judgments, link, intercept, prior):
    reports = self_report(judgments)
    calibration = calibrate(reports, smoothing="platt")
    result = aggregate(reports, calibration, prior=prior, intercept=intercept, link=link)
    features = calibrated(judgments, calibration, link)
    if intercept:
        features = np.column_stack([features, np.ones(len(features))])
    expected = optimum(features[judgments.order], reports.labels, prior)
    systems = reports.pool.n_systems
    np.testing.assert_allclose(result.weights, expected[:systems], atol=1e-4)
    if intercept:
        assert result.intercept == pytest.approx(expected[-1], abs=1e-4)
    else:
        assert result.intercept == 0.0
    coefficients = np.append(result.weights, [result.intercept] * intercept)
    np.testing.assert_allclose(result.p, expit(features @ coefficients), atol=1e-12)


def test_folds_average_fits_without_every_fifth_judgment(judgments):
    reports = self_report(judgments)
    calibration = calibrate(reports)
    result = aggregate(reports, calibration, folds=5)
    features = calibrated(judgments, calibration, "probability")[judgments.order]
    position = np.arange(len(features))
    fits = [
        optimum(features[position % 5 != fold], reports.labels[position % 5 != fold], (1.0, 1.0))
        for fold in range(5)
    ]
    np.testing.assert_allclose(result.weights, np.mean(fits, axis=0), atol=1e-4)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_fewer_judgments_than_folds(pool, count):
    judgments = Judgments.from_labels(pool, range(count), [1.0] * count)
    reports = self_report(judgments)
    result = aggregate(reports, calibrate(reports), folds=5)
    assert np.isfinite(result.p).all()


def test_a_document_that_no_system_ranked(judgments):
    """Its q_ij are sigma(A_j); an intercept frees it from one half."""
    reports = self_report(judgments)
    calibration = calibrate(reports)
    unranked = judgments.order[-1]
    without = aggregate(reports, calibration)
    assert without.p[unranked] == pytest.approx(expit(without.weights @ expit(calibration.offset)))
    rare = Judgments.from_labels(judgments.pool, judgments.order, np.zeros(len(judgments.order)))
    reports = self_report(rare)
    calibration = calibrate(reports)
    plain = aggregate(reports, calibration).p[unranked]
    freed = aggregate(reports, calibration, intercept=True).p[unranked]
    assert freed < plain < 0.5
