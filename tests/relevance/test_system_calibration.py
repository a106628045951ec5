"""Layer 2, against cells written out row by row and a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from rtc_bayes import Judgments
from rtc_bayes.relevance.rank import self_report, solve
from rtc_bayes.relevance.system_calibration import (
    WEAK_PRIOR,
    calibrate,
    platt_targets,
    smoothing_cells,
)


def rows_of_cells(judgments, system):
    """q* of every cell that a system fills, one by one."""
    pool = judgments.pool
    rows = []
    for t in range(pool.n_topics):
        relevant, nonrelevant = judgments.relevant[t], judgments.nonrelevant[t]
        if relevant + nonrelevant == 0:
            continue
        curve = solve(pool.depth + 1, relevant, nonrelevant)
        rows += [curve.q[rank] for rank in range(len(pool.ranking(system, t)))]
        rows.append(0.0)
    return np.array(rows)


def optimum(q, relevant, nonrelevant, prior):
    def loss(c):
        eta = c[0] + c[1] * q
        data = relevant @ log_expit(eta) + nonrelevant @ log_expit(-eta)
        return -(data + prior[0] * log_expit(c).sum() + prior[1] * log_expit(-c).sum())

    return minimize(loss, np.zeros(2), options={"gtol": 1e-8}).x


@pytest.fixture
def partly_judged(pool):
    """Judgments in topics 1, 2 and 4 only, and some labels between 0 and 1."""
    rng = np.random.default_rng(3)
    documents = np.flatnonzero(np.isin(pool.topic_of, [0, 1, 3]))
    documents = rng.permutation(documents)[:25]
    labels = np.where(rng.random(25) < 0.3, rng.random(25), rng.random(25) < 0.5)
    return Judgments.from_labels(pool, documents, labels)


@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_cells_are_rows(partly_judged, weight):
    reports = self_report(partly_judged)
    calibration = calibrate(reports, smoothing="cells", cell_weight=weight)
    for s in range(reports.pool.n_systems):
        cells = rows_of_cells(partly_judged, s)
        q = np.concatenate([reports.judged_q[:, s], cells])
        both = np.full(len(cells), weight)
        expected = optimum(
            q,
            np.concatenate([reports.labels, both]),
            np.concatenate([1 - reports.labels, both]),
            WEAK_PRIOR,
        )
        result = [calibration.offset[s], calibration.slope[s]]
        np.testing.assert_allclose(result, expected, atol=2e-5)


def test_cells_are_counted_per_system(partly_judged):
    reports = self_report(partly_judged)
    q, counts = smoothing_cells(reports)
    for s in range(reports.pool.n_systems):
        expected = np.sort(rows_of_cells(partly_judged, s))
        np.testing.assert_array_equal(np.sort(np.repeat(q, counts[s].astype(int))), expected)


def test_platt(partly_judged):
    reports = self_report(partly_judged)
    calibration = calibrate(reports, smoothing="platt")
    targets = platt_targets(reports.labels)
    for s in range(reports.pool.n_systems):
        expected = optimum(reports.judged_q[:, s], targets, 1 - targets, WEAK_PRIOR)
        result = [calibration.offset[s], calibration.slope[s]]
        np.testing.assert_allclose(result, expected, atol=1e-4)


def test_platt_targets():
    np.testing.assert_allclose(platt_targets(np.array([1.0, 1.0, 0.0])), [3 / 4, 3 / 4, 1 / 3])
    assert platt_targets(np.empty(0)).shape == (0,)


def test_beta(partly_judged):
    reports = self_report(partly_judged)
    calibration = calibrate(reports, smoothing="beta", prior=(2.0, 3.0))
    for s in range(reports.pool.n_systems):
        expected = optimum(reports.judged_q[:, s], reports.labels, 1 - reports.labels, (2.0, 3.0))
        result = [calibration.offset[s], calibration.slope[s]]
        np.testing.assert_allclose(result, expected, atol=1e-5)


def test_unranked_documents_count_and_are_not_zero(judgments):
    """A judged document that a system did not rank has q* = 0, and C_j(0) = sigma(A_j)."""
    reports = self_report(judgments)
    calibration = calibrate(reports)
    entries, unranked = calibration.log_odds(reports)
    np.testing.assert_array_equal(unranked, calibration.offset)
    spread = reports.judged(expit(entries), expit(unranked))
    np.testing.assert_allclose(
        spread, expit(calibration.offset + calibration.slope * reports.judged_q), atol=1e-12
    )
    assert reports.judged_q[-1].sum() == 0.0


@pytest.mark.parametrize("smoothing", ["cells", "platt", "beta"])
def test_without_judgments_every_curve_is_one_half(pool, smoothing):
    calibration = calibrate(self_report(Judgments.none(pool)), smoothing=smoothing)
    np.testing.assert_array_equal(calibration.offset, 0.0)
    np.testing.assert_array_equal(calibration.slope, 0.0)
