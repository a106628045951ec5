"""A baseline, a residual below the cut, and a region of practical equivalence."""

import numpy as np
import pytest
from pools import pool_of, random_rankings

from rtc_bayes import InputError, Relevance, compare, moments, topic_differences
from rtc_bayes.confidence import corrected

FORMS = ("auto", "normal", "corrected", "montecarlo")


@pytest.fixture(scope="module")
def pool(make_pool):
    return make_pool(np.random.default_rng(31), 4, 6, 12)


@pytest.fixture(scope="module")
def relevance(pool):
    return Relevance.from_values(pool, np.random.default_rng(32).random(pool.n_documents) * 0.4)


@pytest.mark.parametrize("measure", ["AP", "Bpref"])
def test_a_baseline_keeps_its_own_pairs(pool, relevance, measure):
    options = {"measure": measure, "outcomes": 300, "probability": "montecarlo"}
    every = compare(pool, relevance, **options)
    found = compare(pool, relevance, baseline="s1", **options)
    assert (found.a, found.b) == (("s0", "s2", "s3"), ("s1",) * 3)
    assert found.expected.tolist() == every.expected.tolist()
    for pair in found.pairs:
        same = every.pair(pair.a, "s1")
        assert pair.p_less == pytest.approx(same.p_less, abs=1e-12)
        assert pair.expected_difference == pytest.approx(same.expected_difference, abs=1e-12)
        assert pair.sd == pytest.approx(same.sd)
    with pytest.raises(InputError, match="not compared with each other"):
        found.pair("s0", "s2")


def test_a_baseline_alone_has_no_pairs(make_pool, point):
    pool = make_pool(np.random.default_rng(0), 1, 2, 4)
    assert compare(pool, point(pool, np.full(8, 0.5)), baseline="s0").pairs == ()


@pytest.mark.parametrize("probability", FORMS)
def test_a_residual_adds_its_variance(pool, relevance, probability):
    residual = 0.02
    options = {"probability": probability, "outcomes": 20_000, "seed": 2}
    plain = compare(pool, relevance, **options)
    found = compare(pool, relevance, residual=residual, **options)
    assert found.sd**2 == pytest.approx(plain.sd**2 + residual**2)
    assert found.sd_difference**2 == pytest.approx(plain.sd_difference**2 + 2 * residual**2)
    assert found.expected.tolist() == plain.expected.tolist()
    assert found.meta["residual"] == residual
    assert plain.meta["residual"] == 0
    table = moments(pool, relevance.values)
    variance = table.difference_variance[0] + 2 * residual**2
    shrunk = (table.difference_variance[0] / variance) ** 1.5
    bent = corrected(table.difference_expected[0], variance, plain.skewness * shrunk, np.zeros(6))
    # standard error of a share of 20,000 outcomes, and the error of the forms
    assert found.p_less == pytest.approx(bent.less, abs=4 * 0.5 / np.sqrt(20_000) + 0.01)
    assert found.p_equal.max() == 0


def test_a_residual_reaches_what_only_outcomes_tell(pool, relevance):
    plain = compare(pool, relevance, measure="Bpref", outcomes=4000)
    found = compare(pool, relevance, measure="Bpref", outcomes=4000, residual=0.5)
    # standard error of a variance of 4000 outcomes: sqrt(2 / 4000)
    wide = plain.sd_difference**2 + 2 * 0.25
    assert found.sd_difference**2 == pytest.approx(wide, rel=4 * np.sqrt(2 / 4000))


def test_where_all_is_judged_a_residual_leaves_the_normal(make_pool, point):
    pool = make_pool(np.random.default_rng(33), 2, 5, 10)
    judged = point(pool, (np.random.default_rng(34).random(50) < 0.3).astype(float))
    pair = compare(pool, judged, residual=0.05).pair("s0", "s1")
    assert pair.probability == "normal"
    assert pair.sd == pytest.approx(0.05 * np.sqrt(2))
    assert 0 < pair.p_less < 1


@pytest.mark.parametrize("probability", FORMS)
def test_a_rope_gives_the_enumerated_probability(make_pool, oracle, point, probability):
    rng = np.random.default_rng(35)
    pool = make_pool(rng, 2, 3, 7)
    p = rng.random(pool.n_documents)
    parts = []
    for t in range(3):
        inside = pool.documents(t)
        lists = [(pool.ranking(s, t) - inside.start).tolist() for s in range(2)]
        scores, weights = oracle.distribution(lists, p[inside].tolist(), oracle.SCORES["AP"])
        parts.append((scores[:, 0] - scores[:, 1], weights))
    values, weights = oracle.mean_over_topics(parts)
    for rope in (0.02, 0.1):
        truth = weights[np.abs(values) < rope].sum()
        pair = compare(pool, point(pool, p), rope=rope, probability=probability).pair("s1", "s0")
        # continuous forms err here by less than their largest error with 3 topics
        error = 4 * 0.5 / np.sqrt(20_000) if pair.probability == "montecarlo" else 0.03
        assert pair.p_rope == pytest.approx(truth, abs=error)


def test_a_rope_over_draws_is_a_mean_over_draws(pool):
    draws = np.random.default_rng(36).random((3, pool.n_documents)) * 0.4
    whole = compare(
        pool, Relevance.from_values(pool, draws[:, None]), rope=0.03, probability="normal"
    )
    alone = [
        compare(pool, Relevance.from_values(pool, p), rope=0.03, probability="normal").p_rope
        for p in draws
    ]
    assert whole.p_rope == pytest.approx(np.mean(alone, axis=0))


def test_a_known_difference_is_within_the_rope_or_not(make_pool, point):
    pool = make_pool(np.random.default_rng(37), 3, 2, 6)
    judged = point(pool, (np.random.default_rng(38).random(12) < 0.5).astype(float))
    sizes = np.abs(compare(pool, judged).expected_difference)
    for rope in (sizes[0], sizes[0] * 1.001):
        expected = (sizes < rope - 1e-12).astype(float).tolist()
        for probability in FORMS:
            found = compare(pool, judged, rope=rope, probability=probability, outcomes=50)
            assert found.p_rope.tolist() == expected


def test_a_rope_stands_in_files_only_if_asked_for(pool, relevance):
    plain, found = (compare(pool, relevance, rope=rope) for rope in (None, 0.01))
    assert plain.pairs[0].p_rope is None
    assert "p_rope" not in plain.to_dict()["pairs"][0]
    assert found.to_dict()["pairs"][0]["p_rope"] == found.to_frame()["p_rope"][0]
    assert found.meta["rope"] == 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "s9"}, "no system is named 's9'; name one of s0, s1, s2, s3"),
        ({"residual": -0.1}, "at least 0"),
        ({"residual": np.nan}, "at least 0"),
        ({"rope": 0.0}, "above 0"),
    ],
)
def test_bad_options_are_named(pool, relevance, options, message):
    with pytest.raises(InputError, match=message):
        compare(pool, relevance, **options)


@pytest.mark.parametrize("options", [{}, {"topics": ("0", "2")}, {"baseline": "s1"}])
def test_lists_scored_below_the_depth_are_those_of_a_deeper_pool(options):
    """Of some topics or systems too; the deeper pool's own documents are not relevant."""
    rng = np.random.default_rng(12)
    rankings = random_rankings(rng, 3, 4, 14, longest=10)
    pool = pool_of(rankings, depth=4, score_depth=10)
    whole = pool_of(rankings, depth=10)
    p = rng.random((5, pool.n_documents))
    of_whole = np.zeros((5, whole.n_documents))
    place = [whole.locate(t, pool.docnos[pool.documents(n)]) for n, t in enumerate(pool.topics)]
    of_whole[:, np.concatenate(place)] = p
    for probability in ("normal", "montecarlo"):
        found, wanted = (
            compare(of, Relevance.from_values(of, values[None]), probability=probability, **options)
            for of, values in ((pool, p), (whole, of_whole))
        )
        error = 1e-9 if probability == "normal" else 4 * 0.5 / np.sqrt(found.meta["outcomes"])
        np.testing.assert_allclose(found.p_less, wanted.p_less, atol=error)
        np.testing.assert_allclose(found.expected, wanted.expected, atol=1e-9)
    found, wanted = (
        topic_differences(of, Relevance.from_values(of, values[None]), "s0", "s1")
        for of, values in ((pool, p), (whole, of_whole))
    )
    np.testing.assert_allclose(found.expected_difference, wanted.expected_difference, atol=1e-9)
