"""Layer 1, against the log density as printed and its exact properties."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize
from scipy.special import log_expit

from rtc_bayes import Judgments
from rtc_bayes.relevance.rank import self_report, solve


def literal(theta, relevant, nonrelevant, weight):
    total = 0.0
    for i in range(len(theta)):
        total += (relevant + 1) * log_expit(theta[i]) + (nonrelevant + 1) * log_expit(-theta[i])
        for k in range(i + 1, len(theta)):
            total += weight * log_expit(theta[i] - theta[k])
    return total


@pytest.mark.parametrize("temper", ["none", "depth"])
@pytest.mark.parametrize(("relevant", "nonrelevant"), [(0, 0), (3, 1), (0.4, 7.6)])
def test_mode_is_that_of_the_literal_density(relevant, nonrelevant, temper):
    items = 9
    weight = 1.0 if temper == "none" else 1.0 / items
    curve = solve(items, relevant, nonrelevant, temper)
    best = minimize(
        lambda theta: -literal(theta, relevant, nonrelevant, weight),
        np.zeros(items),
        options={"gtol": 1e-7},
    )
    np.testing.assert_allclose(curve.theta, best.x, atol=1e-5)
    assert curve.converged


@settings(deadline=None, max_examples=40)
@given(
    st.integers(2, 130),
    st.floats(0, 300),
    st.floats(0, 300),
    st.sampled_from(["none", "depth"]),
)
def test_exact_properties(items, relevant, nonrelevant, temper):
    """Mean of q*, order, and the mirror image under exchange of R and N."""
    curve = solve(items, relevant, nonrelevant, temper)
    assert curve.converged
    assert curve.q.mean() == pytest.approx((relevant + 1) / (relevant + nonrelevant + 2), abs=1e-9)
    assert (np.diff(curve.theta) < 0).all()
    mirror = solve(items, nonrelevant, relevant, temper)
    np.testing.assert_allclose(mirror.theta, -curve.theta[::-1], atol=1e-6)


def test_with_nothing_judged_a_step_or_a_smooth_curve():
    """The weakness of the printed layer, and what tempering makes of it."""
    step, smooth = solve(101, 0, 0, "none").q, solve(101, 0, 0, "depth").q
    assert step[0] > 0.999
    assert step[100] < 0.001
    assert smooth[0] == pytest.approx(0.667, abs=0.005)
    assert smooth[100] == pytest.approx(0.333, abs=0.005)
    deep = solve(401, 0, 0, "depth").q
    np.testing.assert_allclose(deep[::4], smooth, atol=0.01)


def test_kept_and_not_writable():
    curve = solve(11, 2.0, 3.0)
    assert solve(11, 2.0, 3.0) is curve
    with pytest.raises(ValueError, match="read-only"):
        curve.q[0] = 1.0
    assert "11 items" in repr(curve)


def test_reports_of_a_collection(pool, judgments):
    pool = judgments.pool
    reports = self_report(judgments)
    relevant, nonrelevant = judgments.relevant, judgments.nonrelevant
    entry = 0
    for s in range(pool.n_systems):
        for t in range(pool.n_topics):
            curve = solve(pool.depth + 1, relevant[t], nonrelevant[t])
            length = len(pool.ranking(s, t))
            np.testing.assert_array_equal(reports.q[entry : entry + length], curve.q[:length])
            assert (reports.system[entry : entry + length] == s).all()
            np.testing.assert_array_equal(reports.theta[t], curve.theta)
            entry += length
    assert entry == len(reports.q)
    for row, document in enumerate(judgments.order):
        t = pool.topic_of[document]
        for s in range(pool.n_systems):
            rank = pool.ranks(t)[s, document - pool.topic_starts[t]]
            expected = solve(pool.depth + 1, relevant[t], nonrelevant[t]).q[rank - 1] if rank else 0
            assert reports.judged_q[row, s] == expected


def test_a_topic_without_judgments_has_the_prior_curve(pool):
    reports = self_report(Judgments.none(pool))
    assert len(reports.curves) == 1
    assert not reports.has_judgments.any()
    np.testing.assert_array_equal(reports.curves[0], solve(pool.depth + 1, 0.0, 0.0).q)
    assert reports.judged_q.shape == (0, pool.n_systems)
