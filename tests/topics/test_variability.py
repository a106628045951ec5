"""Appendix F: variances compared, against scipy, by simulation, and Table F.2 on real scores."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from topic_scores import drawn, matrix

import rtc_bayes as rb
from rtc_bayes.topics.variability import mean_p, transformed, variance_p

SCORES = drawn(1, systems=6, topics=30).mean


@pytest.mark.parametrize(("test", "center"), [("levene", "mean"), ("levene-median", "median")])
def test_levene_is_scipys(test, center):
    p = variance_p(SCORES, test)
    for a, b in np.ndindex(6, 6):
        if a != b:
            expected = stats.levene(SCORES[a], SCORES[b], center=center).pvalue
            assert p[a, b] == pytest.approx(expected)


def test_pitman_morgan_is_the_correlation_of_sum_and_difference():
    p = variance_p(SCORES)
    for a, b in np.ndindex(6, 6):
        if a != b:
            expected = stats.pearsonr(SCORES[a] + SCORES[b], SCORES[a] - SCORES[b]).pvalue
            assert p[a, b] == pytest.approx(expected)


def test_f_is_of_the_variances_and_as_printed_of_their_roots():
    a, b = sorted((SCORES[0].var(ddof=1), SCORES[1].var(ddof=1)))
    assert variance_p(SCORES, "f")[0, 1] == pytest.approx(2 * stats.f.sf(b / a, 29, 29))
    printed = stats.f.sf((b / a) ** 0.5, 29, 29)
    assert variance_p(SCORES, "f-printed")[0, 1] == pytest.approx(printed)


def test_the_t_test_is_scipys_and_equal_systems_tie():
    p = mean_p(SCORES)
    assert p[2, 4] == pytest.approx(stats.ttest_rel(SCORES[2], SCORES[4]).pvalue)
    twice = np.vstack([SCORES, SCORES[:1]])
    assert mean_p(twice)[0, 6] == 1.0
    shifted = mean_p(np.vstack([SCORES, SCORES[:1] + 0.1]))  # was 1
    assert shifted[0, 6] == shifted[6, 0] == 0.0
    assert (shifted[:6, :6] == p).all()
    for test in ("pitman-morgan", "levene", "f"):
        assert variance_p(twice, test)[0, 6] == pytest.approx(1.0)


def test_only_pitman_morgan_holds_its_level_on_paired_scores():
    """Of 4000 pairs with equal variances and correlation .8; its standard error is .0034."""
    rng = np.random.default_rng(3)
    rejected = {"pitman-morgan": 0, "f": 0}
    for _ in range(4000):
        shared = rng.normal(size=40)
        pair = 0.8**0.5 * shared + 0.2**0.5 * rng.normal(size=(2, 40))
        for test in rejected:
            rejected[test] += variance_p(pair, test)[0, 1] < 0.05
    assert abs(rejected["pitman-morgan"] / 4000 - 0.05) < 4 * 0.0034
    assert rejected["f"] / 4000 < 0.02


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_the_lemma_of_bounded_scores(values):
    assert np.mean(values) ** 2 + np.var(values) <= np.mean(values) + 1e-12


def test_transforms():
    z = transformed(SCORES)
    assert z.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert z.std(axis=0, ddof=1) == pytest.approx(1)
    logit = transformed(np.array([[0.0, 0.25, 1.0]]), "logit", 0.01)
    assert logit[0] == pytest.approx(stats.logistic.ppf([0.01, 0.25, 0.99]))
    assert transformed(SCORES, "none") is SCORES


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"transform": "log"}, "transform is 'log'"),
        ({"test": "t"}, "test is 't'"),
        ({"top": 0.05}, "0 systems to compare"),
        ({"top": 0}, "top is 0"),
        ({"level": 2}, "level is 2"),
        ({"level": 1.0}, "level is 1.0; give a number above 0 and below 1"),
        ({"transform": "logit", "epsilon": 0}, "epsilon is 0"),
    ],
)
def test_what_cannot_be_done_is_refused(words, message):
    with pytest.raises(rb.InputError, match=message):
        rb.compare_variability(drawn(1), **words)


def test_the_better_systems_are_compared():
    scores = drawn(2, systems=9)
    compared = rb.compare_variability(scores)
    best = np.argsort(-scores.mean.mean(axis=1))[:6]  # three quarters of 9, rounded down
    assert compared.systems == tuple(f"s{n}" for n in best)
    counts = compared.counts()
    assert counts["pairs"] == 15
    frame = compared.to_frame()
    assert counts["ties"] == (frame["mean_p"] >= 0.05).sum()
    assert counts["broken"] == ((frame["mean_p"] >= 0.05) & (frame["variance_p"] < 0.05)).sum()
    assert f"{counts['ties']} ties" in repr(compared)


@pytest.fixture(scope="module")
def robust2004(data):
    return rb.ScoreMatrix.from_csv(data / "score_matrices" / "robust2004_ap.csv", "AP")


@pytest.mark.parametrize(
    ("transform", "test", "ties", "broken", "printed"),
    [
        ("none", "f-printed", 997, 0, 0),
        ("none", "levene-median", 997, 104, 106),
        ("z", "f-printed", 857, 286, 280),
        ("z", "levene-median", 857, 401, 404),
    ],
)
def test_table_f2(robust2004, transform, test, ties, broken, printed):
    """Ties as printed; broken ties within 6 of it, 82 of 110 runs on 249 topics."""
    counts = rb.compare_variability(robust2004, transform=transform, test=test).counts()
    assert counts == {"pairs": 3321, "ties": ties, "broken": broken}
    assert abs(broken - printed) <= 6


def test_table_f1(robust2004):
    """MAP .304 and .305, SD .201 and .243 on the 199 topics 351-450 and 601-700."""
    topics = [n for n, topic in enumerate(robust2004.topics) if int(topic) >= 351]
    pair = robust2004.mean[[robust2004.systems.index(name) for name in ("sys55", "sys98")]]
    pair = pair[:, topics]
    assert pair.shape == (2, 199)
    assert pair.mean(axis=1).round(3) == pytest.approx([0.304, 0.305])
    assert pair.std(axis=1, ddof=1).round(3) == pytest.approx([0.201, 0.243])
    assert mean_p(pair)[0, 1] > 0.9
    assert variance_p(pair)[0, 1] < 0.05


def test_a_matrix_with_gaps_is_refused():
    mean = drawn(3).mean.copy()
    mean[0, 0] = np.nan
    gaps = matrix(mean, np.where(np.isnan(mean), np.nan, 0.0))
    lacking = f"without a score on topic {gaps.topics[0]}: {gaps.systems[0]}; give"
    with pytest.raises(rb.InputError, match=lacking):
        rb.compare_variability(gaps)
    with pytest.raises(rb.InputError, match=lacking):
        rb.pilot_power(gaps, {name: name for name in gaps.systems}, 40)
    with pytest.raises(rb.InputError, match="no score on some topics"):
        variance_p(mean)


def test_two_systems_by_z_and_few_topics_are_refused():
    two = matrix(np.random.default_rng(0).random((2, 8)))
    with pytest.raises(rb.InputError, match="of two systems the z transform leaves nothing"):
        rb.compare_variability(two, top=1.0)
    rb.compare_variability(two, top=1.0, transform="none")
    with pytest.raises(rb.InputError, match="1 topic; give three or more"):
        rb.compare_variability(matrix(np.random.default_rng(0).random((4, 1))), top=1.0)


def test_a_share_of_the_systems_is_not_cut_short():
    scores = drawn(2, systems=100, topics=12)
    assert len(rb.compare_variability(scores, top=0.29).systems) == 29


@pytest.mark.parametrize("test", ["pitman-morgan", "f", "f-printed", "levene", "levene-median"])
@pytest.mark.parametrize("transform", ["z", "none"])
@pytest.mark.parametrize("topics", [3, 7, 10, 30])
def test_systems_of_one_score_each_vary_alike(transform, test, topics):
    # means of equal numbers have errors of rounding, which are no variance
    scores = np.tile(np.array([[0.1], [0.3], [0.3], [0.7], [0.35]]), topics)
    compared = rb.compare_variability(matrix(scores), transform=transform, test=test, top=1)
    assert compared.deviation.tolist() == [0.0] * 5
    assert compared.variance_p.tolist() == np.ones((5, 5)).tolist()
    assert set(compared.mean_p.ravel()) == {0.0, 1.0}
